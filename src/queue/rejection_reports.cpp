#include "queue/rejection_reports.h"

#include <algorithm>
#include <chrono>

#include "api/pod_status_change.h"

namespace berth::queue {
namespace {

// As long as a new report waits, which keeps the reports that wait in the order of their deadlines.
constexpr base::Duration kRetryDelay = std::chrono::seconds(5);

}  // namespace

const ReportModel& RejectionReports::ModelOf(std::string_view plugin) const {
  const auto found = options_.by_plugin.find(plugin);
  return found == options_.by_plugin.end() ? options_.model : found->second;
}

// Null: the pod is gone, or has no such condition.
const api::PodCondition* RejectionReports::ConditionOf(PodRef pod) const {
  if (!cluster_.pods().IsCurrent(pod)) return nullptr;
  const auto& conditions = cluster_.pods().record(pod.id).conditions;
  const auto found = std::ranges::find(conditions, api::kPodScheduled, &api::PodCondition::type);
  return found == conditions.end() ? nullptr : &*found;
}

void RejectionReports::OnRejected(PodRef pod, const framework::Status& status,
                                  std::string_view result_message) {
  if (!options_.enabled) return;
  const ReportModel& model = ModelOf(status.plugin());
  std::string message =
      model.source == ReportModel::Source::kStatus ? status.Message() : std::string(result_message);
  if (model.opt_out_on_empty && message.empty()) return;
  State& state = states_[pod];
  if (model.seed_from_pod && !state.seeded && state.last.empty()) {
    const api::PodCondition* condition = ConditionOf(pod);
    if (condition != nullptr) state.last = condition->message;
  }
  // Once only: after a pass the old words say nothing about what the pod will show.
  state.seeded = true;
  if (state.last == message) return;
  state.last = message;
  state.delay = model.delay;
  const bool event_now = model.event_at == ReportModel::EventAt::kEnqueue;
  if (event_now) events_.push_back({RejectionReport::Kind::kEvent, pod, message});
  Enqueue(pod, state,
          {.clear = false,
           .with_event = !event_now,
           .message = std::move(message),
           .deadline = clock_.Now() + model.delay});
}

void RejectionReports::OnPassed(PodRef pod) {
  const auto found = states_.find(pod);
  if (found == states_.end() || found->second.last.empty()) return;
  found->second.last.clear();
  Enqueue(pod, found->second, {.clear = true, .message = {}, .deadline = clock_.Now() + found->second.delay});
}

void RejectionReports::Enqueue(PodRef pod, State& state, Pending pending) {
  const base::TimePoint now = clock_.Now();
  if (state.pending && state.pending->deadline <= pending.deadline) {
    // Its place in line is there already.
    pending.deadline = state.pending->deadline;
    state.pending = std::move(pending);
    return;
  }
  (pending.deadline <= now ? immediate_ : delayed_).push_back({pending.deadline, pod});
  state.pending = std::move(pending);
}

void RejectionReports::DropPending(PodRef pod) {
  const auto found = states_.find(pod);
  if (found != states_.end()) found->second.pending.reset();
}

std::optional<base::TimePoint> RejectionReports::NextDeadline() const {
  if (!events_.empty()) return clock_.Now();
  std::optional<base::TimePoint> next;
  for (const auto* deadlines : {&immediate_, &delayed_}) {
    if (!deadlines->empty() && (!next || deadlines->front().time < *next)) next = deadlines->front().time;
  }
  return next;
}

bool RejectionReports::WouldChange(PodRef pod, const Pending& pending) const {
  if (!cluster_.pods().IsCurrent(pod)) return false;
  const api::PodCondition* condition = ConditionOf(pod);
  const bool is_ours = condition != nullptr && condition->reason == api::kNotReadyForScheduling;
  if (pending.clear) return is_ours;
  return !is_ours || condition->status != "False" || condition->message != pending.message;
}

std::vector<RejectionReport> RejectionReports::TakeDue() {
  std::vector<RejectionReport> due = std::exchange(events_, {});
  TakeDueOf(immediate_, due);
  TakeDueOf(delayed_, due);
  return due;
}

void RejectionReports::TakeDueOf(std::deque<Deadline>& deadlines, std::vector<RejectionReport>& due) {
  for (; !deadlines.empty() && deadlines.front().time <= clock_.Now(); deadlines.pop_front()) {
    const PodRef pod = deadlines.front().pod;
    const auto found = states_.find(pod);
    if (found == states_.end()) continue;
    State& state = found->second;
    // A later deadline is that of a later report; an executing one takes the pod's next with it when it ends.
    if (!state.pending || state.pending->deadline > clock_.Now() || state.executing) continue;
    Pending pending = *std::exchange(state.pending, std::nullopt);
    if (!WouldChange(pod, pending)) continue;
    state.executing = true;
    due.push_back({.kind = pending.clear ? RejectionReport::Kind::kClear : RejectionReport::Kind::kWrite,
                   .pod = pod,
                   .message = std::move(pending.message),
                   .with_event = pending.with_event});
  }
}

void RejectionReports::OnResult(const RejectionReport& report, bool stored) {
  const auto found = states_.find(report.pod);
  if (found == states_.end()) return;
  State& state = found->second;
  state.executing = false;
  const bool is_latest = !state.pending && state.last == report.message;
  if (!stored && is_latest) {
    Enqueue(report.pod, state,
            {.clear = report.kind == RejectionReport::Kind::kClear,
             .with_event = false,
             .message = report.message,
             .deadline = clock_.Now() + kRetryDelay});
    return;
  }
  // It may have become due meanwhile, and its place in line is gone then.
  if (state.pending && state.pending->deadline <= clock_.Now()) {
    immediate_.push_back({state.pending->deadline, report.pod});
  }
}

}  // namespace berth::queue
