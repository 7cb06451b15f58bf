#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "sandbox/control_plane.h"

namespace berth::sandbox {

class AuditLog;
class FaultInjector;

// A control plane behind a port: hands requests to it and drives its timers on the loop.
class HttpFront {
 public:
  struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    std::shared_ptr<const net::TlsContext> tls = nullptr;  // null: plain HTTP
    std::optional<std::uint16_t> insecure_port = {};       // plain HTTP without credentials, on the same host
    FaultInjector* faults = nullptr;                       // null: requests are handled as they come
    AuditLog* audit = nullptr;                             // null: nobody writes down who asked for what
  };

  static base::Result<std::unique_ptr<HttpFront>> Listen(net::EventLoop& loop, ControlPlane& plane,
                                                         Options options);
  ~HttpFront();
  HttpFront(const HttpFront&) = delete;
  HttpFront& operator=(const HttpFront&) = delete;

  std::uint16_t port() const { return server_->port(); }
  // To be called after something outside of a request changed the control plane.
  void Pump();

 private:
  HttpFront(net::EventLoop& loop, ControlPlane& plane, const Options& options)
      : plane_(plane), faults_(options.faults), audit_(options.audit), timer_(loop) {}
  void Handle(const net::Request& request, std::unique_ptr<Exchange> exchange, bool trusted);
  base::Result<std::unique_ptr<net::HttpServer>> Serve(net::EventLoop& loop, net::HttpServerOptions options,
                                                       bool trusted);

  ControlPlane& plane_;
  FaultInjector* const faults_;
  AuditLog* const audit_;
  net::Timer timer_;
  std::optional<base::TimePoint> armed_;  // when the timer rings
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<net::HttpServer> insecure_server_;
};

}  // namespace berth::sandbox
