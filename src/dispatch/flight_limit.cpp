#include "dispatch/flight_limit.h"

#include <algorithm>
#include <chrono>

namespace berth::dispatch {
namespace {

// In answers, as multiples of the limit: what was on its way before does not count, and then enough of them
// that a server that answers in bursts does not look fast or slow.
constexpr std::size_t kWarmUp = 1;
constexpr std::size_t kWindow = 4;
// After a step that was not worth it, so many windows pass before it is tried again.
constexpr std::size_t kRestWindows = 16;

}  // namespace

FlightLimit::FlightLimit(std::size_t least, std::size_t most) {
  if (least == 0) return;
  steps_.push_back({.limit = least});
  while (steps_.back().limit < most) {
    const std::size_t last = steps_.back().limit;
    steps_.push_back({.limit = std::min(most, last + std::max<std::size_t>(1, last / 2))});
  }
}

void FlightLimit::Answered(base::TimePoint now, bool others_wait) {
  if (steps_.size() < 2) return;
  if (!others_wait) {
    answers_ = 0;
    if (++answers_alone_ < limit()) return;
    for (Step& step : steps_) step.rate = 0;
    GoTo(0);
    return;
  }
  answers_alone_ = 0;
  ++answers_;
  if (answers_ == kWarmUp * limit()) began_ = now;
  if (answers_ < (kWarmUp + kWindow) * limit()) return;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const auto counted = static_cast<double>(kWindow * limit());
  answers_ = kWarmUp * limit();
  began_ = now;
  if (seconds > 0) Measure(counted / seconds);
}

void FlightLimit::Measure(double rate) {
  Step& step = steps_[step_];
  step.rate = step.rate == 0 ? rate : (step.rate + rate) / 2;
  if (step_ > 0 && !IsWorthIt(step_)) {
    GoTo(step_ - 1);
    windows_left_ = kRestWindows;
    return;
  }
  if (windows_left_ > 0) --windows_left_;
  if (windows_left_ > 0 || step_ + 1 == steps_.size()) return;
  steps_[step_ + 1].rate = 0;
  GoTo(step_ + 1);
}

void FlightLimit::GoTo(std::size_t step) {
  step_ = step;
  answers_ = 0;
  answers_alone_ = 0;
  windows_left_ = 0;
}

// Compared with the step below: of what the limit has more, half at least has to be seen in the answers.
bool FlightLimit::IsWorthIt(std::size_t step) const {
  const Step& below = steps_[step - 1];
  const double more = static_cast<double>(steps_[step].limit) / static_cast<double>(below.limit) - 1;
  return steps_[step].rate >= below.rate * (1 + more / 2);
}

}  // namespace berth::dispatch
