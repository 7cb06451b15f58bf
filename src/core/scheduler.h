#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/clock.h"
#include "base/executor.h"
#include "base/interner.h"
#include "base/metrics.h"
#include "core/core_metrics.h"
#include "core/messages.h"
#include "core/object_events.h"
#include "core/own_changes.h"
#include "core/rejection_reporter.h"
#include "cycle/extender_calls.h"
#include "cycle/object_writes.h"
#include "cycle/scheduling_cycle.h"
#include "framework/features.h"
#include "framework/profile.h"
#include "framework/registry.h"
#include "queue/rejection_reports.h"

namespace berth::core {

struct SchedulerOptions {
  framework::Features features = {};
  // Empty: one with every default plugin that exists, named default-scheduler.
  std::vector<framework::ProfileConfig> profiles = {};
  std::vector<cycle::ExtenderSpec> extenders = {};
  // Adds plugins from outside to those that profiles may name.
  std::function<void(framework::Registry&)> add_plugins = {};
  base::Duration pod_initial_backoff = std::chrono::seconds(1);
  base::Duration pod_max_backoff = std::chrono::seconds(10);
  // After so long, a pod that could not be scheduled is tried again whatever happened.
  base::Duration pod_max_in_unschedulable = std::chrono::minutes(5);
  framework::EngineOptions engine = {};
  // For measuring alone (framework::PluginSetup).
  std::size_t made_up_node_features = 0;
  // How many calls may be on their way at once; 0: any number.
  std::size_t calls_in_flight_max = 0;
  // Where more of them make more answers, up to so many.
  std::size_t calls_in_flight_most = 0;
  // No pod is tried while so many calls wait for others to be answered: it would hold memory and get older in
  // line, while its turn may still be that of a more important one. 0: any number.
  std::size_t calls_waiting_max = 0;
  // How many of a million attempts are described in the outputs; 0: none.
  std::uint32_t traces_per_million = 0;
  // So that answers and events are not kept waiting by a long queue.
  std::size_t attempts_per_step = 256;
};

// Everything that decides, as one state machine: what happens in the cluster goes in, requests and events
// come out.
//
// 1. The same inputs at the same times give the same outputs.
// 2. Nothing here blocks, reads the wall clock or starts a thread. Whoever owns it calls Step from one
// thread.
class Scheduler final : private cycle::EventSink {
 public:
  // Fails with what is wrong about the configuration.
  static base::Result<std::unique_ptr<Scheduler>> Make(const SchedulerOptions& options,
                                                       const base::Clock& clock,
                                                       base::MetricRegistry& metrics);
  ~Scheduler() override;

  // Applies the inputs in order, then does what can be done now. Outputs are appended.
  void Step(std::span<const Input> inputs, Outputs& outputs);
  // Only applies them; a step has to follow. So that a long list need not be there as inputs all at once.
  void Take(std::span<const Input> inputs, Outputs& outputs);

  // While it does not decide, it only follows what happens: a process that waits for its turn.
  void SetDeciding(bool deciding) {
    is_deciding_ = deciding;
    reports_.SetSilent(!deciding);
  }
  bool is_deciding() const { return is_deciding_; }

  // Another step has something to do at once, without any input.
  bool HasWork() const;
  // When another step has something to do, if nothing comes in before.
  std::optional<base::TimePoint> NextDeadline() const;

  const cluster::Cluster& cluster() const { return cluster_; }
  const queue::SchedulingQueue& queue() const { return *queue_; }
  const dispatch::Dispatcher& dispatcher() const { return dispatcher_; }
  const queue::RejectionReports& reports() const { return reports_; }
  // An attempt waits for an extender; no other one begins meanwhile.
  bool is_consulting() const { return cycle_->is_busy(); }
  // Pods that have a node and are not bound yet.
  std::size_t binding_count() const { return cycle_->binding_count(); }
  bool HasProfile(std::string_view scheduler_name) const { return profiles_.contains(scheduler_name); }

 private:
  Scheduler(const SchedulerOptions& options, const base::Clock& clock, base::MetricRegistry& metrics);
  base::Result<void> AddProfiles();
  base::Result<void> MakeQueue();
  void Apply(std::span<const Input> inputs);
  void Record(cycle::PodEvent event) override;
  void RecordTrace(cycle::AttemptTrace trace) override { outputs_->traces.push_back(std::move(trace)); }
  void RecordAbout(const cluster::PodRecordRef& pod, const dispatch::CallEvent& event);
  void TryPods();
  bool CanTry() const { return is_deciding_ && !cycle_->is_busy() && (!popped_.empty() || queue_->CanPop()); }
  // How many may be tried in this step.
  std::size_t AttemptsMax() const;
  void StartCalls(Outputs& outputs);

  const SchedulerOptions options_;
  const base::Clock& clock_;
  queue::QueueMetrics queue_metrics_;
  base::MetricRegistry unseen_metrics_;  // of calls, while they are not asynchronous
  dispatch::DispatchMetrics dispatch_metrics_;
  cycle::CycleMetrics cycle_metrics_;
  cycle::PluginMetrics plugin_metrics_;
  CoreMetrics core_metrics_;
  cluster::Cluster cluster_;
  // In the order of the configuration.
  std::vector<std::unique_ptr<cycle::ProfileRuntime>> runtimes_;
  absl::flat_hash_map<std::string, cycle::ProfileRuntime*, base::TextHash, std::equal_to<>> profiles_;
  base::Executor executor_;
  cycle::ObjectWrites writes_;
  cycle::LateUpdates late_updates_;
  cycle::ExtenderCalls questions_;
  dispatch::Dispatcher dispatcher_;
  queue::RejectionReports reports_;
  RejectionReporter reporter_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
  std::unique_ptr<cycle::SchedulingCycle> cycle_;
  std::unique_ptr<ObjectEvents> objects_;
  std::unique_ptr<OwnChanges> own_changes_;
  std::deque<queue::PoppedPod> popped_;  // were popped together with one that waits for an extender
  bool is_deciding_ = true;
  Outputs* outputs_ = nullptr;  // of the current step
};

}  // namespace berth::core
