#include "framework/total_index.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::framework {

void TotalIndex::Summary::Include(std::int64_t total, std::uint32_t times) {
  if (total == kAbsent || times == 0 || total < max) return;
  if (total > max) {
    max = total;
    count = 0;
  }
  count += times;
}

bool TotalIndex::Summary::Exclude(std::int64_t total, std::uint32_t times) {
  if (total != max || total == kAbsent) return true;
  count -= times;
  return count > 0;
}

void TotalIndex::Reset(std::size_t row_count) {
  totals_.assign(row_count, kAbsent);
  groups_.clear();
  levels_.clear();
}

void TotalIndex::Grow(std::size_t row_count) {
  if (row_count <= totals_.size()) return;
  totals_.resize(row_count, kAbsent);
  if (!groups_.empty()) groups_.resize(row_count);
  for (Levels& levels : levels_) {
    levels.leaves.resize((row_count + kFanOut - 1) / kFanOut);
    levels.blocks.resize((levels.leaves.size() + kFanOut - 1) / kFanOut);
  }
}

TotalIndex::Levels& TotalIndex::LevelsOf(RowGroup group) {
  if (group >= levels_.size()) levels_.resize(group + std::size_t{1});
  Levels& levels = levels_[group];
  if (levels.leaves.empty()) {
    levels.leaves.resize((totals_.size() + kFanOut - 1) / kFanOut);
    levels.blocks.resize((levels.leaves.size() + kFanOut - 1) / kFanOut);
  }
  return levels;
}

void TotalIndex::SummarizeLeaf(Levels& levels, RowGroup group, std::size_t leaf) const {
  Summary summary;
  const std::size_t end = std::min(totals_.size(), (leaf + 1) * kFanOut);
  if (groups_.empty()) {
    const std::span<const std::int64_t> totals(totals_.data() + leaf * kFanOut, totals_.data() + end);
    for (const std::int64_t total : totals) summary.max = std::max(summary.max, total);
    if (summary.max != kAbsent) {
      for (const std::int64_t total : totals) summary.count += total == summary.max ? 1u : 0u;
    }
    levels.leaves[leaf] = summary;
    return;
  }
  for (std::size_t row = leaf * kFanOut; row < end; ++row) {
    if (groups_[row] == group) summary.Include(totals_[row], 1);
  }
  levels.leaves[leaf] = summary;
}

void TotalIndex::SummarizeBlock(Levels& levels, std::size_t block) {
  Summary summary;
  const std::size_t end = std::min(levels.leaves.size(), (block + 1) * kFanOut);
  for (std::size_t leaf = block * kFanOut; leaf < end; ++leaf) {
    summary.Include(levels.leaves[leaf].max, levels.leaves[leaf].count);
  }
  levels.blocks[block] = summary;
}

// A leaf has another summary than before.
void TotalIndex::Replace(Levels& levels, std::size_t leaf, const Summary& before) {
  const Summary& now = levels.leaves[leaf];
  Summary& block = levels.blocks[leaf / kFanOut];
  const bool is_known = block.Exclude(before.max, before.count);
  if (!is_known && now.max < before.max) {
    SummarizeBlock(levels, leaf / kFanOut);
  } else {
    block.Include(now.max, now.count);
  }
}

void TotalIndex::Put(std::size_t row, RowGroup group, std::int64_t total) {
  if (group != 0 && groups_.empty()) groups_.resize(totals_.size());
  if (!groups_.empty()) groups_[row] = group;
  totals_[row] = total;
  Levels& levels = LevelsOf(group);
  const std::size_t leaf = row / kFanOut;
  const Summary before = levels.leaves[leaf];
  levels.leaves[leaf].Include(total, 1);
  Replace(levels, leaf, before);
}

void TotalIndex::Take(std::size_t row) {
  const RowGroup group = GroupOf(row);
  const std::int64_t total = std::exchange(totals_[row], kAbsent);
  Levels& levels = levels_[group];
  const std::size_t leaf = row / kFanOut;
  const Summary before = levels.leaves[leaf];
  if (!levels.leaves[leaf].Exclude(total, 1)) SummarizeLeaf(levels, group, leaf);
  Replace(levels, leaf, before);
}

void TotalIndex::Set(cluster::NodeRow row, RowGroup group, std::int64_t total) {
  if (Contains(row)) {
    if (own(row) == total && GroupOf(row.index()) == group) return;
    Take(row.index());
  }
  Put(row.index(), group, total);
}

void TotalIndex::Remove(cluster::NodeRow row) {
  if (Contains(row)) Take(row.index());
}

void TotalIndex::Summarize(std::span<const RowGroup> groups) {
  groups_.assign(groups.begin(), groups.end());
  for (Levels& levels : levels_) {
    std::ranges::fill(levels.leaves, Summary());
    std::ranges::fill(levels.blocks, Summary());
  }
  const std::size_t leaf_count = (totals_.size() + kFanOut - 1) / kFanOut;
  for (std::size_t leaf = 0; leaf < leaf_count; ++leaf) {
    const std::size_t end = std::min(totals_.size(), (leaf + 1) * kFanOut);
    if (groups_.empty()) {
      SummarizeLeaf(LevelsOf(0), 0, leaf);
      continue;
    }
    for (std::size_t row = leaf * kFanOut; row < end; ++row) {
      if (totals_[row] != kAbsent) LevelsOf(GroupOf(row)).leaves[leaf].Include(totals_[row], 1);
    }
  }
  for (Levels& levels : levels_) {
    for (std::size_t block = 0; block < levels.blocks.size(); ++block) SummarizeBlock(levels, block);
  }
}

cluster::NodeRow TotalIndex::NthBest(std::size_t n) const {
  // Goes down into the block, leaf and row in which the n-th is, counting in all groups at once.
  const auto count_in = [&](auto&& summary_of) {
    std::size_t count = 0;
    for (const Best& best : best_) {
      const Summary& summary = summary_of(levels_[best.group]);
      if (summary.max == best.own) count += summary.count;
    }
    return count;
  };
  const auto descend = [&](std::size_t from, auto&& count_at) {
    for (std::size_t at = from;; ++at) {
      const std::size_t count = count_at(at);
      if (n < count) return at;
      n -= count;
    }
  };
  const std::size_t block = descend(0, [&](std::size_t at) {
    return count_in([&](const Levels& levels) -> const Summary& { return levels.blocks[at]; });
  });
  const std::size_t leaf = descend(block * kFanOut, [&](std::size_t at) {
    return count_in([&](const Levels& levels) -> const Summary& { return levels.leaves[at]; });
  });
  const std::size_t row = descend(leaf * kFanOut, [&](std::size_t at) -> std::size_t {
    return std::ranges::any_of(
        best_, [&](const Best& best) { return totals_[at] == best.own && GroupOf(at) == best.group; });
  });
  return cluster::NodeRow(static_cast<std::uint32_t>(row));
}

cluster::NodeRow TotalIndex::PickBest(std::span<const Addend> addends, base::Random& random) {
  best_.clear();
  std::int64_t best_total = 0;
  std::size_t count = 0;
  for (std::size_t group = 0; group < levels_.size(); ++group) {
    if (group >= addends.size() || !addends[group].open) continue;
    Summary top;
    for (const Summary& block : levels_[group].blocks) top.Include(block.max, block.count);
    if (top.count == 0) continue;
    const std::int64_t total = top.max + addends[group].amount;
    if (best_.empty() || total > best_total) {
      best_.clear();
      best_total = total;
      count = 0;
    }
    if (total == best_total) {
      best_.push_back({static_cast<RowGroup>(group), top.max});
      count += top.count;
    }
  }
  BERTH_CHECK(count > 0);
  return NthBest(random.Uniform(count));
}

std::size_t TotalIndex::MemoryBytes() const {
  std::size_t bytes = totals_.size() * sizeof(std::int64_t) + groups_.size() * sizeof(RowGroup);
  for (const Levels& levels : levels_) {
    bytes += (levels.leaves.size() + levels.blocks.size()) * sizeof(Summary);
  }
  return bytes;
}

}  // namespace berth::framework
