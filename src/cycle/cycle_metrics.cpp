#include "cycle/cycle_metrics.h"

#include <algorithm>
#include <chrono>

namespace berth::cycle {
namespace {

double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string_view ResultName(AttemptResult result) {
  static constexpr std::string_view kNames[] = {"scheduled", "unschedulable", "error"};
  return kNames[static_cast<std::size_t>(result)];
}

}  // namespace

CycleMetrics::CycleMetrics(base::MetricRegistry& registry)
    : attempts_(registry.AddCounters({.name = "scheduler_schedule_attempts_total",
                                      .help = "Number of attempts to schedule pods, by result.",
                                      .stability = base::Stability::kStable,
                                      .labels = {"profile", "result"}})),
      attempt_duration_(registry.AddHistograms(
          {.name = "scheduler_scheduling_attempt_duration_seconds",
           .help = "How long attempts took, from the start of the cycle until bound or given up.",
           .stability = base::Stability::kStable,
           .labels = {"profile", "result"},
           .buckets = base::ExponentialBuckets(0.001, 2, 15)})),
      permit_wait_(registry.AddHistograms({.name = "scheduler_permit_wait_duration_seconds",
                                           .help = "How long pods waited at Permit.",
                                           .stability = base::Stability::kBeta,
                                           .labels = {"result"},
                                           .buckets = base::ExponentialBuckets(0.001, 2, 15)})),
      sli_duration_(registry.AddHistograms(
          {.name = "scheduler_pod_scheduling_sli_duration_seconds",
           .help = "How long it took from the first entry to the active queue until a pod was bound.",
           .stability = base::Stability::kBeta,
           .labels = {"attempts"},
           .buckets = base::ExponentialBuckets(0.01, 2, 20)})),
      bound_after_flush_(registry.AddCounter(
          {.name = "scheduler_pod_scheduled_after_flush_total",
           .help = "Number of pods that were bound after no event but the time that they had waited brought "
                   "them back."})),
      preemption_attempts_(registry.AddCounter({.name = "scheduler_preemption_attempts_total",
                                                .help = "Number of searches for pods to evict.",
                                                .stability = base::Stability::kStable})),
      preemption_victims_(registry.AddHistogram({.name = "scheduler_preemption_victims",
                                                 .help = "How many pods were chosen to be evicted for one.",
                                                 .stability = base::Stability::kStable,
                                                 .buckets = base::ExponentialBuckets(1, 2, 7)})),
      evictions_(registry.AddCounters({.name = "scheduler_preemption_goroutines_execution_total",
                                       .help = "Number of times that the victims for one pod were evicted.",
                                       .labels = {"result"}})),
      evictions_duration_(
          registry.AddHistograms({.name = "scheduler_preemption_goroutines_duration_seconds",
                                  .help = "How long it took to evict the victims for one pod.",
                                  .deprecated_since = "1.37.0",
                                  .labels = {"result"},
                                  .buckets = base::ExponentialBuckets(0.01, 2, 20)})) {
  algorithm_duration_ = registry
                            .AddHistograms({.name = "scheduler_scheduling_algorithm_duration_seconds",
                                            .help = "How long it took to find a node or that there is none.",
                                            .stability = base::Stability::kBeta,
                                            .buckets = base::ExponentialBuckets(0.001, 2, 15)})
                            .With({});
  attempts_until_bound_ = registry
                              .AddHistograms({.name = "scheduler_pod_scheduling_attempts",
                                              .help = "How many attempts it took to bind a pod.",
                                              .stability = base::Stability::kStable,
                                              .buckets = base::ExponentialBuckets(1, 2, 5)})
                              .With({});
}

CycleMetrics::AttemptSeries& CycleMetrics::SeriesOf(std::string_view profile, AttemptResult result) {
  const auto found = std::ranges::find_if(attempt_series_, [&](const AttemptSeries& series) {
    return series.result == result && series.profile == profile;
  });
  if (found != attempt_series_.end()) return *found;
  return attempt_series_.emplace_back(AttemptSeries{std::string(profile), result,
                                                    attempts_.With({profile, ResultName(result)}),
                                                    attempt_duration_.With({profile, ResultName(result)})});
}

void CycleMetrics::ObserveAttempt(std::string_view profile, AttemptResult result, base::Duration duration) {
  const AttemptSeries& series = SeriesOf(profile, result);
  series.count->Increment();
  series.duration->Observe(Seconds(duration));
}

void CycleMetrics::ObserveAlgorithm(base::Duration duration) {
  algorithm_duration_->Observe(Seconds(duration));
}

void CycleMetrics::ObservePermitWait(std::string_view code, base::Duration duration) {
  permit_wait_.With({code})->Observe(Seconds(duration));
}

void CycleMetrics::ObserveBound(const Bound& bound) {
  attempts_until_bound_->Observe(bound.attempts);
  if (bound.after_flush) bound_after_flush_.Increment();
  const auto attempts = std::min(static_cast<std::size_t>(bound.attempts), kAttemptsMax);
  auto& series = sli_series_[attempts];
  if (series == nullptr) {
    series = sli_duration_.With({attempts == kAttemptsMax ? "15+" : std::to_string(attempts)});
  }
  series->Observe(Seconds(bound.since_first_attempt));
}

void CycleMetrics::ObserveVictims(std::size_t count) {
  preemption_victims_.Observe(static_cast<double>(count));
}

void CycleMetrics::ObserveEvictions(bool succeeded, base::Duration duration) {
  const std::string_view result = succeeded ? "success" : "error";
  evictions_.With({result})->Increment();
  evictions_duration_.With({result})->Observe(Seconds(duration));
}

}  // namespace berth::cycle
