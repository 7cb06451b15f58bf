#include "queue/scheduling_queue.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/log.h"

namespace berth::queue {
namespace {

using std::chrono::seconds;

constexpr seconds kBackoffFlushPeriod{1};
constexpr seconds kUnschedulableFlushPeriod{30};

base::LogObject Named(const api::PodRecord& pod) { return {pod.namespace_, pod.name}; }

std::string_view PlaceWords(Place place) {
  switch (place) {
    case Place::kActive:
      return "the active queue";
    case Place::kBackoff:
    case Place::kErrorBackoff:
      return "the backoff queue";
    default:
      return "unschedulable queue";
  }
}

// Nothing changed that a decision about the pod may look at: its spec and what plugins know it by.
bool WouldBeTriedAlike(const api::PodRecord& a, const api::PodRecord& b) {
  return *a.spec == *b.spec && a.labels == b.labels && a.annotations == b.annotations &&
         a.nominated_node_name == b.nominated_node_name && a.resource_status == b.resource_status;
}

}  // namespace

QueueOptions QueueOptions::From(const framework::Features& features) {
  return {.pop_from_backoff = features.scheduler_pop_from_backoff_q,
          .pre_queueing_hints = features.scheduler_pre_queueing_hints,
          .generic_workload = features.generic_workload,
          .composite_pod_group = features.generic_workload && features.composite_pod_group,
          .deferred_resize = features.in_place_pod_vertical_scaling_scheduler_preemption,
          .resources = features.ForResources()};
}

base::Result<std::unique_ptr<SchedulingQueue>> SchedulingQueue::Make(const QueueOptions& options,
                                                                     std::vector<QueueProfile> profiles,
                                                                     const Setup& setup) {
  auto events = EventMap::Make(std::move(profiles), setup.metrics);
  if (!events) return std::unexpected(events.error());
  return std::unique_ptr<SchedulingQueue>(new SchedulingQueue(options, *std::move(events), setup));
}

SchedulingQueue::SchedulingQueue(const QueueOptions& options, std::unique_ptr<EventMap> events,
                                 const Setup& setup)
    : options_(options),
      cluster_(setup.cluster),
      clock_(setup.clock),
      metrics_(setup.metrics),
      events_(std::move(events)),
      hints_(cluster_, *events_, metrics_, clock_),
      pre_enqueue_(cluster_, *events_, metrics_, setup.observer),
      backoff_rule_({.initial = options.pod_initial_backoff,
                     .max = options.pod_max_backoff,
                     .windows = options.pop_from_backoff},
                    clock_),
      forest_(options.composite_pod_group),
      active_order_{&setup.sort},
      backoff_order_{active_order_, options.pop_from_backoff && !options.upstream_backoff_order},
      active_(active_order_),
      backoff_(backoff_order_),
      in_flight_(metrics_),
      next_backoff_flush_(backoff_rule_.Window(clock_.Now()) + kBackoffFlushPeriod),
      next_unschedulable_flush_(clock_.Now()),
      added_(metrics_.Label("UnscheduledPodAdd")),
      updated_(metrics_.Label("UnscheduledPodUpdate")),
      attempt_failed_(metrics_.Label("ScheduleAttemptFailure")),
      backoff_complete_(metrics_.Label("BackoffComplete")),
      popped_from_backoff_(metrics_.Label("PopFromBackoffQ")),
      activated_(metrics_.Label("ForceActivate")) {}

void SchedulingQueue::Add(cluster::PodSlot pod) {
  const cluster::PodRecordRef& record = cluster_.pods().facts(pod).record;
  // A pod of the same name that waits is an earlier life of it, or the same one told twice.
  Move move{.label = added_};
  if (const ItemId old = items_.Find(*record); old.IsValid()) {
    move.was_parked = items_[old].place == Place::kUnschedulable;
    if (items_[old].leaf.IsValid()) {
      DeleteMember(old);
    } else {
      Detach(old);
      Forget(old);
    }
  }
  cluster_.Nominate(pod);
  const ItemId id = NewPod(cluster_.pods().Version(pod), record);
  items_[id].params.timestamp = clock_.Now();
  if (items_[id].leaf.IsValid()) {
    AddMember(id);
  } else {
    MoveToActive(id, move);
  }
}

void SchedulingQueue::Update(const cluster::PodRecordRef& old, cluster::PodSlot pod) {
  const PodRef ref = cluster_.pods().Version(pod);
  const cluster::PodRecordRef& record = cluster_.pods().facts(pod).record;
  const std::vector<framework::ClusterEvent> events =
      framework::PodUpdateEvents(*old, *record, true, options_.resources);
  EventObjects objects{old, record};
  if (in_flight_.Contains(ref)) {
    for (const framework::ClusterEvent& event : events) in_flight_.Append(events_->Match(event), objects);
    return;
  }
  const ItemId id = items_.Find(*record);
  if (!id.IsValid() || items_[id].pod != ref) {
    if (!id.IsValid() && IsGroupMember(*record)) {
      // Somebody else took care of a member that waits nowhere although its group is not there.
      if (!RootOf(*record).IsValid()) return;
    }
    Add(pod);
    return;
  }
  Item& item = items_[id];
  if (!WouldBeTriedAlike(*old, *record)) ForgetLikeness(id);
  items_.ReplaceRecord(id, record);
  item.profile = events_->FindProfile(record->spec->spec.scheduler_name);
  item.priority = cluster_.pods().priority(pod);
  cluster_.UpdateNomination(pod, *old);
  const ItemId entity = item.place == Place::kMember ? item.parent : id;
  if (item.place == Place::kMember) {
    std::erase(items_[entity].group->pods, id);
    Join(entity, id);
  }
  if (items_[entity].place == Place::kUnschedulable) {
    UpdateParked(entity, events, objects);
  } else {
    Resift(entity);
  }
}

void SchedulingQueue::Delete(cluster::PodSlot pod) {
  cluster_.ClearNomination(pod);
  const api::PodRecord& record = cluster_.pods().record(pod);
  const ItemId id = items_.Find(record);
  if (!id.IsValid() || items_[id].pod != cluster_.pods().Version(pod)) {
    // It may be in flight while the rest of its group waits: a smaller group is looked at anew.
    const GroupId root = IsGroupMember(record) ? RootOf(record) : GroupId();
    if (root.IsValid() && StateOf(root).entity.IsValid()) RequeueGroup(StateOf(root).entity);
    return;
  }
  if (items_[id].leaf.IsValid()) {
    DeleteMember(id);
    return;
  }
  Detach(id);
  Forget(id);
}

std::optional<PoppedEntity> SchedulingQueue::Pop() {
  while (CanPop()) {
    const bool early = active_.empty();
    const ItemId id = early ? backoff_.FirstAwake().active.item : active_.Top().item;
    Item& entity = items_[id];
    if (early) CountArrival(entity, Arrival::kActive, {.label = popped_from_backoff_});
    Detach(id);
    ++entity.params.attempts;

    PoppedEntity popped{.group = entity.is_group() ? entity.group->root : GroupId(), .params = entity.params};
    const auto take = [&](ItemId pod) {
      Item& item = items_[pod];
      if (in_flight_.Contains(item.pod)) {
        BERTH_LOG_ERROR(nullptr, "The same pod is tracked in multiple places in the scheduler",
                        {"pod", Named(*item.record)});
      } else {
        popped.pods.push_back({item.pod, item.params, early, item.sequence});
        in_flight_.Begin(item.pod, item.record);
      }
      Forget(pod);
    };
    if (entity.is_group()) {
      for (const ItemId member : entity.group->pods) {
        ++items_[member].params.attempts;
        take(member);
      }
      StateOf(popped.group).entity = ItemId();
      StateOf(popped.group).in_flight = !popped.pods.empty();
      // The reference of the entity is the popped group's from here to ReturnGroup.
      if (popped.pods.empty()) forest_.Release(popped.group);
      items_.Free(id);
    } else {
      take(id);
    }
    if (popped.pods.empty()) continue;
    ++scheduling_cycle_;
    return popped;
  }
  return std::nullopt;
}

base::Result<void> SchedulingQueue::Return(const PoppedPod& popped, const Rejection& rejection) {
  BERTH_CHECK(cluster_.pods().IsCurrent(popped.pod));
  const cluster::PodRecordRef& record = cluster_.pods().facts(popped.pod.id).record;
  if (const ItemId there = items_.Find(*record); there.IsValid()) {
    Done(popped.pod);
    const ItemId entity = EntityOf(items_[there]);
    return base::Fail(fmt::format("Pod {}/{} is already present in {}", record->namespace_, record->name,
                                  PlaceWords(items_[entity.IsValid() ? entity : there].place)));
  }
  const ItemId id = NewPod(popped.pod, record);
  Item& item = items_[id];
  item.params = popped.params;
  item.params.unschedulable = rejection.unschedulable;
  item.params.pending = rejection.pending;
  item.params.gating = kNoPlugin;
  item.params.timestamp = clock_.Now();
  item.params.expiry.reset();
  item.params.was_flushed = false;
  item.params.flush_timestamp.reset();
  if (item.params.rejectors().empty()) {
    ++item.params.consecutive_errors;
  } else {
    ++item.params.unschedulable_count;
    item.params.consecutive_errors = 0;
  }
  item.likeness = rejection.likeness;
  // What happened while it was tried may make the others fit, and itself.
  if (!HasEventsSince(popped.pod)) backoff_.Rest(rejection.likeness);
  CountRejectors(item, 1);
  if (item.leaf.IsValid()) {
    // Before it can be popped with its group again.
    Done(popped.pod);
    AddMember(id);
    return {};
  }
  Requeue(id, {.label = attempt_failed_, .strategy = Replay(item)});
  Done(popped.pod);
  return {};
}

bool SchedulingQueue::PutBack(const PoppedPod& popped, std::uint64_t likeness) {
  BERTH_CHECK(cluster_.pods().IsCurrent(popped.pod));
  const cluster::PodRecordRef& record = cluster_.pods().facts(popped.pod.id).record;
  if (!popped.is_early || likeness == 0 || HasEventsSince(popped.pod)) return false;
  if (IsGroupMember(*record) || items_.Find(*record).IsValid()) return false;
  const ItemId id = NewPod(popped.pod, record);
  Item& item = items_[id];
  item.params = popped.params;
  --item.params.attempts;
  item.sequence = popped.sequence;
  item.likeness = likeness;
  CountRejectors(item, 1);
  MoveToBackoff(id, {.label = attempt_failed_});
  backoff_.Rest(likeness);
  Done(popped.pod);
  return true;
}

bool SchedulingQueue::HasEventsSince(PodRef popped) const {
  bool has = false;
  in_flight_.ForEachSince(popped, [&](const InFlight::Event&) {
    has = true;
    return false;
  });
  return has;
}

base::Result<void> SchedulingQueue::ReturnGroup(const PoppedEntity& popped, GroupOutcome outcome) {
  const GroupId root = popped.group;
  if (const ItemId there = StateOf(root).entity; there.IsValid()) {
    const GroupKey& key = forest_.key(root);
    return base::Fail(fmt::format("pod group {}/{} is already present in {}", key.namespace_, key.name,
                                  PlaceWords(items_[there].place)));
  }
  StateOf(root).in_flight = false;
  std::vector<ItemId> pods;
  for (const GroupId leaf : forest_.Leaves(root)) {
    const std::vector<ItemId>& pending = StateOf(leaf).pending;
    pods.insert(pods.end(), pending.begin(), pending.end());
  }
  if (pods.empty()) {
    forest_.Release(root);
    return {};
  }
  const ItemId id = items_.AddGroup(root);
  StateOf(root).entity = id;
  items_[id].priority = forest_.priority(root);
  bool came_back = false;
  for (const ItemId pod : pods) {
    came_back |= std::ranges::find(popped.pods, items_[pod].pod, &PoppedPod::pod) != popped.pods.end();
    Detach(pod);
    Join(id, pod);
  }
  QueueingParams& params = items_[id].params;
  params = popped.params;
  params.was_flushed = false;
  params.flush_timestamp.reset();
  if (outcome == GroupOutcome::kSuccess) {
    params.consecutive_errors = params.unschedulable_count = 0;
  } else {
    params.expiry.reset();
    if (outcome == GroupOutcome::kError) {
      ++params.consecutive_errors;
    } else {
      ++params.unschedulable_count;
      params.consecutive_errors = 0;
    }
  }
  // Pods that failed in a cycle that otherwise succeeded keep their turn: they may preempt now.
  if (outcome != GroupOutcome::kSuccess || !came_back) params.timestamp = clock_.Now();
  const Move move{.label = attempt_failed_};
  if (outcome != GroupOutcome::kSuccess &&
      backoff_rule_.IsBackingOff(params, items_[id].size(), clock_.Now())) {
    MoveToBackoff(id, move);
  } else {
    MoveToActive(id, move);
  }
  return {};
}

void SchedulingQueue::FlushBackoff() {
  const base::TimePoint now = backoff_rule_.Window(clock_.Now());
  const Move move{.label = backoff_complete_, .from_backoff = true};
  while (!backoff_.empty() && backoff_.First().window < now) {
    const ItemId id = backoff_.First().active.item;
    Detach(id);
    MoveToActive(id, move);
  }
  while (!error_backoff_.empty() && error_backoff_.Top().time < now) {
    const ItemId id = error_backoff_.Top().item;
    Detach(id);
    MoveToActive(id, move);
  }
}

void SchedulingQueue::Tick() {
  const base::TimePoint now = clock_.Now();
  if (now >= next_backoff_flush_) {
    FlushBackoff();
    next_backoff_flush_ = backoff_rule_.Window(now) + kBackoffFlushPeriod;
  }
  if (now >= next_unschedulable_flush_) {
    FlushUnschedulable();
    next_unschedulable_flush_ = now + kUnschedulableFlushPeriod;
  }
}

}  // namespace berth::queue
