#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "bench/data_item.h"
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
  Collection(Scope scope, const PodLedger& ledger, const TestCluster& cluster);

  void OnBound(std::string_view namespace_name, const PodLedger::Entry& pod);
  // Once a second.
  void Tick();

  struct Results {
    Measurement measurement;
    std::vector<DataItem> items;
  };
  // `path`: the name of the workload, in front of the collection's own.
  Results Finish(const std::string& path) const;

 private:
  base::TimePoint now() const { return cluster_.clock().Now(); }

  const Scope scope_;
  const TestCluster& cluster_;
  const base::TimePoint start_;
  const base::Duration cpu_at_start_;
  ThroughputSamples throughput_;
  std::size_t seen_bound_;  // with those from before
  std::vector<double> latencies_ms_;
  base::TimePoint first_bound_{};
  base::TimePoint last_bound_{};
  base::Duration cpu_at_last_bound_{};
};

}  // namespace berth::bench
