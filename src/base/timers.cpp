#include "base/timers.h"

#include <utility>

namespace berth::base {

TimerQueue::TimerId TimerQueue::Schedule(TimePoint deadline, std::move_only_function<void()> callback) {
  const std::uint64_t sequence = ++last_sequence_;
  return {heap_.Push({deadline, sequence, std::move(callback)}), sequence};
}

bool TimerQueue::Cancel(TimerId timer) {
  // Handles are reused, sequence numbers are not.
  if (!heap_.Contains(timer.handle) || heap_.Get(timer.handle).sequence != timer.sequence) return false;
  heap_.Remove(timer.handle);
  return true;
}

std::optional<TimePoint> TimerQueue::NextDeadline() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.Top().deadline;
}

std::size_t TimerQueue::RunDue(TimePoint now) {
  std::size_t count = 0;
  while (!heap_.empty() && heap_.Top().deadline <= now) {
    // Out of the heap first: the callback may schedule and cancel.
    Timer due = heap_.Pop();
    due.callback();
    ++count;
  }
  return count;
}

}  // namespace berth::base
