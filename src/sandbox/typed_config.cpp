#include "sandbox/typed_config.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "sandbox/field_set.h"
#include "sandbox/merge_schema.h"
#include "sandbox/text_parts.h"
#include "wire/schema.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// The library shows values as Go prints them.
enum class GoVerb : std::uint8_t { kValue, kSyntax };  // %v and %#v

std::string GoText(const json::value& value, GoVerb verb);

std::string GoList(const json::array& list, GoVerb verb) {
  std::vector<std::string> parts;
  for (const json::value& entry : list) parts.push_back(GoText(entry, verb));
  if (verb == GoVerb::kValue) return fmt::format("[{}]", JoinText(parts, " "));
  return fmt::format("[]interface {{}}{{{}}}", JoinText(parts, ", "));
}

std::string GoMap(const json::object& object, GoVerb verb) {
  std::map<std::string_view, std::string> sorted;
  for (const json::key_value_pair& member : object)
    sorted.emplace(member.key(), GoText(member.value(), verb));
  std::vector<std::string> parts;
  parts.reserve(sorted.size());
  for (const auto& [key, text] : sorted) {
    parts.push_back(
        fmt::format("{}:{}", verb == GoVerb::kValue ? std::string(key) : base::QuoteGo(key), text));
  }
  if (verb == GoVerb::kValue) return fmt::format("map[{}]", JoinText(parts, " "));
  return fmt::format("map[string]interface {{}}{{{}}}", JoinText(parts, ", "));
}

std::string GoText(const json::value& value, GoVerb verb) {
  switch (value.kind()) {
    case json::kind::null:
      return verb == GoVerb::kValue ? "<nil>" : "interface {}(nil)";
    case json::kind::bool_:
      return value.get_bool() ? "true" : "false";
    case json::kind::string: {
      const std::string_view text(value.get_string().data(), value.get_string().size());
      return verb == GoVerb::kValue ? std::string(text) : base::QuoteGo(text);
    }
    case json::kind::array:
      return GoList(value.get_array(), verb);
    case json::kind::object:
      return GoMap(value.get_object(), verb);
    case json::kind::int64:
      return fmt::to_string(value.get_int64());
    case json::kind::uint64:
      return fmt::to_string(value.get_uint64());
    case json::kind::double_:
      break;
  }
  return base::FormatGoFloat(value.get_double());
}

std::string_view GoTypeName(const json::value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_array()) return "[]interface {}";
  return "map[string]interface {}";
}

std::string AsGoShows(const json::value& value) {
  return fmt::format("&{{{}}}", GoText(value, GoVerb::kValue));
}

bool IsScalar(const json::value& value) { return !value.is_object() && !value.is_array(); }

class TypeChecker {
 public:
  // After a field that is not known the rest of the object is not looked at.
  void Struct(const wire::Message& message, const json::object& document) {
    if (message.json_keys.empty()) return;
    for (const json::key_value_pair& member : document) {
      const std::string_view key = member.key();
      const Step step(*this, fmt::format(".{}", key));
      const bool is_type = message.has_type_meta && (key == "kind" || key == "apiVersion");
      const wire::Message::JsonKey* known = message.ByJsonKey(key);
      if (is_type) {
        Scalar(wire::ValueKind::kString, member.value());
      } else if (known == nullptr) {
        Problem("field not declared in schema");
        return;
      } else if (!member.value().is_null()) {
        Value(message, key, *known->field, member.value());
      }
    }
  }

  std::string text() const {
    if (problems_.size() == 1) return problems_.front();
    std::string text = problems_.empty() ? "" : "errors:";
    for (const std::string& problem : problems_) text += "\n  " + problem;
    return text;
  }

 private:
  // One element of the path, for as long as it lives.
  class Step {
   public:
    Step(TypeChecker& checker, std::string_view element) : path_(checker.path_), size_(path_.size()) {
      path_ += element;
    }
    ~Step() { path_.resize(size_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::string& path_;
    const std::size_t size_;
  };

  void Problem(std::string_view what) {
    problems_.push_back(path_.empty() ? std::string(what) : fmt::format("{}: {}", path_, what));
  }

  void Value(const wire::Message& message, std::string_view key, const wire::Field& field,
             const json::value& value) {
    switch (field.shape) {
      case wire::Shape::kList:
        if (!value.is_array()) return Problem("expected list, got " + AsGoShows(value));
        return List(RuleOf(message, key), field, value.get_array());
      case wire::Shape::kMap:
        if (!value.is_object()) return Problem("expected map, got " + AsGoShows(value));
        for (const json::key_value_pair& member : value.get_object()) {
          const Step step(*this, fmt::format(".{}", std::string_view(member.key())));
          Single(field, member.value());
        }
        return;
      case wire::Shape::kValue:
      case wire::Shape::kPointer:
        break;
    }
    Single(field, value);
  }

  void List(const MergeRule& rule, const wire::Field& field, const json::array& list) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (rule.kind == MergeKind::kAtomic) {
        const Step step(*this, fmt::format("[{}]", i));
        Single(field, list[i]);
        continue;
      }
      if (const std::string wrong = ElementProblem(rule, list[i]); !wrong.empty()) {
        // Without a name for it nothing more can be said about the list.
        return Problem(fmt::format("element {}: {}", i, wrong));
      }
      const std::string element = *EntryElement(rule, list[i]);
      if (!seen.insert(element).second) {
        Problem("duplicate entries for key " + ReadableElement(element));
      }
      const Step step(*this, ReadableElement(element));
      Single(field, list[i]);
    }
  }

  static std::string ElementProblem(const MergeRule& rule, const json::value& entry) {
    if (rule.kind == MergeKind::kListSet) {
      if (entry.is_object()) return "associative list without keys has an element that's a map type";
      if (entry.is_array()) return "not supported: associative list with lists as elements";
      if (entry.is_null()) return "associative list without keys has an element that's an explicit null";
      return "";
    }
    if (entry.is_null()) return "associative list with keys may not have a null element";
    if (!entry.is_object()) return "associative list with keys may not have non-map elements";
    if (EntryElement(rule, entry)) return "";
    std::vector<std::string> keys;
    keys.reserve(rule.keys.size());
    for (const std::string_view key : rule.keys) keys.push_back(base::QuoteGo(key));
    return fmt::format(
        "associative list with keys has an element that omits all key fields [{}] (and doesn't have default "
        "values for any key fields)",
        JoinText(keys, " "));
  }

  // An element of a list, a value of a map, or a field that is neither.
  void Single(const wire::Field& field, const json::value& value) {
    if (value.is_null()) return;
    if (field.kind != wire::ValueKind::kMessage || field.message == nullptr) return Scalar(field.kind, value);
    switch (field.message->form) {
      case wire::SpecialForm::kTime:
      case wire::SpecialForm::kMicroTime:
      case wire::SpecialForm::kQuantity:
      case wire::SpecialForm::kIntOrString:
        if (!IsScalar(value)) Problem("expected any scalar, got " + AsGoShows(value));
        return;
      case wire::SpecialForm::kStringList:
        return;  // of reviews alone, which nobody applies
      case wire::SpecialForm::kRawJson:
      case wire::SpecialForm::kNone:
        break;
    }
    if (!value.is_object()) return Problem("expected map, got " + AsGoShows(value));
    if (field.message->form == wire::SpecialForm::kNone) Struct(*field.message, value.get_object());
  }

  void Scalar(wire::ValueKind kind, const json::value& value) {
    if (value.is_null()) return;
    switch (kind) {
      case wire::ValueKind::kString:
      case wire::ValueKind::kBytes:
        if (value.is_string()) return;
        return Problem(fmt::format("expected string, got &value.valueUnstructured{{Value:{}}}",
                                   GoText(value, GoVerb::kSyntax)));
      case wire::ValueKind::kBool:
        if (!value.is_bool()) Problem("expected boolean, got " + AsGoShows(value));
        return;
      case wire::ValueKind::kInt32:
      case wire::ValueKind::kInt64:
      case wire::ValueKind::kDouble:
        if (!value.is_number())
          Problem(fmt::format("expected numeric (int or float), got {}", GoTypeName(value)));
        return;
      case wire::ValueKind::kMessage:
        break;
    }
  }

  std::string path_;
  std::vector<std::string> problems_;
};

}  // namespace

std::string TypedProblem(const wire::Message& message, const json::object& config) {
  TypeChecker checker;
  checker.Struct(message, config);
  return checker.text();
}

}  // namespace berth::sandbox
