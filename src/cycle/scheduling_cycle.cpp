#include "cycle/scheduling_cycle.h"

#include <fmt/format.h>
#include <utility>
#include <variant>

#include "base/log.h"
#include "framework/post_filter.h"

namespace berth::cycle {
namespace {

using framework::Status;

// How often plans and indexes that nobody used lately are dropped, and what "lately" means, in attempts.
constexpr std::uint64_t kCollectEvery = 1024;
constexpr std::uint64_t kKeepUnused = 16 * 1024;
// As many as kube-scheduler, which draws them.
constexpr std::uint64_t kMeasurePluginsEvery = 10;
constexpr std::uint64_t kMillion = 1'000'000;

}  // namespace

void SchedulingCycle::Run(ProfileRuntime* profile, const queue::PoppedPod& popped) {
  const auto& pods = context_.cluster.pods();
  if (profile == nullptr) {
    BERTH_LOG_ERROR(base::Error{fmt::format("profile not found for scheduler name \"{}\"",
                                            pods.record(popped.pod.id).spec->spec.scheduler_name)},
                    "Error occurred");
    context_.queue.Done(popped.pod);
    return;
  }
  const Attempt attempt{*profile, popped, context_.clock().Now()};
  if (IsToBeSkipped(attempt)) {
    context_.queue.Done(popped.pod);
    return;
  }
  const api::PodRecord& pod = pods.record(popped.pod.id);
  BERTH_LOG(3, "Attempting to schedule pod", {"pod", base::LogObject{pod.namespace_, pod.name}});
  CollectUnused(*profile);
  if (extenders_.HaveASay(pod.spec->spec)) {
    consulting_.Spawn(RunAdvised(*profile, popped, attempt.started));
    return;
  }
  profile->observer->BeginAttempt(step_ % kMeasurePluginsEvery == 0);
  framework::PluginObserver* const observer = StartTrace(attempt);
  framework::Outcome outcome =
      profile->engine->SchedulePod({.pod = popped.pod.id, .step = step_, .observer = observer});
  trace_observer_.Finish();
  Conclude(attempt, std::move(outcome));
}

void SchedulingCycle::CollectUnused(ProfileRuntime& profile) {
  ++step_;
  if (step_ % kCollectEvery != 0 || step_ <= kKeepUnused) return;
  profile.engine->Collect(step_ - kKeepUnused);
  context_.cluster.CollectUnused(step_ - kKeepUnused);
}

void SchedulingCycle::Conclude(const Attempt& attempt, framework::Outcome outcome) {
  if (const auto* const decision = std::get_if<framework::Decision>(&outcome)) {
    context_.metrics.ObserveAlgorithm(context_.clock().Now() - attempt.started);
    Place(attempt, decision->row);
    return;
  }
  const Failure failure = std::holds_alternative<Status>(outcome)
                              ? FailWith(std::get<Status>(std::move(outcome)))
                              : NothingFits(attempt, std::get<framework::Diagnosis>(outcome));
  if (failures_.PassOver(attempt.popped, failure)) {
    trace_.reset();
    return;
  }
  context_.metrics.ObserveAlgorithm(context_.clock().Now() - attempt.started);
  EndTrace(failure);
  failures_.Handle(attempt.profile, attempt.popped, failure, attempt.started);
}

framework::PluginObserver* SchedulingCycle::StartTrace(const Attempt& attempt) {
  trace_.reset();
  framework::PluginObserver* const measures = attempt.profile.observer.get();
  if (context_.traces_per_million == 0 || trace_random_.Uniform(kMillion) >= context_.traces_per_million) {
    return measures;
  }
  trace_ = std::make_unique<AttemptTrace>();
  trace_->pod = context_.cluster.pods().facts(attempt.popped.pod.id).record;
  trace_->profile = attempt.profile.profile->scheduler_name();
  trace_->attempt = attempt.popped.params.attempts;
  trace_->begin = attempt.started;
  return trace_observer_.Start(*trace_, measures);
}

void SchedulingCycle::EndTrace(const Failure& failure) {
  if (trace_ == nullptr) return;
  trace_->result = failure.status.IsRejected() ? "unschedulable" : "error";
  trace_->message = failure.message;
  trace_->end = context_.clock().Now();
  context_.events.RecordTrace(std::move(*trace_));
  trace_.reset();
}

bool SchedulingCycle::IsToBeSkipped(const Attempt& attempt) const {
  const auto& pods = context_.cluster.pods();
  const cluster::PodSlot slot = attempt.popped.pod.id;
  if (!pods.IsCurrent(attempt.popped.pod) || pods.state(slot) != cluster::PodState::kPending) return true;
  const cluster::PodRecordRef& pod = pods.facts(slot).record;
  if (!pod->deletion_timestamp) return false;
  context_.events.Record(
      {.pod = pod,
       .reporter = attempt.profile.profile->scheduler_name(),
       .type = "Warning",
       .reason = "FailedScheduling",
       .action = "Scheduling",
       .note = fmt::format("skip schedule deleting pod: {}/{}", pod->namespace_, pod->name)});
  return true;
}

void SchedulingCycle::Evict(const Attempt& attempt, const framework::PostFilterResult& result) {
  const auto& pods = context_.cluster.pods();
  context_.metrics.ObserveVictims(result.preemption->victims.size());
  Evictions::Order order{.scheduler_name = attempt.profile.profile->scheduler_name(),
                         .plugin = std::string(result.status.plugin()),
                         .preemptor = attempt.popped.pod,
                         .record = pods.facts(attempt.popped.pod.id).record,
                         .node = *result.nominated_node,
                         .victims = {}};
  for (const cluster::PodSlot victim : result.preemption->victims) {
    order.victims.push_back(pods.Version(victim));
  }
  evictions_.Start(std::move(order));
}

void SchedulingCycle::MakeRoom(const Attempt& attempt, framework::PostFilterResult result, Failure& failure) {
  if (result.preemption) context_.metrics.CountPreemptionAttempt();
  if (const std::string message = result.status.Message(); !message.empty()) failure.message += ' ' + message;
  if (result.status.IsSuccess() && result.preemption && result.nominated_node) Evict(attempt, result);
  failure.nominated_node = std::move(result.nominated_node);
  // Those who are like it may find a place in the same way.
  if (failure.nominated_node && !failure.nominated_node->empty()) failure.likeness = 0;
}

framework::PostFilterResult SchedulingCycle::RunPostFilter(const Attempt& attempt,
                                                           const framework::Diagnosis& diagnosis) const {
  PointTimer timer(*attempt.profile.points, Point::kPostFilter);
  framework::PostFilterResult result =
      framework::RunPostFilter(*attempt.profile.profile, attempt.profile.engine->cycle(), diagnosis);
  timer.SetCode(result.status.code());
  return result;
}

Failure SchedulingCycle::NothingFits(const Attempt& attempt, const framework::Diagnosis& diagnosis) {
  Failure failure = UnfitFor(diagnosis);
  // A place that is kept for this pod is kept from the others.
  const bool had_place = context_.cluster.nominator().NodeOf(attempt.popped.pod.id).IsValid();
  if (!had_place) failure.likeness = attempt.profile.engine->likeness();
  if (!attempt.profile.profile->post_filter().empty()) {
    TracedSpan span(trace_.get(), "PostFilter", context_.clock());
    framework::PostFilterResult result = RunPostFilter(attempt, diagnosis);
    span.SetStatus(framework::CodeName(result.status.code()));
    MakeRoom(attempt, std::move(result), failure);
  }
  return failure;
}

std::optional<Failure> SchedulingCycle::Reserve(const Attempt& attempt,
                                                framework::Assignment& assignment) const {
  PointTimer timer(*attempt.profile.points, Point::kReserve);
  TracedSpan span(trace_.get(), "Reserve", context_.clock());
  for (const auto& placed : attempt.profile.profile->reserve()) {
    Status status = placed.point->Reserve(context_.cluster, assignment);
    span.SetStatus(framework::CodeName(status.code()));
    if (status.IsSuccess()) continue;
    timer.SetCode(status.code());
    const std::string_view name = placed.plugin->Name();
    if (status.IsRejected()) return RefusedOnNode(std::move(status).WithPlugin(name));
    return FailWith(Status::Error(fmt::format("running Reserve plugin \"{}\": {}", name, status.Message())));
  }
  return std::nullopt;
}

std::optional<Failure> SchedulingCycle::Permit(const Attempt& attempt, framework::Assignment& assignment,
                                               std::vector<PermitWait>& waits) const {
  PointTimer timer(*attempt.profile.points, Point::kPermit);
  TracedSpan span(trace_.get(), "Permit", context_.clock());
  for (const auto& placed : attempt.profile.profile->permit()) {
    framework::PermitResult result = placed.point->Permit(context_.cluster, assignment);
    const std::string_view name = placed.plugin->Name();
    if (result.status.IsSuccess()) continue;
    timer.SetCode(result.status.code());
    span.SetStatus(framework::CodeName(result.status.code()));
    if (result.status.IsWait()) {
      waits.push_back({std::string(name), result.timeout, result.after_wait});
      continue;
    }
    if (result.status.IsRejected()) return RefusedOnNode(std::move(result.status).WithPlugin(name));
    return FailWith(
        Status::Error(fmt::format("running Permit plugin \"{}\": {}", name, result.status.Message())));
  }
  return std::nullopt;
}

void SchedulingCycle::Place(const Attempt& attempt, cluster::NodeRow row) {
  const cluster::PodSlot slot = attempt.popped.pod.id;
  cluster::Cluster& cluster = context_.cluster;
  framework::Assignment assignment{.pod = attempt.popped.pod,
                                   .record = cluster.pods().facts(slot).record,
                                   .row = cluster.nodes().Version(row),
                                   .node_name = std::string(cluster.nodes().name(row)),
                                   .data = attempt.profile.engine->cycle().TakeData()};
  if (const auto assumed = cluster.Assume(slot, assignment.node_name); !assumed) {
    const Failure failure = FailWith(Status::Error(assumed.error().message));
    EndTrace(failure);
    failures_.Handle(attempt.profile, attempt.popped, failure, attempt.started);
    return;
  }
  std::vector<PermitWait> waits;
  std::optional<Failure> failure = Reserve(attempt, assignment);
  if (!failure) failure = Permit(attempt, assignment, waits);
  if (failure) {
    binding_.Unreserve(attempt.profile, assignment);
    // It was assumed a moment ago: nothing can have come between.
    static_cast<void>(cluster.Forget(assignment.record->uid, assignment.node_name));
    EndTrace(*failure);
    failures_.Handle(attempt.profile, attempt.popped, *failure, attempt.started);
    return;
  }
  ActivateWanted(attempt);
  std::optional<base::Future<Status>> permit;
  if (!waits.empty()) permit = waiting_.Add(assignment.record->uid, std::move(waits));
  bindings_.Spawn(binding_.Run({.profile = &attempt.profile,
                                .popped = attempt.popped,
                                .assignment = std::move(assignment),
                                .permit = std::move(permit),
                                .started = attempt.started,
                                .trace = std::move(trace_)}));
}

void SchedulingCycle::ActivateWanted(const Attempt& attempt) const {
  std::vector<cluster::PodSlot> wanted;
  for (const auto& pod : attempt.profile.engine->cycle().to_activate()) {
    if (context_.cluster.pods().IsCurrent(pod)) wanted.push_back(pod.id);
  }
  if (!wanted.empty()) context_.queue.Activate(wanted);
}

}  // namespace berth::cycle
