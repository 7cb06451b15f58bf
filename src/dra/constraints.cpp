#include "dra/constraints.h"

#include <algorithm>

namespace berth::dra {

const api::DeviceAttribute* FindAttribute(const api::Device& device, std::string_view driver,
                                          std::string_view name) {
  if (const api::DeviceAttribute* const found = device.attributes.find(name)) return found;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.substr(0, slash) != driver) return nullptr;
  return device.attributes.find(name.substr(slash + 1));
}

Constraint::Constraint(const api::DeviceConstraint& constraint, bool lists)
    : distinct_(!constraint.match_attribute), lists_(lists) {
  if (constraint.match_attribute) {
    name_ = *constraint.match_attribute;
  } else if (constraint.distinct_attribute) {
    name_ = *constraint.distinct_attribute;
  }
}

bool Constraint::Add(const api::DeviceAttribute* attribute) {
  if (attribute == nullptr) return false;
  return lists_ ? AddList(*attribute) : AddScalar(*attribute);
}

void Constraint::Remove() {
  if (lists_) {
    sets_.pop_back();
  } else {
    added_.pop_back();
  }
}

// Versions are compared as the texts that they are.
bool Constraint::IsSame(const api::DeviceAttribute& a, const api::DeviceAttribute& b) {
  if (a.string_value) return b.string_value && *a.string_value == *b.string_value;
  if (a.int_value) return b.int_value && *a.int_value == *b.int_value;
  if (a.bool_value) return b.bool_value && *a.bool_value == *b.bool_value;
  if (a.version) return b.version && *a.version == *b.version;
  return false;
}

bool Constraint::AddScalar(const api::DeviceAttribute& attribute) {
  if (!added_.empty()) {
    if (!distinct_ && !IsSame(*added_.front(), attribute)) return false;
    const bool is_known =
        attribute.string_value || attribute.int_value || attribute.bool_value || attribute.version;
    const auto has_value = [&](const api::DeviceAttribute* other) { return IsSame(*other, attribute); };
    if (distinct_ && (!is_known || std::ranges::any_of(added_, has_value))) return false;
  }
  added_.push_back(&attribute);
  return true;
}

Constraint::Set Constraint::ValuesOf(const api::DeviceAttribute& attribute) {
  Set set;
  const auto fill = [&](Type type, const auto& values) {
    set.type = type;
    for (const auto& value : values) {
      if constexpr (std::is_convertible_v<decltype(value), std::string_view>) {
        set.values.emplace_back(std::string_view(value));
      } else {
        set.values.emplace_back(value);
      }
    }
  };
  const auto one = [&](Type type, auto value) {
    set.type = type;
    set.values.emplace_back(value);
  };
  if (attribute.int_value) {
    one(Type::kInt, *attribute.int_value);
  } else if (attribute.bool_value) {
    one(Type::kBool, *attribute.bool_value);
  } else if (attribute.string_value) {
    one(Type::kString, std::string_view(*attribute.string_value));
  } else if (attribute.version) {
    one(Type::kVersion, std::string_view(*attribute.version));
  } else if (!attribute.ints.empty()) {
    fill(Type::kInt, attribute.ints);
  } else if (!attribute.bools.empty()) {
    set.type = Type::kBool;
    for (const bool value : attribute.bools) set.values.emplace_back(value);
  } else if (!attribute.strings.empty()) {
    fill(Type::kString, attribute.strings);
  } else if (!attribute.versions.empty()) {
    fill(Type::kVersion, attribute.versions);
  }
  return set;
}

Constraint::Set Constraint::Intersection(const Set& a, const Set& b) {
  Set both;
  if (a.type != b.type) return both;
  both.type = a.type;
  for (const auto& value : a.values) {
    if (std::ranges::find(b.values, value) != b.values.end()) both.values.push_back(value);
  }
  return both;
}

bool Constraint::AddList(const api::DeviceAttribute& attribute) {
  Set set = ValuesOf(attribute);
  if (set.values.empty()) return false;
  if (distinct_) {
    const auto overlaps = [&](const Set& other) { return !Intersection(other, set).values.empty(); };
    if (std::ranges::any_of(sets_, overlaps)) return false;
  } else if (!sets_.empty()) {
    set = Intersection(sets_.back(), set);
    if (set.values.empty()) return false;
  }
  sets_.push_back(std::move(set));
  return true;
}

}  // namespace berth::dra
