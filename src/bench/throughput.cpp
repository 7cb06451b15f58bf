#include "bench/throughput.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace berth::bench {

void ThroughputSamples::Tick(base::TimePoint now, std::size_t bound_count) {
  if (bound_count == 0) return;
  if (!has_started_) {
    has_started_ = true;
    last_count_ = bound_count;
    last_time_ = now;
    return;
  }
  if (bound_count == last_count_) {
    ++skipped_;
    return;
  }
  const double seconds = std::chrono::duration<double>(now - last_time_).count();
  const double rate = static_cast<double>(bound_count - last_count_) / seconds;
  samples_.insert(samples_.end(), skipped_ + 1, rate);
  last_count_ = bound_count;
  last_time_ = now;
  skipped_ = 0;
}

double Percentile(const std::vector<double>& sorted, int percent) {
  const std::size_t rank = (sorted.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return sorted[rank - 1];
}

std::map<std::string, double> Summarize(std::vector<double> samples) {
  std::map<std::string, double> summary;
  if (samples.empty()) return summary;
  std::ranges::sort(samples);
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  summary["Average"] = sum / static_cast<double>(samples.size());
  for (const int percent : {50, 90, 95, 99}) {
    summary[fmt::format("Perc{}", percent)] = Percentile(samples, percent);
  }
  return summary;
}

}  // namespace berth::bench
