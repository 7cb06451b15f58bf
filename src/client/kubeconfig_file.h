#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::client {

// A kubeconfig as it is written, before anything is checked or resolved.
struct KubeconfigFile {
  struct Cluster {
    std::string server;
    std::string tls_server_name;
    bool insecure_skip_tls_verify = false;
    std::string certificate_authority;
    std::string certificate_authority_data;  // decoded
    std::string proxy_url;
    bool disable_compression = false;
    std::string exec_extension_json;  // of the extension that exec commands are handed

    bool operator==(const Cluster&) const = default;
  };
  struct Exec {
    std::string command;
    std::vector<std::string> args;
    std::vector<std::pair<std::string, std::string>> env;
    std::string api_version;
    std::string install_hint;
    bool provide_cluster_info = false;
    std::string interactive_mode;
  };
  struct User {
    std::string client_certificate;
    std::string client_certificate_data;
    std::string client_key;
    std::string client_key_data;
    std::string token;
    std::string token_file;
    std::string username;
    std::string password;
    std::string as;
    std::string as_uid;
    std::vector<std::string> as_groups;
    std::map<std::string, std::vector<std::string>> as_user_extra;
    std::optional<std::string> auth_provider;  // its name
    std::optional<Exec> exec;
  };
  struct Context {
    std::string cluster;
    std::string user;
    std::string namespace_;
  };

  std::map<std::string, Cluster> clusters;
  std::map<std::string, User> users;
  std::map<std::string, Context> contexts;
  std::string current_context;
};

// Unknown keys are passed over; of two entries of one name the first counts. Errors name the path.
base::Result<KubeconfigFile> ReadKubeconfigFile(std::string_view text);

}  // namespace berth::client
