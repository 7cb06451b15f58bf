#include "base/check.h"
#include "queue/scheduling_queue.h"

// How entities get from place to place. Everything that is counted is counted here.
namespace berth::queue {

Place SchedulingQueue::Requeue(ItemId id, const Move& move) {
  Item& item = items_[id];
  if (*move.strategy == Strategy::kSkip) {
    Park(id, move);
  } else if (*move.strategy == Strategy::kAfterBackoff &&
             backoff_rule_.IsBackingOff(item.params, item.size(), clock_.Now())) {
    MoveToBackoff(id, move);
  } else {
    MoveToActive(id, move);
  }
  return item.place;
}

bool SchedulingQueue::MoveToActive(ItemId id, const Move& move) {
  // With KEP-5142 who is in backoff has passed already: it can be popped from there.
  const bool passed_before = options_.pop_from_backoff && move.from_backoff;
  if (!passed_before && !PassesPreEnqueue(id)) {
    SetFlushed(id, false);
    Park(id, move);
    return false;
  }
  Item& item = items_[id];
  const auto begin = [now = clock_.Now()](Item& at) {
    if (!at.params.initial_attempt) at.params.initial_attempt = now;
  };
  begin(item);
  if (item.is_group()) {
    for (const ItemId member : item.group->pods) begin(items_[member]);
  }
  PushTo(id, Place::kActive);
  CountArrival(item, Arrival::kActive, move);
  return true;
}

bool SchedulingQueue::MoveToBackoff(ItemId id, const Move& move) {
  if (options_.pop_from_backoff && !PassesPreEnqueue(id)) {
    SetFlushed(id, false);
    Park(id, move);
    return false;
  }
  // The plugins that reject a group are recorded with its pods, so that groups never leave backoff early.
  const Item& item = items_[id];
  PushTo(id, item.params.rejectors().empty() ? Place::kErrorBackoff : Place::kBackoff);
  CountArrival(item, Arrival::kBackoff, move);
  return true;
}

void SchedulingQueue::Park(ItemId id, const Move& move) {
  PushTo(id, Place::kUnschedulable);
  if (!move.was_parked) CountArrival(items_[id], Arrival::kUnschedulable, move);
}

void SchedulingQueue::PushTo(ItemId id, Place place) {
  Item& item = items_[id];
  BERTH_DCHECK(item.place == Place::kNowhere);
  const ActiveEntry entry{{item.priority, item.params.timestamp}, item.sequence, id};
  switch (place) {
    case Place::kActive:
      item.handle = active_.Push(entry);
      break;
    case Place::kBackoff:
    case Place::kErrorBackoff: {
      const auto expiry = backoff_rule_.Expiry(item.params, item.size());
      BERTH_CHECK(expiry.has_value());
      const base::TimePoint window = backoff_rule_.Window(*expiry);
      item.handle = place == Place::kBackoff ? backoff_.Push(item.likeness, {window, *expiry, entry})
                                             : error_backoff_.Push({window, item.sequence, id});
      break;
    }
    case Place::kUnschedulable: {
      const base::TimePoint since =
          std::max(item.params.timestamp, item.params.flush_timestamp.value_or(item.params.timestamp));
      item.handle = parked_.Push({since, item.sequence, id});
      waiting_.Insert(items_, id, ClassOf(id));
      item.counted_as_gated = item.params.gated();
      break;
    }
    default:
      BERTH_CHECK(false);
  }
  item.place = place;
  CountPending(item, 1);
}

// A place outside the queues of entities, for pods whose group cannot be tried.
void SchedulingQueue::File(ItemId id, Place place) {
  Item& item = items_[id];
  GroupState& state = StateOf(item.leaf);
  std::vector<ItemId>& pods = place == Place::kPending ? state.pending : state.incomplete;
  item.class_position = static_cast<std::uint32_t>(pods.size());
  pods.push_back(id);
  item.place = place;
  CountPending(item, 1);
}

void SchedulingQueue::Detach(ItemId id) {
  Item& item = items_[id];
  const auto swap_out = [&](std::vector<ItemId>& pods) {
    pods[item.class_position] = pods.back();
    items_[pods.back()].class_position = item.class_position;
    pods.pop_back();
  };
  if (item.place != Place::kNowhere && item.place != Place::kMember) CountPending(item, -1);
  switch (item.place) {
    case Place::kNowhere:
      break;
    case Place::kActive:
      active_.Remove(item.handle);
      break;
    case Place::kBackoff:
      backoff_.Remove(item.likeness, item.handle);
      break;
    case Place::kErrorBackoff:
      error_backoff_.Remove(item.handle);
      break;
    case Place::kUnschedulable:
      parked_.Remove(item.handle);
      waiting_.Remove(items_, id);
      item.counted_as_gated = false;
      break;
    case Place::kMember:
      Leave(item.parent, id);
      break;
    case Place::kPending:
      swap_out(StateOf(item.leaf).pending);
      break;
    case Place::kIncomplete:
      swap_out(StateOf(item.leaf).incomplete);
      break;
  }
  item.place = Place::kNowhere;
}

// The end of a pod in the queue.
void SchedulingQueue::Forget(ItemId id) {
  const Item& item = items_[id];
  CountRejectors(item, -1);
  if (item.leaf.IsValid()) forest_.Release(item.leaf);
  items_.Free(id);
}

void SchedulingQueue::Resift(ItemId id) {
  Item& item = items_[id];
  if (item.is_group()) item.priority = forest_.priority(item.group->root);
  if (item.place == Place::kActive) {
    active_.Change(item.handle, [&](ActiveEntry& entry) { entry.key.priority = item.priority; });
  } else if (item.place == Place::kBackoff) {
    backoff_.SetPriority(item.likeness, item.handle, item.priority);
  }
}

// What happened to another pod says nothing of this one any more.
void SchedulingQueue::ForgetLikeness(ItemId id) {
  Item& item = items_[id];
  const bool backs_off = item.place == Place::kBackoff;
  if (backs_off) Detach(id);
  item.likeness = 0;
  if (backs_off) PushTo(id, Place::kBackoff);
}

bool SchedulingQueue::PassesPreEnqueue(ItemId id) {
  Item& item = items_[id];
  if (!item.is_group()) return pre_enqueue_.Run(item);
  // Every member is asked: each reports for itself why it is kept out.
  item.params.gating = kNoPlugin;
  for (const ItemId member : item.group->pods) {
    if (!pre_enqueue_.Run(items_[member])) item.params.gating = items_[member].params.gating;
  }
  return !item.params.gated();
}

void SchedulingQueue::SetFlushed(ItemId id, bool flushed) {
  Item& item = items_[id];
  item.params.was_flushed = flushed;
  if (!item.is_group()) return;
  for (const ItemId member : item.group->pods) items_[member].params.was_flushed = flushed;
}

void SchedulingQueue::CountArrival(const Item& item, Arrival where, const Move& move) {
  const bool expected =
      move.strategy && static_cast<std::uint8_t>(*move.strategy) == static_cast<std::uint8_t>(where);
  metrics_.CountArrival(move.label, {.where = where,
                                     .entity = {.pods = item.size(), .is_group = item.is_group()},
                                     .counts_as_entity = !expected});
}

void SchedulingQueue::CountPending(const Item& item, int sign) {
  PendingQueue queue = PendingQueue::kActive;
  switch (item.place) {
    case Place::kActive:
      break;
    case Place::kBackoff:
    case Place::kErrorBackoff:
      queue = PendingQueue::kBackoff;
      break;
    case Place::kUnschedulable:
      queue = item.counted_as_gated ? PendingQueue::kGated : PendingQueue::kUnschedulable;
      break;
    case Place::kPending:
      queue = PendingQueue::kPending;
      break;
    case Place::kIncomplete:
      queue = PendingQueue::kIncomplete;
      break;
    case Place::kNowhere:
    case Place::kMember:
      return;
  }
  metrics_.AddPending(queue, {.pods = item.size(), .is_group = item.is_group()}, sign);
}

void SchedulingQueue::CountRejectors(const Item& pod, int sign) {
  pod.params.rejectors().ForEach([&](PluginId plugin) {
    metrics_.AddUnschedulable(events_->plugins().Get(plugin), pod.record->spec->spec.scheduler_name, sign);
  });
}

WaitingIndex::ClassKey SchedulingQueue::ClassOf(ItemId id) const {
  const Item& item = items_[id];
  WaitingIndex::ClassKey key{.gating = item.params.gating};
  const auto add = [&](const Item& pod) {
    key.unschedulable = key.unschedulable | pod.params.unschedulable;
    key.pending = key.pending | pod.params.pending;
    key.always |= pod.profile == kNoProfile || pod.params.rejectors().empty();
  };
  if (item.is_group()) {
    key.group = id;
    for (const ItemId member : item.group->pods) add(items_[member]);
  } else {
    key.pod_template = cluster_.pods().facts(item.pod.id).template_id;
    key.profile = item.profile;
    add(item);
  }
  return key;
}

}  // namespace berth::queue
