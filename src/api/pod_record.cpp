#include "api/pod_record.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/shared_value_pool.h"
#include "api/structural_hash.h"
#include "api/weak_pool.h"
#include "base/check.h"

namespace berth::api {
namespace {

bool IsRead(const VolumeSource& source) {
  return source.gce_persistent_disk || source.aws_elastic_block_store || source.iscsi ||
         source.persistent_volume_claim || source.rbd || source.cinder || source.azure_file ||
         source.vsphere_volume || source.azure_disk || source.portworx_volume || source.csi ||
         source.ephemeral;
}

// Calls visit(name) for each name in the spec that is a pod's own, in order: first those of volume claims.
template <class Spec, class Visit>
void ForEachVolumeClaimName(Spec& spec, const Visit& visit) {
  for (auto& volume : spec.volumes) {
    if (auto& claim = volume.volume_source.persistent_volume_claim) visit(claim->claim_name);
  }
}
template <class Spec, class Visit>
void ForEachResourceClaimName(Spec& spec, const Visit& visit) {
  for (auto& claim : spec.resource_claims) {
    if (claim.resource_claim_name) visit(*claim.resource_claim_name);
  }
}

template <class T>
std::shared_ptr<const T> InternUnlessEmpty(WeakPool<T>& pool, T value) {
  if (value == T()) return nullptr;
  const std::size_t hash = StructuralHash(value);
  return pool.Intern(std::move(value), hash);
}

template <class T>
T ValueOrEmpty(const std::shared_ptr<const T>& shared) {
  return shared == nullptr ? T() : *shared;
}

void SplitMetadata(ObjectMeta&& metadata, PodRecord& record, SharedParts& shared) {
  record.name = std::move(metadata.name);
  record.namespace_ = shared.Text(metadata.namespace_);
  record.uid = std::move(metadata.uid);
  record.resource_version = std::move(metadata.resource_version);
  record.generation = metadata.generation;
  record.creation_timestamp = metadata.creation_timestamp;
  record.deletion_timestamp = metadata.deletion_timestamp;
  record.labels = shared.Map(metadata.labels);
  record.annotations = shared.Map(metadata.annotations);
  record.owner_references = shared.Owners(std::move(metadata.owner_references));
  record.finalizers = shared.Names(std::move(metadata.finalizers));
}

void SplitSpec(PodSpec&& spec, PodRecord& record, SharedParts& shared) {
  record.node_name = shared.Text(std::exchange(spec.node_name, {}));
  std::erase_if(spec.volumes, [](const Volume& volume) { return !IsRead(volume.volume_source); });
  ForEachVolumeClaimName(spec, [&](std::string& name) {
    record.Claims().volume_claim_names.push_back(std::exchange(name, {}));
  });
  ForEachResourceClaimName(spec, [&](std::string& name) {
    record.Claims().resource_claim_names.push_back(std::exchange(name, {}));
  });
  record.spec = shared.Template(std::move(spec));
}

void SplitStatus(PodStatus&& status, PodRecord& record, SharedParts& shared) {
  record.phase = shared.Text(status.phase);
  record.nominated_node_name = shared.Text(status.nominated_node_name);
  record.start_time = status.start_time;
  std::vector<std::string> types;
  types.reserve(status.conditions.size());
  std::vector<PodCondition> kept;
  for (PodCondition& condition : status.conditions) {
    types.push_back(condition.type);
    if (IsKeptCondition(condition.type)) kept.push_back(std::move(condition));
  }
  record.SetConditions(std::move(kept));
  record.condition_types = shared.Names(std::move(types));
  record.resource_status =
      shared.ResourceStatus({.init_container_statuses = std::move(status.init_container_statuses),
                             .container_statuses = std::move(status.container_statuses),
                             .allocated_resources = std::move(status.allocated_resources),
                             .resources = std::move(status.resources)});
  if (auto& claims = status.resource_claim_statuses; !claims.empty()) {
    record.Claims().resource_claim_statuses = std::move(claims);
  }
  if (auto& claim = status.extended_resource_claim_status) {
    record.Claims().extended_resource_claim_status = *std::move(claim);
  }
  if (auto& claims = status.node_allocatable_resource_claim_statuses; !claims.empty()) {
    record.Claims().node_allocatable_resource_claim_statuses = std::move(claims);
  }
}

PodSpec ExpandSpec(const PodRecord& record) {
  PodSpec spec = record.spec->spec;
  spec.node_name = record.node_name;
  const auto take_from = [](const std::vector<std::string>& names, std::size_t& taken) {
    return [&names, &taken](std::string& name) {
      BERTH_CHECK(taken < names.size());
      name = names[taken++];
    };
  };
  std::size_t volume_claims = 0;
  ForEachVolumeClaimName(spec, take_from(record.claims().volume_claim_names, volume_claims));
  std::size_t resource_claims = 0;
  ForEachResourceClaimName(spec, take_from(record.claims().resource_claim_names, resource_claims));
  return spec;
}

std::vector<PodCondition> ExpandConditions(const PodRecord& record) {
  std::vector<PodCondition> conditions;
  const std::vector<PodCondition>& details = record.conditions();
  std::size_t kept = 0;
  if (record.condition_types == nullptr) return conditions;
  for (const std::string& type : *record.condition_types) {
    if (IsKeptCondition(type)) {
      BERTH_CHECK(kept < details.size());
      conditions.push_back(details[kept++]);
    } else {
      conditions.emplace_back().type = type;
    }
  }
  BERTH_CHECK(kept == details.size());
  return conditions;
}

PodStatus ExpandStatus(const PodRecord& record) {
  PodStatus status;
  status.phase = record.phase;
  status.conditions = ExpandConditions(record);
  status.nominated_node_name = record.nominated_node_name;
  status.start_time = record.start_time;
  if (record.resource_status != nullptr) {
    status.init_container_statuses = record.resource_status->init_container_statuses;
    status.container_statuses = record.resource_status->container_statuses;
    status.allocated_resources = record.resource_status->allocated_resources;
    status.resources = record.resource_status->resources;
  }
  status.resource_claim_statuses = record.claims().resource_claim_statuses;
  status.extended_resource_claim_status = record.claims().extended_resource_claim_status;
  status.node_allocatable_resource_claim_statuses = record.claims().node_allocatable_resource_claim_statuses;
  return status;
}

}  // namespace

struct SharedParts::Pools {
  base::TextPool texts;
  WeakPool<PodTemplate> templates;
  SharedValuePool<std::vector<Toleration>> tolerations;
  base::TextMapPool maps;
  WeakPool<std::vector<std::string>> names;
  WeakPool<std::vector<OwnerReference>> owners;
  WeakPool<PodResourceStatus> resource_statuses;
};

SharedParts::SharedParts() : pools_(std::make_unique<Pools>()) {}
SharedParts::~SharedParts() = default;

base::SharedText SharedParts::Text(std::string_view text) { return pools_->texts.Intern(text); }

PodTemplateRef SharedParts::Template(PodSpec&& spec) {
  const std::size_t hash = SpecHash(spec);
  pools_->tolerations.Share(spec.tolerations);
  return pools_->templates.Intern(PodTemplate{std::move(spec), hash}, hash);
}

base::SharedTextMap SharedParts::Map(const StringMap& map) { return pools_->maps.Intern(map); }

base::SharedTextMap SharedParts::Map(std::vector<base::SharedTextMap::Entry>& entries) {
  return pools_->maps.Intern(entries);
}

std::shared_ptr<const std::vector<std::string>> SharedParts::Names(std::vector<std::string>&& names) {
  return InternUnlessEmpty(pools_->names, std::move(names));
}

std::shared_ptr<const std::vector<OwnerReference>> SharedParts::Owners(std::vector<OwnerReference>&& owners) {
  return InternUnlessEmpty(pools_->owners, std::move(owners));
}

std::shared_ptr<const PodResourceStatus> SharedParts::ResourceStatus(PodResourceStatus&& status) {
  return InternUnlessEmpty(pools_->resource_statuses, std::move(status));
}

const PodClaims& PodRecord::claims() const {
  static const PodClaims kNone;
  return own_claims ? *own_claims : kNone;
}

const std::vector<PodCondition>& PodRecord::conditions() const {
  static const std::vector<PodCondition> kNone;
  return kept_conditions == nullptr ? kNone : *kept_conditions;
}

void PodRecord::SetConditions(std::vector<PodCondition> conditions) {
  kept_conditions.reset();
  if (!conditions.empty()) {
    kept_conditions = std::make_shared<const std::vector<PodCondition>>(std::move(conditions));
  }
}

bool IsKeptCondition(std::string_view type) {
  return type == "PodScheduled" || type == "DisruptionTarget" || type == "PodResizePending";
}

PodRecord MakeRecord(Pod&& pod, SharedParts& shared) {
  PodRecord record;
  SplitMetadata(std::move(pod.metadata), record, shared);
  SplitSpec(std::move(pod.spec), record, shared);
  SplitStatus(std::move(pod.status), record, shared);
  return record;
}

Pod Expand(const PodRecord& record) {
  Pod pod;
  ObjectMeta& metadata = pod.metadata;
  metadata.name = record.name;
  metadata.namespace_ = record.namespace_;
  metadata.uid = record.uid;
  metadata.resource_version = record.resource_version;
  metadata.generation = record.generation;
  metadata.creation_timestamp = record.creation_timestamp;
  metadata.deletion_timestamp = record.deletion_timestamp;
  metadata.labels = record.labels.ToMap();
  metadata.annotations = record.annotations.ToMap();
  metadata.owner_references = ValueOrEmpty(record.owner_references);
  metadata.finalizers = ValueOrEmpty(record.finalizers);
  pod.spec = ExpandSpec(record);
  pod.status = ExpandStatus(record);
  return pod;
}

}  // namespace berth::api
