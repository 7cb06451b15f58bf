#include "config/defaults.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "config/arguments.h"
#include "config/plugin_sets.h"

namespace berth::config {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

template <class T>
void SetIfAbsent(std::optional<T>& value, T fallback) {
  if (!value) value = std::move(fallback);
}

void SetIfZero(base::Duration& value, base::Duration fallback) {
  if (value == base::Duration{}) value = fallback;
}

void SetIfEmpty(std::string& value, std::string_view fallback) {
  if (value.empty()) value = fallback;
}

// Weights of 0 mean 1.
void DefaultResources(std::vector<ResourceSpec>& resources) {
  if (resources.empty()) resources = {{"cpu", 1}, {"memory", 1}};
  for (ResourceSpec& resource : resources) {
    if (resource.weight == 0) resource.weight = 1;
  }
}

class ArgumentDefaults {
 public:
  explicit ArgumentDefaults(const framework::Features& features) : features_(features) {}

  void operator()(RawValue&) const {}
  void operator()(DefaultPreemptionArgs& args) const {
    SetIfAbsent(args.min_candidate_nodes_percentage, 10);
    SetIfAbsent(args.min_candidate_nodes_absolute, 100);
  }
  void operator()(DynamicResourcesArgs& args) const {
    if (features_.dra_scheduler_filter_timeout) SetIfAbsent(args.filter_timeout, base::Duration(seconds(10)));
    if (features_.dra_device_binding_conditions && features_.dra_resource_claim_device_status) {
      SetIfAbsent(args.binding_timeout, base::Duration(minutes(10)));
    }
  }
  void operator()(InterPodAffinityArgs& args) const { SetIfAbsent(args.hard_pod_affinity_weight, 1); }
  void operator()(NodeAffinityArgs&) const {}
  void operator()(NodeResourcesBalancedAllocationArgs& args) const { DefaultResources(args.resources); }
  void operator()(NodeResourcesFitArgs& args) const {
    // A strategy that is there must say its type: only an absent one gets the default.
    if (!args.scoring_strategy) args.scoring_strategy.emplace().type = "LeastAllocated";
    DefaultResources(args.scoring_strategy->resources);
  }
  void operator()(PodTopologySpreadArgs& args) const { SetIfEmpty(args.defaulting_type, "System"); }
  void operator()(VolumeBindingArgs& args) const {
    SetIfAbsent(args.bind_timeout_seconds, std::int64_t{600});
    if (args.shape.empty() && features_.storage_capacity_scoring) args.shape = {{0, 10}, {100, 0}};
  }

 private:
  const framework::Features& features_;
};

void DefaultPluginConfig(Profile& profile, const ArgumentDefaults& defaults) {
  std::set<std::string, std::less<>> missing;
  for (std::size_t point = 0; point < kPointCount; ++point) {
    for (const PluginEntry& plugin : profile.plugins->sets[point].enabled) missing.insert(plugin.name);
  }
  for (PluginConfig& config : profile.plugin_config) {
    std::visit(defaults, config.typed);
    missing.erase(config.name);
  }
  for (const std::string& name : missing) {
    auto arguments = EmptyArguments(name);
    if (!arguments) continue;
    std::visit(defaults, *arguments);
    profile.plugin_config.push_back({.name = name, .args = {}, .typed = *std::move(arguments)});
  }
}

void DefaultLeaderElection(LeaderElection& election) {
  SetIfAbsent(election.leader_elect, true);
  SetIfZero(election.lease_duration, seconds(15));
  SetIfZero(election.renew_deadline, seconds(10));
  SetIfZero(election.retry_period, seconds(2));
  SetIfEmpty(election.resource_lock, "leases");
  SetIfEmpty(election.resource_name, "kube-scheduler");
  SetIfEmpty(election.resource_namespace, "kube-system");
}

void DefaultClientConnection(ClientConnection& connection) {
  SetIfEmpty(connection.content_type, "application/vnd.kubernetes.protobuf");
  if (connection.qps == 0) connection.qps = 50;
  if (connection.burst == 0) connection.burst = 100;
}

}  // namespace

void ApplyDefaults(Configuration& configuration, const framework::Features& features) {
  SetIfAbsent(configuration.parallelism, 16);
  if (configuration.profiles.empty()) configuration.profiles.emplace_back();
  if (configuration.profiles.size() == 1) {
    SetIfAbsent(configuration.profiles[0].scheduler_name, std::string(kDefaultSchedulerName));
  }
  const Plugins defaults = DefaultPluginSets(features);
  for (Profile& profile : configuration.profiles) {
    profile.plugins = profile.plugins ? MergePlugins(defaults, *profile.plugins) : defaults;
    DefaultPluginConfig(profile, ArgumentDefaults(features));
  }
  SetIfAbsent(configuration.percentage_of_nodes_to_score, 0);
  DefaultLeaderElection(configuration.leader_election);
  DefaultClientConnection(configuration.client_connection);
  SetIfAbsent(configuration.pod_initial_backoff_seconds, std::int64_t{1});
  SetIfAbsent(configuration.pod_max_backoff_seconds, std::int64_t{10});
  SetIfAbsent(configuration.enable_profiling, true);
  // Turned off with the other, unless it is asked for.
  SetIfAbsent(configuration.enable_contention_profiling, *configuration.enable_profiling);
  for (Extender& extender : configuration.extenders) SetIfZero(extender.http_timeout, seconds(5));
}

Configuration DefaultConfiguration(const framework::Features& features) {
  Configuration configuration;
  ApplyDefaults(configuration, features);
  return configuration;
}

}  // namespace berth::config
