#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bitset.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "framework/kind_columns.h"
#include "framework/plan_cache.h"
#include "framework/points.h"
#include "framework/profile.h"
#include "framework/rejections.h"
#include "framework/row_groups.h"
#include "framework/row_kinds.h"
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
// 4. With groups, plugins with classes (ClassPoint) are asked by class and have no part in rows: a row is
// then
//    fitting iff no other kept filter refuses it, and feasible iff its group is open as well.
// 5. While every plugin that has a say answers alike for rows of one kind (Reads::alike), the view is told by
//    kind: it keeps KindColumns and nothing by row. What is said below of rows is then found through their
//    kind.
// 6. Nothing that differs between two pods of one key is ever written into a kept column: nominations of
//    others, narrowing, sampling and filters that read the attempt come in as masks, and go when the attempt
//    ends.
//
// The steps of an attempt, in order; each is O(what changed since the last one):
//   RefreshStates -> [PreFilter] -> RefreshVerdicts -> Mask, ApplyAttemptFilters -> RefreshScores -> PickBest
//   -> EndAttempt
class View {
 public:
  // The scratch outlives it.
  View(const Profile& profile, ScoreScratch& scratch);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // Starts over, for pods of the cycle's key. Keeps its memory.
  void Reset(std::shared_ptr<PlanSet> plans, Cycle& cycle);
  // Right after Reset: only these rows are judged. Such a view is good for one attempt.
  void Restrict(const base::Bitset& rows);
  bool is_restricted() const { return is_restricted_; }
  // Before a later attempt's RefreshStates, for a view that is kept: puts rows into groups if that is
  // possible. The first attempt after it judges all rows once more.
  void FormGroups(Cycle& cycle);
  // Gives back memory that only making it needed.
  void Trim();

  // Before RefreshVerdicts of every attempt that may be told by kind, with kinds that are up to date; it
  // forgets them when the attempt ends.
  void UseKinds(const RowKinds& kinds) { kinds_ = &kinds; }
  // After PreFilter: there are kinds, and no plugin that has a say in this attempt tells rows of one kind
  // apart.
  bool IsToldByKind(const Cycle& cycle) const;
  // Of this attempt, after RefreshVerdicts.
  bool by_kind() const { return by_kind_; }

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
  // What those filters read. False: another pod of the key may fare otherwise.
  bool AppendLikeness(const Cycle& cycle, Scope& words) const;
  // PreScore, raw scores of rows that are new or changed, extents, normalised scores, totals.
  Status RefreshScores(Cycle& cycle);
  // After RefreshScores. The n-th of the best rows in row order, n drawn.
  cluster::NodeRow PickBest(base::Random& random);
  void EndAttempt();

  // Without the masked ones.
  bool IsFeasible(cluster::NodeRow row) const {
    if (by_kind_) return kind_columns_.IsFeasible(row);
    return fitting_.Test(row.index()) && (groups_ == nullptr || groups_->IsOpen(row));
  }
  std::size_t feasible_count() const {
    if (by_kind_) return kind_columns_.feasible_count();
    return groups_ == nullptr ? fitting_count_ : groups_->FeasibleCount();
  }
  // O(rows): the feasible rows, the first of them, the refusals by row.
  base::Bitset FeasibleRows() const;
  cluster::NodeRow FirstFeasible() const;
  std::span<const RejectionId> Refusals(const Cycle& cycle);
  std::span<const ScoreColumn> columns() const { return columns_; }  // as Profile::score()
  std::int64_t Raw(const ScoreColumn& column, cluster::NodeRow row) const;
  std::int64_t Weighted(const ScoreColumn& column, cluster::NodeRow row) const;
  std::int64_t Total(cluster::NodeRow row) const {
    if (by_kind_) return kind_columns_.total(row);
    return index_.own(row) + (groups_ == nullptr ? 0 : groups_->addend(row));
  }

  const std::shared_ptr<PlanSet>& plans() const { return plans_; }
  std::span<State* const> states() const { return state_pointers_; }
  std::uint64_t version() const { return version_; }
  std::size_t MemoryBytes() const;
  bool has_groups() const { return groups_ != nullptr; }
  // What the last attempt came to: rows that filters looked at, and scores that plugins gave, without those
  // by class. What is bounded in a decision is bounded in these.
  std::size_t rows_judged() const { return rows_judged_; }
  std::size_t rows_scored() const;

  // For verify_views: makes this, fresh, view look at the attempt as `other` does, and says where the two
  // differ, in words; empty if nowhere. A fresh view filters rows as a set, however few they are: as a
  // list is what it is compared with.
  void FilterAsSet() { few_rows_ = 0; }
  bool filtered_as_list() const { return filtered_as_list_; }
  void CopyMasks(const View& other);
  std::string DifferenceFrom(const View& fresh, const Cycle& cycle) const;

 private:
  // So many are filtered as a list: a set has a word for every 64 nodes of the cluster, and each filter reads
  // all of them.
  static constexpr std::size_t kFewRows = 16;

  // Where in the order of kept filters a row has to be judged again from.
  using Position = std::uint16_t;
  static constexpr Position kNowhere = 0xffff;

  struct KeptFilter {
    const Placed<FilterPoint>* placed;
    cluster::Facts facts;
    bool is_alike;
  };
  struct Stale {
    cluster::NodeRow row;
    Position from;

    auto operator<=>(const Stale&) const = default;
  };
  struct Masked {
    cluster::NodeRow row;
    RejectionId kept;  // what the kept filters said
    bool was_feasible;
  };

  static Status RunFilter(const Placed<FilterPoint>& filter, const Cycle& cycle, NodeSelection& nodes);
  void SortFilters();
  Status JudgeKinds(Cycle& cycle);
  // Empties what is kept by row and makes room for it; gives it back.
  void PrepareRows(std::size_t row_count);
  void ReleaseRows();
  void SampleKinds();
  // Filters from `first` on that answer alike by kind; returns the position after the last of them.
  Status FilterByKind(Cycle& cycle, std::size_t& position, NodeSelection& nodes);
  void Grow(std::size_t row_count);

  void CollectChanges(const cluster::Cluster& cluster);
  void NoteChange(cluster::NodeRow row, cluster::Facts facts);
  void MarkStale(cluster::NodeRow row, Position from);
  void ClearStale();
  void ForgetRefusals();
  Status JudgeAll(Cycle& cycle);
  // Of rows_, those that pass.
  Status FilterMany(Cycle& cycle);
  Status FilterFew(Cycle& cycle);
  Status JudgeStale(Cycle& cycle);
  void CollectStale(const Cycle& cycle);
  void RowsReaching(const Cycle& cycle, PluginIndex plugin, base::Bitset& rows) const;
  void SetFitting(cluster::NodeRow row, bool fits);
  std::vector<RowGroups::Member> PossibleMembers() const;
  bool FindColumns(std::span<RowGroups::Member> members);
  // Turns back to rows, in the middle of an attempt.
  void DropGroups(Cycle& cycle);
  RejectionId RefusalOf(const Cycle& cycle, cluster::NodeRow row) const;

  void CollectDifference();
  Status RunPreScores(Cycle& cycle);
  Status UpdateColumns(Cycle& cycle);
  void UpdateTotals();
  std::int64_t SumOf(cluster::NodeRow row) const;
  RowGroup GroupOf(cluster::NodeRow row) const;
  void SumAll();

  const Profile& profile_;
  ScoreScratch& scratch_;
  std::shared_ptr<PlanSet> plans_;
  std::vector<std::unique_ptr<State>> states_;  // by PluginIndex
  std::vector<State*> state_pointers_;

  std::vector<KeptFilter> filters_;  // in filter order
  std::vector<const Placed<FilterPoint>*> attempt_filters_;
  std::vector<Position> position_of_;        // by PluginIndex; kNowhere: no kept filter
  std::array<Position, 32> first_reader_{};  // by bit of Facts

  const RowKinds* kinds_ = nullptr;  // of this attempt
  bool by_kind_ = false;
  KindColumns kind_columns_;
  KindSamples samples_;  // of this attempt, while rows are judged

  std::size_t rows_judged_ = 0;
  std::size_t few_rows_ = kFewRows;
  bool filtered_as_list_ = false;  // in the last attempt
  std::uint64_t version_ = 0;      // of the cluster's change log
  bool is_empty_ = true;           // nothing was judged yet
  bool is_restricted_ = false;
  base::Bitset universe_;  // if restricted
  base::Bitset fitting_;
  std::size_t fitting_count_ = 0;
  std::vector<RejectionId> refusals_;
  std::optional<base::Bitset> refused_within_;  // nothing: any row may be refused
  bool all_stale_ = false;
  std::vector<Stale> stale_;  // a row may come several times
  std::vector<Masked> masked_;
  base::Bitset is_masked_;

  bool has_scores_ = false;
  base::Bitset scored_;  // the fitting rows of the last RefreshScores
  ChangedRows flips_;    // rows that became fitting or ceased to be since then
  std::vector<cluster::NodeRow> entered_;
  std::vector<cluster::NodeRow> left_;
  std::vector<ScoreColumn> columns_;
  bool totals_stale_ = true;  // all of them
  ChangedRows moved_;         // rows of which a normalised score moved, or that are in another group
  TotalIndex index_;          // of the fitting rows

  std::unique_ptr<RowGroups> groups_;  // null: plugins are asked by row
  bool groups_refused_ = false;        // it was tried
  ChangedRows ungrouped_;              // rows that may be in another group

  // Kept for their memory.
  std::vector<Stale> pending_;
  std::vector<cluster::NodeRow> active_;
  base::Bitset rows_;
  std::vector<RejectionId> kind_refusals_;
  std::vector<RejectionId> merged_;
};

}  // namespace berth::framework
