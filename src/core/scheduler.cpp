#include "core/scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plugins/all_plugins.h"

namespace berth::core {
namespace {

dispatch::DispatcherOptions DispatcherOptionsOf(const SchedulerOptions& options) {
  return {.in_flight_max = options.calls_in_flight_max};
}

// The default list without those that do not exist yet.
base::Result<framework::ProfileConfig> DefaultProfile(const framework::Registry& registry,
                                                      const framework::PluginSetup& setup) {
  std::vector<framework::EnabledPlugin> enabled = framework::DefaultPlugins(setup.features);
  std::erase_if(enabled,
                [&](const framework::EnabledPlugin& plugin) { return !registry.Contains(plugin.name); });
  return framework::ExpandEverywhere(enabled, registry, setup);
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, const base::Clock& clock, base::MetricRegistry& metrics)
    : options_(options),
      clock_(clock),
      queue_metrics_(metrics),
      dispatch_metrics_(metrics),
      cycle_metrics_(metrics),
      cluster_({.resources = options.features.ForResources()}),
      executor_(clock),
      writes_(executor_),
      dispatcher_(DispatcherOptionsOf(options), {.clock = clock, .metrics = dispatch_metrics_}),
      reports_({.enabled = options.features.scheduler_pre_enqueue_pod_status &&
                           options.features.scheduler_async_api_calls},
               cluster_, clock) {}

Scheduler::~Scheduler() = default;

base::Result<std::unique_ptr<Scheduler>> Scheduler::Make(const SchedulerOptions& options,
                                                         const base::Clock& clock,
                                                         base::MetricRegistry& metrics) {
  std::unique_ptr<Scheduler> scheduler(new Scheduler(options, clock, metrics));
  if (auto added = scheduler->AddProfiles(); !added) return std::unexpected(std::move(added.error()));
  if (auto made = scheduler->MakeQueue(); !made) return std::unexpected(std::move(made.error()));
  return scheduler;
}

base::Result<void> Scheduler::AddProfiles() {
  const framework::Registry registry = plugins::AllPlugins();
  std::vector<framework::ProfileConfig> configs = options_.profiles;
  if (configs.empty()) {
    const framework::PluginArgs args;
    auto config = DefaultProfile(registry, {options_.features, args, cluster_, &writes_});
    if (!config) return std::unexpected(std::move(config.error()));
    configs.push_back(*std::move(config));
  }
  for (const framework::ProfileConfig& config : configs) {
    auto runtime = std::make_unique<cycle::ProfileRuntime>();
    runtime->rejections = std::make_unique<framework::RejectionTable>();
    auto profile = framework::Profile::Make(
        config, registry, {options_.features, config.args, cluster_, &writes_}, *runtime->rejections);
    if (!profile) return std::unexpected(std::move(profile.error()));
    runtime->profile = *std::move(profile);
    runtime->engine = std::make_unique<framework::Engine>(cluster_, *runtime->profile, *runtime->rejections,
                                                          options_.engine);
    if (!profiles_.emplace(runtime->profile->scheduler_name(), runtime.get()).second) {
      return base::Fail("duplicate profile with scheduler name \"" + runtime->profile->scheduler_name() +
                        "\"");
    }
    runtimes_.push_back(std::move(runtime));
  }
  return {};
}

base::Result<void> Scheduler::MakeQueue() {
  queue::QueueOptions options = queue::QueueOptions::From(options_.features);
  options.pod_initial_backoff = options_.pod_initial_backoff;
  options.pod_max_backoff = options_.pod_max_backoff;
  options.pod_max_in_unschedulable = options_.pod_max_in_unschedulable;
  std::vector<queue::QueueProfile> profiles;
  for (const auto& runtime : runtimes_) {
    profiles.push_back(queue::MakeQueueProfile(*runtime->profile, /*has_extenders=*/false));
  }
  auto made = queue::SchedulingQueue::Make(options, std::move(profiles),
                                           {.cluster = cluster_,
                                            .clock = clock_,
                                            .metrics = queue_metrics_,
                                            .sort = runtimes_.front()->profile->queue_sort(),
                                            .observer = &reports_});
  if (!made) return std::unexpected(std::move(made.error()));
  queue_ = *std::move(made);
  cycle_ = std::make_unique<cycle::SchedulingCycle>(cycle::CycleContext{
      cluster_, *queue_, dispatcher_, executor_, *this, cycle_metrics_, options_.traces_per_million});
  objects_ = std::make_unique<ObjectEvents>(ObjectEvents::Setup{
      cluster_, *queue_, dispatcher_, cycle_->waiting_pods(), reports_,
      [this](std::string_view name) { return HasProfile(name); }, options_.features.ForResources()});
  return {};
}

void Scheduler::Record(cycle::PodEvent event) { outputs_->events.push_back(std::move(event)); }

void Scheduler::RecordAbout(const cluster::PodRecordRef& pod, const dispatch::CallEvent& event) {
  Record({.pod = pod,
          .reporter = pod->spec->spec.scheduler_name,
          .type = event.type,
          .reason = event.reason,
          .action = event.action,
          .note = event.note});
}

void Scheduler::Step(std::span<const Input> inputs, Outputs& outputs) {
  outputs_ = &outputs;
  for (const Input& input : inputs) {
    if (const auto* const finished = std::get_if<CallFinished>(&input)) {
      dispatcher_.Finish(finished->id, finished->result, finished->had_effect);
      continue;
    }
    if (const auto* const finished = std::get_if<WriteFinished>(&input)) {
      writes_.Finish(finished->id, finished->result);
      continue;
    }
    std::visit(
        [&](const auto& event) {
          if constexpr (requires { objects_->Apply(event); }) objects_->Apply(event);
        },
        input);
  }
  if (queue_->NextTick() <= clock_.Now()) queue_->Tick();
  executor_.RunReady();
  if (is_deciding_) TryPods();
  executor_.RunReady();
  ReportRejections();
  StartCalls(outputs);
  std::ranges::move(writes_.TakeStarted(), std::back_inserter(outputs.writes));
  outputs_ = nullptr;
}

void Scheduler::TryPods() {
  for (std::size_t attempts = 0; attempts < options_.attempts_per_step && queue_->CanPop(); ++attempts) {
    const std::optional<queue::PoppedEntity> popped = queue_->Pop();
    if (!popped) return;
    for (const queue::PoppedPod& pod : popped->pods) {
      const auto found = profiles_.find(cluster_.pods().record(pod.pod.id).spec->spec.scheduler_name);
      cycle_->Run(found == profiles_.end() ? nullptr : found->second, pod);
    }
  }
}

void Scheduler::ReportRejections() {
  for (const queue::RejectionReport& report : reports_.TakeDue()) Report(report);
}

void Scheduler::Report(const queue::RejectionReport& report) {
  if (!cluster_.pods().IsCurrent(report.pod)) return;
  const cluster::PodRecordRef pod = cluster_.pods().facts(report.pod.id).record;
  dispatch::CallEvent event{.type = "Warning",
                            .reason = api::kNotReadyForScheduling,
                            .action = "Scheduling",
                            .note = report.message};
  if (report.kind == queue::RejectionReport::Kind::kEvent) {
    RecordAbout(pod, event);
    return;
  }
  dispatch::Call call{.type = dispatch::CallType::kPodStatusPatch, .pod = pod, .change = {}};
  if (report.kind == queue::RejectionReport::Kind::kClear) {
    call.change.remove_not_ready = true;
  } else {
    api::PodCondition condition;
    condition.type = api::kPodScheduled;
    condition.status = "False";
    condition.reason = api::kNotReadyForScheduling;
    condition.message = report.message;
    condition.observed_generation = pod->generation;
    call.change.conditions.push_back(std::move(condition));
    if (report.with_event) call.event = std::move(event);
  }
  call.on_finish = [this, report](const dispatch::CallOutcome& outcome) {
    reports_.OnResult(report, !outcome.IsFailure());
  };
  static_cast<void>(dispatcher_.Add(std::move(call)));
}

void Scheduler::StartCalls(Outputs& outputs) {
  while (const std::optional<dispatch::Dispatcher::Started> started = dispatcher_.Start()) {
    if (!started->needs_request) {
      dispatcher_.Finish(started->id, {});
      continue;
    }
    const dispatch::Call& call = *started->call;
    if (call.event) RecordAbout(call.pod, *call.event);
    outputs.calls.push_back({.id = started->id,
                             .type = call.type,
                             .pod = call.pod,
                             .node = call.node,
                             .change = call.change,
                             .nomination = started->nomination});
  }
}

bool Scheduler::HasWork() const { return is_deciding_ && queue_->CanPop(); }

std::optional<base::TimePoint> Scheduler::NextDeadline() const {
  base::TimePoint next = queue_->NextTick();
  if (const auto timer = executor_.NextDeadline()) next = std::min(next, *timer);
  if (const auto call = dispatcher_.NextDeadline()) next = std::min(next, *call);
  if (const auto report = reports_.NextDeadline()) next = std::min(next, *report);
  return next;
}

}  // namespace berth::core
