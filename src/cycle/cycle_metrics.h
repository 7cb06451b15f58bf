#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"

namespace berth::cycle {

enum class AttemptResult : std::uint8_t { kScheduled, kUnschedulable, kError };

// What attempts came to and how long they took. Names in the registry must be free.
class CycleMetrics {
 public:
  explicit CycleMetrics(base::MetricRegistry& registry);

  void ObserveAttempt(std::string_view profile, AttemptResult result, base::Duration duration);
  void ObserveAlgorithm(base::Duration duration);
  void ObservePermitWait(std::string_view code, base::Duration duration);
  struct Bound {
    std::int32_t attempts = 0;
    base::Duration since_first_attempt{};
    bool after_flush = false;  // nothing but the time that it had waited brought it back
  };
  void ObserveBound(const Bound& bound);
  // A plugin searched for pods to evict, whatever came of it.
  void CountPreemptionAttempt() { preemption_attempts_.Increment(); }
  void ObserveVictims(std::size_t count);
  void ObserveEvictions(bool succeeded, base::Duration duration);

 private:
  // Finding a series by its labels costs more than an attempt.
  struct AttemptSeries {
    std::string profile;
    AttemptResult result;
    std::shared_ptr<base::Counter> count;
    std::shared_ptr<base::Histogram> duration;
  };
  static constexpr std::size_t kAttemptsMax = 15;

  AttemptSeries& SeriesOf(std::string_view profile, AttemptResult result);

  base::CounterFamily& attempts_;
  base::HistogramFamily& attempt_duration_;
  std::shared_ptr<base::Histogram> algorithm_duration_;
  base::HistogramFamily& permit_wait_;
  std::shared_ptr<base::Histogram> attempts_until_bound_;
  base::HistogramFamily& sli_duration_;
  base::Counter& bound_after_flush_;
  base::Counter& preemption_attempts_;
  base::Histogram& preemption_victims_;
  base::CounterFamily& evictions_;
  base::HistogramFamily& evictions_duration_;
  std::vector<AttemptSeries> attempt_series_;                                  // a few
  std::array<std::shared_ptr<base::Histogram>, kAttemptsMax + 1> sli_series_;  // by number of attempts
};

}  // namespace berth::cycle
