#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

struct JobView;  // a Job and its pods, as one reconciliation sees them

// Runs pods until enough of them succeeded, or too many failed, or the time is over.
//
// Pods carry a finalizer until they are counted, so that none is missed however it ends. Not here: policies
// for pod failures and success, and limits per index.
class JobController final : public ChangeReceiver, public PodListener {
 public:
  explicit JobController(const ControllerContext& context);
  ~JobController() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;
  void OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) override;

 private:
  // Pods fail in a row: the next one has to wait.
  struct Backoff {
    std::int64_t failures = 0;
    std::int64_t last_failure = 0;
  };

  void Reconcile(const std::string& key);
  void CountFinished(JobView& view);
  // The pod is counted, or nobody is left to count it.
  void ForgetPod(const Revision& pod);
  void Decide(JobView& view);
  void Manage(JobView& view);
  void CreatePods(JobView& view, std::int64_t count);
  void DeletePods(const std::vector<WatchedPodPtr>& pods);
  void Report(JobView& view);
  void RemoveWhenOld(const Revision& job, const boost::json::object& document);

  const ControllerContext context_;
  const Resource& jobs_;
  std::map<std::string, std::string, std::less<>> keys_;  // by uid
  std::map<std::string, Backoff, std::less<>> backoffs_;  // by uid
  WorkQueue queue_;
  SubscriptionId subscription_;
};

// "0-3,5": indexes as a Job's status lists them, and back. What cannot be read is left out.
std::string FormatIndexes(const std::set<std::int64_t>& indexes);
std::set<std::int64_t> ParseIndexes(std::string_view text);

}  // namespace berth::sandbox
