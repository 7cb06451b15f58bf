#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "framework/features.h"
#include "framework/plugin.h"
#include "framework/plugin_args.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// Prefers nodes whose resources the pod brings into balance: where the shares in use of cpu, memory, ... are
// closer to each other with the pod than without it. A pod that asks for none of these has no part in it.
class NodeResourcesBalancedAllocation final : public framework::Plugin,
                                              public framework::ScorePoint,
                                              public framework::SignPoint {
 public:
  // Fails if an argument is wrong.
  static base::Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "NodeResourcesBalancedAllocation"; }
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  framework::Status PreScore(framework::Cycle& cycle, const framework::FeasibleSet& feasible,
                             framework::ChangedRows& changed) const override;
  framework::Status Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores) const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  explicit NodeResourcesBalancedAllocation(const framework::PluginSetup& setup);

  // By position in the arguments.
  std::vector<std::int64_t> WantedBy(const framework::Cycle& cycle) const;

  const framework::NodeResourcesBalancedAllocationArgs args_;
  const framework::Features features_;
};

}  // namespace berth::plugins
