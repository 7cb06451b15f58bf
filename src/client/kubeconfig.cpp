#include "client/kubeconfig.h"

#include <absl/strings/escaping.h>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "client/kubeconfig_file.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

#include "base/files.h"
#include "base/go_text.h"
#include "base/log.h"
#include "wire/json_text.h"

namespace berth::client {
namespace {

constexpr std::string_view kNothingProvided =
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment "
    "variable";
constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";

using Problems = std::vector<std::string>;

std::string Resolve(const std::string& directory, const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

base::Result<net::Url> ParseProxy(const std::string& text) {
  const std::size_t mark = text.find("://");
  const std::string scheme = mark == std::string::npos ? "" : text.substr(0, mark);
  if (scheme != "http" && scheme != "https" && scheme != "socks5") {
    return base::Fail(
        fmt::format("unsupported scheme {}, must be http, https, or socks5", base::QuoteGo(scheme)));
  }
  if (scheme != "http") return base::Fail(fmt::format("{} proxies are not supported yet", scheme));
  return net::ParseUrl(text);
}

void CheckReadable(const std::string& path, std::string_view what, const std::string& owner,
                   const Surroundings& surroundings, Problems& problems) {
  if (path.empty()) return;
  if (const auto text = surroundings.read_file(path); !text) {
    problems.push_back(
        fmt::format("unable to read {} {} for {} due to {}", what, path, owner, text.error().message));
  }
}

void CheckCluster(const std::string& name, const KubeconfigFile::Cluster& cluster,
                  const Surroundings& surroundings, Problems& problems) {
  if (cluster == KubeconfigFile::Cluster()) {
    problems.emplace_back("cluster has no server defined");
    return;
  }
  if (cluster.server.empty()) {
    problems.push_back(name.empty() ? "default cluster has no server defined"
                                    : fmt::format("no server found for cluster {}", base::QuoteGo(name)));
  }
  if (!cluster.proxy_url.empty()) {
    if (const auto proxy = ParseProxy(cluster.proxy_url); !proxy) {
      problems.push_back(fmt::format("invalid 'proxy-url' {} for cluster {}: {}",
                                     base::QuoteGo(cluster.proxy_url), base::QuoteGo(name),
                                     proxy.error().message));
    }
  }
  if (!cluster.certificate_authority.empty() && !cluster.certificate_authority_data.empty()) {
    problems.push_back(
        fmt::format("certificate-authority-data and certificate-authority are both specified for {}. "
                    "certificate-authority-data will override.",
                    name));
  }
  CheckReadable(cluster.certificate_authority, "certificate-authority", name, surroundings, problems);
}

void CheckCertificate(const std::string& name, const KubeconfigFile::User& user,
                      const Surroundings& surroundings, Problems& problems) {
  if (user.client_certificate.empty() && user.client_certificate_data.empty()) return;
  if (!user.client_certificate.empty() && !user.client_certificate_data.empty()) {
    problems.push_back(fmt::format(
        "client-cert-data and client-cert are both specified for {}. client-cert-data will override.", name));
  }
  if (!user.client_key.empty() && !user.client_key_data.empty()) {
    problems.push_back(fmt::format(
        "client-key-data and client-key are both specified for {}; client-key-data will override", name));
  }
  if (user.client_key.empty() && user.client_key_data.empty()) {
    problems.push_back(fmt::format(
        "client-key-data or client-key must be specified for {} to use the clientCert authentication method.",
        name));
  }
  CheckReadable(user.client_certificate, "client-cert", name, surroundings, problems);
  CheckReadable(user.client_key, "client-key", name, surroundings, problems);
}

void CheckExec(const std::string& name, const KubeconfigFile::User& user, Problems& problems) {
  const KubeconfigFile::Exec& exec = *user.exec;
  const auto must = [&](std::string_view what) {
    problems.push_back(
        fmt::format("{} must be specified for {} to use exec authentication plugin", what, name));
  };
  if (user.auth_provider) {
    problems.push_back(
        fmt::format("authProvider cannot be provided in combination with an exec plugin for {}", name));
  }
  if (exec.command.empty()) must("command");
  if (exec.api_version.empty()) must("apiVersion");
  for (const auto& [variable, value] : exec.env) {
    if (variable.empty()) must("env variable name");
  }
  // Version v1beta1 has a default; v1 makes the user say it.
  if (exec.interactive_mode.empty()) {
    if (!exec.api_version.ends_with("/v1beta1")) must("interactiveMode");
  } else if (exec.interactive_mode != "Never" && exec.interactive_mode != "IfAvailable" &&
             exec.interactive_mode != "Always") {
    problems.push_back(
        fmt::format("invalid interactiveMode for {}: {}", name, base::QuoteGo(exec.interactive_mode)));
  }
}

void CheckUser(const std::string& name, const KubeconfigFile::User& user, const Surroundings& surroundings,
               Problems& problems) {
  CheckCertificate(name, user, surroundings, problems);
  if (user.exec) CheckExec(name, user, problems);
  if (!user.token.empty() && (!user.username.empty() || !user.password.empty())) {
    problems.push_back(fmt::format(
        "more than one authentication method found for {}; found [token basicAuth], only one is allowed",
        name));
  }
  if (user.as.empty() && (!user.as_uid.empty() || !user.as_groups.empty() || !user.as_user_extra.empty())) {
    problems.push_back(
        fmt::format("requesting uid, groups or user-extra for {} without impersonating a user", name));
  }
}

// What an exec command is told of the cluster.
base::Result<std::string> ClusterJson(const KubeconfigFile::Cluster& cluster,
                                      const Surroundings& surroundings) {
  std::string authority = cluster.certificate_authority_data;
  if (authority.empty() && !cluster.certificate_authority.empty()) {
    auto text = surroundings.read_file(cluster.certificate_authority);
    if (!text) return base::Fail("failed to load CA bundle for execProvider: " + text.error().message);
    authority = std::move(*text);
  }
  std::string out = "{\"server\":";
  wire::AppendJsonString(out, cluster.server);
  const auto text = [&](std::string_view key, const std::string& value) {
    if (value.empty()) return;
    out.append(",\"").append(key).append("\":");
    wire::AppendJsonString(out, value);
  };
  text("tls-server-name", cluster.tls_server_name);
  if (cluster.insecure_skip_tls_verify) out += ",\"insecure-skip-tls-verify\":true";
  text("certificate-authority-data", absl::Base64Escape(authority));
  text("proxy-url", cluster.proxy_url);
  if (cluster.disable_compression) out += ",\"disable-compression\":true";
  out += ",\"config\":" + (cluster.exec_extension_json.empty() ? "null" : cluster.exec_extension_json);
  return out + "}";
}

// An exec command is asked only when the user has nothing simpler.
bool HasOwnCredentials(const KubeconfigFile::User& user) {
  return !user.token.empty() || !user.token_file.empty() || !user.username.empty() ||
         !user.password.empty() || !user.client_certificate.empty() || !user.client_certificate_data.empty();
}

base::Result<void> UseUser(const KubeconfigFile::User& user, const KubeconfigFile::Cluster& cluster,
                           const Surroundings& surroundings, ConnectionConfig& config) {
  config.token = user.token;
  config.token_file = user.token_file;
  if (user.token.empty() && !user.token_file.empty()) {
    auto token = surroundings.read_file(user.token_file);
    if (!token) return std::unexpected(std::move(token.error()));
  }
  config.username = user.username;
  config.password = user.password;
  if (!user.client_certificate.empty() || !user.client_certificate_data.empty()) {
    config.tls.certificate = {.text = user.client_certificate_data, .file = user.client_certificate};
    config.tls.key = {.text = user.client_key_data, .file = user.client_key};
  }
  if (user.auth_provider) {
    return base::Fail(fmt::format("no Auth Provider found for name {}", base::QuoteGo(*user.auth_provider)));
  }
  if (!user.exec || HasOwnCredentials(user)) return {};
  ExecConfig& exec = config.exec.emplace();
  exec = {.command = user.exec->command,
          .arguments = user.exec->args,
          .environment = user.exec->env,
          .api_version = user.exec->api_version,
          .install_hint = user.exec->install_hint};
  if (user.exec->interactive_mode == "Always") {
    return base::Fail("exec plugin cannot support interactive mode: standard input is not a terminal");
  }
  if (exec.api_version != "client.authentication.k8s.io/v1" &&
      exec.api_version != "client.authentication.k8s.io/v1beta1") {
    return base::Fail(fmt::format("exec plugin: invalid apiVersion {}", base::QuoteGo(exec.api_version)));
  }
  if (user.exec->provide_cluster_info) {
    auto json = ClusterJson(cluster, surroundings);
    if (!json) return std::unexpected(std::move(json.error()));
    exec.cluster_json = std::move(*json);
  }
  return {};
}

base::Result<void> UseTls(const KubeconfigFile::Cluster& cluster, ConnectionConfig& config) {
  config.tls.authority = {.text = cluster.certificate_authority_data, .file = cluster.certificate_authority};
  config.tls.insecure = cluster.insecure_skip_tls_verify;
  config.tls.server_name = cluster.tls_server_name;
  if (config.tls.insecure && !config.tls.authority.empty()) {
    return base::Fail("specifying a root certificates file with the insecure flag is not allowed");
  }
  return {};
}

}  // namespace

Surroundings Surroundings::OfThisProcess() {
  return {.environment = [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            if (value == nullptr) return std::nullopt;
            return value;
          },
          .read_file = base::ReadFile};
}

base::Result<ConnectionConfig> ParseKubeconfig(std::string_view text, const std::string& directory,
                                               std::string_view master, const Surroundings& surroundings) {
  auto file = ReadKubeconfigFile(text);
  if (!file) return std::unexpected(std::move(file.error()));
  KubeconfigFile::Context context;
  if (!file->current_context.empty()) {
    const auto found = file->contexts.find(file->current_context);
    if (found == file->contexts.end()) {
      return base::Fail("context was not found for specified context: " + file->current_context);
    }
    context = found->second;
  }
  KubeconfigFile::Cluster cluster = file->clusters[context.cluster];
  KubeconfigFile::User user = file->users[context.user];
  for (std::string* path :
       {&cluster.certificate_authority, &user.client_certificate, &user.client_key, &user.token_file}) {
    *path = Resolve(directory, *path);
  }
  if (user.exec && user.exec->command.contains('/'))
    user.exec->command = Resolve(directory, user.exec->command);
  if (!master.empty()) {
    cluster.server = master;
    cluster.tls_server_name.clear();
  }
  Problems problems;
  CheckUser(context.user, user, surroundings, problems);
  CheckCluster(context.cluster, cluster, surroundings, problems);
  if (problems == Problems{"cluster has no server defined"}) return base::Fail(std::string(kNothingProvided));
  if (problems.size() == 1) return base::Fail("invalid configuration: " + problems.front());
  if (!problems.empty())
    return base::Fail(fmt::format("invalid configuration: [{}]", fmt::join(problems, ", ")));

  ConnectionConfig config;
  auto server = net::ParseUrl(cluster.server.contains("://") ? cluster.server : "http://" + cluster.server);
  if (!server) return std::unexpected(std::move(server.error()));
  config.server = std::move(*server);
  config.server.query.clear();
  config.impersonation = {.user = user.as, .uid = user.as_uid, .groups = user.as_groups, .extra = {}};
  for (const auto& [key, values] : user.as_user_extra) config.impersonation.extra.emplace_back(key, values);
  // Credentials never travel in the clear.
  if (config.server.is_https()) {
    if (auto used = UseUser(user, cluster, surroundings, config); !used) return std::unexpected(used.error());
    if (auto used = UseTls(cluster, config); !used) return std::unexpected(used.error());
  }
  if (!cluster.proxy_url.empty()) {
    config.proxy = *ParseProxy(cluster.proxy_url);
  } else {
    auto proxy = ProxyFromEnvironment(config.server, surroundings);
    if (!proxy) return std::unexpected(std::move(proxy.error()));
    config.proxy = std::move(*proxy);
  }
  return config;
}

base::Result<ConnectionConfig> InClusterConfig(const Surroundings& surroundings) {
  const std::string host = surroundings.environment("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = surroundings.environment("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) {
    return base::Fail(
        "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must "
        "be "
        "defined");
  }
  ConnectionConfig config;
  config.token_file = std::string(kServiceAccount) + "token";
  auto token = surroundings.read_file(config.token_file);
  if (!token) return std::unexpected(std::move(token.error()));
  config.token = std::move(*token);
  const std::string authority = std::string(kServiceAccount) + "ca.crt";
  if (const auto text = surroundings.read_file(authority)) {
    config.tls.authority.file = authority;
  } else {
    BERTH_LOG_ERROR(text.error(), "Expected to load root CA config", {"path", authority});
  }
  const bool is_ipv6 = host.contains(':');
  auto server =
      net::ParseUrl(fmt::format("https://{}{}{}:{}", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", port));
  if (!server) return std::unexpected(std::move(server.error()));
  config.server = std::move(*server);
  auto proxy = ProxyFromEnvironment(config.server, surroundings);
  if (!proxy) return std::unexpected(std::move(proxy.error()));
  config.proxy = std::move(*proxy);
  return config;
}

base::Result<ConnectionConfig> LoadConnectionConfig(const std::string& kubeconfig, const std::string& master,
                                                    const Surroundings& surroundings) {
  if (kubeconfig.empty() && master.empty()) {
    BERTH_LOG_WARNING(
        "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might not work.");
    auto config = InClusterConfig(surroundings);
    if (config) return config;
    BERTH_LOG_WARNING("error creating inClusterConfig, falling back to default config",
                      {"err", config.error().message});
    return base::Fail(std::string(kNothingProvided));
  }
  if (kubeconfig.empty()) return ParseKubeconfig("", "", master, surroundings);
  auto text = surroundings.read_file(kubeconfig);
  if (!text) return std::unexpected(std::move(text.error()));
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(kubeconfig, error);
  auto config = ParseKubeconfig(*text, absolute.parent_path().string(), master, surroundings);
  if (!config && !config.error().message.starts_with("invalid configuration")) {
    return base::Fail(
        fmt::format("error loading config file \"{}\": {}", kubeconfig, config.error().message));
  }
  return config;
}

}  // namespace berth::client
