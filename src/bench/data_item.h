#pragma once

#include <map>
#include <string>
#include <vector>

namespace berth::bench {

// One measured quantity, in the form that Kubernetes' dashboards read.
struct DataItem {
  std::map<std::string, double> data;  // "Average", "Perc99", ...; empty: nothing was seen
  std::string unit;
  std::map<std::string, std::string> labels;
};

// Upstream's.
inline constexpr const char* kThroughputMetric = "SchedulingThroughput";
// berth's own: from the first binding to the last, per pod of the scheduler's process, from a pod's creation
// to its binding, of one attempt as the scheduler measures it, how many of them it made.
inline constexpr const char* kExactThroughputMetric = "ExactSchedulingThroughput";
inline constexpr const char* kProcessorTimeMetric = "SchedulerProcessorTime";
inline constexpr const char* kPodLatencyMetric = "PodSchedulingLatency";
inline constexpr const char* kPeakMemoryMetric = "PeakMemory";
inline constexpr const char* kAttemptMetric = "SchedulingAttemptLatency";
inline constexpr const char* kAttemptsMetric = "SchedulingAttempts";

}  // namespace berth::bench
