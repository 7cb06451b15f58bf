#include "core/object_events.h"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/log.h"
#include "cluster/object_store.h"
#include "cycle/assigned_record.h"
#include "dra/taint_rules.h"
#include "framework/events.h"

namespace berth::core {
namespace {

using framework::ClusterEvent;
using framework::EventResource;

constexpr ClusterEvent kAssignedPodAdd{EventResource::kAssignedPod, framework::kAdd};
constexpr ClusterEvent kAssignedPodDelete{EventResource::kAssignedPod, framework::kDelete};
constexpr ClusterEvent kNodeAdd{EventResource::kNode, framework::kAdd};
constexpr ClusterEvent kNodeDelete{EventResource::kNode, framework::kDelete};

// Inputs may contradict what is known when a watch was interrupted; the state is mended and the fact is told.
void LogUnexpected(const base::Result<void>& result, const api::PodRecord& pod) {
  if (result) return;
  BERTH_LOG_ERROR(result.error(), "Unexpected change of a pod",
                  {"pod", base::LogObject{pod.namespace_, pod.name}});
}

// It was evicted to make room.
bool IsVictim(const api::PodRecord& pod) {
  return pod.deletion_timestamp && std::ranges::any_of(pod.conditions(), [](const auto& condition) {
           return condition.type == framework::kDisruptionTarget &&
                  condition.reason == framework::kPreemptionByScheduler;
         });
}

// Kinds of which no plugin can hear have none.
template <class T>
constexpr EventResource kResourceOf = EventResource::kWildcard;
template <>
constexpr EventResource kResourceOf<api::PersistentVolume> = EventResource::kPersistentVolume;
template <>
constexpr EventResource kResourceOf<api::PersistentVolumeClaim> = EventResource::kPersistentVolumeClaim;
template <>
constexpr EventResource kResourceOf<api::StorageClass> = EventResource::kStorageClass;
template <>
constexpr EventResource kResourceOf<api::CSINode> = EventResource::kCSINode;
template <>
constexpr EventResource kResourceOf<api::CSIDriver> = EventResource::kCSIDriver;
template <>
constexpr EventResource kResourceOf<api::CSIStorageCapacity> = EventResource::kCSIStorageCapacity;
template <>
constexpr EventResource kResourceOf<api::VolumeAttachment> = EventResource::kVolumeAttachment;
template <>
constexpr EventResource kResourceOf<api::ResourceClaim> = EventResource::kResourceClaim;
template <>
constexpr EventResource kResourceOf<api::ResourceSlice> = EventResource::kResourceSlice;
template <>
constexpr EventResource kResourceOf<api::DeviceClass> = EventResource::kDeviceClass;
template <>
constexpr EventResource kResourceOf<api::PodGroup> = EventResource::kPodGroup;
template <>
constexpr EventResource kResourceOf<api::CompositePodGroup> = EventResource::kCompositePodGroup;

template <class T>
void NotifyOf(queue::SchedulingQueue& queue, framework::Actions actions,
              const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after) {
  if constexpr (kResourceOf<T> != EventResource::kWildcard)
    queue.Notify({kResourceOf<T>, actions}, before, after);
}

// A rule puts taints on devices, so to those who wait for devices it is the slices that changed.
void NotifyOf(queue::SchedulingQueue& queue, const cluster::Cluster& cluster,
              const std::shared_ptr<const api::DeviceTaintRule>& before,
              const std::shared_ptr<const api::DeviceTaintRule>& after) {
  const auto concerns = [](const auto& rule, const api::ResourceSlice& slice) {
    return rule != nullptr && dra::TaintRules::Concerns(*rule, slice);
  };
  std::shared_ptr<const api::ResourceSlice> changed;
  cluster.objects().Of<api::ResourceSlice>().ForEach([&](const auto& slice) {
    if (changed == nullptr && (concerns(before, *slice) || concerns(after, *slice))) changed = slice;
  });
  // One stands for all: whoever waits for devices is woken by any.
  if (changed) queue.Notify({EventResource::kResourceSlice, framework::kUpdate}, changed, changed);
}

// Calls with the object unless there is none.
template <class F>
void WithObject(const cluster::AnyObject& object, F&& call) {
  std::visit(
      [&]<class Held>(const Held& held) {
        if constexpr (!std::is_same_v<Held, std::monostate>) call(held);
      },
      object);
}

// Whether an object is new decides between the two.
framework::Actions SeenAction(bool is_known) { return is_known ? framework::kUpdate : framework::kAdd; }

struct EventNamer {
  const cluster::Cluster& cluster;

  ClusterEvent operator()(const PodSeen& seen) const {
    const bool is_known = cluster.pods().Find(seen.pod->uid).IsValid();
    return {seen.pod->node_name.empty() ? EventResource::kUnscheduledPod : EventResource::kAssignedPod,
            SeenAction(is_known)};
  }
  ClusterEvent operator()(const PodGone& gone) const {
    const cluster::PodSlot known = cluster.pods().Find(gone.uid);
    const bool waits = known.IsValid() && cluster.pods().state(known) == cluster::PodState::kPending;
    return {waits ? EventResource::kUnscheduledPod : EventResource::kAssignedPod, framework::kDelete};
  }
  ClusterEvent operator()(const NodeSeen& seen) const {
    const cluster::NodeRow row = cluster.nodes().Find(seen.node->metadata.name);
    return {EventResource::kNode, SeenAction(row.IsValid() && cluster.nodes().exists(row))};
  }
  ClusterEvent operator()(const NodeGone&) const { return kNodeDelete; }
  ClusterEvent operator()(const ObjectSeen& seen) const { return OfObject(seen.object, framework::kUpdate); }
  ClusterEvent operator()(const ObjectGone& gone) const { return OfObject(gone.object, framework::kDelete); }
  ClusterEvent operator()(const auto&) const { return {}; }

  static ClusterEvent OfObject(const cluster::AnyObject& object, framework::Actions actions) {
    return std::visit(
        [&]<class Ref>(const Ref&) -> ClusterEvent {
          if constexpr (std::is_same_v<Ref, std::monostate>) {
            return {};
          } else {
            return {kResourceOf<std::remove_const_t<typename Ref::element_type>>, actions};
          }
        },
        object);
  }
};

}  // namespace

framework::ClusterEvent ObjectEvents::EventOf(const Input& input) const {
  return std::visit(EventNamer{setup_.cluster}, input);
}

void ObjectEvents::Apply(const PodSeen& seen) {
  const auto& pods = setup_.cluster.pods();
  const api::PodRecord& pod = *seen.pod;
  // A pod of the same name but another uid: the deletion of the old one was missed.
  if (const auto same_name = pods.Find(pod.namespace_, pod.name);
      same_name.IsValid() && pods.record(same_name).uid != pod.uid) {
    Remove(same_name);
  }
  const cluster::PodSlot known = pods.Find(pod.uid);
  if (known.IsValid() && pods.record(known).resource_version == pod.resource_version &&
      !pod.resource_version.empty()) {
    return;
  }
  const auto version = known.IsValid() ? pods.Version(known) : base::Versioned<cluster::PodSlot>();
  if (!pod.node_name.empty()) {
    SeeAssigned(known, seen.pod);
  } else {
    SeeWaiting(known, seen.pod);
  }
  if (known.IsValid()) setup_.evictions.NoticeChange(version);
}

void ObjectEvents::SeeAssigned(cluster::PodSlot known, const cluster::PodRecordRef& pod) {
  auto& cluster = setup_.cluster;
  if (!known.IsValid() || cluster.pods().state(known) != cluster::PodState::kAdded) {
    if (known.IsValid() && cluster.pods().state(known) == cluster::PodState::kPending)
      setup_.queue.Delete(known);
    if (known.IsValid()) {
      setup_.reports.OnDeleted(cluster.pods().Version(known));
      setup_.late_updates.Forget(cluster.pods().Version(known));
    }
    setup_.dispatcher.OnBound(pod->uid);
    LogUnexpected(cluster.AddPod(pod), *pod);
    setup_.queue.Notify(kAssignedPodAdd, {}, pod);
    return;
  }
  const cluster::PodRecordRef old = cluster.pods().facts(known).record;
  LogUnexpected(cluster.UpdatePod(pod), *pod);
  for (const ClusterEvent& event :
       framework::PodUpdateEvents(*old, *pod, /*is_target=*/false, setup_.resources)) {
    setup_.queue.Notify(event, old, pod);
  }
}

void ObjectEvents::SeeWaiting(cluster::PodSlot known, const cluster::PodRecordRef& pod) {
  if (!setup_.has_profile(pod->spec->spec.scheduler_name)) return;
  if (known.IsValid()) {
    UpdateWaiting(known, pod);
    return;
  }
  const auto slot = setup_.cluster.SetPending(pod);
  if (slot) setup_.queue.Add(*slot);
}

void ObjectEvents::UpdateWaiting(cluster::PodSlot known, const cluster::PodRecordRef& pod) {
  auto& cluster = setup_.cluster;
  const cluster::PodRecordRef old = cluster.pods().facts(known).record;
  setup_.dispatcher.Sync(pod);
  switch (cluster.pods().state(known)) {
    case cluster::PodState::kAdded:
      LogUnexpected(base::Fail("a bound pod came back without a node"), *pod);
      return;
    case cluster::PodState::kAssumed:
      // The binding goes on with the pod as it was; only its end matters now.
      setup_.late_updates.Set(cluster.pods().Version(known), pod);
      if (pod->deletion_timestamp && !old->deletion_timestamp) RemoveAssumed(known, /*is_gone=*/false);
      return;
    case cluster::PodState::kPending:
      break;
  }
  if (const auto slot = cluster.SetPending(pod); !slot) {
    LogUnexpected(std::unexpected(slot.error()), *pod);
    return;
  }
  setup_.queue.Update(old, known);
  // What the pod says of its place is older than what is being written: the place is kept, or given up,
  // already.
  const std::optional<std::string_view> wanted = setup_.dispatcher.NominationOnItsWay(pod->uid);
  if (wanted) cluster.Nominate(known, wanted);
  if (!old->nominated_node_name.empty() && old->nominated_node_name != pod->nominated_node_name) {
    FreeNomination(old, cluster.pods().priority(known));
  }
}

void ObjectEvents::FreeNomination(const cluster::PodRecordRef& pod, std::int32_t priority) {
  const auto& pods = setup_.cluster.pods();
  setup_.queue.Notify(kAssignedPodDelete, pod, {},
                      [&](cluster::PodSlot waiting) { return pods.priority(waiting) <= priority; });
}

// While a victim goes, those who count on its node choose no others. When it is gone they may, or have to
// give the node up, even if what keeps them out by then has nothing to do with the victim.
void ObjectEvents::WakeNominated(std::string_view node, std::int32_t victim_priority) {
  const auto& cluster = setup_.cluster;
  const cluster::NodeRow row = cluster.nodes().Find(node);
  if (!row.IsValid()) return;
  std::vector<cluster::PodSlot> waiting;
  for (const cluster::PodSlot pod : cluster.NominatedTo(row)) {
    if (cluster.pods().priority(pod) > victim_priority &&
        setup_.queue.WhereIs(pod) == queue::Place::kUnschedulable) {
      waiting.push_back(pod);
    }
  }
  setup_.queue.Activate(waiting);
}

void ObjectEvents::Apply(const PodGone& gone) {
  const auto& pods = setup_.cluster.pods();
  const cluster::PodSlot known =
      gone.uid.empty() ? pods.Find(gone.namespace_, gone.name) : pods.Find(gone.uid);
  // A pod that was deleted while it was being bound is no longer known, but a call of it may be on its way.
  setup_.dispatcher.Forget(gone.uid);
  if (known.IsValid()) Remove(known);
}

void ObjectEvents::Remove(cluster::PodSlot known) {
  const auto version = setup_.cluster.pods().Version(known);
  RemoveFromItsPlace(known);
  setup_.evictions.NoticeChange(version);
}

void ObjectEvents::RemoveFromItsPlace(cluster::PodSlot known) {
  auto& cluster = setup_.cluster;
  const cluster::PodRecordRef pod = cluster.pods().facts(known).record;
  setup_.dispatcher.Forget(pod->uid);
  setup_.reports.OnDeleted(cluster.pods().Version(known));
  switch (cluster.pods().state(known)) {
    case cluster::PodState::kAssumed:
      RemoveAssumed(known, /*is_gone=*/true);
      return;
    case cluster::PodState::kAdded: {
      const std::int32_t importance = cluster.pods().priority(known);
      LogUnexpected(cluster.RemovePod(*pod), *pod);
      setup_.queue.Notify(kAssignedPodDelete, pod, {});
      if (IsVictim(*pod)) WakeNominated(pod->node_name, importance);
      return;
    }
    case cluster::PodState::kPending:
      break;
  }
  const std::int32_t priority = cluster.pods().priority(known);
  setup_.queue.Delete(known);
  LogUnexpected(cluster.RemovePending(pod->uid), *pod);
  if (!pod->nominated_node_name.empty()) FreeNomination(pod, priority);
}

void ObjectEvents::RemoveAssumed(cluster::PodSlot known, bool is_gone) {
  auto& cluster = setup_.cluster;
  const cluster::PodRecordRef pod = cluster.pods().facts(known).record;
  const std::string node(cluster.nodes().name(cluster.pods().row(known)));
  // A pod that waits for Permit is put back by its binding cycle, and not tried again while it is going. One
  // that is gone must not come back.
  const bool waits = setup_.waiting.Reject(pod->uid, "", "removed");
  if (!waits || is_gone) {
    setup_.late_updates.Forget(cluster.pods().Version(known));
    LogUnexpected(cluster.RemoveAssumed(pod->uid, node), *pod);
  }
  setup_.queue.Notify(kAssignedPodDelete, cycle::AsAssigned(*pod, node), {});
}

void ObjectEvents::Apply(const NodeSeen& seen) {
  auto& cluster = setup_.cluster;
  const cluster::NodeRow row = cluster.nodes().Find(seen.node->metadata.name);
  const cluster::NodeRef old = row.IsValid() ? cluster.nodes().object(row) : nullptr;
  cluster.SetNode(seen.node);
  if (!old) {
    setup_.queue.Notify(kNodeAdd, {}, seen.node);
    return;
  }
  for (const ClusterEvent& event : framework::NodeUpdateEvents(*old, *seen.node)) {
    setup_.queue.Notify(event, old, seen.node);
  }
}

void ObjectEvents::Apply(const NodeGone& gone) {
  auto& cluster = setup_.cluster;
  const cluster::NodeRow row = cluster.nodes().Find(gone.name);
  const cluster::NodeRef node = row.IsValid() ? cluster.nodes().object(row) : nullptr;
  if (!node) return;
  setup_.queue.Notify(kNodeDelete, node, {});
  if (const auto removed = cluster.RemoveNode(*node); !removed) {
    BERTH_LOG_ERROR(removed.error(), "Could not remove a node", {"node", gone.name});
  }
  LeaveDomains(gone.name);
}

// Pods that were on a node that is gone are in no zone any more, though they exist until somebody deletes
// them: to a pod that they kept away, or that may be the first of its kind now, they are gone. Plugins that
// count by domain hear of that as of their deletion, since not all of them listen to nodes that go.
void ObjectEvents::LeaveDomains(std::string_view node) {
  const auto& nodes = setup_.cluster.nodes();
  const cluster::NodeRow row = nodes.Find(node);
  if (!row.IsValid()) return;
  for (const cluster::PodSlot pod : nodes.pods(row)) {
    setup_.queue.Notify(kAssignedPodDelete, setup_.cluster.pods().facts(pod).record, {});
  }
}

void ObjectEvents::Apply(const WorkloadSeen& seen) {
  std::visit([&](const auto& object) { setup_.cluster.workloads().Set(*object); }, seen.object);
}

void ObjectEvents::Apply(const ObjectSeen& seen) {
  WithObject(seen.object, [&]<class T>(const std::shared_ptr<const T>& object) {
    const std::shared_ptr<const T> before = setup_.cluster.objects().Of<T>().Set(object);
    if constexpr (std::is_same_v<T, api::DeviceTaintRule>) {
      NotifyOf(setup_.queue, setup_.cluster, before, object);
    } else {
      NotifyOf(setup_.queue, before ? framework::kUpdate : framework::kAdd, before, object);
    }
  });
}

void ObjectEvents::Apply(const ObjectGone& gone) {
  WithObject(gone.object, [&]<class T>(const std::shared_ptr<const T>& object) {
    const std::shared_ptr<const T> before =
        setup_.cluster.objects().Of<T>().Remove(object->metadata.namespace_, object->metadata.name);
    if constexpr (std::is_same_v<T, api::DeviceTaintRule>) {
      if (before) NotifyOf(setup_.queue, setup_.cluster, before, nullptr);
    } else {
      if (before) NotifyOf<T>(setup_.queue, framework::kDelete, before, nullptr);
    }
  });
}

}  // namespace berth::core
