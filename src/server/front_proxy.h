#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/client_trust.h"
#include "net/http_message.h"

namespace berth::server {

// Who asks.
struct Identity {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra = {};

  bool operator==(const Identity&) const = default;
};

// In which headers a proxy in front of the cluster's servers says for whom it asks, and which proxies are
// believed.
struct FrontProxyRules {
  std::vector<std::string> username_headers;
  std::vector<std::string> uid_headers;
  std::vector<std::string> group_headers;
  std::vector<std::string> extra_header_prefixes;
  std::vector<std::string> allowed_names;  // common names of proxies; empty: any

  bool operator==(const FrontProxyRules&) const = default;

  bool Allows(const std::string& common_name) const;
};

// Whom the headers name; nothing if they name nobody.
std::optional<Identity> ProxiedIdentity(const FrontProxyRules& rules, const net::Headers& headers);

}  // namespace berth::server
