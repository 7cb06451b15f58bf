#include "plugins/resource_columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

namespace berth::plugins {
namespace {

// A constant, so that the compiler makes vectors of the loops over it.
constexpr std::size_t kLanes = 16;
constexpr std::int64_t kDivisorMax = std::int64_t{1} << 46;
constexpr std::int64_t kWholeMax = std::int64_t{1} << 51;

using Lanes = std::array<double, kLanes>;
using SmallLanes = std::array<std::int32_t, kLanes>;

// Of integers from 0 to 2^52, without the instruction that only new machines have for it: such an integer in
// the lower bits of 2^52 is a double that is larger by that.
double ToDouble(std::int64_t amount) {
  constexpr std::uint64_t kBits = 0x4330000000000000;
  constexpr double kOffset = 4503599627370496.0;
  return std::bit_cast<double>(static_cast<std::uint64_t>(amount) | kBits) - kOffset;
}

// One resource on the rows of a block.
struct RowBlock {
  Lanes capacity;
  Lanes used;
};

bool FitsDoubles(const ScoredResource& resource) {
  return resource.devices == nullptr && resource.allocatable.exists() && resource.wanted >= 0 &&
         resource.wanted <= kWholeMax;
}

// False: some amount is none that doubles can do.
bool LoadBlock(const ScoredResource& resource, const cluster::NodeRow* rows, RowBlock& block) {
  std::int64_t capacity[kLanes];
  std::int64_t used[kLanes];
  const std::size_t first = rows[0].index();
  const bool is_run = rows[kLanes - 1].index() - first == kLanes - 1;
  cluster::AmountColumn::Room capacity_room;
  cluster::AmountColumn::Room used_room;
  const std::int64_t* const capacity_run =
      is_run ? resource.allocatable.Run(first, kLanes, capacity_room) : nullptr;
  const std::int64_t* const used_run = is_run ? resource.used.Run(first, kLanes, used_room) : nullptr;
  if (capacity_run != nullptr && used_run != nullptr) {
    std::copy_n(capacity_run, kLanes, capacity);
    std::copy_n(used_run, kLanes, used);
  } else {
    for (std::size_t i = 0; i < kLanes; ++i) {
      capacity[i] = resource.allocatable[rows[i].index()];
      used[i] = resource.used[rows[i].index()];
    }
  }
  // The sign bit of what must not be negative, of all rows.
  std::uint64_t beyond = 0;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const auto c = static_cast<std::uint64_t>(capacity[i]);
    const auto u = static_cast<std::uint64_t>(used[i]);
    beyond |= (c - 1) | (static_cast<std::uint64_t>(kDivisorMax) - c) | u |
              (static_cast<std::uint64_t>(kWholeMax) - u) | c;
  }
  if ((beyond >> 63) != 0) return false;
  for (std::size_t i = 0; i < kLanes; ++i) {
    block.capacity[i] = ToDouble(capacity[i]);
    block.used[i] = ToDouble(used[i]);
  }
  return true;
}

// Blocks of rows through `block_of`, which says whether it could, the others and the rest one by one.
template <class BlockScore, class RowScore>
void ScoreBlocks(std::span<const cluster::NodeRow> rows, std::span<std::int64_t> scores,
                 BlockScore&& block_of, RowScore&& row_of) {
  std::size_t done = 0;
  for (; done + kLanes <= rows.size(); done += kLanes) {
    SmallLanes found;
    if (block_of(rows.data() + done, found)) {
      for (std::size_t i = 0; i < kLanes; ++i) scores[done + i] = found[i];
    } else {
      for (std::size_t i = done; i < done + kLanes; ++i) scores[i] = row_of(rows[i]);
    }
  }
  for (; done < rows.size(); ++done) scores[done] = row_of(rows[done]);
}

// trunc(100 * free / capacity) of each row, times the weight, added up.
void AddLeastAllocated(const ScoredResource& resource, const RowBlock& block, SmallLanes& sums) {
  const double wanted = ToDouble(resource.wanted);
  const auto weight = static_cast<std::int32_t>(resource.weight);
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double free = block.capacity[i] - (block.used[i] + wanted);
    const double share = free * 100.0 / block.capacity[i];
    sums[i] += static_cast<std::int32_t>(free < 0.0 ? 0.0 : share) * weight;
  }
}

void ShareLanes(const RowBlock& block, double wanted, Lanes& shares) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double share = (block.used[i] + wanted) / block.capacity[i];
    shares[i] = share < 1.0 ? share : 1.0;
  }
}

void BalanceLanes(const Lanes& first, const Lanes& second, SmallLanes& balance) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double deviation = std::abs((first[i] - second[i]) / 2.0);
    balance[i] = static_cast<std::int32_t>((1.0 - deviation) * 100.0);
  }
}

}  // namespace

void LeastAllocatedScores(std::span<const ScoredResource> resources, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores) {
  constexpr std::int64_t kWeightsMax = 1 << 16;
  std::int64_t weights = 0;
  bool by_block = !resources.empty();
  for (const ScoredResource& resource : resources) {
    by_block = by_block && FitsDoubles(resource) && resource.weight > 0 && resource.weight < kWeightsMax;
    weights += by_block ? resource.weight : 0;
  }
  by_block = by_block && weights < kWeightsMax;
  // The mean of integers, cut: half a weight more keeps the product off the integers on either side.
  const double part = by_block ? 1.0 / static_cast<double>(weights) : 0.0;
  ScoreBlocks(
      rows, scores,
      [&](const cluster::NodeRow* block_rows, SmallLanes& found) {
        if (!by_block) return false;
        found.fill(0);
        for (const ScoredResource& resource : resources) {
          RowBlock block;
          if (!LoadBlock(resource, block_rows, block)) return false;
          AddLeastAllocated(resource, block, found);
        }
        for (std::size_t i = 0; i < kLanes; ++i) {
          found[i] = static_cast<std::int32_t>((static_cast<double>(found[i]) + 0.5) * part);
        }
        return true;
      },
      [&](cluster::NodeRow row) { return LeastAllocatedScore(resources, row); });
}

void BalanceScores(std::span<const ScoredResource> resources, std::span<const cluster::NodeRow> rows,
                   std::span<std::int64_t> scores) {
  // Two resources that every node counts itself are what pods mostly have.
  const bool by_block = resources.size() == 2 && FitsDoubles(resources[0]) && FitsDoubles(resources[1]);
  ScoreBlocks(
      rows, scores,
      [&](const cluster::NodeRow* block_rows, SmallLanes& found) {
        RowBlock blocks[2];
        if (!by_block || !LoadBlock(resources[0], block_rows, blocks[0]) ||
            !LoadBlock(resources[1], block_rows, blocks[1])) {
          return false;
        }
        Lanes first;
        Lanes second;
        SmallLanes before;
        ShareLanes(blocks[0], 0.0, first);
        ShareLanes(blocks[1], 0.0, second);
        BalanceLanes(first, second, before);
        ShareLanes(blocks[0], ToDouble(resources[0].wanted), first);
        ShareLanes(blocks[1], ToDouble(resources[1].wanted), second);
        BalanceLanes(first, second, found);
        for (std::size_t i = 0; i < kLanes; ++i) found[i] = 50 + (50 + found[i] - before[i]) / 2;
        return true;
      },
      [&](cluster::NodeRow row) { return BalanceScore(resources, row); });
}

}  // namespace berth::plugins
