#include "cycle/failure_handler.h"

#include <utility>

#include "base/log.h"
#include "cycle/nominations.h"
#include "dispatch/status_change.h"

namespace berth::cycle {
namespace {

// The API server takes no longer note.
constexpr std::size_t kNoteMax = 1024;

std::string Truncated(const std::string& message) {
  static constexpr std::string_view kMore = " ...";
  if (message.size() <= kNoteMax) return message;
  return message.substr(0, kNoteMax - kMore.size()).append(kMore);
}

// What an attempt that failed changes in the pod's status.
api::PodStatusChange ChangeFor(const Failure& failure, const api::PodRecord& pod) {
  api::PodCondition condition;
  condition.type = api::kPodScheduled;
  condition.status = "False";
  condition.reason = failure.status.IsRejected() ? "Unschedulable" : "SchedulerError";
  condition.message = failure.message;
  condition.observed_generation = pod.generation;
  api::PodStatusChange change;
  change.conditions.push_back(std::move(condition));
  change.nominated_node_name = failure.nominated_node;
  return change;
}

// In kube-scheduler's words, so that what looks for them in logs goes on finding them.
void LogFailure(const api::PodRecord& pod, const Failure& failure) {
  if (failure.message.empty()) return;
  const base::LogObject name{pod.namespace_, pod.name};
  if (failure.status.IsRejected()) {
    BERTH_LOG(2, "Unable to schedule pod; no fit; waiting", {"pod", name}, {"err", failure.message});
  } else {
    BERTH_LOG_ERROR(failure.message, "Error scheduling pod; retrying", {"pod", name});
  }
}

}  // namespace

Failure FailWith(framework::Status status) {
  std::string message = status.AsError();
  return {.status = std::move(status), .message = std::move(message)};
}

Failure UnfitFor(const framework::Diagnosis& diagnosis) {
  return {.status = framework::Status(framework::Code::kUnschedulable),
          .message = framework::FitErrorMessage(diagnosis),
          .unschedulable_plugins = diagnosis.unschedulable_plugins,
          .pending_plugins = diagnosis.pending_plugins};
}

Failure RefusedOnNode(const framework::Status& status) {
  framework::Diagnosis diagnosis;
  diagnosis.node_count = 1;
  diagnosis.absent = status;
  diagnosis.AddPluginOf(status);
  return {.status = status,
          .message = framework::FitErrorMessage(diagnosis),
          .unschedulable_plugins = std::move(diagnosis.unschedulable_plugins),
          .pending_plugins = std::move(diagnosis.pending_plugins)};
}

queue::Rejection FailureHandler::RejectionOf(const Failure& failure) const {
  queue::Rejection rejection;
  rejection.likeness = failure.likeness;
  for (const std::string& plugin : failure.unschedulable_plugins) {
    rejection.unschedulable.Insert(context_.queue.plugins().Intern(plugin));
  }
  for (const std::string& plugin : failure.pending_plugins) {
    rejection.pending.Insert(context_.queue.plugins().Intern(plugin));
  }
  return rejection;
}

void FailureHandler::Handle(const ProfileRuntime& profile, const queue::PoppedPod& popped,
                            const Failure& failure, base::TimePoint started) const {
  const auto& pods = context_.cluster.pods();
  const bool is_rejected = failure.status.IsRejected();
  context_.metrics.ObserveAttempt(profile.profile->scheduler_name(),
                                  is_rejected ? AttemptResult::kUnschedulable : AttemptResult::kError,
                                  context_.clock().Now() - started);
  // A pod that is gone, or that others bound meanwhile, has nothing to wait for and nobody to tell.
  if (!pods.IsCurrent(popped.pod) || pods.state(popped.pod.id) != cluster::PodState::kPending) {
    context_.queue.Done(popped.pod);
    return;
  }
  const cluster::PodRecordRef pod = pods.facts(popped.pod.id).record;
  LogFailure(*pod, failure);
  // Who has nothing to say of the place leaves it as it is, which the pod's status may not say yet.
  std::optional<std::string_view> nominated = failure.nominated_node;
  if (!nominated) nominated = context_.dispatcher.NominationOnItsWay(pod->uid);
  context_.cluster.Nominate(popped.pod.id, nominated);
  if (const auto returned = context_.queue.Return(popped, RejectionOf(failure)); !returned) {
    BERTH_LOG_ERROR(returned.error(), "Could not put a pod back into the queue",
                    {"pod", base::LogObject{pod->namespace_, pod->name}});
  }
  Tell(profile, popped.pod, failure);
}

bool FailureHandler::PassOver(const queue::PoppedPod& popped, const Failure& failure) const {
  if (!popped.is_early || failure.likeness == 0) return false;
  const api::PodRecord& pod = *context_.cluster.pods().facts(popped.pod.id).record;
  if (dispatch::HasEffect(ChangeFor(failure, pod), pod, pod.nominated_node_name)) return false;
  return context_.queue.PutBack(popped, failure.likeness);
}

void FailureHandler::Tell(const ProfileRuntime& profile, base::Versioned<cluster::PodSlot> slot,
                          const Failure& failure) const {
  const cluster::PodRecordRef pod = context_.cluster.pods().facts(slot.id).record;
  if (failure.message.empty()) return;
  context_.events.Record({.pod = pod,
                          .reporter = profile.profile->scheduler_name(),
                          .type = "Warning",
                          .reason = "FailedScheduling",
                          .action = "Scheduling",
                          .note = Truncated(failure.message)});
  dispatch::Call call{
      .type = dispatch::CallType::kPodStatusPatch, .pod = pod, .change = ChangeFor(failure, *pod)};
  if (failure.nominated_node && failure.nominated_node->empty()) {
    call.on_finish = RestoreUnlessCleared(context_.cluster, slot);
  }
  // Not needed is fine: the pod says so already. A request that fails is logged where it is made.
  static_cast<void>(context_.dispatcher.Add(std::move(call)));
}

}  // namespace berth::cycle
