#include "sandbox/http_front.h"

#include <utility>

#include "sandbox/audit_log.h"
#include "sandbox/fault_injector.h"

namespace berth::sandbox {
namespace {

class HttpStream final : public StreamSink {
 public:
  explicit HttpStream(net::ResponseStream stream) : stream_(std::move(stream)) {}

  bool Write(net::Buffer data) override { return stream_.Write(std::move(data)); }
  std::size_t queued_bytes() const override { return stream_.queued_bytes(); }
  void Finish() override { stream_.Finish(); }
  void Sever() override { stream_.Sever(); }
  void OnGone(std::move_only_function<void()> callback) override { stream_.OnGone(std::move(callback)); }

 private:
  net::ResponseStream stream_;
};

class HttpExchange final : public Exchange {
 public:
  explicit HttpExchange(net::Responder responder) : responder_(std::move(responder)) {}

  void Send(int status, const net::Headers& headers, const net::Body& body) override {
    responder_.Send(status, headers, body);
  }
  std::unique_ptr<StreamSink> StartStream(int status, const net::Headers& headers) override {
    return std::make_unique<HttpStream>(responder_.StartStream(status, headers));
  }

 private:
  net::Responder responder_;
};

}  // namespace

base::Result<std::unique_ptr<HttpFront>> HttpFront::Listen(net::EventLoop& loop, ControlPlane& plane,
                                                           Options options) {
  std::unique_ptr<HttpFront> front(new HttpFront(loop, plane, options));
  net::HttpServerOptions secure;
  secure.host = options.host;
  secure.port = options.port;
  secure.tls = options.tls;
  base::Result<std::unique_ptr<net::HttpServer>> server = front->Serve(loop, std::move(secure), false);
  if (!server) return base::Fail(std::move(server.error().message));
  front->server_ = std::move(*server);
  if (options.insecure_port) {
    net::HttpServerOptions plain;
    plain.host = options.host;
    plain.port = *options.insecure_port;
    server = front->Serve(loop, std::move(plain), true);
    if (!server) return base::Fail(std::move(server.error().message));
    front->insecure_server_ = std::move(*server);
  }
  front->Pump();
  return front;
}

HttpFront::~HttpFront() = default;

base::Result<std::unique_ptr<net::HttpServer>> HttpFront::Serve(net::EventLoop& loop,
                                                                net::HttpServerOptions options,
                                                                bool trusted) {
  return net::HttpServer::Listen(
      loop, std::move(options), [this, trusted](net::Request request, net::Responder responder) {
        Handle(request, std::make_unique<HttpExchange>(std::move(responder)), trusted);
        Pump();
      });
}

void HttpFront::Handle(const net::Request& request, std::unique_ptr<Exchange> exchange, bool trusted) {
  if (audit_ != nullptr) {
    exchange = audit_->Follow(request, plane_.api().UserOf(request, trusted), std::move(exchange));
  }
  if (faults_ != nullptr) {
    faults_->Handle(request, std::move(exchange), trusted);
  } else {
    plane_.api().Handle(request, std::move(exchange), trusted);
  }
}

void HttpFront::Pump() {
  plane_.RunDue();
  const std::optional<base::TimePoint> next = plane_.NextDeadline();
  // Setting a timer is a system call, and there is a request for each of thousands of pods: one that rings
  // too early costs less.
  if (!next || (armed_ && *armed_ <= *next)) return;
  armed_ = next;
  timer_.StartAt(*next, [this] {
    armed_.reset();
    Pump();
  });
}

}  // namespace berth::sandbox
