#include <absl/strings/escaping.h>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <utility>
#include <vector>

#include "api/quantity.h"
#include "api/time.h"
#include "base/check.h"
#include "wire/envelope.h"
#include "wire/json_document.h"
#include "wire/json_path.h"
#include "wire/proto_writer.h"
#include "wire/schema.h"
#include "wire/transcode.h"

namespace berth::wire {
namespace {

namespace json = boost::json;

std::string_view View(const json::string& text) { return {text.data(), text.size()}; }

std::string_view KindName(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
    default:
      return "a number";
  }
}

// Writes a document's message backwards, as ProtoWriter wants it: fields by descending number, lists from
// their end. A null `value` stands for one that is absent or null: the zero value, which Go writes too.
class DocumentWriter {
 public:
  bool Object(const Message& message, const json::object* object) {
    if (++depth_ > kNestingMax) return Fail("nested too deeply");
    for (auto field = message.fields.rbegin(); field != message.fields.rend(); ++field) {
      if (!WriteField(*field, object)) return false;
    }
    --depth_;
    return true;
  }

  std::string Take() { return writer_.Take(); }
  base::Error TakeError() { return base::Error{std::move(error_)}; }

 private:
  bool WriteField(const Field& field, const json::object* object);
  bool List(const Field& field, const json::value& value);
  bool Map(const Field& field, const json::value& value);
  bool One(const Field& field, std::uint32_t number, const json::value* value);
  bool String(std::uint32_t number, const json::value* value);
  bool Bool(std::uint32_t number, const json::value* value);
  bool Integer(const Field& field, std::uint32_t number, const json::value* value);
  bool ReadInteger(const json::value& value, ValueKind kind, std::int64_t& out);
  bool Base64(std::uint32_t number, const json::value* value);

  // What is inside a message field, without its tag and length.
  bool Body(const Message& message, const json::value* value);
  bool Time(const json::value& value);
  bool MicroTime(const json::value& value);
  bool Quantity(const json::value* value);
  bool IntOrString(const json::value* value);
  bool StringList(const json::value& value);
  void Timestamp(std::int64_t seconds, std::int64_t nanos);

  bool Fail(std::string_view what) {
    const std::string path = path_.ToString();
    error_ = path.empty() ? std::string(what) : fmt::format("{}: {}", path, what);
    return false;
  }
  bool WrongType(std::string_view wanted, const json::value& got) {
    return Fail(fmt::format("expected {}, got {}", wanted, KindName(got)));
  }

  ProtoWriter writer_;
  JsonPath path_;
  std::size_t depth_ = 0;
  std::string error_;
};

bool DocumentWriter::WriteField(const Field& field, const json::object* object) {
  if (field.inlined) {
    const std::size_t before = writer_.size();
    if (!Object(*field.message, object)) return false;
    writer_.Prefix(field.number, writer_.size() - before);
    return true;
  }
  const JsonPath::Step step(path_, field.json_name);
  const json::value* value =
      object == nullptr ? nullptr : object->if_contains({field.json_name.data(), field.json_name.size()});
  if (value != nullptr && value->is_null()) value = nullptr;
  if (value == nullptr && field.shape != Shape::kValue) return true;
  switch (field.shape) {
    case Shape::kList:
      return List(field, *value);
    case Shape::kMap:
      return Map(field, *value);
    default:
      return One(field, field.number, value);
  }
}

bool DocumentWriter::List(const Field& field, const json::value& value) {
  const json::array* array = value.if_array();
  if (array == nullptr) return WrongType("an array", value);
  for (std::size_t i = array->size(); i-- > 0;) {
    const JsonPath::Step step(path_, i);
    const json::value& element = (*array)[i];
    if (!One(field, field.number, element.is_null() ? nullptr : &element)) return false;
  }
  return true;
}

bool DocumentWriter::Map(const Field& field, const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return WrongType("an object", value);
  std::vector<std::pair<std::string_view, const json::value*>> entries;
  entries.reserve(object->size());
  for (const json::key_value_pair& member : *object) {
    entries.emplace_back(std::string_view(member.key().data(), member.key().size()), &member.value());
  }
  std::ranges::sort(entries, std::ranges::greater{}, [](const auto& entry) { return entry.first; });
  for (const auto& [key, element] : entries) {
    const auto step = JsonPath::Step::MapKey(path_, key);
    const std::size_t before = writer_.size();
    if (!One(field, 2, element->is_null() ? nullptr : element)) return false;
    writer_.BytesField(1, key);
    writer_.Prefix(field.number, writer_.size() - before);
  }
  return true;
}

bool DocumentWriter::One(const Field& field, std::uint32_t number, const json::value* value) {
  switch (field.kind) {
    case ValueKind::kString:
      return String(number, value);
    case ValueKind::kBytes:
      return Base64(number, value);
    case ValueKind::kBool:
      return Bool(number, value);
    case ValueKind::kInt32:
    case ValueKind::kInt64:
      return Integer(field, number, value);
    case ValueKind::kMessage: {
      const std::size_t before = writer_.size();
      if (!Body(*field.message, value)) return false;
      writer_.Prefix(number, writer_.size() - before);
      return true;
    }
    case ValueKind::kDouble:
      break;
  }
  BERTH_CHECK(false);  // no message has one; a test of the schema says so
  return false;
}

bool DocumentWriter::String(std::uint32_t number, const json::value* value) {
  if (value != nullptr && !value->is_string()) return WrongType("a string", *value);
  writer_.BytesField(number, value == nullptr ? std::string_view() : View(value->get_string()));
  return true;
}

bool DocumentWriter::Bool(std::uint32_t number, const json::value* value) {
  if (value != nullptr && !value->is_bool()) return WrongType("a boolean", *value);
  writer_.VarintField(number, value != nullptr && value->get_bool() ? 1 : 0);
  return true;
}

bool DocumentWriter::Integer(const Field& field, std::uint32_t number, const json::value* value) {
  std::int64_t integer = 0;
  if (value != nullptr && !ReadInteger(*value, field.kind, integer)) return false;
  writer_.VarintField(number, static_cast<std::uint64_t>(integer));
  return true;
}

bool DocumentWriter::ReadInteger(const json::value& value, ValueKind kind, std::int64_t& out) {
  const int bits = kind == ValueKind::kInt32 ? 32 : 64;
  if (!value.is_number()) return WrongType("an integer", value);
  if (value.is_double()) return Fail(fmt::format("{} is no integer of {} bits", WriteJson(value), bits));
  if (const std::int64_t* number = value.if_int64()) {
    out = *number;
    const bool fits = bits == 64 || (out >= std::numeric_limits<std::int32_t>::min() &&
                                     out <= std::numeric_limits<std::int32_t>::max());
    if (fits) return true;
  } else if (value.get_uint64() <=
             static_cast<std::uint64_t>(bits == 64 ? std::numeric_limits<std::int64_t>::max()
                                                   : std::numeric_limits<std::int32_t>::max())) {
    out = static_cast<std::int64_t>(value.get_uint64());
    return true;
  }
  return Fail(fmt::format("{} does not fit an integer of {} bits", WriteJson(value), bits));
}

bool DocumentWriter::Base64(std::uint32_t number, const json::value* value) {
  if (value == nullptr) return true;  // bytes have an absent state of their own
  if (!value->is_string()) return WrongType("a string", *value);
  std::string text(View(value->get_string()));
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  // absl would accept blanks, dots and missing padding as well; Go does not.
  const bool shape = text.size() % 4 == 0 && text.find_first_of(" \t\v\f.") == std::string::npos;
  std::string bytes;
  if (!shape || !absl::Base64Unescape(text, &bytes)) return Fail("illegal base64 data");
  writer_.BytesField(number, bytes);
  return true;
}

bool DocumentWriter::Body(const Message& message, const json::value* value) {
  switch (message.form) {
    case SpecialForm::kTime:
      return value == nullptr || Time(*value);
    case SpecialForm::kMicroTime:
      return value == nullptr || MicroTime(*value);
    case SpecialForm::kQuantity:
      return Quantity(value);
    case SpecialForm::kIntOrString:
      return IntOrString(value);
    case SpecialForm::kStringList:
      return value == nullptr || StringList(*value);
    case SpecialForm::kRawJson:
      if (value != nullptr) writer_.BytesField(1, WriteJson(*value, JsonEscapes::kPlain));
      return true;
    case SpecialForm::kNone:
      break;
  }
  if (value != nullptr && !value->is_object()) return WrongType("an object", *value);
  return Object(message, value == nullptr ? nullptr : &value->get_object());
}

void DocumentWriter::Timestamp(std::int64_t seconds, std::int64_t nanos) {
  writer_.VarintField(2, static_cast<std::uint64_t>(nanos));
  writer_.VarintField(1, static_cast<std::uint64_t>(seconds));
}

bool DocumentWriter::Time(const json::value& value) {
  if (!value.is_string()) return WrongType("a time", value);
  const base::Result<api::Time> time = api::ParseTime(View(value.get_string()));
  if (!time) return Fail(time.error().message);
  if (!time->IsZero()) Timestamp(time->unix_seconds, 0);
  return true;
}

bool DocumentWriter::MicroTime(const json::value& value) {
  if (!value.is_string()) return WrongType("a time", value);
  const base::Result<api::MicroTime> time = api::ParseMicroTime(View(value.get_string()));
  if (!time) return Fail(time.error().message);
  if (time->IsZero()) return true;
  constexpr std::int64_t kMicros = 1'000'000;
  const std::int64_t micros = (time->unix_micros % kMicros + kMicros) % kMicros;
  Timestamp((time->unix_micros - micros) / kMicros, micros * 1000);
  return true;
}

bool DocumentWriter::Quantity(const json::value* value) {
  if (value == nullptr) {
    writer_.BytesField(1, "0");
    return true;
  }
  if (!value->is_string() && !value->is_number()) return WrongType("a quantity", *value);
  const std::string number = value->is_string() ? std::string() : WriteJson(*value);
  std::string_view text = value->is_string() ? View(value->get_string()) : std::string_view(number);
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  const auto quantity = api::Quantity::Parse(text);
  if (!quantity) return Fail(api::Quantity::ParseErrorText(quantity.error()));
  writer_.BytesField(1, quantity->ToString());
  return true;
}

bool DocumentWriter::IntOrString(const json::value* value) {
  const bool is_string = value != nullptr && value->is_string();
  std::int64_t number = 0;
  if (value != nullptr && !is_string) {
    if (!value->is_number()) return WrongType("an integer or a string", *value);
    if (!ReadInteger(*value, ValueKind::kInt32, number)) return false;
  }
  writer_.BytesField(3, is_string ? View(value->get_string()) : std::string_view());
  writer_.VarintField(2, static_cast<std::uint64_t>(number));
  writer_.VarintField(1, is_string ? 1 : 0);
  return true;
}

bool DocumentWriter::StringList(const json::value& value) {
  const json::array* array = value.if_array();
  if (array == nullptr) return WrongType("an array", value);
  for (std::size_t i = array->size(); i-- > 0;) {
    const JsonPath::Step step(path_, i);
    if (!String(1, (*array)[i].is_null() ? nullptr : &(*array)[i])) return false;
  }
  return true;
}

}  // namespace

base::Result<std::string> DocumentToProtobuf(const Message& message, const json::object& document) {
  DocumentWriter writer;
  if (!writer.Object(message, &document)) return std::unexpected(writer.TakeError());
  return writer.Take();
}

base::Result<std::string> DocumentToEnvelope(const json::object& document) {
  const auto text = [&](json::string_view key) {
    const json::value* value = document.if_contains(key);
    return value != nullptr && value->is_string() ? View(value->get_string()) : std::string_view();
  };
  const std::string_view kind = text("kind");
  const std::string_view api_version = text("apiVersion");
  const KindInfo* info = Schema::Get().FindKind(api_version, kind);
  if (info == nullptr) {
    return base::Fail(fmt::format("no kind \"{}\" is registered for version \"{}\"", kind, api_version));
  }
  const base::Result<std::string> raw = DocumentToProtobuf(*info->message, document);
  if (!raw) return std::unexpected(raw.error());
  return WriteEnvelope({api_version, kind, *raw});
}

}  // namespace berth::wire
