#include "plugins/pod_topology_spread_constraints.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "api/node_matching.h"
#include "api/tolerations.h"
#include "plugins/pod_signatures.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kHonor = "Honor";

api::TopologySpreadConstraint SystemDefault(std::string_view key, std::int32_t max_skew) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = max_skew;
  constraint.topology_key = key;
  constraint.when_unsatisfiable = kScheduleAnyway;
  return constraint;
}

void AppendTerm(std::string& text, const std::vector<api::NodeSelectorRequirement>& requirements) {
  AppendField(text, std::to_string(requirements.size()));
  for (const api::NodeSelectorRequirement& requirement : requirements) {
    AppendField(text, requirement.key);
    AppendField(text, requirement.operator_);
    AppendField(text, std::to_string(requirement.values.size()));
    for (const std::string& value : requirement.values) AppendField(text, value);
  }
}

// Everything that RequiredNodeAffinity reads.
std::string AffinityText(const api::PodSpec& spec) {
  std::string text = "affinity:";
  for (const auto& [key, value] : spec.node_selector) {
    AppendField(text, key);
    AppendField(text, value);
  }
  const auto* required =
      spec.affinity && spec.affinity->node_affinity
          ? &spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution
          : nullptr;
  if (required != nullptr && *required) {
    text += '/';
    for (const api::NodeSelectorTerm& term : (*required)->node_selector_terms) {
      AppendTerm(text, term.match_expressions);
      AppendTerm(text, term.match_fields);
    }
  }
  return text;
}

std::string TolerationText(const api::PodSpec& spec, bool comparison_operators) {
  std::string text = comparison_operators ? "taints+:" : "taints:";
  for (const api::Toleration& toleration : *spec.tolerations) {
    for (const std::string* field :
         {&toleration.key, &toleration.operator_, &toleration.value, &toleration.effect}) {
      AppendField(text, *field);
    }
  }
  return text;
}

// Each once, sorted.
std::vector<std::string> KeysOf(std::span<const SpreadConstraint> constraints) {
  std::vector<std::string> keys;
  for (const SpreadConstraint& constraint : constraints) keys.push_back(constraint.topology_key);
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  return keys;
}

}  // namespace

api::Selector SpreadConstraint::SelectorFor(const base::SharedTextMap& pod_labels) const {
  if (match_label_keys.empty() || selector.matches_nothing()) return selector;
  std::vector<api::Requirement> requirements(selector.requirements().begin(), selector.requirements().end());
  for (const std::string& key : match_label_keys) {
    const std::optional<std::string_view> value = pod_labels.find(key);
    if (value) requirements.push_back(api::Requirement::Equal(key, std::string(*value)));
  }
  return api::Selector(std::move(requirements));
}

base::Result<std::vector<SpreadConstraint>> CompileConstraints(
    std::span<const api::TopologySpreadConstraint> constraints, std::string_view action,
    bool read_match_label_keys) {
  std::vector<SpreadConstraint> compiled;
  for (const api::TopologySpreadConstraint& from : constraints) {
    if (from.when_unsatisfiable != action) continue;
    auto selector = api::Selector::Compile(from.label_selector);
    if (!selector) return std::unexpected(selector.error());
    SpreadConstraint& constraint = compiled.emplace_back();
    constraint.max_skew = from.max_skew;
    constraint.min_domains = from.min_domains.value_or(1);
    constraint.topology_key = from.topology_key;
    constraint.selector = std::move(*selector);
    if (read_match_label_keys) constraint.match_label_keys = from.match_label_keys;
    if (from.node_affinity_policy) constraint.honors_affinity = *from.node_affinity_policy == kHonor;
    if (from.node_taints_policy) constraint.honors_taints = *from.node_taints_policy == kHonor;
  }
  return compiled;
}

std::span<const api::TopologySpreadConstraint> SystemDefaultConstraints() {
  static const std::vector<api::TopologySpreadConstraint> kDefaults = {
      SystemDefault(kHostnameKey, 3), SystemDefault("topology.kubernetes.io/zone", 5)};
  return kDefaults;
}

CountedNodes NodesFor(const SpreadConstraint& constraint, const CountingRules& rules) {
  struct Conditions {
    std::vector<std::string> keys;
    std::optional<api::RequiredNodeAffinity> affinity;
    std::optional<std::vector<api::Toleration>> tolerations;
    bool comparison_operators;
  };
  auto conditions = std::make_shared<Conditions>();
  std::string name;
  // With a single key, a node without it is in no domain anyway.
  if (auto keys = KeysOf(rules.with_keys_of); keys.size() > 1) {
    name += "keys:";
    for (const std::string& key : keys) AppendField(name, key);
    conditions->keys = std::move(keys);
  }
  if (constraint.honors_affinity) {
    api::RequiredNodeAffinity required(rules.spec.node_selector, rules.spec.affinity);
    if (!required.matches_everything()) {
      name += AffinityText(rules.spec);
      conditions->affinity = std::move(required);
    }
  }
  if (constraint.honors_taints) {
    name += TolerationText(rules.spec, rules.comparison_operators);
    conditions->tolerations = *rules.spec.tolerations;
    conditions->comparison_operators = rules.comparison_operators;
  }
  if (name.empty()) return {};
  const auto predicate = [conditions, &cluster = rules.cluster](cluster::NodeRow row) {
    const auto labels = cluster.labels().View(cluster.nodes().label_set()[row.index()]);
    const auto has = [&](const std::string& key) { return labels(key).has_value(); };
    if (!std::ranges::all_of(conditions->keys, has)) return false;
    if (conditions->affinity && !conditions->affinity->Matches(cluster.nodes().name(row), labels))
      return false;
    return !conditions->tolerations ||
           api::FindUntolerated(*conditions->tolerations,
                                cluster.taints().Taints(cluster.nodes().taint_set()[row.index()]),
                                api::kHardEffects, conditions->comparison_operators) == nullptr;
  };
  return {std::move(name), predicate};
}

}  // namespace berth::plugins
