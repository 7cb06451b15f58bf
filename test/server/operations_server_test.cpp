#include "server/operations_server.h"

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/harness.h"

namespace berth::server {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OperationsServerTest : public net::NetTest {
 protected:
  OperationsServerTest() {
    health.Add("healthz", "ping", [] { return std::optional<std::string>(); });
    metrics.AddCounter({.name = "tries_total", .help = "Tries."}).Add(3);
  }

  base::Result<void> Start(ServerOptions options = {}) {
    options.host = "127.0.0.1";
    auto server = OperationsServer::Listen(loop_, std::move(options),
                                           {.health = health,
                                            .metrics = [this] { return std::vector{&metrics}; },
                                            .resources = [] { return std::string("kube_pod 1\n"); },
                                            .configz = [] { return std::string("{}"); },
                                            .flags = {{"v", "2"}},
                                            .status = {}});
    if (!server) return std::unexpected(server.error());
    operations = *std::move(server);
    return {};
  }
  static ServerOptions Open(std::string path) {
    ServerOptions options;
    options.port = 0;
    options.access.always_allow_paths = {std::move(path)};
    return options;
  }

  net::ClientResponse Fetch(const std::string& path, const std::string& method = "GET",
                            std::string body = "") {
    const auto tls = net::TlsContext::ForClient({.server_name = "localhost", .insecure = true});
    EXPECT_TRUE(tls.has_value());
    net::HttpClientOptions options;
    options.base = {
        .scheme = "https", .host = "127.0.0.1", .port = operations->port(), .path = "", .query = ""};
    options.tls = *tls;
    net::HttpClient client(loop_, std::move(options));
    auto response = NetTest::Fetch(
        client, {.method = method, .target = path, .headers = {}, .body = net::MakeBody(std::move(body))});
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return response ? *std::move(response) : net::ClientResponse{};
  }

  // A client with this certificate, if there is one.
  net::HttpClientOptions ClientWith(const net::KeyPair& pair, bool offer_http2 = false) const {
    net::TlsClientConfig config;
    config.insecure = true;
    config.certificate.text = pair.certificate_pem;
    config.key.text = pair.key_pem;
    config.offer_http2 = offer_http2;
    net::HttpClientOptions client_options;
    client_options.base = {
        .scheme = "https", .host = "127.0.0.1", .port = operations->port(), .path = "", .query = ""};
    client_options.tls = *net::TlsContext::ForClient(config);
    return client_options;
  }
  // What that client is answered; 0 without an answer.
  int StatusFor(const net::KeyPair& pair, net::ClientRequest request) {
    net::HttpClient client(loop_, ClientWith(pair));
    const auto response = NetTest::Fetch(client, std::move(request));
    return response ? response->status : 0;
  }

  HealthChecks health;
  base::MetricRegistry metrics;
  std::unique_ptr<OperationsServer> operations;
};

TEST_F(OperationsServerTest, HealthIsForEverybodyAndMetricsAreNot) {
  ServerOptions options;
  options.port = 0;
  ASSERT_TRUE(Start(std::move(options)));
  const net::ClientResponse health_answer = Fetch("/healthz");
  EXPECT_EQ(health_answer.status, 200);
  EXPECT_EQ(health_answer.body, "ok");
  EXPECT_EQ(*health_answer.headers.Find("Cache-Control"), "no-cache, private");
  EXPECT_EQ(Fetch("/metrics").status, 403);
  EXPECT_EQ(Fetch("/").status, 403);
}

TEST_F(OperationsServerTest, PagesForThoseWhoMaySeeThem) {
  ASSERT_TRUE(Start(Open("/*")));
  EXPECT_THAT(Fetch("/metrics").body, HasSubstr("tries_total 3"));
  EXPECT_EQ(Fetch("/configz").body, "{}");
  EXPECT_EQ(Fetch("/flagz").status, 200);
  EXPECT_EQ(Fetch("/statusz").status, 200);
  EXPECT_EQ(Fetch("/metrics/slis").status, 200);
  EXPECT_EQ(Fetch("/nothing").status, 404);
}

TEST_F(OperationsServerTest, MetricsCanBeReset) {  // case 48
  ASSERT_TRUE(Start(Open("/metrics")));
  EXPECT_EQ(Fetch("/metrics", "DELETE").body, "metrics reset\n");
  EXPECT_THAT(Fetch("/metrics").body, HasSubstr("tries_total 0"));
}

TEST_F(OperationsServerTest, VerbosityOnlyWithProfiling) {  // case 46
  ASSERT_TRUE(Start(Open("/debug/*")));
  EXPECT_EQ(Fetch("/debug/flags/v", "GET").status, 406);
  EXPECT_EQ(Fetch("/debug/flags/v", "PUT", "x").status, 400);
  EXPECT_EQ(Fetch("/debug/flags/v", "PUT", "0").body, "successfully set klog.logging.verbosity to 0\n");
  EXPECT_EQ(Fetch("/debug/flags/v", "PUT", "-1").body, "strconv.ParseUint: parsing \"-1\": invalid syntax\n");
  EXPECT_EQ(Fetch("/debug/flags/v", "PUT", "5000000000").body,
            "strconv.ParseUint: parsing \"5000000000\": value out of range\n");
  operations.reset();
  ServerOptions options = Open("/debug/*");
  options.profiling = false;
  ASSERT_TRUE(Start(std::move(options)));
  EXPECT_EQ(Fetch("/debug/flags/v", "PUT", "0").status, 404);
}

TEST_F(OperationsServerTest, APortThatIsTakenIsAnError) {  // case 47
  ASSERT_TRUE(Start(Open("/")));
  ServerOptions options = Open("/");
  options.port = operations->port();
  const auto second = Start(std::move(options));
  ASSERT_FALSE(second);
  const std::string address = "127.0.0.1:" + std::to_string(operations->port());
  EXPECT_EQ(second.error().message, "failed to create listener: failed to listen on " + address +
                                        ": listen tcp " + address + ": bind: address already in use");
}

TEST_F(OperationsServerTest, CertificatesThatDoNotFitAreAnError) {
  const fs::path folder = fs::path(testing::TempDir()) / "serving-certificate";
  fs::create_directories(folder);
  std::ofstream(folder / "a.crt") << "no certificate";
  std::ofstream(folder / "a.key") << "no key";
  ServerOptions options = Open("/");
  options.certificate.cert_file = (folder / "a.crt").string();
  options.certificate.key_file = (folder / "a.key").string();
  EXPECT_FALSE(Start(std::move(options)));
}

TEST_F(OperationsServerTest, ACertificateIsMadeOnceAndKept) {
  const fs::path folder = fs::path(testing::TempDir()) / "made-certificate";
  fs::remove_all(folder);
  const auto read = [&] {
    std::ifstream file(folder / "kube-scheduler.crt");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  ServerOptions options = Open("/healthz");
  options.certificate.cert_dir = folder.string();
  ASSERT_TRUE(Start(std::move(options)));
  const std::string made = read();
  EXPECT_THAT(made, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_EQ(fs::status(folder / "kube-scheduler.key").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  options = Open("/healthz");
  options.certificate.cert_dir = folder.string();
  ASSERT_TRUE(Start(std::move(options)));
  EXPECT_EQ(read(), made);
  EXPECT_EQ(Fetch("/healthz").status, 200);
}

TEST_F(OperationsServerTest, ProfilesForThoseWhoMaySeeThem) {
  ASSERT_TRUE(Start(Open("/*")));
  EXPECT_THAT(Fetch("/debug/pprof/").body, HasSubstr("profile"));
  EXPECT_THAT(Fetch("/debug/pprof/cmdline").body, HasSubstr("berth_server_test"));
  EXPECT_EQ(Fetch("/debug/pprof/symbol").body, "num_symbols: 1\n");
  EXPECT_EQ(Fetch("/debug/pprof/heap").status, 404);
}

TEST_F(OperationsServerTest, NoProfilesWhereTheyAreOff) {  // case 46
  ServerOptions options = Open("/*");
  options.profiling = false;
  ASSERT_TRUE(Start(std::move(options)));
  for (const std::string path : {"/debug/pprof/", "/debug/pprof/profile", "/debug/flags/v"}) {
    EXPECT_EQ(Fetch(path).status, 404) << path;
  }
}

TEST_F(OperationsServerTest, ResourcesOfPods) {
  ASSERT_TRUE(Start(Open("/*")));
  EXPECT_EQ(Fetch("/metrics/resources").body, "kube_pod 1\n");
  EXPECT_EQ(Fetch("/metrics/resources", "DELETE").body, "metrics reset\n");
}

TEST_F(OperationsServerTest, CertificatesThatCannotBeUsedAreNamedInGosWords) {
  const auto now = base::RealClock().WallNow();
  const auto one = net::MakeAuthority("one", now);
  const auto two = net::MakeAuthority("two", now);
  ASSERT_TRUE(one && two);
  const fs::path folder = fs::path(testing::TempDir()) / "mismatch";
  fs::create_directories(folder);
  std::ofstream(folder / "one.crt") << one->certificate_pem;
  std::ofstream(folder / "two.key") << two->key_pem;
  std::ofstream(folder / "empty") << "nothing";
  const auto error = [&](const std::string& certificate, const std::string& key) {
    ServerOptions options = Open("/*");
    if (!certificate.empty()) options.certificate.cert_file = (folder / certificate).string();
    if (!key.empty()) options.certificate.key_file = (folder / key).string();
    const auto started = Start(std::move(options));
    return started ? std::string() : started.error().message;
  };
  EXPECT_EQ(error("one.crt", "two.key"), "tls: private key does not match public key");
  EXPECT_EQ(error("empty", "two.key"), "tls: failed to find any PEM data in certificate input");
  EXPECT_EQ(error("one.crt", "empty"), "tls: failed to find any PEM data in key input");
  EXPECT_EQ(error("one.crt", ""), "missing filename for serving cert");
  EXPECT_THAT(error("nowhere", "two.key"), testing::EndsWith("nowhere: no such file or directory"));
}

TEST_F(OperationsServerTest, CertificatesForNamesAreReadFromTheirFiles) {
  EXPECT_EQ(ReadNamedPair("a.crt,a.key"), (NamedPairFiles{"a.crt", "a.key", {}}));
  EXPECT_EQ(ReadNamedPair(" a.crt , a.key : x.org, *.y.org "),
            (NamedPairFiles{"a.crt", "a.key", {"x.org", "*.y.org"}}));
  const auto now = base::RealClock().WallNow();
  const auto authority = net::MakeAuthority("names", now);
  const auto pair = net::IssueCertificate(
      *authority, {.subject = {.common_name = "named"}, .names = {"berth.example.org"}}, now);
  const fs::path folder = fs::path(testing::TempDir()) / "named-certificate";
  fs::create_directories(folder);
  std::ofstream(folder / "a.crt") << pair->certificate_pem;
  std::ofstream(folder / "a.key") << pair->key_pem;
  ServerOptions options = Open("/healthz");
  options.certificate.named = {{(folder / "a.crt").string(), (folder / "a.key").string(), {}}};
  ASSERT_TRUE(Start(std::move(options)));
  const auto is_shown = [&](const std::string& name) {
    net::TlsClientConfig config;
    config.authority.text = authority->certificate_pem;
    config.server_name = name;
    net::HttpClientOptions client_options;
    client_options.base = {
        .scheme = "https", .host = "127.0.0.1", .port = operations->port(), .path = "", .query = ""};
    client_options.tls = *net::TlsContext::ForClient(config);
    net::HttpClient client(loop_, std::move(client_options));
    return NetTest::Fetch(client, {.target = "/healthz"}).has_value();
  };
  EXPECT_TRUE(is_shown("berth.example.org"));
  EXPECT_FALSE(is_shown("localhost"));

  options = Open("/healthz");
  options.certificate.named = {{(folder / "a.crt").string(), (folder / "missing").string(), {}}};
  const auto started = Start(std::move(options));
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, testing::StartsWith("failed to load SNI cert and key: open "));
}

TEST_F(OperationsServerTest, AFrontProxyIsKnownByItsAuthority) {
  const auto now = base::RealClock().WallNow();
  const auto authority = net::MakeAuthority("proxies", now);
  const auto proxy = net::IssueCertificate(
      *authority,
      {.subject = {.common_name = "front-proxy"}, .names = {}, .use = net::CertificateUse::kClient}, now);
  const fs::path folder = fs::path(testing::TempDir()) / "front-proxy";
  fs::create_directories(folder);
  std::ofstream(folder / "ca.crt") << authority->certificate_pem;
  ServerOptions options = Open("/healthz");
  options.proxy_ca_file = (folder / "ca.crt").string();
  options.front_proxy.username_headers = {"X-Remote-User"};
  options.front_proxy.group_headers = {"X-Remote-Group"};
  ASSERT_TRUE(Start(std::move(options)));
  const auto ask = [&](const std::string& group) {
    net::ClientRequest request;
    request.target = "/metrics";
    request.headers = {{"X-Remote-User", "alice"}, {"X-Remote-Group", group}};
    return StatusFor(*proxy, std::move(request));
  };
  EXPECT_EQ(ask("system:masters"), 200);
  EXPECT_EQ(ask("people"), 403);

  options = Open("/healthz");
  options.proxy_ca_file = "/nonexistent";
  const auto started = Start(std::move(options));
  ASSERT_FALSE(started);
  EXPECT_EQ(
      started.error().message,
      "unable to create request header authentication config: open /nonexistent: no such file or directory");
}

// An API server of which nothing is asked but the one ConfigMap.
class PublishedTrustTest : public OperationsServerTest {
 protected:
  PublishedTrustTest() {
    const auto now = base::RealClock().WallNow();
    authority = *net::MakeAuthority("clients", now);
    auto listening =
        net::HttpServer::Listen(loop_, {}, [this](net::Request request, net::Responder responder) {
          asked.push_back(std::string(request.path()));
          if (published.empty()) return responder.Send(404, {}, net::MakeBody("{}"));
          responder.Send(200, {{"Content-Type", "application/json"}}, net::MakeBody(published));
        });
    EXPECT_TRUE(listening.has_value());
    api = *std::move(listening);
  }
  // Before what it asks with.
  ~PublishedTrustTest() override { operations.reset(); }

  ServerOptions Asking() {
    client::ConnectionConfig config;
    config.server = {.scheme = "http", .host = "127.0.0.1", .port = api->port(), .path = "", .query = ""};
    auto reviewer = ApiReviewer::Make(executor, std::move(config), "test");
    EXPECT_TRUE(reviewer.has_value());
    ServerOptions options = Open("/healthz");
    options.authentication = *std::move(reviewer);
    options.needs_trust = true;
    return options;
  }
  // What somebody with a certificate of this authority, in this group, is answered.
  int Ask(const net::KeyPair& issuer, const std::string& group) {
    const auto pair = net::IssueCertificate(
        issuer,
        {.subject = {.common_name = "x", .organizations = {group}}, .use = net::CertificateUse::kClient},
        base::RealClock().WallNow());
    return StatusFor(*pair, {.target = "/configz"});
  }

  client::LoopExecutor executor{loop_};
  net::KeyPair authority;
  std::unique_ptr<net::HttpServer> api;
  std::string published;
  std::vector<std::string> asked;
};

TEST_F(PublishedTrustTest, ClientsOfTheClustersAuthorityAreKnownFromTheStart) {
  published = boost::json::serialize(
      boost::json::object{{"data", boost::json::object{{"client-ca-file", authority.certificate_pem}}}});
  ASSERT_TRUE(Start(Asking()));
  EXPECT_THAT(asked, testing::Contains(
                         "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"));
  EXPECT_EQ(Ask(authority, "system:masters"), 200);
  EXPECT_EQ(Ask(authority, "people"), 403);
  const auto other = net::MakeAuthority("others", base::RealClock().WallNow());
  EXPECT_EQ(Ask(*other, "system:masters"), 401);
}

TEST_F(PublishedTrustTest, WhoeverNeedsItDoesNotStartWithout) {
  const auto started = Start(Asking());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message,
              testing::StartsWith("unable to load configmap based request-header-client-ca-file: "));
}

class Http2PortTest : public OperationsServerTest {
 protected:
  Http2PortTest() {
    const fs::path folder = fs::path(testing::TempDir()) / "http2-port";
    fs::create_directories(folder);
    ca_file = (folder / "ca.crt").string();
    std::ofstream(ca_file) << authority.keys.certificate_pem;
  }

  ServerOptions Options() const {
    ServerOptions options;
    options.port = 0;
    options.client_ca_file = ca_file;
    return options;
  }
  // How many connections a client that can speak HTTP/2 makes for three questions, one after the other and
  // then all at once.
  std::uint64_t Connections(const net::KeyPair& pair) {
    net::HttpClient client(loop_, ClientWith(pair, true));
    int answered = 0;
    const auto ask = [&] {
      client.Send({.target = "/healthz"}, [&](net::NetResult<net::ClientResponse> response) {
        EXPECT_TRUE(response && response->status == 200);
        ++answered;
      });
    };
    for (int i = 1; i <= 3; ++i) {
      ask();
      EXPECT_TRUE(RunUntil([&] { return answered == i; }));
    }
    for (int i = 0; i < 3; ++i) ask();
    EXPECT_TRUE(RunUntil([&] { return answered == 6; }));
    return client.counts().dialed;
  }

  const net::Authority authority = net::Authority::Make("clients");
  const net::KeyPair somebody = authority.Issue({.subject = {.common_name = "somebody", .organizations = {}},
                                                 .names = {},
                                                 .use = net::CertificateUse::kClient});
  std::string ca_file;
};

TEST_F(Http2PortTest, ThoseWhoAreKnownShareAConnectionAndStrangersDoNotKeepOne) {
  ASSERT_TRUE(Start(Options()));
  EXPECT_EQ(Connections(somebody), 1U);
  EXPECT_GE(Connections({}), 4U);
  operations.reset();
  ServerOptions lenient = Options();
  lenient.sends_strangers_away = false;
  ASSERT_TRUE(Start(std::move(lenient)));
  EXPECT_EQ(Connections({}), 1U);
}

TEST_F(Http2PortTest, WithoutItRequestsAtOnceTakeConnectionsOfTheirOwn) {
  ServerOptions options = Options();
  options.certificate.tls.http2 = false;
  ASSERT_TRUE(Start(std::move(options)));
  EXPECT_GT(Connections(somebody), 1U);
}

TEST_F(PublishedTrustTest, WhatAFileSaysIsNotOverruled) {
  const fs::path folder = fs::path(testing::TempDir()) / "client-authority";
  fs::create_directories(folder);
  std::ofstream(folder / "ca.crt") << authority.certificate_pem;
  const auto other = net::MakeAuthority("others", base::RealClock().WallNow());
  published = boost::json::serialize(
      boost::json::object{{"data", boost::json::object{{"client-ca-file", other->certificate_pem}}}});
  ServerOptions options = Asking();
  options.client_ca_file = (folder / "ca.crt").string();
  ASSERT_TRUE(Start(std::move(options)));
  EXPECT_EQ(Ask(authority, "system:masters"), 200);
  EXPECT_EQ(Ask(*other, "system:masters"), 401);
}

}  // namespace
}  // namespace berth::server
