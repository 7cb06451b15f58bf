#include "dispatch/dispatch_metrics.h"

namespace berth::dispatch {

std::string_view CallTypeName(CallType type) {
  static constexpr std::array<std::string_view, kCallTypeCount> kNames = {"pod_status_patch", "pod_binding",
                                                                          "pod_deletion"};
  return kNames[static_cast<std::size_t>(type)];
}

DispatchMetrics::DispatchMetrics(base::MetricRegistry& registry) {
  auto& pending = registry.AddGauges({.name = "scheduler_pending_async_api_calls",
                                      .help = "Number of API calls that wait to be made.",
                                      .labels = {"call_type"}});
  auto& executed = registry.AddCounters({.name = "scheduler_async_api_call_execution_total",
                                         .help = "Number of API calls made, by result.",
                                         .labels = {"call_type", "result"}});
  auto& duration = registry.AddHistograms({.name = "scheduler_async_api_call_execution_duration_seconds",
                                           .help = "How long API calls took.",
                                           .labels = {"call_type", "result"},
                                           .buckets = base::ExponentialBuckets(0.001, 2, 15)});
  static constexpr std::array<std::string_view, 2> kResults = {"error", "success"};
  for (std::size_t type = 0; type < kCallTypeCount; ++type) {
    const std::string_view name = CallTypeName(static_cast<CallType>(type));
    by_type_[type].pending = pending.With({name});
    for (std::size_t result = 0; result < kResults.size(); ++result) {
      by_type_[type].executed[result] = executed.With({name, kResults[result]});
      by_type_[type].duration[result] = duration.With({name, kResults[result]});
    }
  }
}

void DispatchMetrics::AddPending(CallType type, int sign) {
  by_type_[static_cast<std::size_t>(type)].pending->Add(sign);
}

void DispatchMetrics::ObserveExecution(CallType type, bool succeeded, double seconds) {
  const Series& series = by_type_[static_cast<std::size_t>(type)];
  series.executed[succeeded ? 1 : 0]->Increment();
  series.duration[succeeded ? 1 : 0]->Observe(seconds);
}

}  // namespace berth::dispatch
