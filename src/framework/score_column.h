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

namespace berth::framework {

// The scores of one plugin over the feasible rows of a view, raw and normalised.
//
// 1. Raw scores are true for the rows that were feasible at the last Update, except the stale ones.
// 2. The extent is that of those raw scores; at_min_ and at_max_ count the rows that hold its ends, so that
//    the column is scanned only when the last of them leaves.
// 3. A plugin that does not normalise has no raw scores apart: they are its normalised ones.
class ScoreColumn {
 public:
  // The rows of one update.
  struct Rows {
    const base::Bitset& feasible;
    std::size_t feasible_count;
    const base::Bitset& before;                 // feasible at the last update
    std::span<const cluster::NodeRow> entered;  // ascending
    std::span<const cluster::NodeRow> left;
  };

  explicit ScoreColumn(const PlacedScore& placed) : placed_(placed) {}
  // Starts over for pods of another template. Keeps its memory.
  void Reset(const Plan* plan, std::size_t row_count);

  // False: pods of this template have no score of this plugin.
  bool takes_part() const { return takes_part_; }
  bool skipped() const { return skipped_; }
  // The column counts in totals.
  bool counts() const { return takes_part_ && !skipped_; }
  cluster::Facts facts() const { return facts_; }
  const PlacedScore& placed() const { return placed_; }

  // Asked to score them again at the next update.
  ChangedRows& stale() { return stale_; }
  // Everything is computed anew at the next update.
  void Invalidate() { is_valid_ = false; }
  // What PreScore said. True if it said something else than last time.
  bool SetSkipped(bool skipped);
  void Grow(std::size_t row_count);

  // Adds rows whose normalised score moved to `moved`. Fails with the words of an attempt's error.
  Status Update(const Cycle& cycle, const Rows& rows, ChangedRows& moved);

  std::int64_t raw(cluster::NodeRow row) const {
    const std::int64_t raw = raw_.empty() ? normalized_[row.index()] : raw_[row.index()];
    return raw == kNoScore ? 0 : raw;
  }
  std::int64_t weighted(cluster::NodeRow row) const { return normalized_[row.index()] * placed_.weight; }
  std::size_t MemoryBytes() const { return raw_.size() * sizeof(std::int64_t) + normalized_.size() * 2; }

 private:
  bool KeepsRaw() const { return placed_.point->normalizing() != Normalizing::kNone; }
  void CollectRows(const Rows& rows);
  void CollectAll(const Rows& rows);
  Status ScoreRows(const Cycle& cycle);
  void Include(std::int64_t score);
  void Exclude(std::int64_t score);
  void Rescan(const base::Bitset& feasible);
  Status Normalize(const Cycle& cycle, ChangedRows& moved);
  Status Store(ChangedRows& moved);

  const PlacedScore& placed_;
  bool takes_part_ = true;
  bool is_kept_ = false;
  bool skipped_ = false;
  bool is_valid_ = false;
  cluster::Facts facts_ = 0;
  std::vector<std::int64_t> raw_;         // by row
  std::vector<std::uint8_t> normalized_;  // by row, 0 to 100, before the weight
  Extent extent_;
  std::size_t at_min_ = 0;
  std::size_t at_max_ = 0;
  ChangedRows stale_;

  // Kept for their memory.
  std::vector<cluster::NodeRow> rows_;
  std::vector<std::int64_t> scores_;
};

}  // namespace berth::framework
