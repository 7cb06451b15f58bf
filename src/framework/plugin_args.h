#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/affinity.h"
#include "base/clock.h"
#include "base/flat_map.h"

// The arguments of the plugins as their owners read them: defaulted and valid. The configuration fills them.
namespace berth::framework {

struct ResourceWeight {
  std::string name;
  std::int64_t weight = 1;

  bool operator==(const ResourceWeight&) const = default;
};

struct ShapePoint {
  std::int32_t utilization = 0;  // 0 to 100
  std::int32_t score = 0;        // 0 to 10

  bool operator==(const ShapePoint&) const = default;
};

struct DefaultPreemptionArgs {
  std::int32_t min_candidate_nodes_percentage = 10;
  std::int32_t min_candidate_nodes_absolute = 100;

  bool operator==(const DefaultPreemptionArgs&) const = default;
};

struct DynamicResourcesArgs {
  // Zero: no limit. Nothing while the gate of the limit is off.
  std::optional<base::Duration> filter_timeout = std::chrono::seconds(10);
  std::optional<base::Duration> binding_timeout = std::chrono::minutes(10);

  bool operator==(const DynamicResourcesArgs&) const = default;
};

struct InterPodAffinityArgs {
  std::int32_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;

  bool operator==(const InterPodAffinityArgs&) const = default;
};

struct NodeAffinityArgs {
  std::optional<api::NodeAffinity> added_affinity;

  bool operator==(const NodeAffinityArgs&) const = default;
};

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceWeight> resources = {{"cpu", 1}, {"memory", 1}};

  bool operator==(const NodeResourcesBalancedAllocationArgs&) const = default;
};

enum class ScoringStrategyType : std::uint8_t { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  ScoringStrategyType strategy = ScoringStrategyType::kLeastAllocated;
  std::vector<ResourceWeight> resources = {{"cpu", 1}, {"memory", 1}};
  std::vector<ShapePoint> shape;  // of kRequestedToCapacityRatio only

  bool operator==(const NodeResourcesFitArgs&) const = default;
};

enum class SpreadDefaulting : std::uint8_t { kSystem, kList };

struct PodTopologySpreadArgs {
  SpreadDefaulting defaulting = SpreadDefaulting::kSystem;
  std::vector<api::TopologySpreadConstraint> default_constraints;  // of kList only

  bool operator==(const PodTopologySpreadArgs&) const = default;
};

struct VolumeBindingArgs {
  std::int64_t bind_timeout_seconds = 600;  // 0: do not wait
  // Empty while storage capacity takes no part in scores.
  std::vector<ShapePoint> shape = {{0, 10}, {100, 0}};

  bool operator==(const VolumeBindingArgs&) const = default;
};

// One profile's.
struct PluginArgs {
  DefaultPreemptionArgs default_preemption;
  DynamicResourcesArgs dynamic_resources;
  InterPodAffinityArgs inter_pod_affinity;
  NodeAffinityArgs node_affinity;
  NodeResourcesBalancedAllocationArgs node_resources_balanced_allocation;
  NodeResourcesFitArgs node_resources_fit;
  PodTopologySpreadArgs pod_topology_spread;
  VolumeBindingArgs volume_binding;
  // Of plugins that are not listed here, by plugin name: the JSON text, for the plugin to read.
  base::FlatMap<std::string, std::string> others;

  bool operator==(const PluginArgs&) const = default;
};

}  // namespace berth::framework
