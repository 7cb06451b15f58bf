#pragma once

#include <absl/container/btree_map.h>
#include <boost/json/fwd.hpp>
#include <map>
#include <optional>
#include <string>

#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

// Keeps the status of PodDisruptionBudgets: how many of their pods may be evicted now.
//
// Each budget knows its pods, so that a change of a pod costs the budgets of its namespace and not its pods.
class DisruptionController final : public ChangeReceiver, public PodListener {
 public:
  explicit DisruptionController(const ControllerContext& context);
  ~DisruptionController() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;
  void OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) override;

 private:
  struct Budget {
    api::Selector selector;
    absl::btree_map<std::string, WatchedPodPtr> pods;  // by key
  };

  void Learn(const Revision& budget);
  void Reconcile(const std::string& key);
  // How many pods there should be, by those who manage them; nothing if one of them has no scale.
  std::optional<std::int64_t> Scale(const Budget& budget) const;
  boost::json::object StillDisrupted(const Revision& revision, const Budget& budget,
                                     const boost::json::object& document);
  void Report(const Revision& revision, const Budget& budget);

  const ControllerContext context_;
  const Resource& budgets_;
  std::map<std::string, std::map<std::string, Budget>, std::less<>> known_;  // by namespace and key
  WorkQueue queue_;
  SubscriptionId subscription_;
};

}  // namespace berth::sandbox
