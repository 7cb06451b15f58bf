#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "api/pod.h"
#include "api/pod_template.h"
#include "api/string_map.h"
#include "api/time.h"
#include "base/boxed.h"
#include "base/shared_text.h"
#include "base/shared_text_map.h"

namespace berth::api {

// The parts of a pod's status that change with its resources only, and that pods of one template mostly
// share.
struct PodResourceStatus {
  std::vector<ContainerStatus> init_container_statuses;
  std::vector<ContainerStatus> container_statuses;
  ResourceList allocated_resources;
  std::optional<ResourceRequirements> resources;

  bool operator==(const PodResourceStatus&) const = default;
};

// The claims of one pod, by which it differs from others of its workload. Most pods have none.
struct PodClaims {
  // In the order of the template's volumes and resource claims that have one.
  std::vector<std::string> volume_claim_names;
  std::vector<std::string> resource_claim_names;
  std::vector<PodResourceClaimStatus> resource_claim_statuses;
  std::optional<PodExtendedResourceClaimStatus> extended_resource_claim_status;
  std::vector<NodeAllocatableResourceClaimStatus> node_allocatable_resource_claim_statuses;
};

// What berth keeps for each pod: small, because there are a million of them. Everything that pods of one
// workload have in common is shared: the template, equal label and annotation sets, owners, the types of the
// conditions, the names of namespace and node. Null pointers stand for empty; `spec` is never null.
struct PodRecord {
  std::string name;
  base::SharedText namespace_;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Time creation_timestamp;
  std::optional<Time> deletion_timestamp;
  base::SharedTextMap labels;
  base::SharedTextMap annotations;
  std::shared_ptr<const std::vector<OwnerReference>> owner_references;
  std::shared_ptr<const std::vector<std::string>> finalizers;

  PodTemplateRef spec;  // shared part
  base::SharedText node_name;
  base::SharedText phase;
  base::SharedText nominated_node_name;
  std::optional<Time> start_time;
  // Every type in the order of the status, which a patch of the list has to repeat; details only of the types
  // that a scheduler reads or writes (IsKeptCondition), in the same order.
  std::shared_ptr<const std::vector<std::string>> condition_types;
  std::shared_ptr<const std::vector<PodCondition>> kept_conditions;
  std::shared_ptr<const PodResourceStatus> resource_status;
  base::Boxed<PodClaims> own_claims;

  // Empty if there are none.
  const PodClaims& claims() const;
  // To be changed, and made if there are none.
  PodClaims& Claims() { return own_claims ? *own_claims : own_claims.emplace(); }
  // Those that are kept; none if there is no list.
  const std::vector<PodCondition>& conditions() const;
  void SetConditions(std::vector<PodCondition> conditions);
};

// PodScheduled, DisruptionTarget, PodResizePending.
bool IsKeptCondition(std::string_view type);

// Where records find the parts that they share. One per decoding thread; records made with different ones mix
// freely and outlive them.
class SharedParts {
 public:
  SharedParts();
  ~SharedParts();
  SharedParts(const SharedParts&) = delete;
  SharedParts& operator=(const SharedParts&) = delete;

  base::SharedText Text(std::string_view text);
  // Null for what is empty, except that there is an empty template.
  PodTemplateRef Template(PodSpec&& spec);
  base::SharedTextMap Map(const StringMap& map);
  // Of which the last one with a key counts.
  base::SharedTextMap Map(std::vector<base::SharedTextMap::Entry>& entries);
  std::shared_ptr<const std::vector<std::string>> Names(std::vector<std::string>&& names);
  std::shared_ptr<const std::vector<OwnerReference>> Owners(std::vector<OwnerReference>&& owners);
  std::shared_ptr<const PodResourceStatus> ResourceStatus(PodResourceStatus&& status);

 private:
  struct Pools;
  std::unique_ptr<Pools> pools_;
};

// Splits a pod, and puts it together again. Expand(MakeRecord(pod)) equals pod but for
// - metadata.generateName and deletionGracePeriodSeconds, which are gone;
// - volumes of which no plugin reads the source (none of those in volumes.h, a secret or a config map), which
// are gone;
// - conditions of other types than IsKeptCondition, of which only the type is left;
// - the spelling of quantities in shared parts, which may be that of another pod's equal number.
PodRecord MakeRecord(Pod&& pod, SharedParts& shared);
Pod Expand(const PodRecord& record);

}  // namespace berth::api
