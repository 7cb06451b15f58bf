#include "bench/threshold.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace berth::bench {
namespace {

namespace json = boost::json;

constexpr const char* kPoints[] = {"PreFilter",
                                   "Filter",
                                   "PreFilterExtensionAddPod",
                                   "PreFilterExtensionRemovePod",
                                   "PostFilter",
                                   "PreScore",
                                   "Score",
                                   "ScoreExtensionNormalize",
                                   "PreBind",
                                   "PreBindPreFlight",
                                   "Bind",
                                   "PostBind",
                                   "Reserve",
                                   "Unreserve",
                                   "Permit",
                                   "Sign",
                                   "PlacementGenerate",
                                   "PlacementFeasible",
                                   "PodGroupPostFilter"};

// Whether the values that are collected have this value for this label.
bool IsCollected(const LabelValues& values, const std::string& label, const std::string& value) {
  const auto found = values.find(label);
  return found != values.end() && std::ranges::find(found->second, value) != found->second.end();
}

bool HasLabels(const DataItem& item, const MetricSelector& selector) {
  const auto metric = item.labels.find("Metric");
  if (metric == item.labels.end() || metric->second != selector.name) return false;
  return std::ranges::all_of(selector.labels, [&](const auto& wanted) {
    const auto found = item.labels.find(wanted.first);
    return found != item.labels.end() && found->second == wanted.second;
  });
}

}  // namespace

CollectedMetrics DefaultMetrics() {
  const std::vector<std::string> points(std::begin(kPoints), std::end(kPoints));
  const std::vector<std::string> results = {"scheduled", "unschedulable", "error"};
  std::vector<std::string> group_results = {"waiting_on_preemption"};
  group_results.insert(group_results.end(), results.begin(), results.end());
  return {
      {"scheduler_framework_extension_point_duration_seconds", {{"extension_point", points}}},
      {"scheduler_scheduling_attempt_duration_seconds", {{"result", results}}},
      {"scheduler_podgroup_scheduling_attempt_duration_seconds", {{"result", group_results}}},
      {"scheduler_podgroup_scheduling_algorithm_duration_seconds", {}},
  };
}

base::Result<Threshold> Threshold::Parse(const json::value& value) {
  Threshold threshold;
  if (value.is_number()) {
    threshold.value_ = value.to_number<double>();
    return threshold;
  }
  const bool is_map = value.is_object() && std::ranges::all_of(value.as_object(), [](const auto& member) {
                        return member.value().is_number();
                      });
  if (!is_map) return base::Fail("expected either a number or a map from topic to number");
  for (const auto& [topic, number] : value.as_object()) {
    threshold.by_topic_.emplace(topic, number.template to_number<double>());
  }
  return threshold;
}

double Threshold::For(std::string_view topic) const {
  const auto found = by_topic_.find(topic);
  return found != by_topic_.end() ? found->second : value_;
}

base::Result<void> Threshold::Validate(std::string_view topic) const {
  if (value_ < 0) return base::Fail(fmt::format("invalid Threshold={:f}; should be non-negative", value_));
  if (const double own = For(topic); own < 0) {
    return base::Fail(
        fmt::format("invalid Threshold={:f} for topic \"{}\"; should be non-negative", own, topic));
  }
  return {};
}

base::Result<void> MetricSelector::Validate(const CollectedMetrics& collected) const {
  if (data_bucket.empty()) return base::Fail(fmt::format("dataBucket should be set for metric {}", name));
  if (name == kThroughputMetric) return {};
  const auto metric = collected.find(name);
  if (metric == collected.end()) {
    return base::Fail(
        fmt::format("the metric {} is targeted, but it's not collected during the test. Make "
                    "sure the MetricsCollectorConfig is valid",
                    name));
  }
  const bool matches = std::ranges::all_of(
      labels, [&](const auto& label) { return IsCollected(metric->second, label.first, label.second); });
  if (!matches) return base::Fail(fmt::format("no matching labels found for metric {}", name));
  return {};
}

std::vector<std::string> CheckThreshold(double threshold, const MetricSelector& selector,
                                        std::vector<DataItem>& items) {
  std::vector<std::string> failures;
  if (threshold == 0) return failures;
  const std::string& bucket = selector.data_bucket;
  for (DataItem& item : items) {
    // Without any data nothing was measured, and there is nothing to compare.
    if (item.data.empty() || !HasLabels(item, selector)) continue;
    const std::string& name = item.labels["Name"];
    const auto found = item.data.find(bucket);
    if (found == item.data.end()) {
      failures.push_back(
          fmt::format("{}: no data present for \"{}\" metric \"{}\" bucket", name, selector.name, bucket));
      continue;
    }
    const double value = found->second;
    item.data[bucket + "Threshold"] = threshold;
    if (selector.expect_lower ? value < threshold : value > threshold) continue;
    failures.push_back(fmt::format("{}: expected \"{}\" \"{}\" to be {}: got {:f}, want {:f}", name,
                                   selector.name, bucket, selector.expect_lower ? "lower" : "higher", value,
                                   threshold));
  }
  return failures;
}

}  // namespace berth::bench
