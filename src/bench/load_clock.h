#pragma once

#include <functional>

#include "base/clock.h"
#include "base/timers.h"
#include "bench/test_cluster.h"

namespace berth::bench {

// The time of a workload: its requests come one after another at a rate, some things happen beside them, and
// some are waited for.
class LoadClock {
 public:
  // 0 requests per second: any number at once. The cluster outlives it.
  LoadClock(TestCluster& cluster, double requests_per_second);

  base::TimePoint Now() const { return cluster_.clock().Now(); }

  // To be called before each request, except from what happens beside.
  void AwaitTurn();
  void LetPass(base::Duration duration);
  // False: the time is over and it still does not hold. Asks at once, and then once per interval, as upstream
  // does.
  bool Poll(base::Duration interval, base::Duration timeout, const std::function<bool()>& holds);

  // Calls it once per interval, first after one, until it returns false.
  void Every(base::Duration interval, std::function<bool()> act);
  // Nothing happens beside any more.
  void CancelAll() { timers_ = base::TimerQueue(); }

 private:
  void RunUntil(base::TimePoint end);

  TestCluster& cluster_;
  const base::Duration request_interval_;
  base::TimePoint next_request_;
  base::TimerQueue timers_;
};

}  // namespace berth::bench
