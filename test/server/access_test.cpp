#include "server/access.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "base/executor.h"

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
    if (is_down) co_return base::Fail("connection refused");
    co_return identity.name == "prometheus" && verb == "get" && path == "/metrics";
  }

  bool is_down = false;
  int token_reviews = 0;
  int access_reviews = 0;
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
    result = co_await access->Check(request);
  }

  base::VirtualClock clock;
  base::Executor executor{clock};
  FakeReviewer reviewer;
  AccessOptions options;
  std::unique_ptr<Access> access = std::make_unique<Access>(options, &reviewer, &reviewer, clock);
  std::string body;
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

TEST_F(AccessTest, CertificatesNameUsersAndGroups) {
  net::Request request;
  request.method = "GET";
  request.target = "/configz";
  request.peer = std::make_shared<const net::CertificateSubject>(
      net::CertificateSubject{.common_name = "admin", .organizations = {"system:masters"}});
  EXPECT_EQ(Ask(request), 200);
  request.peer = std::make_shared<const net::CertificateSubject>(
      net::CertificateSubject{.common_name = "bob", .organizations = {}});
  EXPECT_EQ(Ask(request), 403);
  EXPECT_THAT(body, HasSubstr("bob"));
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
