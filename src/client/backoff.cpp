#include "client/backoff.h"

#include <algorithm>

namespace berth::client {

base::Duration Backoff::Next(base::TimePoint now) {
  if (last_step_ && options_.reset_after && now - *last_step_ > *options_.reset_after)
    next_ = options_.initial;
  last_step_ = now;
  const base::Duration step = next_;
  const auto scaled = [](base::Duration duration, double by) {
    return base::Duration(static_cast<std::int64_t>(static_cast<double>(duration.count()) * by));
  };
  next_ = std::min(scaled(next_, options_.factor), options_.limit);
  return step + scaled(step, options_.jitter * random_.UniformReal());
}

}  // namespace berth::client
