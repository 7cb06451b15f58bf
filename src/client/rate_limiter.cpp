#include "client/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace berth::client {

RateLimiter::RateLimiter(base::Executor& executor, Options options)
    : executor_(executor), options_(options), tokens_(options.burst), filled_(executor.clock().Now()) {}

base::Duration RateLimiter::Reserve(base::TimePoint now) {
  const double elapsed = std::chrono::duration<double>(now - filled_).count();
  tokens_ = std::min(static_cast<double>(options_.burst), tokens_ + elapsed * options_.per_second) - 1;
  filled_ = now;
  if (tokens_ >= 0) return base::Duration::zero();
  return base::Duration(static_cast<std::int64_t>(std::ceil(-tokens_ / options_.per_second * 1e9)));
}

base::Task<void> RateLimiter::Take() {
  if (options_.per_second <= 0) co_return;
  const base::Duration wait = Reserve(executor_.clock().Now());
  if (wait > base::Duration::zero()) co_await executor_.SleepFor(wait);
}

}  // namespace berth::client
