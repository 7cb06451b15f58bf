#include "cycle/binding_cycle.h"

#include <algorithm>
#include <fmt/format.h>
#include <ranges>
#include <utility>

#include "base/log.h"
#include "base/task_group.h"
#include "cycle/assigned_record.h"

namespace berth::cycle {
namespace {

using framework::Status;

// A rejection is passed on as it is; anything else that is no success becomes an error that names the plugin.
Status Explain(Status status, std::string_view step, std::string_view plugin) {
  if (status.IsSuccess() || status.IsRejected()) return status;
  return Status::Error(fmt::format("{} \"{}\": {}", step, plugin, status.Message())).WithPlugin(plugin);
}

framework::ClusterEvent AssignedPodDelete() {
  return {framework::EventResource::kAssignedPod, framework::kDelete};
}

}  // namespace

void BindingCycle::EndTrace(Binding& binding, const std::optional<Failure>& failure) const {
  if (binding.trace == nullptr) return;
  AttemptTrace& trace = *binding.trace;
  trace.node = binding.assignment.node_name;
  trace.result = !failure ? "scheduled" : failure->status.IsRejected() ? "unschedulable" : "error";
  if (failure) trace.message = failure->message;
  trace.end = context_.clock().Now();
  context_.events.RecordTrace(std::move(trace));
  binding.trace.reset();
}

base::Task<void> BindingCycle::Run(Binding binding) {
  const std::optional<Failure> failure = co_await Bind(binding);
  EndTrace(binding, failure);
  if (failure) {
    GiveUp(binding, *failure);
  } else {
    Succeed(binding);
  }
}

base::Task<std::optional<Failure>> BindingCycle::Bind(Binding& binding) {
  PreBindSteps steps;
  const framework::Profile& profile = *binding.profile->profile;
  if (profile.features().nominated_node_name_for_expectation) {
    bool has_work = false;
    if (Status status = PreFlight(binding, steps, has_work); !status.IsSuccess())
      co_return FailWith(std::move(status));
    if (has_work || binding.permit) co_await NominateInStatus(binding);
  } else {
    for (const auto& placed : profile.pre_bind()) steps.push_back({&placed});
  }
  if (binding.permit) {
    auto failure = co_await WaitOnPermit(binding);
    if (failure) co_return failure;
  }
  // From here on the pod cannot be rejected by a plugin that events could help.
  context_.queue.Done(binding.popped.pod);
  const bool has_steps = std::ranges::any_of(steps, [](const PreBindStep& step) { return !step.skip; });
  if (has_steps) {
    Status prepared = co_await RunPreBind(binding, std::move(steps));
    if (!prepared.IsSuccess()) co_return FailWith(std::move(prepared));
  } else {
    PointTimer timer(*binding.profile->points, Point::kPreBind);
  }
  Status bound = co_await RunBind(binding);
  if (!bound.IsSuccess()) co_return FailWith(std::move(bound));
  co_return std::nullopt;
}

Status BindingCycle::PreFlight(const Binding& binding, PreBindSteps& steps, bool& has_work) const {
  PointTimer timer(*binding.profile->points, Point::kPreBindPreFlight);
  for (const auto& placed : binding.profile->profile->pre_bind()) {
    const framework::PreFlightResult result =
        placed.point->PreBindPreFlight(context_.cluster, binding.assignment);
    const std::string_view name = placed.plugin->Name();
    if (!result.status.IsSuccess() && !result.status.IsSkip()) timer.SetCode(framework::Code::kError);
    if (result.status.code() == framework::Code::kError) {
      return Status::Error(fmt::format("running PreBindPreFlight \"{}\": {}", name, result.status.Message()));
    }
    if (!result.status.IsSuccess() && !result.status.IsSkip()) {
      return Status::Error(
          fmt::format("PreBindPreFlight {} returned \"{}\", which is unsupported. It is supposed to "
                      "return Success, Skip, or Error status",
                      name, framework::CodeName(result.status.code())));
    }
    steps.push_back({.placed = &placed, .skip = result.status.IsSkip(), .parallel = result.allow_parallel});
    has_work = has_work || result.status.IsSuccess();
  }
  return {};
}

// Waits for the answer only if calls are not asynchronous; a failure was logged where the request was made.
base::Task<void> BindingCycle::NominateInStatus(const Binding& binding) const {
  const auto& pods = context_.cluster.pods();
  if (!pods.IsCurrent(binding.popped.pod)) co_return;
  dispatch::Call call{.type = dispatch::CallType::kPodStatusPatch,
                      .pod = pods.facts(binding.popped.pod.id).record,
                      .change = {}};
  call.change.nominated_node_name = binding.assignment.node_name;
  if (binding.profile->profile->features().scheduler_async_api_calls) {
    static_cast<void>(context_.dispatcher.Add(std::move(call)));
    co_return;
  }
  auto promise = std::make_shared<base::Promise<bool>>(context_.executor);
  auto written = promise->future();
  call.on_finish = [promise](const dispatch::CallOutcome&) { promise->Set(true); };
  static_cast<void>(context_.dispatcher.Add(std::move(call)));
  static_cast<void>(co_await written.Get());
}

base::Task<std::optional<Failure>> BindingCycle::WaitOnPermit(Binding& binding) {
  const base::TimePoint began = context_.clock().Now();
  const std::optional<Status> decision = co_await binding.permit->Get();
  const Status status = decision.value_or(Status::Error("the scheduler stops"));
  context_.metrics.ObservePermitWait(framework::CodeName(status.code()), context_.clock().Now() - began);
  if (status.IsSuccess()) co_return std::nullopt;
  if (status.IsRejected()) co_return RefusedOnNode(status);
  co_return FailWith(Status::Error("waiting on permit for pod: " + status.Message()));
}

base::Task<void> BindingCycle::RunOne(Binding& binding, const PreBindStep& step, Group& group) {
  framework::BindingContext context{.cluster = context_.cluster,
                                    .api = writer_,
                                    .executor = context_.executor,
                                    .cancelled = group.cancel.token()};
  Status status = co_await step.placed->point->PreBind(context, binding.assignment);
  if (status.IsSuccess() || !group.first_failure.IsSuccess()) co_return;
  // Work that was stopped cannot know why.
  if (group.entry.cause() && !status.IsRejected()) status = Status::Error(*group.entry.cause());
  group.first_failure = Explain(std::move(status), "running PreBind plugin", step.placed->plugin->Name());
  group.cancel.Cancel();
}

base::Task<Status> BindingCycle::RunSteps(Binding& binding, const PreBindSteps& steps,
                                          const PreBindingPods::Entry& entry) {
  // Consecutive plugins that allow it run beside each other; one that does not, even if skipped, ends the
  // group.
  for (std::size_t begin = 0; begin < steps.size();) {
    std::size_t end = begin + 1;
    if (steps[begin].parallel) {
      while (end < steps.size() && steps[end].parallel) ++end;
    }
    Group group{.entry = entry, .cancel = base::CancellationSource(entry.token())};
    base::TaskGroup tasks(context_.executor);
    for (std::size_t i = begin; i < end; ++i) {
      if (!steps[i].skip) tasks.Spawn(RunOne(binding, steps[i], group));
    }
    co_await tasks.WaitForAll();
    if (!group.first_failure.IsSuccess()) co_return group.first_failure;
    begin = end;
  }
  co_return Status();
}

base::Task<Status> BindingCycle::RunPreBind(Binding& binding, PreBindSteps steps) {
  PointTimer timer(*binding.profile->points, Point::kPreBind);
  TracedSpan span(binding.trace.get(), "PreBind", context_.clock());
  const PreBindingPods::Entry entry(pre_binding_, binding.assignment.record->uid);
  Status status = co_await RunSteps(binding, steps, entry);
  timer.SetCode(status.code());
  span.SetStatus(framework::CodeName(status.code()));
  // The work may have been done before it could be stopped; the pod has lost its place all the same.
  if (status.IsSuccess() && entry.cause()) co_return Status::Error(*entry.cause());
  co_return status;
}

base::Task<Status> BindingCycle::RunBind(Binding& binding) {
  if (!extenders_.empty()) {
    std::optional<Status> bound =
        co_await extenders_.Bind(binding.assignment.record, binding.assignment.node_name);
    if (bound) co_return *std::move(bound);
  }
  PointTimer timer(*binding.profile->points, Point::kBind);
  framework::BindingContext context{
      .cluster = context_.cluster, .api = writer_, .executor = context_.executor, .cancelled = {}};
  TracedSpan span(binding.trace.get(), "Bind", context_.clock());
  for (const auto& placed : binding.profile->profile->bind()) {
    Status status = co_await placed.point->Bind(context, binding.assignment);
    span.SetStatus(framework::CodeName(status.code()));
    if (status.IsSkip()) continue;
    timer.SetCode(status.code());
    co_return Explain(std::move(status), "running Bind plugin", placed.plugin->Name());
  }
  timer.SetCode(framework::Code::kSkip);
  co_return Status::Skip();
}

void BindingCycle::Succeed(Binding& binding) const {
  const framework::Profile& profile = *binding.profile->profile;
  const api::PodRecord& pod = *binding.assignment.record;
  const base::TimePoint now = context_.clock().Now();
  BERTH_LOG(2, "Successfully bound pod to node", {"pod", base::LogObject{pod.namespace_, pod.name}},
            {"node", binding.assignment.node_name});
  context_.events.Record({.pod = binding.assignment.record,
                          .reporter = profile.scheduler_name(),
                          .type = "Normal",
                          .reason = "Scheduled",
                          .action = "Binding",
                          .note = fmt::format("Successfully assigned {}/{} to {}", pod.namespace_, pod.name,
                                              binding.assignment.node_name)});
  context_.metrics.ObserveAttempt(profile.scheduler_name(), AttemptResult::kScheduled, now - binding.started);
  const queue::QueueingParams& params = binding.popped.params;
  context_.metrics.ObserveBound(
      {.attempts = params.attempts,
       .since_first_attempt = now - params.initial_attempt.value_or(binding.started),
       .after_flush = params.was_flushed});
  PointTimer timer(*binding.profile->points, Point::kPostBind);
  for (const auto& placed : profile.post_bind()) placed.point->PostBind(context_.cluster, binding.assignment);
}

void BindingCycle::Unreserve(const ProfileRuntime& profile, framework::Assignment& assignment) const {
  PointTimer timer(*profile.points, Point::kUnreserve);
  for (const auto& placed : std::views::reverse(profile.profile->reserve())) {
    placed.point->Unreserve(context_.cluster, assignment);
  }
}

void BindingCycle::GiveUp(Binding& binding, const Failure& failure) const {
  framework::Assignment& assignment = binding.assignment;
  Unreserve(*binding.profile, assignment);
  if (const auto forgotten = context_.cluster.Forget(assignment.record->uid, assignment.node_name);
      !forgotten) {
    BERTH_LOG_ERROR(forgotten.error(), "Could not forget a pod whose binding failed",
                    {"pod", base::LogObject{assignment.record->namespace_, assignment.record->name}});
    failures_.Handle(*binding.profile, binding.popped, failure, binding.started);
    return;
  }
  auto latest = context_.late_updates.Take(binding.popped.pod);
  if (latest) static_cast<void>(context_.cluster.SetPending(std::move(latest)));
  const cluster::PodRecordRef assigned = AsAssigned(*assignment.record, assignment.node_name);
  // What the pod would have used is free again. The pod itself must not be woken by that if it was rejected,
  // or it would be tried again at once.
  if (failure.status.IsRejected()) {
    failures_.Handle(*binding.profile, binding.popped, failure, binding.started);
    context_.queue.Notify(AssignedPodDelete(), assigned, {},
                          [&](cluster::PodSlot pod) { return pod != binding.popped.pod.id; });
  } else {
    context_.queue.Notify(AssignedPodDelete(), assigned, {});
    failures_.Handle(*binding.profile, binding.popped, failure, binding.started);
  }
}

}  // namespace berth::cycle
