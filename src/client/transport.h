#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/cancellation.h"
#include "base/task.h"
#include "net/http_client.h"

namespace berth::client {

// A response whose body is read while it arrives. Destroying it ends the request.
class OpenResponse {
 public:
  virtual ~OpenResponse() = default;

  // The next bytes, or nothing at the end of the body. A cancelled token ends it with kCancelled. One read at
  // a time.
  virtual base::Task<net::NetResult<std::optional<std::string>>> Read(base::CancellationToken token) = 0;

  int status = 0;
  net::Headers headers;
};

// How requests reach a server. Everything above it (retries, reflectors, election) is driven in tests by a
// transport that follows a script, on a virtual clock.
//
// Destroying a task that waits here ends its request.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual base::Task<net::NetResult<net::ClientResponse>> Send(net::ClientRequest request) = 0;
  // Returns once the header of the response is there; `timeout` of the request counts up to then.
  virtual base::Task<net::NetResult<std::unique_ptr<OpenResponse>>> Open(net::ClientRequest request) = 0;
  // A connection fell silent: those that wait for their next request may be just as dead.
  virtual void DropIdleConnections() {}
};

}  // namespace berth::client
