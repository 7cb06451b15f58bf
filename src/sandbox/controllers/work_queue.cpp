#include "sandbox/controllers/work_queue.h"

#include <algorithm>

namespace berth::sandbox {

WorkQueue::~WorkQueue() {
  for (const auto& [key, entry] : entries_) plane_.timers().Cancel(entry.timer);
}

void WorkQueue::AddGathered(const std::string& key, std::size_t size) {
  constexpr std::size_t kFew = 64;
  constexpr base::Duration kPerObject = std::chrono::microseconds(20);
  constexpr base::Duration kLongest = std::chrono::milliseconds(100);
  AddAfter(key, size <= kFew ? base::Duration(0)
                             : std::min(kPerObject * static_cast<std::int64_t>(size), kLongest));
}

void WorkQueue::AddAfter(const std::string& key, base::Duration delay) {
  const base::TimePoint deadline = plane_.clock().Now() + delay;
  const auto [it, is_new] = entries_.try_emplace(key);
  if (!is_new) {
    if (it->second.deadline <= deadline) return;
    plane_.timers().Cancel(it->second.timer);
  }
  it->second.deadline = deadline;
  it->second.timer = plane_.timers().Schedule(deadline, [this, key] {
    entries_.erase(key);
    handler_(key);
  });
}

}  // namespace berth::sandbox
