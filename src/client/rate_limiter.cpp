#include "client/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace berth::client {

RateLimiter::RateLimiter(base::Executor& executor, Options options)
    : executor_(executor), options_(options), tokens_(options.burst), filled_(executor.clock().Now()) {}

base::Duration RateLimiter::Reserve() {
  if (options_.per_second <= 0) return base::Duration::zero();
  const base::TimePoint now = executor_.clock().Now();
  const double elapsed = std::chrono::duration<double>(now - filled_).count();
  tokens_ = std::min(static_cast<double>(options_.burst), tokens_ + elapsed * options_.per_second) - 1;
  filled_ = now;
  if (tokens_ >= 0) return base::Duration::zero();
  return base::Duration(static_cast<std::int64_t>(std::ceil(-tokens_ / options_.per_second * 1e9)));
}

}  // namespace berth::client
