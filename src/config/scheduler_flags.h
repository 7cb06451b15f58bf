#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "config/configuration.h"
#include "config/feature_gates.h"
#include "config/flag_set.h"

namespace berth::config {

// The flags of kube-scheduler 1.37, with its defaults.
struct SchedulerFlags {
  // misc
  std::string config;
  std::string write_config_to;
  std::string master;
  // secure serving
  std::string bind_address = "0.0.0.0";
  std::int32_t secure_port = 10259;
  bool disable_http2_serving = false;
  std::string cert_dir;
  std::string tls_cert_file;
  std::string tls_private_key_file;
  std::vector<std::string> tls_cipher_suites;
  std::vector<std::int32_t> tls_curve_preferences;
  std::string tls_min_version;
  std::vector<std::string> tls_sni_cert_key;
  std::int32_t http2_max_streams_per_connection = 0;
  bool permit_port_sharing = false;
  bool permit_address_sharing = false;
  // authentication
  std::string authentication_kubeconfig;
  base::Duration authentication_token_webhook_cache_ttl = std::chrono::seconds(10);
  bool authentication_skip_lookup = false;
  bool authentication_tolerate_lookup_failure = true;
  std::string client_ca_file;
  std::vector<std::string> requestheader_username_headers = {"x-remote-user"};
  std::vector<std::string> requestheader_uid_headers;
  std::vector<std::string> requestheader_group_headers = {"x-remote-group"};
  std::vector<std::string> requestheader_extra_headers_prefix = {"x-remote-extra-"};
  std::string requestheader_client_ca_file;
  std::vector<std::string> requestheader_allowed_names;
  // authorization
  std::string authorization_kubeconfig;
  base::Duration authorization_webhook_cache_authorized_ttl = std::chrono::seconds(10);
  base::Duration authorization_webhook_cache_unauthorized_ttl = std::chrono::seconds(10);
  std::vector<std::string> authorization_always_allow_paths = {"/healthz", "/readyz", "/livez"};
  // deprecated
  bool profiling = true;
  bool contention_profiling = true;
  std::string kubeconfig;
  std::string kube_api_content_type = "application/vnd.kubernetes.protobuf";
  float kube_api_qps = 50;
  std::int32_t kube_api_burst = 100;
  base::Duration pod_max_in_unschedulable_pods_duration = std::chrono::minutes(5);
  // leader election
  bool leader_elect = true;
  base::Duration leader_elect_lease_duration = std::chrono::seconds(15);
  base::Duration leader_elect_renew_deadline = std::chrono::seconds(10);
  base::Duration leader_elect_retry_period = std::chrono::seconds(2);
  std::string leader_elect_resource_lock = "leases";
  std::string leader_elect_resource_name = "kube-scheduler";
  std::string leader_elect_resource_namespace = "kube-system";
  // feature gate
  std::vector<std::string> feature_gates;
  VersionWishes versions;
  // metrics
  std::string show_hidden_metrics_for_version;
  std::vector<std::string> disabled_metrics;
  std::vector<std::string> allow_metric_labels;
  std::string allow_metric_labels_manifest;
  // logs
  std::string logging_format = "text";
  base::Duration log_flush_frequency = std::chrono::seconds(5);
  std::int32_t verbosity = 0;
  std::string vmodule;
  bool log_text_split_stream = false;
  std::string log_text_info_buffer_size = "0";
  bool log_json_split_stream = false;
  std::string log_json_info_buffer_size = "0";
  // tracing; kube-scheduler has none
  std::string tracing_config_file;
  // global
  std::string version = "false";
  bool help = false;
};

// `flags` outlives the set.
FlagSet MakeFlagSet(SchedulerFlags& flags);

// What is wrong with serving, authentication and metrics flags; one message each, in kube-scheduler's order.
std::vector<std::string> CheckFlags(const SchedulerFlags& flags);
// What is wrong with logging flags; these are looked at first.
std::vector<std::string> CheckLogFlags(const SchedulerFlags& flags, const framework::Features& features);

// Flags that were given win over the configuration: without a file all that have a counterpart in it, with a
// file those of the election only.
void ApplyFlags(const SchedulerFlags& flags, const FlagSet& given, Configuration& configuration);

}  // namespace berth::config
