#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/timers.h"
#include "bench/local_writes.h"
#include "bench/priority_classes.h"
#include "bench/process_stats.h"
#include "bench/test_cluster.h"
#include "core/scheduler.h"
#include "sandbox/control_plane.h"
#include "sandbox/controllers/controllers.h"
#include "sim/call_link.h"
#include "sim/watch_link.h"

namespace berth::bench {

struct CoreClusterOptions {
  core::SchedulerOptions scheduler = {};
  std::uint64_t seed = 1;
  // How much processor time this thread has used so far. A test may count in steps instead, so that every
  // run is the same.
  std::function<base::Duration()> processor_time = {};
  // What one reading of it adds to a step; taken off again.
  base::Duration reading_cost{};
};

// The core and a control plane in one thread, without a network between them.
//
// Time is the scheduler's: the clock goes forward by the processor time of its steps, and jumps when there is
// nothing to do. What the server, the watches and the workload itself cost takes no time at all, so that the
// numbers are the cost of deciding.
class CoreCluster final : public TestCluster, private sandbox::ChangeReceiver {
 public:
  static base::Result<std::unique_ptr<CoreCluster>> Make(const CoreClusterOptions& options);
  ~CoreCluster() override;

  const base::Clock& clock() const override { return clock_; }
  void StartScheduler() override;
  void RunUntil(base::TimePoint end) override;
  sandbox::ApiResult<std::string> Create(const sandbox::Target& target,
                                         boost::json::object document) override;
  sandbox::ApiResult<void> Update(const sandbox::Target& target, boost::json::object document) override;
  sandbox::ApiResult<void> MergePatch(const sandbox::Target& target,
                                      const boost::json::object& patch) override;
  sandbox::ApiResult<void> Delete(const sandbox::Target& target,
                                  std::optional<std::int64_t> grace_seconds) override;
  std::optional<boost::json::object> Get(const sandbox::Target& target) override;
  std::vector<std::string> NodeNames() override;
  void WriteSoon(std::vector<Write> writes, WriteCallback done) override;
  bool IsAttempted(const std::string& namespace_name, const std::string& name) override;
  std::string MetricsText() override { return metrics_.Text(); }
  void SetPodObserver(PodObserver* observer) override { observer_ = observer; }
  Usage usage() const override { return usage_; }
  // Of this process: the server's objects are in it, too.
  std::int64_t PeakMemory() const override;
  void ResetPeakMemory() override;

 private:
  explicit CoreCluster(const CoreClusterOptions& options);
  void OnChange(const sandbox::Change& change, sandbox::ChangeFrames& frames) override;
  base::TimePoint NextTime() const;
  void Step();
  // Fills in what every body has, and creates the class of a pod's priority.
  void Complete(const sandbox::Target& target, boost::json::object& document);

  const CoreClusterOptions options_;
  base::VirtualClock clock_;
  base::TimerQueue timers_;
  sandbox::ControlPlane plane_;
  sandbox::Controllers controllers_;
  api::SharedParts shared_;
  base::MetricRegistry metrics_;
  std::vector<std::unique_ptr<sim::WatchLink>> watches_;
  sim::CallLink calls_;
  LocalWrites writes_;
  std::unique_ptr<core::Scheduler> scheduler_;
  bool has_started_ = false;
  std::vector<core::Input> inputs_;
  PriorityClasses priorities_;
  sandbox::SubscriptionId subscription_;
  PodObserver* observer_ = nullptr;
  Usage usage_;
};

}  // namespace berth::bench
