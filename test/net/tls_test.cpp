#include "net/tls.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/harness.h"

namespace berth::net {
namespace {

using testing::HasSubstr;

class TlsTest : public NetTest {
 protected:
  std::shared_ptr<const TlsContext> ServerContext(const Authority& authority, const std::string& name,
                                                  bool ask_for_certificates = false) {
    const KeyPair pair =
        authority.Issue({.subject = {.common_name = name, .organizations = {}}, .names = {name}});
    TlsServerConfig config{
        .certificate = Pem(pair.certificate_pem), .key = Pem(pair.key_pem), .client_authority = {}};
    if (ask_for_certificates) config.client_authority = authority_.pem();
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
          responder.Send(200, {},
                         MakeBody((request.peer ? request.peer->common_name : "nobody") + request.body));
        },
        options);
  }

  const Authority authority_ = Authority::Make("right");
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

TEST_F(TlsTest, ServerSeesTheClientsCertificateAndRefusesAStrangers) {
  ServeTls(ServerContext(authority_, "127.0.0.1", true));
  const auto with_certificate_of = [&](const Authority& issuer) {
    const KeyPair pair = issuer.Issue({.subject = {.common_name = "alice", .organizations = {"admins"}},
                                       .names = {},
                                       .use = CertificateUse::kClient});
    return Trusting(
        {.authority = authority_.pem(), .certificate = Pem(pair.certificate_pem), .key = Pem(pair.key_pem)});
  };
  HttpClient alice(loop_, with_certificate_of(authority_));
  EXPECT_EQ(Get(alice, "/")->body, "alice");
  HttpClient nobody(loop_, Trusting({.authority = authority_.pem()}));
  EXPECT_EQ(Get(nobody, "/")->body, "nobody");
  HttpClient stranger(loop_, with_certificate_of(other_));
  EXPECT_FALSE(Get(stranger, "/"));
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
