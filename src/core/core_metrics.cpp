#include "core/core_metrics.h"

#include <chrono>

namespace berth::core {

CoreMetrics::CoreMetrics(base::MetricRegistry& registry)
    : event_duration_(
          registry.AddHistograms({.name = "scheduler_event_handling_duration_seconds",
                                  .help = "How long it took to follow a change and to tell the queue of it.",
                                  .labels = {"event"},
                                  .buckets = base::ExponentialBuckets(0.0001, 2, 12)})),
      cache_size_(registry.AddGauges({.name = "scheduler_cache_size",
                                      .help = "How many nodes, pods and assumed pods are known.",
                                      .labels = {"type"}})),
      nodes_(cache_size_.With({"nodes"})),
      pods_(cache_size_.With({"pods"})),
      assumed_pods_(cache_size_.With({"assumed_pods"})) {}

void CoreMetrics::ObserveEvent(const framework::ClusterEvent& event, base::Duration duration) {
  // Of what no plugin can hear nothing is told.
  if (event.resource == framework::EventResource::kWildcard) return;
  const std::uint64_t key = (static_cast<std::uint64_t>(event.resource) << 32) | event.actions;
  std::shared_ptr<base::Histogram>& series = events_[key];
  if (series == nullptr) series = event_duration_.With({event.Label()});
  series->Observe(std::chrono::duration<double>(duration).count());
}

void CoreMetrics::SetCacheSize(const cluster::Cluster& cluster) {
  const cluster::PodTable& pods = cluster.pods();
  nodes_->Set(static_cast<double>(cluster.nodes().existing_count()));
  pods_->Set(
      static_cast<double>(pods.count(cluster::PodState::kAdded) + pods.count(cluster::PodState::kAssumed)));
  assumed_pods_->Set(static_cast<double>(pods.count(cluster::PodState::kAssumed)));
}

}  // namespace berth::core
