#include "wire/json_document.h"

#include <absl/container/flat_hash_set.h>
#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <simdjson.h>
#include <vector>

#include "base/go_text.h"
#include "wire/json_path.h"
#include "wire/json_text.h"
#include "wire/schema_position.h"

namespace berth::wire {
namespace {

namespace json = boost::json;

// Receives the parser's events and builds the document, following the schema alongside. Boost.JSON calls on_*
// methods and stops when one of them returns false.
class DocumentBuilder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  explicit DocumentBuilder(const JsonOptions& options)
      : strict_(options.strict), next_{options.message, nullptr} {}

  json::value Release() { return stack_.release(); }

  bool on_document_begin(json::error_code&) {
    stack_.reset();
    return true;
  }
  bool on_document_end(json::error_code&) { return true; }

  bool on_object_begin(json::error_code&) { return Open(false); }
  bool on_object_end(std::size_t count, json::error_code&) {
    levels_.pop_back();
    stack_.push_object(count);
    return ValueDone();
  }
  bool on_array_begin(json::error_code&) { return Open(true); }
  bool on_array_end(std::size_t count, json::error_code&) {
    levels_.pop_back();
    stack_.push_array(count);
    return ValueDone();
  }

  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    stack_.push_chars(part);
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    stack_.push_key(part);
    Key();
    text_.clear();
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_string(part);
    return ValueDone();
  }

  bool on_number_part(json::string_view part, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t value, json::string_view part, json::error_code&) {
    if (!PushDigits(part)) stack_.push_int64(value);
    return ValueDone();
  }
  bool on_uint64(std::uint64_t value, json::string_view part, json::error_code&) {
    if (!PushDigits(part)) stack_.push_uint64(value);
    return ValueDone();
  }
  bool on_double(double, json::string_view part, json::error_code& error) {
    if (PushDigits(part)) return ValueDone();
    // The parser's own number may be off by a digit.
    text_.append(part.data(), part.size());
    double value = 0;
    if (std::from_chars(text_.data(), text_.data() + text_.size(), value).ec != std::errc()) {
      error = json::error::exponent_overflow;
      return false;
    }
    stack_.push_double(value);
    return ValueDone();
  }
  bool on_bool(bool value, json::error_code&) {
    stack_.push_bool(value);
    return ValueDone();
  }
  bool on_null(json::error_code&) {
    stack_.push_null();
    return ValueDone();
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  // An object or array that is still open.
  struct Level {
    SchemaPosition position;
    bool is_array = false;
    std::size_t index = 0;  // of the element that comes next
    std::string key;        // of the member that comes next
    absl::flat_hash_set<std::string> seen;
  };

  bool Open(bool is_array) {
    Level& level = levels_.emplace_back();
    level.position = next_;
    level.is_array = is_array;
    if (is_array) next_ = level.position.Element();
    return true;
  }

  bool ValueDone() {
    text_.clear();
    if (levels_.empty()) return true;
    Level& level = levels_.back();
    if (!level.is_array) return true;
    ++level.index;
    next_ = level.position.Element();
    return true;
  }

  void Key() {
    Level& level = levels_.back();
    const std::optional<SchemaPosition> member = level.position.Member(text_);
    next_ = member.value_or(SchemaPosition{});
    if (strict_ == nullptr) return;
    level.key = text_;
    if (!member) {
      strict_->Unknown(Path());
    } else if ((level.position.IsMessage() || level.position.IsMap()) && !level.seen.insert(text_).second) {
      strict_->Duplicate(Path());
    }
  }

  std::string Path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (level.is_array) {
        path += fmt::format("[{}]", level.index);
      } else {
        if (!path.empty()) path += '.';
        path += level.key;
      }
    }
    return path;
  }

  // In the place of a quantity the digits themselves are the value.
  bool PushDigits(json::string_view part) {
    if (!next_.IsQuantity()) return false;
    text_.append(part.data(), part.size());
    stack_.push_string(text_);
    return true;
  }

  StrictErrors* strict_;
  SchemaPosition next_;  // what the schema says about the value that comes next
  std::vector<Level> levels_;
  std::string text_;  // the key or number that is being read
  json::value_stack stack_;
};

// As encoding/json: the shortest digits that read back the same, with an exponent only below 1e-6 and from
// 1e21 on.
void AppendDouble(std::string& out, double value) {
  const double magnitude = std::fabs(value);
  const bool exponent = magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21);
  // Beyond 2^53 to_chars would write the exact integer instead of the shortest one.
  const bool pad = !exponent && magnitude >= 1e15;
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value,
                                 exponent || pad ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(digits, end.ptr);
  if (pad) {
    const std::size_t at = text.find('e');
    const auto power = static_cast<std::size_t>(std::stoi(text.substr(at + 1)));
    text.resize(at);
    std::erase(text, '.');
    const std::size_t wanted = power + 1 + (value < 0 ? 1 : 0);
    if (text.size() > wanted) text.insert(wanted, ".");
    text.resize(std::max(text.size(), wanted), '0');
  }
  // 1e-07 is written as 1e-7.
  if (const std::size_t at = text.find("e-0"); at != std::string::npos) text.erase(at + 2, 1);
  out += text;
}

void FindUnknown(const SchemaPosition& position, const json::value& value, JsonPath& path,
                 StrictErrors& strict) {
  if (const json::array* array = value.if_array(); array != nullptr && position.elements != nullptr) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      const JsonPath::Step step(path, i);
      FindUnknown(position.Element(), (*array)[i], path, strict);
    }
  }
  const json::object* object = value.if_object();
  if (object == nullptr || !(position.IsMessage() || position.IsMap())) return;
  for (const json::key_value_pair& member : *object) {
    const std::string_view key(member.key().data(), member.key().size());
    const std::optional<SchemaPosition> known = position.Member(key);
    if (!known) {
      strict.Unknown(path.StrictPath(key));
      continue;
    }
    const JsonPath::Step step(path, key);
    FindUnknown(*known, member.value(), path, strict);
  }
}

}  // namespace

base::Result<json::value> ParseJson(std::string_view text, const JsonOptions& options) {
  if (text.size() > options.bytes_max) {
    return base::Fail(fmt::format("the document has {} bytes, more than {}", text.size(), options.bytes_max));
  }
  std::string repaired;
  if (!simdjson::validate_utf8(text)) {
    repaired = RepairUtf8(text);
    text = repaired;
  }
  json::parse_options parse_options;
  parse_options.max_depth = kNestingMax;
  json::basic_parser<DocumentBuilder> parser(parse_options, options);
  json::error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (error) return base::Fail(fmt::format("invalid JSON at offset {}: {}", read, error.message()));
  if (read < text.size())
    return base::Fail(fmt::format("invalid JSON: something follows at offset {}", read));
  return parser.handler().Release();
}

void AppendJson(std::string& out, const json::value& value, JsonEscapes escapes) {
  const bool html = escapes == JsonEscapes::kHtml;
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      return;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case json::kind::int64:
      fmt::format_to(std::back_inserter(out), "{}", value.get_int64());
      return;
    case json::kind::uint64:
      fmt::format_to(std::back_inserter(out), "{}", value.get_uint64());
      return;
    case json::kind::double_:
      AppendDouble(out, value.get_double());
      return;
    case json::kind::string:
      base::AppendQuotedJson(out, {value.get_string().data(), value.get_string().size()}, html);
      return;
    case json::kind::array: {
      out += '[';
      bool first = true;
      for (const json::value& element : value.get_array()) {
        if (!std::exchange(first, false)) out += ',';
        AppendJson(out, element, escapes);
      }
      out += ']';
      return;
    }
    case json::kind::object: {
      out += '{';
      bool first = true;
      for (const json::key_value_pair& member : value.get_object()) {
        if (!std::exchange(first, false)) out += ',';
        base::AppendQuotedJson(out, {member.key().data(), member.key().size()}, html);
        out += ':';
        AppendJson(out, member.value(), escapes);
      }
      out += '}';
      return;
    }
  }
}

std::string WriteJson(const json::value& value, JsonEscapes escapes) {
  std::string out;
  AppendJson(out, value, escapes);
  return out;
}

void FindUnknownFields(const Message& message, const json::value& document, StrictErrors& strict) {
  JsonPath path;
  FindUnknown({&message, nullptr}, document, path, strict);
}

}  // namespace berth::wire
