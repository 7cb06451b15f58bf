#pragma once

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "plugins/default_preemption_budgets.h"

namespace berth::plugins {

// Who would have to go from one node.
struct Victims {
  std::vector<cluster::PodSlot> pods;  // in no order until SortByImportance
  std::int64_t budget_violations = 0;  // how many of them a disruption budget should have kept
};

// A pod on a node as a possible victim.
struct PossibleVictim {
  // For pods that have not started: they count as started now, which is later than any other time.
  static constexpr std::int64_t kNotStarted = std::numeric_limits<std::int64_t>::max();

  cluster::PodSlot pod;
  std::int32_t priority = 0;
  std::int64_t started = kNotStarted;  // Unix seconds
  bool violates_budget = false;
  bool goes = false;
};
PossibleVictim AsPossibleVictim(const cluster::Cluster& cluster, cluster::PodSlot pod);

// The most important first. Names are looked at only of pods that are equal otherwise.
void SortByImportance(const cluster::Cluster& cluster, std::vector<cluster::PodSlot>& pods);

class VictimSums;

// Finds the smallest sacrifice on single nodes for the pod of the cycle, on live state: what it tries is
// taken back before it returns.
//
// On a node: every pod of lower priority goes, and if the pod fits then, they come back one by one, those
// whose going would violate a budget first and the more important before the less, as long as the pod still
// fits. Those that cannot come back are the victims. That pods which the incoming one wants to be near may be
// among them is accepted, as upstream accepts it: that the pod fits is asked after each step.
//
// Cost of a node: O(its pods of lower priority), each with one run of the filters on that row; or, where sums
// tell as much, with a few comparisons.
class VictimSearch {
 public:
  // `no_victims`: how a node is refused on which no pod has a lower priority. `sums`: null if nothing is to
  // be found by them.
  VictimSearch(framework::Cycle& cycle, const DisruptionBudgets& budgets, framework::RejectionId no_victims,
               VictimSums* sums)
      : cycle_(cycle), budgets_(budgets), no_victims_(no_victims), sums_(sums) {}

  // The victims, at least one, in no order; or why the node does not help.
  std::variant<Victims, framework::RowVerdict> On(cluster::NodeRow row);

 private:
  bool Fits(cluster::NodeRow row) const {
    return cycle_.judge().JudgeRow(row, framework::Nominations::kCount).fits();
  }
  void Collect(cluster::NodeRow row);
  Victims TakeVictims() const;
  void ReprieveBySums(bool violating);
  // Everybody of lower priority, if that is known to be the answer; else empty.
  std::vector<cluster::PodSlot> EverybodyBySums(cluster::NodeRow row) const;
  // In the order of possible_, which decides who gets what is left of a budget.
  void MarkViolations();
  bool TakesFromBudgets(const api::PodRecord& pod);
  // Puts back who may stay.
  void Reprieve(cluster::Speculation& trial, cluster::NodeRow row, bool violating);

  framework::Cycle& cycle_;
  const DisruptionBudgets& budgets_;
  const framework::RejectionId no_victims_;
  VictimSums* const sums_;
  // Of the node that is looked at.
  std::vector<PossibleVictim> possible_;  // the most important first
  absl::flat_hash_map<const api::PodDisruptionBudget*, std::int32_t> disruptions_left_;
};

}  // namespace berth::plugins
