#include "framework/kind_tree.h"

#include <algorithm>
#include <bit>

namespace berth::framework {
namespace {

constexpr std::size_t kStrideMin = 16;

}  // namespace

void KindTree::Reset(std::size_t row_count) {
  part_ = row_count > kManyRows ? kLargePart : kPart;
  part_count_ = std::bit_ceil(std::max<std::size_t>(1, (row_count + part_ - 1) / part_));
  stride_ = 0;
  left_ = std::vector<std::uint32_t>();
}

void KindTree::Reserve(std::size_t kind_count) {
  if (kind_count <= stride_) return;
  const std::size_t stride = std::max(kStrideMin, std::bit_ceil(kind_count));
  std::vector<std::uint32_t> left(part_count_ * stride);
  for (std::size_t fork = 1; stride_ > 0 && fork < part_count_; ++fork) {
    std::copy_n(left_.begin() + static_cast<std::ptrdiff_t>(fork * stride_), stride_,
                left.begin() + static_cast<std::ptrdiff_t>(fork * stride));
  }
  stride_ = stride;
  left_ = std::move(left);
}

void KindTree::Count(KindId kind, cluster::NodeRow row, std::uint32_t by) {
  // The parts are the leaves below the forks: fork f has the forks 2f and 2f + 1 below it.
  std::size_t below = part_count_ + row.index() / part_;
  for (; below > 1; below /= 2) {
    if (below % 2 == 0) left_[(below / 2) * stride_ + kind] += by;
  }
}

std::size_t KindTree::FindPart(std::span<const KindId> kinds, std::size_t& n,
                               std::span<const cluster::NodeRow>& without) const {
  std::size_t fork = 1;
  std::size_t first = 0;  // row below the fork
  std::size_t size = row_capacity();
  while (fork < part_count_) {
    size /= 2;
    const std::uint32_t* const left = left_.data() + fork * stride_;
    std::size_t count = 0;
    for (const KindId kind : kinds) count += left[kind];
    std::size_t left_out = 0;
    if (!without.empty()) {
      const cluster::NodeRow middle(static_cast<std::uint32_t>(first + size));
      left_out = static_cast<std::size_t>(std::ranges::lower_bound(without, middle) - without.begin());
      count -= left_out;
    }
    fork *= 2;
    if (n < count) {
      without = without.first(left_out);
      continue;
    }
    n -= count;
    without = without.subspan(left_out);
    first += size;
    ++fork;
  }
  return first;
}

}  // namespace berth::framework
