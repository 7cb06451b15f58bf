#include "core/rejection_reporter.h"

#include <utility>

namespace berth::core {
namespace {

using queue::RejectionReport;

queue::RejectionReports::End EndOf(const dispatch::CallOutcome& outcome) {
  using End = queue::RejectionReports::End;
  if (outcome.IsFailure()) return End::kFailed;
  return outcome.end == dispatch::CallEnd::kOverwritten ? End::kSuperseded : End::kTold;
}

api::PodCondition ConditionOf(const RejectionReport& report, const api::PodRecord& pod) {
  api::PodCondition condition;
  condition.type = api::kPodScheduled;
  condition.status = "False";
  condition.reason = api::kNotReadyForScheduling;
  condition.message = report.message;
  condition.observed_generation = pod.generation;
  return condition;
}

}  // namespace

void RejectionReporter::TellAll() {
  for (const RejectionReport& report : setup_.reports.Take()) Tell(report);
}

void RejectionReporter::Tell(const RejectionReport& report) {
  if (!setup_.cluster.pods().IsCurrent(report.pod)) return;
  const cluster::PodRecordRef pod = setup_.cluster.pods().facts(report.pod.id).record;
  dispatch::CallEvent event{.type = "Warning",
                            .reason = api::kNotReadyForScheduling,
                            .action = "Scheduling",
                            .note = report.message};
  if (report.kind == RejectionReport::Kind::kEvent) {
    record_(pod, event);
    return;
  }
  dispatch::Call call{.type = dispatch::CallType::kPodStatusPatch, .pod = pod, .change = {}};
  if (report.kind == RejectionReport::Kind::kClear) {
    call.change.remove_not_ready = true;
  } else {
    call.change.conditions.push_back(ConditionOf(report, *pod));
    if (report.with_event) call.event = std::move(event);
  }
  call.on_finish = [&reports = setup_.reports, report](const dispatch::CallOutcome& outcome) {
    reports.OnEnd(report, EndOf(outcome));
  };
  // Not needed is fine: the pod says so already.
  static_cast<void>(setup_.dispatcher.Add(std::move(call), report.delay));
}

}  // namespace berth::core
