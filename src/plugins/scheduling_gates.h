#pragma once

#include <string_view>
#include <vector>

#include "framework/plugin.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// Keeps a pod out of the queue until the last of its scheduling gates is gone.
class SchedulingGates final : public framework::Plugin,
                              public framework::PreEnqueuePoint,
                              public framework::EnqueuePoint {
 public:
  explicit SchedulingGates(const framework::PluginSetup& setup)
      : speaks_as_api_server_(setup.features.scheduler_pre_enqueue_pod_status) {}

  std::string_view Name() const override { return "SchedulingGates"; }
  framework::Status PreEnqueue(const framework::WaitingPod& pod) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;

 private:
  // The API server has said it when the pod was created, so the same words are no news and nothing is
  // written.
  const bool speaks_as_api_server_;
};

}  // namespace berth::plugins
