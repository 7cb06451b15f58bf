#pragma once

#include <memory>

#include "client/loop_executor.h"
#include "client/transport.h"

namespace berth::client {

// Requests over HTTP. Must outlive the tasks that use it.
class HttpTransport final : public Transport {
 public:
  HttpTransport(LoopExecutor& executor, net::HttpClientOptions options);
  ~HttpTransport() override;

  base::Task<net::NetResult<net::ClientResponse>> Send(net::ClientRequest request) override;
  base::Task<net::NetResult<std::unique_ptr<OpenResponse>>> Open(net::ClientRequest request) override;
  void DropIdleConnections() override { http_.CloseIdle(); }

  net::HttpClient& http() { return http_; }

 private:
  class Stream;
  class Call;

  LoopExecutor& executor_;
  net::HttpClient http_;
};

}  // namespace berth::client
