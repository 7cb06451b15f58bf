#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/indexed_heap.h"

namespace berth::base {

// Functions to be called at or after a deadline: the earliest deadline first, equal deadlines in the order in
// which they were scheduled. Knows no clock; the owner says what time it is.
class TimerQueue {
 public:
  // A timer that fired or was cancelled is never mistaken for a later one.
  struct TimerId {
    HeapHandle handle;
    std::uint64_t sequence = 0;
  };

  TimerId Schedule(TimePoint deadline, std::move_only_function<void()> callback);
  // False when it fired or was cancelled before. O(log n).
  bool Cancel(TimerId timer);

  std::optional<TimePoint> NextDeadline() const;
  std::size_t size() const { return heap_.size(); }

  // Calls what is due, also what the callbacks schedule for `now` or earlier; returns how many.
  std::size_t RunDue(TimePoint now);

 private:
  struct Timer {
    TimePoint deadline;
    std::uint64_t sequence;
    std::move_only_function<void()> callback;
  };
  struct Earlier {
    bool operator()(const Timer& a, const Timer& b) const {
      return a.deadline != b.deadline ? a.deadline < b.deadline : a.sequence < b.sequence;
    }
  };

  IndexedHeap<Timer, Earlier> heap_;
  std::uint64_t last_sequence_ = 0;
};

}  // namespace berth::base
