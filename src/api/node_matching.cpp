#include "api/node_matching.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace berth::api {
namespace {

constexpr std::string_view kNameField = "metadata.name";

struct NamedOperator {
  std::string_view name;
  SelectorOperator op;
};
constexpr std::array kExpressionOperators = {
    NamedOperator{"In", SelectorOperator::kIn},
    NamedOperator{"NotIn", SelectorOperator::kNotIn},
    NamedOperator{"Exists", SelectorOperator::kExists},
    NamedOperator{"DoesNotExist", SelectorOperator::kDoesNotExist},
    NamedOperator{"Gt", SelectorOperator::kGreaterThan},
    NamedOperator{"Lt", SelectorOperator::kLessThan},
};
constexpr std::array<std::string_view, 2> kFieldOperators = {"In", "NotIn"};

bool IsEmpty(const NodeSelectorTerm& term) {
  return term.match_expressions.empty() && term.match_fields.empty();
}

Selector CompileExpressions(std::span<const NodeSelectorRequirement> expressions, const FieldPath& path,
                            FieldErrors& errors) {
  std::vector<Requirement> requirements;
  requirements.reserve(expressions.size());
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const NodeSelectorRequirement& expression = expressions[i];
    const FieldPath here = path.Index(i);
    const auto found = std::ranges::find(kExpressionOperators, expression.operator_, &NamedOperator::name);
    if (found == kExpressionOperators.end()) {
      std::array<std::string_view, kExpressionOperators.size()> names;
      std::ranges::transform(kExpressionOperators, names.begin(), &NamedOperator::name);
      errors.push_back(UnsupportedField(here.Child("operator"), expression.operator_, names));
      continue;
    }
    auto requirement = Requirement::Make(expression.key, found->op, expression.values, here);
    if (requirement) {
      requirements.push_back(*std::move(requirement));
    } else {
      std::ranges::move(requirement.error(), std::back_inserter(errors));
    }
  }
  return Selector(std::move(requirements));
}

FieldSelector CompileFields(std::span<const NodeSelectorRequirement> fields, const FieldPath& path,
                            FieldErrors& errors) {
  std::vector<FieldRequirement> requirements;
  requirements.reserve(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const NodeSelectorRequirement& field = fields[i];
    if (std::ranges::find(kFieldOperators, field.operator_) == kFieldOperators.end()) {
      errors.push_back(UnsupportedField(path.Index(i).Child("operator"), field.operator_, kFieldOperators));
    } else if (field.values.size() != 1) {
      errors.push_back(InvalidField(path.Index(i).Child("values"), field.values, "must have one element"));
    } else {
      requirements.push_back(
          {.field = field.key, .equal = field.operator_ == "In", .value = field.values.front()});
    }
  }
  return FieldSelector(std::move(requirements));
}

// The values that all conditions "metadata.name In" of the term share; nullopt if it has no such condition.
std::optional<std::vector<std::string>> PinnedNodeNames(const NodeSelectorTerm& term) {
  std::optional<std::vector<std::string>> names;
  for (const NodeSelectorRequirement& field : term.match_fields) {
    if (field.key != kNameField || field.operator_ != "In") continue;
    std::vector<std::string> values = field.values;
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (names) {
      std::vector<std::string> shared;
      std::ranges::set_intersection(*names, values, std::back_inserter(shared));
      values = std::move(shared);
    }
    names = std::move(values);
  }
  return names;
}

}  // namespace

std::expected<NodeTerm, FieldErrors> NodeTerm::Compile(const NodeSelectorTerm& term, const FieldPath& path) {
  NodeTerm compiled;
  FieldErrors errors;
  compiled.labels_ = CompileExpressions(term.match_expressions, path.Child("matchExpressions"), errors);
  compiled.fields_ = CompileFields(term.match_fields, path.Child("matchFields"), errors);
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return compiled;
}

bool NodeTerm::MatchesName(std::string_view node_name) const {
  if (node_name.empty()) return true;
  return fields_.Matches(
      [&](std::string_view field) { return field == kNameField ? node_name : std::string_view(); });
}

NodeMatcher NodeMatcher::Compile(const NodeSelector& selector, const FieldPath& path) {
  NodeMatcher matcher;
  FieldErrors errors;
  const FieldPath terms_path = path.Child("nodeSelectorTerms");
  for (std::size_t i = 0; i < selector.node_selector_terms.size(); ++i) {
    const NodeSelectorTerm& term = selector.node_selector_terms[i];
    if (IsEmpty(term)) continue;
    if (auto compiled = NodeTerm::Compile(term, terms_path.Index(i))) {
      matcher.terms_.push_back(*std::move(compiled));
    } else {
      std::ranges::move(compiled.error(), std::back_inserter(errors));
    }
  }
  if (!errors.empty()) matcher.error_ = base::Error{AggregateErrors(errors)};
  return matcher;
}

base::Result<NodeMatcher> NodeMatcher::CompileStrict(const NodeSelector& selector, const FieldPath& path) {
  NodeMatcher matcher = Compile(selector, path);
  if (matcher.error_) return std::unexpected(*std::move(matcher.error_));
  return matcher;
}

bool NodeMatcher::reads_name() const { return std::ranges::any_of(terms_, &NodeTerm::reads_name); }

RequiredNodeAffinity::RequiredNodeAffinity(const StringMap& node_selector,
                                           const base::Boxed<Affinity>& affinity)
    : node_selector_(Selector::FromMap(node_selector)) {
  if (!affinity || !affinity->node_affinity) return;
  const auto& required = affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  if (required) affinity_ = NodeMatcher::Compile(*required);
}

base::Result<PreferredNodeTerms> PreferredNodeTerms::Compile(std::span<const PreferredSchedulingTerm> terms,
                                                             const FieldPath& path) {
  PreferredNodeTerms preferred;
  FieldErrors errors;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].weight == 0 || IsEmpty(terms[i].preference)) continue;
    if (auto compiled = NodeTerm::Compile(terms[i].preference, path.Index(i))) {
      preferred.terms_.push_back({.weight = terms[i].weight, .term = *std::move(compiled)});
    } else {
      std::ranges::move(compiled.error(), std::back_inserter(errors));
    }
  }
  if (!errors.empty()) return base::Fail(AggregateErrors(errors));
  return preferred;
}

bool PreferredNodeTerms::reads_name() const {
  return std::ranges::any_of(terms_,
                             [](const WeightedNodeTerm& weighted) { return weighted.term.reads_name(); });
}

std::optional<std::vector<std::string>> PinnedNodeNames(const NodeSelector& selector) {
  if (selector.node_selector_terms.empty()) return std::nullopt;
  std::vector<std::string> all;
  for (const NodeSelectorTerm& term : selector.node_selector_terms) {
    std::optional<std::vector<std::string>> names = PinnedNodeNames(term);
    if (!names) return std::nullopt;
    std::ranges::move(*names, std::back_inserter(all));
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace berth::api
