#pragma once

#include "base/clock.h"

namespace berth::sim {

// How badly the world behaves, drawn once per run from its seed.
struct Faults {
  base::Duration watch_delay_max = std::chrono::milliseconds(50);
  base::Duration call_delay_max = std::chrono::milliseconds(50);
  double call_refused = 0;  // the server answers 500 and does nothing
  double watch_cut = 0;     // per action of the workload: one watch stops delivering for a while
  double relist = 0;        // a watch that comes back has lost its place and lists again
  double restart = 0;       // per action: the scheduler is killed, and another one starts
  double pause = 0;         // per action: the scheduler stands still for a while

  static Faults None() { return {}; }
};

}  // namespace berth::sim
