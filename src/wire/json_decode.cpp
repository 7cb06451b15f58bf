#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <simdjson.h>
#include <string>
#include <vector>

#include "api/quantity.h"
#include "api/raw_json.h"
#include "api/time.h"
#include "wire/json_path.h"
#include "wire/json_text.h"
#include "wire/limits.h"
#include "wire/typed_budget.h"
#include "wire/typed_codec.h"

namespace berth::wire {
namespace {

namespace ondemand = simdjson::ondemand;
using JsonType = ondemand::json_type;

std::string_view TypeName(JsonType type) {
  switch (type) {
    case JsonType::array:
      return "an array";
    case JsonType::object:
      return "an object";
    case JsonType::number:
      return "a number";
    case JsonType::string:
      return "a string";
    case JsonType::boolean:
      return "a boolean";
    case JsonType::null:
      return "null";
  }
  return "something else";
}

std::string_view Trimmed(std::string_view text) {
  static constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// The number grammar of JSON; simdjson's own check converts to double and refuses what does not fit one.
bool IsJsonNumber(std::string_view text) {
  const auto digits = [&text] {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(end);
    return end;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool leading_zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

// Reads one document. Methods return false after noting an error, with the path at which it happened.
//
// What berth does not bind is passed over by its brackets alone, which is what makes this fast.
class Decoder {
 public:
  explicit Decoder(std::size_t size) : budget_(size) {}

  bool Document(ondemand::document& document, void* object, const TypedTable& table) {
    JsonType type{};
    if (!Good(document.type().get(type))) return false;
    if (type == JsonType::null) {
      bool is_null = false;
      if (!Good(document.is_null().get(is_null))) return false;
      return is_null || Fail("invalid JSON");
    }
    if (type != JsonType::object) return WrongType("an object", type);
    ondemand::object members;
    if (!Good(document.get_object().get(members))) return false;
    if (!Object(members, object, table)) return false;
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      return Fail("invalid JSON: something follows the object");
    }
    return true;
  }

  base::Error TakeError() { return {std::move(error_)}; }

 private:
  bool Object(ondemand::object& members, void* object, const TypedTable& table) {
    std::string key;
    for (auto entry : members) {
      ondemand::field field;
      if (!Good(std::move(entry).get(field))) return false;
      if (!ReadJsonString(field.key().raw(), key)) return Fail("invalid escape in a key");
      const TypedTable::JsonKey* known = table.ByJsonKey(key);
      if (known == nullptr) continue;  // the iterator steps over a value that nobody read
      void* holder = known->through == nullptr ? object : known->through->In(object);
      const JsonPath::Step step(path_, known->key);
      if (!Member(field.value(), known->field->In(holder), *known->field)) return false;
    }
    return true;
  }

  bool Object(ondemand::value& value, void* object, const TypedTable& table) {
    ondemand::object members;
    return GetObject(value, members) && Object(members, object, table);
  }

  bool Member(ondemand::value& value, void* member, const TypedField& field) {
    bool is_null = false;
    if (!IsNull(value, is_null)) return false;
    switch (field.type->holder) {
      case Holder::kPlain:
        return is_null ? Reset(member, field.type->form) : Value(value, member, field);
      case Holder::kOptional:
        if (!is_null) return Value(value, field.type->slot(member, {}), field);
        break;
      case Holder::kList:
        field.type->clear(member);
        if (!is_null) return List(value, member, field);
        break;
      case Holder::kMap:
        if (!is_null) return Map(value, member, field);
        break;
    }
    field.type->clear(member);
    return true;
  }

  // Null leaves a Go value as it is, unless its type reads its own JSON.
  static bool Reset(void* member, Form form) {
    if (form == Form::kQuantity) *static_cast<api::Quantity*>(member) = {};
    if (form == Form::kTime) *static_cast<api::Time*>(member) = {};
    if (form == Form::kMicroTime) *static_cast<api::MicroTime*>(member) = {};
    return true;
  }

  bool List(ondemand::value& value, void* member, const TypedField& field) {
    ondemand::array elements;
    if (!GetArray(value, elements)) return false;
    std::size_t index = 0;
    for (auto entry : elements) {
      const JsonPath::Step step(path_, index++);
      ondemand::value element;
      if (!Good(std::move(entry).get(element)) || !Grow(*field.type)) return false;
      bool is_null = false;
      if (!IsNull(element, is_null)) return false;
      if (field.type->form == Form::kBool) {
        bool flag = false;
        if (!is_null && !Bool(element, flag)) return false;
        static_cast<std::vector<bool>*>(member)->push_back(flag);
        continue;
      }
      void* slot = field.type->slot(member, {});
      if (!is_null && !Value(element, slot, field)) return false;
    }
    return true;
  }

  bool Map(ondemand::value& value, void* member, const TypedField& field) {
    ondemand::object entries;
    if (!GetObject(value, entries)) return false;
    std::string key;
    for (auto entry : entries) {
      ondemand::field pair;
      if (!Good(std::move(entry).get(pair)) || !Grow(*field.type)) return false;
      if (!ReadJsonString(pair.key().raw(), key)) return Fail("invalid escape in a key");
      void* slot = field.type->slot(member, key);
      const auto step = JsonPath::Step::MapKey(path_, key);
      bool is_null = false;
      if (!IsNull(pair.value(), is_null)) return false;
      if (!is_null && !Value(pair.value(), slot, field)) return false;
    }
    return true;
  }

  bool Value(ondemand::value& value, void* slot, const TypedField& field) {
    switch (field.type->form) {
      case Form::kString:
        return String(value, *static_cast<std::string*>(slot));
      case Form::kBool:
        return Bool(value, *static_cast<bool*>(slot));
      case Form::kInt32:
        return Int(value, *static_cast<std::int32_t*>(slot));
      case Form::kInt64:
        return Int(value, *static_cast<std::int64_t*>(slot));
      case Form::kQuantity:
        return Quantity(value, *static_cast<api::Quantity*>(slot));
      case Form::kTime:
        return Time(value, *static_cast<api::Time*>(slot), api::ParseTime);
      case Form::kMicroTime:
        return Time(value, *static_cast<api::MicroTime*>(slot), api::ParseMicroTime);
      case Form::kRawJson:
        return Raw(value, static_cast<api::RawJson*>(slot)->text);
      case Form::kMessage:
        return Object(value, slot, *field.table);
    }
    return false;
  }

  bool String(ondemand::value& value, std::string& out) {
    ondemand::raw_json_string raw;
    if (!HasType(value, JsonType::string)) return false;
    if (!Good(value.get_raw_json_string().get(raw))) return false;
    return ReadJsonString(raw.raw(), out) || Fail("invalid escape in a string");
  }

  bool Bool(ondemand::value& value, bool& out) {
    return HasType(value, JsonType::boolean) && Good(value.get_bool().get(out));
  }

  template <class Integer>
  bool Int(ondemand::value& value, Integer& out) {
    JsonType type{};
    if (!Good(value.type().get(type))) return false;
    if (type != JsonType::number) return WrongType("an integer", type);
    const std::string text(Trimmed(value.raw_json_token()));
    std::int64_t number = 0;
    if (value.get_int64().get(number) != simdjson::SUCCESS) {
      return Fail(fmt::format("{} is no integer of {} bits", text, 8 * sizeof(Integer)));
    }
    if (number < std::numeric_limits<Integer>::min() || number > std::numeric_limits<Integer>::max()) {
      return Fail(fmt::format("{} does not fit an integer of {} bits", text, 8 * sizeof(Integer)));
    }
    out = static_cast<Integer>(number);
    return true;
  }

  // Upstream reads the raw text: no escapes, blanks trimmed, numbers as they are written.
  bool Quantity(ondemand::value& value, api::Quantity& out) {
    JsonType type{};
    if (!Good(value.type().get(type))) return false;
    if (type != JsonType::string && type != JsonType::number) return WrongType("a quantity", type);
    std::string_view text = Trimmed(value.raw_json_token());
    if (type == JsonType::string) text = Trimmed(text.substr(1, text.size() - 2));
    auto parsed = api::Quantity::Parse(text);
    if (!parsed) return Fail(std::string(api::Quantity::ParseErrorText(parsed.error())));
    out = *std::move(parsed);
    return CheckScalar(value, type);
  }

  template <class TimeType>
  bool Time(ondemand::value& value, TimeType& out, base::Result<TimeType> (*parse)(std::string_view)) {
    std::string text;
    if (!String(value, text)) return false;
    auto parsed = parse(text);
    if (!parsed) return Fail(std::move(parsed).error().message);
    out = *parsed;
    return true;
  }

  bool Raw(ondemand::value& value, std::string& out) {
    JsonType type{};
    if (!Good(value.type().get(type))) return false;
    std::string_view text;
    if (type == JsonType::object) {
      ondemand::object object;
      if (!GetObject(value, object) || !Good(object.raw_json().get(text))) return false;
    } else if (type == JsonType::array) {
      ondemand::array array;
      if (!GetArray(value, array) || !Good(array.raw_json().get(text))) return false;
    } else {
      text = value.raw_json_token();
      if (!CheckScalar(value, type)) return false;
    }
    out = Trimmed(text);
    return CompactJson(out).has_value() || Fail("invalid JSON");
  }

  // Consumes a scalar of that type and makes sure that it is one.
  bool CheckScalar(ondemand::value& value, JsonType type) {
    switch (type) {
      case JsonType::string: {
        std::string ignored;
        return String(value, ignored);
      }
      case JsonType::boolean: {
        bool ignored = false;
        return Good(value.get_bool().get(ignored));
      }
      case JsonType::number: {
        // Its range is the reader's business: a quantity may be 1e400. What is not consumed is skipped.
        return IsJsonNumber(Trimmed(value.raw_json_token())) || Fail("invalid number");
      }
      default: {
        bool is_null = false;
        return IsNull(value, is_null) && (is_null || Fail("invalid JSON"));
      }
    }
  }

  bool IsNull(ondemand::value& value, bool& is_null) {
    JsonType type{};
    if (!Good(value.type().get(type))) return false;
    if (type != JsonType::null) return true;
    if (!Good(value.is_null().get(is_null))) return false;
    return is_null || Fail("invalid JSON");
  }

  bool GetObject(ondemand::value& value, ondemand::object& out) {
    return HasType(value, JsonType::object) && Good(value.get_object().get(out));
  }
  bool GetArray(ondemand::value& value, ondemand::array& out) {
    return HasType(value, JsonType::array) && Good(value.get_array().get(out));
  }

  bool HasType(ondemand::value& value, JsonType wanted) {
    JsonType type{};
    if (!Good(value.type().get(type))) return false;
    return type == wanted || WrongType(TypeName(wanted), type);
  }

  bool Grow(const MemberType& type) { return budget_.Take(type.element_size) || Fail(kGrowthError); }

  bool Good(simdjson::error_code code) {
    if (code == simdjson::SUCCESS) return true;
    return Fail(fmt::format("invalid JSON: {}", simdjson::error_message(code)));
  }
  bool WrongType(std::string_view wanted, JsonType got) {
    return Fail(fmt::format("expected {}, got {}", wanted, TypeName(got)));
  }
  bool Fail(std::string error) {
    const std::string path = path_.ToString();
    error_ = path.empty() ? std::move(error) : fmt::format("{}: {}", path, error);
    return false;
  }

  GrowthBudget budget_;
  JsonPath path_;
  std::string error_;
};

std::optional<base::Error> DecodePadded(void* object, const TypedTable& table, const std::string& padded,
                                        std::size_t size, bool& repair) {
  ondemand::parser parser;
  ondemand::document document;
  const auto code = parser.iterate(padded.data(), size, padded.size()).get(document);
  repair = code == simdjson::UTF8_ERROR;
  if (code != simdjson::SUCCESS) {
    return base::Error{fmt::format("invalid JSON: {}", simdjson::error_message(code))};
  }
  Decoder decoder(size);
  if (decoder.Document(document, object, table)) return std::nullopt;
  return decoder.TakeError();
}

}  // namespace

std::optional<base::Error> DecodeLenientJsonInto(void* object, const TypedTable& table,
                                                 std::string_view text) {
  if (text.size() > kDocumentBytesMax) return base::Error{"the document is too large"};
  const auto decode = [&](std::string_view input, bool& repair) {
    std::string padded;
    padded.reserve(input.size() + simdjson::SIMDJSON_PADDING);
    padded.append(input).append(simdjson::SIMDJSON_PADDING, '\0');
    return DecodePadded(object, table, padded, input.size(), repair);
  };
  bool repair = false;
  auto error = decode(text, repair);
  // Go reads bytes that are no UTF-8 as U+FFFD. It is rare enough to be done on a second attempt.
  if (repair) error = decode(RepairUtf8(text), repair);
  return error;
}

}  // namespace berth::wire
