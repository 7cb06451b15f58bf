#pragma once

#include <boost/json/fwd.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/controllers/rollout_plan.h"
#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

struct RolloutState;  // a Deployment and its ReplicaSets, as one reconciliation sees them

// Brings a Deployment's pods to its template: one ReplicaSet for each template there was, of which the newest
// grows while the others shrink within the limits of the strategy.
//
// Pods are the ReplicaSets' business; this looks at their status only. Each reconciliation makes one step;
// the ReplicaSets' changes call for the next.
class DeploymentController final : public ChangeReceiver {
 public:
  explicit DeploymentController(const ControllerContext& context);
  ~DeploymentController() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  void Reconcile(const std::string& key);
  void Step(RolloutState& state);
  void AdoptOrphans(const Revision& deployment, const api::Selector& selector);
  RolloutState Look(const RevisionPtr& deployment);
  bool EnsureNewSet(RolloutState& state);
  bool CreateNewSet(RolloutState& state);
  // Moves sets to the sizes that a plan gives them.
  bool ApplySizes(RolloutState& state);
  void Recreate(RolloutState& state);
  void Roll(RolloutState& state);
  void Resize(RolloutState& state);
  void Prune(const RolloutState& state);
  void Report(RolloutState& state);

  const ControllerContext context_;
  const Resource& deployments_;
  const Resource& sets_;
  SelectorRoster roster_;
  std::map<std::string, std::string, std::less<>> keys_;  // of deployments, by uid
  WorkQueue queue_;
  SubscriptionId subscription_;
  SubscriptionId sets_subscription_;
};

}  // namespace berth::sandbox
