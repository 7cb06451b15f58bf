#include "config/scheduler_flags.h"

#include <absl/strings/str_split.h>
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <string_view>

#include "api/quantity.h"
#include "base/go_duration.h"
#include "base/go_text.h"

namespace berth::config {
namespace {

// "1.2.3.4", "::1", or nothing.
base::Result<void> CheckAddress(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const bool is_address = ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
                          ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
  if (text.empty() || is_address) return {};
  return base::Fail(fmt::format("failed to parse IP: {}", base::QuoteGo(text)));
}

base::Result<void> CheckQuantity(const std::string& text) {
  const auto quantity = api::Quantity::Parse(text);
  if (!quantity) return base::Fail(std::string(api::Quantity::ParseErrorText(quantity.error())));
  return {};
}

base::Result<void> CheckNamedPair(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos && text.find_first_not_of(" \t", colon + 1) == std::string::npos) {
    return base::Fail("empty names list is not allowed");
  }
  if (std::ranges::count(text.substr(0, colon), ',') == 1) return {};
  return base::Fail("expected comma separated certificate and key file paths");
}

base::Result<void> CheckMap(const std::string& text) {
  if (text.find('=') != std::string::npos) return {};
  return base::Fail(text + " must be formatted as key=value");
}

base::Result<void> CheckVmodule(const std::string& text) {
  for (const absl::string_view piece : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::string rule(piece);
    const std::size_t equals = rule.find('=');
    if (equals == std::string::npos || equals == 0) {
      return base::Fail(fmt::format("{} does not have the pattern=N format", base::QuoteGo(rule)));
    }
    if (const auto level = FlagSet::ParseLevel(rule.substr(equals + 1)); !level) {
      return base::Fail(
          fmt::format("parsing verbosity in {}: {}", base::QuoteGo(rule), level.error().message));
    }
  }
  return {};
}

bool IsMetricName(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  };
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

void AddServing(FlagSet& set, SchedulerFlags& flags) {
  set.Group("secure serving");
  set.AddChecked("bind-address", &flags.bind_address, "ip", CheckAddress,
                 "The address to serve HTTPS on; 0.0.0.0 or :: for all interfaces.");
  set.Add("secure-port", &flags.secure_port, "The port to serve HTTPS on; 0 turns it off.");
  set.Add("disable-http2-serving", &flags.disable_http2_serving, "Serve HTTP/1.1 only.");
  set.Add("cert-dir", &flags.cert_dir,
          "Where kube-scheduler.crt and kube-scheduler.key are, or are to be made. Empty: in memory only.");
  set.Add("tls-cert-file", &flags.tls_cert_file, "The certificate to serve with, with its chain.");
  set.Add("tls-private-key-file", &flags.tls_private_key_file, "The key of --tls-cert-file.");
  set.AddList("tls-cipher-suites", &flags.tls_cipher_suites, "Cipher suites for TLS 1.2, by Go's names.");
  set.AddNumbers("tls-curve-preferences", &flags.tls_curve_preferences,
                 "Curves for the key exchange, by Go's numbers.");
  set.Add("tls-min-version", &flags.tls_min_version,
          "The oldest TLS version to speak: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13.");
  set.AddRepeated("tls-sni-cert-key", &flags.tls_sni_cert_key, "namedCertKey",
                  "A certificate and a key, with a comma between, for some host names. May be repeated.",
                  CheckNamedPair);
  set.Add("http2-max-streams-per-connection", &flags.http2_max_streams_per_connection,
          "Streams that a client may open on one HTTP/2 connection; 0 for 100.");
  set.Add("permit-port-sharing", &flags.permit_port_sharing, "Bind the port with SO_REUSEPORT.");
  set.Add("permit-address-sharing", &flags.permit_address_sharing, "Bind the port with SO_REUSEADDR.");
}

void AddAuthentication(FlagSet& set, SchedulerFlags& flags) {
  set.Group("authentication");
  set.Add("authentication-kubeconfig", &flags.authentication_kubeconfig,
          "Kubeconfig of a user who may create TokenReviews. Empty: every token is anonymous.");
  set.Add("authentication-token-webhook-cache-ttl", &flags.authentication_token_webhook_cache_ttl,
          "How long to remember what a token is worth.");
  set.Add("authentication-skip-lookup", &flags.authentication_skip_lookup,
          "Do not look up missing authentication configuration in the cluster.");
  set.Add("authentication-tolerate-lookup-failure", &flags.authentication_tolerate_lookup_failure,
          "Go on if that configuration cannot be looked up; then requests may be anonymous.");
  set.Add("client-ca-file", &flags.client_ca_file, "Authorities whose client certificates name a user.");
  set.AddList("requestheader-username-headers", &flags.requestheader_username_headers,
              "Headers of a proxy that name the user.");
  set.AddList("requestheader-uid-headers", &flags.requestheader_uid_headers,
              "Headers of a proxy that hold the user's uid.");
  set.AddList("requestheader-group-headers", &flags.requestheader_group_headers,
              "Headers of a proxy that name groups.");
  set.AddList("requestheader-extra-headers-prefix", &flags.requestheader_extra_headers_prefix,
              "Prefixes of headers of a proxy with more about the user.");
  set.Add("requestheader-client-ca-file", &flags.requestheader_client_ca_file,
          "Authorities that sign the certificates of such proxies.");
  set.AddList("requestheader-allowed-names", &flags.requestheader_allowed_names,
              "Common names that such a proxy may have. Empty: any.");
  set.Group("authorization");
  set.Add("authorization-kubeconfig", &flags.authorization_kubeconfig,
          "Kubeconfig of a user who may create SubjectAccessReviews.");
  set.Add("authorization-webhook-cache-authorized-ttl", &flags.authorization_webhook_cache_authorized_ttl,
          "How long to remember that a request was allowed.");
  set.Add("authorization-webhook-cache-unauthorized-ttl", &flags.authorization_webhook_cache_unauthorized_ttl,
          "How long to remember that a request was refused.");
  set.AddList("authorization-always-allow-paths", &flags.authorization_always_allow_paths,
              "Paths that everybody may read.");
}

void AddDeprecated(FlagSet& set, SchedulerFlags& flags) {
  set.Group("deprecated");
  set.Add("profiling", &flags.profiling, "DEPRECATED: enableProfiling, if there is no --config.");
  set.Add("contention-profiling", &flags.contention_profiling,
          "DEPRECATED: enableContentionProfiling, if there is no --config.");
  set.Add("kubeconfig", &flags.kubeconfig,
          "DEPRECATED: how to reach the API server, if there is no --config.");
  set.Add("kube-api-content-type", &flags.kube_api_content_type,
          "DEPRECATED: content type of requests, if there is no --config.");
  set.Add("kube-api-qps", &flags.kube_api_qps, "DEPRECATED: requests per second, if there is no --config.");
  set.Add("kube-api-burst", &flags.kube_api_burst, "DEPRECATED: requests at once, if there is no --config.");
  set.Add("pod-max-in-unschedulable-pods-duration", &flags.pod_max_in_unschedulable_pods_duration,
          "DEPRECATED: after how long a pod that could not be scheduled is tried again in any case.");
}

void AddElection(FlagSet& set, SchedulerFlags& flags) {
  set.Group("leader election");
  set.Add("leader-elect", &flags.leader_elect, "Work only while this process holds the lease.");
  set.Add("leader-elect-lease-duration", &flags.leader_elect_lease_duration,
          "How long others wait for a leader that does not renew its lease.");
  set.Add("leader-elect-renew-deadline", &flags.leader_elect_renew_deadline,
          "How long a leader tries to renew before it gives up; less than the lease's duration.");
  set.Add("leader-elect-retry-period", &flags.leader_elect_retry_period, "The time between two attempts.");
  set.Add("leader-elect-resource-lock", &flags.leader_elect_resource_lock, "The kind of the lock: leases.");
  set.Add("leader-elect-resource-name", &flags.leader_elect_resource_name, "The name of the lock.");
  set.Add("leader-elect-resource-namespace", &flags.leader_elect_resource_namespace, "Its namespace.");
}

void AddLogs(FlagSet& set, SchedulerFlags& flags) {
  set.Group("logs");
  set.Add("logging-format", &flags.logging_format, "\"text\" or \"json\".");
  set.Add("log-flush-frequency", &flags.log_flush_frequency,
          "At most this long between two flushes of logs.");
  set.AddLevel("v", &flags.verbosity, "How much to log: 0 is least.", 'v');
  set.AddChecked("vmodule", &flags.vmodule, "pattern=N,...", CheckVmodule,
                 "pattern=N,...: how much to log in some source files (text format only).");
  set.Add("log-text-split-stream", &flags.log_text_split_stream,
          "[Alpha] In text format, errors to stderr and the rest to stdout.");
  set.AddChecked("log-text-info-buffer-size", &flags.log_text_info_buffer_size, "quantity", CheckQuantity,
                 "[Alpha] In text format with split streams, how much to buffer.");
  set.Add("log-json-split-stream", &flags.log_json_split_stream,
          "[Alpha] In JSON format, errors to stderr and the rest to stdout.");
  set.AddChecked("log-json-info-buffer-size", &flags.log_json_info_buffer_size, "quantity", CheckQuantity,
                 "[Alpha] In JSON format with split streams, how much to buffer.");
}

void AddGlobal(FlagSet& set, SchedulerFlags& flags) {
  set.Group("global");
  set.Add({.name = "version",
           .shorthand = 0,
           .group = {},
           .type = "version[=true]",
           .help =
               "--version, --version=raw prints version information and quits; --version=vX.Y.Z... sets the "
               "reported version",
           .default_text = {},
           .value_if_bare = "true",
           .set = [&flags](const std::string& text) -> base::Result<void> {
             if (text != "raw" && !text.starts_with('v')) {
               const auto value = FlagSet::ParseBool(text);
               if (!value) return std::unexpected(value.error());
               flags.version = *value ? "true" : "false";
               return {};
             }
             flags.version = text;
             return {};
           },
           .get = [&flags] { return flags.version; }});
  set.Add({.name = "help",
           .shorthand = 'h',
           .group = {},
           .type = {},
           .help = "help for kube-scheduler",
           .default_text = {},
           .value_if_bare = "true",
           .set = [&flags](const std::string& text) -> base::Result<void> {
             const auto value = FlagSet::ParseBool(text);
             if (!value) return std::unexpected(value.error());
             flags.help = *value;
             return {};
           },
           .get = [&flags] { return std::string(flags.help ? "true" : "false"); }});
}

void CheckHeaders(const SchedulerFlags& flags, std::vector<std::string>& errors) {
  const auto check = [&](std::string_view name, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      if (value.find_first_not_of(" \t") == std::string::npos) {
        errors.push_back(fmt::format("empty value in \"{}\"", name));
      }
    }
  };
  check("requestheader-username-headers", flags.requestheader_username_headers);
  check("requestheader-uid-headers", flags.requestheader_uid_headers);
  check("requestheader-group-headers", flags.requestheader_group_headers);
  check("requestheader-extra-headers-prefix", flags.requestheader_extra_headers_prefix);
  check("requestheader-allowed-names", flags.requestheader_allowed_names);
  const auto is_standard = [](const std::string& name) {
    constexpr std::string_view kStandard = "x-remote-uid";
    return std::ranges::equal(name, kStandard, [](char a, char b) { return (a | 0x20) == (b | 0x20); });
  };
  if (!flags.requestheader_uid_headers.empty() &&
      std::ranges::none_of(flags.requestheader_uid_headers, is_standard)) {
    errors.emplace_back(
        "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API "
        "aggregation "
        "will not work");
  }
}

}  // namespace

FlagSet MakeFlagSet(SchedulerFlags& flags) {
  FlagSet set;
  set.Group("misc");
  set.Add("config", &flags.config, "The configuration file.");
  set.Add("write-config-to", &flags.write_config_to,
          "Write the configuration there, with all defaults, and exit.");
  set.Add("master", &flags.master, "The address of the API server, instead of the kubeconfig's.");
  AddServing(set, flags);
  AddAuthentication(set, flags);
  AddDeprecated(set, flags);
  AddElection(set, flags);
  set.Group("feature gate");
  set.AddRepeated("feature-gates", &flags.feature_gates, "colonSeparatedMultimapStringString",
                  "[component:]Name=true|false,...: features to turn on or off. May be repeated.");
  set.AddRepeated("emulated-version", &flags.versions.emulated, "strings",
                  "Behave as this release would, as far as gates go: 1.34 to 1.37.");
  set.AddRepeated("min-compatibility-version", &flags.versions.min_compatibility, "strings",
                  "The oldest release to stay compatible with.");
  set.Group("metrics");
  set.Add("show-hidden-metrics-for-version", &flags.show_hidden_metrics_for_version,
          "The previous minor version, to show metrics that were hidden since.");
  set.AddList("disabled-metrics", &flags.disabled_metrics, "Metrics not to show, by their full names.");
  set.AddRepeated("allow-metric-labels", &flags.allow_metric_labels, "stringToString",
                  "metric,label='value,...': label values to tell apart; others count as \"unexpected\".",
                  CheckMap);
  set.Add("allow-metric-labels-manifest", &flags.allow_metric_labels_manifest, "A file with the same.");
  AddLogs(set, flags);
  set.Group("tracing");
  set.Add("tracing-config-file", &flags.tracing_config_file,
          "A TracingConfiguration: where to send traces of attempts over OTLP/HTTP. Empty: nowhere.");
  AddGlobal(set, flags);
  return set;
}

std::vector<std::string> CheckFlags(const SchedulerFlags& flags) {
  std::vector<std::string> errors;
  if (flags.secure_port > 65535) {
    errors.push_back(
        fmt::format("--secure-port {} must be between 1 and 65535, inclusive. It cannot be turned off with 0",
                    flags.secure_port));
  } else if (flags.secure_port < 0) {
    errors.push_back(
        fmt::format("--secure-port {} must be between 0 and 65535, inclusive. 0 for turning off secure port",
                    flags.secure_port));
  }
  CheckHeaders(flags, errors);
  constexpr std::string_view kPrevious = "1.36";
  if (!flags.show_hidden_metrics_for_version.empty() && flags.show_hidden_metrics_for_version != kPrevious) {
    errors.push_back(
        fmt::format("metrics.showHiddenMetricsForVersion: Invalid value: {}: must be omitted or have "
                    "the value '{}'; only the previous minor version is allowed",
                    base::QuoteGo(flags.show_hidden_metrics_for_version), kPrevious));
  }
  for (const std::string& name : flags.disabled_metrics) {
    if (IsMetricName(name)) continue;
    errors.push_back(fmt::format(
        "metrics.disabledMetrics: Invalid value: {}: must be fully qualified metric names "
        "matching \"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", got {}",
        boost::json::serialize(boost::json::value_from(flags.disabled_metrics)), base::QuoteGo(name)));
    break;
  }
  if (!flags.allow_metric_labels.empty() && !flags.allow_metric_labels_manifest.empty()) {
    errors.emplace_back(
        "metrics: Invalid value: cannot specify both allowListMapping and allowListMappingManifest");
  }
  return errors;
}

std::vector<std::string> CheckLogFlags(const SchedulerFlags& flags, const framework::Features& features) {
  std::vector<std::string> errors;
  const bool is_json = flags.logging_format == "json";
  if (flags.logging_format != "text" && !is_json) {
    errors.push_back(fmt::format("format: Invalid value: {}: Unsupported log format",
                                 base::QuoteGo(flags.logging_format)));
  } else if (is_json && !features.logging_beta_options) {
    errors.emplace_back(
        "format: Forbidden: Log format json is BETA and disabled, see LoggingBetaOptions feature");
  }
  if (flags.log_flush_frequency <= base::Duration{}) {
    errors.push_back(fmt::format("flushFrequency: Invalid value: {}: Must be greater than zero",
                                 base::QuoteGo(base::FormatGoDuration(flags.log_flush_frequency))));
  }
  if (!flags.vmodule.empty() && is_json) {
    errors.emplace_back("vmodule: Forbidden: Only supported for text log format");
  }
  const auto check_alpha = [&](bool used, std::string_view path) {
    if (used && !features.logging_alpha_options) {
      errors.push_back(fmt::format("options.{}: Forbidden: Feature LoggingAlphaOptions is disabled", path));
    }
  };
  check_alpha(flags.log_text_split_stream, "text.splitStream");
  check_alpha(flags.log_text_info_buffer_size != "0", "text.infoBufferSize");
  check_alpha(flags.log_json_split_stream, "json.splitStream");
  check_alpha(flags.log_json_info_buffer_size != "0", "json.infoBufferSize");
  return errors;
}

void ApplyFlags(const SchedulerFlags& flags, const FlagSet& given, Configuration& configuration) {
  const auto apply = [&](std::string_view name, const auto& value, auto& target) {
    if (given.WasSet(name)) target = value;
  };
  LeaderElection& election = configuration.leader_election;
  apply("leader-elect", flags.leader_elect, election.leader_elect);
  apply("leader-elect-lease-duration", flags.leader_elect_lease_duration, election.lease_duration);
  apply("leader-elect-renew-deadline", flags.leader_elect_renew_deadline, election.renew_deadline);
  apply("leader-elect-retry-period", flags.leader_elect_retry_period, election.retry_period);
  apply("leader-elect-resource-lock", flags.leader_elect_resource_lock, election.resource_lock);
  apply("leader-elect-resource-name", flags.leader_elect_resource_name, election.resource_name);
  apply("leader-elect-resource-namespace", flags.leader_elect_resource_namespace,
        election.resource_namespace);
  if (!flags.config.empty()) return;
  ClientConnection& connection = configuration.client_connection;
  apply("profiling", flags.profiling, configuration.enable_profiling);
  apply("contention-profiling", flags.contention_profiling, configuration.enable_contention_profiling);
  apply("kubeconfig", flags.kubeconfig, connection.kubeconfig);
  apply("kube-api-content-type", flags.kube_api_content_type, connection.content_type);
  apply("kube-api-qps", flags.kube_api_qps, connection.qps);
  apply("kube-api-burst", flags.kube_api_burst, connection.burst);
}

}  // namespace berth::config
