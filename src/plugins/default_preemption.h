#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "framework/ongoing_preemptions.h"
#include "framework/plugin.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"
#include "plugins/default_preemption_budgets.h"

namespace berth::plugins {

// Makes room for a pod that fits nowhere: finds the node on which the least important pods would have to go.
// Whoever runs the cycle evicts them, and until that is done the pod is held back here.
//
// Which node: docs/preemption.md. The search begins at a drawn node and may end before it has seen all of
// them, as the arguments say; what it finds on a node does not depend on that.
class DefaultPreemption final : public framework::Plugin,
                                public framework::PreEnqueuePoint,
                                public framework::PostFilterPoint,
                                public framework::EnqueuePoint {
 public:
  enum Reason : framework::ReasonId { kNoVictims };

  static base::Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "DefaultPreemption"; }
  std::span<const framework::ReasonText> Reasons() const override;
  framework::Status PreEnqueue(const framework::WaitingPod& pod) const override;
  framework::PostFilterResult PostFilter(framework::Cycle& cycle,
                                         const framework::Diagnosis& diagnosis) const override;
  framework::PostFilterResult Choose(
      const cluster::Cluster& cluster,
      std::span<const framework::PreemptionCandidate> candidates) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;

  const DisruptionBudgets& budgets() const { return budgets_; }
  // How the profile of the cycle refuses a node on which no pod has a lower priority.
  framework::RejectionId NoVictims(const framework::Cycle& cycle) const;

 private:
  explicit DefaultPreemption(const framework::PluginSetup& setup);
  framework::PostFilterResult Preempt(framework::Cycle& cycle, const framework::Diagnosis& diagnosis) const;

  const framework::DefaultPreemptionArgs args_;
  const bool holds_back_;
  const framework::OngoingPreemptions& ongoing_;
  const DisruptionBudgets& budgets_;
};

}  // namespace berth::plugins
