#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/plugin_arguments.h"
#include "config/points.h"
#include "config/values.h"

// KubeSchedulerConfiguration, kubescheduler.config.k8s.io/v1, as a file has it. After ApplyDefaults every
// optional has a value, except where a comment says otherwise.
namespace berth::config {

inline constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kKind = "KubeSchedulerConfiguration";
inline constexpr std::string_view kDefaultSchedulerName = "default-scheduler";

struct LeaderElection {
  std::optional<bool> leader_elect;
  base::Duration lease_duration{};
  base::Duration renew_deadline{};
  base::Duration retry_period{};
  std::string resource_lock;
  std::string resource_name;
  std::string resource_namespace;

  bool operator==(const LeaderElection&) const = default;
};

struct ClientConnection {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type;
  float qps = 0;
  std::int32_t burst = 0;

  bool operator==(const ClientConnection&) const = default;
};

struct PluginEntry {
  std::string name;
  std::int32_t weight = 0;

  bool operator==(const PluginEntry&) const = default;
};

struct PluginSet {
  std::vector<PluginEntry> enabled;
  std::vector<PluginEntry> disabled;

  bool operator==(const PluginSet&) const = default;
};

struct Plugins {
  std::array<PluginSet, kPointCount> sets;

  PluginSet& at(Point point) { return sets[Index(point)]; }
  const PluginSet& at(Point point) const { return sets[Index(point)]; }

  bool operator==(const Plugins&) const = default;
};

struct PluginConfig {
  std::string name;
  // What the file has; `typed` is read from it.
  RawValue args;
  PluginArguments typed;

  bool operator==(const PluginConfig&) const = default;
};

struct Profile {
  std::optional<std::string> scheduler_name;                 // stays nothing if it is missing and needed
  std::optional<std::int32_t> percentage_of_nodes_to_score;  // nothing: that of the whole
  std::optional<Plugins> plugins;
  std::vector<PluginConfig> plugin_config;

  bool operator==(const Profile&) const = default;
};

struct ExtenderTls {
  bool insecure = false;
  std::string server_name;
  std::string cert_file;
  std::string key_file;
  std::string ca_file;
  Base64Bytes cert_data;
  Base64Bytes key_data;
  Base64Bytes ca_data;

  bool operator==(const ExtenderTls&) const = default;
};

struct ManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;

  bool operator==(const ManagedResource&) const = default;
};

struct Extender {
  std::string url_prefix;
  std::string filter_verb;
  std::string preempt_verb;
  std::string prioritize_verb;
  std::int64_t weight = 0;
  std::string bind_verb;
  bool enable_https = false;
  std::optional<ExtenderTls> tls_config;  // may stay nothing
  base::Duration http_timeout{};
  bool node_cache_capable = false;
  std::vector<ManagedResource> managed_resources;
  bool ignorable = false;

  bool operator==(const Extender&) const = default;
};

struct Configuration {
  std::optional<std::int32_t> parallelism;
  LeaderElection leader_election;
  ClientConnection client_connection;
  std::optional<bool> enable_profiling;
  std::optional<bool> enable_contention_profiling;
  std::optional<std::int32_t> percentage_of_nodes_to_score;
  std::optional<std::int64_t> pod_initial_backoff_seconds;
  std::optional<std::int64_t> pod_max_backoff_seconds;
  std::vector<Profile> profiles;
  std::vector<Extender> extenders;
  bool delay_cache_until_active = false;

  bool operator==(const Configuration&) const = default;
};

}  // namespace berth::config
