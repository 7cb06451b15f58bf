#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/event.h"
#include "framework/object_writes.h"
#include "plugins/plugin_metrics.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_binding_caches.h"
#include "plugins/volume_binding_check.h"
#include "plugins/volume_binding_data.h"
#include "plugins/volume_claims.h"

// From the chosen node to bound volumes: what was found is promised, written, and waited for.
namespace berth::plugins {
namespace {

using framework::Status;

constexpr std::string_view kStateMissing = "not found";

Status NoVolumesFor(std::string_view node) {
  return Status::Error(fmt::format("no pod volume found for node \"{}\"", node));
}

// The volume with the claim in it; the same one if it says so already.
VolumeRef WithClaim(const VolumeRef& volume, const api::PersistentVolumeClaim& claim) {
  const auto& reference = volume->spec.claim_ref;
  const bool is_named = reference && reference->name == claim.metadata.name &&
                        reference->namespace_ == claim.metadata.namespace_ &&
                        reference->uid == claim.metadata.uid;
  // What an administrator meant for the claim stays the administrator's.
  const bool annotate =
      !IsMeantFor(*volume, claim) && !volume->metadata.annotations.contains(kBoundByController);
  if (is_named && !annotate) return volume;
  auto changed = std::make_shared<api::PersistentVolume>(*volume);
  if (!is_named) {
    changed->spec.claim_ref = {.kind = "PersistentVolumeClaim",
                               .namespace_ = claim.metadata.namespace_,
                               .name = claim.metadata.name,
                               .uid = claim.metadata.uid,
                               .api_version = "v1",
                               .resource_version = claim.metadata.resource_version};
  }
  if (annotate) changed->metadata.annotations.insert_or_assign(std::string(kBoundByController), "yes");
  return changed;
}

ClaimRef WithNode(const api::PersistentVolumeClaim& claim, const std::string& node) {
  auto changed = std::make_shared<api::PersistentVolumeClaim>(claim);
  changed->metadata.annotations.insert_or_assign(std::string(kSelectedNode), node);
  return changed;
}

bool AreAllBound(const VolumeCaches& caches, const api::PodRecord& pod) {
  return std::ranges::all_of(VolumesOf(pod), [&](const PodVolume& volume) {
    if (volume.kind == ClaimKind::kNone) return true;
    const ClaimRef claim = caches.claims().Get(pod.namespace_, volume.claim);
    return claim && IsFullyBound(*claim) &&
           (volume.kind == ClaimKind::kNamed || CheckOwner(pod, *claim).has_value());
  });
}

ReservedVolumes ReservationOf(const VolumeChoice& choice, const std::string& node) {
  ReservedVolumes reserved{.node = node, .volumes = {}, .claims = {}};
  for (const VolumeChoice::Static& binding : choice.bindings) {
    const ClaimRef& claim = binding.wish->claim;
    reserved.volumes.push_back({claim, *binding.volume, WithClaim(*binding.volume, *claim), false});
  }
  for (const VolumeChoice::Dynamic& provision : choice.provisions) {
    const ClaimRef& claim = provision.wish->claim;
    reserved.claims.push_back({claim, WithNode(*claim, node), nullptr});
  }
  return reserved;
}

// Wakes whoever waits for volumes when its time is over.
class Deadline {
 public:
  Deadline(base::Executor& executor, base::TimePoint at, base::Event& event)
      : executor_(executor), timer_(executor.timers().Schedule(at, [&event] { event.Set(); })) {}
  ~Deadline() { executor_.timers().Cancel(timer_); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  base::Executor& executor_;
  const base::TimerQueue::TimerId timer_;
};

// The writes are made here and not in the coroutine: g++ 12 destroys a temporary in an awaited expression
// twice.
framework::ObjectWrite WriteOf(const ReservedVolume& volume) {
  return framework::ReserveVolume{volume.chosen, volume.claim};
}
framework::ObjectWrite WriteOf(const ReservedClaim& claim, const std::string& node) {
  return framework::SelectVolumeNode{claim.chosen, node};
}

void MarkWritten(ReservedVolume& volume, const cluster::AnyObject& stored) {
  if (const auto* const object = std::get_if<VolumeRef>(&stored); object != nullptr && *object) {
    volume.promised = *object;
  }
  volume.written = true;
}
void MarkWritten(ReservedClaim& claim, const cluster::AnyObject& stored) {
  const auto* const object = std::get_if<ClaimRef>(&stored);
  claim.stored = object != nullptr && *object ? *object : claim.promised;
}

Status NothingIsWritten() { return Status::Error("nothing can be written to volumes here"); }

Status Failed(std::string_view why) { return Status::Error(fmt::format("binding volumes: {}", why)); }

}  // namespace

Status VolumeBinding::Reserve(cluster::Cluster&, framework::Assignment& assignment) const {
  Status status = ReserveVolumes(assignment);
  if (!status.IsSuccess()) metrics_.CountVolumeError(VolumeStage::kAssume);
  return status;
}

Status VolumeBinding::ReserveVolumes(framework::Assignment& assignment) const {
  auto* const binding = assignment.DataOf<PodBinding>(*this);
  const api::PodRecord& pod = *assignment.record;
  if (binding == nullptr) {
    return HasClaims(pod.spec->spec) ? Status::Error(std::string(kStateMissing)) : Status();
  }
  binding->all_bound = AreAllBound(caches_, pod);
  if (binding->all_bound) return {};
  binding->search->Refresh();
  VolumeChoice choice;
  const base::Result<VolumeConflicts> conflicts = binding->search->Judge(assignment.row.id, &choice);
  if (!conflicts) return Status::Error(conflicts.error().message);
  if (*conflicts != 0) return Status::Error("the volumes of the pod are not to be had any more");
  binding->reserved = ReservationOf(choice, assignment.node_name);
  if (const auto promised = Promise(*binding->reserved); !promised) {
    TakeBack(*binding->reserved);
    binding->reserved.reset();
    return Status::Error(promised.error().message);
  }
  return {};
}

base::Result<void> VolumeBinding::Promise(ReservedVolumes& reserved) const {
  for (const ReservedVolume& volume : reserved.volumes) {
    if (volume.promised == volume.chosen) continue;
    if (const auto assumed = caches_.volumes().Assume(volume.promised); !assumed) return assumed;
  }
  for (const ReservedClaim& claim : reserved.claims) {
    if (const auto assumed = caches_.claims().Assume(claim.promised); !assumed) return assumed;
  }
  return {};
}

void VolumeBinding::TakeBack(const ReservedVolumes& reserved) const {
  for (const ReservedVolume& volume : reserved.volumes) {
    if (volume.promised != volume.chosen) caches_.volumes().Restore(*volume.promised);
  }
  for (const ReservedClaim& claim : reserved.claims) caches_.claims().Restore(*claim.promised);
}

void VolumeBinding::Unreserve(cluster::Cluster&, framework::Assignment& assignment) const {
  auto* const binding = assignment.DataOf<PodBinding>(*this);
  if (binding != nullptr && binding->reserved) TakeBack(*binding->reserved);
}

framework::PreFlightResult VolumeBinding::PreBindPreFlight(const cluster::Cluster&,
                                                           const framework::Assignment& assignment) const {
  framework::PreFlightResult result{.status = {}, .allow_parallel = true};
  const auto* const binding = assignment.DataOf<PodBinding>(*this);
  if (binding == nullptr) {
    result.status =
        HasClaims(assignment.record->spec->spec) ? Status::Error(std::string(kStateMissing)) : Status::Skip();
  } else if (binding->all_bound) {
    result.status = Status::Skip();
  } else if (!binding->reserved || binding->reserved->node != assignment.node_name) {
    result.status = NoVolumesFor(assignment.node_name);
  }
  return result;
}

base::Task<Status> VolumeBinding::PreBind(framework::BindingContext& context,
                                          framework::Assignment& assignment) const {
  Status status = co_await WriteAndWait(context, assignment);
  if (!status.IsSuccess()) metrics_.CountVolumeError(VolumeStage::kBind);
  co_return status;
}

base::Task<Status> VolumeBinding::WriteAndWait(framework::BindingContext& context,
                                               framework::Assignment& assignment) const {
  auto* const binding = assignment.DataOf<PodBinding>(*this);
  if (binding == nullptr || binding->all_bound) co_return Status();
  if (!binding->reserved || binding->reserved->node != assignment.node_name) {
    co_return NoVolumesFor(assignment.node_name);
  }
  Status written = co_await Write(*binding->reserved);
  if (!written.IsSuccess()) co_return written;
  co_return co_await WaitUntilBound(context, assignment, *binding->reserved);
}

base::Task<Status> VolumeBinding::Write(ReservedVolumes& reserved) const {
  if (writes_ == nullptr) co_return NothingIsWritten();
  for (ReservedVolume& volume : reserved.volumes) {
    framework::ObjectWrite write = WriteOf(volume);
    const base::Result<cluster::AnyObject> stored = co_await writes_->Write(std::move(write));
    if (!stored) co_return GiveUp(reserved, stored.error());
    MarkWritten(volume, *stored);
  }
  for (ReservedClaim& claim : reserved.claims) {
    framework::ObjectWrite write = WriteOf(claim, reserved.node);
    const base::Result<cluster::AnyObject> stored = co_await writes_->Write(std::move(write));
    if (!stored) co_return GiveUp(reserved, stored.error());
    MarkWritten(claim, *stored);
  }
  co_return Status();
}

// What was written stays written; the rest was never promised to anybody but us.
Status VolumeBinding::GiveUp(const ReservedVolumes& reserved, const base::Error& error) const {
  ReservedVolumes rest = reserved;
  std::erase_if(rest.volumes, [](const ReservedVolume& volume) { return volume.written; });
  std::erase_if(rest.claims, [](const ReservedClaim& claim) { return claim.stored != nullptr; });
  TakeBack(rest);
  return Status::Error(error.message);
}

base::Task<Status> VolumeBinding::WaitUntilBound(framework::BindingContext& context,
                                                 framework::Assignment& assignment,
                                                 ReservedVolumes& reserved) const {
  const base::TimePoint end = context.executor.clock().Now() + bind_timeout_;
  base::Event changed(context.executor);
  const Deadline deadline(context.executor, end, changed);
  while (true) {
    if (context.cancelled.IsCancelled()) co_return Failed("context canceled");
    if (context.executor.clock().Now() >= end) co_return Failed("context deadline exceeded");
    BindingCheck check = CheckBinding(context.cluster, csi_nodes_, *assignment.record, reserved);
    if (!check.error.empty()) co_return Failed(check.error);
    if (check.done) co_return Status();
    changed.Reset();
    const VolumeWatch::Subscription subscription(caches_.watch(), std::move(check.looked_at), changed);
    co_await changed.WaitFor(context.cancelled);
  }
}

}  // namespace berth::plugins
