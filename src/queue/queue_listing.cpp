#include <algorithm>
#include <fmt/format.h>

#include "queue/scheduling_queue.h"

// The queue as those see it who look on: debugging, the console, tests. Costs O(pods).
namespace berth::queue {

Place SchedulingQueue::WhereIs(cluster::PodSlot pod) const {
  const ItemId id = items_.Find(cluster_.pods().record(pod));
  if (!id.IsValid() || items_[id].pod != cluster_.pods().Version(pod)) return Place::kNowhere;
  return items_[id].place;
}

const QueueingParams* SchedulingQueue::Find(cluster::PodSlot pod) const {
  const ItemId id = items_.Find(cluster_.pods().record(pod));
  return id.IsValid() && items_[id].pod == cluster_.pods().Version(pod) ? &items_[id].params : nullptr;
}

SchedulingQueue::Entry SchedulingQueue::EntryOf(ItemId id) const {
  const Item& item = items_[id];
  Entry entry{.pod = item.pod, .params = item.params, .place = item.place};
  if (item.place == Place::kBackoff || item.place == Place::kErrorBackoff) {
    entry.backoff_end = backoff_rule_.Window(*item.params.expiry);
  }
  if (item.is_group()) {
    entry.group = item.group->root;
    for (const ItemId member : item.group->pods) entry.members.push_back(items_[member].pod);
  }
  return entry;
}

namespace {

// The items of a heap, first out first.
template <class T, class Less, class Item>
std::vector<ItemId> InOrder(const base::IndexedHeap<T, Less>& heap, const Less& less, Item&& item) {
  std::vector<T> entries;
  heap.ForEach([&](base::HeapHandle, const T& entry) { entries.push_back(entry); });
  std::ranges::sort(entries, less);
  std::vector<ItemId> items;
  items.reserve(entries.size());
  for (const T& entry : entries) items.push_back(item(entry));
  return items;
}

}  // namespace

std::vector<SchedulingQueue::Entry> SchedulingQueue::List(Place place) const {
  std::vector<ItemId> items;
  switch (place) {
    case Place::kActive:
      items = InOrder(active_, active_order_, [](const ActiveEntry& e) { return e.item; });
      break;
    case Place::kBackoff:
      for (const BackoffEntry& entry : backoff_.Sorted()) items.push_back(entry.active.item);
      break;
    case Place::kErrorBackoff:
      items = InOrder(error_backoff_, EarlierFirst(), [](const TimedEntry& e) { return e.item; });
      break;
    case Place::kUnschedulable:
      items = InOrder(parked_, EarlierFirst(), [](const TimedEntry& e) { return e.item; });
      break;
    default:
      items_.ForEach([&](ItemId id, const Item& item) {
        if (item.place == place) items.push_back(id);
      });
  }
  std::vector<Entry> entries;
  entries.reserve(items.size());
  for (const ItemId id : items) entries.push_back(EntryOf(id));
  return entries;
}

std::string SchedulingQueue::Summary() const {
  std::size_t counts[8] = {};
  items_.ForEach([&](ItemId, const Item& item) {
    if (item.is_group()) return;
    const Place place = item.place == Place::kMember ? items_[item.parent].place : item.place;
    ++counts[static_cast<std::size_t>(place)];
  });
  const auto count = [&](Place place) { return counts[static_cast<std::size_t>(place)]; };
  std::string text =
      fmt::format("activeQ:{}; backoffQ:{}; unschedulableEntities:{}", count(Place::kActive),
                  count(Place::kBackoff) + count(Place::kErrorBackoff), count(Place::kUnschedulable));
  if (options_.generic_workload) {
    text += fmt::format("; pendingPodGroupMemberPods:{}; incompletePodGroupPods:{}", count(Place::kPending),
                        count(Place::kIncomplete));
  }
  return text;
}

}  // namespace berth::queue
