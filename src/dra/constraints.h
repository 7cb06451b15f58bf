#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "api/devices.h"

namespace berth::dra {

// The attribute of the device; null: it has none. A name of the driver's own domain may be written without
// it.
const api::DeviceAttribute* FindAttribute(const api::Device& device, std::string_view driver,
                                          std::string_view name);

// A constraint of a claim while devices are taken for it and given back, the last one first.
class Constraint {
 public:
  // `lists`: attributes are sets of values, and a single value is a set of one.
  Constraint(const api::DeviceConstraint& constraint, bool lists);

  std::string_view attribute_name() const { return name_; }
  // False: the device must not be added, and was not. Null: the device has no such attribute.
  bool Add(const api::DeviceAttribute* attribute);
  // Takes the device back that was added last.
  void Remove();

 private:
  using Values = std::vector<std::variant<std::int64_t, bool, std::string_view>>;
  enum class Type : char { kUnknown, kInt, kBool, kString, kVersion };
  struct Set {
    Type type = Type::kUnknown;
    Values values;
  };

  static Set ValuesOf(const api::DeviceAttribute& attribute);
  static bool IsSame(const api::DeviceAttribute& a, const api::DeviceAttribute& b);
  static Set Intersection(const Set& a, const Set& b);
  bool AddScalar(const api::DeviceAttribute& attribute);
  bool AddList(const api::DeviceAttribute& attribute);

  std::string_view name_;
  bool distinct_ = false;
  bool lists_ = false;
  std::vector<const api::DeviceAttribute*> added_;  // to a scalar constraint
  std::vector<Set> sets_;  // match: what the devices so far have in common; distinct: what each has
};

}  // namespace berth::dra
