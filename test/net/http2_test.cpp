#include <memory>
#include <openssl/ssl.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/harness.h"
#include "net/http2_peer.h"

// The client on a server that speaks HTTP/2 over TLS.
namespace berth::net {
namespace {

using testing::HasSubstr;

int ChooseHttp2(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                unsigned int offered_size, void*) {
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  unsigned char* chosen = nullptr;
  const int result = SSL_select_next_proto(&chosen, out_size, kHttp2, sizeof(kHttp2), offered, offered_size);
  *out = chosen;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// One accepted connection.
class ServedConnection : public std::enable_shared_from_this<ServedConnection> {
 public:
  ServedConnection(EventLoop& loop, std::unique_ptr<Transport> transport, std::uint32_t streams_max)
      : peer(streams_max), loop_(loop), transport_(std::move(transport)) {}

  void Start(const std::shared_ptr<const TlsContext>& context) {
    transport_->StartTlsServer(context);
    Go();
  }
  // What the peer has to say.
  void Flush() {
    const std::string out = peer.TakeOutput();
    for (std::string_view rest = out; !rest.empty() && !closed;) {
      const auto outcome = transport_->Write(std::span(&rest, 1));
      if (outcome.io != Transport::Io::kDone) break;
      rest.remove_prefix(outcome.bytes);
    }
  }
  void Close() {
    closed = true;
    transport_->Close();
  }

  Http2Peer peer;
  bool answers = true;  // each request at once, with its path
  bool deaf = false;    // reads nothing
  bool closed = false;

 private:
  void Go() {
    if (!secured_) {
      const auto io = transport_->Handshake();
      if (io == Transport::Io::kFailed) {
        closed = true;
        return;
      }
      secured_ = io == Transport::Io::kDone;
    } else if (!deaf) {
      const auto outcome = transport_->Read(loop_.scratch());
      if (outcome.io == Transport::Io::kEnd || outcome.io == Transport::Io::kFailed) {
        closed = true;
        return;
      }
      peer.Receive({loop_.scratch().data(), outcome.bytes});
      for (auto& [stream, request] : peer.requests) {
        if (!answers || !request.whole || std::exchange(answered_[stream], true)) continue;
        peer.Answer(stream, 200, request.headers[":path"]);
      }
      Flush();
    }
    if (!closed && !deaf) transport_->WaitReadable([self = shared_from_this()] { self->Go(); });
  }

  EventLoop& loop_;
  std::unique_ptr<Transport> transport_;
  std::map<std::int32_t, bool> answered_;
  bool secured_ = false;
};

class Http2Test : public NetTest {
 protected:
  HttpClientOptions ServeHttp2(std::uint32_t streams_max = 100) {
    const KeyPair pair =
        authority_.Issue({.subject = {.common_name = "server", .organizations = {}}, .names = {"127.0.0.1"}});
    server_tls_ =
        *TlsContext::ForServer({.certificate = Pem(pair.certificate_pem), .key = Pem(pair.key_pem)});
    SSL_CTX_set_alpn_select_cb(server_tls_->native(), ChooseHttp2, nullptr);
    auto listener = Listener::Listen(
        loop_, {.host = "127.0.0.1"}, [this, streams_max](std::unique_ptr<Transport> transport) {
          served_.push_back(std::make_shared<ServedConnection>(loop_, std::move(transport), streams_max));
          served_.back()->answers = answers_;
          served_.back()->Start(server_tls_);
        });
    EXPECT_TRUE(listener.has_value());
    listener_ = std::move(*listener);
    HttpClientOptions options;
    options.base = {
        .scheme = "https", .host = "127.0.0.1", .port = listener_->port(), .path = "", .query = ""};
    options.tls = *TlsContext::ForClient({.authority = authority_.pem(), .offer_http2 = true});
    return options;
  }
  void Send(HttpClient& client, ClientRequest request) {
    const std::string target = request.target;
    ids_[target] = client.Send(std::move(request), [this, target](NetResult<ClientResponse> got) {
      results_[target] = std::move(got);
    });
  }
  bool Has(const std::string& target) const { return results_.contains(target); }
  bool Arrived(std::string_view path) const {
    return std::ranges::any_of(served_, [&](const auto& one) { return one->peer.Find(path) != nullptr; });
  }

  const Authority authority_ = Authority::Make("right");
  bool answers_ = true;
  std::shared_ptr<const TlsContext> server_tls_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::shared_ptr<ServedConnection>> served_;
  std::map<std::string, HttpClient::CallId> ids_;
  std::map<std::string, NetResult<ClientResponse>> results_;
};

TEST_F(Http2Test, ManyCallsAtOnceShareOneConnection) {
  HttpClient client(loop_, ServeHttp2());
  for (int i = 0; i < 90; ++i) Send(client, {.method = "POST", .target = "/" + std::to_string(i)});
  ASSERT_TRUE(RunUntil([&] { return results_.size() == 90; }));
  for (const auto& [target, result] : results_) {
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->body, target);
  }
  EXPECT_EQ(client.counts().dialed, 1U);
  EXPECT_EQ(client.counts().idle, 1U);
}

TEST_F(Http2Test, MoreCallsThanOneConnectionMayCarryGetAnother) {
  answers_ = false;
  HttpClient client(loop_, ServeHttp2(4));
  Send(client, {.target = "/first"});
  ASSERT_TRUE(RunUntil([&] { return Arrived("/first"); }));
  for (int i = 0; i < 9; ++i) Send(client, {.target = "/" + std::to_string(i)});
  ASSERT_TRUE(RunUntil([&] {
    for (int i = 0; i < 9; ++i) {
      if (!Arrived("/" + std::to_string(i))) return false;
    }
    return true;
  }));
  EXPECT_EQ(client.counts().open, 3U);
}

TEST_F(Http2Test, ServerWithoutHttp2IsSpokenToInHttp1) {
  HttpClientOptions options = ServeHttp2();
  SSL_CTX_set_alpn_select_cb(
      server_tls_->native(),
      [](SSL*, const unsigned char**, unsigned char*, const unsigned char*, unsigned int, void*) {
        return SSL_TLSEXT_ERR_NOACK;
      },
      nullptr);
  HttpServerOptions server;
  server.tls = server_tls_;
  Serve([](Request request, Responder responder) { responder.Send(200, {}, MakeBody(request.target)); },
        server);
  options.base.port = server_->port();
  HttpClient client(loop_, options);
  for (int i = 0; i < 5; ++i) Send(client, {.target = "/" + std::to_string(i)});
  ASSERT_TRUE(RunUntil([&] { return results_.size() == 5; }));
  EXPECT_EQ(results_.at("/3")->body, "/3");
}

TEST_F(Http2Test, StreamIsReadAsItArrivesAndCancelledAlone) {
  answers_ = false;
  HttpClient client(loop_, ServeHttp2());
  std::string data;
  bool ended = false;
  const auto id =
      client.Stream({.target = "/watch"}, {.on_headers = [](int, const Headers&) {},
                                           .on_data = [&](std::string_view more) { data += more; },
                                           .on_end =
                                               [&](std::optional<NetError> error) {
                                                 ended = true;
                                                 EXPECT_EQ(error->kind, ErrorKind::kCancelled);
                                               }});
  ASSERT_TRUE(RunUntil([&] { return Arrived("/watch"); }));
  Http2Peer& peer = served_[0]->peer;
  const auto stream = peer.Find("/watch")->stream;
  peer.Begin(stream, 200);
  peer.Send(stream, "one", false);
  served_[0]->Flush();
  ASSERT_TRUE(RunUntil([&] { return data == "one"; }));
  Send(client, {.target = "/other"});
  ASSERT_TRUE(RunUntil([&] { return Arrived("/other"); }));
  client.Cancel(id);
  ASSERT_TRUE(RunUntil([&] { return ended && peer.requests[stream].reset.has_value(); }));
  peer.Answer(peer.Find("/other")->stream, 200, "still here");
  served_[0]->Flush();
  ASSERT_TRUE(RunUntil([&] { return Has("/other"); }));
  EXPECT_EQ(results_.at("/other")->body, "still here");
  EXPECT_EQ(client.counts().dialed, 1U);
}

TEST_F(Http2Test, LostConnectionEndsWritesAndRepeatsReadsOnce) {
  HttpClient client(loop_, ServeHttp2());
  Send(client, {.target = "/warm"});
  ASSERT_TRUE(RunUntil([&] { return Has("/warm"); }));
  served_[0]->answers = false;
  Send(client, {.method = "POST", .target = "/bind"});
  Send(client, {.target = "/list"});
  ASSERT_TRUE(RunUntil([&] { return Arrived("/bind") && Arrived("/list"); }));
  served_[0]->Close();
  ASSERT_TRUE(RunUntil([&] { return Has("/bind") && Has("/list"); }));
  ASSERT_FALSE(results_.at("/bind"));
  EXPECT_EQ(results_.at("/bind").error().kind, ErrorKind::kReset);
  EXPECT_THAT(results_.at("/bind").error().message, HasSubstr("POST https://127.0.0.1"));
  EXPECT_EQ(results_.at("/list")->body, "/list");
  EXPECT_EQ(client.counts().dialed, 2U);
}

TEST_F(Http2Test, ServerThatGoesAwayIsLeftAfterTheLastAnswer) {
  answers_ = false;
  HttpClient client(loop_, ServeHttp2());
  Send(client, {.target = "/long"});
  ASSERT_TRUE(RunUntil([&] { return Arrived("/long"); }));
  Http2Peer& old = served_[0]->peer;
  Send(client, {.method = "POST", .target = "/unseen"});
  ASSERT_TRUE(RunUntil([&] { return Arrived("/unseen"); }));
  answers_ = true;
  old.GoAway(old.Find("/long")->stream);  // the POST came after that: it was not looked at
  served_[0]->Flush();
  ASSERT_TRUE(RunUntil([&] { return Has("/unseen"); }));
  EXPECT_EQ(results_.at("/unseen")->body, "/unseen");
  EXPECT_EQ(client.counts().open, 2U);
  old.Answer(old.Find("/long")->stream, 200, "done");
  served_[0]->Flush();
  ASSERT_TRUE(RunUntil([&] { return Has("/long") && served_[0]->closed; }));
  EXPECT_EQ(results_.at("/long")->body, "done");
  EXPECT_EQ(client.counts().open, 1U);
}

TEST_F(Http2Test, SilentServerIsAskedAndThenLeft) {
  answers_ = false;
  HttpClientOptions options = ServeHttp2();
  options.ping_after = options.ping_timeout = std::chrono::milliseconds(20);
  HttpClient client(loop_, options);
  Send(client, {.method = "POST", .target = "/bind"});
  // A server that answers pings is alive.
  ASSERT_TRUE(RunUntil([&] { return !served_.empty() && served_[0]->peer.pings >= 3; }));
  EXPECT_FALSE(Has("/bind"));
  served_[0]->deaf = true;
  ASSERT_TRUE(RunUntil([&] { return Has("/bind"); }));
  EXPECT_THAT(results_.at("/bind").error().message, HasSubstr("does not answer a ping"));
  EXPECT_EQ(client.counts().open, 0U);
}

TEST_F(Http2Test, FailedDialEndsAllThatWaitedForIt) {
  HttpClientOptions options = ServeHttp2();
  listener_.reset();
  HttpClient client(loop_, options);
  for (int i = 0; i < 20; ++i) Send(client, {.target = "/" + std::to_string(i)});
  ASSERT_TRUE(RunUntil([&] { return results_.size() == 20; }));
  for (const auto& [target, result] : results_) EXPECT_EQ(result.error().kind, ErrorKind::kRefused);
  EXPECT_EQ(client.counts().dialed, 1U);
}

TEST_F(Http2Test, NewCredentialsCutOffOrDrain) {
  answers_ = false;
  const HttpClientOptions options = ServeHttp2();
  HttpClient client(loop_, options);
  Send(client, {.method = "POST", .target = "/cut"});
  ASSERT_TRUE(RunUntil([&] { return Arrived("/cut"); }));
  client.ReplaceTls(options.tls, true);
  ASSERT_TRUE(RunUntil([&] { return Has("/cut"); }));
  EXPECT_EQ(results_.at("/cut").error().kind, ErrorKind::kReset);

  Send(client, {.method = "POST", .target = "/kept"});
  ASSERT_TRUE(RunUntil([&] { return Arrived("/kept"); }));
  client.ReplaceTls(options.tls, false);
  answers_ = true;
  Send(client, {.target = "/new"});
  ASSERT_TRUE(RunUntil([&] { return Has("/new"); }));
  EXPECT_EQ(served_.size(), 3U);
  EXPECT_FALSE(Has("/kept"));
  served_[1]->peer.Answer(served_[1]->peer.Find("/kept")->stream, 200, "kept");
  served_[1]->Flush();
  ASSERT_TRUE(RunUntil([&] { return Has("/kept"); }));
  EXPECT_EQ(client.counts().open, 1U);
}

TEST_F(Http2Test, CallbackMayDestroyTheClient) {
  auto client = std::make_unique<HttpClient>(loop_, ServeHttp2());
  bool ended = false;
  for (int i = 0; i < 3; ++i) {
    client->Send({.target = "/"}, [&](const NetResult<ClientResponse>&) {
      EXPECT_FALSE(std::exchange(ended, true)) << "the others are dropped with the client";
      client.reset();
    });
  }
  ASSERT_TRUE(RunUntil([&] { return ended; }));
  ASSERT_TRUE(RunUntil([&] { return served_[0]->closed; }));
}

}  // namespace
}  // namespace berth::net
