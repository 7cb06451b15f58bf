// int(), string(), duration() and the like: from one type to another.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "fmt/format.h"

#include "cel/double_text.h"
#include "cel/net.h"
#include "cel/registry.h"
#include "cel/time.h"
#include "cel/utf8.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

Value NoConversion(std::string_view to) {
  return Value::Error(fmt::format("type conversion error from 'string' to '{}'", to));
}

Value Same(Arguments arguments) { return std::move(arguments[0]); }

template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  // Go takes a plus sign before a signed number, from_chars does not; neither takes two signs.
  if (std::is_signed_v<Number> && text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// As Go's ParseFloat.
std::optional<double> ParseDouble(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const double sign = negative ? -1 : 1;
  if (EqualsIgnoringCase(rest, "inf") || EqualsIgnoringCase(rest, "infinity")) return sign * HUGE_VAL;
  if (EqualsIgnoringCase(rest, "nan")) return std::nan("");
  const bool hex = rest.starts_with("0x") || rest.starts_with("0X");
  if (hex) rest.remove_prefix(2);
  // Go wants an exponent in a hexadecimal number; from_chars would take letters and signs that Go does not.
  if (rest.empty() || rest.front() == '-' || (hex && rest.find_first_of("pP") == std::string_view::npos)) {
    return std::nullopt;
  }
  if (!hex && rest.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  double number = 0;
  const auto format = hex ? std::chars_format::hex : std::chars_format::general;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number, format);
  if (error == std::errc::invalid_argument || end != rest.data() + rest.size()) return std::nullopt;
  // Too small is zero, too large is an error; from_chars does not say which.
  if (error == std::errc::result_out_of_range)
    number = std::strtod(std::string(hex ? text : rest).c_str(), nullptr);
  if (std::isinf(number)) return std::nullopt;
  return sign * std::fabs(number);
}

Value DoubleToInt(Arguments arguments) {
  const double number = arguments[0].number();
  if (!(number > -kTwo63 && number < kTwo63)) return Value::Error("integer overflow");
  return Value::Int(static_cast<std::int64_t>(number));
}

Value DoubleToUint(Arguments arguments) {
  const double number = arguments[0].number();
  if (!(number >= 0 && number < kTwo64)) return Value::Error("unsigned integer overflow");
  return Value::Uint(static_cast<std::uint64_t>(number));
}

Value DurationToInt(Arguments arguments) { return Value::Int(arguments[0].integer()); }
Value TimestampToInt(Arguments arguments) { return Value::Int(arguments[0].instant().seconds); }

Value StringToInt(Arguments arguments) {
  const auto number = ParseNumber<std::int64_t>(arguments[0].text());
  return number ? Value::Int(*number) : NoConversion("int");
}

Value UintToInt(Arguments arguments) {
  const std::uint64_t number = arguments[0].unsigned_integer();
  if (!std::in_range<std::int64_t>(number)) return Value::Error("integer overflow");
  return Value::Int(static_cast<std::int64_t>(number));
}

Value IntToUint(Arguments arguments) {
  const std::int64_t number = arguments[0].integer();
  if (number < 0) return Value::Error("unsigned integer overflow");
  return Value::Uint(static_cast<std::uint64_t>(number));
}

Value StringToUint(Arguments arguments) {
  const auto number = ParseNumber<std::uint64_t>(arguments[0].text());
  return number ? Value::Uint(*number) : NoConversion("uint");
}

Value IntToDouble(Arguments arguments) { return Value::Double(static_cast<double>(arguments[0].integer())); }
Value UintToDouble(Arguments arguments) {
  return Value::Double(static_cast<double>(arguments[0].unsigned_integer()));
}
Value StringToDouble(Arguments arguments) {
  const auto number = ParseDouble(arguments[0].text());
  return number ? Value::Double(*number) : NoConversion("double");
}

Value StringToBool(Arguments arguments) {
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (arguments[0].text() == yes) return Value::Bool(true);
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (arguments[0].text() == no) return Value::Bool(false);
  }
  return NoConversion("bool");
}

Value StringToBytes(Arguments arguments) { return Value::Bytes(arguments[0].text()); }

Value BytesToString(Arguments arguments) {
  if (!IsValidUtf8(arguments[0].text())) {
    return Value::Error("invalid UTF-8 in bytes, cannot convert to string");
  }
  return Value::String(arguments[0].text());
}

// Numbers, times and addresses read as in error messages.
Value ToText(Arguments arguments) { return Value::String(KeyText(arguments[0])); }

Value StringToDuration(Arguments arguments) {
  const auto nanos = ParseDuration(arguments[0].text());
  return nanos ? Value::Duration(*nanos) : NoConversion("google.protobuf.Duration");
}

Value StringToTimestamp(Arguments arguments) {
  const auto instant = ParseTimestamp(arguments[0].text());
  return instant ? Value::Timestamp(*instant) : NoConversion("google.protobuf.Timestamp");
}

Value IntToTimestamp(Arguments arguments) {
  const std::int64_t seconds = arguments[0].integer();
  if (seconds < kSecondsMin || seconds > kSecondsMax) return Value::Error("timestamp overflow");
  return Value::Timestamp({.seconds = seconds});
}

Value TypeOf(Arguments arguments) { return Value::Type(TypeName(arguments[0])); }

}  // namespace

void RegisterConversions(Registry& r) {
  r.Global("type", "type", "(A) -> type(A)", TypeOf);
  r.Global("dyn", "to_dyn", "(A) -> dyn", Same);
  r.Global("bool", "bool_to_bool", "(bool) -> bool", Same);
  r.Global("bool", "string_to_bool", "(string) -> bool", StringToBool);
  r.Global("bytes", "bytes_to_bytes", "(bytes) -> bytes", Same);
  r.Global("bytes", "string_to_bytes", "(string) -> bytes", StringToBytes);
  r.Global("double", "double_to_double", "(double) -> double", Same);
  r.Global("double", "int64_to_double", "(int) -> double", IntToDouble);
  r.Global("double", "string_to_double", "(string) -> double", StringToDouble);
  r.Global("double", "uint64_to_double", "(uint) -> double", UintToDouble);
  r.Global("duration", "duration_to_duration", "(duration) -> duration", Same);
  r.Global("duration", "string_to_duration", "(string) -> duration", StringToDuration);
  r.Global("int", "int64_to_int64", "(int) -> int", Same);
  r.Global("int", "double_to_int64", "(double) -> int", DoubleToInt);
  r.Global("int", "duration_to_int64", "(duration) -> int", DurationToInt);
  r.Global("int", "string_to_int64", "(string) -> int", StringToInt);
  r.Global("int", "timestamp_to_int64", "(timestamp) -> int", TimestampToInt);
  r.Global("int", "uint64_to_int64", "(uint) -> int", UintToInt);
  r.Global("string", "string_to_string", "(string) -> string", Same);
  r.Global("string", "bool_to_string", "(bool) -> string", ToText);
  r.Global("string", "bytes_to_string", "(bytes) -> string", BytesToString);
  r.Global("string", "double_to_string", "(double) -> string", ToText);
  r.Global("string", "duration_to_string", "(duration) -> string", ToText);
  r.Global("string", "int64_to_string", "(int) -> string", ToText);
  r.Global("string", "timestamp_to_string", "(timestamp) -> string", ToText);
  r.Global("string", "uint64_to_string", "(uint) -> string", ToText);
  r.Global("string", "ip_to_string", "(net.IP) -> string", ToText);
  r.Global("string", "cidr_to_string", "(net.CIDR) -> string", ToText);
  r.Global("timestamp", "timestamp_to_timestamp", "(timestamp) -> timestamp", Same);
  r.Global("timestamp", "int64_to_timestamp", "(int) -> timestamp", IntToTimestamp);
  r.Global("timestamp", "string_to_timestamp", "(string) -> timestamp", StringToTimestamp);
  r.Global("uint", "uint64_to_uint64", "(uint) -> uint", Same);
  r.Global("uint", "double_to_uint64", "(double) -> uint", DoubleToUint);
  r.Global("uint", "int64_to_uint64", "(int) -> uint", IntToUint);
  r.Global("uint", "string_to_uint64", "(string) -> uint", StringToUint);
}

}  // namespace berth::cel
