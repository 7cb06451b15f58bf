#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"

namespace berth::bench {

// Pods per second as scheduler_perf samples it: once a second, from the first second that saw a pod bound.
// What is bound before that, and in the last part of a second, is in no sample. Seconds without a pod repeat
// the next rate.
class ThroughputSamples {
 public:
  void Tick(base::TimePoint now, std::size_t bound_count);

  const std::vector<double>& samples() const { return samples_; }

 private:
  bool has_started_ = false;
  std::size_t last_count_ = 0;
  base::TimePoint last_time_{};
  std::size_t skipped_ = 0;
  std::vector<double> samples_;
};

// Average, Perc50, Perc90, Perc95, Perc99; nothing of nothing.
std::map<std::string, double> Summarize(std::vector<double> samples);
// The smallest sample that `percent` of all do not exceed. There is at least one; they are sorted.
double Percentile(const std::vector<double>& sorted, int percent);

}  // namespace berth::bench
