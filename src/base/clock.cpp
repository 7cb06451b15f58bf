#include "base/clock.h"

#include "base/check.h"

namespace berth::base {

TimePoint RealClock::Now() const {
  return TimePoint(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

WallPoint RealClock::WallNow() const {
  return WallPoint(std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

void VirtualClock::Advance(Duration by) {
  BERTH_CHECK(by >= Duration::zero());
  now_ += by;
}

void VirtualClock::SetTo(TimePoint to) {
  BERTH_CHECK(to >= now_);
  now_ = to;
}

}  // namespace berth::base
