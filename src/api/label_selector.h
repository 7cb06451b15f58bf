#pragma once

#include <concepts>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/meta.h"
#include "api/string_map.h"
#include "api/validation.h"
#include "base/error.h"

// Label selectors, compiled: from a LabelSelector object, from a plain map, from text.
namespace berth::api {

enum class SelectorOperator : std::uint8_t {
  kIn,
  kNotIn,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kExists,
  kDoesNotExist,
  kGreaterThan,
  kLessThan,
};

// "in", "notin", "=", "==", "!=", "exists", "!", "gt", "lt".
std::string_view OperatorText(SelectorOperator op);

// One condition on one label. Immutable.
class Requirement {
 public:
  // Checks key, number of values and values; on failure every message, fields below `path`.
  static std::expected<Requirement, FieldErrors> Make(std::string key, SelectorOperator op,
                                                      std::vector<std::string> values,
                                                      const FieldPath& path = {});
  // key=value, unchecked: plain maps (a pod's nodeSelector, a Service's selector) may hold anything.
  static Requirement Equal(std::string key, std::string value);

  const std::string& key() const { return key_; }
  SelectorOperator op() const { return op_; }
  // Sorted. Repetitions that the object had are kept, for they are printed.
  const std::vector<std::string>& values() const { return values_; }

  // `value` is the value of the label key(), nullopt if there is no such label.
  bool MatchesValue(std::optional<std::string_view> value) const;

  // The only value that can match, if there is exactly one.
  std::optional<std::string_view> RequiredValue() const;

  std::string ToString() const;

  bool operator==(const Requirement&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Requirement& r) {
    return H::combine(std::move(h), r.key_, r.op_, r.values_);
  }

 private:
  Requirement(std::string key, SelectorOperator op, std::vector<std::string> values);

  std::string key_;
  SelectorOperator op_;
  std::vector<std::string> values_;
  std::int64_t bound_ = 0;  // the number of kGreaterThan and kLessThan
};

// Labels can be any container or function that answers this.
inline std::optional<std::string_view> LookUpLabel(const StringMap& labels, std::string_view key) {
  const std::string* value = labels.find(key);
  return value != nullptr ? std::optional<std::string_view>(*value) : std::nullopt;
}
template <class Labels>
  requires std::invocable<const Labels&, std::string_view>
std::optional<std::string_view> LookUpLabel(const Labels& labels, std::string_view key) {
  return labels(key);
}

struct LabelPair {
  std::string_view key;
  std::string_view value;

  bool operator==(const LabelPair&) const = default;
};

// A conjunction of requirements in the order of their keys. Immutable, comparable, hashable: equal selectors
// of many pods are interned.
class Selector {
 public:
  Selector() = default;  // matches everything
  // Matches no labels at all: what a null LabelSelector means.
  static Selector Nothing();
  explicit Selector(std::vector<Requirement> requirements);

  // Stops at the first bad requirement, matchLabels (in key order) before matchExpressions.
  static base::Result<Selector> Compile(const LabelSelector& selector);
  static base::Result<Selector> Compile(const std::optional<LabelSelector>& selector);
  // Equality on every pair, unchecked.
  static Selector FromMap(const StringMap& labels);
  // The labelSelector parameter of list and watch requests: "app=web,tier in (db,cache),!canary,n>5".
  static base::Result<Selector> Parse(std::string_view text);

  template <class Labels>
  bool Matches(const Labels& labels) const {
    if (nothing_) return false;
    for (const Requirement& requirement : requirements_) {
      if (!requirement.MatchesValue(LookUpLabel(labels, requirement.key()))) return false;
    }
    return true;
  }

  // True only for Nothing(): a contradiction such as a=1,a=2 is not looked for.
  bool matches_nothing() const { return nothing_; }
  bool matches_everything() const { return !nothing_ && requirements_.empty(); }
  std::span<const Requirement> requirements() const { return requirements_; }

  // A pair that every match has; the first in key order. An index by label pairs can narrow with it.
  std::optional<LabelPair> RequiredPair() const;
  // The value that every match has for this label, if the selector fixes one.
  std::optional<std::string_view> RequiredValue(std::string_view key) const;

  // Parse() of it gives an equal selector, if the selector came from Parse().
  std::string ToString() const;

  bool operator==(const Selector&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Selector& s) {
    return H::combine(std::move(h), s.nothing_, s.requirements_);
  }

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

}  // namespace berth::api
