#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/metrics.h"

namespace berth::server {

struct GateState {
  std::string_view name;
  std::string_view stage;  // "ALPHA", "BETA", "DEPRECATED" or empty
  bool enabled = false;
};

struct BuildFacts {
  std::string git_version;  // "v1.37.1"
  std::string emulation;    // "1.37"
  std::string min_compatibility;
  std::size_t disabled_metrics = 0;
  std::size_t hidden_metrics = 0;
};

// What every component of Kubernetes shows beside its own metrics: gates, versions, the process.
void AddComponentMetrics(base::MetricRegistry& registry, std::span<const GateState> gates,
                         const BuildFacts& build);

// What /metrics/slis shows beside the checks.
void AddIndicatorMetrics(base::MetricRegistry& registry);

// leader_election_master_status and leader_election_slowpath_total; asked at every exposition.
struct ElectionFacts {
  std::function<bool()> is_leader;
  std::function<std::uint64_t()> slow_path_count;
};
void AddElectionMetrics(base::MetricRegistry& registry, ElectionFacts facts);

// How a configuration file fares that is read again while the scheduler runs.
struct ReloadMetrics {
  base::CounterFamily& reloads;  // by result: applied, unchanged, refused
  base::Gauge& succeeded;
  base::Gauge& succeeded_at;
};
ReloadMetrics AddReloadMetrics(base::MetricRegistry& registry);

}  // namespace berth::server
