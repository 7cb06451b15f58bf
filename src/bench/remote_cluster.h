#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/priority_classes.h"
#include "bench/remote_api.h"
#include "bench/scheduler_launch.h"
#include "bench/test_cluster.h"

namespace berth::bench {

struct RemoteClusterOptions {
  // An API server that is there already; empty: one is started, and ends with the cluster.
  std::string kubeconfig = {};
  std::string scheduler_kubeconfig = {};  // empty: the same
  ControlPlaneChoice control_plane = {};
  SchedulerChoice scheduler = {};
  std::filesystem::path scheduler_config = {};  // of the test case
  double requests_per_second = 5000;            // of the scheduler
  Gates gates = {};
  std::filesystem::path logs = {};  // a folder to keep them; empty: they go with the cluster
  std::function<bool()> is_interrupted = [] { return false; };
};

// A scheduler as a process of its own on an API server that is another one. Time is the wall's; what the
// scheduler costs is what the operating system says.
class RemoteCluster final : public TestCluster {
 public:
  // The API server answers when this returns. One that was there already must be without nodes and pods.
  static base::Result<std::unique_ptr<RemoteCluster>> Make(RemoteClusterOptions options);
  // Ends the processes that it started.
  ~RemoteCluster() override;

  const base::Clock& clock() const override { return clock_; }
  void StartScheduler() override;
  void RunUntil(base::TimePoint end) override { api_->RunUntil(end); }
  sandbox::ApiResult<std::string> Create(const sandbox::Target& target,
                                         boost::json::object document) override;
  sandbox::ApiResult<void> Update(const sandbox::Target& target, boost::json::object document) override;
  sandbox::ApiResult<void> MergePatch(const sandbox::Target& target,
                                      const boost::json::object& patch) override;
  sandbox::ApiResult<void> Delete(const sandbox::Target& target,
                                  std::optional<std::int64_t> grace_seconds) override;
  std::optional<boost::json::object> Get(const sandbox::Target& target) override;
  std::vector<std::string> NodeNames() override { return Names("Node"); }
  void WriteSoon(std::vector<Write> writes, WriteCallback done) override;
  void Settle() override { api_->Settle(); }
  bool IsAttempted(const std::string& namespace_name, const std::string& name) override;
  void SetPodObserver(PodObserver* observer) override { observer_ = observer; }
  Usage usage() const override;
  std::int64_t PeakMemory() const override;
  void ResetPeakMemory() override;
  std::string MetricsText() override;
  bool AwaitRest() override;
  std::string Problem() override;

  // Of everything that it started.
  base::Duration ProcessorTimeOfAll() const;
  // Of the scheduler's process, once it was started.
  pid_t scheduler_id() const { return scheduler_.process->id(); }

 private:
  explicit RemoteCluster(RemoteClusterOptions options) : options_(std::move(options)) {}
  base::Result<void> Begin();
  // Names of all objects of a kind of the core group.
  std::vector<std::string> Names(std::string_view kind);
  void OnPods(const client::EventBatch& batch);
  void AwaitReady();
  void FindMeasured();
  // Fills in what every body has, and creates the class of a pod's priority.
  void Complete(const sandbox::Target& target, boost::json::object& document);

  const RemoteClusterOptions options_;
  const base::RealClock clock_;
  std::optional<TemporaryFolder> temporary_;
  std::filesystem::path folder_;
  RunningControlPlane plane_;
  std::string scheduler_kubeconfig_;
  std::unique_ptr<RemoteApi> api_;
  RunningScheduler scheduler_;
  // Its process, and those that it has started when a measurement begins or ends: it may be a script.
  std::vector<pid_t> measured_;
  std::string problem_;
  PriorityClasses priorities_;
  PodObserver* observer_ = nullptr;
};

}  // namespace berth::bench
