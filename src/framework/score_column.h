#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bitset.h"
#include "cluster/ids.h"
#include "framework/cycle.h"
#include "framework/points.h"
#include "framework/profile.h"
#include "framework/row_kinds.h"

namespace berth::framework {

class RowGroups;

// One row of each kind (RowKinds) that the pod may fit on, ascending, with the kinds of all rows.
struct KindSamples {
  std::vector<cluster::NodeRow> rows;
  std::vector<KindId> kinds;  // as rows
  std::span<const KindId> kind_of;
};

// Memory that an update needs while it lasts: one for all views of an engine, because of columns by row there
// may be very many.
struct ScoreScratch {
  std::vector<cluster::NodeRow> rows;
  std::vector<std::int64_t> scores;
  std::vector<std::int64_t> by_kind;
  // All feasible rows, ascending, once somebody needed them; the columns of an update share it.
  std::vector<cluster::NodeRow> all;
};

// The scores of one plugin over the feasible rows of a view, raw and normalised.
//
// 1. Raw scores are true for the rows that were feasible at the last Update, except the stale ones.
// 2. The extent is that of those raw scores; at_min_ and at_max_ count the rows that hold its ends, so that
//    the column is scanned only when the last of them leaves.
// 3. A plugin that does not normalise has no raw scores apart: they are its normalised ones.
// 4. While all rows have one raw score there are no columns, only that score.
class ScoreColumn {
 public:
  // The rows of one update.
  struct Rows {
    const base::Bitset& feasible;
    std::size_t feasible_count;
    const base::Bitset& before;                 // feasible at the last update
    std::span<const cluster::NodeRow> entered;  // ascending
    std::span<const cluster::NodeRow> left;
    // Of the feasible rows, some are of groups that are closed: scores are kept for them, but they are left
    // out of the extent. Null: there are none.
    const RowGroups* groups = nullptr;
    ScoreScratch& scratch;
    // Null: rows are not told by kind.
    const KindSamples* kinds = nullptr;
  };

  explicit ScoreColumn(const PlacedScore& placed) : placed_(placed) {}
  // Starts over for pods of another template. Keeps its memory.
  void Reset(const Plan* plan, std::size_t row_count);

  // False: pods of this template have no score of this plugin.
  bool takes_part() const { return takes_part_; }
  bool skipped() const { return skipped_; }
  // From attempt to attempt.
  bool is_kept() const { return is_kept_; }
  // The column counts in totals.
  bool counts() const { return takes_part_ && !skipped_; }
  cluster::Facts facts() const { return facts_; }
  const PlacedScore& placed() const { return placed_; }

  // The scores are kept by class of rows (RowGroups), not here.
  bool is_classed() const { return is_classed_; }
  // Rows that are alike have one score (Reads::alike).
  bool is_alike() const { return is_alike_; }
  // By the last update that scored some.
  std::size_t rows_scored() const { return rows_scored_; }
  void SetClassed() { is_classed_ = true; }

  // Asked to score them again at the next update.
  ChangedRows& stale() { return stale_; }
  // Everything is computed anew at the next update.
  void Invalidate() { is_valid_ = false; }
  // What PreScore said. True if it said something else than last time.
  bool SetSkipped(bool skipped);
  void Grow(std::size_t row_count);
  // Gives back memory that is not in use; all of it: also the scores.
  void Trim();
  void Release();

  // Adds rows whose normalised score moved to `moved`. Fails with the words of an attempt's error.
  Status Update(const Cycle& cycle, const Rows& rows, ChangedRows& moved);

  std::int64_t raw(cluster::NodeRow row) const {
    const std::int64_t raw = Raw(row);
    return raw == kNoScore ? 0 : raw;
  }
  std::int64_t weighted(cluster::NodeRow row) const {
    return (normalized_.empty() ? normalized_uniform_ : normalized_[row.index()]) * placed_.weight;
  }
  // What every row has, if all have the same, or 0. AddTo adds the weighted scores to totals by row if they
  // have not; what it adds to rows that are not feasible means nothing.
  std::int64_t weighted_everywhere() const { return is_uniform() ? normalized_uniform_ * placed_.weight : 0; }
  void AddTo(std::span<std::int64_t> totals) const;
  // Asks the plugin; fails with the words of an attempt's error.
  static Status Ask(const PlacedScore& placed, const Cycle& cycle, std::span<const cluster::NodeRow> rows,
                    std::span<std::int64_t> scores);
  // 0 to 100, or the attempt's error.
  static Status CheckRange(const PlacedScore& placed, std::int64_t score);
  std::size_t MemoryBytes() const {
    return raw_.capacity() * sizeof(std::int64_t) + normalized_.capacity() + stale_.MemoryBytes();
  }

 private:
  bool KeepsRaw() const { return placed_.point->normalizing() != Normalizing::kNone; }
  bool is_uniform() const { return normalized_.empty(); }
  std::int64_t Raw(cluster::NodeRow row) const {
    if (is_uniform()) return raw_uniform_;
    return raw_.empty() ? normalized_[row.index()] : raw_[row.index()];
  }
  void Borrow(ScoreScratch& scratch);
  Status UpdateBorrowed(const Cycle& cycle, const Rows& rows, ChangedRows& moved);
  void BecomeUniform(std::int64_t raw, std::int64_t normalized);
  // True: the rows just scored have all one score, the others, if there are others, too.
  bool KeepUniform(bool all, ChangedRows& moved, Status& status);
  // All rows, so many, have this one.
  Status SetUniform(std::int64_t raw, std::size_t count, ChangedRows& moved);
  // Makes columns of the one score.
  void Spread();
  Extent OpenExtent(const Rows& rows) const;
  void CollectRows(const Rows& rows);
  void CollectAll(const Rows& rows);
  Status ScoreRows(const Cycle& cycle, const KindSamples* kinds);
  // All rows, of a plugin that answers alike for all of them now and says so at every attempt. False: it does
  // not.
  bool UpdateAlike(const Cycle& cycle, const Rows& rows, ChangedRows& moved, Status& status);
  // All rows, of a plugin that answers alike for rows of one kind. False: it has to be done row by row.
  bool UpdateByKind(const Cycle& cycle, const Rows& rows, ChangedRows& moved, Status& status);
  // After ScoreRows of all rows. False: some row has no score.
  bool KeepAll(const Rows& rows);
  void Include(std::int64_t score);
  void Exclude(std::int64_t score);
  void Rescan(const base::Bitset& feasible);
  Status Normalize(const Cycle& cycle, const Rows& rows, ChangedRows& moved);
  Status Store(const RowGroups* groups, ChangedRows& moved);

  const PlacedScore& placed_;
  bool takes_part_ = true;
  bool is_kept_ = false;
  bool skipped_ = false;
  bool is_valid_ = false;
  bool is_classed_ = false;
  bool is_alike_ = false;
  std::size_t rows_scored_ = 0;
  cluster::Facts facts_ = 0;
  std::size_t row_count_ = 0;
  std::vector<std::int64_t> raw_;         // by row
  std::vector<std::uint8_t> normalized_;  // by row, 0 to 100, before the weight
  std::int64_t raw_uniform_ = 0;          // while there are no columns
  std::uint8_t normalized_uniform_ = 0;
  Extent normalized_by_;  // the extent that the normalised scores are by
  Extent extent_;
  std::size_t at_min_ = 0;
  std::size_t at_max_ = 0;
  ChangedRows stale_;

  // Borrowed while an update lasts.
  std::vector<cluster::NodeRow> rows_;
  std::vector<std::int64_t> scores_;
  std::vector<std::int64_t> by_kind_;
};

}  // namespace berth::framework
