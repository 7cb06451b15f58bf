#pragma once

#include <array>
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
#include "framework/score_column.h"
#include "framework/total_index.h"

namespace berth::framework {

// The verdict and the scores of every node for pods of one key, kept from attempt to attempt.
//
// 1. A kept column is true for the cluster at version(), except on rows that are marked as stale.
// 2. A row is feasible iff no kept filter refuses it. refusals()[row] is that of the first one that does, in
//    filter order; filters after that were not asked, so nothing is known of them.
// 3. Raw scores are true on feasible rows only; extents and totals are over the feasible rows without the
//    masked ones.
// 4. Nothing that differs between two pods of one key is ever written into a kept column: nominations of
//    others, narrowing, sampling and filters that read the attempt come in as masks, and go when the attempt
//    ends.
//
// The steps of an attempt, in order; each is O(what changed since the last one):
//   RefreshStates -> [PreFilter] -> RefreshVerdicts -> Mask, ApplyAttemptFilters -> RefreshScores -> PickBest
//   -> EndAttempt
class View {
 public:
  explicit View(const Profile& profile);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // Starts over, for pods of the cycle's key. Keeps its memory.
  void Reset(std::shared_ptr<PlanSet> plans, Cycle& cycle);
  // Right after Reset: only these rows are judged. Such a view is good for one attempt.
  void Restrict(const base::Bitset& rows);

  // Brings every plugin's state up to date and marks the rows that they report as stale. Also called in
  // speculations, where what it marks is right for afterwards: the rollback moved the same versions again.
  void RefreshStates(Cycle& cycle);
  // Re-runs filters on rows that changed or are stale, from the first filter that reads what changed. Beyond
  // a fraction of the rows it judges all of them at once. An error leaves the view unusable: drop it.
  Status RefreshVerdicts(Cycle& cycle);
  // For this attempt the row does not fit, whatever the kept filters say. With kAccepted it is out without a
  // refusal of its own.
  void Mask(cluster::NodeRow row, RejectionId refusal);
  // Filters that read the attempt, on the rows that reach them: feasible ones, and those that only filters
  // after it refuse. O(rows) for each such filter.
  Status ApplyAttemptFilters(Cycle& cycle);
  // PreScore, raw scores of rows that are new or changed, extents, normalised scores, totals.
  Status RefreshScores(Cycle& cycle);
  // After RefreshScores. The n-th of the best rows in row order, n drawn.
  cluster::NodeRow PickBest(base::Random& random);
  void EndAttempt();

  // Without the masked ones.
  const base::Bitset& feasible() const { return feasible_; }
  std::size_t feasible_count() const { return feasible_count_; }
  std::span<const RejectionId> refusals() const { return refusals_; }
  std::span<const ScoreColumn> columns() const { return columns_; }  // as Profile::score()
  std::int64_t Total(cluster::NodeRow row) const { return totals_[row.index()]; }

  const std::shared_ptr<PlanSet>& plans() const { return plans_; }
  std::span<State* const> states() const { return state_pointers_; }
  std::uint64_t version() const { return version_; }
  std::size_t MemoryBytes() const;

  // For verify_views: makes this, fresh, view look at the attempt as `other` does, and says where the two
  // differ, in words; empty if nowhere.
  void CopyMasks(const View& other);
  std::string DifferenceFrom(const View& fresh, const cluster::Cluster& cluster) const;

 private:
  // Where in the order of kept filters a row has to be judged again from.
  using Position = std::uint16_t;
  static constexpr Position kNowhere = 0xffff;

  struct KeptFilter {
    const Placed<FilterPoint>* placed;
    cluster::Facts facts;
  };
  struct Stale {
    Position from;
    cluster::NodeRow row;

    auto operator<=>(const Stale&) const = default;
  };
  struct Masked {
    cluster::NodeRow row;
    RejectionId kept;  // what the kept filters said
    bool was_feasible;
  };

  void SortFilters();
  void Grow(std::size_t row_count);

  void CollectChanges(const cluster::Cluster& cluster);
  void NoteChange(cluster::NodeRow row, cluster::Facts facts);
  void MarkStale(cluster::NodeRow row, Position from);
  void ClearStale();
  Status JudgeAll(Cycle& cycle);
  Status JudgeStale(Cycle& cycle);
  void CollectStale(const Cycle& cycle);
  void RowsReaching(const Cycle& cycle, PluginIndex plugin, base::Bitset& rows) const;
  void SetFeasible(cluster::NodeRow row, bool feasible);

  void CollectDifference();
  Status RunPreScores(Cycle& cycle);
  Status UpdateColumns(Cycle& cycle);
  void UpdateTotals();
  std::int64_t SumOf(cluster::NodeRow row) const;
  void KeepIndex(bool many_moved);
  cluster::NodeRow ScanForBest(base::Random& random) const;

  const Profile& profile_;
  std::shared_ptr<PlanSet> plans_;
  std::vector<std::unique_ptr<State>> states_;  // by PluginIndex
  std::vector<State*> state_pointers_;

  std::vector<KeptFilter> filters_;  // in filter order
  std::vector<const Placed<FilterPoint>*> attempt_filters_;
  std::vector<Position> position_of_;        // by PluginIndex; kNowhere: no kept filter
  std::array<Position, 32> first_reader_{};  // by bit of Facts

  std::uint64_t version_ = 0;  // of the cluster's change log
  bool is_empty_ = true;       // nothing was judged yet
  bool is_restricted_ = false;
  base::Bitset universe_;  // if restricted
  base::Bitset feasible_;
  std::size_t feasible_count_ = 0;
  std::vector<RejectionId> refusals_;
  bool all_stale_ = false;
  std::vector<Position> stale_from_;  // by row
  std::vector<cluster::NodeRow> stale_rows_;
  std::vector<Masked> masked_;
  base::Bitset is_masked_;

  bool has_scores_ = false;
  base::Bitset scored_;  // the feasible rows of the last RefreshScores
  ChangedRows flips_;    // rows that became feasible or ceased to be since then
  std::vector<cluster::NodeRow> entered_;
  std::vector<cluster::NodeRow> left_;
  std::vector<ScoreColumn> columns_;
  bool totals_stale_ = true;  // all of them
  ChangedRows moved_;         // rows of which a normalised score moved
  std::vector<std::int64_t> totals_;
  bool is_indexed_ = false;
  std::size_t scans_ = 0;  // since many totals moved
  TotalIndex index_;       // while few totals move

  // Kept for their memory.
  std::vector<Stale> pending_;
  std::vector<cluster::NodeRow> active_;
  base::Bitset rows_;
};

}  // namespace berth::framework
