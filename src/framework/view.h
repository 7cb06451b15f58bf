#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bitset.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "framework/plan_cache.h"
#include "framework/points.h"
#include "framework/profile.h"
#include "framework/rejections.h"
#include "framework/total_index.h"

namespace berth::framework {

// Pods that cannot be told apart by any kept column of the profile.
struct ViewKey {
  PlanKey plans;
  bool resize_deferred = false;
  Scope scope;

  bool operator==(const ViewKey&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const ViewKey& k) {
    return H::combine(std::move(h), k.plans, k.resize_deferred, k.scope);
  }
};

// The verdict and the scores of every node for pods of one key, kept from attempt to attempt.
//
// 1. A kept column is true for the cluster at version(), except on rows that are marked as stale.
// 2. A row is feasible iff no kept filter refuses it. refusals()[row] is that of the first one that does, in
// filter
//    order; filters after that were not asked, so nothing is known of them.
// 3. Raw scores are true on feasible rows only, extents and totals are over the feasible rows without the
// masked ones.
// 4. Nothing that differs between two pods of one key is ever written into a kept column: nominations of
// others,
//    narrowing, extenders and filters that read the attempt come in as masks, and go when the attempt ends.
//
// The steps of an attempt, in order; each is O(what changed since the last one):
//   RefreshStates -> [PreFilter] -> RefreshVerdicts -> Mask... -> RefreshScores -> PickBest -> EndAttempt
class View {
 public:
  View(const Profile& profile, std::shared_ptr<PlanSet> plans, Cycle& cycle);

  // Brings every plugin's state up to date and marks the rows that they report as stale. Also called in
  // speculations, where what it marks is right for afterwards: the rollback moved the same versions again.
  void RefreshStates(Cycle& cycle);
  // Re-runs filters on rows that changed or are stale, from the first filter that reads what changed. Beyond
  // a fraction of the rows it judges all of them at once. An error leaves the view unusable: drop it.
  Status RefreshVerdicts(Cycle& cycle);
  // For this attempt the row does not fit, whatever the kept filters say. With kAccepted it is out without a
  // refusal of its own (narrowing).
  void Mask(cluster::NodeRow row, RejectionId refusal);
  // PreScore, raw scores of rows that are new or changed, extents, normalised scores, totals.
  Status RefreshScores(Cycle& cycle);
  cluster::NodeRow PickBest(base::Random& random) { return totals_.PickBest(random); }
  void EndAttempt();

  // Without the masked ones.
  const base::Bitset& feasible() const { return feasible_; }
  std::size_t feasible_count() const { return feasible_count_; }
  std::span<const RejectionId> refusals() const { return refusals_; }
  // What a filter that reads the attempt has to judge: feasible rows, and those refused by filters after it.
  void RowsReaching(PluginIndex plugin, base::Bitset& rows) const;

  std::span<State* const> states() const { return state_pointers_; }
  std::span<Plan* const> plans() const { return plans_->plans; }
  std::uint64_t version() const { return version_; }
  std::size_t MemoryBytes() const;
  // Where this and a view made from scratch differ, in words; empty if nowhere. For verify_views.
  std::string DifferenceFrom(const View& fresh, const cluster::Cluster& cluster) const;

 private:
  struct ScoreColumn {
    std::vector<std::int64_t> raw;         // by row
    std::vector<std::int64_t> normalized;  // by row, before the weight
    Extent extent;
    std::size_t at_min =
        0;  // rows that hold the extent's ends: when the last one leaves, the column is scanned
    std::size_t at_max = 0;
    bool skipped = false;
    ChangedRows stale;
  };
  struct Masked {
    cluster::NodeRow row;
    RejectionId kept;  // what the kept filters said
    bool was_feasible;
  };

  void CollectChanges(const cluster::Cluster& cluster);
  Status JudgeRows(Cycle& cycle, std::span<const cluster::NodeRow> rows);
  Status JudgeAll(Cycle& cycle);
  void SetFeasible(cluster::NodeRow row, bool feasible);
  Status ScoreColumnRows(Cycle& cycle, std::size_t column);
  void UpdateTotals(Cycle& cycle);

  const Profile& profile_;
  std::shared_ptr<PlanSet> plans_;
  std::vector<std::unique_ptr<State>> states_;  // by PluginIndex
  std::vector<State*> state_pointers_;
  std::uint64_t version_ = 0;  // of the cluster's change log
  std::uint64_t rejections_epoch_ = 0;
  bool is_empty_ = true;  // nothing was judged yet
  base::Bitset feasible_;
  std::size_t feasible_count_ = 0;
  std::vector<RejectionId> refusals_;
  std::vector<cluster::Facts> changed_facts_;  // by row, of the rows in stale_
  ChangedRows stale_;
  std::vector<cluster::NodeRow> entered_;  // since the last RefreshScores
  std::vector<cluster::NodeRow> left_;
  std::vector<ScoreColumn> columns_;  // as Profile::score()
  TotalIndex totals_;
  std::vector<Masked> masked_;
};

}  // namespace berth::framework
