#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

// Makes the ResourceClaims that pods ask for by template, notes their names in the pods' status, and takes
// pods that are done out of the claims that were reserved for them. A claim that nobody holds any more loses
// its allocation; one that was made for a pod goes when the pod is done.
class ResourceClaimController final : public ChangeReceiver, public PodListener {
 public:
  explicit ResourceClaimController(const ControllerContext& context);
  ~ResourceClaimController() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;
  void OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) override;

 private:
  void LookAtPod(const std::string& key);
  void LookAtClaim(const std::string& key);
  // The name of the claim for one entry of spec.resourceClaims; empty if it cannot be made.
  std::string EnsureClaim(const Revision& pod, const boost::json::object& entry);
  void CheckClaimsOf(const Revision& pod);

  const ControllerContext context_;
  const Resource& claims_;
  const Resource& templates_;
  WorkQueue pod_queue_;
  WorkQueue claim_queue_;
  SubscriptionId claims_subscription_;
  SubscriptionId templates_subscription_;
  // Pods whose template is not there yet, by its key.
  std::map<std::string, std::vector<std::string>, std::less<>> waiting_;
};

}  // namespace berth::sandbox
