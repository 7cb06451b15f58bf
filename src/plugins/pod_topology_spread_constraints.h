#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/affinity.h"
#include "api/label_selector.h"
#include "api/pod.h"
#include "api/pod_record.h"
#include "api/string_map.h"
#include "base/error.h"
#include "cluster/cluster.h"

// Spread constraints, compiled, and the nodes on which pods count for them.
namespace berth::plugins {

inline constexpr std::string_view kHostnameKey = "kubernetes.io/hostname";

struct SpreadConstraint {
  std::int32_t max_skew = 0;
  std::int32_t min_domains = 1;
  std::string topology_key;
  api::Selector selector;
  std::vector<std::string> match_label_keys;
  bool honors_affinity = true;
  bool honors_taints = false;

  // With what the labels of a pod add through match_label_keys.
  api::Selector SelectorFor(const base::SharedTextMap& pod_labels) const;
};

inline constexpr std::string_view kDoNotSchedule = "DoNotSchedule";
inline constexpr std::string_view kScheduleAnyway = "ScheduleAnyway";

// The constraints with this action, in order. Fails at the first selector that does not parse.
base::Result<std::vector<SpreadConstraint>> CompileConstraints(
    std::span<const api::TopologySpreadConstraint> constraints, std::string_view action,
    bool read_match_label_keys);

// What pods without constraints of their own get when the profile names none.
std::span<const api::TopologySpreadConstraint> SystemDefaultConstraints();

// The nodes that count for a constraint, as the cluster's eligibility sets are named and decided.
struct CountedNodes {
  std::string name;  // empty: all nodes
  cluster::NodePredicate predicate;
};

struct CountingRules {
  const api::PodSpec& spec;
  const cluster::Cluster& cluster;
  // A node counts for any of these only if it has the keys of all.
  std::span<const SpreadConstraint> with_keys_of;
  bool comparison_operators = false;
};
CountedNodes NodesFor(const SpreadConstraint& constraint, const CountingRules& rules);

}  // namespace berth::plugins
