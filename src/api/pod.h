#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/affinity.h"
#include "api/container.h"
#include "api/meta.h"
#include "api/quantity.h"
#include "api/resource_list.h"
#include "api/string_map.h"
#include "api/taints.h"
#include "api/time.h"
#include "api/volumes.h"
#include "base/boxed.h"
#include "base/shared_value.h"

// The pod as the API has it, reduced to the fields that a scheduler reads. What berth keeps of each pod is
// smaller: pod_record.h.
namespace berth::api {

struct NodeAllocatableMappedResources {
  std::string name;
  std::optional<Quantity> quantity;

  bool operator==(const NodeAllocatableMappedResources&) const = default;
};

struct NodeAllocatableOverheadResources {
  std::string name;
  std::optional<Quantity> per_pod;
  std::optional<Quantity> per_container;

  bool operator==(const NodeAllocatableOverheadResources&) const = default;
};

struct NodeAllocatableResourceClaimStatus {
  std::string resource_claim_name;
  std::vector<std::string> containers;
  std::vector<NodeAllocatableMappedResources> mapping;
  std::vector<NodeAllocatableOverheadResources> overhead;

  bool operator==(const NodeAllocatableResourceClaimStatus&) const = default;
};

struct PodSchedulingGate {
  std::string name;

  bool operator==(const PodSchedulingGate&) const = default;
};

struct PodResourceClaim {
  std::string name;
  std::optional<std::string> resource_claim_name;
  std::optional<std::string> resource_claim_template_name;

  bool operator==(const PodResourceClaim&) const = default;
};

struct PodSchedulingGroup {
  std::optional<std::string> pod_group_name;

  bool operator==(const PodSchedulingGroup&) const = default;
};

struct PodSpec {
  std::vector<Volume> volumes;
  std::vector<Container> init_containers;
  std::vector<Container> containers;
  std::vector<EphemeralContainer> ephemeral_containers;
  StringMap node_selector;
  std::string node_name;
  bool host_network = false;
  base::Boxed<Affinity> affinity;
  std::string scheduler_name;
  // Most pods have the same two.
  base::SharedValue<std::vector<Toleration>> tolerations;
  std::optional<std::int32_t> priority;
  base::Boxed<std::string> preemption_policy;
  ResourceList overhead;
  std::vector<TopologySpreadConstraint> topology_spread_constraints;
  std::optional<bool> host_users;
  std::vector<PodSchedulingGate> scheduling_gates;
  std::vector<PodResourceClaim> resource_claims;
  base::Boxed<ResourceRequirements> resources;
  base::Boxed<PodSchedulingGroup> scheduling_group;

  bool operator==(const PodSpec&) const = default;
};

struct PodCondition {
  std::string type;
  std::int64_t observed_generation = 0;
  std::string status;
  Time last_probe_time;
  Time last_transition_time;
  std::string reason;
  std::string message;

  bool operator==(const PodCondition&) const = default;
};

struct PodResourceClaimStatus {
  std::string name;
  std::optional<std::string> resource_claim_name;

  bool operator==(const PodResourceClaimStatus&) const = default;
};

struct PodExtendedResourceClaimStatus {
  std::vector<ContainerExtendedResourceRequest> request_mappings;
  std::string resource_claim_name;

  bool operator==(const PodExtendedResourceClaimStatus&) const = default;
};

struct PodStatus {
  std::string phase;
  std::vector<PodCondition> conditions;
  std::string nominated_node_name;
  std::optional<Time> start_time;
  std::vector<ContainerStatus> init_container_statuses;
  std::vector<ContainerStatus> container_statuses;
  std::vector<PodResourceClaimStatus> resource_claim_statuses;
  std::optional<PodExtendedResourceClaimStatus> extended_resource_claim_status;
  ResourceList allocated_resources;
  std::optional<ResourceRequirements> resources;
  std::vector<NodeAllocatableResourceClaimStatus> node_allocatable_resource_claim_statuses;

  bool operator==(const PodStatus&) const = default;
};

struct Pod {
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;

  bool operator==(const Pod&) const = default;
};

}  // namespace berth::api
