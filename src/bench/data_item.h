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

inline constexpr const char* kThroughputMetric = "SchedulingThroughput";

}  // namespace berth::bench
