#include "api/label_selector.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <numeric>
#include <system_error>

#include "base/go_text.h"

namespace berth::api {
namespace {

// Decimal with an optional sign. Wider than what a label value may be ("+5" is none), because labels of
// stored objects are compared too.
std::optional<std::int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsComparison(SelectorOperator op) {
  return op == SelectorOperator::kGreaterThan || op == SelectorOperator::kLessThan;
}

void CheckValueCount(SelectorOperator op, std::span<const std::string> values, const FieldPath& path,
                     FieldErrors& errors) {
  std::string_view problem;
  switch (op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      if (values.empty()) problem = "for 'in', 'notin' operators, values set can't be empty";
      break;
    case SelectorOperator::kEquals:
    case SelectorOperator::kDoubleEquals:
    case SelectorOperator::kNotEquals:
      if (values.size() != 1) problem = "exact-match compatibility requires one single value";
      break;
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      if (!values.empty()) problem = "values set must be empty for exists and does not exist";
      break;
    case SelectorOperator::kGreaterThan:
    case SelectorOperator::kLessThan:
      if (values.size() != 1) problem = "for 'Gt', 'Lt' operators, exactly one value is required";
      break;
  }
  if (!problem.empty()) errors.push_back(InvalidField(path.Child("values"), values, problem));
}

void CheckValues(std::string_view key, SelectorOperator op, std::span<const std::string> values,
                 const FieldPath& path, FieldErrors& errors) {
  if (IsComparison(op)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (ParseInteger(values[i])) continue;
      errors.push_back(InvalidField(path.Child("values").Index(i), values[i],
                                    "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::vector<std::string> problems = LabelValueProblems(values[i]);
    if (problems.empty()) continue;
    errors.push_back(InvalidField(path.Child("values").Index(i).Key(key), values[i],
                                  fmt::to_string(fmt::join(problems, "; "))));
  }
}

std::optional<SelectorOperator> ObjectOperator(std::string_view text) {
  if (text == "In") return SelectorOperator::kIn;
  if (text == "NotIn") return SelectorOperator::kNotIn;
  if (text == "Exists") return SelectorOperator::kExists;
  if (text == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  return std::nullopt;
}

// Requirements on one key stay in the order they came in, which is the order they are printed in. By index,
// because g++ 12's std::stable_sort rests on a deprecated function that clang warns about.
std::vector<Requirement> InKeyOrder(std::vector<Requirement> requirements) {
  if (std::ranges::is_sorted(requirements, {}, &Requirement::key)) return requirements;
  std::vector<std::size_t> order(requirements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::pair<std::string_view, std::size_t>(requirements[i].key(), i);
  });
  std::vector<Requirement> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(requirements[i]));
  return sorted;
}

}  // namespace

std::string_view OperatorText(SelectorOperator op) {
  static constexpr std::array<std::string_view, 9> kTexts = {
      "in", "notin", "=", "==", "!=", "exists", "!", "gt", "lt"};
  return kTexts[static_cast<std::size_t>(op)];
}

Requirement::Requirement(std::string key, SelectorOperator op, std::vector<std::string> values)
    : key_(std::move(key)), op_(op), values_(std::move(values)) {
  std::ranges::sort(values_);
}

std::expected<Requirement, FieldErrors> Requirement::Make(std::string key, SelectorOperator op,
                                                          std::vector<std::string> values,
                                                          const FieldPath& path) {
  FieldErrors errors;
  if (const auto problems = LabelKeyProblems(key); !problems.empty()) {
    errors.push_back(InvalidField(path.Child("key"), key, fmt::to_string(fmt::join(problems, "; "))));
  }
  CheckValueCount(op, values, path, errors);
  CheckValues(key, op, values, path, errors);
  if (!errors.empty()) return std::unexpected(std::move(errors));

  Requirement requirement(std::move(key), op, std::move(values));
  if (IsComparison(op)) requirement.bound_ = *ParseInteger(requirement.values_.front());
  return requirement;
}

Requirement Requirement::Equal(std::string key, std::string value) {
  std::vector<std::string> values;
  values.push_back(std::move(value));
  return Requirement(std::move(key), SelectorOperator::kEquals, std::move(values));
}

bool Requirement::MatchesValue(std::optional<std::string_view> value) const {
  switch (op_) {
    case SelectorOperator::kIn:
    case SelectorOperator::kEquals:
    case SelectorOperator::kDoubleEquals:
      return value && std::ranges::binary_search(values_, *value, std::less<>());
    case SelectorOperator::kNotIn:
    case SelectorOperator::kNotEquals:
      return !value || !std::ranges::binary_search(values_, *value, std::less<>());
    case SelectorOperator::kExists:
      return value.has_value();
    case SelectorOperator::kDoesNotExist:
      return !value.has_value();
    case SelectorOperator::kGreaterThan:
    case SelectorOperator::kLessThan: {
      if (!value) return false;
      const std::optional<std::int64_t> number = ParseInteger(*value);
      if (!number) return false;
      return op_ == SelectorOperator::kGreaterThan ? *number > bound_ : *number < bound_;
    }
  }
  return false;
}

std::optional<std::string_view> Requirement::RequiredValue() const {
  const bool is_equality = op_ == SelectorOperator::kIn || op_ == SelectorOperator::kEquals ||
                           op_ == SelectorOperator::kDoubleEquals;
  if (!is_equality || values_.front() != values_.back()) return std::nullopt;
  return values_.front();
}

std::string Requirement::ToString() const {
  switch (op_) {
    case SelectorOperator::kExists:
      return key_;
    case SelectorOperator::kDoesNotExist:
      return "!" + key_;
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      return fmt::format("{} {} ({})", key_, OperatorText(op_), fmt::join(values_, ","));
    case SelectorOperator::kGreaterThan:
      return fmt::format("{}>{}", key_, values_.front());
    case SelectorOperator::kLessThan:
      return fmt::format("{}<{}", key_, values_.front());
    case SelectorOperator::kEquals:
    case SelectorOperator::kDoubleEquals:
    case SelectorOperator::kNotEquals:
      break;
  }
  return fmt::format("{}{}{}", key_, OperatorText(op_), values_.front());
}

Selector Selector::Nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Selector::Selector(std::vector<Requirement> requirements)
    : requirements_(InKeyOrder(std::move(requirements))) {}

base::Result<Selector> Selector::Compile(const LabelSelector& selector) {
  std::vector<Requirement> requirements;
  requirements.reserve(selector.match_labels.size() + selector.match_expressions.size());
  const auto add = [&](const std::string& key, SelectorOperator op, const std::vector<std::string>& values) {
    auto requirement = Requirement::Make(key, op, values);
    if (!requirement) return AggregateErrors(requirement.error());
    requirements.push_back(*std::move(requirement));
    return std::string();
  };
  for (const auto& [key, value] : selector.match_labels) {
    if (std::string error = add(key, SelectorOperator::kEquals, {value}); !error.empty()) {
      return base::Fail(std::move(error));
    }
  }
  for (const LabelSelectorRequirement& expression : selector.match_expressions) {
    const std::optional<SelectorOperator> op = ObjectOperator(expression.operator_);
    if (!op) {
      return base::Fail(base::QuoteGo(expression.operator_) + " is not a valid label selector operator");
    }
    if (std::string error = add(expression.key, *op, expression.values); !error.empty()) {
      return base::Fail(std::move(error));
    }
  }
  return Selector(std::move(requirements));
}

base::Result<Selector> Selector::Compile(const std::optional<LabelSelector>& selector) {
  return selector ? Compile(*selector) : Nothing();
}

Selector Selector::FromMap(const StringMap& labels) {
  std::vector<Requirement> requirements;
  requirements.reserve(labels.size());
  for (const auto& [key, value] : labels) requirements.push_back(Requirement::Equal(key, value));
  return Selector(std::move(requirements));
}

std::optional<LabelPair> Selector::RequiredPair() const {
  for (const Requirement& requirement : requirements_) {
    if (const auto value = requirement.RequiredValue()) return LabelPair{requirement.key(), *value};
  }
  return std::nullopt;
}

std::optional<std::string_view> Selector::RequiredValue(std::string_view key) const {
  for (const Requirement& requirement : requirements_) {
    if (requirement.key() != key) continue;
    if (const auto value = requirement.RequiredValue()) return value;
  }
  return std::nullopt;
}

std::string Selector::ToString() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (&requirement != &requirements_.front()) text += ',';
    text += requirement.ToString();
  }
  return text;
}

}  // namespace berth::api
