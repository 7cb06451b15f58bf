#include "config/validation.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "api/resource_names.h"
#include "api/validation.h"
#include "base/go_text.h"
#include "config/argument_validation.h"
#include "config/field_problems.h"
#include "config/json_tree.h"

namespace berth::config {
namespace {

using api::FieldPath;

constexpr std::string_view kPercentage = "not in valid range [0-100]";
constexpr std::string_view kRemoved =
    "was invalid in version \"v1\" (KubeSchedulerConfiguration is version "
    "\"kubescheduler.config.k8s.io/v1\")";

// Plugins that older versions had.
bool IsRemovedPlugin(std::string_view name) {
  static constexpr std::string_view kNames[] = {"AzureDiskLimits", "CinderLimits", "EBSLimits",
                                                "GCEPDLimits"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

class Validator {
 public:
  Validator(const Configuration& configuration, const framework::Features& features)
      : configuration_(configuration), features_(features) {}

  Problems Run() {
    ClientConnectionRules();
    LeaderElectionRules();
    if (*configuration_.parallelism <= 0) {
      problems_.Invalid(FieldPath("parallelism"), std::int64_t{*configuration_.parallelism},
                        "should be an integer value greater than zero");
    }
    ProfileRules();
    CheckPercentage(FieldPath("percentageOfNodesToScore"), *configuration_.percentage_of_nodes_to_score);
    BackoffRules();
    ExtenderRules();
    return problems_.list();
  }

 private:
  void ClientConnectionRules();
  void LeaderElectionRules();
  void ProfileRules();
  void CheckProfile(const Profile& profile, const FieldPath& path);
  void CheckPluginConfigs(const Profile& profile, const FieldPath& path);
  void CheckQueueSorts(const FieldPath& path);
  void CheckPercentage(const FieldPath& path, std::int32_t percentage);
  void BackoffRules();
  void ExtenderRules();

  const Configuration& configuration_;
  const framework::Features& features_;
  FieldProblems problems_;
};

void Validator::ClientConnectionRules() {
  const std::int64_t burst = configuration_.client_connection.burst;
  if (burst < 0) problems_.Invalid(FieldPath("clientConnection.burst"), burst, "must be non-negative");
}

void Validator::LeaderElectionRules() {
  const LeaderElection& election = configuration_.leader_election;
  if (!*election.leader_elect) return;
  const FieldPath path("leaderElection");
  const auto check_positive = [&](std::string_view name, base::Duration value) {
    if (value <= base::Duration{}) problems_.Invalid(path.Child(name), value, "must be greater than zero");
  };
  check_positive("leaseDuration", election.lease_duration);
  check_positive("renewDeadline", election.renew_deadline);
  check_positive("retryPeriod", election.retry_period);
  if (election.lease_duration <= election.renew_deadline) {
    // Upstream prints the deadline here; users compare the text.
    problems_.Invalid(path.Child("leaseDuration"), election.renew_deadline,
                      "must be greater than `RenewDeadline`");
  }
  if (election.resource_lock.empty())
    problems_.Required(path.Child("resourceLock"), "resourceLock is required");
  if (election.resource_namespace.empty()) {
    problems_.Required(path.Child("resourceNamespace"), "resourceNamespace is required");
  }
  if (election.resource_name.empty())
    problems_.Required(path.Child("resourceName"), "resourceName is required");
  if (election.resource_lock != "leases") {
    problems_.Invalid(path.Child("resourceLock"), election.resource_lock,
                      "resourceLock value must be \"leases\"");
  }
}

void Validator::CheckPercentage(const FieldPath& path, std::int32_t percentage) {
  if (percentage < 0 || percentage > 100) problems_.Invalid(path, std::int64_t{percentage}, kPercentage);
}

void Validator::ProfileRules() {
  const FieldPath path("profiles");
  if (configuration_.profiles.empty()) return problems_.Required(path);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < configuration_.profiles.size(); ++i) {
    const Profile& profile = configuration_.profiles[i];
    CheckProfile(profile, path.Index(i));
    if (!seen.insert(profile.scheduler_name.value_or("")).second) {
      problems_.Duplicate(path.Index(i).Child("schedulerName"), "{}");
    }
  }
  CheckQueueSorts(path);
}

void Validator::CheckProfile(const Profile& profile, const FieldPath& path) {
  if (profile.scheduler_name.value_or("").empty()) problems_.Required(path.Child("schedulerName"));
  if (profile.percentage_of_nodes_to_score) {
    CheckPercentage(path.Child("percentageOfNodesToScore"), *profile.percentage_of_nodes_to_score);
  }
  for (std::size_t point = 0; point < kPointCount; ++point) {
    // Those three are not looked at upstream: there an unknown name is found later.
    if (point == Index(Point::kMultiPoint) || point == Index(Point::kPlacementGenerate) ||
        point == Index(Point::kPlacementScore)) {
      continue;
    }
    const std::vector<PluginEntry>& enabled = profile.plugins->sets[point].enabled;
    for (std::size_t i = 0; i < enabled.size(); ++i) {
      if (!IsRemovedPlugin(enabled[i].name)) continue;
      problems_.Invalid(path.Child("plugins").Child(kPointNames[point]).Child("enabled").Index(i),
                        enabled[i].name, kRemoved);
    }
  }
  CheckPluginConfigs(profile, path.Child("pluginConfig"));
}

void Validator::CheckPluginConfigs(const Profile& profile, const FieldPath& path) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < profile.plugin_config.size(); ++i) {
    const PluginConfig& config = profile.plugin_config[i];
    if (!seen.insert(config.name).second) problems_.Duplicate(path.Index(i), base::QuoteGo(config.name));
    if (IsRemovedPlugin(config.name)) {
      problems_.Invalid(path.Index(i), config.name, kRemoved);
    } else if (config.name != "NodeResourcesFit") {
      // Upstream looks at the arguments of NodeResourcesFit only when it makes the plugin (compile.cpp), and
      // says so in other words.
      ValidateArguments(config.typed, path.Index(i).Child("args"), features_, problems_);
    }
  }
}

std::string EntriesText(const std::vector<PluginEntry>& entries) {
  if (entries.empty()) return "null";
  std::string text;
  for (const PluginEntry& entry : entries) {
    text += text.empty() ? "{\"Name\":" : ",{\"Name\":";
    base::AppendQuotedJson(text, entry.name, /*escape_html=*/true);
    text += fmt::format(",\"Weight\":{}}}", entry.weight);
  }
  return "[" + text + "]";
}

void Validator::CheckQueueSorts(const FieldPath& path) {
  const Profile& first = configuration_.profiles[0];
  const PluginSet& wanted = first.plugins->at(Point::kQueueSort);
  if (wanted.enabled.size() > 1) {
    problems_.Invalid(path.Index(0).Child("plugins").Child("queueSort").Child("Enabled"),
                      static_cast<std::int64_t>(wanted.enabled.size()),
                      "only one queue sort plugin can be enabled");
  }
  const std::string name = wanted.enabled.empty() ? std::string() : wanted.enabled[0].name;
  RawValue wanted_args;
  for (const PluginConfig& config : first.plugin_config) {
    if (!wanted.enabled.empty() && config.name == name) wanted_args = config.args;
  }
  for (std::size_t i = 1; i < configuration_.profiles.size(); ++i) {
    const Profile& profile = configuration_.profiles[i];
    const PluginSet& set = profile.plugins->at(Point::kQueueSort);
    if (set != wanted) {
      problems_.InvalidJson(path.Index(i).Child("plugins").Child("queueSort"),
                            fmt::format("{{\"Enabled\":{},\"Disabled\":{}}}", EntriesText(set.enabled),
                                        EntriesText(set.disabled)),
                            "must be the same for all profiles");
    }
    for (const PluginConfig& config : profile.plugin_config) {
      if (config.name != name || config.args == wanted_args) continue;
      problems_.InvalidJson(path.Index(i).Child("pluginConfig").Child("args"),
                            config.args.node ? ToJsonText(*config.args.node) : "null",
                            "queueSort must be the same for all profiles");
    }
  }
}

void Validator::BackoffRules() {
  const std::int64_t initial = *configuration_.pod_initial_backoff_seconds;
  const std::int64_t max = *configuration_.pod_max_backoff_seconds;
  if (initial <= 0)
    problems_.Invalid(FieldPath("podInitialBackoffSeconds"), initial, "must be greater than 0");
  if (max < initial) {
    problems_.Invalid(FieldPath("podMaxBackoffSeconds"), max,
                      "must be greater than or equal to PodInitialBackoffSeconds");
  }
}

void Validator::ExtenderRules() {
  const FieldPath path("extenders");
  std::size_t binders = 0;
  std::set<std::string_view> managed;
  for (std::size_t i = 0; i < configuration_.extenders.size(); ++i) {
    const Extender& extender = configuration_.extenders[i];
    if (!extender.prioritize_verb.empty() && extender.weight <= 0) {
      problems_.Invalid(path.Index(i).Child("weight"), extender.weight,
                        "must have a positive weight applied to it");
    }
    if (!extender.bind_verb.empty()) ++binders;
    for (std::size_t j = 0; j < extender.managed_resources.size(); ++j) {
      const std::string& name = extender.managed_resources[j].name;
      const FieldPath name_path = path.Index(i).Child("managedResources").Index(j).Child("name");
      if (!api::LabelKeyProblems(name).empty()) {
        problems_.CheckQualifiedName(name_path, name);
      } else if (!api::IsExtendedResource(name)) {
        problems_.Invalid(name_path, name, "is an invalid extended resource name");
      }
      if (!managed.insert(name).second) {
        problems_.Invalid(name_path, name, "duplicate extender managed resource name");
      }
    }
  }
  if (binders > 1) {
    problems_.Invalid(path, fmt::format("found {} extenders implementing bind", binders),
                      "only one extender can implement bind");
  }
}

}  // namespace

Problems Validate(const Configuration& configuration, const framework::Features& features) {
  return Validator(configuration, features).Run();
}

}  // namespace berth::config
