#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/plugin.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// Keeps a pod off nodes whose NoSchedule or NoExecute taints it does not tolerate, and prefers nodes with few
// PreferNoSchedule taints that it does not tolerate.
//
// Nodes with equal taints share one TaintSetId: tolerations are matched once per template and distinct set,
// and a node costs a look-up.
class TaintToleration final : public framework::Plugin,
                              public framework::PreFilterPoint,
                              public framework::FilterPoint,
                              public framework::ScorePoint,
                              public framework::EnqueuePoint,
                              public framework::SignPoint {
 public:
  explicit TaintToleration(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "TaintToleration"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  framework::Status Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores) const override;
  framework::Normalizing normalizing() const override { return framework::Normalizing::kByExtent; }
  void Normalize(const framework::Extent& extent, std::span<std::int64_t> scores) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  bool KeepsOff(std::span<const api::Toleration> tolerations, std::span<const api::Taint> taints) const;

  const bool comparison_operators_;
};

}  // namespace berth::plugins
