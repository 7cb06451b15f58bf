#include "sandbox/controllers/work_queue.h"

namespace berth::sandbox {

WorkQueue::~WorkQueue() {
  for (const auto& [key, entry] : entries_) plane_.timers().Cancel(entry.timer);
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
