#include "queue/backoff.h"

#include <cmath>
#include <limits>

namespace berth::queue {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::int64_t ScaledBySize(std::int64_t max, std::size_t size) {
  if (size <= 1) return max;
  const double scaled = static_cast<double>(max) * std::sqrt(static_cast<double>(size));
  return scaled >= static_cast<double>(kMax) ? kMax : static_cast<std::int64_t>(scaled);
}

}  // namespace

Backoff::Backoff(const BackoffOptions& options, const base::Clock& clock)
    : options_(options), wall_offset_(clock.WallNow().time_since_epoch() - clock.Now().time_since_epoch()) {}

base::Duration Backoff::DurationOf(std::int32_t count, std::size_t size) const {
  if (count <= 0) return base::Duration::zero();
  const std::int64_t max = ScaledBySize(options_.max.count(), size);
  const std::int32_t doublings = count - 1;
  const std::int64_t largest_start = doublings >= 63 ? 0 : max >> doublings;
  const std::int64_t initial = options_.initial.count();
  return base::Duration(initial > largest_start ? max : initial << doublings);
}

std::optional<base::TimePoint> Backoff::Expiry(QueueingParams& params, std::size_t size) const {
  const std::int32_t count =
      params.consecutive_errors > 0 ? params.consecutive_errors : params.unschedulable_count;
  if (options_.max == base::Duration::zero() || count == 0) return std::nullopt;
  if (!params.expiry) {
    const base::Duration wait = DurationOf(count, size);
    const base::TimePoint last = base::TimePoint::max();
    params.expiry = wait > last - params.timestamp ? last : params.timestamp + wait;
  }
  return params.expiry;
}

base::TimePoint Backoff::Window(base::TimePoint time) const {
  if (!options_.windows || time == base::TimePoint::max()) return time;
  const base::TimePoint wall = time + wall_offset_;
  return base::TimePoint(std::chrono::floor<std::chrono::seconds>(wall.time_since_epoch())) - wall_offset_;
}

bool Backoff::IsBackingOff(QueueingParams& params, std::size_t size, base::TimePoint now) const {
  const auto expiry = Expiry(params, size);
  return expiry && !(Window(*expiry) < Window(now));
}

}  // namespace berth::queue
