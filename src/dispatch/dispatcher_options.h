#pragma once

#include <cstddef>

namespace berth::dispatch {

struct DispatcherOptions {
  // How many calls may be on their way at once; 0: any number.
  std::size_t in_flight_max = 0;
  // How many may be where that makes more answers (FlightLimit).
  std::size_t in_flight_most = 0;
  // Without SchedulerAsyncAPICalls: every call is a request of its own, those of one pod after each other.
  // Nothing merges, overwrites or is skipped beside something more relevant.
  bool one_by_one = false;
  // For comparing runs with kube-scheduler: forgets what was nominated until the pod shows it, and says
  // nothing to the owner of a call that is replaced while another one of its pod is on its way.
  bool upstream_rules = false;
};

}  // namespace berth::dispatch
