#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/loop_executor.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "server/access.h"
#include "server/api_reviewer.h"
#include "server/health.h"
#include "server/serving_certificate.h"
#include "server/z_pages.h"

namespace berth::server {

struct ServerOptions {
  std::string host = "0.0.0.0";
  std::uint16_t port = 10259;
  CertificateOptions certificate;
  std::string client_ca_file;   // empty: what the cluster says, if it may be asked
  std::string proxy_ca_file;    // likewise
  FrontProxyRules front_proxy;  // with proxy_ca_file
  bool looks_up_trust = true;   // asks the cluster
  bool needs_trust = false;     // no start without an answer
  bool shares_port = false;
  std::uint32_t streams_max = 100;  // of a connection of HTTP/2
  // Over HTTP/2 whoever is not known gets one answer a connection.
  bool sends_strangers_away = true;
  AccessOptions access;
  // Null: nobody to ask.
  std::unique_ptr<ApiReviewer> authentication;
  std::unique_ptr<ApiReviewer> authorization;
  base::MetricRegistry* metrics = nullptr;  // counts requests there; null: nowhere
  bool profiling = true;                    // serves /debug/flags/v and /debug/pprof
};

// What the pages show. All of it outlives the server and is asked on the loop's thread.
struct ServerContent {
  HealthChecks& health;
  // What /metrics shows, one after the other; no name is in two of them.
  std::function<std::vector<base::MetricRegistry*>()> metrics;
  std::function<std::string()> resources;  // /metrics/resources
  std::function<std::string()> configz;    // JSON
  FlagValues flags;
  StatusFacts status;  // `now` is filled in
};

// The HTTPS port of a scheduler: health, metrics and what it runs with, for those who may see it.
class OperationsServer {
 public:
  // Binds the port. `loop` outlives the server.
  static base::Result<std::unique_ptr<OperationsServer>> Listen(net::EventLoop& loop, ServerOptions options,
                                                                ServerContent content);
  ~OperationsServer();

  std::uint16_t port() const { return server_->port(); }
  // Lets requests finish, for five seconds at most.
  void Drain(net::Callback drained);

 private:
  OperationsServer(net::EventLoop& loop, ServerOptions options, ServerContent content,
                   ServingCertificate certificate);
  base::Result<void> Start();

  base::Task<void> Serve(net::Request request, net::Responder responder);
  Answer Respond(const net::Request& request, net::Headers& headers);
  base::Task<Answer> Profile(std::string query);
  Answer Pprof(const net::Request& request) const;
  Answer Verbosity(const net::Request& request);
  base::Result<void> ReadAuthorityFiles();
  bool AsksCluster() const;
  base::Task<base::Result<void>> LookUpTrust();
  base::Task<void> FollowTrust();
  base::Result<void> WaitForTrust();
  void CountConnections();
  base::Result<std::shared_ptr<const net::TlsContext>> MakeTls();
  void Refresh();
  void WatchFiles();

  ServerOptions options_;
  ServerContent content_;
  ServingCertificate certificate_;
  ClusterTrust trust_;  // of files, or of the cluster
  base::RealClock clock_;
  client::LoopExecutor executor_;
  net::Timer timer_;
  std::unique_ptr<AccessMetrics> access_metrics_;
  Access access_;
  std::unique_ptr<net::HttpServer> server_;
  // Last: the tasks refer to the rest.
  std::unique_ptr<base::TaskSet> tasks_;
};

}  // namespace berth::server
