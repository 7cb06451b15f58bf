#pragma once

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
};

// What every component of Kubernetes shows beside its own metrics: gates, versions, the process.
void AddComponentMetrics(base::MetricRegistry& registry, std::span<const GateState> gates,
                         const BuildFacts& build);

// leader_election_master_status; asked at every exposition.
void AddElectionMetric(base::MetricRegistry& registry, std::function<bool()> is_leader);

}  // namespace berth::server
