#include "net/tls.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/server_harness.h"

namespace berth::net {
namespace {

using testing::HasSubstr;

class TlsTest : public ServerTest {
 protected:
  std::shared_ptr<const TlsContext> ServerContext(const Authority& authority, const std::string& name,
                                                  bool ask_for_certificates = false) {
    const KeyPair pair =
        authority.Issue({.subject = {.common_name = name, .organizations = {}}, .names = {name}});
    TlsServerConfig config{.certificate = Pem(pair.certificate_pem), .key = Pem(pair.key_pem)};
    if (ask_for_certificates) config.client_authorities = {authority_.pem(), proxies_.pem()};
    auto context = TlsContext::ForServer(config);
    EXPECT_TRUE(context.has_value()) << context.error().message;
    return *context;
  }
  HttpClientOptions Trusting(TlsClientConfig config) {
    auto context = TlsContext::ForClient(config);
    EXPECT_TRUE(context.has_value()) << context.error().message;
    HttpClientOptions options = ClientOptions("https");
    options.tls = *context;
    return options;
  }
  void ServeTls(std::shared_ptr<const TlsContext> context) {
    HttpServerOptions options;
    options.tls = std::move(context);
    Serve(
        [](Request request, Responder responder) {
          responder.Send(200, {}, MakeBody(Describe(request.peer.get()) + request.body));
        },
        options);
  }

  // Who it is, and which of the two authorities say so.
  static std::string Describe(const PeerCertificate* peer) {
    if (peer == nullptr) return "nobody";
    return peer->subject.common_name + (peer->is_vouched_for(0) ? " by first" : "") +
           (peer->is_vouched_for(1) ? " by second" : "");
  }
  HttpClientOptions WithCertificateOf(const Authority& issuer) {
    const KeyPair pair = issuer.Issue({.subject = {.common_name = "alice", .organizations = {"admins"}},
                                       .names = {},
                                       .use = CertificateUse::kClient});
    return Trusting(
        {.authority = authority_.pem(), .certificate = Pem(pair.certificate_pem), .key = Pem(pair.key_pem)});
  }
  // Whether a client that trusts this authority alone, and asks for that name, is content.
  bool IsShown(const Authority& authority, const std::string& name) {
    HttpClient client(loop_, Trusting({.authority = authority.pem(), .server_name = name}));
    return Get(client, "/").has_value();
  }

  const Authority authority_ = Authority::Make("right");
  const Authority proxies_ = Authority::Make("proxies");
  const Authority other_ = Authority::Make("wrong");
};

TEST_F(TlsTest, TrustedServerIsSpokenToOverOneConnection) {
  ServeTls(ServerContext(authority_, "127.0.0.1"));
  HttpClient client(loop_, Trusting({.authority = authority_.pem()}));
  for (int i = 0; i < 3; ++i) {
    const auto response = Get(client, "/");
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "nobody");
  }
  EXPECT_EQ(client.counts().dialed, 1U);
}

TEST_F(TlsTest, LargeBodiesPassWholeInBothDirections) {
  ServeTls(ServerContext(authority_, "127.0.0.1"));
  HttpClient client(loop_, Trusting({.authority = authority_.pem()}));
  std::string big;
  for (int i = 0; i < 300'000; ++i) big += std::to_string(i);
  Body body;
  for (std::size_t at = 0; at < big.size(); at += 7777) body.push_back(MakeBuffer(big.substr(at, 7777)));
  const auto response = Fetch(client, {.method = "POST", .body = body});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "nobody" + big);
}

TEST_F(TlsTest, ServerOfAnotherAuthorityIsRefused) {
  ServeTls(ServerContext(other_, "127.0.0.1"));
  HttpClient client(loop_, Trusting({.authority = authority_.pem()}));
  const auto response = Get(client, "/");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTls);
  EXPECT_THAT(response.error().message, HasSubstr("certificate"));
  HttpClient insecure(loop_, Trusting({.insecure = true}));
  EXPECT_TRUE(Get(insecure, "/"));
}

TEST_F(TlsTest, ServerOfAnotherNameIsRefusedUnlessTheNameIsGiven) {
  ServeTls(ServerContext(authority_, "api.example.org"));
  HttpClient client(loop_, Trusting({.authority = authority_.pem()}));
  const auto response = Get(client, "/");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTls);
  EXPECT_THAT(response.error().message, HasSubstr("mismatch"));
  HttpClient named(loop_, Trusting({.authority = authority_.pem(), .server_name = "api.example.org"}));
  EXPECT_TRUE(Get(named, "/"));
}

TEST_F(TlsTest, ServerSeesTheClientsCertificateAndWhoVouchesForIt) {
  ServeTls(ServerContext(authority_, "127.0.0.1", true));
  HttpClient alice(loop_, WithCertificateOf(authority_));
  EXPECT_EQ(Get(alice, "/")->body, "alice by first");
  HttpClient proxy(loop_, WithCertificateOf(proxies_));
  EXPECT_EQ(Get(proxy, "/")->body, "alice by second");
  HttpClient nobody(loop_, Trusting({.authority = authority_.pem()}));
  EXPECT_EQ(Get(nobody, "/")->body, "nobody");
  HttpClient stranger(loop_, WithCertificateOf(other_));
  EXPECT_EQ(Get(stranger, "/")->body, "alice");
}

// A certificate that is good for servers proves nothing about a client.
TEST_F(TlsTest, NobodyVouchesForAServersCertificateInAClientsHand) {
  ServeTls(ServerContext(authority_, "127.0.0.1", true));
  const KeyPair pair =
      authority_.Issue({.subject = {.common_name = "web", .organizations = {}}, .names = {"web"}});
  HttpClient web(loop_, Trusting({.authority = authority_.pem(),
                                  .certificate = Pem(pair.certificate_pem),
                                  .key = Pem(pair.key_pem)}));
  EXPECT_EQ(Get(web, "/")->body, "web");
}

TEST_F(TlsTest, TheNameThatAClientAsksForChoosesTheCertificate) {
  const auto pair = [](const Authority& issuer, std::vector<std::string> names) {
    return issuer.Issue({.subject = {.common_name = names.front(), .organizations = {}}, .names = names});
  };
  const Authority explicit_ones = Authority::Make("explicit");
  const KeyPair own = pair(authority_, {"own.example.org", "127.0.0.1"});
  TlsServerConfig config{.certificate = Pem(own.certificate_pem), .key = Pem(own.key_pem)};
  config.named.push_back({pair(other_, {"a.example.org", "b.example.org"}), {}});
  config.named.push_back({pair(other_, {"*.wild.example.org"}), {}});
  // Names that are given count, those of the certificate do not, and they win over a certificate's names.
  config.named.push_back({pair(explicit_ones, {"b.example.org", "c.example.org"}), {"B.example.org"}});
  const auto context = TlsContext::ForServer(config);
  ASSERT_TRUE(context) << context.error().message;
  ServeTls(*context);
  EXPECT_TRUE(IsShown(authority_, "own.example.org"));
  EXPECT_TRUE(IsShown(authority_, "127.0.0.1"));
  EXPECT_TRUE(IsShown(other_, "a.example.org"));
  EXPECT_TRUE(IsShown(explicit_ones, "b.example.org"));
  EXPECT_TRUE(IsShown(other_, "x.wild.example.org"));
  EXPECT_FALSE(IsShown(other_, "x.y.wild.example.org"));
  EXPECT_FALSE(IsShown(explicit_ones, "c.example.org"));
}

TEST_F(TlsTest, AClientThatAsksForNoNameIsKnownByTheAddressThatItReached) {
  const KeyPair own =
      authority_.Issue({.subject = {.common_name = "own", .organizations = {}}, .names = {"own"}});
  const KeyPair local =
      other_.Issue({.subject = {.common_name = "local", .organizations = {}}, .names = {"127.0.0.1"}});
  TlsServerConfig config{.certificate = Pem(own.certificate_pem), .key = Pem(own.key_pem)};
  config.named.push_back({local, {"127.0.0.1"}});
  ServeTls(*TlsContext::ForServer(config));
  EXPECT_TRUE(IsShown(other_, "127.0.0.1"));
}

TEST_F(TlsTest, ANamedCertificateNeedsItsKey) {
  const KeyPair own =
      authority_.Issue({.subject = {.common_name = "own", .organizations = {}}, .names = {"own"}});
  const KeyPair more =
      authority_.Issue({.subject = {.common_name = "more", .organizations = {}}, .names = {"more"}});
  TlsServerConfig config{.certificate = Pem(own.certificate_pem), .key = Pem(own.key_pem)};
  config.named.push_back({{.certificate_pem = more.certificate_pem, .key_pem = own.key_pem}, {}});
  const auto context = TlsContext::ForServer(config);
  ASSERT_FALSE(context);
  EXPECT_THAT(context.error().message, HasSubstr("key"));
}

TEST_F(TlsTest, AHandshakeThatNeverEndsIsCutOff) {
  HttpServerOptions options;
  options.tls = ServerContext(authority_, "127.0.0.1");
  options.handshake_timeout = std::chrono::milliseconds(5);
  Serve([](Request, Responder responder) { responder.Send(200, {}); }, options);
  std::vector<std::shared_ptr<RawPeer>> peers;
  for (const std::string_view greeting : {"", "\x16\x03\x01"}) {
    peers.push_back(Connect());
    peers.back()->Send(greeting);
  }
  EXPECT_TRUE(RunUntil([&] { return peers[0]->ended && peers[1]->ended; }));
  EXPECT_EQ(server_->connection_count(), 0U);
  HttpClient client(loop_, Trusting({.authority = authority_.pem()}));
  EXPECT_TRUE(Get(client, "/"));
}

// Whoever has not even introduced itself goes first, though it came last.
TEST_F(TlsTest, AHandshakeThatDoesNotEndMakesRoomBeforeAnIdleConnection) {
  HttpServerOptions options;
  options.tls = ServerContext(authority_, "127.0.0.1");
  options.connections_max = 2;
  Serve([](Request, Responder responder) { responder.Send(200, {}); }, options);
  HttpClient kept(loop_, Trusting({.authority = authority_.pem()}));
  ASSERT_TRUE(Get(kept, "/"));
  const auto silent = Connect();
  ASSERT_TRUE(RunUntil([&] { return server_->connection_count() == 2; }));
  HttpClient newcomer(loop_, Trusting({.authority = authority_.pem()}));
  ASSERT_TRUE(Get(newcomer, "/"));
  EXPECT_TRUE(RunUntil([&] { return silent->ended; }));
  ASSERT_TRUE(Get(kept, "/"));
  EXPECT_EQ(kept.counts().dialed, 1U);
}

TEST_F(TlsTest, ANewServerCertificateIsShownToNewConnectionsOnly) {
  ServeTls(ServerContext(authority_, "127.0.0.1"));
  HttpClient kept(loop_, Trusting({.authority = authority_.pem()}));
  ASSERT_TRUE(Get(kept, "/"));
  server_->ReplaceTls(ServerContext(other_, "127.0.0.1"));
  EXPECT_TRUE(Get(kept, "/"));
  HttpClient old_trust(loop_, Trusting({.authority = authority_.pem()}));
  EXPECT_FALSE(Get(old_trust, "/"));
  HttpClient new_trust(loop_, Trusting({.authority = other_.pem()}));
  EXPECT_TRUE(Get(new_trust, "/"));
}

TEST_F(TlsTest, NewClientCredentialsCloseConnections) {
  ServeTls(ServerContext(authority_, "127.0.0.1"));
  const HttpClientOptions options = Trusting({.authority = authority_.pem()});
  HttpClient client(loop_, options);
  ASSERT_TRUE(Get(client, "/"));
  client.ReplaceTls(options.tls, true);
  EXPECT_EQ(client.counts().open, 0U);
  ASSERT_TRUE(Get(client, "/"));
  EXPECT_EQ(client.counts().dialed, 2U);
}

TEST_F(TlsTest, PlainSpeakerOnATlsPortAndTlsOnAPlainPortFail) {
  ServeTls(ServerContext(authority_, "127.0.0.1"));
  HttpClient plain(loop_, ClientOptions("http"));
  EXPECT_FALSE(Get(plain, "/"));
  Serve([](Request, Responder responder) { responder.Send(200, {}); });
  HttpClient tls(loop_, Trusting({.authority = authority_.pem()}));
  const auto response = Get(tls, "/");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTls);
}

}  // namespace
}  // namespace berth::net
