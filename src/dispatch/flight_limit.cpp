#include "dispatch/flight_limit.h"

#include <algorithm>
#include <chrono>

namespace berth::dispatch {
namespace {

constexpr std::size_t kFewer = 0;
constexpr std::size_t kUsual = 1;
// In answers, as multiples of the limit: what was on its way before does not count, and then enough of them
// that a server that answers in bursts does not look fast or slow. A kube-apiserver is twice as fast in one
// fifth of a second as in the next.
constexpr std::size_t kWarmUp = 1;
constexpr std::size_t kWindow = 4;
constexpr base::Duration kWindowTime = std::chrono::seconds(1);
// How long a limit is kept before another one is tried: at first, and after one that was not worth it.
constexpr std::size_t kFirstWindows = 1;
constexpr std::size_t kRestWindows = 16;
// What a trial has to show, and what a step has to keep up.
constexpr double kWorthIt = 0.5;
constexpr double kStillWorthIt = 0.2;

}  // namespace

FlightLimit::FlightLimit(std::size_t usual, std::size_t most) {
  if (usual == 0) return;
  if (usual < 2 || most <= usual) {
    steps_.push_back({.limit = usual});
    return;
  }
  steps_ = {{.limit = usual / 2}, {.limit = usual}};
  while (steps_.back().limit < most) {
    steps_.push_back({.limit = std::min(most, 2 * steps_.back().limit)});
  }
  GoTo(kUsual, kFirstWindows);
}

void FlightLimit::Answered(base::TimePoint now, bool others_wait) {
  if (steps_.size() < 2) return;
  if (!others_wait) {
    answers_ = 0;
    if (++answers_alone_ >= limit()) GoTo(kUsual, kFirstWindows);
    return;
  }
  answers_alone_ = 0;
  ++answers_;
  if (answers_ == kWarmUp * limit()) began_ = now;
  if (answers_ < (kWarmUp + kWindow) * limit() || now - began_ < kWindowTime) return;
  const auto counted = static_cast<double>(answers_ - kWarmUp * limit());
  const double seconds = std::chrono::duration<double>(now - began_).count();
  answers_ = kWarmUp * limit();
  began_ = now;
  Measure(counted / seconds);
}

void FlightLimit::Measure(double rate) {
  steps_[step_].rate = rate;
  if (step_ == kFewer) {
    const bool is_busy = Gain(kUsual) < kWorthIt;
    GoTo(is_busy ? kUsual : kUsual + 1, is_busy ? kRestWindows : 0);
    is_trial_ = !is_busy;
    return;
  }
  if (step_ > kUsual && Gain(step_) < (is_trial_ ? kWorthIt : kStillWorthIt)) {
    GoTo(step_ - 1, kRestWindows);
    return;
  }
  is_trial_ = false;
  if (windows_left_ > 0) --windows_left_;
  if (windows_left_ > 0 || step_ + 1 == steps_.size()) return;
  const bool is_usual = step_ == kUsual;
  GoTo(is_usual ? kFewer : step_ + 1, 0);
  is_trial_ = !is_usual;
}

void FlightLimit::GoTo(std::size_t step, std::size_t windows) {
  step_ = step;
  windows_left_ = windows;
  is_trial_ = false;
  answers_ = 0;
  answers_alone_ = 0;
}

double FlightLimit::Gain(std::size_t step) const {
  const Step& here = steps_[step];
  const Step& below = steps_[step - 1];
  const double more = static_cast<double>(here.limit) / static_cast<double>(below.limit) - 1;
  return (here.rate / below.rate - 1) / more;
}

}  // namespace berth::dispatch
