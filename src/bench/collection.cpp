#include "bench/collection.h"

#include <algorithm>
#include <utility>

#include "bench/core_cluster.h"

namespace berth::bench {
namespace {

double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }
double Mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

DataItem Item(const std::string& metric, const std::string& name, std::string unit,
              std::map<std::string, double> data) {
  return {.data = std::move(data), .unit = std::move(unit), .labels = {{"Metric", metric}, {"Name", name}}};
}

}  // namespace

Collection::Collection(Scope scope, const PodLedger& ledger, const TestCluster& cluster)
    : scope_(std::move(scope)),
      cluster_(cluster),
      start_(now()),
      cpu_at_start_(cluster.usage().cpu),
      seen_bound_(0) {
  for (const std::string& name : scope_.namespaces) seen_bound_ += ledger.CountBound(name, scope_.labels);
  ResetPeakMemory();
}

void Collection::OnBound(std::string_view namespace_name, const PodLedger::Entry& pod) {
  if (std::ranges::find(scope_.namespaces, namespace_name) == scope_.namespaces.end()) return;
  if (!HasLabels(pod.labels, scope_.labels)) return;
  ++seen_bound_;
  if (latencies_ms_.empty()) first_bound_ = now();
  last_bound_ = now();
  cpu_at_last_bound_ = cluster_.usage().cpu;
  latencies_ms_.push_back(Seconds(now() - pod.created) * 1e3);
}

void Collection::Tick() { throughput_.Tick(now(), seen_bound_); }

Collection::Results Collection::Finish(const std::string& path) const {
  Results results;
  Measurement& measured = results.measurement;
  measured.name = scope_.name;
  measured.pods = latencies_ms_.size();
  measured.seconds = Seconds(now() - start_);
  measured.peak_memory_mib = Mebibytes(PeakMemory());
  std::map<std::string, double> latencies = Summarize(latencies_ms_);
  std::map<std::string, double> cpu;
  std::map<std::string, double> exact;
  if (measured.pods > 0) {
    const auto pods = static_cast<double>(measured.pods);
    const double cpu_seconds = Seconds(cpu_at_last_bound_ - cpu_at_start_);
    measured.cpu_microseconds_per_pod = cpu_seconds / pods * 1e6;
    measured.pods_per_cpu_second = cpu_seconds > 0 ? pods / cpu_seconds : 0;
    cpu = {{"PerPod", measured.cpu_microseconds_per_pod}, {"Total", cpu_seconds * 1e6}};
    latencies["Max"] = *std::ranges::max_element(latencies_ms_);
    measured.latency_ms_p50 = latencies["Perc50"];
    measured.latency_ms_p99 = latencies["Perc99"];
    measured.latency_ms_max = latencies["Max"];
    if (const double span = Seconds(last_bound_ - first_bound_); span > 0) {
      measured.exact_rate = (pods - 1) / span;
      exact["Average"] = measured.exact_rate;
    }
  }

  const std::string name = path + "/" + scope_.name;
  std::map<std::string, double> rates = Summarize(throughput_.samples());
  if (rates.empty()) {
    // As upstream reports that it saw too little: no metric, no unit, no data.
    results.items.push_back({.data = {}, .unit = "", .labels = {{"Name", name}}});
  } else {
    measured.average_rate = rates["Average"];
    results.items.push_back(Item(kThroughputMetric, name, "pods/s", std::move(rates)));
  }
  results.items.push_back(Item("SchedulingDuration", name, "s", {{"Duration", measured.seconds}}));
  // berth's own, under names that upstream does not use.
  results.items.push_back(Item("SchedulerProcessorTime", name, "us", std::move(cpu)));
  results.items.push_back(Item("ExactSchedulingThroughput", name, "pods/s", std::move(exact)));
  results.items.push_back(Item("PodSchedulingLatency", name, "ms", std::move(latencies)));
  results.items.push_back(Item("PeakMemory", name, "MiB", {{"Max", measured.peak_memory_mib}}));
  return results;
}

}  // namespace berth::bench
