#pragma once

#include <string>
#include <vector>

#include "config/compile.h"

namespace berth::config {

// What it takes to go from one configuration to another while a scheduler runs.
struct ReloadPlan {
  // "- path: value" and "+ path: value", without secrets.
  std::vector<std::string> difference;
  // Of these, the paths that only count after a restart: the lease, the connection to the API server, the
  // port. Each once, in order. If extenders are among them, the whole file waits for the restart.
  std::vector<std::string> needs_restart;
  // What the scheduler runs after it: the new configuration, with the old values of what needs a restart.
  Compiled result;
  // Something changes now.
  bool changes_scheduler = false;
};

// Both were compiled by the same catalog and gates.
ReloadPlan PlanReload(const Compiled& running, Compiled wanted);

// Without private keys and what else a reader of logs must not see.
Configuration WithoutSecrets(Configuration configuration);

}  // namespace berth::config
