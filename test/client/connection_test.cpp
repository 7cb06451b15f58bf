#include "client/connection.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "client/api_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/http_server.h"

namespace berth::client {
namespace {

class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    const net::KeyPair server = Issue("server", net::CertificateUse::kServer);
    files_["/ca"] = authority_.certificate_pem;
    Use(Issue("alice", net::CertificateUse::kClient));
    auto tls = net::TlsContext::ForServer({.certificate = {.text = server.certificate_pem},
                                           .key = {.text = server.key_pem},
                                           .client_authorities = {{.text = authority_.certificate_pem}}});
    ASSERT_TRUE(tls.has_value());
    net::HttpServerOptions options;
    options.tls = *tls;
    auto listening =
        net::HttpServer::Listen(loop_, options, [](net::Request request, net::Responder responder) {
          const std::string* authorization = request.headers.Find("Authorization");
          responder.Send(200, {},
                         net::MakeBody((request.peer ? request.peer->subject.common_name : "nobody") + " " +
                                       (authorization == nullptr ? "" : *authorization)));
        });
    ASSERT_TRUE(listening.has_value());
    server_ = std::move(*listening);
  }

  net::KeyPair Issue(const std::string& name, net::CertificateUse use) {
    return *net::IssueCertificate(authority_,
                                  {.subject = {.common_name = name}, .names = {"127.0.0.1"}, .use = use},
                                  base::RealClock().WallNow());
  }
  void Use(const net::KeyPair& pair) {
    files_["/crt"] = pair.certificate_pem;
    files_["/key"] = pair.key_pem;
  }
  void Connect(const std::string& user) {
    Surroundings around{.environment = [](const std::string&) { return std::nullopt; },
                        .read_file = [this](const std::string& path) -> base::Result<std::string> {
                          const auto found = files_.find(path);
                          if (found == files_.end()) return base::Fail("open " + path);
                          return found->second;
                        }};
    const std::string text =
        "current-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n"
        "clusters: [{name: x, cluster: {server: 'https://127.0.0.1:" +
        std::to_string(server_->port()) +
        "', certificate-authority: /ca}}]\nusers: [{name: x, user: " + user + "}]\n";
    auto config = ParseKubeconfig(text, "/", "", around);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    auto made = Connection::Make(executor_, std::move(*config), around);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    connection_ = std::move(*made);
    client_ = std::make_unique<ApiClient>(executor_.executor(), connection_->transport(),
                                          connection_->credentials(), ApiClientOptions{.user_agent = "test"});
  }
  static base::Task<void> Keep(base::Task<ApiResult<ApiResponse>> task, std::optional<std::string>& result) {
    const auto response = co_await std::move(task);
    result = response ? response->body : response.error().message;
  }
  std::string Ask() {
    std::optional<std::string> result;
    executor_.Spawn(Keep(client_->Send({.path = "/"}), result));
    while (!result) loop_.RunOne();
    return *result;
  }

  const net::KeyPair authority_ = *net::MakeAuthority("authority", base::RealClock().WallNow());
  std::map<std::string, std::string> files_;
  net::EventLoop loop_;
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<ApiClient> client_;
  LoopExecutor executor_{loop_};
};

TEST_F(ConnectionTest, TheServerSeesTheClientsCertificateAndItsSuccessor) {
  Connect("{client-certificate: /crt, client-key: /key}");
  EXPECT_EQ(Ask(), "alice ");
  Use(Issue("bob", net::CertificateUse::kClient));
  EXPECT_EQ(Ask(), "alice ") << "files are looked at now and then, not for every request";
  connection_->Reload();
  EXPECT_EQ(Ask(), "bob ");
}

TEST_F(ConnectionTest, FilesThatDoNotFitTogetherChangeNothing) {
  Connect("{client-certificate: /crt, client-key: /key}");
  files_["/key"] = Issue("mallory", net::CertificateUse::kClient).key_pem;
  connection_->Reload();
  EXPECT_EQ(Ask(), "alice ");
  files_.erase("/crt");
  connection_->Reload();
  EXPECT_EQ(Ask(), "alice ");
}

TEST_F(ConnectionTest, TokensGoWithEachRequest) {
  files_["/token"] = "secret\n";
  Connect("{tokenFile: /token}");
  EXPECT_EQ(Ask(), "nobody Bearer secret");
}

TEST_F(ConnectionTest, AnotherAuthorityIsNotTrusted) {
  files_["/ca"] = net::MakeAuthority("other", base::RealClock().WallNow())->certificate_pem;
  Connect("{}");
  EXPECT_THAT(Ask(), testing::HasSubstr("certificate verify failed"));
}

}  // namespace
}  // namespace berth::client
