#include "bench/core_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "config/compile.h"
#include "config/defaults.h"
#include "config/load.h"
#include "config/runtime_profile.h"
#include "config/validation.h"
#include "plugins/all_plugins.h"

namespace berth::bench {
namespace {

base::Result<config::Compiled> CompileFile(const std::filesystem::path& path,
                                           const framework::Features& features,
                                           const config::PluginCatalog& built_in, bool& samples_nodes) {
  const auto text = base::ReadFile(path.string());
  if (!text) return std::unexpected(text.error());
  const auto fail = [&](const std::string& why) { return base::Fail(path.string() + ": " + why); };
  auto configuration = config::Decode(*text);
  if (!configuration) return fail(configuration.error().message);
  samples_nodes = configuration->percentage_of_nodes_to_score.has_value();
  config::ApplyDefaults(*configuration, features);
  if (const auto problems = config::Validate(*configuration, features); !problems.empty()) {
    return fail(config::Aggregate(problems));
  }
  auto compiled = config::Compile(*std::move(configuration), config::PluginCatalog::With(built_in), features);
  if (!compiled) return fail(compiled.error().message);
  return compiled;
}

}  // namespace

base::Result<core::SchedulerOptions> CoreOptionsFrom(const std::filesystem::path& path,
                                                     const framework::Features& features) {
  core::SchedulerOptions options;
  options.features = features;
  if (path.empty()) return options;
  const auto built_in = config::PluginCatalog::BuiltIn(plugins::AllPlugins(), features);
  if (!built_in) return std::unexpected(built_in.error());
  bool samples_nodes = false;
  const auto compiled = CompileFile(path, features, *built_in, samples_nodes);
  if (!compiled) return std::unexpected(compiled.error());
  const config::Configuration& configuration = compiled->configuration;
  options.pod_initial_backoff = std::chrono::seconds(*configuration.pod_initial_backoff_seconds);
  options.pod_max_backoff = std::chrono::seconds(*configuration.pod_max_backoff_seconds);
  // berth looks at all nodes unless it is told otherwise.
  if (samples_nodes) {
    options.engine.percentage_of_nodes_to_score = configuration.percentage_of_nodes_to_score;
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < configuration.profiles.size(); ++i) {
    options.profiles.push_back(
        config::RuntimeProfile(compiled->profiles[i], configuration.profiles[i], *built_in, missing));
  }
  // Plugins that no profile has are what a workload is told to miss elsewhere, by what it needs them for.
  return options;
}

}  // namespace berth::bench
