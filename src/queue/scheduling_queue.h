#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "queue/attempt.h"
#include "queue/backoff.h"
#include "queue/backoff_lanes.h"
#include "queue/hint_runner.h"
#include "queue/pre_enqueue_runner.h"
#include "queue/queue_heaps.h"
#include "queue/queue_options.h"
#include "queue/waiting_index.h"

namespace berth::queue {

// Which pod is tried next, and what wakes the others.
//
// 1. A pod that the queue was given, and that is neither in flight nor deleted, is in exactly one Place.
// 2. Events that come while a pod is in flight are replayed when it comes back rejected.
// 3. A pod is nominated before it can be popped.
//
// A state machine: it reads the clock and the cluster, asks plugins, and writes nothing but itself, the
// cluster's nominations and metrics. The owner applies a change to the cluster first and then tells the
// queue, except for a deletion, which the queue hears of first. An event costs the classes of waiting pods
// that it concerns (waiting_index.h), everything else O(log pods).
class SchedulingQueue {
 public:
  struct Setup {
    cluster::Cluster& cluster;
    const base::Clock& clock;
    QueueMetrics& metrics;
    const framework::QueueSortPoint& sort;  // of the first profile
    PreEnqueueObserver* observer = nullptr;
  };
  using PreCheck = std::function<bool(cluster::PodSlot)>;

  static base::Result<std::unique_ptr<SchedulingQueue>> Make(const QueueOptions& options,
                                                             std::vector<QueueProfile> profiles,
                                                             const Setup& setup);

  void Add(cluster::PodSlot pod);
  // `old`: the record before the change.
  void Update(const cluster::PodRecordRef& old, cluster::PodSlot pod);
  // In flight it stays there: who tries it calls Done.
  void Delete(cluster::PodSlot pod);

  // Nothing if it would have to wait.
  std::optional<PoppedEntity> Pop();
  bool CanPop() const { return !active_.empty() || (options_.pop_from_backoff && backoff_.HasAwake()); }
  // The attempt came so far that it cannot be rejected any more, or the pod is gone.
  void Done(PodRef pod) { in_flight_.Done(pod); }
  // The attempt failed and the pod is still there. Implies Done. Fails if it is in the queue already.
  base::Result<void> Return(const PoppedPod& popped, const Rejection& rejection);
  // The attempt was an early one and showed what is known already, of pods of this likeness: as if it had not
  // been made. Implies Done. False: that cannot be said, and the pod is in flight as before.
  bool PutBack(const PoppedPod& popped, std::uint64_t likeness);

  // Something happened that may make rejected pods fit; only those that pass the check are looked at.
  void Notify(const framework::ClusterEvent& event, HeldObject old_object, HeldObject new_object,
              const PreCheck& pre_check = nullptr);
  // Tries these as soon as possible, whatever backoff is left; gates still hold.
  void Activate(std::span<const cluster::PodSlot> pods);

  // Backoff that is over; to be called every second.
  void FlushBackoff();
  // Who is unschedulable for too long gets a try; to be called every thirty seconds.
  void FlushUnschedulable();
  // Runs the flushes that are due.
  void Tick();
  base::TimePoint NextTick() const { return std::min(next_backoff_flush_, next_unschedulable_flush_); }

  // Add and update alike; composite groups only count with their gate on.
  void SetPodGroup(const api::PodGroup& group) { OnGroupSet(forest_.Set(group)); }
  void SetPodGroup(const api::CompositePodGroup& group) {
    if (options_.composite_pod_group) OnGroupSet(forest_.Set(group));
  }
  void RemovePodGroup(const GroupKey& group);
  // The end of a group cycle, after its failed pods were returned.
  base::Result<void> ReturnGroup(const PoppedEntity& popped, GroupOutcome outcome);

  // No pod is in flight any more; what waits can still be popped.
  void Close() { in_flight_.Clear(); }

  PluginNames& plugins() { return events_->plugins(); }
  const PluginNames& plugins() const { return events_->plugins(); }
  const GroupForest& forest() const { return forest_; }
  const InFlight& in_flight() const { return in_flight_; }
  std::int64_t scheduling_cycle() const { return scheduling_cycle_; }

  // For those who look on.
  // ----------------------------------------------------------------------------------------------------------------
  Place WhereIs(cluster::PodSlot pod) const;
  // Null: it does not wait here.
  const QueueingParams* Find(cluster::PodSlot pod) const;
  struct Entry {
    GroupId group = {};  // invalid: a pod
    PodRef pod = {};
    QueueingParams params = {};
    Place place = Place::kNowhere;
    std::optional<base::TimePoint> backoff_end = {};  // as it orders: the start of its second
    std::vector<PodRef> members = {};                 // of a group
  };
  // What is in a place, in the order in which it would leave it.
  std::vector<Entry> List(Place place) const;
  // "activeQ:1; backoffQ:2; unschedulableEntities:3", in pods.
  std::string Summary() const;

 private:
  struct GroupState {
    ItemId entity;
    bool in_flight = false;
    std::vector<ItemId> pending;
    std::vector<ItemId> incomplete;
  };
  struct Move {
    EventLabel& label;
    std::optional<Strategy> strategy = std::nullopt;
    bool from_backoff = false;
    bool was_parked = false;  // it comes from the unschedulable set and is not counted if it goes back there
  };
  struct Listed {
    ItemId pod;
    PluginSet plugins;
  };
  // Which pods an event may concern by the pre-hints. Nobody listed and all plugins wide: any.
  struct Narrowing {
    PluginSet wide = PluginSet::All();
    std::vector<Listed> pods = {};  // by item

    PluginSet AllowedFor(ItemId pod) const;
  };
  struct Judged {
    ItemId item;
    Strategy strategy;
  };

  SchedulingQueue(const QueueOptions& options, std::unique_ptr<EventMap> events, const Setup& setup);

  // Moves (queue_moves.cpp). What moves was detached before.
  Place Requeue(ItemId id, const Move& move);
  bool MoveToActive(ItemId id, const Move& move);
  bool MoveToBackoff(ItemId id, const Move& move);
  void Park(ItemId id, const Move& move);
  void File(ItemId id, Place place);
  void Detach(ItemId id);
  void Forget(ItemId id);
  bool PassesPreEnqueue(ItemId id);
  void SetFlushed(ItemId id, bool flushed);
  void ForgetLikeness(ItemId id);
  void CountArrival(const Item& item, Arrival where, const Move& move);
  void CountPending(const Item& item, int sign);
  void CountRejectors(const Item& pod, int sign);
  void PushTo(ItemId id, Place place);
  void Resift(ItemId id);
  WaitingIndex::ClassKey ClassOf(ItemId id) const;

  // Events (queue_events.cpp).
  Narrowing Narrow(const MatchedEvent& matched, const EventObjects& objects);
  std::vector<Judged> JudgeWaiting(const MatchedEvent& matched, const EventObjects& objects,
                                   const Narrowing& narrowing, const PreCheck& pre_check);
  void JudgeListed(const MatchedEvent& matched, const EventObjects& objects, const Narrowing& narrowing,
                   const PreCheck& pre_check, std::vector<Judged>& judged);
  Strategy JudgeEntity(ItemId id, const MatchedEvent& matched, const EventObjects& objects,
                       const Narrowing& narrowing) const;
  bool PassesCheck(ItemId id, const PreCheck& pre_check) const;
  void MoveJudged(std::span<const Judged> judged, const MatchedEvent& matched);
  Strategy Replay(const Item& pod) const;
  bool HasEventsSince(PodRef popped) const;
  void UpdateParked(ItemId entity, const std::vector<framework::ClusterEvent>& events,
                    const EventObjects& objects);

  // Groups (queue_groups.cpp).
  bool IsGroupMember(const api::PodRecord& pod) const;
  GroupKey LeafOf(const api::PodRecord& member) const;
  // Invalid: the pod's group, or one above it, is not there.
  GroupId RootOf(const api::PodRecord& member) const;
  GroupState& StateOf(GroupId group);
  ItemId EntityOf(const Item& pod) const;
  ItemId NewPod(PodRef pod, const cluster::PodRecordRef& record);
  void AddMember(ItemId pod);
  void Join(ItemId group, ItemId pod);
  void DeleteMember(ItemId pod);
  void Leave(ItemId group, ItemId pod);
  void FreeGroup(ItemId group);
  void RequeueGroup(ItemId group);
  void OnGroupSet(GroupId group);
  void MoveRootlessToIncomplete(GroupId root, std::span<const GroupId> leaves);

  Entry EntryOf(ItemId id) const;

  const QueueOptions options_;
  cluster::Cluster& cluster_;
  const base::Clock& clock_;
  QueueMetrics& metrics_;
  std::unique_ptr<EventMap> events_;
  HintRunner hints_;
  PreEnqueueRunner pre_enqueue_;
  Backoff backoff_rule_;
  GroupForest forest_;
  ItemStore items_;
  const ActiveOrder active_order_;
  const BackoffOrder backoff_order_;
  ActiveHeap active_;
  BackoffLanes backoff_;
  TimedHeap error_backoff_;
  TimedHeap parked_;  // by the time since when
  WaitingIndex waiting_;
  InFlight in_flight_;
  std::vector<GroupState> groups_;  // by GroupId
  std::int64_t scheduling_cycle_ = 0;
  std::uint64_t visit_ = 0;
  base::TimePoint next_backoff_flush_;
  base::TimePoint next_unschedulable_flush_;
  EventLabel& added_;
  EventLabel& updated_;
  EventLabel& attempt_failed_;
  EventLabel& backoff_complete_;
  EventLabel& popped_from_backoff_;
  EventLabel& activated_;
};

}  // namespace berth::queue
