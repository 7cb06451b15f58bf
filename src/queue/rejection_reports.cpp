#include "queue/rejection_reports.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/pod_status_change.h"

namespace berth::queue {
namespace {

using framework::ReportModel;

constexpr base::Duration kRetryDelay = std::chrono::seconds(5);

}  // namespace

// Null: the pod is gone, or has no such condition.
const api::PodCondition* RejectionReports::ConditionOf(PodRef pod) const {
  if (!cluster_.pods().IsCurrent(pod)) return nullptr;
  const auto& conditions = cluster_.pods().record(pod.id).conditions();
  const auto found = std::ranges::find(conditions, api::kPodScheduled, &api::PodCondition::type);
  return found == conditions.end() ? nullptr : &*found;
}

void RejectionReports::OnRejected(PodRef pod, const GateVerdict& verdict) {
  if (!enabled_) return;
  const ReportModel& model = verdict.model;
  std::string message =
      model.source == ReportModel::Source::kStatus ? verdict.status.Message() : verdict.result_message;
  if (model.opt_out_on_empty && message.empty()) return;
  State& state = states_[pod];
  if (model.seed_from_pod && !state.seeded && state.last.empty()) {
    if (const api::PodCondition* condition = ConditionOf(pod)) state.last = condition->message;
  }
  // Once only: after a pass the old words say nothing about what the pod will show.
  state.seeded = true;
  if (state.last == message) return;
  state.last = std::move(message);
  state.delay = model.delay;
  Write(pod, state, model.event_at);
}

void RejectionReports::Write(PodRef pod, State& state, ReportModel::EventAt event_at) {
  state.untold = silent_;
  if (silent_) return;
  state.sequence = ++last_sequence_;
  const bool event_now = event_at == ReportModel::EventAt::kEnqueue;
  if (event_now)
    reports_.push_back({.kind = RejectionReport::Kind::kEvent, .pod = pod, .message = state.last});
  reports_.push_back({.kind = RejectionReport::Kind::kWrite,
                      .pod = pod,
                      .message = state.last,
                      .with_event = !event_now,
                      .delay = state.delay,
                      .sequence = state.sequence});
}

void RejectionReports::Clear(PodRef pod, State& state) {
  state.untold = silent_;
  if (silent_) return;
  state.sequence = ++last_sequence_;
  reports_.push_back(
      {.kind = RejectionReport::Kind::kClear, .pod = pod, .delay = state.delay, .sequence = state.sequence});
}

void RejectionReports::SetSilent(bool silent) {
  silent_ = silent;
  if (silent) return;
  std::vector<PodRef> untold;
  // house: hash-order: sorted below
  for (const auto& [pod, state] : states_) {
    if (state.untold) untold.push_back(pod);
  }
  std::ranges::sort(untold, {}, [](PodRef pod) { return pod.id; });
  for (const PodRef pod : untold) {
    State& state = states_.at(pod);
    if (state.last.empty()) {
      Clear(pod, state);
    } else {
      Write(pod, state, ReportModel::EventAt::kExecution);
    }
  }
}

void RejectionReports::OnPassed(PodRef pod) {
  if (!enabled_) return;
  auto found = states_.find(pod);
  if (found == states_.end()) {
    const api::PodCondition* condition = ConditionOf(pod);
    if (condition == nullptr || !api::IsNotReadyForScheduling(*condition)) return;
    found = states_.emplace(pod, State{.last = condition->message, .seeded = true}).first;
  }
  State& state = found->second;
  if (state.last.empty()) return;
  state.last.clear();
  Clear(pod, state);
}

void RejectionReports::OnEnd(const RejectionReport& report, End end) {
  const auto found = states_.find(report.pod);
  // Only what was said last is worth another word.
  if (found == states_.end() || found->second.sequence != report.sequence) return;
  if (end == End::kFailed && silent_) {
    found->second.untold = true;
  } else if (end == End::kFailed) {
    RejectionReport again = report;
    again.with_event = false;
    again.delay = kRetryDelay;
    reports_.push_back(std::move(again));
  } else if (end == End::kSuperseded) {
    // What took its place says something else, so the same words would be news again.
    found->second.last.clear();
  }
}

}  // namespace berth::queue
