#include "client/api_client.h"

#include <string>

#include "client/harness.h"
#include "client/pod_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;

using ApiClientTest = ClientTest;

TEST_F(ApiClientTest, SendsSortedQueryAndItsHeaders) {
  AddReply(Json(200, "{}"));
  const auto result = Start(client_.Send(
      {.path = "/api/v1/pods", .query = {{"watch", "true"}, {"fieldSelector", "status.phase!=Failed,a=b"}}}));
  ASSERT_TRUE(result->has_value() && (*result)->has_value());
  EXPECT_EQ(last_seen().target, "/api/v1/pods?fieldSelector=status.phase%21%3DFailed%2Ca%3Db&watch=true");
  EXPECT_EQ(*last_seen().headers.Find("Accept"), "application/vnd.kubernetes.protobuf, */*");
  EXPECT_EQ(*last_seen().headers.Find("User-Agent"), "test");
}

TEST_F(ApiClientTest, TellsTheServerItsTimeout) {
  auto& leader =
      Make<ApiClient>(executor_, server_, nobody_,
                      ApiClientOptions{.user_agent = "test", .rate = {.per_second = 0}, .timeout = 5s});
  AddReply(Json(200, "{}"));
  Start(leader.Send({.path = "/x"}));
  EXPECT_EQ(last_seen().target, "/x?timeout=5s");
}

// Case 20, second half.
TEST_F(ApiClientTest, Case20SleepsInsideTheRequestAsLongAsTheServerAsks) {
  AddReply(Failure(429, "TooManyRequests", "slow down", {{"Retry-After", "2"}}));
  AddReply(Json(200, "{}"));
  const auto result = Start(client_.Send({.path = "/x"}));
  Advance(1999ms);
  EXPECT_FALSE(result->has_value());
  Advance(1ms);
  ASSERT_TRUE(result->has_value());
  EXPECT_TRUE((*result)->has_value());
}

TEST_F(ApiClientTest, GivesUpAfterTenRetries) {
  server_.fallback = [](const SeenRequest&) -> std::optional<Answer> {
    return Failure(503, "ServiceUnavailable", "no", {{"Retry-After", "1"}});
  };
  const auto result = Start(client_.Send({.method = "POST", .path = "/x"}));
  Advance(1min);
  ASSERT_TRUE(result->has_value());
  EXPECT_TRUE(IsServiceUnavailable((*result)->error()));
  EXPECT_EQ(server_.seen.size(), 11U);
}

TEST_F(ApiClientTest, ReadsAreRepeatedWhenTheConnectionIsLostAndWritesAreNot) {
  AddReply(Broken(net::ErrorKind::kReset));
  AddReply(Json(200, "{}"));
  const auto read = Start(client_.Send({.path = "/x"}));
  Advance(1s);
  EXPECT_TRUE(read->has_value() && (*read)->has_value());
  AddReply(Broken(net::ErrorKind::kReset));
  const auto write = Start(client_.Send({.method = "POST", .path = "/x"}));
  ASSERT_TRUE(write->has_value());
  EXPECT_TRUE(IsConnectionLost((*write)->error()));
  AddReply(Broken(net::ErrorKind::kRefused));
  const auto refused = Start(client_.Send({.path = "/x"}));
  ASSERT_TRUE(refused->has_value());
  EXPECT_TRUE(IsConnectionRefused((*refused)->error()));
}

TEST_F(ApiClientTest, AWatchThatNeverGetsAnAnswerIsAnEmptyStream) {
  server_.fallback = [](const SeenRequest&) -> std::optional<Answer> {
    return Broken(net::ErrorKind::kTimeout);
  };
  const auto watch = Start(client_.Watch({.path = "/x"}));
  Advance(1min);
  ASSERT_TRUE(watch->has_value());
  ASSERT_TRUE((*watch)->has_value());
  EXPECT_EQ(**watch, nullptr);
  EXPECT_EQ(server_.seen.size(), 11U);
}

TEST_F(ApiClientTest, RefusedWatchIsAnErrorWithItsStatus) {
  AddReply(Failure(422, "Invalid", "sendInitialEvents is forbidden"));
  const auto watch = Start(client_.Watch({.path = "/x"}));
  ASSERT_TRUE(watch->has_value());
  EXPECT_TRUE(IsInvalid((*watch)->error()));
}

TEST_F(ApiClientTest, UnauthorizedIsTold) {
  AddReply(Failure(401, "Unauthorized"));
  const auto result = Start(client_.Send({.path = "/x"}));
  EXPECT_TRUE(IsUnauthorized((*result)->error()));
  EXPECT_EQ(nobody_.unauthorized, 1);
}

// Case 43.
TEST_F(ApiClientTest, Case43TwoHundredBindsTakeTwoSecondsAndWatchesAreNotDelayed) {
  auto& limited =
      Make<ApiClient>(executor_, server_, nobody_,
                      ApiClientOptions{.user_agent = "test", .rate = {.per_second = 50, .burst = 100}});
  auto& writer = Make<PodWriter>(limited, base::Random(1));
  server_.fallback = [](const SeenRequest& request) -> std::optional<Answer> {
    if (request.method == "POST") return Json(201, "{}");
    return std::nullopt;
  };
  for (int i = 0; i < 200; ++i) Start(writer.Bind({"ns", "p" + std::to_string(i), "u"}, "n"));
  EXPECT_EQ(server_.seen.size(), 100U);
  Start(limited.Watch({.path = "/watch"}));
  EXPECT_EQ(last_seen().target, "/watch");
  Advance(1999ms);
  EXPECT_EQ(server_.seen.size(), 200U);
  Advance(1ms);
  EXPECT_EQ(server_.seen.size(), 201U);
  EXPECT_EQ(last_seen().at.time_since_epoch(), 2s);
}

// Case 33.
TEST_F(ApiClientTest, Case33EveryRetryTakesAToken) {
  auto& limited =
      Make<ApiClient>(executor_, server_, nobody_,
                      ApiClientOptions{.user_agent = "test", .rate = {.per_second = 0.01, .burst = 4}});
  auto& writer = Make<PodWriter>(limited, base::Random(1));
  for (int i = 0; i < 3; ++i) AddReply(Failure(429, "TooManyRequests", "no", {{"Retry-After", "1"}}));
  AddReply(Json(201, "{}"));
  const auto bound = Start(writer.Bind({"ns", "p", "u"}, "n"));
  Advance(3s);
  ASSERT_TRUE(bound->has_value());
  EXPECT_TRUE((*bound)->has_value());
  AddReply(Json(201, "{}"));
  Start(writer.Bind({"ns", "q", "u"}, "n"));
  EXPECT_EQ(server_.seen.size(), 4U) << "the four tokens are used up";
}

TEST_F(ApiClientTest, Case33ADateInRetryAfterIsNoRetry) {
  auto& writer = Make<PodWriter>(client_, base::Random(1));
  AddReply(Failure(429, "TooManyRequests", "no", {{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"}}));
  const auto bound = Start(writer.Bind({"ns", "p", "u"}, "n"));
  ASSERT_TRUE(bound->has_value());
  EXPECT_TRUE(IsTooManyRequests((*bound)->error()));
  EXPECT_EQ(server_.seen.size(), 1U);
}

}  // namespace
}  // namespace berth::client
