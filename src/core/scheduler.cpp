#include "core/scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plugins/all_plugins.h"
#include "plugins/plugin_metrics.h"

namespace berth::core {
namespace {

dispatch::DispatcherOptions DispatcherOptionsOf(const SchedulerOptions& options) {
  return {.in_flight_max = options.calls_in_flight_max,
          .in_flight_most = options.calls_in_flight_most,
          .one_by_one = !options.features.scheduler_async_api_calls};
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
      dispatch_metrics_(options.features.scheduler_async_api_calls ? metrics : unseen_metrics_),
      cycle_metrics_(metrics),
      plugin_metrics_(metrics),
      core_metrics_(metrics),
      cluster_({.resources = options.features.ForResources()}),
      executor_(clock),
      writes_(executor_),
      questions_(executor_),
      dispatcher_(DispatcherOptionsOf(options), {.clock = clock, .metrics = dispatch_metrics_}),
      reports_(
          options.features.scheduler_pre_enqueue_pod_status && options.features.scheduler_async_api_calls,
          cluster_),
      reporter_({reports_, cluster_, dispatcher_},
                [this](const auto& pod, const auto& event) { RecordAbout(pod, event); }) {}

Scheduler::~Scheduler() = default;

base::Result<std::unique_ptr<Scheduler>> Scheduler::Make(const SchedulerOptions& options,
                                                         const base::Clock& clock,
                                                         base::MetricRegistry& metrics) {
  std::unique_ptr<Scheduler> scheduler(new Scheduler(options, clock, metrics));
  scheduler->cluster_.UseExtension<plugins::PluginMetrics>().Show(metrics);
  if (auto added = scheduler->AddProfiles(); !added) return std::unexpected(std::move(added.error()));
  if (auto made = scheduler->MakeQueue(); !made) return std::unexpected(std::move(made.error()));
  return scheduler;
}

base::Result<void> Scheduler::AddProfiles() {
  framework::Registry registry = plugins::AllPlugins();
  if (options_.add_plugins) options_.add_plugins(registry);
  std::vector<framework::ProfileConfig> configs = options_.profiles;
  if (configs.empty()) {
    const framework::PluginArgs args;
    auto config = DefaultProfile(
        registry, {options_.features, args, cluster_, &writes_, options_.made_up_node_features});
    if (!config) return std::unexpected(std::move(config.error()));
    configs.push_back(*std::move(config));
  }
  for (const framework::ProfileConfig& config : configs) {
    auto runtime = std::make_unique<cycle::ProfileRuntime>();
    runtime->rejections = std::make_unique<framework::RejectionTable>();
    auto profile = framework::Profile::Make(
        config, registry,
        {options_.features, config.args, cluster_, &writes_, options_.made_up_node_features},
        *runtime->rejections);
    if (!profile) return std::unexpected(std::move(profile.error()));
    runtime->profile = *std::move(profile);
    framework::EngineOptions engine = options_.engine;
    engine.has_advisers = std::ranges::any_of(options_.extenders, [](const cycle::ExtenderSpec& extender) {
      return !extender.filter_verb.empty() || !extender.prioritize_verb.empty();
    });
    runtime->engine =
        std::make_unique<framework::Engine>(cluster_, *runtime->profile, *runtime->rejections, engine);
    runtime->points =
        std::make_unique<cycle::PointDurations>(plugin_metrics_, runtime->profile->scheduler_name(), clock_);
    runtime->observer = std::make_unique<cycle::AttemptObserver>(*runtime->points, *runtime->profile);
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
  profiles.reserve(runtimes_.size());
  for (const auto& runtime : runtimes_) {
    profiles.push_back(
        queue::MakeQueueProfile(*runtime->profile, /*has_extenders=*/!options_.extenders.empty()));
  }
  auto made = queue::SchedulingQueue::Make(options, std::move(profiles),
                                           {.cluster = cluster_,
                                            .clock = clock_,
                                            .metrics = queue_metrics_,
                                            .sort = runtimes_.front()->profile->queue_sort(),
                                            .observer = &reports_});
  if (!made) return std::unexpected(std::move(made.error()));
  queue_ = *std::move(made);
  cycle_ = std::make_unique<cycle::SchedulingCycle>(
      cycle::CycleContext{cluster_, *queue_, dispatcher_, executor_, *this, cycle_metrics_, late_updates_,
                          options_.traces_per_million},
      cycle::Extenders(options_.extenders, cluster_, questions_, executor_));
  objects_ = std::make_unique<ObjectEvents>(ObjectEvents::Setup{
      cluster_, *queue_, dispatcher_, cycle_->waiting_pods(), cycle_->evictions(), reports_, late_updates_,
      [this](std::string_view name) { return HasProfile(name); }, options_.features.ForResources()});
  own_changes_ = std::make_unique<OwnChanges>(cluster_, *queue_);
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

void Scheduler::Take(std::span<const Input> inputs, Outputs& outputs) {
  outputs_ = &outputs;
  Apply(inputs);
  outputs_ = nullptr;
}

void Scheduler::Apply(std::span<const Input> inputs) {
  for (const Input& input : inputs) {
    if (const auto* const finished = std::get_if<CallFinished>(&input)) {
      dispatcher_.Finish(finished->id, finished->result, finished->had_effect);
      continue;
    }
    if (const auto* const finished = std::get_if<WriteFinished>(&input)) {
      writes_.Finish(finished->id, finished->result);
      continue;
    }
    if (const auto* const finished = std::get_if<ExtenderFinished>(&input)) {
      questions_.Finish(finished->id, finished->answer);
      continue;
    }
    const base::TimePoint began = clock_.Now();
    const framework::ClusterEvent what = objects_->EventOf(input);
    std::visit(
        [&](const auto& event) {
          if constexpr (requires { objects_->Apply(event); }) objects_->Apply(event);
        },
        input);
    core_metrics_.ObserveEvent(what, clock_.Now() - began);
  }
}

void Scheduler::Step(std::span<const Input> inputs, Outputs& outputs) {
  outputs_ = &outputs;
  Apply(inputs);
  if (queue_->NextTick() <= clock_.Now()) queue_->Tick();
  executor_.RunReady();
  own_changes_->Tell();
  TryPods();
  executor_.RunReady();
  own_changes_->Tell();
  // Before the reports, so that why an attempt failed is told, and then what keeps the pod from the next one.
  StartCalls(outputs);
  reporter_.TellAll();
  StartCalls(outputs);
  std::ranges::move(writes_.TakeStarted(), std::back_inserter(outputs.writes));
  std::ranges::move(questions_.TakeStarted(), std::back_inserter(outputs.questions));
  outputs_ = nullptr;
  core_metrics_.SetCacheSize(cluster_);
  plugin_metrics_.SetBindings(cycle_->binding_count());
}

std::size_t Scheduler::AttemptsMax() const {
  if (options_.calls_waiting_max == 0) return options_.attempts_per_step;
  const std::size_t waiting = std::min(dispatcher_.due_count(), options_.calls_waiting_max);
  return std::min(options_.attempts_per_step, options_.calls_waiting_max - waiting);
}

void Scheduler::TryPods() {
  const std::size_t attempts_max = AttemptsMax();
  for (std::size_t attempts = 0; attempts < attempts_max && CanTry(); ++attempts) {
    if (popped_.empty()) {
      std::optional<queue::PoppedEntity> popped = queue_->Pop();
      if (!popped) return;
      std::ranges::move(popped->pods, std::back_inserter(popped_));
    }
    while (!popped_.empty() && !cycle_->is_busy()) {
      const queue::PoppedPod pod = popped_.front();
      popped_.pop_front();
      if (!cluster_.pods().IsCurrent(pod.pod)) {
        queue_->Done(pod.pod);
        continue;
      }
      const auto found = profiles_.find(cluster_.pods().record(pod.pod.id).spec->spec.scheduler_name);
      cycle_->Run(found == profiles_.end() ? nullptr : found->second, pod);
    }
  }
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

// Calls that wait do so for answers, each of which is an input.
bool Scheduler::HasWork() const { return CanTry() && AttemptsMax() > 0; }

std::optional<base::TimePoint> Scheduler::NextDeadline() const {
  base::TimePoint next = queue_->NextTick();
  if (const auto timer = executor_.NextDeadline()) next = std::min(next, *timer);
  if (const auto call = dispatcher_.NextDeadline()) next = std::min(next, *call);
  return next;
}

}  // namespace berth::core
