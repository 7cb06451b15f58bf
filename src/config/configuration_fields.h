#pragma once

#include <string_view>
#include <tuple>
#include <utility>

#include "config/configuration.h"
#include "config/fields.h"
#include "config/plugin_argument_fields.h"

namespace berth::config {

template <>
struct Fields<LeaderElection> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "LeaderElectionConfiguration";
  static constexpr std::string_view kGoType = "v1alpha1.LeaderElectionConfiguration";
  static constexpr auto kList =
      std::make_tuple(Field{"leaderElect", &LeaderElection::leader_elect},
                      Field{"leaseDuration", &LeaderElection::lease_duration},
                      Field{"renewDeadline", &LeaderElection::renew_deadline},
                      Field{"retryPeriod", &LeaderElection::retry_period},
                      Field{"resourceLock", &LeaderElection::resource_lock},
                      Field{"resourceName", &LeaderElection::resource_name},
                      Field{"resourceNamespace", &LeaderElection::resource_namespace});
};

template <>
struct Fields<ClientConnection> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "ClientConnectionConfiguration";
  static constexpr std::string_view kGoType = "v1alpha1.ClientConnectionConfiguration";
  static constexpr auto kList =
      std::make_tuple(Field{"kubeconfig", &ClientConnection::kubeconfig},
                      Field{"acceptContentTypes", &ClientConnection::accept_content_types},
                      Field{"contentType", &ClientConnection::content_type},
                      Field{"qps", &ClientConnection::qps}, Field{"burst", &ClientConnection::burst});
};

template <>
struct Fields<PluginEntry> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "Plugin";
  static constexpr std::string_view kGoType = "v1.Plugin";
  static constexpr auto kList =
      std::make_tuple(Field{"name", &PluginEntry::name}, Field{"weight", &PluginEntry::weight});
};

template <>
struct Fields<PluginSet> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "PluginSet";
  static constexpr std::string_view kGoType = "v1.PluginSet";
  static constexpr auto kList = std::make_tuple(Field{"enabled", &PluginSet::enabled, kOmitEmpty},
                                                Field{"disabled", &PluginSet::disabled, kOmitEmpty});
};

// The set of one point, for std::invoke.
template <std::size_t point>
struct SetAt {
  constexpr PluginSet& operator()(Plugins& plugins) const { return plugins.sets[point]; }
  constexpr const PluginSet& operator()(const Plugins& plugins) const { return plugins.sets[point]; }
};

template <std::size_t... points>
constexpr auto FieldPerPoint(std::index_sequence<points...>) {
  return std::make_tuple(Field{kPointNames[points], SetAt<points>{}}...);
}

template <>
struct Fields<Plugins> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "Plugins";
  static constexpr std::string_view kGoType = "v1.Plugins";
  static constexpr auto kList = FieldPerPoint(std::make_index_sequence<kPointCount>());
};

template <>
struct Fields<PluginConfig> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "PluginConfig";
  static constexpr std::string_view kGoType = "v1.PluginConfig";
  static constexpr auto kList =
      std::make_tuple(Field{"name", &PluginConfig::name}, Field{"args", &PluginConfig::args, kOmitEmpty});
};

template <>
struct Fields<Profile> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "KubeSchedulerProfile";
  static constexpr std::string_view kGoType = "v1.KubeSchedulerProfile";
  static constexpr auto kList =
      std::make_tuple(Field{"schedulerName", &Profile::scheduler_name, kOmitEmpty},
                      Field{"percentageOfNodesToScore", &Profile::percentage_of_nodes_to_score, kOmitEmpty},
                      Field{"plugins", &Profile::plugins, kOmitEmpty},
                      Field{"pluginConfig", &Profile::plugin_config, kOmitEmpty});
};

template <>
struct Fields<ExtenderTls> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "ExtenderTLSConfig";
  static constexpr std::string_view kGoType = "v1.ExtenderTLSConfig";
  static constexpr auto kList = std::make_tuple(Field{"insecure", &ExtenderTls::insecure, kOmitEmpty},
                                                Field{"serverName", &ExtenderTls::server_name, kOmitEmpty},
                                                Field{"certFile", &ExtenderTls::cert_file, kOmitEmpty},
                                                Field{"keyFile", &ExtenderTls::key_file, kOmitEmpty},
                                                Field{"caFile", &ExtenderTls::ca_file, kOmitEmpty},
                                                Field{"certData", &ExtenderTls::cert_data, kOmitEmpty},
                                                Field{"keyData", &ExtenderTls::key_data, kOmitEmpty},
                                                Field{"caData", &ExtenderTls::ca_data, kOmitEmpty});
};

template <>
struct Fields<ManagedResource> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "ExtenderManagedResource";
  static constexpr std::string_view kGoType = "v1.ExtenderManagedResource";
  static constexpr auto kList =
      std::make_tuple(Field{"name", &ManagedResource::name},
                      Field{"ignoredByScheduler", &ManagedResource::ignored_by_scheduler, kOmitEmpty});
};

template <>
struct Fields<Extender> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "Extender";
  static constexpr std::string_view kGoType = "v1.Extender";
  static constexpr auto kList = std::make_tuple(
      Field{"urlPrefix", &Extender::url_prefix}, Field{"filterVerb", &Extender::filter_verb, kOmitEmpty},
      Field{"preemptVerb", &Extender::preempt_verb, kOmitEmpty},
      Field{"prioritizeVerb", &Extender::prioritize_verb, kOmitEmpty},
      Field{"weight", &Extender::weight, kOmitEmpty}, Field{"bindVerb", &Extender::bind_verb, kOmitEmpty},
      Field{"enableHTTPS", &Extender::enable_https, kOmitEmpty},
      Field{"tlsConfig", &Extender::tls_config, kOmitEmpty}, Field{"httpTimeout", &Extender::http_timeout},
      Field{"nodeCacheCapable", &Extender::node_cache_capable, kOmitEmpty},
      Field{"managedResources", &Extender::managed_resources, kOmitEmpty},
      Field{"ignorable", &Extender::ignorable, kOmitEmpty});
};

template <>
struct Fields<Configuration> {
  static constexpr bool kHasTypeMeta = true;
  static constexpr std::string_view kGoStruct = "KubeSchedulerConfiguration";
  static constexpr std::string_view kGoType = "v1.KubeSchedulerConfiguration";
  static constexpr auto kList = std::make_tuple(
      Field{"parallelism", &Configuration::parallelism},
      Field{"leaderElection", &Configuration::leader_election},
      Field{"clientConnection", &Configuration::client_connection},
      Field{"enableProfiling", &Configuration::enable_profiling, Emptiness::kWritten,
            "DebuggingConfiguration.enableProfiling"},
      Field{"enableContentionProfiling", &Configuration::enable_contention_profiling, Emptiness::kWritten,
            "DebuggingConfiguration.enableContentionProfiling"},
      Field{"percentageOfNodesToScore", &Configuration::percentage_of_nodes_to_score},
      Field{"podInitialBackoffSeconds", &Configuration::pod_initial_backoff_seconds},
      Field{"podMaxBackoffSeconds", &Configuration::pod_max_backoff_seconds},
      Field{"profiles", &Configuration::profiles}, Field{"extenders", &Configuration::extenders, kOmitEmpty},
      Field{"delayCacheUntilActive", &Configuration::delay_cache_until_active, kOmitEmpty});
};

}  // namespace berth::config
