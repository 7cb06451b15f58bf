#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/ids.h"
#include "base/indexed_heap.h"
#include "queue/queue_heaps.h"

namespace berth::queue {

// Who backs off, in the order in which they may be tried again.
//
// Pods of one likeness (Rejection::likeness) stand in a lane. When one of them was tried and fits nowhere,
// none of the others does before something happens: their lane rests. It is passed over by whoever wants
// somebody to try early, and by nobody else: when backoff ends does not change.
//
// 1. A lane that has nobody does not exist, and a lane is in exactly one of awake_ and resting_, by its
// first.
// 2. Without a likeness there is one lane for all, which never rests.
//
// Rest and WakeAll cost O(lanes that rest * log lanes), everything else O(log pods).
class BackoffLanes {
 public:
  explicit BackoffLanes(const BackoffOrder& order)
      : order_(order), awake_(LaneOrder{order}), resting_(LaneOrder{order}) {}

  bool empty() const { return lanes_.empty(); }
  bool HasAwake() const { return !awake_.empty(); }
  // Of all of them, and of those that do not rest.
  const BackoffEntry& First() const;
  const BackoffEntry& FirstAwake() const { return awake_.Top().first; }

  // The handle is good together with the likeness.
  base::HeapHandle Push(std::uint64_t likeness, const BackoffEntry& entry);
  void Remove(std::uint64_t likeness, base::HeapHandle handle);
  void SetPriority(std::uint64_t likeness, base::HeapHandle handle, std::int32_t priority);

  // No effect on a likeness that nobody has, nor on 0.
  void Rest(std::uint64_t likeness);
  void WakeAll();

  // In the order in which they would leave if none rested. O(pods).
  std::vector<BackoffEntry> Sorted() const;

 private:
  struct LaneFront {
    BackoffEntry first;
    std::uint64_t likeness;
  };
  struct LaneOrder {
    BackoffOrder order;
    bool operator()(const LaneFront& a, const LaneFront& b) const { return order(a.first, b.first); }
  };
  using Fronts = base::IndexedHeap<LaneFront, LaneOrder>;
  struct Lane {
    BackoffHeap entries;
    base::HeapHandle front;  // in awake_ or resting_
    bool rests = false;
  };

  Fronts& FrontsOf(const Lane& lane) { return lane.rests ? resting_ : awake_; }
  // The first of the lane may be another one now.
  void UpdateFront(Lane& lane);

  const BackoffOrder order_;
  absl::flat_hash_map<std::uint64_t, Lane> lanes_;  // by likeness
  Fronts awake_;
  Fronts resting_;
};

}  // namespace berth::queue
