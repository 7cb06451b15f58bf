#include <algorithm>

#include "base/log.h"
#include "queue/scheduling_queue.h"

// What wakes waiting entities.
namespace berth::queue {

PluginSet SchedulingQueue::Narrowing::AllowedFor(ItemId pod) const {
  const auto found = std::ranges::lower_bound(pods, pod, {}, &Listed::pod);
  return found == pods.end() || found->pod != pod ? wide : wide | found->plugins;
}

void SchedulingQueue::Notify(const framework::ClusterEvent& event, HeldObject old_object,
                             HeldObject new_object, const PreCheck& pre_check) {
  // Whoever it concerns: a plugin may be wrong about what it has to hear of, and a needless attempt is cheap.
  backoff_.WakeAll();
  const MatchedEvent& matched = events_->Match(event);
  if (!matched.of_interest) return;
  // A list of ten thousand bound pods comes before anybody waits. Pre-hints are asked all the same, as
  // upstream does and counts it.
  if (parked_.empty() && in_flight_.empty() && !matched.has_pre_hints) return;
  EventObjects objects{std::move(old_object), std::move(new_object)};
  const Narrowing narrowing = Narrow(matched, objects);
  if (!parked_.empty()) MoveJudged(JudgeWaiting(matched, objects, narrowing, pre_check), matched);
  in_flight_.Append(matched, std::move(objects));
}

SchedulingQueue::Narrowing SchedulingQueue::Narrow(const MatchedEvent& matched, const EventObjects& objects) {
  Narrowing narrowing;
  const bool has_object = !objects.old_object.is_null() || !objects.new_object.is_null();
  if (!options_.pre_queueing_hints || !matched.has_pre_hints || !has_object || matched.wildcard)
    return narrowing;

  std::size_t listed_count = 0;
  const PluginSet wide =
      hints_.RunPreHints(matched, objects, [&](PluginId plugin, const framework::PreHint& hint) {
        listed_count += hint.pods.size();
        for (const auto& [namespace_, name] : hint.pods) {
          const ItemId pod = items_.Find(namespace_, name);
          if (!pod.IsValid()) continue;
          narrowing.pods.push_back({.pod = pod, .plugins = {}});
          narrowing.pods.back().plugins.Insert(plugin);
        }
      });
  // Lists say nothing about where in a tree of groups a pod will be tried.
  if (options_.composite_pod_group) return {};
  narrowing.wide = wide;
  std::ranges::sort(narrowing.pods, {}, &Listed::pod);
  std::vector<Listed> merged;
  for (const Listed& listed : narrowing.pods) {
    if (merged.empty() || merged.back().pod != listed.pod) {
      merged.push_back(listed);
    } else {
      merged.back().plugins = merged.back().plugins | listed.plugins;
    }
  }
  narrowing.pods = std::move(merged);
  BERTH_LOG(5, "PreQueueingHint narrowed pod set", {"event", matched.label->text},
            {"candidates", listed_count}, {"total", parked_.size()});
  return narrowing;
}

std::vector<SchedulingQueue::Judged> SchedulingQueue::JudgeWaiting(const MatchedEvent& matched,
                                                                   const EventObjects& objects,
                                                                   const Narrowing& narrowing,
                                                                   const PreCheck& pre_check) {
  std::vector<Judged> judged;
  ++visit_;
  JudgeListed(matched, objects, narrowing, pre_check, judged);
  const auto judge_class = [&](const WaitingIndex::Class& at) {
    if (!matched.wildcard && at.key.gating != kNoPlugin && !matched.plugins.Contains(at.key.gating)) return;
    const bool alike = !at.key.always && !at.key.group.IsValid() &&
                       hints_.IsJudgedByTemplate(at.key.profile, at.rejectors() & narrowing.wide, matched);
    std::optional<Strategy> of_all;
    for (const ItemId id : at.items) {
      if (items_[id].visit == visit_ || !PassesCheck(id, pre_check)) continue;
      const Strategy strategy = of_all ? *of_all : JudgeEntity(id, matched, objects, narrowing);
      if (alike) of_all = strategy;
      if (strategy != Strategy::kSkip) {
        judged.push_back({id, strategy});
      } else if (alike) {
        return;
      }
    }
  };
  if (matched.wildcard) {
    waiting_.ForEach(judge_class);
  } else {
    waiting_.ForEachConcerned(matched.plugins & narrowing.wide, judge_class);
  }
  return judged;
}

// Pods that a pre-hint named, whose plugins are asked about them beside those that look at all.
void SchedulingQueue::JudgeListed(const MatchedEvent& matched, const EventObjects& objects,
                                  const Narrowing& narrowing, const PreCheck& pre_check,
                                  std::vector<Judged>& judged) {
  for (const Listed& listed : narrowing.pods) {
    if (!PassesCheck(listed.pod, pre_check)) continue;
    const ItemId entity = EntityOf(items_[listed.pod]);
    const ItemId id = entity.IsValid() ? entity : listed.pod;
    Item& item = items_[id];
    if (item.place != Place::kUnschedulable || item.visit == visit_) continue;
    if (item.params.gated() && !matched.plugins.Contains(item.params.gating)) continue;
    item.visit = visit_;
    const Strategy strategy = JudgeEntity(id, matched, objects, narrowing);
    if (strategy != Strategy::kSkip) judged.push_back({id, strategy});
  }
}

Strategy SchedulingQueue::JudgeEntity(ItemId id, const MatchedEvent& matched, const EventObjects& objects,
                                      const Narrowing& narrowing) const {
  const Item& item = items_[id];
  if (!item.is_group()) return hints_.Judge(item, matched, objects, narrowing.AllowedFor(id));
  Strategy best = Strategy::kSkip;
  for (const ItemId member : item.group->pods) {
    best = std::max(best, hints_.Judge(items_[member], matched, objects, narrowing.AllowedFor(member)));
    if (best == Strategy::kImmediately) break;
  }
  return best;
}

bool SchedulingQueue::PassesCheck(ItemId id, const PreCheck& pre_check) const {
  if (!pre_check) return true;
  const Item& item = items_[id];
  if (!item.is_group()) return pre_check(item.pod.id);
  return std::ranges::any_of(item.group->pods,
                             [&](ItemId member) { return pre_check(items_[member].pod.id); });
}

void SchedulingQueue::MoveJudged(std::span<const Judged> judged, const MatchedEvent& matched) {
  for (const Judged& move : judged) {
    Detach(move.item);
    Requeue(move.item, {.label = *matched.label, .strategy = move.strategy});
  }
}

Strategy SchedulingQueue::Replay(const Item& pod) const {
  if (pod.params.rejectors().empty()) return Strategy::kAfterBackoff;
  Strategy best = Strategy::kSkip;
  const bool in_flight = in_flight_.ForEachSince(pod.pod, [&](const InFlight::Event& event) {
    best = std::max(best, hints_.Judge(pod, *event.matched, event.objects, PluginSet::All()));
    // A plugin that is still pending may do better later.
    return best == Strategy::kSkip || (best == Strategy::kAfterBackoff && !pod.params.pending.empty());
  });
  if (in_flight) return best;
  BERTH_LOG_ERROR(nullptr, "In flight pod isn't found in the scheduling queue",
                  {"pod", base::LogObject{pod.record->namespace_, pod.record->name}});
  return Strategy::kAfterBackoff;
}

void SchedulingQueue::UpdateParked(ItemId entity, const std::vector<framework::ClusterEvent>& events,
                                   const EventObjects& objects) {
  for (const framework::ClusterEvent& event : events) {
    const MatchedEvent& matched = events_->Match(event);
    const Strategy strategy = JudgeEntity(entity, matched, objects, {});
    // Also when it stays: its class may be another one now.
    Detach(entity);
    const Place place = Requeue(entity, {.label = *matched.label, .strategy = strategy, .was_parked = true});
    if (place != Place::kUnschedulable) return;
  }
}

void SchedulingQueue::Activate(std::span<const cluster::PodSlot> pods) {
  for (const cluster::PodSlot pod : pods) {
    const cluster::PodRecordRef& record = cluster_.pods().facts(pod).record;
    ItemId entity = items_.Find(*record);
    if (IsGroupMember(*record)) {
      const GroupId root = RootOf(*record);
      if (!root.IsValid()) continue;
      entity = StateOf(root).entity;
    }
    if (entity.IsValid()) {
      const Place place = items_[entity].place;
      const bool parked = place == Place::kUnschedulable;
      const bool backing_off = place == Place::kBackoff || place == Place::kErrorBackoff;
      if (parked || backing_off) {
        Detach(entity);
        const Move move{.label = activated_, .from_backoff = backing_off, .was_parked = parked};
        if (MoveToActive(entity, move)) continue;
      }
    }
    if (in_flight_.Contains(cluster_.pods().Version(pod))) {
      in_flight_.Append(events_->Match(framework::kForceActivate), {HeldObject(), record});
    }
  }
}

void SchedulingQueue::FlushUnschedulable() {
  const base::TimePoint now = clock_.Now();
  const MatchedEvent& matched = events_->Match(framework::kUnschedulableTimeout);
  std::vector<Judged> judged;
  bool any = false;
  while (!parked_.empty() && now - parked_.Top().time > options_.pod_max_in_unschedulable) {
    const ItemId id = parked_.Top().item;
    any = true;
    SetFlushed(id, true);
    items_[id].params.flush_timestamp = now;
    parked_.Change(items_[id].handle, [now](TimedEntry& entry) { entry.time = now; });
    const Strategy strategy = JudgeEntity(id, matched, {}, {});
    if (strategy != Strategy::kSkip) judged.push_back({id, strategy});
  }
  if (!any) return;
  MoveJudged(judged, matched);
  in_flight_.Append(matched, {});
}

}  // namespace berth::queue
