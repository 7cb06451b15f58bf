#pragma once

#include <map>
#include <string>

#include "sandbox/control_plane.h"

namespace berth::sandbox {

// Empties namespaces that are being deleted, and removes them once nothing is left in them.
//
// What has to end first (pods on nodes, objects with finalizers) is waited for; the namespace stays
// Terminating until then.
class NamespaceSweeper final : public ChangeReceiver {
 public:
  explicit NamespaceSweeper(ControlPlane& plane);
  ~NamespaceSweeper() override;
  NamespaceSweeper(const NamespaceSweeper&) = delete;
  NamespaceSweeper& operator=(const NamespaceSweeper&) = delete;

  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  void SweepAfter(const std::string& name, base::Duration delay);
  void Sweep(const std::string& name);

  ControlPlane& plane_;
  const Resource& namespaces_;
  SubscriptionId subscription_;
  std::map<std::string, base::TimerQueue::TimerId> due_;
};

}  // namespace berth::sandbox
