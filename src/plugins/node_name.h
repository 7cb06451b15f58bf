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

// A pod that names its node fits on no other.
class NodeName final : public framework::Plugin,
                       public framework::PreFilterPoint,
                       public framework::FilterPoint,
                       public framework::EnqueuePoint,
                       public framework::SignPoint {
 public:
  explicit NodeName(const framework::PluginSetup&) {}

  std::string_view Name() const override { return "NodeName"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  void AppendScope(framework::Cycle& cycle, framework::Scope& scope) const override;
  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;
};

}  // namespace berth::plugins
