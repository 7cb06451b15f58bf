#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <string>
#include <vector>

#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

struct StatefulSetView;  // a StatefulSet and its pods, as one reconciliation sees them

// Keeps numbered pods: NAME-0, NAME-1, ..., each with claims of its own that outlive it.
//
// Unless the policy is Parallel, pods come in the order of their numbers, each when those before it serve,
// and go in the opposite order, one at a time. A new template replaces pods from the highest number down to
// the partition, each when those above it serve.
class StatefulSetController final : public ChangeReceiver, public PodListener {
 public:
  explicit StatefulSetController(const ControllerContext& context);
  ~StatefulSetController() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;
  void OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) override;

 private:
  void Reconcile(const std::string& key);
  // Each returns whether the next may follow in this reconciliation.
  bool Fill(const StatefulSetView& view);
  bool Shrink(const StatefulSetView& view);
  void Renew(const StatefulSetView& view);
  bool CreatePod(const StatefulSetView& view, std::int64_t ordinal);
  bool CreateClaims(const StatefulSetView& view, const std::string& pod_name);
  void DeletePod(const StatefulSetView& view, const WatchedPod& pod);
  void Report(StatefulSetView& view);

  const ControllerContext context_;
  const Resource& sets_;
  std::map<std::string, std::string, std::less<>> keys_;  // by uid
  std::vector<std::string> to_adopt_;
  WorkQueue queue_;
  SubscriptionId subscription_;
};

}  // namespace berth::sandbox
