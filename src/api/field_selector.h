#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/string_map.h"
#include "base/error.h"

// Field selectors: conditions on a few fields of an object, such as "spec.nodeName=a,status.phase!=Failed".
namespace berth::api {

struct FieldRequirement {
  std::string field;
  bool equal = true;  // false: the field must differ from the value
  std::string value;

  bool operator==(const FieldRequirement&) const = default;
};

// Fields can be any container or function that answers this. A field that an object does not have reads "".
inline std::string_view LookUpField(const StringMap& fields, std::string_view field) {
  const std::string* value = fields.find(field);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}
template <class Fields>
  requires std::invocable<const Fields&, std::string_view>
std::string_view LookUpField(const Fields& fields, std::string_view field) {
  return fields(field);
}

// A conjunction of field requirements. Immutable.
class FieldSelector {
 public:
  FieldSelector() = default;  // matches everything
  explicit FieldSelector(std::vector<FieldRequirement> requirements)
      : requirements_(std::move(requirements)) {}

  // The fieldSelector parameter of list and watch requests. In a value, backslash, comma and '=' are written
  // with a backslash in front. Which fields a kind has is the caller's to check.
  static base::Result<FieldSelector> Parse(std::string_view text);

  template <class Fields>
  bool Matches(const Fields& fields) const {
    for (const FieldRequirement& requirement : requirements_) {
      if ((LookUpField(fields, requirement.field) == requirement.value) != requirement.equal) return false;
    }
    return true;
  }

  bool matches_everything() const { return requirements_.empty(); }
  std::span<const FieldRequirement> requirements() const { return requirements_; }
  // The value that every match has in this field, if the selector fixes one.
  std::optional<std::string_view> RequiredValue(std::string_view field) const;

  std::string ToString() const;

  bool operator==(const FieldSelector&) const = default;

 private:
  std::vector<FieldRequirement> requirements_;
};

// A literal value in the form that Parse() reads.
std::string EscapeFieldValue(std::string_view value);

}  // namespace berth::api
