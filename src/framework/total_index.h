#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/random.h"
#include "cluster/ids.h"

namespace berth::framework {

// Which of a few sets a row is in.
using RowGroup = std::uint16_t;

// Rows by total score, for one question: a uniform choice among the best. A row's total is its own, plus an
// addend that all rows of its group share, so that a group of any size is moved by moving one number.
//
// The choice is a function of the totals and of the number drawn, and of nothing else: the n-th best row,
// ascending. So an attempt ends the same way whether its view was warm, cold or absent.
//
// 1. Every kFanOut rows are a leaf, every kFanOut leaves a block. Per group, each has the largest own total
//    of its rows and how many rows have it.
//
// Set and Remove are O(1) while the largest total of a leaf stands, else O(kFanOut). PickBest is O(groups *
// rows / kFanOut^2), with kFanOut^2 rows to a block: a few hundred steps for a million rows.
class TotalIndex {
 public:
  static constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();

  struct Addend {
    std::int64_t amount = 0;
    bool open = true;  // else none of the group's rows is to be chosen
  };

  // No row has a total.
  void Reset(std::size_t row_count);
  // Makes room for more rows and keeps what is there.
  void Grow(std::size_t row_count);

  void Set(cluster::NodeRow row, RowGroup group, std::int64_t total);
  void Remove(cluster::NodeRow row);
  // To fill it at once: own totals by row, kAbsent for none, then Summarize. No groups: all rows are in the
  // first.
  std::span<std::int64_t> totals() { return totals_; }
  void Summarize(std::span<const RowGroup> groups);

  bool Contains(cluster::NodeRow row) const { return totals_[row.index()] != kAbsent; }
  std::int64_t own(cluster::NodeRow row) const { return totals_[row.index()]; }
  // Some row of an open group must be there. Draws one number, also if there is only one best row, so that
  // draws do not depend on ties. By group.
  cluster::NodeRow PickBest(std::span<const Addend> addends, base::Random& random);
  std::size_t MemoryBytes() const;

 private:
  static constexpr std::size_t kFanOut = 64;

  struct Summary {
    std::int64_t max = kAbsent;
    std::uint32_t count = 0;

    void Include(std::int64_t total, std::uint32_t times);
    // False: nothing is known of the rest.
    bool Exclude(std::int64_t total, std::uint32_t times);
  };
  struct Levels {
    std::vector<Summary> leaves;
    std::vector<Summary> blocks;
  };
  // A group that holds some of the best rows, and what they have.
  struct Best {
    RowGroup group;
    std::int64_t own;
  };

  RowGroup GroupOf(std::size_t row) const { return groups_.empty() ? RowGroup{0} : groups_[row]; }
  Levels& LevelsOf(RowGroup group);
  void Put(std::size_t row, RowGroup group, std::int64_t total);
  void Take(std::size_t row);
  void SummarizeLeaf(Levels& levels, RowGroup group, std::size_t leaf) const;
  static void SummarizeBlock(Levels& levels, std::size_t block);
  static void Replace(Levels& levels, std::size_t leaf, const Summary& before);
  cluster::NodeRow NthBest(std::size_t n) const;

  std::vector<std::int64_t> totals_;  // by row
  std::vector<RowGroup> groups_;      // by row; empty while there is only the first
  std::vector<Levels> levels_;        // by group
  std::vector<Best> best_;            // kept for its memory
};

}  // namespace berth::framework
