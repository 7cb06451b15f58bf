#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"

#include "base/bitset.h"
#include "base/random.h"
#include "cluster/ids.h"

namespace berth::framework {

// Rows by their total score, for one question: a uniform choice among the best.
//
// The choice is a function of the totals and of the number drawn, and of nothing else: the n-th best row,
// ascending. So an attempt ends the same way whether its view was warm, cold or absent.
//
// 1. rows_by_total_ holds every row with a total once, under it; position_ says where in the list.
// 2. If ranked_total_ is the best total, ranked_ holds the rows of that list and block_counts_ how many of
// them are in
//    each block of kBlockRows rows.
//
// Set and Remove are O(log distinct totals). PickBest is O(rows / kBlockRows) while the best total stands,
// and O(rows with it) after it moved: placements empty the best list one by one, so that is seldom.
class TotalIndex {
 public:
  void Reset(std::size_t row_count);
  // New or another total.
  void Set(cluster::NodeRow row, std::int64_t total);
  void Remove(cluster::NodeRow row);

  bool empty() const { return rows_by_total_.empty(); }
  bool Contains(cluster::NodeRow row) const { return position_[row.index()] != kNowhere; }
  std::int64_t Total(cluster::NodeRow row) const { return total_[row.index()]; }
  std::int64_t BestTotal() const { return rows_by_total_.rbegin()->first; }
  std::size_t BestCount() const { return rows_by_total_.rbegin()->second.size(); }
  // Draws one number, also if there is only one best row, so that draws do not depend on ties.
  cluster::NodeRow PickBest(base::Random& random);
  // Ascending.
  std::vector<cluster::NodeRow> Best() const;
  std::size_t MemoryBytes() const;

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;
  static constexpr std::size_t kBlockRows = 512;

  void Rank();
  cluster::NodeRow NthRanked(std::size_t n) const;

  absl::btree_map<std::int64_t, std::vector<cluster::NodeRow>> rows_by_total_;
  std::vector<std::uint32_t> position_;  // by row
  std::vector<std::int64_t> total_;      // by row
  bool is_ranked_ = false;
  std::int64_t ranked_total_ = 0;
  base::Bitset ranked_;
  std::vector<std::uint16_t> block_counts_;
};

}  // namespace berth::framework
