#include "bench/load_clock.h"

#include <algorithm>
#include <utility>

namespace berth::bench {
namespace {

base::Duration IntervalOf(double per_second) {
  if (per_second <= 0) return {};
  return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(1 / per_second));
}

}  // namespace

LoadClock::LoadClock(TestCluster& cluster, double requests_per_second)
    : cluster_(cluster), request_interval_(IntervalOf(requests_per_second)), next_request_(Now()) {}

void LoadClock::RunUntil(base::TimePoint end) {
  do {
    const auto deadline = timers_.NextDeadline();
    cluster_.RunUntil(deadline ? std::min(end, *deadline) : end);
    timers_.RunDue(Now());
  } while (Now() < end);
}

void LoadClock::AwaitTurn() {
  if (request_interval_.count() == 0) {
    timers_.RunDue(Now());
    return;
  }
  // While the scheduler is busy requests go on coming: what was due is made up for.
  if (next_request_ > Now()) {
    RunUntil(next_request_);
  } else {
    timers_.RunDue(Now());
  }
  next_request_ += request_interval_;
}

void LoadClock::LetPass(base::Duration duration) {
  RunUntil(Now() + duration);
  next_request_ = std::max(next_request_, Now());
}

bool LoadClock::Poll(base::Duration interval, base::Duration timeout, const std::function<bool()>& holds) {
  const base::TimePoint end = Now() + timeout;
  while (!holds()) {
    if (Now() >= end) return false;
    LetPass(interval);
  }
  return true;
}

void LoadClock::Every(base::Duration interval, std::function<bool()> act) {
  const base::TimePoint next = Now() + interval;
  timers_.Schedule(next, [this, interval, act = std::move(act)]() mutable {
    if (act()) Every(interval, std::move(act));
  });
}

}  // namespace berth::bench
