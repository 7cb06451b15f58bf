#include "sandbox/patch_strategic.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <string_view>

#include "sandbox/document.h"
#include "wire/json_document.h"
#include "wire/schema.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteScalars = "$deleteFromPrimitiveList/";

// What the schema says of a key of an object.
struct FieldRule {
  wire::PatchRule patch;
  const wire::Message* element = nullptr;  // of the value, or of the list's elements
};

FieldRule RuleOf(const wire::Message* message, std::string_view key) {
  const wire::Message::JsonKey* found = message != nullptr ? message->ByJsonKey(key) : nullptr;
  if (found == nullptr) return {};
  const wire::Field& field = *found->field;
  const bool is_plain = field.message != nullptr && field.message->form == wire::SpecialForm::kNone;
  return {field.patch, is_plain && field.shape != wire::Shape::kMap ? field.message : nullptr};
}

std::string_view Key(const json::key_value_pair& member) {
  return {member.key().data(), member.key().size()};
}

// The part of the key behind the prefix, or nothing.
std::string_view Behind(std::string_view key, std::string_view prefix) {
  return key.starts_with(prefix) ? key.substr(prefix.size()) : std::string_view();
}

bool IsDirective(std::string_view key) {
  return key == kDirective || key == kRetainKeys || key.starts_with(kElementOrder) ||
         key.starts_with(kDeleteScalars);
}

// A value that is new to the object: nulls and directives mean nothing there.
json::value Stripped(const json::value& value) {
  if (const json::object* object = value.if_object()) {
    json::object kept;
    for (const json::key_value_pair& member : *object) {
      if (IsDirective(Key(member)) || member.value().is_null()) continue;
      kept[member.key()] = Stripped(member.value());
    }
    return kept;
  }
  if (const json::array* array = value.if_array()) {
    json::array kept;
    for (const json::value& element : *array) {
      const bool marks = element.is_object() && element.get_object().contains(kDirective);
      if (!marks) kept.push_back(Stripped(element));
    }
    return kept;
  }
  return value;
}

std::unexpected<StatusError> BadFormat(std::string_view what) {
  return Refuse(BadRequest(fmt::format("invalid patch format of {}", what)));
}

std::unexpected<StatusError> NoMergeKey(const json::value& element, std::string_view merge_key) {
  StatusError error;
  error.message =
      fmt::format("map: {} does not contain declared merge key: {}", wire::WriteJson(element), merge_key);
  return Refuse(std::move(error));
}

const json::value* MergeValue(const json::value& element, std::string_view merge_key) {
  const json::object* object = element.if_object();
  return object != nullptr ? object->if_contains(merge_key) : nullptr;
}

bool SameElement(const json::value& a, const json::value& b, std::string_view merge_key) {
  if (merge_key.empty()) return a == b;
  const json::value* left = MergeValue(a, merge_key);
  const json::value* right = MergeValue(b, merge_key);
  return left != nullptr && right != nullptr && *left == *right;
}

std::size_t IndexOf(const json::array& list, const json::value& element, std::string_view merge_key) {
  const auto it = std::ranges::find_if(
      list, [&](const json::value& candidate) { return SameElement(candidate, element, merge_key); });
  return static_cast<std::size_t>(it - list.begin());
}

bool Contains(const json::array& list, const json::value& element, std::string_view merge_key) {
  return IndexOf(list, element, merge_key) < list.size();
}

// The listed elements in the order of the directive; the others stay where they were among them.
json::array Ordered(const json::array& merged, const json::array& order, const json::array& before,
                    std::string_view merge_key) {
  std::vector<json::value> listed;
  std::vector<json::value> others;
  for (const json::value& element : merged) {
    (Contains(order, element, merge_key) ? listed : others).push_back(element);
  }
  std::ranges::stable_sort(listed, {},
                           [&](const json::value& element) { return IndexOf(order, element, merge_key); });
  std::ranges::stable_sort(others, {},
                           [&](const json::value& element) { return IndexOf(before, element, merge_key); });
  json::array result;
  auto other = others.begin();
  for (json::value& element : listed) {
    const std::size_t at = IndexOf(before, element, merge_key);
    while (at < before.size() && other != others.end() && IndexOf(before, *other, merge_key) < at) {
      result.push_back(*other++);
    }
    result.push_back(std::move(element));
  }
  for (; other != others.end(); ++other) result.push_back(*other);
  return result;
}

// Whether the patch names its elements in the order that the directive gives.
bool OrderAgrees(const json::array& patch, const json::array& order, std::string_view merge_key) {
  if (order.empty() || patch.empty()) return true;
  std::size_t at = 0;
  for (const json::value& element : patch) {
    if (element.is_object() && element.get_object().contains(kDirective)) continue;
    while (at < order.size() && !SameElement(element, order[at], merge_key)) ++at;
    if (at == order.size()) return false;
    ++at;
  }
  return true;
}

class Merger {
 public:
  ApiResult<void> Objects(const wire::Message* message, json::object& document, const json::object& patch);

 private:
  ApiResult<void> RetainKeys(json::object& document, const json::object& patch);
  ApiResult<void> Member(const wire::Message* message, json::object& document, std::string_view key,
                         const json::value& value);
  ApiResult<void> List(const FieldRule& rule, json::array& list, const json::array& patch);
  ApiResult<void> KeyedList(const FieldRule& rule, json::array& list, const json::array& patch);
  ApiResult<bool> SpecialElements(const FieldRule& rule, json::array& list, const json::array& patch);
  ApiResult<void> OrderedList(const wire::Message* message, json::object& document, const json::object& patch,
                              std::string_view key, const json::value& order);
};

ApiResult<void> Merger::RetainKeys(json::object& document, const json::object& patch) {
  const json::value* directive = patch.if_contains(kRetainKeys);
  if (directive == nullptr) return {};
  const json::array* keep = directive->if_array();
  if (keep == nullptr) return BadFormat("retainKeys");
  const auto kept = [&](std::string_view key) {
    return std::ranges::any_of(
        *keep, [&](const json::value& name) { return name.is_string() && ViewOf(name.get_string()) == key; });
  };
  for (const json::key_value_pair& member : patch) {
    if (!IsDirective(Key(member)) && !member.value().is_null() && !kept(Key(member))) {
      return Refuse(BadRequest("patch content doesn't match retainKeys list"));
    }
  }
  json::object rest;
  for (const json::key_value_pair& member : document) {
    if (kept(Key(member))) rest[member.key()] = member.value();
  }
  document = std::move(rest);
  return {};
}

ApiResult<void> Merger::Objects(const wire::Message* message, json::object& document,
                                const json::object& patch) {
  if (const json::value* directive = patch.if_contains(kDirective)) {
    if (*directive == "delete") {
      document.clear();
      return {};
    }
    if (*directive != "replace") {
      return Refuse(BadRequest(fmt::format("unknown patch type: {} in map: {}", wire::WriteJson(*directive),
                                           wire::WriteJson(patch))));
    }
    json::object replacement = patch;
    replacement.erase(kDirective);
    document = std::move(replacement);
    return {};
  }
  ApiResult<void> good = RetainKeys(document, patch);
  if (!good) return good;
  for (const json::key_value_pair& member : patch) {
    const std::string_view list = Behind(Key(member), kElementOrder);
    if (list.empty()) continue;
    good = OrderedList(message, document, patch, list, member.value());
    if (!good) return good;
  }
  for (const json::key_value_pair& member : patch) {
    const std::string_view key = Key(member);
    if (const std::string_view list = Behind(key, kDeleteScalars); !list.empty()) {
      json::array* scalars = FindArray(document, {list});
      const json::array* gone = member.value().if_array();
      if (gone == nullptr) return BadFormat("primitive list");
      if (scalars == nullptr) continue;
      const auto doomed =
          std::ranges::remove_if(*scalars, [&](const json::value& v) { return Contains(*gone, v, ""); });
      scalars->erase(doomed.begin(), doomed.end());
      continue;
    }
    const std::string order = std::string(kElementOrder).append(key);
    if (IsDirective(key) || patch.contains(order)) continue;
    good = Member(message, document, key, member.value());
    if (!good) return good;
  }
  return {};
}

ApiResult<void> Merger::Member(const wire::Message* message, json::object& document, std::string_view key,
                               const json::value& value) {
  if (value.is_null()) {
    document.erase(key);
    return {};
  }
  json::value* current = document.if_contains(key);
  const FieldRule rule = RuleOf(message, key);
  if (current != nullptr && current->is_object() && value.is_object() && !rule.patch.replace) {
    return Objects(rule.element, current->get_object(), value.get_object());
  }
  if (current != nullptr && current->is_array() && value.is_array() && rule.patch.merge) {
    return List(rule, current->get_array(), value.get_array());
  }
  document[key] = Stripped(value);
  return {};
}

ApiResult<void> Merger::OrderedList(const wire::Message* message, json::object& document,
                                    const json::object& patch, std::string_view key,
                                    const json::value& order) {
  const json::array* wanted = order.if_array();
  if (wanted == nullptr) return BadFormat("setElementOrder list");
  const FieldRule rule = RuleOf(message, key);
  const json::value* change = patch.if_contains(key);
  if (change != nullptr && !change->is_array()) return BadFormat("setElementOrder list");
  if (change != nullptr && !OrderAgrees(change->get_array(), *wanted, rule.patch.merge_key)) {
    return Refuse(
        BadRequest(fmt::format("The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                               wire::WriteJson(*change), wire::WriteJson(order))));
  }
  const json::array before =
      FindArray(document, {key}) != nullptr ? *FindArray(document, {key}) : json::array();
  if (change != nullptr) {
    const ApiResult<void> merged = Member(message, document, key, *change);
    if (!merged) return merged;
  }
  json::array* list = FindArray(document, {key});
  if (list != nullptr) *list = Ordered(*list, *wanted, before, rule.patch.merge_key);
  return {};
}

ApiResult<void> Merger::List(const FieldRule& rule, json::array& list, const json::array& patch) {
  if (!rule.patch.merge_key.empty()) return KeyedList(rule, list, patch);
  const json::array before = list;
  for (const json::value& scalar : patch) {
    if (!Contains(list, scalar, "")) list.push_back(scalar);
  }
  list = Ordered(list, patch, before, "");
  return {};
}

// Handles the elements that are directives; true if one of them replaced the list.
ApiResult<bool> Merger::SpecialElements(const FieldRule& rule, json::array& list, const json::array& patch) {
  bool replaces = false;
  for (const json::value& element : patch) {
    if (!element.is_object()) return NoMergeKey(element, rule.patch.merge_key);
    const json::value* directive = element.get_object().if_contains(kDirective);
    if (directive == nullptr) continue;
    if (*directive == "replace") {
      replaces = true;
    } else if (*directive == "delete") {
      if (MergeValue(element, rule.patch.merge_key) == nullptr)
        return NoMergeKey(element, rule.patch.merge_key);
      const auto doomed = std::ranges::remove_if(
          list, [&](const json::value& v) { return SameElement(v, element, rule.patch.merge_key); });
      list.erase(doomed.begin(), doomed.end());
    } else {
      return Refuse(BadRequest(fmt::format("unknown patch type: {} in map: {}", wire::WriteJson(*directive),
                                           wire::WriteJson(element))));
    }
  }
  if (replaces) list.clear();
  return replaces;
}

ApiResult<void> Merger::KeyedList(const FieldRule& rule, json::array& list, const json::array& patch) {
  const ApiResult<bool> replaced = SpecialElements(rule, list, patch);
  if (!replaced) return Refuse(replaced.error());
  const json::array before = list;
  json::array order;
  for (const json::value& element : patch) {
    if (element.get_object().contains(kDirective)) continue;
    if (*replaced) {
      list.push_back(element);
      continue;
    }
    if (MergeValue(element, rule.patch.merge_key) == nullptr)
      return NoMergeKey(element, rule.patch.merge_key);
    order.push_back(element);
    const std::size_t at = IndexOf(list, element, rule.patch.merge_key);
    if (at == list.size()) {
      list.push_back(Stripped(element));
    } else {
      const ApiResult<void> merged = Objects(rule.element, list[at].get_object(), element.get_object());
      if (!merged) return merged;
    }
  }
  // What the patch names comes in its order, and what is new comes before what it does not name.
  if (!*replaced) list = Ordered(list, order, before, rule.patch.merge_key);
  return {};
}

}  // namespace

ApiResult<void> StrategicMerge(const wire::Message& message, json::object& document,
                               const json::object& patch) {
  return Merger().Objects(&message, document, patch);
}

}  // namespace berth::sandbox
