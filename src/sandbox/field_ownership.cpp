#include "sandbox/field_ownership.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <map>

#include "sandbox/document.h"
#include "sandbox/merge_schema.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

std::string FieldElement(json::string_view key) { return fmt::format("f:{}", std::string_view(key)); }

// Entries of a list by their path element; those that lack their keys are left out.
template <class Array>
auto EntriesOf(const MergeRule& rule, Array& list) {
  std::map<std::string, decltype(&list[0])> entries;
  for (auto& entry : list) {
    if (std::optional<std::string> element = EntryElement(rule, entry))
      entries.emplace(std::move(*element), &entry);
  }
  return entries;
}

void AddValue(const MergeRule& rule, const json::value& value, FieldSet& set);

void AddStruct(const wire::Message& message, const json::object& document, FieldSet& set) {
  for (const json::key_value_pair& member : document) {
    if (member.value().is_null()) continue;
    AddValue(RuleOf(message, member.key()), member.value(), set.Below(FieldElement(member.key())));
  }
}

void AddValue(const MergeRule& rule, const json::value& value, FieldSet& set) {
  const json::object* object = value.if_object();
  const json::array* list = value.if_array();
  if (rule.kind == MergeKind::kStruct && object != nullptr && !object->empty()) {
    AddStruct(*rule.message, *object, set);
  } else if (rule.kind == MergeKind::kMap && object != nullptr && !object->empty()) {
    set.Insert();
    for (const json::key_value_pair& member : *object) set.Below(FieldElement(member.key())).Insert();
  } else if (rule.kind == MergeKind::kListMap && list != nullptr && !list->empty()) {
    for (const auto& [element, entry] : EntriesOf(rule, *list)) {
      set.Below(element).Insert();
      if (entry->is_object()) AddStruct(*rule.message, entry->get_object(), set.Below(element));
    }
  } else if (rule.kind == MergeKind::kListSet && list != nullptr && !list->empty()) {
    for (const auto& [element, entry] : EntriesOf(rule, *list)) set.Below(element).Insert();
  } else {
    set.Insert();
  }
}

void CompareStruct(const wire::Message& message, const json::object& before, const json::object& after,
                   FieldChanges& changes);

void CompareMaps(const json::object& before, const json::object& after, FieldChanges& changes) {
  for (const json::key_value_pair& member : after) {
    const json::value* old = before.if_contains(member.key());
    if (old == nullptr || *old != member.value()) changes.set.Below(FieldElement(member.key())).Insert();
  }
  for (const json::key_value_pair& member : before) {
    if (!after.contains(member.key())) changes.removed.Below(FieldElement(member.key())).Insert();
  }
}

void CompareLists(const MergeRule& rule, const json::array& before, const json::array& after,
                  FieldChanges& changes) {
  const auto old_entries = EntriesOf(rule, before);
  const auto new_entries = EntriesOf(rule, after);
  const auto add = [&](FieldSet& set, const std::string& element, const json::value& entry) {
    set.Below(element).Insert();
    if (rule.message != nullptr && entry.is_object())
      AddStruct(*rule.message, entry.get_object(), set.Below(element));
  };
  for (const auto& [element, entry] : new_entries) {
    const auto it = old_entries.find(element);
    if (it == old_entries.end()) {
      add(changes.set, element, *entry);
    } else if (rule.message != nullptr && entry->is_object() && it->second->is_object()) {
      FieldChanges below;
      CompareStruct(*rule.message, it->second->get_object(), entry->get_object(), below);
      changes.set.Below(element).Add(below.set);
      changes.removed.Below(element).Add(below.removed);
    }
  }
  for (const auto& [element, entry] : old_entries) {
    if (!new_entries.contains(element)) add(changes.removed, element, *entry);
  }
}

void CompareValues(const MergeRule& rule, const json::value& before, const json::value& after,
                   FieldChanges& changes) {
  const bool are_objects = before.is_object() && after.is_object();
  const bool are_lists = before.is_array() && after.is_array();
  if (rule.kind == MergeKind::kStruct && are_objects) {
    CompareStruct(*rule.message, before.get_object(), after.get_object(), changes);
  } else if (rule.kind == MergeKind::kMap && are_objects) {
    CompareMaps(before.get_object(), after.get_object(), changes);
  } else if ((rule.kind == MergeKind::kListMap || rule.kind == MergeKind::kListSet) && are_lists) {
    CompareLists(rule, before.get_array(), after.get_array(), changes);
  } else if (before != after) {
    changes.set.Insert();
  }
}

void CompareStruct(const wire::Message& message, const json::object& before, const json::object& after,
                   FieldChanges& changes) {
  for (const json::key_value_pair& member : after) {
    const MergeRule rule = RuleOf(message, member.key());
    const std::string element = FieldElement(member.key());
    const json::value* old = before.if_contains(member.key());
    if (member.value().is_null()) continue;
    if (old == nullptr || old->is_null()) {
      AddValue(rule, member.value(), changes.set.Below(element));
      continue;
    }
    FieldChanges below;
    CompareValues(rule, *old, member.value(), below);
    changes.set.Below(element).Add(below.set);
    changes.removed.Below(element).Add(below.removed);
  }
  for (const json::key_value_pair& member : before) {
    const json::value* left = after.if_contains(member.key());
    if (member.value().is_null() || (left != nullptr && !left->is_null())) continue;
    AddValue(RuleOf(message, member.key()), member.value(),
             changes.removed.Below(FieldElement(member.key())));
  }
}

void MergeList(const MergeRule& rule, json::array& live, const json::array& config) {
  for (const json::value& entry : config) {
    const std::optional<std::string> element = EntryElement(rule, entry);
    json::value* match = nullptr;
    for (json::value& candidate : live) {
      if (element && EntryElement(rule, candidate) == element) match = &candidate;
    }
    if (match == nullptr) {
      live.push_back(entry);
    } else if (rule.message != nullptr && match->is_object() && entry.is_object()) {
      MergeFields(*rule.message, match->get_object(), entry.get_object());
    }
  }
}

void RemoveFromList(const MergeRule& rule, json::array& list, const FieldSet& fields) {
  for (auto it = list.begin(); it != list.end();) {
    const std::optional<std::string> element = EntryElement(rule, *it);
    const FieldSet* below = element ? fields.Find(*element) : nullptr;
    if (below == nullptr) {
      ++it;
    } else if (below->is_member()) {
      it = list.erase(it);
    } else {
      if (rule.message != nullptr && it->is_object()) RemoveFields(*rule.message, it->get_object(), *below);
      ++it;
    }
  }
}

}  // namespace

FieldSet FieldsOf(const wire::Message& message, const json::object& document) {
  FieldSet set;
  AddStruct(message, document, set);
  set.Prune();
  return set;
}

FieldChanges CompareFields(const wire::Message& message, const json::object& before,
                           const json::object& after) {
  FieldChanges changes;
  CompareStruct(message, before, after, changes);
  changes.set.Prune();
  changes.removed.Prune();
  return changes;
}

void MergeFields(const wire::Message& message, json::object& live, const json::object& config) {
  for (const json::key_value_pair& member : config) {
    if (member.value().is_null()) continue;
    const MergeRule rule = RuleOf(message, member.key());
    json::value& there = live[member.key()];
    const bool are_objects = there.is_object() && member.value().is_object();
    const bool are_lists = there.is_array() && member.value().is_array();
    if (rule.kind == MergeKind::kStruct && are_objects) {
      MergeFields(*rule.message, there.get_object(), member.value().get_object());
    } else if (rule.kind == MergeKind::kMap && are_objects) {
      for (const json::key_value_pair& entry : member.value().get_object()) {
        there.get_object()[entry.key()] = entry.value();
      }
    } else if ((rule.kind == MergeKind::kListMap || rule.kind == MergeKind::kListSet) && are_lists) {
      MergeList(rule, there.get_array(), member.value().get_array());
    } else {
      there = member.value();
    }
  }
}

void RemoveFields(const wire::Message& message, json::object& document, const FieldSet& fields) {
  for (const auto& [element, below] : fields.children()) {
    if (!element.starts_with("f:")) continue;
    const std::string_view key = std::string_view(element).substr(2);
    json::value* value = document.if_contains(key);
    if (value == nullptr) continue;
    const MergeRule rule = RuleOf(message, key);
    // A map's own mark says that it may be there; what goes are its entries.
    const bool is_leaf = below.children().empty();
    if (is_leaf) {
      document.erase(key);
    } else if (rule.kind == MergeKind::kStruct && value->is_object()) {
      RemoveFields(*rule.message, value->get_object(), below);
    } else if (rule.kind == MergeKind::kMap && value->is_object()) {
      for (const auto& [entry, unused] : below.children())
        value->get_object().erase(std::string_view(entry).substr(2));
      if (below.is_member() && value->get_object().empty()) document.erase(key);
    } else if (value->is_array()) {
      RemoveFromList(rule, value->get_array(), below);
      if (value->get_array().empty()) document.erase(key);
    }
  }
}

}  // namespace berth::sandbox
