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

// Keeps a pod that needs a feature of the kubelet off nodes that do not declare it.
class NodeDeclaredFeatures final : public framework::Plugin,
                                   public framework::PreFilterPoint,
                                   public framework::FilterPoint,
                                   public framework::EnqueuePoint,
                                   public framework::SignPoint {
 public:
  explicit NodeDeclaredFeatures(const framework::PluginSetup& setup)
      : enabled_(setup.features.node_declared_features) {}

  std::string_view Name() const override { return "NodeDeclaredFeatures"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  const bool enabled_;
};

}  // namespace berth::plugins
