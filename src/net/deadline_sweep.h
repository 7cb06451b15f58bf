#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "net/event_loop.h"

namespace berth::net {

// One timer for the deadlines of many connections.
//
// A connection keeps its deadline as a plain number that it moves with every message; nobody tells the timer.
// When the timer fires, the owner looks at all of them, cuts off those that are late and returns the earliest
// that is left. So a request costs no timer operation, and an idle connection no timer.
class DeadlineSweep {
 public:
  static constexpr base::TimePoint kNever = base::TimePoint::max();

  // `scan` returns the earliest deadline left, or kNever. Scans are at least `granularity` apart.
  DeadlineSweep(EventLoop& loop, base::Duration granularity,
                std::move_only_function<base::TimePoint(base::TimePoint now)> scan)
      : loop_(loop), granularity_(granularity), scan_(std::move(scan)), timer_(loop) {}

  // A deadline that may be earlier than all others.
  void Note(base::TimePoint deadline) {
    if (deadline >= armed_) return;
    armed_ = deadline;
    timer_.StartAt(deadline, [this] { Fire(); });
  }

 private:
  void Fire() {
    const base::TimePoint now = loop_.Now();
    // A scan may note deadlines itself, through callbacks that start new requests.
    armed_ = kNever;
    const base::TimePoint next = scan_(now);
    if (next != kNever) Note(std::max(next, now + granularity_));
  }

  EventLoop& loop_;
  const base::Duration granularity_;
  std::move_only_function<base::TimePoint(base::TimePoint)> scan_;
  base::TimePoint armed_ = kNever;
  Timer timer_;
};

}  // namespace berth::net
