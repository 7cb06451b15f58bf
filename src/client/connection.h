#pragma once

#include <memory>
#include <string>

#include "client/credentials.h"
#include "client/http_transport.h"
#include "client/kubeconfig.h"
#include "client/process_runner.h"

#include "base/error.h"

namespace berth::client {

// Everything that requests to one server need, made from its configuration: sockets, TLS and credentials.
class Connection {
 public:
  static base::Result<std::unique_ptr<Connection>> Make(LoopExecutor& executor, ConnectionConfig config,
                                                        Surroundings surroundings);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Transport& transport() { return *transport_; }
  Credentials& credentials() { return *credentials_; }
  net::HttpClient& http() { return transport_->http(); }
  const net::Url& server() const { return config_.server; }

  // Reads certificates, key and authority again, every five minutes. Never returns.
  base::Task<void> Run();
  // The same once, now. New connections use what the files say; another client certificate also closes all
  // old ones. Files that cannot be read or do not fit together change nothing.
  void Reload();

 private:
  struct Pems {
    std::string authority;
    std::string certificate;
    std::string key;

    bool operator==(const Pems&) const = default;
  };

  Connection(LoopExecutor& executor, ConnectionConfig config, Surroundings surroundings);
  base::Result<Pems> ReadPems() const;
  base::Result<std::shared_ptr<const net::TlsContext>> MakeTls(const Pems& pems) const;
  void OnExecCertificate(const net::KeyPair& pair);

  LoopExecutor& executor_;
  const ConnectionConfig config_;
  const Surroundings surroundings_;
  SystemProcesses processes_;
  Pems pems_;
  std::unique_ptr<HttpTransport> transport_;
  std::unique_ptr<UserCredentials> credentials_;
};

}  // namespace berth::client
