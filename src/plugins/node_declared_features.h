#pragma once

#include <bitset>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "framework/plugin.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// Feature1 to Feature<count>, ascending as text (framework::PluginSetup).
std::vector<std::string> MadeUpFeatureNames(std::size_t count);

// Keeps a pod that needs a feature of the kubelet off nodes that do not declare it.
class NodeDeclaredFeatures final : public framework::Plugin,
                                   public framework::PreFilterPoint,
                                   public framework::FilterPoint,
                                   public framework::EnqueuePoint,
                                   public framework::SignPoint {
 public:
  explicit NodeDeclaredFeatures(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "NodeDeclaredFeatures"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  // By their place in features_.
  using FeatureBits = std::bitset<framework::kMadeUpNodeFeaturesMax>;

  FeatureBits RequiredBy(const api::PodSpec& spec) const;
  FeatureBits DeclaredBy(std::span<const std::string> names) const;
  base::Result<framework::Hint> AfterPodUpdate(const framework::HintInput& input) const;

  struct FeaturePlan;

  const bool enabled_;
  const bool are_made_up_;
  // Every feature that nodes may declare, ascending: declarations are merged with it.
  const std::vector<std::string> features_;
};

}  // namespace berth::plugins
