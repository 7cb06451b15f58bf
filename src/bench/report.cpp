#include "bench/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <set>

#include "base/go_text.h"

namespace berth::bench {
namespace {

// A field of a CSV file, quoted where it has to be.
std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Joined(const std::vector<std::string>& reasons) {
  return fmt::format("{}", fmt::join(reasons, "; "));
}

void AppendMap(std::string& out, const std::map<std::string, std::string>& members) {
  out += "{";
  bool is_first = true;
  for (const auto& [key, value] : members) {
    out += is_first ? "\n        " : ",\n        ";
    is_first = false;
    base::AppendQuotedJson(out, key, /*escape_html=*/true);
    out += ": " + value;
  }
  out += "\n      }";
}

void AppendItem(std::string& out, const DataItem& item, const std::set<std::string>& label_names) {
  out += "    {\n      \"data\": ";
  if (item.data.empty()) {
    out += "null";
  } else {
    std::map<std::string, std::string> numbers;
    for (const auto& [bucket, value] : item.data) numbers[bucket] = base::FormatGoFloat(value);
    AppendMap(out, numbers);
  }
  out += ",\n      \"unit\": ";
  base::AppendQuotedJson(out, item.unit, /*escape_html=*/true);
  out += ",\n      \"labels\": ";
  std::map<std::string, std::string> labels;
  for (const std::string& name : label_names) {
    const auto found = item.labels.find(name);
    base::AppendQuotedJson(labels[name], found == item.labels.end() ? "not applicable" : found->second,
                           /*escape_html=*/true);
  }
  AppendMap(out, labels);
  out += "\n    }";
}

}  // namespace

std::string TableText(std::span<const WorkloadReport> reports) {
  std::size_t width = 8;
  for (const WorkloadReport& report : reports) width = std::max(width, report.name().size());
  std::string text =
      fmt::format("{:<{}}  {:>7}  {:>10}  {:>10}  {:>9}  {:>9}  {:>9}  {:>7}  {:>7}\n", "workload", width,
                  "pods", "CPU us/pod", "pods/CPU s", "pods/s", "p50 ms", "p99 ms", "MiB", "wall s");
  for (const WorkloadReport& report : reports) {
    for (const Measurement& measured : report.measurements) {
      fmt::format_to(
          std::back_inserter(text),
          "{:<{}}  {:>7}  {:>10.2f}  {:>10.0f}  {:>9.0f}  {:>9.3f}  {:>9.3f}  {:>7.0f}  {:>7.1f}\n",
          report.name(), width, measured.pods, measured.cpu_microseconds_per_pod,
          measured.pods_per_cpu_second, measured.exact_rate, measured.latency_ms_p50, measured.latency_ms_p99,
          measured.peak_memory_mib, report.wall_seconds);
    }
  }
  for (const WorkloadReport& report : reports) {
    if (report.outcome == Outcome::kPassed) continue;
    fmt::format_to(std::back_inserter(text), "{}: {}: {}\n", OutcomeText(report.outcome), report.name(),
                   Joined(report.reasons));
  }
  return text;
}

std::string CsvText(std::span<const WorkloadReport> reports) {
  std::string text =
      "test case,workload,outcome,reason,collection,pods,cpu us per pod,pods per cpu second,pods per second,"
      "sampled pods per second,latency ms p50,latency ms p99,latency ms max,seconds,peak MiB,wall seconds\n";
  for (const WorkloadReport& report : reports) {
    const std::string head = fmt::format("{},{},{},{}", CsvField(report.test_case), CsvField(report.workload),
                                         OutcomeText(report.outcome), CsvField(Joined(report.reasons)));
    if (report.measurements.empty()) text += head + ",,,,,,,,,,,,\n";
    for (const Measurement& measured : report.measurements) {
      fmt::format_to(std::back_inserter(text),
                     "{},{},{},{:.3f},{:.1f},{:.1f},{:.1f},{:.4f},{:.4f},{:.4f},{:.3f},"
                     "{:.1f},{:.2f}\n",
                     head, CsvField(measured.name), measured.pods, measured.cpu_microseconds_per_pod,
                     measured.pods_per_cpu_second, measured.exact_rate, measured.average_rate,
                     measured.latency_ms_p50, measured.latency_ms_p99, measured.latency_ms_max,
                     measured.seconds, measured.peak_memory_mib, report.wall_seconds);
    }
  }
  return text;
}

std::string DataItemsJson(std::span<const WorkloadReport> reports) {
  std::set<std::string> label_names;
  for (const WorkloadReport& report : reports) {
    for (const DataItem& item : report.items) {
      for (const auto& [name, value] : item.labels) label_names.insert(name);
    }
  }
  std::string text = "{\n  \"version\": \"v1\",\n  \"dataItems\": [";
  bool is_first = true;
  for (const WorkloadReport& report : reports) {
    for (const DataItem& item : report.items) {
      text += is_first ? "\n" : ",\n";
      is_first = false;
      AppendItem(text, item, label_names);
    }
  }
  return text + (is_first ? "]\n}\n" : "\n  ]\n}\n");
}

std::string DataItemsFileName(std::string_view topic, std::string_view local_time) {
  return fmt::format("BenchmarkPerfScheduling_benchmark_{}_{}.json", topic, local_time);
}

}  // namespace berth::bench
