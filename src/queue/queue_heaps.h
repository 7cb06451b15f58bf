#pragma once

#include <cstdint>
#include <tuple>

#include "base/clock.h"
#include "base/indexed_heap.h"
#include "framework/queue_points.h"
#include "queue/item_store.h"

// The orders in which waiting entities leave their places. What an order looks at is copied into the heap, so
// that a comparison touches nothing else; the sequence of arrival makes each of them total.
namespace berth::queue {

struct ActiveEntry {
  framework::QueueOrderKey key;
  std::uint64_t sequence;
  ItemId item;
};
struct ActiveOrder {
  const framework::QueueSortPoint* sort;
  bool operator()(const ActiveEntry& a, const ActiveEntry& b) const {
    if (sort->Less(a.key, b.key)) return true;
    if (sort->Less(b.key, a.key)) return false;
    return a.sequence < b.sequence;
  }
};
using ActiveHeap = base::IndexedHeap<ActiveEntry, ActiveOrder>;

struct BackoffEntry {
  base::TimePoint window;
  base::TimePoint expiry;
  ActiveEntry active;
};
// KEP-5142: the second in which backoff ends, then priority, then the exact end. kube-scheduler forgets the
// exact end and goes by the queue's own order instead.
struct BackoffOrder {
  ActiveOrder active;
  bool by_exact_expiry = true;  // false: kube-scheduler's way
  bool operator()(const BackoffEntry& a, const BackoffEntry& b) const {
    if (a.window != b.window) return a.window < b.window;
    if (by_exact_expiry) {
      const std::int32_t of_a = a.active.key.priority;
      const std::int32_t of_b = b.active.key.priority;
      if (of_a != of_b) return of_a > of_b;
      if (a.expiry != b.expiry) return a.expiry < b.expiry;
    }
    return active(a.active, b.active);
  }
};
using BackoffHeap = base::IndexedHeap<BackoffEntry, BackoffOrder>;

// By time alone: backoff after errors, and how long somebody is unschedulable.
struct TimedEntry {
  base::TimePoint time;
  std::uint64_t sequence;
  ItemId item;
};
struct EarlierFirst {
  bool operator()(const TimedEntry& a, const TimedEntry& b) const {
    return std::tie(a.time, a.sequence) < std::tie(b.time, b.sequence);
  }
};
using TimedHeap = base::IndexedHeap<TimedEntry, EarlierFirst>;

}  // namespace berth::queue
