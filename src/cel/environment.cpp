#include "cel/environment.h"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "fmt/format.h"

#include "cel/time.h"

namespace berth::cel {
namespace {

struct Field {
  std::string_view name;
  std::string_view type;
};

// Messages an expression can write, with their fields: the device, and what protobuf wraps values in.
const std::map<std::string_view, std::vector<Field>>& Messages() {
  static const std::map<std::string_view, std::vector<Field>> kMessages = {
      {kDeviceName,
       {{"driver", "string"},
        {"allowMultipleAllocations", "bool"},
        {"attributes", "map(string, map(string, dyn))"},
        {"capacity", "map(string, map(string, kubernetes.Quantity))"}}},
      {"google.protobuf.Timestamp", {{"seconds", "int"}, {"nanos", "int"}}},
      {"google.protobuf.Duration", {{"seconds", "int"}, {"nanos", "int"}}},
      {"google.protobuf.BoolValue", {{"value", "bool"}}},
      {"google.protobuf.BytesValue", {{"value", "bytes"}}},
      {"google.protobuf.DoubleValue", {{"value", "double"}}},
      {"google.protobuf.FloatValue", {{"value", "double"}}},
      {"google.protobuf.Int32Value", {{"value", "int"}}},
      {"google.protobuf.Int64Value", {{"value", "int"}}},
      {"google.protobuf.StringValue", {{"value", "string"}}},
      {"google.protobuf.UInt32Value", {{"value", "uint"}}},
      {"google.protobuf.UInt64Value", {{"value", "uint"}}},
  };
  return kMessages;
}

const std::map<std::string, NamedType, std::less<>>& NamedTypes() {
  static const auto kTypes = [] {
    std::map<std::string, NamedType, std::less<>> types;
    const auto add = [&types](NamedType named) { types.emplace(named.name, named); };
    for (const char* name :
         {"bool", "bytes", "double", "int", "uint", "string", "null_type", "type", "net.IP", "net.CIDR"}) {
      add({.name = name, .type = ParseType(name)});
    }
    add({.name = "list", .type = ParseType("list(dyn)")});
    add({.name = "map", .type = ParseType("map(dyn, dyn)")});
    add({.name = "optional_type", .type = ParseType("optional(V)")});
    for (const char* name : {"google.protobuf.Timestamp", "google.protobuf.Duration"}) {
      add({.name = name, .type = ParseType(name), .message = true});
    }
    // These check, but a program that uses them as values cannot be made.
    for (const char* name : {"timestamp", "duration"}) {
      add({.name = name, .type = ParseType(name), .exists_at_run_time = false});
    }
    add({.name = std::string(kDeviceName),
         .type = StructType(std::string(kDeviceName)),
         .exists_at_run_time = false,
         .message = true});
    for (const auto& [name, fields] : Messages()) {
      if (fields.size() != 1) continue;
      add({.name = std::string(name),
           .type = ParseType(fields[0].type),
           .exists_at_run_time = false,
           .message = true});
    }
    return types;
  }();
  return kTypes;
}

Value DefaultOf(std::string_view type) {
  if (type == "bool") return Value::Bool(false);
  if (type == "int") return Value::Int(0);
  if (type == "uint") return Value::Uint(0);
  if (type == "double") return Value::Double(0);
  return type == "bytes" ? Value::Bytes("") : Value::String("");
}

Value ConversionError(std::string_view message, std::string_view why) {
  return Value::Error(fmt::format("field type conversion error for {}.value value type: {}", message, why));
}

Value MakeWrapper(std::string_view name, const Value& value) {
  if (name == "google.protobuf.Int32Value" && value.kind() == Kind::kInt &&
      !std::in_range<std::int32_t>(value.integer())) {
    return ConversionError(name, "integer overflow");
  }
  if (name == "google.protobuf.UInt32Value" && value.kind() == Kind::kUint &&
      !std::in_range<std::uint32_t>(value.unsigned_integer())) {
    return ConversionError(name, "unsigned integer overflow");
  }
  if (name == "google.protobuf.FloatValue" && value.kind() == Kind::kDouble) {
    return Value::Double(static_cast<float>(value.number()));
  }
  return value;
}

// Seconds and nanoseconds of a Timestamp or Duration message.
Value MakeTime(std::string_view name, std::span<const std::string> fields, std::span<const Value> values) {
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (values[i].kind() != Kind::kInt) return Value::NoSuchOverload();
    (fields[i] == "seconds" ? seconds : nanos) = values[i].integer();
  }
  if (name == "google.protobuf.Timestamp") {
    if (seconds < kSecondsMin || seconds > kSecondsMax) return Value::Error("timestamp overflow");
    const auto sum = AddDuration({.seconds = seconds}, nanos);
    return sum ? Value::Timestamp(*sum) : Value::Error("timestamp overflow");
  }
  std::int64_t total = 0;
  if (__builtin_mul_overflow(seconds, kNanosPerSecond, &total) ||
      __builtin_add_overflow(total, nanos, &total)) {
    return Value::Error("integer overflow");
  }
  return Value::Duration(total);
}

}  // namespace

const NamedType* FindNamedType(std::string_view name) {
  const auto it = NamedTypes().find(name);
  return it == NamedTypes().end() ? nullptr : &it->second;
}

bool HasFields(std::string_view type_name) { return Messages().contains(type_name); }

TypeRef FindFieldType(std::string_view type_name, std::string_view field) {
  const auto message = Messages().find(type_name);
  if (message == Messages().end()) return nullptr;
  for (const Field& each : message->second) {
    if (each.name == field) return ParseType(each.type);
  }
  return nullptr;
}

Value MakeMessage(std::string_view name, std::span<const std::string> fields, std::span<const Value> values) {
  const auto message = Messages().find(name);
  if (message == Messages().end() || name == kDeviceName)
    return Value::Error(fmt::format("unknown type '{}'", name));
  if (message->second.size() == 2) return MakeTime(name, fields, values);
  if (values.empty()) return DefaultOf(message->second[0].type);
  return MakeWrapper(name, values.back());
}

}  // namespace berth::cel
