#include "framework/total_index.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace berth::framework {

void TotalIndex::Reset(std::size_t row_count) {
  rows_by_total_.clear();
  position_.assign(row_count, kNowhere);
  total_.assign(row_count, 0);
  is_ranked_ = false;
}

void TotalIndex::Set(cluster::NodeRow row, std::int64_t total) {
  if (Contains(row)) {
    if (total_[row.index()] == total) return;
    Remove(row);
  }
  std::vector<cluster::NodeRow>& rows = rows_by_total_[total];
  position_[row.index()] = static_cast<std::uint32_t>(rows.size());
  total_[row.index()] = total;
  rows.push_back(row);
  if (is_ranked_ && ranked_total_ == total) {
    ranked_.Set(row.index());
    ++block_counts_[row.index() / kBlockRows];
  }
}

void TotalIndex::Remove(cluster::NodeRow row) {
  if (!Contains(row)) return;
  const std::int64_t total = total_[row.index()];
  const auto found = rows_by_total_.find(total);
  std::vector<cluster::NodeRow>& rows = found->second;
  const std::uint32_t position = position_[row.index()];
  rows[position] = rows.back();
  position_[rows[position].index()] = position;
  rows.pop_back();
  position_[row.index()] = kNowhere;
  if (rows.empty()) rows_by_total_.erase(found);
  if (is_ranked_ && ranked_total_ == total) {
    ranked_.Clear(row.index());
    --block_counts_[row.index() / kBlockRows];
  }
}

void TotalIndex::Rank() {
  ranked_.Resize(position_.size());
  ranked_.ClearAll();
  block_counts_.assign((position_.size() + kBlockRows - 1) / kBlockRows, 0);
  ranked_total_ = BestTotal();
  is_ranked_ = true;
  for (const cluster::NodeRow row : rows_by_total_.rbegin()->second) {
    ranked_.Set(row.index());
    ++block_counts_[row.index() / kBlockRows];
  }
}

cluster::NodeRow TotalIndex::NthRanked(std::size_t n) const {
  std::size_t block = 0;
  for (; n >= block_counts_[block]; ++block) n -= block_counts_[block];
  for (std::size_t index = block * kBlockRows / 64;; ++index) {
    std::uint64_t word = ranked_.words()[index];
    const auto count = static_cast<std::size_t>(std::popcount(word));
    if (n >= count) {
      n -= count;
      continue;
    }
    for (; n > 0; --n) word &= word - 1;
    return cluster::NodeRow(
        static_cast<std::uint32_t>(index * 64 + static_cast<std::size_t>(std::countr_zero(word))));
  }
}

cluster::NodeRow TotalIndex::PickBest(base::Random& random) {
  BERTH_CHECK(!empty());
  if (!is_ranked_ || ranked_total_ != BestTotal()) Rank();
  return NthRanked(random.Uniform(BestCount()));
}

std::vector<cluster::NodeRow> TotalIndex::Best() const {
  std::vector<cluster::NodeRow> best;
  if (!empty()) best = rows_by_total_.rbegin()->second;
  std::ranges::sort(best);
  return best;
}

std::size_t TotalIndex::MemoryBytes() const {
  return position_.size() * (sizeof(std::uint32_t) + sizeof(std::int64_t) + 2 * sizeof(cluster::NodeRow)) +
         rows_by_total_.size() * 64 + position_.size() / 8;
}

}  // namespace berth::framework
