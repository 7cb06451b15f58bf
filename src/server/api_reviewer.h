#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/api_client.h"
#include "client/connection.h"
#include "client/loop_executor.h"

#include "server/access.h"

namespace berth::server {

// What a cluster publishes for its servers. Texts are PEM, empty if there is none.
struct ClusterTrust {
  std::string client_authorities;
  std::string proxy_authorities;
  FrontProxyRules front_proxy;

  bool operator==(const ClusterTrust&) const = default;
};

// Of the ConfigMap kube-system/extension-apiserver-authentication, as JSON.
ClusterTrust ReadClusterTrust(const std::string& config_map);

// Asks an API server: TokenReview, SubjectAccessReview.
class ApiReviewer final : public Reviewer {
 public:
  static base::Result<std::unique_ptr<ApiReviewer>> Make(client::LoopExecutor& executor,
                                                         client::ConnectionConfig config,
                                                         std::string user_agent);

  base::Task<base::Result<std::optional<Identity>>> ReviewToken(std::string token) override;
  base::Task<base::Result<bool>> ReviewAccess(Identity identity, std::string verb, std::string path) override;

  // Whose certificates the cluster believes.
  base::Task<base::Result<ClusterTrust>> Trusted();
  // Keeps certificates and tokens fresh; never returns.
  base::Task<void> Run() { return connection_->Run(); }

 private:
  ApiReviewer(client::LoopExecutor& executor, std::unique_ptr<client::Connection> connection,
              std::string user_agent);
  base::Task<base::Result<std::string>> Send(std::string method, std::string path, std::string body);

  std::unique_ptr<client::Connection> connection_;
  client::ApiClient client_;
};

}  // namespace berth::server
