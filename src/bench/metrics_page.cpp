#include "bench/metrics_page.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace berth::bench {
namespace {

std::optional<double> NumberOf(std::string_view text) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes `name="value",...}` from the front of the text. False: that is not what is there.
bool TakeLabels(std::string_view& text, MetricsPage::Labels& labels) {
  while (!text.starts_with('}')) {
    const std::size_t equals = text.find("=\"");
    if (equals == std::string_view::npos) return false;
    std::string& value = labels[std::string(text.substr(0, equals))];
    text.remove_prefix(equals + 2);
    while (!text.starts_with('"')) {
      if (text.empty()) return false;
      const bool is_escape = text.front() == '\\' && text.size() > 1;
      if (is_escape) text.remove_prefix(1);
      value += is_escape && text.front() == 'n' ? '\n' : text.front();
      text.remove_prefix(1);
    }
    text.remove_prefix(1);
    if (text.starts_with(',')) text.remove_prefix(1);
    if (text.empty()) return false;
  }
  text.remove_prefix(1);
  return true;
}

// A family that upstream reports, and the labels that tell its items apart.
struct ReportedFamily {
  const char* name;
  std::vector<std::string> labels;
};

const std::vector<ReportedFamily>& ReportedFamilies() {
  static const std::vector<ReportedFamily> families = {
      {"scheduler_framework_extension_point_duration_seconds", {"extension_point"}},
      {"scheduler_scheduling_attempt_duration_seconds", {"result"}},
      {"scheduler_plugin_execution_duration_seconds", {"plugin", "extension_point"}},
      {"scheduler_queueing_hint_execution_duration_seconds", {"plugin", "event"}},
      {"scheduler_event_handling_duration_seconds", {"event"}},
      {"scheduler_podgroup_scheduling_attempt_duration_seconds", {"result"}},
      {"scheduler_podgroup_scheduling_algorithm_duration_seconds", {}},
  };
  return families;
}

}  // namespace

void Histogram::Add(const Histogram& other) {
  for (const auto& [bound, number] : other.cumulative) cumulative[bound] += number;
  sum += other.sum;
  count += other.count;
}

Histogram Histogram::Since(const Histogram& earlier) const {
  Histogram rest = *this;
  for (auto& [bound, number] : rest.cumulative) {
    if (const auto before = earlier.cumulative.find(bound); before != earlier.cumulative.end()) {
      number -= before->second;
    }
  }
  rest.sum -= earlier.sum;
  rest.count -= earlier.count;
  return rest;
}

std::optional<double> Histogram::Quantile(double q) const {
  if (count <= 0) return std::nullopt;
  const double rank = q * count;
  double lower = 0;
  double below = 0;
  for (const auto& [bound, number] : cumulative) {
    if (number >= rank && number > 0) {
      // Nothing is known about how large these were.
      if (std::isinf(bound)) return lower;
      return lower + (bound - lower) * (rank - below) / (number - below);
    }
    lower = std::isinf(bound) ? lower : bound;
    below = number;
  }
  return lower;
}

MetricsPage MetricsPage::Parse(std::string_view text) {
  MetricsPage page;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t name_end = line.find_first_of("{ ");
    if (name_end == std::string_view::npos) continue;
    const std::string name(line.substr(0, name_end));
    const bool has_labels = line[name_end] == '{';
    line.remove_prefix(name_end + (has_labels ? 1 : 0));
    Sample sample;
    if (has_labels && !TakeLabels(line, sample.labels)) continue;
    if (!line.starts_with(' ')) continue;
    line.remove_prefix(1);
    const auto value = NumberOf(line.substr(0, line.find(' ')));
    if (!value) continue;
    sample.value = *value;
    page.samples_[name].push_back(std::move(sample));
  }
  return page;
}

std::map<std::vector<std::string>, Histogram> MetricsPage::Histograms(
    std::string_view family, const std::vector<std::string>& labels) const {
  std::map<std::vector<std::string>, Histogram> found;
  const auto visit = [&](std::string_view suffix, const auto& add) {
    const auto samples = samples_.find(std::string(family) + std::string(suffix));
    if (samples == samples_.end()) return;
    for (const Sample& sample : samples->second) {
      std::vector<std::string> key;
      for (const std::string& label : labels) {
        const auto value = sample.labels.find(label);
        key.push_back(value == sample.labels.end() ? std::string() : value->second);
      }
      add(found[key], sample);
    }
  };
  visit("_sum", [](Histogram& histogram, const Sample& sample) { histogram.sum += sample.value; });
  visit("_count", [](Histogram& histogram, const Sample& sample) { histogram.count += sample.value; });
  visit("_bucket", [](Histogram& histogram, const Sample& sample) {
    const auto bound = sample.labels.find("le");
    if (bound == sample.labels.end()) return;
    if (const auto number = NumberOf(bound->second)) histogram.cumulative[*number] += sample.value;
  });
  return found;
}

double MetricsPage::Sum(std::string_view name) const {
  double sum = 0;
  if (const auto found = samples_.find(name); found != samples_.end()) {
    for (const Sample& sample : found->second) sum += sample.value;
  }
  return sum;
}

std::vector<DataItem> HistogramItems(const MetricsPage& page, const std::string& path) {
  constexpr std::array kQuantiles = {50, 90, 95, 99};
  std::vector<DataItem> items;
  for (const ReportedFamily& family : ReportedFamilies()) {
    for (const auto& [values, histogram] : page.Histograms(family.name, family.labels)) {
      if (histogram.count <= 0 || histogram.sum <= 0) continue;
      DataItem item{.data = {{"Average", histogram.sum / histogram.count * 1e3}},
                    .unit = "ms",
                    .labels = {{"Metric", family.name}, {"Name", path}}};
      for (const int percent : kQuantiles) {
        item.data[fmt::format("Perc{}", percent)] = *histogram.Quantile(percent / 100.0) * 1e3;
      }
      for (std::size_t i = 0; i < values.size(); ++i) item.labels[family.labels[i]] = values[i];
      items.push_back(std::move(item));
    }
  }
  return items;
}

}  // namespace berth::bench
