#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/plugin.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// Keeps a pod off cordoned nodes (spec.unschedulable), unless it tolerates the taint that stands for it.
class NodeUnschedulable final : public framework::Plugin,
                                public framework::PreFilterPoint,
                                public framework::FilterPoint,
                                public framework::EnqueuePoint,
                                public framework::SignPoint {
 public:
  explicit NodeUnschedulable(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "NodeUnschedulable"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  bool ToleratesCordon(const api::PodSpec& spec) const;

  const bool comparison_operators_;
};

}  // namespace berth::plugins
