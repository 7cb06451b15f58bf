#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "net/certificates.h"
#include "net/endpoints.h"
#include "net/event_loop.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/tls.h"
#include "net/transport.h"

namespace berth::net {

// Both ends of every conversation live on this one loop.
class NetTest : public testing::Test {
 protected:
  // Runs callbacks until the condition holds. The limit is for broken code only: nothing waits for it.
  template <std::predicate Condition>
  [[nodiscard]] bool RunUntil(Condition condition) {
    bool late = false;
    Timer limit(loop_);
    limit.StartAfter(std::chrono::seconds(60), [&late] { late = true; });
    while (!condition() && !late) loop_.RunOne();
    return condition();
  }

  HttpServer& Serve(HttpServer::Handler handler, HttpServerOptions options = {}) {
    auto server = HttpServer::Listen(loop_, std::move(options), std::move(handler));
    EXPECT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
    return *server_;
  }

  HttpClientOptions ClientOptions(const std::string& scheme = "http") const {
    HttpClientOptions options;
    options.base = {.scheme = scheme,
                    .host = "127.0.0.1",
                    .port = server_ ? server_->port() : std::uint16_t{1},
                    .path = "",
                    .query = ""};
    return options;
  }

  NetResult<ClientResponse> Fetch(HttpClient& client, ClientRequest request) {
    std::optional<NetResult<ClientResponse>> result;
    client.Send(std::move(request), [&](NetResult<ClientResponse> got) { result = std::move(got); });
    if (!RunUntil([&] { return result.has_value(); })) {
      return std::unexpected(NetError{ErrorKind::kTimeout, "the test's own limit"});
    }
    return std::move(*result);
  }
  NetResult<ClientResponse> Get(HttpClient& client, std::string target) {
    return Fetch(client, {.target = std::move(target)});
  }

  EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
};

// One end of a connection that sends whatever bytes a test wants and keeps what comes back.
class RawPeer : public std::enable_shared_from_this<RawPeer> {
 public:
  RawPeer(EventLoop& loop, std::unique_ptr<Transport> transport)
      : loop_(loop), transport_(std::move(transport)) {}

  void Listen() {
    transport_->WaitReadable([self = shared_from_this()] { self->OnReadable(); });
  }
  // For texts that fit into the socket's buffer.
  void Send(std::string_view text) {
    if (!text.empty()) transport_->Write(std::span(&text, 1));
  }
  void Close() {
    ended = true;
    transport_->Close();
  }

  std::string received;
  bool ended = false;

 private:
  void OnReadable() {
    const auto outcome = transport_->Read(loop_.scratch());
    if (outcome.io == Transport::Io::kEnd || outcome.io == Transport::Io::kFailed) {
      ended = true;
      return;
    }
    received.append(loop_.scratch().data(), outcome.bytes);
    Listen();
  }

  EventLoop& loop_;
  std::unique_ptr<Transport> transport_;
};

struct Authority {
  KeyPair keys;

  static Authority Make(const std::string& name) {
    auto keys = MakeAuthority(name, base::RealClock().WallNow());
    EXPECT_TRUE(keys.has_value()) << keys.error().message;
    return {std::move(*keys)};
  }
  KeyPair Issue(const CertificateWish& wish) const {
    auto issued = IssueCertificate(keys, wish, base::RealClock().WallNow());
    EXPECT_TRUE(issued.has_value()) << issued.error().message;
    return std::move(*issued);
  }
  PemSource pem() const { return {.text = keys.certificate_pem, .file = ""}; }
};

inline PemSource Pem(std::string text) { return {.text = std::move(text), .file = ""}; }

}  // namespace berth::net
