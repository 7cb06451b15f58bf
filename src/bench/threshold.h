#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/data_item.h"

namespace berth::bench {

// What a workload must reach. One number for every topic, or one for each.
class Threshold {
 public:
  static base::Result<Threshold> Parse(const boost::json::value& value);

  // 0: nothing has to be reached.
  double For(std::string_view topic) const;
  base::Result<void> Validate(std::string_view topic) const;

 private:
  double value_ = 0;
  std::map<std::string, double, std::less<>> by_topic_;
};

// Label values that a metric is collected for: one list per label.
using LabelValues = std::map<std::string, std::vector<std::string>>;
// The metrics that are collected beside the throughput.
using CollectedMetrics = std::map<std::string, LabelValues>;

CollectedMetrics DefaultMetrics();

// Which number is compared with the threshold.
struct MetricSelector {
  std::string name = kThroughputMetric;
  std::map<std::string, std::string> labels = {};
  std::string data_bucket = "Average";
  bool expect_lower = false;

  // Whether such a number will be there.
  base::Result<void> Validate(const CollectedMetrics& collected) const;
};

// What missed the threshold, in sentences. Each item that was compared gets the threshold beside its value.
std::vector<std::string> CheckThreshold(double threshold, const MetricSelector& selector,
                                        std::vector<DataItem>& items);

}  // namespace berth::bench
