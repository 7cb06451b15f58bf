#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/pod.h"
#include "api/pod_template.h"
#include "api/string_map.h"
#include "api/time.h"

namespace berth::api {

// The parts of a pod's status that change with its resources only, and that pods of one template mostly share.
struct PodResourceStatus {
  std::vector<ContainerStatus> init_container_statuses;
  std::vector<ContainerStatus> container_statuses;
  ResourceList allocated_resources;
  std::optional<ResourceRequirements> resources;

  bool operator==(const PodResourceStatus&) const = default;
};

// What berth keeps for each pod: small, because there are a million of them. Everything that pods of one workload
// have in common is shared: the template, equal label and annotation sets, owners, the types of the conditions.
// Null pointers stand for empty.
struct PodRecord {
  std::string name;
  std::string namespace_;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Time creation_timestamp;
  std::optional<Time> deletion_timestamp;
  std::shared_ptr<const StringMap> labels;
  std::shared_ptr<const StringMap> annotations;
  std::shared_ptr<const std::vector<OwnerReference>> owner_references;
  std::shared_ptr<const std::vector<std::string>> finalizers;

  PodTemplateRef spec;  // shared part
  std::string node_name;
  // In the order of the template's volumes and resource claims that have one.
  std::vector<std::string> volume_claim_names;
  std::vector<std::string> resource_claim_names;

  std::string phase;
  std::string nominated_node_name;
  std::optional<Time> start_time;
  // Every type in the order of the status, which a patch of the list has to repeat; details only of the types that a
  // scheduler reads or writes (PodScheduled, DisruptionTarget, PodResizePending).
  std::shared_ptr<const std::vector<std::string>> condition_types;
  std::vector<PodCondition> conditions;
  std::shared_ptr<const PodResourceStatus> resource_status;
  std::vector<PodResourceClaimStatus> resource_claim_statuses;
  std::shared_ptr<const PodExtendedResourceClaimStatus> extended_resource_claim_status;
  std::shared_ptr<const std::vector<NodeAllocatableResourceClaimStatus>> node_allocatable_resource_claim_statuses;
};

}  // namespace berth::api
