#include "bench/compare.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <utility>

#include "bench/report.h"
#include "wire/json_document.h"

namespace berth::bench {
namespace {

constexpr std::string_view kNamePrefix = "BenchmarkPerfScheduling/";

constexpr std::array kQuantities = {
    Quantity{"CPU us per pod", kProcessorTimeMetric, "PerPod", Better::kLess},
    Quantity{"pods/s, first to last binding", kExactThroughputMetric, "Average", Better::kMore},
    Quantity{"pods/s sampled, average", kThroughputMetric, "Average", Better::kMore},
    Quantity{"pods/s sampled, p50", kThroughputMetric, "Perc50", Better::kMore},
    Quantity{"pods/s sampled, p90", kThroughputMetric, "Perc90", Better::kMore},
    Quantity{"pods/s sampled, p95", kThroughputMetric, "Perc95", Better::kMore},
    Quantity{"pods/s sampled, p99", kThroughputMetric, "Perc99", Better::kMore},
    Quantity{"attempts per pod", kAttemptsMetric, "PerPod", Better::kNeither},
    Quantity{"attempt p50, ms", kAttemptMetric, "Perc50", Better::kLess},
    Quantity{"attempt p90, ms", kAttemptMetric, "Perc90", Better::kLess},
    Quantity{"attempt p95, ms", kAttemptMetric, "Perc95", Better::kLess},
    Quantity{"attempt p99, ms", kAttemptMetric, "Perc99", Better::kLess},
    Quantity{"created to bound p50, ms", kPodLatencyMetric, "Perc50", Better::kLess},
    Quantity{"created to bound p90, ms", kPodLatencyMetric, "Perc90", Better::kLess},
    Quantity{"created to bound p95, ms", kPodLatencyMetric, "Perc95", Better::kLess},
    Quantity{"created to bound p99, ms", kPodLatencyMetric, "Perc99", Better::kLess},
    Quantity{"peak memory, MiB", kPeakMemoryMetric, "Max", Better::kLess},
};

std::string LabelOf(const DataItem& item, const std::string& name) {
  const auto found = item.labels.find(name);
  return found == item.labels.end() ? std::string() : found->second;
}

// Values by workload, metric and bucket, in the order in which they were reported. Items of one histogram
// among several have labels of their own and are no part of a comparison.
struct SideValues {
  std::vector<std::string> names;
  std::map<std::string, std::map<std::pair<std::string, std::string>, std::vector<double>>> by_name;
};

SideValues Collect(std::span<const DataItem> items) {
  SideValues side;
  for (const DataItem& item : items) {
    const std::string name = LabelOf(item, "Name");
    if (std::ranges::find(side.names, name) == side.names.end()) side.names.push_back(name);
    for (const auto& [bucket, value] : item.data) {
      side.by_name[name][{LabelOf(item, "Metric"), bucket}].push_back(value);
    }
  }
  return side;
}

std::string ShownName(std::string_view name) {
  if (name.starts_with(kNamePrefix)) name.remove_prefix(kNamePrefix.size());
  return std::string(name);
}

ComparedWorkload WorkloadOf(const std::string& name, const std::array<SideValues, 2>& sides) {
  ComparedWorkload workload{.name = ShownName(name), .rows = {}};
  for (const Quantity& quantity : kQuantities) {
    ComparedRow row{.quantity = &quantity, .values = {}};
    for (std::size_t side = 0; side < 2; ++side) {
      const auto of_name = sides[side].by_name.find(name);
      if (of_name == sides[side].by_name.end()) continue;
      const auto found = of_name->second.find({quantity.metric, quantity.bucket});
      if (found != of_name->second.end()) row.values[side] = found->second;
    }
    if (!row.values[0].empty() || !row.values[1].empty()) workload.rows.push_back(std::move(row));
  }
  return workload;
}

// What the table has room for.
struct Column {
  const char* title;
  const char* metric;
  const char* bucket;
  int digits;
};
constexpr std::array kColumns = {
    Column{"CPU us/pod", kProcessorTimeMetric, "PerPod", 1},
    Column{"pods/s", kExactThroughputMetric, "Average", 0},
    Column{"attempt p99 ms", kAttemptMetric, "Perc99", 2},
    Column{"peak MiB", kPeakMemoryMetric, "Max", 0},
};

std::string ValueText(const ComparedRow* row, std::size_t side, int digits) {
  if (row == nullptr || row->values[side].empty()) return "-";
  return fmt::format("{:.{}f}", Median(row->values[side]), digits);
}

base::Result<DataItem> ParseItem(const boost::json::value& value) {
  const boost::json::object* const object = value.if_object();
  if (object == nullptr) return base::Fail("is no object");
  DataItem item;
  const auto read = [&](const char* name, auto take) -> base::Result<void> {
    const boost::json::value* const members = object->if_contains(name);
    if (members == nullptr || members->is_null()) return {};
    if (!members->is_object()) return base::Fail(fmt::format("{} is no object", name));
    for (const auto& [key, member] : members->as_object()) {
      if (!take(std::string(key), member))
        return base::Fail(fmt::format("{}.{} is wrong", name, std::string(key)));
    }
    return {};
  };
  const auto data = read("data", [&](std::string key, const boost::json::value& member) {
    if (!member.is_number()) return false;
    item.data[std::move(key)] = member.to_number<double>();
    return true;
  });
  if (!data) return std::unexpected(data.error());
  const auto labels = read("labels", [&](std::string key, const boost::json::value& member) {
    if (!member.is_string()) return false;
    item.labels[std::move(key)] = std::string(member.as_string());
    return true;
  });
  if (!labels) return std::unexpected(labels.error());
  return item;
}

}  // namespace

std::span<const Quantity> ComparedQuantities() { return kQuantities; }

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<Ratio> ComparedRow::RatioOfPairs() const {
  if (quantity->better == Better::kNeither) return std::nullopt;
  const bool more_is_better = quantity->better == Better::kMore;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(values[0].size(), values[1].size()); ++i) {
    const double better = more_is_better ? values[0][i] : values[1][i];
    const double worse = more_is_better ? values[1][i] : values[0][i];
    if (better > 0 && worse > 0) ratios.push_back(better / worse);
  }
  if (ratios.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(ratios);
  return Ratio{.median = Median(ratios), .least = least, .most = most, .pairs = ratios.size()};
}

const ComparedRow* ComparedWorkload::Find(std::string_view metric, std::string_view bucket) const {
  const auto found = std::ranges::find_if(rows, [&](const ComparedRow& row) {
    return row.quantity->metric == metric && row.quantity->bucket == bucket;
  });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<ComparedWorkload> CompareItems(std::span<const DataItem> first,
                                           std::span<const DataItem> second) {
  const std::array<SideValues, 2> sides = {Collect(first), Collect(second)};
  std::vector<ComparedWorkload> workloads;
  for (const std::string& name : sides[0].names) {
    if (!sides[0].by_name.contains(name) || !sides[1].by_name.contains(name)) continue;
    workloads.push_back(WorkloadOf(name, sides));
  }
  return workloads;
}

std::vector<ComparedWorkload> WorkloadsOf(std::span<const DataItem> items) {
  const std::array<SideValues, 2> sides = {Collect(items), SideValues()};
  std::vector<ComparedWorkload> workloads;
  for (const std::string& name : sides[0].names) {
    if (sides[0].by_name.contains(name)) workloads.push_back(WorkloadOf(name, sides));
  }
  return workloads;
}

base::Result<std::vector<DataItem>> ParseDataItems(std::string_view text, const std::string& path) {
  const auto document = wire::ParseJson(text);
  if (!document) return base::Fail(path + ": " + document.error().message);
  const boost::json::object* const object = document->if_object();
  const boost::json::value* const items = object != nullptr ? object->if_contains("dataItems") : nullptr;
  if (items == nullptr || !items->is_array()) return base::Fail(path + ": there are no dataItems in it");
  std::vector<DataItem> parsed;
  for (const boost::json::value& value : items->as_array()) {
    auto item = ParseItem(value);
    if (!item)
      return base::Fail(fmt::format("{}: dataItems[{}]: {}", path, parsed.size(), item.error().message));
    parsed.push_back(*std::move(item));
  }
  return parsed;
}

std::string FactorText(double factor) {
  return factor < 1 ? fmt::format("{:.2f}", factor) : fmt::format("{:.1f}", factor);
}

std::string RatioText(const Ratio& ratio) {
  if (ratio.pairs == 0) return "-";
  if (ratio.pairs == 1) return FactorText(ratio.median);
  return fmt::format("{} ({}-{})", FactorText(ratio.median), FactorText(ratio.least), FactorText(ratio.most));
}

std::optional<double> MeanRatio(std::span<const ComparedWorkload> workloads, std::string_view metric,
                                std::string_view bucket) {
  double sum = 0;
  std::size_t count = 0;
  for (const ComparedWorkload& workload : workloads) {
    const ComparedRow* const row = workload.Find(metric, bucket);
    const auto ratio = row != nullptr ? row->RatioOfPairs() : std::nullopt;
    if (!ratio) continue;
    sum += std::log(ratio->median);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(sum / static_cast<double>(count));
}

std::vector<std::string> ShortNames(std::span<const ComparedWorkload> workloads) {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> times;
  for (const ComparedWorkload& workload : workloads) {
    names.push_back(workload.name.substr(0, workload.name.rfind('/')));
    ++times[names.back()];
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (times[names[i]] > 1) names[i] = workloads[i].name;
  }
  return names;
}

std::string CompareTable(const SideNames& names, std::span<const ComparedWorkload> workloads) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> head = {"workload"};
  for (const Column& column : kColumns) {
    head.push_back(fmt::format("{}: {}", column.title, names[0]));
    head.push_back(names[1]);
    head.emplace_back("times better");
  }
  lines.push_back(std::move(head));
  for (const ComparedWorkload& workload : workloads) {
    std::vector<std::string> line = {workload.name};
    for (const Column& column : kColumns) {
      const ComparedRow* const row = workload.Find(column.metric, column.bucket);
      const Ratio ratio = row != nullptr ? row->RatioOfPairs().value_or(Ratio()) : Ratio();
      line.push_back(ValueText(row, 0, column.digits));
      line.push_back(ValueText(row, 1, column.digits));
      line.push_back(RatioText(ratio));
    }
    lines.push_back(std::move(line));
  }
  std::vector<std::string> means = {"geometric mean"};
  for (const Column& column : kColumns) {
    const auto mean = MeanRatio(workloads, column.metric, column.bucket);
    means.insert(means.end(), {"", ""});
    means.push_back(mean ? FactorText(*mean) : "-");
  }
  lines.push_back(std::move(means));
  return AlignedColumns(lines);
}

std::string CompareDetails(const SideNames& names, std::span<const ComparedWorkload> workloads) {
  std::vector<std::vector<std::string>> lines = {
      {"workload", "quantity", names[0], names[1], "times better"}};
  for (const ComparedWorkload& workload : workloads) {
    for (const ComparedRow& row : workload.rows) {
      lines.push_back({&row == workload.rows.data() ? workload.name : "", row.quantity->title,
                       ValueText(&row, 0, 2), ValueText(&row, 1, 2),
                       RatioText(row.RatioOfPairs().value_or(Ratio()))});
    }
  }
  return AlignedColumns(lines);
}

std::string CompareCsv(const SideNames& names, std::span<const ComparedWorkload> workloads) {
  std::string text =
      fmt::format("workload,quantity,{} median,{} median,times better,least,most,pairs,{} runs,{} runs\n",
                  CsvField(names[0]), CsvField(names[1]), CsvField(names[0]), CsvField(names[1]));
  for (const ComparedWorkload& workload : workloads) {
    for (const ComparedRow& row : workload.rows) {
      const auto ratio = row.RatioOfPairs();
      const std::string spread = ratio ? fmt::format("{:.4f},{:.4f},{:.4f},{}", ratio->median, ratio->least,
                                                     ratio->most, ratio->pairs)
                                       : std::string(",,,0");
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{:.4f},{:.4f}\n", CsvField(workload.name),
                     CsvField(row.quantity->title), ValueText(&row, 0, 4), ValueText(&row, 1, 4), spread,
                     fmt::join(row.values[0], " "), fmt::join(row.values[1], " "));
    }
  }
  return text;
}

}  // namespace berth::bench
