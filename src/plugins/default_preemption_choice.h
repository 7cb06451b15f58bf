#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "framework/fit_error.h"
#include "framework/plugin_args.h"
#include "plugins/default_preemption_search.h"

// The rules of preemption that look at no single node: who may preempt, which nodes are looked at, and which
// of them is taken.
namespace berth::plugins {

// Why the pod of the cycle must not evict anybody; empty if it may.
std::string_view WhyNotEligible(const framework::Cycle& cycle, const framework::Diagnosis& diagnosis);

// The nodes that refused the pod for a reason that may go away with other pods. Ascending.
std::vector<cluster::NodeRow> PotentialRows(const cluster::Cluster& cluster,
                                            const framework::Diagnosis& diagnosis);

// Tells by sums nodes that stay too small for the pod even if all pods of lower priority go, those that are
// nominated to it being there, so that no dry run is needed to know that they do not help. Why they do not is
// another question, which only a dry run answers.
class RoomBound {
 public:
  explicit RoomBound(const framework::Cycle& cycle);
  // O(priorities on the node + pods that are nominated to it).
  bool IsTooSmall(cluster::NodeRow row) const;

 private:
  bool Exceeds(cluster::NodeRow row, cluster::ResourceId resource, std::int64_t asked) const;

  const framework::Cycle& cycle_;
  // Without the plugin that would refuse such nodes nothing is known.
  const bool applies_;
};

// After how many nodes with victims the search may end.
std::size_t CandidatesWanted(const framework::DefaultPreemptionArgs& args, std::size_t potential_count);

// What nodes are chosen by: the smallest wins, member by member.
struct VictimsRank {
  std::int64_t budget_violations = 0;
  std::int32_t highest_priority = 0;
  std::int64_t priority_sum = 0;  // of non-negative numbers, so that fewer pods are less also below zero
  std::size_t count = 0;
  // Among the victims of the highest priority the one that runs for the longest time, and how recently it
  // began: the later the better, so negative.
  std::int64_t started_before = 0;

  auto operator<=>(const VictimsRank&) const = default;
};
VictimsRank RankOf(const cluster::Cluster& cluster, const Victims& victims);

}  // namespace berth::plugins
