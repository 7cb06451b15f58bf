#pragma once

#include <iosfwd>
#include <string>

#include "base/clock.h"

namespace berth::cli {

// The flags of `berth scheduler`, with kube-scheduler's names and defaults.
struct SchedulerFlags {
  std::string kubeconfig = {};
  std::string master = {};
  bool leader_elect = true;
  std::string leader_elect_lease_duration = "15s";
  std::string leader_elect_renew_deadline = "10s";
  std::string leader_elect_retry_period = "2s";
  std::string leader_elect_resource_namespace = "kube-system";
  std::string leader_elect_resource_name = "kube-scheduler";
  int verbosity = 0;
};

// Schedules pods until the process is told to end. Returns the exit code: 0 after SIGTERM or SIGINT, 1 if the
// configuration is wrong or the lease is lost; what went wrong goes to `errors`.
int RunScheduler(const SchedulerFlags& flags, std::ostream& errors);

}  // namespace berth::cli
