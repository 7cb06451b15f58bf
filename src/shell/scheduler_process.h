#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/answer_pace.h"
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
  // With an election: nothing is watched before the lease is won.
  bool delays_cache = false;
  std::string hostname;
  std::uint64_t seed = 0;
  // Called with the metrics of every scheduler that is made.
  std::function<void(base::MetricRegistry&)> prepare_metrics = {};
  std::function<void(std::vector<cycle::AttemptTrace>)> on_traces = {};
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
  // Puts a scheduler with other options in the place of the one at work, as a new leader would take over from
  // it; the lease stays. The old one works until the new one has seen the cluster, then has five seconds to
  // finish what it has begun; what is left is begun anew. `on_done` is called when the new one is in place.
  // Fails, and changes nothing, if the options are wrong. A newer change replaces one that is under way.
  base::Result<void> Reconfigure(core::SchedulerOptions options, std::function<void()> on_done);
  // Called when the lease is lost: the process must not go on.
  void OnLeaseLost(std::function<void()> callback) { on_lease_lost_ = std::move(callback); }

  bool has_synced() const { return watches_->has_synced(); }
  // Always true without an election.
  bool is_leader() const { return elector_ == nullptr || elector_->is_leader(); }
  // Whether it believes to hold a lease that should have been renewed by now, and `tolerance` more.
  bool IsLeaseOverdue(base::Duration tolerance) const {
    return elector_ != nullptr && elector_->IsOverdue(tolerance);
  }
  std::uint64_t lease_slow_path_count() const {
    return elector_ == nullptr ? 0 : elector_->slow_path_count();
  }
  bool is_deciding() const { return scheduler_->is_deciding(); }
  const core::Scheduler& scheduler() const { return *scheduler_; }
  // Of the process: they stay when the scheduler is replaced.
  base::MetricRegistry& metrics() { return metrics_; }
  // Of the scheduler at work.
  base::MetricRegistry& scheduler_metrics() { return *scheduler_metrics_; }

 private:
  SchedulerProcess(net::EventLoop& loop, ProcessOptions options);
  base::Result<void> Connect();

  // Waits for its turn.
  struct Successor;
  struct Work {
    std::unique_ptr<base::MetricRegistry> metrics;
    std::unique_ptr<core::Scheduler> scheduler;
  };
  base::Result<Work> MakeWork(const core::SchedulerOptions& options) const;
  base::Result<std::unique_ptr<WatchThread>> MakeWatches(std::uint64_t generation);
  void Receive(std::uint64_t generation, std::span<const core::Input> seen);
  base::Task<void> AwaitTurn();
  void Promote();
  void UpdateDeciding() { scheduler_->SetDeciding(may_decide_ && !is_replacing_); }

  base::Task<void> Lead();
  base::Task<void> TakeOver();
  base::Task<void> Release(std::function<void()> on_stopped);
  void KeepPace();
  // Steps soon, and once for all that comes until then.
  void Wake();
  void Step();
  // Answers count for the scheduler that asked, and for no successor of it.
  base::Task<void> Execute(core::ApiCall call, std::uint64_t generation);
  base::Task<void> Execute(cycle::StartedWrite write, std::uint64_t generation);
  base::Task<void> Ask(cycle::ExtenderCall call, std::uint64_t generation);
  void Finish(const core::ApiCall& call, const base::Result<bool>& had_effect, std::uint64_t generation);
  void Answer(core::Input answer, std::uint64_t generation);
  // Whether the request changed anything, or how it failed.
  base::Task<base::Result<bool>> Request(const core::ApiCall& call);
  // A process that was frozen does not know that others may have taken over: it looks at its lease first.
  base::Result<void> MayWrite() const;
  void Record(const cycle::PodEvent& event);
  void RecordElection(const std::string& message);
  void StartWatching();

  // What the loop still holds of it after its end can tell by this.
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
  ProcessOptions options_;
  base::RealClock clock_;
  base::MetricRegistry metrics_;
  client::LoopExecutor executor_;
  std::unique_ptr<client::Connection> connection_;
  std::unique_ptr<client::RequestMetrics> request_metrics_;
  // Each with a rate limit of its own: neither many pods nor many events keep the lease from being renewed.
  std::unique_ptr<client::ApiClient> client_;
  std::unique_ptr<client::ApiClient> event_client_;
  std::unique_ptr<client::ApiClient> election_client_;
  std::unique_ptr<client::PodWriter> pods_;
  std::unique_ptr<ObjectRequests> objects_;
  std::unique_ptr<ExtenderRequests> extenders_;
  std::unique_ptr<client::EventRecorder> events_;
  std::unique_ptr<client::EventRecorder> election_events_;
  std::unique_ptr<client::LeaderElector> elector_;
  base::Random random_;
  std::unique_ptr<WatchThread> watches_;
  std::unique_ptr<base::MetricRegistry> scheduler_metrics_;
  std::unique_ptr<core::Scheduler> scheduler_;
  std::uint64_t generation_ = 0;  // of the scheduler at work
  std::uint64_t generations_ = 0;
  std::size_t requests_in_flight_ = 0;
  bool is_watching_ = false;
  bool may_decide_ = false;
  bool is_taking_over_ = false;
  bool is_replacing_ = false;
  std::vector<core::Input> inputs_;
  core::Outputs outputs_;
  client::AnswerPace pace_;
  net::Timer timer_;
  bool is_step_due_ = false;
  base::CancellationSource stop_;
  std::function<void()> on_lease_lost_;
  // Last: the tasks refer to the rest.
  std::unique_ptr<base::TaskSet> tasks_;
  std::unique_ptr<Successor> next_;
  net::Timer promotion_;
};

}  // namespace berth::shell
