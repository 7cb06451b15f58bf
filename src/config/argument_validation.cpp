#include "config/argument_validation.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/node_matching.h"
#include "base/go_text.h"

namespace berth::config {
namespace {

using api::FieldPath;

constexpr std::string_view kPercent = "not in valid range [0, 100]";

bool IsPercentage(std::int64_t value) { return value >= 0 && value <= 100; }

void CheckShape(const std::vector<UtilizationShapePoint>& shape, const FieldPath& path,
                FieldProblems& problems) {
  constexpr std::int32_t kShapeScoreMax = 10;
  if (shape.empty()) return problems.Required(path, "at least one point must be specified");
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    problems.Invalid(path.Index(i).Child("utilization"), std::int64_t{shape[i].utilization},
                     "values must be sorted in increasing order");
    break;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!IsPercentage(shape[i].utilization)) {
      problems.Invalid(path.Index(i).Child("utilization"), std::int64_t{shape[i].utilization}, kPercent);
    }
    if (shape[i].score < 0 || shape[i].score > kShapeScoreMax) {
      problems.Invalid(path.Index(i).Child("score"), std::int64_t{shape[i].score},
                       "not in valid range [0, 10]");
    }
  }
}

class ArgumentValidator {
 public:
  ArgumentValidator(const FieldPath& path, const framework::Features& features, FieldProblems& problems)
      : path_(path), features_(features), problems_(problems) {}

  void operator()(const RawValue&) const {}
  void operator()(const DefaultPreemptionArgs& args) const;
  void operator()(const DynamicResourcesArgs& args) const;
  void operator()(const InterPodAffinityArgs& args) const;
  void operator()(const NodeAffinityArgs& args) const;
  void operator()(const NodeResourcesBalancedAllocationArgs& args) const;
  void operator()(const NodeResourcesFitArgs& args) const;
  void operator()(const PodTopologySpreadArgs& args) const;
  void operator()(const VolumeBindingArgs& args) const;

 private:
  void CheckTerm(const api::NodeSelectorTerm& term, const FieldPath& path) const;
  void CheckStrategy(const ScoringStrategy& strategy) const;
  void CheckConstraint(const api::TopologySpreadConstraint& constraint, const FieldPath& path) const;

  const FieldPath& path_;
  const framework::Features& features_;
  FieldProblems& problems_;
};

void ArgumentValidator::operator()(const DefaultPreemptionArgs& args) const {
  const std::int64_t percentage = *args.min_candidate_nodes_percentage;
  const std::int64_t absolute = *args.min_candidate_nodes_absolute;
  const FieldPath percentage_path = path_.Child("minCandidateNodesPercentage");
  const FieldPath absolute_path = path_.Child("minCandidateNodesAbsolute");
  if (!IsPercentage(percentage)) problems_.Invalid(percentage_path, percentage, kPercent);
  if (absolute < 0) problems_.Invalid(absolute_path, absolute, "not in valid range [0, inf)");
  if (percentage == 0 && absolute == 0) {
    problems_.Invalid(percentage_path, percentage,
                      "cannot be zero at the same time as minCandidateNodesAbsolute");
    problems_.Invalid(absolute_path, absolute,
                      "cannot be zero at the same time as minCandidateNodesPercentage");
  }
}

void ArgumentValidator::operator()(const DynamicResourcesArgs& args) const {
  const FieldPath filter = path_.Child("filterTimeout");
  if (args.filter_timeout && !features_.dra_scheduler_filter_timeout) {
    problems_.Forbidden(filter, "DRASchedulingFilterTimeout feature gate is disabled");
  } else if (args.filter_timeout && *args.filter_timeout < base::Duration{}) {
    problems_.Invalid(filter, *args.filter_timeout, "must be zero or positive");
  }
  const FieldPath binding = path_.Child("bindingTimeout");
  const bool binding_allowed =
      features_.dra_device_binding_conditions && features_.dra_resource_claim_device_status;
  if (args.binding_timeout && !binding_allowed) {
    problems_.Forbidden(
        binding, "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled");
  } else if (args.binding_timeout && *args.binding_timeout < std::chrono::seconds(1)) {
    problems_.Invalid(binding, *args.binding_timeout, "must be at least 1 second");
  }
}

void ArgumentValidator::operator()(const InterPodAffinityArgs& args) const {
  const std::int64_t weight = *args.hard_pod_affinity_weight;
  if (!IsPercentage(weight)) problems_.Invalid(path_.Child("hardPodAffinityWeight"), weight, kPercent);
}

void ArgumentValidator::CheckTerm(const api::NodeSelectorTerm& term, const FieldPath& path) const {
  if (term.match_expressions.empty() && term.match_fields.empty()) return;
  const auto compiled = api::NodeTerm::Compile(term, path);
  if (!compiled) problems_.Add(path, compiled.error());
}

void ArgumentValidator::operator()(const NodeAffinityArgs& args) const {
  if (!args.added_affinity) return;
  const FieldPath path = path_.Child("addedAffinity");
  const auto& required = args.added_affinity->required;
  if (required && required->node_selector_terms) {
    const FieldPath terms =
        path.Child("requiredDuringSchedulingIgnoredDuringExecution").Child("nodeSelectorTerms");
    for (std::size_t i = 0; i < required->node_selector_terms->size(); ++i) {
      CheckTerm((*required->node_selector_terms)[i], terms.Index(i));
    }
  }
  const FieldPath terms = path.Child("preferredDuringSchedulingIgnoredDuringExecution");
  const auto& preferred = args.added_affinity->preferred;
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    if (preferred[i].weight != 0) CheckTerm(preferred[i].preference, terms.Index(i));
  }
}

void ArgumentValidator::operator()(const NodeResourcesBalancedAllocationArgs& args) const {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < args.resources.size(); ++i) {
    const ResourceSpec& resource = args.resources[i];
    const FieldPath path = path_.Child("resources").Index(i);
    if (!seen.insert(resource.name).second) {
      problems_.Duplicate(path.Child("name"), base::QuoteGo(resource.name));
    }
    if (resource.weight != 1) problems_.Invalid(path.Child("weight"), resource.weight, "must be 1");
  }
}

void ArgumentValidator::CheckStrategy(const ScoringStrategy& strategy) const {
  static constexpr std::string_view kTypes[] = {"LeastAllocated", "MostAllocated",
                                                "RequestedToCapacityRatio"};
  constexpr std::int64_t kWeightMax = 100;
  const FieldPath path = path_.Child("scoringStrategy");
  if (std::ranges::find(kTypes, strategy.type) == std::end(kTypes)) {
    problems_.Unsupported(path.Child("type"), strategy.type, kTypes);
  }
  for (std::size_t i = 0; i < strategy.resources.size(); ++i) {
    const ResourceSpec& resource = strategy.resources[i];
    if (resource.weight > 0 && resource.weight <= kWeightMax) continue;
    problems_.Invalid(path.Child("resources").Index(i).Child("weight"), resource.weight,
                      fmt::format("resource weight of {} not in valid range (0, 100]", resource.name));
  }
  const FieldPath ratio = path.Child("requestedToCapacityRatio");
  const bool wanted = strategy.type == "RequestedToCapacityRatio";
  if (wanted && !strategy.requested_to_capacity_ratio) {
    problems_.Required(ratio, "must be specified when type is RequestedToCapacityRatio");
  } else if (wanted) {
    CheckShape(strategy.requested_to_capacity_ratio->shape, ratio.Child("shape"), problems_);
  } else if (strategy.requested_to_capacity_ratio) {
    problems_.Forbidden(ratio, "must be nil when type is not RequestedToCapacityRatio");
  }
}

void ArgumentValidator::operator()(const NodeResourcesFitArgs& args) const {
  for (std::size_t i = 0; i < args.ignored_resources.size(); ++i) {
    problems_.CheckQualifiedName(path_.Child("ignoredResources").Index(i), args.ignored_resources[i]);
  }
  for (std::size_t i = 0; i < args.ignored_resource_groups.size(); ++i) {
    const std::string& group = args.ignored_resource_groups[i];
    const FieldPath path = path_.Child("ignoredResourceGroups").Index(i);
    if (group.contains('/')) problems_.Invalid(path, group, "resource group name can't contain '/'");
    problems_.CheckQualifiedName(path, group);
  }
  if (args.scoring_strategy) CheckStrategy(*args.scoring_strategy);
}

void ArgumentValidator::CheckConstraint(const api::TopologySpreadConstraint& constraint,
                                        const FieldPath& path) const {
  static constexpr std::string_view kActions[] = {"DoNotSchedule", "ScheduleAnyway"};
  if (constraint.max_skew <= 0) {
    problems_.Invalid(path.Child("maxSkew"), std::int64_t{constraint.max_skew},
                      "not in valid range (0, inf)");
  }
  if (constraint.topology_key.empty()) {
    problems_.Required(path.Child("topologyKey"), "can not be empty");
  } else {
    problems_.CheckQualifiedName(path.Child("topologyKey"), constraint.topology_key);
  }
  const std::string& action = constraint.when_unsatisfiable;
  if (action.empty()) {
    problems_.Required(path.Child("whenUnsatisfiable"), "can not be empty");
  } else if (std::ranges::find(kActions, action) == std::end(kActions)) {
    problems_.Unsupported(path.Child("whenUnsatisfiable"), action, kActions);
  }
  if (constraint.label_selector) {
    problems_.Forbidden(path.Child("labelSelector"),
                        "constraint must not define a selector, as they deduced for each pod");
  }
}

void ArgumentValidator::operator()(const PodTopologySpreadArgs& args) const {
  static constexpr std::string_view kTypes[] = {"System", "List"};
  const FieldPath type = path_.Child("defaultingType");
  if (std::ranges::find(kTypes, args.defaulting_type) == std::end(kTypes)) {
    problems_.Unsupported(type, args.defaulting_type, kTypes);
  }
  if (args.defaulting_type == "System" && !args.default_constraints.empty()) {
    problems_.Invalid(type, args.defaulting_type, "when .defaultConstraints are not empty");
  }
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < args.default_constraints.size(); ++i) {
    const api::TopologySpreadConstraint& constraint = args.default_constraints[i];
    const FieldPath path = path_.Child("defaultConstraints").Index(i);
    CheckConstraint(constraint, path);
    if (!seen.emplace(constraint.topology_key, constraint.when_unsatisfiable).second) {
      problems_.Duplicate(
          path, fmt::format("\"{{{}, {}}}\"", constraint.topology_key, constraint.when_unsatisfiable));
    }
  }
}

void ArgumentValidator::operator()(const VolumeBindingArgs& args) const {
  if (*args.bind_timeout_seconds < 0) {
    problems_.Invalid(path_.Child("bindTimeoutSeconds"), *args.bind_timeout_seconds,
                      "invalid BindTimeoutSeconds, should not be a negative value");
  }
  if (features_.storage_capacity_scoring) {
    CheckShape(args.shape, path_.Child("shape"), problems_);
  } else if (!args.shape.empty()) {
    std::string shape;
    for (const UtilizationShapePoint& point : args.shape) {
      shape += fmt::format("{}{{\"Utilization\":{},\"Score\":{}}}", shape.empty() ? "" : ",",
                           point.utilization, point.score);
    }
    problems_.InvalidJson(
        path_.Child("shape"), "[" + shape + "]",
        "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring");
  }
}

}  // namespace

void ValidateArguments(const PluginArguments& arguments, const FieldPath& path,
                       const framework::Features& features, FieldProblems& problems) {
  std::visit(ArgumentValidator(path, features, problems), arguments);
}

}  // namespace berth::config
