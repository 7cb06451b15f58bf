#include "sandbox/go_json.h"

#include <boost/json.hpp>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "base/go_text.h"
#include "wire/schema.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kDepthMax = 10'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// A byte as Go prints it there: as the character with that number.
std::string QuotedByte(char c) {
  if (c == '\'') return R"('\'')";
  if (c == '"') return R"('"')";
  const auto byte = static_cast<unsigned char>(c);
  std::string text;
  if (byte < 0x80) {
    text = c;
  } else {
    text = {static_cast<char>(0xc0 | (byte >> 6)), static_cast<char>(0x80 | (byte & 0x3f))};
  }
  const std::string quoted = base::QuoteGo(text);
  return "'" + quoted.substr(1, quoted.size() - 2) + "'";
}

// Reads JSON as strictly as Go does, and stops at what it does not like.
class SyntaxReader {
 public:
  explicit SyntaxReader(std::string_view text) : text_(text) {}

  std::string Problem() {
    if (!Value(0)) return problem_;
    SkipBlanks();
    if (at_ < text_.size()) Refuse("after top-level value");
    return problem_;
  }

 private:
  bool Refuse(std::string_view where) {
    problem_ = at_ < text_.size() ? fmt::format("invalid character {} {}", QuotedByte(text_[at_]), where)
                                  : "unexpected end of JSON input";
    return false;
  }
  bool Sees(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool Takes(char c) {
    if (!Sees(c)) return false;
    ++at_;
    return true;
  }
  void SkipBlanks() {
    while (Sees(' ') || Sees('\t') || Sees('\r') || Sees('\n')) ++at_;
  }

  bool Value(std::size_t depth) {
    if (depth > kDepthMax) {
      problem_ = "exceeded max depth";
      return false;
    }
    SkipBlanks();
    if (Takes('{')) return Object(depth + 1);
    if (Takes('[')) return Array(depth + 1);
    if (Takes('"')) return String();
    for (const std::string_view literal : {"true", "false", "null"}) {
      if (Sees(literal.front())) return Literal(literal);
    }
    if (Sees('-') || (at_ < text_.size() && IsDigit(text_[at_]))) return Number();
    return Refuse("looking for beginning of value");
  }

  bool Object(std::size_t depth) {
    SkipBlanks();
    if (Takes('}')) return true;
    while (true) {
      SkipBlanks();
      if (!Takes('"')) return Refuse("looking for beginning of object key string");
      if (!String()) return false;
      SkipBlanks();
      if (!Takes(':')) return Refuse("after object key");
      if (!Value(depth)) return false;
      SkipBlanks();
      if (Takes('}')) return true;
      if (!Takes(',')) return Refuse("after object key:value pair");
    }
  }

  bool Array(std::size_t depth) {
    SkipBlanks();
    if (Takes(']')) return true;
    while (true) {
      if (!Value(depth)) return false;
      SkipBlanks();
      if (Takes(']')) return true;
      if (!Takes(',')) return Refuse("after array element");
    }
  }

  bool String() {
    while (at_ < text_.size()) {
      if (Takes('"')) return true;
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return Refuse("in string literal");
      if (!Takes('\\')) {
        ++at_;
      } else if (!Escape()) {
        return false;
      }
    }
    return Refuse("");
  }

  bool Escape() {
    constexpr std::string_view kPlain = "bfnrt\\/\"";
    if (at_ < text_.size() && kPlain.find(text_[at_]) != std::string_view::npos) {
      ++at_;
      return true;
    }
    if (!Takes('u')) return Refuse("in string escape code");
    for (int i = 0; i < 4; ++i, ++at_) {
      if (at_ == text_.size() || !IsHex(text_[at_])) return Refuse("in \\u hexadecimal character escape");
    }
    return true;
  }

  bool Literal(std::string_view literal) {
    ++at_;
    for (const char c : literal.substr(1)) {
      if (!Takes(c)) return Refuse(fmt::format("in literal {} (expecting '{}')", literal, c));
    }
    return true;
  }

  bool Digits(std::string_view where) {
    if (at_ == text_.size() || !IsDigit(text_[at_])) return Refuse(where);
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return true;
  }

  bool Number() {
    Takes('-');
    if (!Takes('0') && !Digits("in numeric literal")) return false;
    if (Takes('.') && !Digits("after decimal point in numeric literal")) return false;
    if (!Takes('e') && !Takes('E')) return true;
    if (!Takes('+')) Takes('-');
    return Digits("in exponent of numeric literal");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
};

std::string_view KindName(const json::value& value) {
  switch (value.kind()) {
    case json::kind::object:
      return "object";
    case json::kind::array:
      return "array";
    case json::kind::string:
      return "string";
    case json::kind::bool_:
      return "bool";
    default:
      return "number";
  }
}

// "core.v1.Pod" is v1.Pod, and its values' struct is Pod.
std::string_view StructName(const wire::Message& message) {
  return message.name.substr(message.name.rfind('.') + 1);
}

std::string GoTypeName(const wire::Message& message) {
  const std::string_view package = message.name.substr(0, message.name.rfind('.'));
  return fmt::format("{}.{}", package.substr(package.rfind('.') + 1), StructName(message));
}

std::string ElementType(const wire::Field& field) {
  switch (field.kind) {
    case wire::ValueKind::kString:
      return "string";
    case wire::ValueKind::kBytes:
      return "[]uint8";
    case wire::ValueKind::kBool:
      return "bool";
    case wire::ValueKind::kInt32:
      return "int32";
    case wire::ValueKind::kInt64:
      return "int64";
    case wire::ValueKind::kDouble:
      return "float64";
    case wire::ValueKind::kMessage:
      return GoTypeName(*field.message);
  }
  return {};
}

std::string GoType(const wire::Field& field) {
  if (field.shape == wire::Shape::kList) return "[]" + ElementType(field);
  if (field.shape != wire::Shape::kMap) return ElementType(field);
  const bool is_amounts = field.message != nullptr && field.message->form == wire::SpecialForm::kQuantity;
  return is_amounts ? "v1.ResourceList" : "map[string]" + ElementType(field);
}

class TypeReader {
 public:
  std::string problem;

  bool Object(const wire::Message& message, const json::object& object) {
    for (const json::key_value_pair& member : object) {
      const wire::Message::JsonKey* key =
          message.ByJsonKey(std::string_view(member.key().data(), member.key().size()));
      if (key == nullptr || member.value().is_null()) continue;
      path_.push_back(key->key);
      if (!Field(message, *key->field, member.value())) return false;
      path_.pop_back();
    }
    return true;
  }

 private:
  bool Field(const wire::Message& message, const wire::Field& field, const json::value& value) {
    if (field.shape == wire::Shape::kList) {
      if (!value.is_array()) return Refuse(message, value, GoType(field));
      for (const json::value& element : value.get_array()) {
        if (!Element(message, field, element)) return false;
      }
      return true;
    }
    if (field.shape == wire::Shape::kMap) {
      if (!value.is_object()) return Refuse(message, value, GoType(field));
      for (const json::key_value_pair& entry : value.get_object()) {
        if (!Element(message, field, entry.value())) return false;
      }
      return true;
    }
    return Element(message, field, value);
  }

  bool Element(const wire::Message& message, const wire::Field& field, const json::value& value) {
    if (value.is_null() || IsRight(field, value)) {
      const bool is_plain = field.kind == wire::ValueKind::kMessage && value.is_object() &&
                            field.message->form == wire::SpecialForm::kNone;
      return !is_plain || Object(*field.message, value.get_object());
    }
    return Refuse(message, value, ElementType(field));
  }

  static bool IsRight(const wire::Field& field, const json::value& value) {
    switch (field.kind) {
      case wire::ValueKind::kString:
      case wire::ValueKind::kBytes:
        return value.is_string();
      case wire::ValueKind::kBool:
        return value.is_bool();
      case wire::ValueKind::kInt32:
      case wire::ValueKind::kInt64:
        return value.is_int64() || value.is_uint64();
      case wire::ValueKind::kDouble:
        return value.is_number();
      case wire::ValueKind::kMessage:
        // The others have decoders and words of their own.
        return field.message->form != wire::SpecialForm::kNone || value.is_object();
    }
    return true;
  }

  bool Refuse(const wire::Message& message, const json::value& value, std::string_view type) {
    std::string given(KindName(value));
    if (value.is_double() && type.starts_with("int")) given += fmt::format(" {}", value.get_double());
    problem = fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", given,
                          StructName(message), fmt::join(path_, "."), type);
    return false;
  }

  std::vector<std::string_view> path_;
};

}  // namespace

std::string JsonSyntaxProblem(std::string_view text) { return SyntaxReader(text).Problem(); }

std::string JsonTypeProblem(const wire::Message& message, const json::object& document) {
  TypeReader reader;
  reader.Object(message, document);
  return std::move(reader.problem);
}

}  // namespace berth::sandbox
