#pragma once

#include <optional>

#include "base/clock.h"
#include "base/random.h"

namespace berth::client {

// How long to wait before the next try: longer each time up to a limit, and never the same for two clients.
class Backoff {
 public:
  struct Options {
    base::Duration initial = std::chrono::milliseconds(800);
    double factor = 2;
    base::Duration limit = std::chrono::seconds(30);
    double jitter = 1;                               // each wait is longer by up to this much of itself
    std::optional<base::Duration> reset_after = {};  // so long without a step, and it starts again
  };

  Backoff(Options options, base::Random random)
      : options_(options), random_(random), next_(options.initial) {}

  base::Duration Next(base::TimePoint now);
  // Starts again with the shortest wait.
  void Reset() { next_ = options_.initial; }

 private:
  const Options options_;
  base::Random random_;
  base::Duration next_;
  std::optional<base::TimePoint> last_step_;
};

// What reflectors wait between tries.
inline constexpr Backoff::Options kReflectorBackoff{.reset_after = std::chrono::minutes(2)};

}  // namespace berth::client
