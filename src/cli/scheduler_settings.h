#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/compile.h"
#include "config/feature_gates.h"
#include "config/scheduler_flags.h"

namespace berth::cli {

// What the command line and the configuration file of a scheduler come to. Not movable: the flag set points
// at the flags.
struct SchedulerSettings {
  SchedulerSettings() = default;
  SchedulerSettings(const SchedulerSettings&) = delete;
  SchedulerSettings& operator=(const SchedulerSettings&) = delete;

  config::SchedulerFlags flags;
  config::FlagSet given = config::MakeFlagSet(flags);
  config::FeatureGates gates;
  framework::Features features;
  config::PluginCatalog built_in;
  config::Compiled compiled;
  // Whether the file asks for a share of nodes. berth looks at all of them unless it is told otherwise.
  bool samples_nodes = false;
};

// Fills the settings, sets logging up, and says what is wrong in kube-scheduler's words and places. Returns
// the exit code if the process is to end now: after a mistake, --help or --version.
std::optional<int> ReadSettings(std::span<const std::string> arguments, SchedulerSettings& settings,
                                std::ostream& out, std::ostream& errors);

// Without keys: for logs and /configz.
config::Configuration WithoutSecrets(config::Configuration configuration);

}  // namespace berth::cli
