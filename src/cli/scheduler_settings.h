#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/split_log.h"

#include "config/compile.h"
#include "config/feature_gates.h"
#include "config/scheduler_flags.h"
#include "config/tracing.h"
#include "server/metric_flags.h"

namespace berth::cli {

struct LoadedConfiguration {
  config::Compiled compiled;
  // Whether the file asks for a share of nodes. berth looks at all of them unless it is told otherwise.
  bool samples_nodes = false;
};

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
  LoadedConfiguration loaded;
  std::optional<config::Tracing> tracing;
  server::MetricWishes metrics;
  std::unique_ptr<SplitLog> split_log;  // null: the log is one stream
};

// Fills the settings, sets logging up, and says what is wrong in kube-scheduler's words and places. Returns
// the exit code if the process is to end now: after a mistake, --help or --version.
std::optional<int> ReadSettings(std::span<const std::string> arguments, SchedulerSettings& settings,
                                std::ostream& out, std::ostream& errors);

// Reads the file of --config, or what the flags say without one, as far as what a scheduler runs.
base::Result<LoadedConfiguration> LoadConfiguration(const SchedulerSettings& settings);

}  // namespace berth::cli
