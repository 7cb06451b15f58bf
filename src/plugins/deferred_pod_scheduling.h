#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/binding_points.h"
#include "framework/plugin.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// Lets a running pod whose resize the kubelet put off go through a scheduling attempt, so that preemption can
// make room for it on its own node, and keeps it from being bound a second time. Without the gate
// InPlacePodVerticalScalingSchedulerPreemption there are no such attempts, and it does nothing.
class DeferredPodScheduling final : public framework::Plugin,
                                    public framework::PreFilterPoint,
                                    public framework::FilterPoint,
                                    public framework::PermitPoint,
                                    public framework::EnqueuePoint {
 public:
  explicit DeferredPodScheduling(const framework::PluginSetup& setup)
      : enabled_(setup.features.in_place_pod_vertical_scaling_scheduler_preemption) {}

  std::string_view Name() const override { return "DeferredPodScheduling"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  void AppendScope(framework::Cycle& cycle, framework::Scope& scope) const override;
  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  framework::PermitResult Permit(const cluster::Cluster& cluster,
                                 framework::Assignment& assignment) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;

 private:
  base::Result<framework::Hint> AfterNodeChange(const framework::HintInput& input) const;

  const bool enabled_;
};

}  // namespace berth::plugins
