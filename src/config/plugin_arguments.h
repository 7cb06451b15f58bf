#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/affinity.h"
#include "api/node_selector.h"
#include "base/clock.h"
#include "config/values.h"

// Arguments of plugins as a file has them; framework/plugin_args.h has them as plugins read them. A pointer
// of the file format is an optional: defaults tell "absent" from "0".
namespace berth::config {

struct DefaultPreemptionArgs {
  std::optional<std::int32_t> min_candidate_nodes_percentage;
  std::optional<std::int32_t> min_candidate_nodes_absolute;

  bool operator==(const DefaultPreemptionArgs&) const = default;
};

struct DynamicResourcesArgs {
  std::optional<base::Duration> filter_timeout;
  std::optional<base::Duration> binding_timeout;

  bool operator==(const DynamicResourcesArgs&) const = default;
};

struct InterPodAffinityArgs {
  std::optional<std::int32_t> hard_pod_affinity_weight;
  bool ignore_preferred_terms_of_existing_pods = false;

  bool operator==(const InterPodAffinityArgs&) const = default;
};

// As api::NodeSelector, but written back as it was given: with null or with an empty list.
struct AddedNodeSelector {
  std::optional<std::vector<api::NodeSelectorTerm>> node_selector_terms;

  bool operator==(const AddedNodeSelector&) const = default;
};

struct AddedAffinity {
  std::optional<AddedNodeSelector> required;
  std::vector<api::PreferredSchedulingTerm> preferred;

  bool operator==(const AddedAffinity&) const = default;
};

struct NodeAffinityArgs {
  std::optional<AddedAffinity> added_affinity;

  bool operator==(const NodeAffinityArgs&) const = default;
};

struct ResourceSpec {
  std::string name;
  std::int64_t weight = 0;

  bool operator==(const ResourceSpec&) const = default;
};

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources;

  bool operator==(const NodeResourcesBalancedAllocationArgs&) const = default;
};

struct UtilizationShapePoint {
  std::int32_t utilization = 0;
  std::int32_t score = 0;

  bool operator==(const UtilizationShapePoint&) const = default;
};

struct RequestedToCapacityRatio {
  std::vector<UtilizationShapePoint> shape;

  bool operator==(const RequestedToCapacityRatio&) const = default;
};

struct ScoringStrategy {
  std::string type;
  std::vector<ResourceSpec> resources;
  std::optional<RequestedToCapacityRatio> requested_to_capacity_ratio;

  bool operator==(const ScoringStrategy&) const = default;
};

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  std::optional<ScoringStrategy> scoring_strategy;

  bool operator==(const NodeResourcesFitArgs&) const = default;
};

struct PodTopologySpreadArgs {
  std::vector<api::TopologySpreadConstraint> default_constraints;
  std::string defaulting_type;

  bool operator==(const PodTopologySpreadArgs&) const = default;
};

struct VolumeBindingArgs {
  std::optional<std::int64_t> bind_timeout_seconds;
  std::vector<UtilizationShapePoint> shape;

  bool operator==(const VolumeBindingArgs&) const = default;
};

// Arguments of one plugin. RawValue: of a plugin whose arguments this room does not know.
using PluginArguments =
    std::variant<RawValue, DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs,
                 NodeAffinityArgs, NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs,
                 PodTopologySpreadArgs, VolumeBindingArgs>;

}  // namespace berth::config
