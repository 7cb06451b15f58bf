#include "cluster/domain_tally.h"

#include <algorithm>
#include <limits>

namespace berth::cluster {

void DomainTally::Add(DomainId domain, std::int32_t delta) {
  if (delta == 0) return;
  const std::int32_t count = counts_.Add(domain, delta);
  const std::int32_t before = count - delta;
  Log(domain);
  if (count != 0) {
    ++histogram_[count];
    if (histogram_.size() == 1 || count < lowest_) lowest_ = count;
  }
  if (before != 0) {
    const auto found = histogram_.find(before);
    if (--found->second == 0) {
      histogram_.erase(found);
      if (before == lowest_) FindLowest();
    }
  }
}

void DomainTally::AddOutside(std::int32_t delta) {
  outside_ += delta;
  Log(DomainId());
}

void DomainTally::Log(DomainId domain) {
  if (non_zero() > log_.capacity() && log_.capacity() < kLogCapacityMax) log_.Grow(2 * log_.capacity());
  log_.Append(domain, 0);
}

void DomainTally::FindLowest() {
  if (histogram_.empty()) {
    lowest_ = 0;
    return;
  }
  constexpr std::int32_t kNearby = 64;
  for (std::int32_t step = 0; step < kNearby; ++step) {
    if (histogram_.contains(lowest_ + step)) {
      lowest_ += step;
      return;
    }
  }
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
  counts_.ForEachNonZero([&](DomainId, std::int32_t count) { lowest = std::min(lowest, count); });
  lowest_ = lowest;
}

}  // namespace berth::cluster
