#include "cli/scheduler_settings.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "cli/version.h"

#include "api/quantity.h"
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

// As much as kube-scheduler keeps of a log at most.
constexpr std::int64_t kLogBufferMax = std::int64_t{2} << 30;

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
  const std::string& version = settings.flags.version;
  if (version.starts_with('v') && !version.starts_with(KubernetesVersion())) {
    errors << kUsage << settings.given.Usage()
           << fmt::format(
                  "\nError: invalid argument {0} for \"--version\" flag: version {0} must match "
                  "major/minor/patch of default version {1}\n",
                  base::QuoteGo(version), base::QuoteGo(std::string(KubernetesVersion())));
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

std::optional<int> ShowVersion(const SchedulerSettings& settings, std::ostream& out) {
  const std::string& wanted = settings.flags.version;
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
  return std::nullopt;
}

std::unique_ptr<SplitLog> SplitLogOf(const config::SchedulerFlags& flags) {
  const bool is_json = flags.logging_format == "json";
  if (!(is_json ? flags.log_json_split_stream : flags.log_text_split_stream)) return nullptr;
  const auto size =
      api::Quantity::Parse(is_json ? flags.log_json_info_buffer_size : flags.log_text_info_buffer_size);
  const std::int64_t bytes = size ? std::clamp<std::int64_t>(size->Value(), 0, kLogBufferMax) : 0;
  return std::make_unique<SplitLog>(
      SplitLog::Options{.buffer_bytes = static_cast<std::size_t>(bytes), .warnings_are_errors = !is_json});
}

std::optional<int> SetUpLogging(SchedulerSettings& settings, std::ostream& errors) {
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
  settings.split_log = SplitLogOf(settings.flags);
  if (settings.split_log) settings.split_log->Install();
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

// The file, or what flags come to without one. `samples_nodes` is set if it says so.
base::Result<config::Configuration> ReadConfiguration(const SchedulerSettings& settings,
                                                      bool& samples_nodes) {
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
  samples_nodes = configuration->percentage_of_nodes_to_score.has_value();
  config::ApplyDefaults(*configuration, settings.features);
  config::ApplyFlags(settings.flags, settings.given, *configuration);
  if (const auto problems = config::Validate(*configuration, settings.features); !problems.empty()) {
    return base::Fail(config::Aggregate(problems));
  }
  return *std::move(configuration);
}

base::Result<void> ReadMetricFlags(SchedulerSettings& settings) {
  const config::SchedulerFlags& flags = settings.flags;
  settings.metrics.show_hidden = !flags.show_hidden_metrics_for_version.empty();
  settings.metrics.disabled = flags.disabled_metrics;
  base::Result<std::vector<server::AllowedLabel>> allowed =
      server::ParseAllowedLabels(flags.allow_metric_labels);
  if (!flags.allow_metric_labels_manifest.empty()) {
    const auto text = base::ReadFile(flags.allow_metric_labels_manifest);
    const std::string where = fmt::format("metrics.allowListMappingManifest: Invalid value: {}: ",
                                          base::QuoteGo(flags.allow_metric_labels_manifest));
    if (!text) return base::Fail(where + "failed to read allow list manifest: " + text.error().message);
    allowed = server::ParseAllowedLabelsFile(*text);
    if (!allowed) return base::Fail(where + allowed.error().message);
  }
  if (!allowed) {
    boost::json::object mapping;
    for (const std::string& text : flags.allow_metric_labels) {
      mapping[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
    return base::Fail(fmt::format("metrics.allowListMapping: Invalid value: {}: {}",
                                  boost::json::serialize(mapping), allowed.error().message));
  }
  settings.metrics.allowed = *std::move(allowed);
  return {};
}

base::Result<void> ReadTracing(SchedulerSettings& settings) {
  const std::string& file = settings.flags.tracing_config_file;
  if (file.empty()) return {};
  const auto text = base::ReadFile(file);
  if (!text) return base::Fail("failed to read tracing config file: " + text.error().message);
  auto tracing = config::DecodeTracing(*text);
  if (!tracing) return base::Fail("failed to validate tracing configuration: " + tracing.error().message);
  settings.tracing = *std::move(tracing);
  return {};
}

std::optional<int> Configure(SchedulerSettings& settings) {
  if (const auto problems = config::CheckFlags(settings.flags); !problems.empty()) {
    return Failed(api::AggregateErrors(problems));
  }
  if (auto read = ReadMetricFlags(settings); !read) return Failed(read.error().message);
  if (auto read = ReadTracing(settings); !read) return Failed(read.error().message);
  auto built_in = config::PluginCatalog::BuiltIn(plugins::AllPlugins(), settings.features);
  if (!built_in) return Failed(built_in.error().message);
  settings.built_in = *std::move(built_in);
  auto loaded = LoadConfiguration(settings);
  if (!loaded) return Failed(loaded.error().message);
  settings.loaded = *std::move(loaded);
  return std::nullopt;
}

}  // namespace

base::Result<LoadedConfiguration> LoadConfiguration(const SchedulerSettings& settings) {
  LoadedConfiguration loaded;
  auto configuration = ReadConfiguration(settings, loaded.samples_nodes);
  if (!configuration) return std::unexpected(std::move(configuration.error()));
  auto compiled = config::Compile(*std::move(configuration), config::PluginCatalog::With(settings.built_in),
                                  settings.features);
  if (!compiled) return std::unexpected(std::move(compiled.error()));
  loaded.compiled = *std::move(compiled);
  return loaded;
}

std::optional<int> ReadSettings(std::span<const std::string> arguments, SchedulerSettings& settings,
                                std::ostream& out, std::ostream& errors) {
  if (auto code = ParseFlags(arguments, settings, out, errors)) return code;
  if (auto code = SetGates(settings)) return code;
  if (auto code = ShowVersion(settings, out)) return code;
  if (auto code = SetUpLogging(settings, errors)) return code;
  return Configure(settings);
}

}  // namespace berth::cli
