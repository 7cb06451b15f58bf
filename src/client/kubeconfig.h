#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "net/tls.h"
#include "net/url.h"

namespace berth::client {

// A command that hands out credentials.
struct ExecConfig {
  std::string command;
  std::vector<std::string> arguments = {};
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::string api_version;
  std::string install_hint = {};
  // JSON of the cluster for commands that ask for it; empty: not asked for.
  std::string cluster_json = {};
};

struct Impersonation {
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> extra;
};

// How to reach one API server, and as whom. Files are named, not read: they may change.
struct ConnectionConfig {
  net::Url server;
  net::TlsClientConfig tls;
  std::optional<net::Url> proxy;
  std::string token;
  std::string token_file;  // wins over `token` once it can be read
  std::string username;
  std::string password;
  Impersonation impersonation;
  std::optional<ExecConfig> exec;
};

// What the outside says; tests say it themselves.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> environment;
  std::function<base::Result<std::string>(const std::string& path)> read_file;

  static Surroundings OfThisProcess();
};

// The current context of a kubeconfig. `directory` is where relative paths start; `master`, if not empty,
// stands for the server.
base::Result<ConnectionConfig> ParseKubeconfig(std::string_view text, const std::string& directory,
                                               std::string_view master, const Surroundings& surroundings);

// From the mounted service account.
base::Result<ConnectionConfig> InClusterConfig(const Surroundings& surroundings);

// What --kubeconfig and --master ask for; with neither, the cluster that the process runs in.
base::Result<ConnectionConfig> LoadConnectionConfig(const std::string& kubeconfig, const std::string& master,
                                                    const Surroundings& surroundings);

// The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY choose for a server.
base::Result<std::optional<net::Url>> ProxyFromEnvironment(const net::Url& server,
                                                           const Surroundings& surroundings);

}  // namespace berth::client
