#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "bench/data_item.h"
#include "bench/metrics_page.h"
#include "bench/pod_ledger.h"
#include "bench/test_cluster.h"
#include "bench/throughput.h"

namespace berth::bench {

// What one collection came to, for tables.
struct Measurement {
  std::string name;      // of the collection
  std::size_t pods = 0;  // that were bound while it ran
  double cpu_microseconds_per_pod = 0;
  double pods_per_cpu_second = 0;
  double exact_rate = 0;      // pods/s from the first binding to the last; 0 for fewer than two
  double average_rate = 0;    // as upstream samples it; 0 without samples
  double latency_ms_p50 = 0;  // from creation to binding
  double latency_ms_p99 = 0;
  double latency_ms_max = 0;
  double seconds = 0;  // of the whole collection
  double peak_memory_mib = 0;
  // Of one attempt, as the scheduler itself measures it; 0: it does not say.
  double attempt_ms_p50 = 0;
  double attempt_ms_p90 = 0;
  double attempt_ms_p95 = 0;
  double attempt_ms_p99 = 0;
  // Of all pods, those that were not bound too, by pods that were: the work behind the processor time. 0: the
  // scheduler does not say.
  double attempts_per_pod = 0;
  // Of upstream's samples of pods/s, "Perc50" to "Perc99" and "Average"; empty without samples.
  std::map<std::string, double> sampled_rates;
  // How many pods were bound in each tenth of a second since the start.
  std::vector<std::uint32_t> bound_per_tenth;
};

// Watches the pods of some namespaces from its start to its end.
class Collection {
 public:
  struct Scope {
    std::string name;
    std::vector<std::string> namespaces;
    LabelSet labels;
  };

  // Pods that are bound already are in the first sample, as they are upstream. Both outlive it.
  Collection(Scope scope, const PodLedger& ledger, TestCluster& cluster);

  void OnBound(std::string_view namespace_name, const PodLedger::Entry& pod);
  // Once a second.
  void Tick();
  std::size_t seen_bound() const { return seen_bound_; }

  struct Results {
    Measurement measurement;
    std::vector<DataItem> items;
  };
  // `path`: the name of the workload, in front of the collection's own. Lets time pass until the scheduler
  // has nothing left to do.
  Results Finish(const std::string& path);

 private:
  base::TimePoint now() const { return cluster_.clock().Now(); }
  void MeasureCost(Measurement& measured);
  void MeasurePods(Measurement& measured) const;
  void MeasureAttempts(Measurement& measured, const MetricsPage& page) const;
  std::vector<DataItem> Items(const std::string& name, Measurement& measured) const;

  const Scope scope_;
  TestCluster& cluster_;
  Histogram attempts_at_start_;
  base::TimePoint start_;
  base::Duration cpu_at_start_{};
  ThroughputSamples throughput_;
  std::size_t seen_bound_ = 0;  // with those from before
  std::vector<double> latencies_ms_;
  base::TimePoint first_bound_{};
  base::TimePoint last_bound_{};
  base::Duration cpu_at_last_bound_{};
  std::vector<std::uint32_t> bound_per_tenth_;
};

}  // namespace berth::bench
