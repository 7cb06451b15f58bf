#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/api_client.h"
#include "client/connection.h"
#include "client/event_recorder.h"
#include "client/leader_elector.h"
#include "client/loop_executor.h"
#include "client/pod_writer.h"

#include "base/cancellation.h"
#include "base/metrics.h"
#include "base/random.h"
#include "config/configuration.h"
#include "core/scheduler.h"
#include "net/event_loop.h"
#include "shell/extender_requests.h"
#include "shell/object_requests.h"
#include "shell/watch_thread.h"

namespace berth::shell {

struct ProcessOptions {
  client::ConnectionConfig connection;
  client::ApiClientOptions client;
  std::string election_user_agent = {};
  core::SchedulerOptions scheduler;  // its extenders are made from those below
  std::vector<config::Extender> extenders = {};
  // Nothing: this process always works.
  std::optional<client::LeaderElector::Options> leader_election;
  std::string hostname;
  std::uint64_t seed = 0;
};

// A scheduler at work on an API server: what a watch thread reads feeds the core, its calls become requests,
// its events are written.
//
// Nothing is decided before every reflector has the whole state, nor, with an election, before the lease is
// won and the state is at least as new as that moment. All but the watching runs on the thread of the loop.
class SchedulerProcess {
 public:
  // `loop` outlives it.
  static base::Result<std::unique_ptr<SchedulerProcess>> Make(net::EventLoop& loop, ProcessOptions options);
  ~SchedulerProcess();

  void Start();
  // Lets others take the lease at once, then calls back. Decides nothing any more.
  void Stop(std::function<void()> on_stopped);
  // Called when the lease is lost: the process must not go on.
  void OnLeaseLost(std::function<void()> callback) { on_lease_lost_ = std::move(callback); }

  bool has_synced() const { return watches_->has_synced(); }
  // Always true without an election.
  bool is_leader() const { return elector_ == nullptr || elector_->is_leader(); }
  // Whether it believes to hold a lease that should have been renewed by now, and `tolerance` more.
  bool IsLeaseOverdue(base::Duration tolerance) const {
    return elector_ != nullptr && elector_->IsOverdue(tolerance);
  }
  bool is_deciding() const { return scheduler_->is_deciding(); }
  const core::Scheduler& scheduler() const { return *scheduler_; }
  base::MetricRegistry& metrics() { return metrics_; }

 private:
  SchedulerProcess(net::EventLoop& loop, ProcessOptions options);
  base::Result<void> Connect();

  base::Task<void> Lead();
  base::Task<void> TakeOver();
  base::Task<void> Release(std::function<void()> on_stopped);
  // Steps soon, and once for all that comes until then.
  void Wake();
  void Step();
  base::Task<void> Execute(core::ApiCall call);
  base::Task<void> Execute(cycle::StartedWrite write);
  base::Task<void> Ask(cycle::ExtenderCall call);
  void Finish(const core::ApiCall& call, const base::Result<bool>& had_effect);
  // Whether the request changed anything, or how it failed.
  base::Task<base::Result<bool>> Request(const core::ApiCall& call);
  // A process that was frozen does not know that others may have taken over: it looks at its lease first.
  base::Result<void> MayWrite() const;
  void Record(const cycle::PodEvent& event);

  ProcessOptions options_;
  net::EventLoop& loop_;
  base::RealClock clock_;
  base::MetricRegistry metrics_;
  client::LoopExecutor executor_;
  std::unique_ptr<client::Connection> connection_;
  // Each with a rate limit of its own: neither many pods nor many events keep the lease from being renewed.
  std::unique_ptr<client::ApiClient> client_;
  std::unique_ptr<client::ApiClient> event_client_;
  std::unique_ptr<client::ApiClient> election_client_;
  std::unique_ptr<client::PodWriter> pods_;
  std::unique_ptr<ObjectRequests> objects_;
  std::unique_ptr<ExtenderRequests> extenders_;
  std::unique_ptr<client::EventRecorder> events_;
  std::unique_ptr<client::LeaderElector> elector_;
  std::unique_ptr<WatchThread> watches_;
  std::unique_ptr<core::Scheduler> scheduler_;
  std::vector<core::Input> inputs_;
  core::Outputs outputs_;
  net::Timer timer_;
  bool is_step_due_ = false;
  base::CancellationSource stop_;
  std::function<void()> on_lease_lost_;
  // Last: the tasks refer to the rest.
  std::unique_ptr<base::TaskSet> tasks_;
};

}  // namespace berth::shell
