#include "cli/scheduler_settings.h"

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <utility>
#include <vector>

#include "cli/version.h"

#include "api/validation.h"
#include "base/files.h"
#include "base/go_text.h"
#include "base/log.h"
#include "config/defaults.h"
#include "config/load.h"
#include "config/validation.h"
#include "plugins/all_plugins.h"

namespace berth::cli {
namespace {

constexpr std::string_view kUsage = "Usage:\n  kube-scheduler [flags]\n";
constexpr std::string_view kAbout =
    "Schedules the pods of a Kubernetes cluster: for each pod that has no node yet it finds the nodes on "
    "which the pod\n"
    "can run, rates them, and binds the pod to the best one. Takes the flags and the configuration of "
    "kube-scheduler.\n\n";

int Failed(const std::string& error) {
  BERTH_LOG_ERROR(base::Error{error}, "command failed");
  return 1;
}

std::optional<int> ParseFlags(std::span<const std::string> arguments, SchedulerSettings& settings,
                              std::ostream& out, std::ostream& errors) {
  const auto rest = settings.given.Parse(arguments);
  if (!rest) {
    errors << kUsage << settings.given.Usage() << "\nError: " << rest.error().message << '\n';
    return 1;
  }
  if (settings.flags.help) {
    out << kAbout << kUsage << settings.given.Usage();
    return 0;
  }
  for (const std::string& argument : *rest) {
    if (argument.empty()) continue;
    std::vector<std::string> quoted;
    for (const std::string& one : *rest) quoted.push_back(base::QuoteGo(one));
    errors << fmt::format("Error: \"kube-scheduler\" does not take any arguments, got [{}]\n",
                          fmt::join(quoted, " "));
    return 1;
  }
  return std::nullopt;
}

std::optional<int> SetGates(SchedulerSettings& settings) {
  const auto versions = config::ResolveVersions(settings.flags.versions);
  if (!versions) return Failed(versions.error().message);
  settings.gates = config::FeatureGates(*versions);
  if (const auto set = settings.gates.Set(settings.flags.feature_gates); !set)
    return Failed(set.error().message);
  settings.features = settings.gates.ToFeatures();
  return std::nullopt;
}

std::optional<int> ShowVersion(const SchedulerSettings& settings, std::ostream& out, std::ostream& errors) {
  const std::string& wanted = settings.flags.version;
  if (wanted == "false") return std::nullopt;
  if (wanted == "true") {
    out << "Kubernetes " << KubernetesVersion() << '\n';
    return 0;
  }
  if (wanted == "raw") {
    out << fmt::format(
        "version.Info{{Major:\"1\", Minor:\"37\", GitVersion:\"{}\", Platform:\"linux/amd64\"}}\n",
        KubernetesVersion());
    return 0;
  }
  if (wanted.starts_with(KubernetesVersion())) return std::nullopt;
  errors << fmt::format("error: version {} is not derived from {}\n", base::QuoteGo(wanted),
                        KubernetesVersion());
  return 1;
}

std::optional<int> SetUpLogging(const SchedulerSettings& settings, std::ostream& errors) {
  const auto problems = config::CheckLogFlags(settings.flags, settings.features);
  if (!problems.empty()) {
    errors << api::AggregateErrors(problems) << '\n';
    return 1;
  }
  base::LogOptions options;
  options.format = settings.flags.logging_format == "json" ? base::LogFormat::kJson : base::LogFormat::kText;
  options.verbosity = settings.flags.verbosity;
  options.vmodule = *base::ParseVmodule(settings.flags.vmodule);
  base::ConfigureLogging(std::move(options));
  for (const config::FlagSet::Flag& flag : settings.given.flags()) {
    BERTH_LOG(1, fmt::format("FLAG: --{}={}", flag.name, base::QuoteGo(flag.get())));
  }
  for (const auto& [name, value] : settings.gates.set_by_user()) {
    const config::Gate* const gate = config::FindGate(name);
    if (gate == nullptr) continue;
    if (gate->stage == config::Stage::kStable) {
      BERTH_LOG_WARNING("Warning: setting GA feature gate. It will be removed in a future release.",
                        {"featureGate", name}, {"value", value});
    } else if (gate->stage == config::Stage::kDeprecated) {
      BERTH_LOG_WARNING("Warning: setting deprecated feature gate. It will be removed in a future release.",
                        {"featureGate", name}, {"value", value});
    }
  }
  return std::nullopt;
}

base::Result<config::Configuration> LoadConfiguration(SchedulerSettings& settings) {
  if (settings.flags.config.empty()) {
    config::Configuration configuration = config::DefaultConfiguration(settings.features);
    // Not checked afterwards, as in kube-scheduler: wrong values are found where they are used.
    config::ApplyFlags(settings.flags, settings.given, configuration);
    return configuration;
  }
  const auto text = base::ReadFile(settings.flags.config);
  if (!text) return std::unexpected(text.error());
  auto configuration = config::Decode(*text);
  if (!configuration) return base::Fail(std::move(configuration.error().message));
  settings.samples_nodes = configuration->percentage_of_nodes_to_score.has_value();
  config::ApplyDefaults(*configuration, settings.features);
  config::ApplyFlags(settings.flags, settings.given, *configuration);
  if (const auto problems = config::Validate(*configuration, settings.features); !problems.empty()) {
    return base::Fail(config::Aggregate(problems));
  }
  return *std::move(configuration);
}

std::optional<int> Configure(SchedulerSettings& settings) {
  if (const auto problems = config::CheckFlags(settings.flags); !problems.empty()) {
    return Failed(api::AggregateErrors(problems));
  }
  auto configuration = LoadConfiguration(settings);
  if (!configuration) return Failed(configuration.error().message);
  auto built_in = config::PluginCatalog::BuiltIn(plugins::AllPlugins(), settings.features);
  if (!built_in) return Failed(built_in.error().message);
  settings.built_in = *std::move(built_in);
  auto compiled = config::Compile(*std::move(configuration), config::PluginCatalog::With(settings.built_in),
                                  settings.features);
  if (!compiled) return Failed(compiled.error().message);
  settings.compiled = *std::move(compiled);
  return std::nullopt;
}

}  // namespace

std::optional<int> ReadSettings(std::span<const std::string> arguments, SchedulerSettings& settings,
                                std::ostream& out, std::ostream& errors) {
  if (auto code = ParseFlags(arguments, settings, out, errors)) return code;
  if (auto code = SetGates(settings)) return code;
  if (auto code = ShowVersion(settings, out, errors)) return code;
  if (auto code = SetUpLogging(settings, errors)) return code;
  return Configure(settings);
}

config::Configuration WithoutSecrets(config::Configuration configuration) {
  for (config::Extender& extender : configuration.extenders) {
    if (extender.tls_config) extender.tls_config->key_data = {};
  }
  return configuration;
}

}  // namespace berth::cli
