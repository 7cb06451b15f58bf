#pragma once

#include <cstddef>

#include "base/clock.h"
#include "queue/queueing_params.h"

namespace berth::queue {

struct BackoffOptions {
  base::Duration initial = std::chrono::seconds(1);
  base::Duration max = std::chrono::seconds(10);  // zero: nothing ever backs off
  // Whole seconds end together, so that within one of them priority decides (KEP-5142).
  bool windows = true;
};

// How long a pod waits after a failed attempt. Windows are whole seconds of the wall clock as it was at the
// start: when the machine's clock is set, nobody's backoff jumps.
class Backoff {
 public:
  Backoff(const BackoffOptions& options, const base::Clock& clock);

  // After `count` failures in a row, for an entity of `size` pods.
  base::Duration DurationOf(std::int32_t count, std::size_t size) const;
  // The end of backoff in full precision, kept in the params; nothing if there is none.
  std::optional<base::TimePoint> Expiry(QueueingParams& params, std::size_t size) const;
  // What orders and ends backoff: the start of the second, or the time itself without windows.
  base::TimePoint Window(base::TimePoint time) const;
  // Equality still backs off: a window ends as a whole.
  bool IsBackingOff(QueueingParams& params, std::size_t size, base::TimePoint now) const;

 private:
  const BackoffOptions options_;
  const base::Duration wall_offset_;
};

}  // namespace berth::queue
