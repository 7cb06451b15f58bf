#include "sandbox/controllers/event_expiry.h"

#include "sandbox/controllers/owner_index.h"

namespace berth::sandbox {

EventExpiry::EventExpiry(ControlPlane& plane, base::Duration time_to_live)
    : plane_(plane),
      time_to_live_(time_to_live),
      events_(ResourceOf("v1", "Event")),
      queue_(plane, [this](const std::string& key) { Remove(key); }),
      subscription_(plane.store().Subscribe(Selection(events_), *this)) {
  plane_.writer().ForEach(events_, [&](const RevisionPtr& event) {
    written_.insert_or_assign(event->key(), plane_.clock().Now());
    queue_.AddAfter(event->key(), time_to_live_);
  });
}

EventExpiry::~EventExpiry() { plane_.store().Unsubscribe(subscription_); }

void EventExpiry::OnChange(const Change& change, ChangeFrames&) {
  const std::string& key = change.object->key();
  if (change.type == wire::WatchType::kDeleted) {
    written_.erase(key);
    return;
  }
  written_.insert_or_assign(key, plane_.clock().Now());
  queue_.AddAfter(key, time_to_live_);
}

void EventExpiry::Remove(const std::string& key) {
  const auto it = written_.find(key);
  if (it == written_.end()) return;
  // Written again since: its time starts anew.
  const base::TimePoint end = it->second + time_to_live_;
  if (end > plane_.clock().Now()) {
    queue_.AddAfter(key, end - plane_.clock().Now());
    return;
  }
  const RevisionPtr event = FindByKey(plane_.store(), events_, key);
  if (event != nullptr) static_cast<void>(plane_.writer().Delete(TargetOf(*event), {}));
}

}  // namespace berth::sandbox
