#include "plugins/volume_restrictions.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "plugins/hint_objects.h"
#include "plugins/pod_signatures.h"
#include "plugins/volume_claims.h"
#include "plugins/volume_hints.h"
#include "plugins/volume_restrictions_index.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::Hint;
using framework::HintInput;
using framework::Status;

// Indexed by VolumeRestrictions::Reason.
constexpr framework::ReasonText kVolumeRestrictionsReasons[] = {
    {Code::kUnschedulable, "node(s) had no available disk"},
    {Code::kUnschedulable,
     "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
     "another pod"},
};

struct RestrictionsPlan final : framework::Plan {
  std::vector<const api::VolumeSource*> disks;
};

// The claims of one pod that only one pod may use.
struct ExclusiveClaims final : framework::CycleData {
  std::vector<std::string> names;  // ascending, each once
  std::int32_t conflicts = 0;      // of them, those that were in use when the attempt began
  std::int32_t name_use = 0;       // then, over all names
};

bool IsExclusive(const api::PersistentVolumeClaim& claim) {
  return std::ranges::find(claim.spec.access_modes, kReadWriteOncePod) != claim.spec.access_modes.end();
}

std::int32_t NameUse(const DiskHolders& holders, const ExclusiveClaims& claims) {
  std::int32_t use = 0;
  for (const std::string& name : claims.names) use += holders.ClaimNameUse(name);
  return use;
}

base::Result<Hint> AfterPodDeletion(const HintInput& input) {
  const auto deleted = DeletedObjectOf<api::PodRecord>(input);
  if (!deleted) return std::unexpected(deleted.error());
  const api::PodRecord& gone = **deleted;
  const api::PodRecord& waiting = input.record();
  if (gone.namespace_ != waiting.namespace_) return Hint::kQueueSkip;
  const bool frees_disk = std::ranges::any_of(waiting.spec->spec.volumes, [&](const api::Volume& own) {
    return std::ranges::any_of(gone.spec->spec.volumes, [&](const api::Volume& other) {
      return Conflict(own.volume_source, other.volume_source);
    });
  });
  return QueueIf(frees_disk ||
                 std::ranges::any_of(waiting.claims().volume_claim_names, [&](const std::string& name) {
                   return std::ranges::find(gone.claims().volume_claim_names, name) !=
                          gone.claims().volume_claim_names.end();
                 }));
}

base::Result<Hint> AfterClaimCame(const HintInput& input) {
  const auto claim = ChangedObjectsOf<api::PersistentVolumeClaim>(input);
  if (!claim) return std::unexpected(claim.error());
  return QueueIf(NamesClaim(input.record(), *claim->after, Ephemeral::kIgnore));
}

}  // namespace

VolumeRestrictions::VolumeRestrictions(const framework::PluginSetup& setup)
    : holders_(setup.cluster.UseExtension<DiskHolders>()),
      waiting_(setup.cluster.UseExtension<cluster::ClaimIndex>()) {}

std::span<const framework::ReasonText> VolumeRestrictions::Reasons() const {
  return kVolumeRestrictionsReasons;
}

std::unique_ptr<framework::Plan> VolumeRestrictions::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<RestrictionsPlan>();
  for (const api::Volume& volume : input.spec.volumes) {
    if (IsRestricted(volume.volume_source)) plan->disks.push_back(&volume.volume_source);
  }
  // Claims are a pod's own, so what they forbid is asked at every attempt.
  const bool has_claims = HasNamedClaims(input.spec);
  plan->filters = has_claims || !plan->disks.empty();
  if (!has_claims) plan->filter_reads = framework::Reads::Row(cluster::kVolumesFact);
  return plan;
}

framework::PreFilterResult VolumeRestrictions::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred()) return {Status::Skip()};
  auto& claims = cycle.EmplaceData<ExclusiveClaims>(*this);
  const api::PodRecord& pod = cycle.record();
  for (const std::string& name : pod.claims().volume_claim_names) {
    const ClaimRef claim = FindClaim(cycle.cluster(), pod.namespace_, name);
    if (!claim) return {Status::Unresolvable(NotFound("persistentvolumeclaim", name))};
    if (IsExclusive(*claim)) claims.names.push_back(name);
  }
  std::ranges::sort(claims.names);
  claims.names.erase(std::ranges::unique(claims.names).begin(), claims.names.end());
  for (const std::string& name : claims.names) {
    if (holders_.ClaimUse(KeyOf(pod.namespace_, name)) > 0) ++claims.conflicts;
  }
  claims.name_use = NameUse(holders_, claims);
  if (claims.conflicts == 0 && cycle.PlanOf<RestrictionsPlan>(*this).disks.empty()) return {Status::Skip()};
  return {};
}

void VolumeRestrictions::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.resize_deferred()) return;
  std::vector<cluster::NodeRow> taken;
  for (const api::VolumeSource* const disk : cycle.PlanOf<RestrictionsPlan>(*this).disks) {
    holders_.AppendConflictingRows(*disk, taken);
  }
  std::ranges::sort(taken);
  // What a trial placed or took away since the attempt began changes the count by every volume that has the
  // claim's name, whatever its namespace: upstream's arithmetic, on which its choice of victims rests.
  const auto* const claims = cycle.DataOf<ExclusiveClaims>(*this);
  const bool in_use =
      claims != nullptr && claims->conflicts + NameUse(holders_, *claims) - claims->name_use > 0;
  if (taken.empty() && !in_use) return;
  nodes.Judge([&](cluster::NodeRow row) {
    if (std::ranges::binary_search(taken, row)) return nodes.Fixed(kDiskTaken);
    return in_use ? nodes.Fixed(kClaimInUse) : framework::kAccepted;
  });
}

std::vector<framework::EventRegistration> VolumeRestrictions::EventsToRegister() const {
  using framework::EventResource;
  return {{.event = {EventResource::kAssignedPod, framework::kDelete}, .hint = AfterPodDeletion},
          {.event = {EventResource::kNode, framework::kAdd}},
          {.event = {EventResource::kPersistentVolumeClaim, framework::kAdd},
           .hint = AfterClaimCame,
           .pre_hint = PodsNamingTheClaim(waiting_)}};
}

bool VolumeRestrictions::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  SignVolumes(pod.record(), signature);
  return true;
}

}  // namespace berth::plugins
