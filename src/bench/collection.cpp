#include "bench/collection.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::bench {
namespace {

double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }
double Mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

DataItem Item(const std::string& metric, const std::string& name, std::string unit,
              std::map<std::string, double> data) {
  return {.data = std::move(data), .unit = std::move(unit), .labels = {{"Metric", metric}, {"Name", name}}};
}

Histogram AttemptsOf(const MetricsPage& page) {
  const auto all = page.Histograms("scheduler_scheduling_attempt_duration_seconds", {});
  return all.empty() ? Histogram() : all.begin()->second;
}

}  // namespace

Collection::Collection(Scope scope, const PodLedger& ledger, TestCluster& cluster)
    : scope_(std::move(scope)), cluster_(cluster) {
  for (const std::string& name : scope_.namespaces) seen_bound_ += ledger.CountBound(name, scope_.labels);
  // Asking for metrics costs the scheduler something: not what is measured.
  attempts_at_start_ = AttemptsOf(MetricsPage::Parse(cluster_.MetricsText()));
  cluster_.ResetPeakMemory();
  cpu_at_start_ = cluster_.usage().cpu;
  start_ = now();
}

void Collection::OnBound(std::string_view namespace_name, const PodLedger::Entry& pod) {
  if (std::ranges::find(scope_.namespaces, namespace_name) == scope_.namespaces.end()) return;
  if (!HasLabels(pod.labels, scope_.labels)) return;
  ++seen_bound_;
  if (latencies_ms_.empty()) first_bound_ = now();
  last_bound_ = now();
  cpu_at_last_bound_ = cluster_.usage().cpu;
  latencies_ms_.push_back(Seconds(now() - pod.created) * 1e3);
  const auto tenth = static_cast<std::size_t>(Seconds(now() - start_) * 10);
  if (bound_per_tenth_.size() <= tenth) bound_per_tenth_.resize(tenth + 1);
  ++bound_per_tenth_[tenth];
}

void Collection::Tick() { throughput_.Tick(now(), seen_bound_); }

void Collection::MeasureCost(Measurement& measured) {
  base::Duration cpu_at_end = cpu_at_last_bound_;
  // Events are written after bindings. Where they belong to the scheduler's work they are counted.
  if (cluster_.AwaitRest()) cpu_at_end = cluster_.usage().cpu;
  measured.peak_memory_mib = Mebibytes(cluster_.PeakMemory());
  if (measured.pods == 0) return;
  const auto pods = static_cast<double>(measured.pods);
  const double cpu_seconds = Seconds(cpu_at_end - cpu_at_start_);
  measured.cpu_microseconds_per_pod = cpu_seconds / pods * 1e6;
  measured.pods_per_cpu_second = cpu_seconds > 0 ? pods / cpu_seconds : 0;
}

void Collection::MeasurePods(Measurement& measured) const {
  if (measured.pods == 0) return;
  std::map<std::string, double> latencies = Summarize(latencies_ms_);
  measured.latency_ms_p50 = latencies["Perc50"];
  measured.latency_ms_p99 = latencies["Perc99"];
  measured.latency_ms_max = *std::ranges::max_element(latencies_ms_);
  const double span = Seconds(last_bound_ - first_bound_);
  if (span > 0) measured.exact_rate = (static_cast<double>(measured.pods) - 1) / span;
}

void Collection::MeasureAttempts(Measurement& measured, const MetricsPage& page) const {
  const Histogram attempts = AttemptsOf(page).Since(attempts_at_start_);
  measured.attempt_ms_p50 = attempts.Quantile(0.5).value_or(0) * 1e3;
  measured.attempt_ms_p90 = attempts.Quantile(0.9).value_or(0) * 1e3;
  measured.attempt_ms_p95 = attempts.Quantile(0.95).value_or(0) * 1e3;
  measured.attempt_ms_p99 = attempts.Quantile(0.99).value_or(0) * 1e3;
  if (measured.pods > 0) measured.attempts_per_pod = attempts.count / static_cast<double>(measured.pods);
}

std::vector<DataItem> Collection::Items(const std::string& name, Measurement& measured) const {
  std::vector<DataItem> items;
  std::map<std::string, double> rates = Summarize(throughput_.samples());
  if (rates.empty()) {
    // As upstream reports that it saw too little: no metric, no unit, no data.
    items.push_back({.data = {}, .unit = "", .labels = {{"Name", name}}});
  } else {
    measured.average_rate = rates["Average"];
    measured.sampled_rates = rates;
    items.push_back(Item(kThroughputMetric, name, "pods/s", std::move(rates)));
  }
  items.push_back(Item("SchedulingDuration", name, "s", {{"Duration", measured.seconds}}));
  // berth's own, under names that upstream does not use.
  std::map<std::string, double> latencies = Summarize(latencies_ms_);
  std::map<std::string, double> cpu;
  std::map<std::string, double> exact;
  std::map<std::string, double> attempts;
  if (measured.pods > 0) {
    latencies["Max"] = measured.latency_ms_max;
    cpu = {{"PerPod", measured.cpu_microseconds_per_pod},
           {"Total", measured.cpu_microseconds_per_pod * static_cast<double>(measured.pods)}};
  }
  if (measured.exact_rate > 0) exact = {{"Average", measured.exact_rate}};
  if (measured.attempt_ms_p99 > 0) {
    attempts = {{"Perc50", measured.attempt_ms_p50},
                {"Perc90", measured.attempt_ms_p90},
                {"Perc95", measured.attempt_ms_p95},
                {"Perc99", measured.attempt_ms_p99}};
  }
  items.push_back(Item(kProcessorTimeMetric, name, "us", std::move(cpu)));
  items.push_back(Item(kExactThroughputMetric, name, "pods/s", std::move(exact)));
  items.push_back(Item(kPodLatencyMetric, name, "ms", std::move(latencies)));
  items.push_back(Item(kPeakMemoryMetric, name, "MiB", {{"Max", measured.peak_memory_mib}}));
  if (!attempts.empty()) items.push_back(Item(kAttemptMetric, name, "ms", std::move(attempts)));
  if (measured.attempts_per_pod > 0) {
    items.push_back(Item(kAttemptsMetric, name, "attempts",
                         {{"PerPod", measured.attempts_per_pod},
                          {"Total", measured.attempts_per_pod * static_cast<double>(measured.pods)}}));
  }
  return items;
}

Collection::Results Collection::Finish(const std::string& path) {
  Results results;
  Measurement& measured = results.measurement;
  measured.name = scope_.name;
  measured.pods = latencies_ms_.size();
  measured.seconds = Seconds(now() - start_);
  MeasurePods(measured);
  MeasureCost(measured);
  const std::string name = path + "/" + scope_.name;
  const MetricsPage page = MetricsPage::Parse(cluster_.MetricsText());
  // Of the measured part alone; upstream's items below are since the scheduler started.
  MeasureAttempts(measured, page);
  measured.bound_per_tenth = bound_per_tenth_;
  results.items = Items(name, measured);
  std::vector<DataItem> histograms = HistogramItems(page, name);
  std::ranges::move(histograms, std::back_inserter(results.items));
  return results;
}

}  // namespace berth::bench
