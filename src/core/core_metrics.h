#pragma once

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "cluster/cluster.h"
#include "framework/events.h"

namespace berth::core {

// What it costs to follow the cluster, and how large it is. Names in the registry must be free.
class CoreMetrics {
 public:
  explicit CoreMetrics(base::MetricRegistry& registry);

  // An event was applied to the cluster and the queue heard of it.
  void ObserveEvent(const framework::ClusterEvent& event, base::Duration duration);
  void SetCacheSize(const cluster::Cluster& cluster);

 private:
  base::HistogramFamily& event_duration_;
  base::GaugeFamily& cache_size_;
  std::shared_ptr<base::Gauge> nodes_;
  std::shared_ptr<base::Gauge> pods_;
  std::shared_ptr<base::Gauge> assumed_pods_;
  // By resource and action: finding a series costs more than most events do.
  absl::flat_hash_map<std::uint64_t, std::shared_ptr<base::Histogram>> events_;
};

}  // namespace berth::core
