#include "server/access.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "base/executor.h"
#include "server/api_reviewer.h"

namespace berth::server {
namespace {

using testing::HasSubstr;

// Knows one token and lets its owner read /metrics.
class FakeReviewer final : public Reviewer {
 public:
  base::Task<base::Result<std::optional<Identity>>> ReviewToken(std::string token) override {
    ++token_reviews;
    if (is_down) co_return base::Fail("connection refused");
    if (token != "good") co_return std::optional<Identity>();
    Identity identity;
    identity.name = "prometheus";
    co_return std::optional<Identity>(identity);
  }
  base::Task<base::Result<bool>> ReviewAccess(Identity identity, std::string verb,
                                              std::string path) override {
    ++access_reviews;
    last = identity;
    if (is_down) co_return base::Fail("connection refused");
    co_return identity.name == "prometheus" && verb == "get" && path == "/metrics";
  }

  bool is_down = false;
  int token_reviews = 0;
  int access_reviews = 0;
  Identity last;  // whose rights were asked for
};

class AccessTest : public testing::Test {
 protected:
  // The status that a request gets; 200 if it may go on.
  int Ask(const std::string& path, const std::string& authorization = "") {
    net::Request request;
    request.method = "GET";
    request.target = path;
    if (!authorization.empty()) request.headers.Add("Authorization", authorization);
    return Ask(request);
  }
  int Ask(const net::Request& request) {
    std::optional<std::optional<Answer>> result;
    executor.Spawn(Store(request, result));
    executor.RunReady();
    EXPECT_TRUE(result.has_value());
    body = *result ? (*result)->body : "";
    return *result ? (*result)->status : 200;
  }
  base::Task<void> Store(const net::Request& request, std::optional<std::optional<Answer>>& result) {
    AccessVerdict verdict = co_await access->Check(request);
    result = std::move(verdict.refusal);
    is_stranger = verdict.is_stranger;
  }

  base::VirtualClock clock;
  base::Executor executor{clock};
  FakeReviewer reviewer;
  AccessOptions options;
  std::unique_ptr<Access> access = std::make_unique<Access>(options, &reviewer, &reviewer, clock);
  std::string body;
  bool is_stranger = false;
};

TEST_F(AccessTest, AnonymousSeesHealthOnly) {  // case 40
  EXPECT_EQ(Ask("/healthz"), 200);
  EXPECT_EQ(Ask("/livez"), 200);
  EXPECT_EQ(Ask("/readyz?verbose"), 200);
  EXPECT_EQ(Ask("/metrics"), 403);
  EXPECT_THAT(body, HasSubstr(R"(forbidden: User \"system:anonymous\" cannot get path \"/metrics\")"));
  EXPECT_EQ(Ask("/healthz/ping"), 403);
}

TEST_F(AccessTest, PathsReplaceTheDefault) {  // case 40
  options.always_allow_paths = {"/metrics", "/debug/*"};
  access = std::make_unique<Access>(options, nullptr, nullptr, clock);
  EXPECT_EQ(Ask("/metrics"), 200);
  EXPECT_EQ(Ask("/debug/flags/v"), 200);
  EXPECT_EQ(Ask("/healthz"), 403);
}

TEST_F(AccessTest, ABadTokenIsRefusedEverywhere) {  // case 40
  EXPECT_EQ(Ask("/healthz", "Bearer bad"), 401);
  EXPECT_EQ(Ask("/healthz", "Basic bad"), 200);
  EXPECT_EQ(Ask("/metrics", "bearer good"), 200);
  EXPECT_EQ(Ask("/configz", "Bearer good"), 403);
}

TEST_F(AccessTest, WhoeverIsAnonymousOrNobodyIsAStranger) {
  Ask("/healthz");
  EXPECT_TRUE(is_stranger);
  Ask("/healthz", "Bearer bad");
  EXPECT_TRUE(is_stranger);
  Ask("/configz", "Bearer good");
  EXPECT_FALSE(is_stranger);
}

TEST_F(AccessTest, AnswersAreRememberedForAWhile) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask("/metrics", "Bearer good"), 200);
  EXPECT_EQ(reviewer.token_reviews, 1);
  EXPECT_EQ(reviewer.access_reviews, 1);
  clock.Advance(std::chrono::seconds(11));
  EXPECT_EQ(Ask("/metrics", "Bearer good"), 200);
  EXPECT_EQ(reviewer.token_reviews, 2);
}

TEST_F(AccessTest, AnAuthorizerThatCannotBeReached) {  // case 40
  reviewer.is_down = true;
  EXPECT_EQ(Ask("/metrics"), 500);
  EXPECT_EQ(Ask("/healthz"), 200);
  EXPECT_EQ(Ask("/healthz", "Bearer good"), 401);
}

// A request with a certificate for which one of the groups of authorities vouches, or none.
net::Request Shown(const std::string& name, std::vector<std::string> organizations,
                   std::vector<bool> vouched_for) {
  net::Request request;
  request.method = "GET";
  request.target = "/configz";
  request.peer = std::make_shared<const net::PeerCertificate>(
      net::PeerCertificate{.subject = {.common_name = name, .organizations = std::move(organizations)},
                           .fingerprint = "abc",
                           .vouched_for = std::move(vouched_for)});
  return request;
}

TEST_F(AccessTest, CertificatesNameUsersAndGroups) {
  access->Believe({.knows_clients = true, .front_proxy = std::nullopt});
  EXPECT_EQ(Ask(Shown("admin", {"system:masters"}, {true, false})), 200);
  EXPECT_EQ(Ask(Shown("bob", {}, {true, false})), 403);
  EXPECT_THAT(body, HasSubstr("bob"));
  EXPECT_THAT(reviewer.last.groups, testing::ElementsAre("system:authenticated"));
  EXPECT_EQ(reviewer.last.extra.at("authentication.kubernetes.io/credential-id"),
            std::vector<std::string>{"X509SHA256=abc"});
}

TEST_F(AccessTest, ACertificateThatProvesNothingIsRefusedEvenWhereNoneIsNeeded) {
  net::Request stranger = Shown("admin", {"system:masters"}, {false, false});
  stranger.target = "/healthz";
  EXPECT_EQ(Ask(stranger), 200) << "nobody looks at certificates yet";
  access->Believe({.knows_clients = true, .front_proxy = std::nullopt});
  EXPECT_EQ(Ask(stranger), 401);
  stranger.headers.Add("Authorization", "Bearer good");
  stranger.target = "/metrics";
  EXPECT_EQ(Ask(stranger), 200) << "a token is as good as ever";
}

class FrontProxyTest : public AccessTest {
 protected:
  FrontProxyTest() {
    access->Believe({.knows_clients = true,
                     .front_proxy = FrontProxyRules{.username_headers = {"X-Remote-User"},
                                                    .uid_headers = {"X-Remote-Uid"},
                                                    .group_headers = {"X-Remote-Group"},
                                                    .extra_header_prefixes = {"X-Remote-Extra-"},
                                                    .allowed_names = {"front-proxy"}}});
  }
  static net::Request Proxied(const std::string& proxy, std::vector<bool> vouched_for) {
    net::Request request = Shown(proxy, {}, std::move(vouched_for));
    request.target = "/metrics";
    request.headers.Add("x-remote-user", "prometheus");
    request.headers.Add("X-Remote-Uid", "1-2-3");
    request.headers.Add("X-REMOTE-GROUP", "monitors");
    request.headers.Add("X-Remote-Group", "people");
    request.headers.Add("X-Remote-Extra-Scopes%2fmore", "all");
    request.headers.Add("X-Remote-Extra-Half%2", "kept");
    return request;
  }
};

TEST_F(FrontProxyTest, ItsHeadersNameTheUser) {
  EXPECT_EQ(Ask(Proxied("front-proxy", {false, true})), 200);
  EXPECT_EQ(reviewer.last.name, "prometheus");
  EXPECT_EQ(reviewer.last.uid, "1-2-3");
  EXPECT_THAT(reviewer.last.groups, testing::ElementsAre("monitors", "people", "system:authenticated"));
  EXPECT_THAT(reviewer.last.extra,
              testing::ElementsAre(testing::Pair("half%2", testing::ElementsAre("kept")),
                                   testing::Pair("scopes/more", testing::ElementsAre("all"))));
}

TEST_F(FrontProxyTest, NobodyElseIsBelieved) {
  EXPECT_EQ(Ask(Proxied("other-proxy", {false, true})), 401) << "its name is not allowed";
  EXPECT_EQ(Ask(Proxied("front-proxy", {false, false})), 401) << "nobody vouches for it";
  // A user with a certificate cannot speak for others.
  EXPECT_EQ(Ask(Proxied("front-proxy", {true, false})), 403);
  EXPECT_EQ(reviewer.last.name, "front-proxy");
  net::Request bare = Proxied("front-proxy", {false, true});
  bare.peer = nullptr;
  EXPECT_EQ(Ask(bare), 403);
  EXPECT_EQ(reviewer.last.name, "system:anonymous");
}

TEST_F(FrontProxyTest, AProxyThatNamesNobodyIsJudgedAsAClient) {
  net::Request request = Proxied("front-proxy", {false, true});
  request.headers.Remove("x-remote-user");
  EXPECT_EQ(Ask(request), 401);
}

TEST_F(FrontProxyTest, WhatIsRememberedOfOneUserIsNotForAnother) {
  EXPECT_EQ(Ask(Proxied("front-proxy", {false, true})), 200);
  EXPECT_EQ(Ask(Proxied("front-proxy", {false, true})), 200);
  EXPECT_EQ(reviewer.access_reviews, 1);
  net::Request other = Proxied("front-proxy", {false, true});
  other.headers.Add("X-Remote-Extra-Scopes", "none");
  EXPECT_EQ(Ask(other), 200);
  EXPECT_EQ(reviewer.access_reviews, 2);
}

TEST(ClusterTrusts, AreReadFromTheConfigMap) {
  const ClusterTrust trust = ReadClusterTrust(R"({"data": {
    "client-ca-file": "A", "requestheader-client-ca-file": "B",
    "requestheader-username-headers": "[\"X-Remote-User\"]", "requestheader-uid-headers": "[\"X-Remote-Uid\"]",
    "requestheader-group-headers": "[\"X-Remote-Group\", \"G\"]",
    "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
    "requestheader-allowed-names": "[]"}})");
  EXPECT_EQ(trust.client_authorities, "A");
  EXPECT_EQ(trust.proxy_authorities, "B");
  EXPECT_THAT(trust.front_proxy.username_headers, testing::ElementsAre("X-Remote-User"));
  EXPECT_THAT(trust.front_proxy.uid_headers, testing::ElementsAre("X-Remote-Uid"));
  EXPECT_THAT(trust.front_proxy.group_headers, testing::ElementsAre("X-Remote-Group", "G"));
  EXPECT_THAT(trust.front_proxy.extra_header_prefixes, testing::ElementsAre("X-Remote-Extra-"));
  EXPECT_TRUE(trust.front_proxy.Allows("anybody"));
  EXPECT_EQ(ReadClusterTrust("nonsense"), ClusterTrust());
}

TEST_F(AccessTest, StrangersCannotFillTheMemory) {
  for (int i = 0; i < 10'000; ++i) Ask("/metrics", "Bearer " + std::to_string(i));
  EXPECT_EQ(Ask("/metrics", "Bearer good"), 200);
}

TEST_F(AccessTest, EveryRequestIsCountedByWhatBecameOfIt) {
  base::MetricRegistry registry;
  AccessMetrics counted(registry);
  access = std::make_unique<Access>(options, &reviewer, &reviewer, clock, &counted);
  Ask("/healthz");
  Ask("/metrics");
  Ask("/metrics", "Bearer good");
  Ask("/metrics", "Bearer bad");
  reviewer.is_down = true;
  Ask("/metrics", "Bearer other");
  Ask("/configz");
  const std::string text = registry.Text();
  EXPECT_THAT(text, HasSubstr("authentication_attempts{result=\"success\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("authentication_attempts{result=\"failure\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("authentication_attempts{result=\"error\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("authenticated_user_requests{username=\"other\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("authorization_attempts_total{result=\"allowed\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("authorization_attempts_total{result=\"no-opinion\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("authorization_attempts_total{result=\"error\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("authorization_duration_seconds_count{result=\"allowed\"} 2\n"));
}

}  // namespace
}  // namespace berth::server
