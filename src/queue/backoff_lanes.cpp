#include "queue/backoff_lanes.h"

#include <algorithm>

namespace berth::queue {

const BackoffEntry& BackoffLanes::First() const {
  if (resting_.empty()) return awake_.Top().first;
  if (awake_.empty()) return resting_.Top().first;
  return std::min(awake_.Top().first, resting_.Top().first, order_);
}

void BackoffLanes::UpdateFront(Lane& lane) {
  FrontsOf(lane).Change(lane.front, [&](LaneFront& front) { front.first = lane.entries.Top(); });
}

base::HeapHandle BackoffLanes::Push(std::uint64_t likeness, const BackoffEntry& entry) {
  const auto [found, is_new] = lanes_.try_emplace(likeness, Lane{BackoffHeap(order_), {}, false});
  Lane& lane = found->second;
  const base::HeapHandle handle = lane.entries.Push(entry);
  if (is_new) {
    lane.front = awake_.Push({entry, likeness});
  } else if (lane.entries.TopHandle() == handle) {
    UpdateFront(lane);
  }
  return handle;
}

void BackoffLanes::Remove(std::uint64_t likeness, base::HeapHandle handle) {
  const auto found = lanes_.find(likeness);
  Lane& lane = found->second;
  const bool was_first = lane.entries.TopHandle() == handle;
  lane.entries.Remove(handle);
  if (lane.entries.empty()) {
    FrontsOf(lane).Remove(lane.front);
    lanes_.erase(found);
  } else if (was_first) {
    UpdateFront(lane);
  }
}

void BackoffLanes::SetPriority(std::uint64_t likeness, base::HeapHandle handle, std::int32_t priority) {
  Lane& lane = lanes_.find(likeness)->second;
  lane.entries.Change(handle, [&](BackoffEntry& entry) { entry.active.key.priority = priority; });
  UpdateFront(lane);
}

void BackoffLanes::Rest(std::uint64_t likeness) {
  if (likeness == 0) return;
  const auto found = lanes_.find(likeness);
  if (found == lanes_.end() || found->second.rests) return;
  Lane& lane = found->second;
  lane.front = resting_.Push(awake_.Remove(lane.front));
  lane.rests = true;
}

void BackoffLanes::WakeAll() {
  while (!resting_.empty()) {
    const LaneFront front = resting_.Pop();
    Lane& lane = lanes_.find(front.likeness)->second;
    lane.front = awake_.Push(front);
    lane.rests = false;
  }
}

std::vector<BackoffEntry> BackoffLanes::Sorted() const {
  std::vector<BackoffEntry> entries;
  // house: hash-order: sorted below
  for (const auto& [likeness, lane] : lanes_) {
    lane.entries.ForEach([&](base::HeapHandle, const BackoffEntry& entry) { entries.push_back(entry); });
  }
  std::ranges::sort(entries, order_);
  return entries;
}

}  // namespace berth::queue
