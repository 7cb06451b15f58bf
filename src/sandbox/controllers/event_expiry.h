#pragma once

#include <string>

#include "sandbox/controllers/work_queue.h"

namespace berth::sandbox {

// Removes events an hour after they were last written, as kube-apiserver's storage does.
class EventExpiry final : public ChangeReceiver {
 public:
  EventExpiry(ControlPlane& plane, base::Duration time_to_live);
  explicit EventExpiry(ControlPlane& plane) : EventExpiry(plane, std::chrono::hours(1)) {}
  ~EventExpiry() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  void Remove(const std::string& key);

  ControlPlane& plane_;
  const base::Duration time_to_live_;
  const Resource& events_;
  std::map<std::string, base::TimePoint, std::less<>> written_;  // by key
  WorkQueue queue_;
  SubscriptionId subscription_;
};

}  // namespace berth::sandbox
