#pragma once

#include <functional>
#include <string_view>

#include "cluster/cluster.h"
#include "core/messages.h"
#include "cycle/scheduling_cycle.h"
#include "dispatch/dispatcher.h"
#include "framework/events.h"
#include "queue/rejection_reports.h"
#include "queue/scheduling_queue.h"

namespace berth::core {

// What a change of an object means: to the cluster in memory, to the queue, to calls that wait.
//
// The cluster changes first and then the queue hears of it, except for a deletion, which the queue hears of
// while the object is still there.
class ObjectEvents {
 public:
  struct Setup {
    cluster::Cluster& cluster;
    queue::SchedulingQueue& queue;
    dispatch::Dispatcher& dispatcher;
    cycle::WaitingPods& waiting;
    cycle::Evictions& evictions;
    queue::RejectionReports& reports;
    cycle::LateUpdates& late_updates;
    std::function<bool(std::string_view)> has_profile;
    api::ResourceGates resources;
  };
  explicit ObjectEvents(Setup setup) : setup_(std::move(setup)) {}

  // What an input is about, as metrics name it; a wildcard if they do not.
  framework::ClusterEvent EventOf(const Input& input) const;

  void Apply(const PodSeen& seen);
  void Apply(const PodGone& gone);
  void Apply(const NodeSeen& seen);
  void Apply(const NodeGone& gone);
  void Apply(const NamespaceSeen& seen) { setup_.cluster.SetNamespace(*seen.object); }
  void Apply(const NamespaceGone& gone) { setup_.cluster.RemoveNamespace(gone.name); }
  void Apply(const WorkloadSeen& seen);
  void Apply(const ObjectSeen& seen);
  void Apply(const ObjectGone& gone);
  void Apply(const WorkloadGone& gone) {
    setup_.cluster.workloads().Remove(gone.kind, gone.namespace_, gone.name);
  }

 private:
  void SeeAssigned(cluster::PodSlot known, const cluster::PodRecordRef& pod);
  void SeeWaiting(cluster::PodSlot known, const cluster::PodRecordRef& pod);
  void UpdateWaiting(cluster::PodSlot known, const cluster::PodRecordRef& pod);
  void Remove(cluster::PodSlot known);
  void RemoveFromItsPlace(cluster::PodSlot known);
  // A pod whose binding is under way is gone or going.
  void RemoveAssumed(cluster::PodSlot known, bool is_gone);
  void LeaveDomains(std::string_view node);
  // The place that a nomination reserved is free for pods of the same or lower priority.
  void WakeNominated(std::string_view node, std::int32_t victim_priority);
  void FreeNomination(const cluster::PodRecordRef& pod, std::int32_t priority);

  Setup setup_;
};

}  // namespace berth::core
