#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

// Keeps as many pods of a template as a ReplicaSet or a ReplicationController asks for.
//
// Pods that match the selector and belong to nobody are taken over, pods that no longer match are let go.
// When there are too many, those go first that serve least: not on a node, not running, not ready, cheap to
// delete, on a node with many siblings, young.
class ReplicaSetController final : public ChangeReceiver, public PodListener {
 public:
  ReplicaSetController(const ControllerContext& context, const Resource& sets);
  ~ReplicaSetController() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;
  void OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) override;

 private:
  // Who is where, of one set.
  struct Census {
    std::vector<WatchedPodPtr> active;
    std::int64_t terminating = 0;
  };

  void Reconcile(const std::string& key);
  Census Count(const Revision& set, const api::Selector& selector);
  // Whether it made or deleted any.
  bool Scale(const Revision& set, const boost::json::object& document, const Census& census);
  // How many could not be created, and the first reason.
  std::string CreatePods(const Revision& set, const boost::json::object& document, std::int64_t count);
  void DeletePods(const Revision& set, std::vector<WatchedPodPtr> pods, std::size_t count);
  void Report(const Revision& set, const Census& census, const std::string& failure);
  void Learn(const RevisionPtr& set, bool is_new);

  const ControllerContext context_;
  const Resource& sets_;
  const std::string component_;
  SelectorRoster roster_;
  std::map<std::string, std::string, std::less<>> keys_;  // of sets, by uid
  // The last pod was refused; the next attempt has to wait, whatever changes meanwhile.
  struct Refusal {
    std::string message;
    base::TimePoint next_attempt;
  };
  std::map<std::string, Refusal, std::less<>> refusals_;  // by key
  std::vector<std::string> to_adopt_;                     // sets that have not looked for orphans yet
  WorkQueue queue_;
  SubscriptionId subscription_;
};

}  // namespace berth::sandbox
