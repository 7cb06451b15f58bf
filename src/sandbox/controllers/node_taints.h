#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "api/taints.h"
#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

// Taints nodes by their conditions and by `kubectl cordon`, and deletes pods from nodes whose NoExecute
// taints they do not tolerate, or no longer.
class NodeTaints final : public ChangeReceiver, public PodListener {
 public:
  explicit NodeTaints(const ControllerContext& context);
  ~NodeTaints() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;
  void OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) override;

 private:
  void LookAtNode(const std::string& name);
  void LookAtPod(const std::string& key);

  const ControllerContext context_;
  const Resource& nodes_;
  WorkQueue node_queue_;
  WorkQueue pod_queue_;
  SubscriptionId subscription_;
};

// The taints that the node's conditions and spec.unschedulable call for; others are left as they are. Returns
// whether anything changed.
bool SetConditionTaints(boost::json::object& node, const std::string& now);

}  // namespace berth::sandbox
