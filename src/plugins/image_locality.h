#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "framework/plugin.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// Prefers nodes that have the pod's images already, the larger the better. An image that few nodes have
// counts for less, so that pods do not crowd on the first node that pulled it.
//
// What an image counts for depends on how many nodes have it: that is the plugin's state. While it stands, a
// node costs one search per image of the pod.
class ImageLocality final : public framework::Plugin,
                            public framework::StatefulPoint,
                            public framework::ScorePoint,
                            public framework::SignPoint {
 public:
  explicit ImageLocality(const framework::PluginSetup&) {}

  std::string_view Name() const override { return "ImageLocality"; }
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  std::unique_ptr<framework::State> MakeState(framework::Cycle& cycle) const override;
  void Refresh(framework::Cycle& cycle, framework::State& state,
               framework::StateChanges& changes) const override;
  framework::Status Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores) const override;
  bool ScoresAlike(const framework::Cycle& cycle) const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;
};

// As container runtimes report it: with a tag.
std::string NormalizedImageName(std::string_view name);

}  // namespace berth::plugins
