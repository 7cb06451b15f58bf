#pragma once

#include "base/clock.h"

namespace berth::sim {

// How badly the world behaves, drawn once per run from its seed.
struct Faults {
  base::Duration watch_delay_max = std::chrono::milliseconds(50);
  base::Duration call_delay_max = std::chrono::milliseconds(50);
  double call_refused = 0;  // the server answers 500 and does nothing
  double answer_lost =
      0;                 // the server does what a patch or deletion asks, and its answer says that it failed
  double watch_cut = 0;  // per action of the workload: one watch stops delivering for a while
  double relist = 0;     // a watch that comes back has lost its place and lists again
  double restart = 0;    // per action: the scheduler is killed, and another one starts
  double pause = 0;      // per action: the scheduler stands still for a while
  bool has_extender = false;  // a program outside has a say
  bool extender_is_ignorable = false;
  base::Duration extender_delay_max = {};
  double extender_fails = 0;  // it is asked and does not know

  static Faults None() { return {}; }
};

}  // namespace berth::sim
