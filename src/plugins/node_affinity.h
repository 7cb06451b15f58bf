#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/node_matching.h"
#include "base/error.h"
#include "framework/plugin.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// Keeps a pod on the nodes that its nodeSelector and its required node affinity name, and that the
// administrator's added affinity names; prefers those of the preferred terms.
//
// What labels decide is decided once per template and distinct label set.
class NodeAffinity final : public framework::Plugin,
                           public framework::PreFilterPoint,
                           public framework::FilterPoint,
                           public framework::ScorePoint,
                           public framework::EnqueuePoint,
                           public framework::SignPoint {
 public:
  // Fails if a term of the added affinity is wrong.
  static base::Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "NodeAffinity"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  // Fails the attempt if one of the pod's preferred terms is wrong.
  framework::Status PreScore(framework::Cycle& cycle, const framework::FeasibleSet& feasible,
                             framework::ChangedRows& changed) const override;
  framework::Status Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores) const override;
  framework::Normalizing normalizing() const override { return framework::Normalizing::kByExtent; }
  void Normalize(const framework::Extent& extent, std::span<std::int64_t> scores) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  NodeAffinity() = default;

  base::Result<framework::Hint> AfterNodeChange(const framework::HintInput& input) const;

  std::optional<api::NodeMatcher> added_required_;
  std::optional<api::PreferredNodeTerms> added_preferred_;
};

}  // namespace berth::plugins
