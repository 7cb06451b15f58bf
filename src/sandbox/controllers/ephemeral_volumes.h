#pragma once

#include <string>

#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

// Makes the claims that pods carry as generic ephemeral volumes; they go with the pod.
class EphemeralVolumes final : public PodListener {
 public:
  explicit EphemeralVolumes(const ControllerContext& context);

  void OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) override;

 private:
  void LookAtPod(const std::string& key);

  const ControllerContext context_;
  const Resource& claims_;
  WorkQueue queue_;
};

}  // namespace berth::sandbox
