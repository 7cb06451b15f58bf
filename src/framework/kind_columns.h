#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "cluster/ids.h"
#include "framework/cycle.h"
#include "framework/points.h"
#include "framework/row_kinds.h"
#include "framework/score_column.h"

namespace berth::framework {

// What a view knows when rows that are alike cannot be told apart by any plugin that has a say: a verdict and
// the scores of every kind of rows, instead of every row.
//
// 1. What is kept of a kind is good while the kind lives; a kind that is new is judged and scored on one of
//    its rows.
// 2. fixed is the sum of the weighted scores that no extent has a part in. What the others add is common to
//    all kinds as long as every kind that was scored has the same score; else it is made anew at every
//    attempt, over the kinds with feasible rows that are not masked.
//
// 3. Which kinds are best is kept, too, while nothing is masked and no extent tells kinds apart: then only
// kinds
//    that were made since the last attempt can be better, and those that are gone are no longer among them.
//
// The steps of an attempt, as those of View: Begin -> SetVerdicts -> Mask -> Score -> PickBest -> EndAttempt.
// In the case of 3. they cost what the kinds that were made since, the refused ones and the best ones cost,
// else O(kinds).
class KindColumns {
 public:
  // Forgets everything.
  void Reset();

  // The kinds as they are now; valid until the attempt ends. Returns a row of each kind that was not judged
  // yet, ascending.
  std::span<const cluster::NodeRow> Begin(const RowKinds& kinds);
  // What filters say of these rows, by row.
  void SetVerdicts(std::span<const RejectionId> refusals);
  void Mask(cluster::NodeRow row, RejectionId refusal);
  // Of the columns that count, on kinds that have no score of them yet.
  Status Score(const Cycle& cycle, std::span<const ScoreColumn> columns);
  // As TotalIndex: one number is drawn, and it is the n-th of the best rows.
  cluster::NodeRow PickBest(base::Random& random) const;
  void EndAttempt();

  bool IsFeasible(cluster::NodeRow row) const;
  std::size_t feasible_count() const { return feasible_count_; }
  cluster::NodeRow FirstFeasible() const;
  RejectionId RefusalOf(cluster::NodeRow row) const;
  struct Masked {
    cluster::NodeRow row;
    RejectionId refusal;
  };
  std::span<const Masked> masked() const { return masked_; }
  // Of a feasible row, by the number of the column.
  std::int64_t raw(std::size_t column, cluster::NodeRow row) const;
  std::int64_t normalized(const ScoreColumn& placed, std::size_t column, cluster::NodeRow row) const;
  std::int64_t total(cluster::NodeRow row) const;
  std::size_t row_count() const { return kinds_->kind_of().size(); }
  std::size_t rows_scored() const { return rows_scored_; }
  std::size_t MemoryBytes() const;

 private:
  // Small: there may be a thousand views.
  struct Entry {
    std::uint64_t born = 0;
    std::int64_t fixed = 0;  // of the columns that count
    std::uint32_t sums = 0;  // as sums_ when `fixed` was summed up; 0: it was not
    RejectionId refusal;
    bool is_listed = false;  // in refused_
  };
  struct Column {
    std::vector<std::int64_t> raw;  // by kind
    Extent extent;                  // of the last attempt
    // Whether every score that was ever given is that of `extent`.
    bool is_uniform = true;
  };
  struct Sample {
    cluster::NodeRow row;
    KindId kind;

    auto operator<=>(const Sample&) const = default;
  };

  bool IsCurrent(KindId kind) const {
    const std::span<const RowKinds::Size> sizes = kinds_->sizes();
    return kind < sizes.size() && sizes[kind].rows > 0 && sizes[kind].born == entries_[kind].born;
  }
  bool IsOpen(KindId kind) const { return IsCurrent(kind) && !entries_[kind].refusal.IsRefusal(); }
  void Meet(KindId kind);
  std::size_t CountRefused();
  void PruneUnscored();
  void CollectOpen();
  void CollectUnscored();
  Status ScoreNew(const Cycle& cycle, std::span<const ScoreColumn> columns);
  Status AddFixed(std::span<const ScoreColumn> columns, KindId kind);
  Status AddCommon(const ScoreColumn& placed, Column& column);
  Status AddVaried(const ScoreColumn& placed, Column& column);
  void FindBest();
  void UpdateBest();
  std::vector<cluster::NodeRow> MaskedAmong(std::span<const KindId> kinds) const;
  const Masked* FindMask(cluster::NodeRow row) const;
  std::size_t Shown(KindId kind) const {
    return kinds_->sizes()[kind].rows - (hidden_.empty() ? 0 : hidden_[kind]);
  }
  std::int64_t Varied(KindId kind) const { return varied_.empty() ? 0 : varied_[kind]; }
  KindId KindOf(cluster::NodeRow row) const { return kinds_->kind_of()[row.index()]; }

  const RowKinds* kinds_ = nullptr;
  std::vector<Entry> entries_;    // by kind
  std::vector<Column> columns_;   // as those of the view
  std::uint64_t counted_ = 0;     // the columns that `fixed` is of, as bits
  std::uint32_t sums_ = 0;        // how often those were others
  std::uint64_t births_ = 0;      // as the kinds had when they were looked at
  std::vector<KindId> refused_;   // every one, and some that are gone
  std::vector<KindId> unscored_;  // open ones that were not scored yet
  std::vector<KindId> best_;      // ascending
  std::int64_t best_fixed_ = 0;
  bool is_best_known_ = false;  // best_ is what it was after the last attempt
  // Of the attempt.
  std::int64_t common_ = 0;
  std::size_t feasible_count_ = 0;
  std::vector<Masked> masked_;         // ascending
  std::vector<std::uint32_t> hidden_;  // by kind, rows that are masked; empty while none is
  std::vector<std::int64_t> varied_;   // by kind; empty while no extent tells kinds apart
  std::size_t best_count_ = 0;
  std::size_t rows_scored_ = 0;

  // Kept for their memory.
  std::vector<KindId> open_;  // kinds that no filter refuses, ascending
  std::vector<Sample> samples_;
  std::vector<cluster::NodeRow> rows_;
  std::vector<std::int64_t> scores_;
};

}  // namespace berth::framework
