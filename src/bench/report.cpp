#include "bench/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <set>

#include "base/go_text.h"

namespace berth::bench {
namespace {

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

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string AlignedColumns(std::span<const std::vector<std::string>> lines) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i == 0) {
        text += fmt::format("{:<{}}", line[i], widths[i]);
      } else {
        text += fmt::format("  {:>{}}", line[i], widths[i]);
      }
    }
    text += '\n';
  }
  return text;
}

std::string TableText(std::span<const WorkloadReport> reports) {
  std::vector<std::vector<std::string>> lines = {{"workload", "pods", "CPU us/pod", "pods/CPU s", "pods/s",
                                                  "sampled", "p50 ms", "p99 ms", "attempt p99",
                                                  "attempts/pod", "MiB", "wall s", "foreign %"}};
  for (const WorkloadReport& report : reports) {
    for (const Measurement& measured : report.measurements) {
      const auto if_known = [](double value, int digits) {
        return value > 0 ? fmt::format("{:.{}f}", value, digits) : std::string("-");
      };
      lines.push_back(
          {report.round > 1 ? fmt::format("{} (round {})", report.name(), report.round) : report.name(),
           fmt::format("{}", measured.pods), fmt::format("{:.2f}", measured.cpu_microseconds_per_pod),
           fmt::format("{:.0f}", measured.pods_per_cpu_second), fmt::format("{:.0f}", measured.exact_rate),
           if_known(measured.average_rate, 0), fmt::format("{:.3f}", measured.latency_ms_p50),
           fmt::format("{:.3f}", measured.latency_ms_p99), if_known(measured.attempt_ms_p99, 3),
           if_known(measured.attempts_per_pod, 2), fmt::format("{:.0f}", measured.peak_memory_mib),
           fmt::format("{:.1f}", report.wall_seconds),
           report.foreign_share < 0 ? "-" : fmt::format("{:.0f}", report.foreign_share * 100)});
    }
  }
  std::string text = AlignedColumns(lines);
  for (const WorkloadReport& report : reports) {
    if (report.outcome == Outcome::kNotSupported) {
      fmt::format_to(std::back_inserter(text), "not supported: {}: {}\n", report.name(),
                     Joined(report.reasons));
    } else {
      for (const std::string& reason : report.reasons) text += "failed: " + reason + "\n";
    }
  }
  return text;
}

std::string CsvText(std::span<const WorkloadReport> reports) {
  std::string text =
      "test case,workload,outcome,reason,collection,pods,cpu us per pod,pods per cpu second,pods per second,"
      "sampled pods per second,latency ms p50,latency ms p99,latency ms max,seconds,peak MiB,wall seconds,"
      "attempt ms p50,attempt ms p99,foreign share,attempt ms p90,attempt ms p95,sampled p50,sampled p90,"
      "sampled p95,sampled p99,round,attempts per pod\n";
  for (const WorkloadReport& report : reports) {
    const std::string head = fmt::format("{},{},{},{}", CsvField(report.test_case), CsvField(report.workload),
                                         OutcomeText(report.outcome), CsvField(Joined(report.reasons)));
    if (report.measurements.empty()) text += fmt::format("{},,,,,,,,,,,,,,,,,,,,,,{},\n", head, report.round);
    for (const Measurement& measured : report.measurements) {
      // Empty where upstream has no samples either.
      const auto sampled = [&](const char* bucket) {
        const auto found = measured.sampled_rates.find(bucket);
        return found == measured.sampled_rates.end() ? std::string() : fmt::format("{:.1f}", found->second);
      };
      fmt::format_to(std::back_inserter(text),
                     "{},{},{},{:.3f},{:.1f},{:.1f},{:.1f},{:.4f},{:.4f},{:.4f},{:.3f},"
                     "{:.1f},{:.2f},{:.4f},{:.4f},{:.3f},{:.4f},{:.4f},{},{},{},{},{},{:.3f}\n",
                     head, CsvField(measured.name), measured.pods, measured.cpu_microseconds_per_pod,
                     measured.pods_per_cpu_second, measured.exact_rate, measured.average_rate,
                     measured.latency_ms_p50, measured.latency_ms_p99, measured.latency_ms_max,
                     measured.seconds, measured.peak_memory_mib, report.wall_seconds, measured.attempt_ms_p50,
                     measured.attempt_ms_p99, report.foreign_share, measured.attempt_ms_p90,
                     measured.attempt_ms_p95, sampled("Perc50"), sampled("Perc90"), sampled("Perc95"),
                     sampled("Perc99"), report.round, measured.attempts_per_pod);
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
