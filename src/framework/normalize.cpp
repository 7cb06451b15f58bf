#include "framework/points.h"

namespace berth::framework {

void NormalizeByMax(const Extent& extent, Direction direction, std::span<std::int64_t> scores) {
  const bool reverse = direction == Direction::kLowerIsBetter;
  if (extent.count == 0 || extent.max <= 0) {
    if (!reverse) return;
    for (std::int64_t& score : scores) score = kScoreMax;
    return;
  }
  for (std::int64_t& score : scores) {
    const std::int64_t share = kScoreMax * score / extent.max;
    score = reverse ? kScoreMax - share : share;
  }
}

}  // namespace berth::framework
