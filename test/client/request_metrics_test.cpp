#include "client/request_metrics.h"

#include <string>

#include "client/api_client.h"
#include "client/harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class RequestMetricsTest : public ClientTest {
 protected:
  ApiClient& Counting(RateLimiter::Options rate = {.per_second = 0}) {
    return Make<ApiClient>(executor_, server_, nobody_,
                           ApiClientOptions{.user_agent = "test", .rate = rate, .metrics = &counted_});
  }

  base::MetricRegistry registry_;
  RequestMetrics counted_{registry_, "server:6443"};
};

TEST_F(RequestMetricsTest, EveryAnswerCounts) {
  AddReply(Json(200, "{}"));
  AddReply(Failure(404, "NotFound", "no"));
  ApiClient& client = Counting();
  Start(client.Send({.path = "/x"}));
  Start(client.Send(
      {.method = "POST", .path = "/x", .content_type = "text/plain", .body = std::string(300, 'x')}));
  const std::string text = registry_.Text();
  EXPECT_THAT(text,
              HasSubstr("rest_client_requests_total{code=\"200\",host=\"server:6443\",method=\"GET\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("rest_client_requests_total{code=\"404\",host=\"server:6443\",method=\"POST\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("rest_client_request_duration_seconds_count{host=\"server:6443\",verb=\"GET\"} 1\n"));
  EXPECT_THAT(
      text, HasSubstr("rest_client_request_size_bytes_bucket{host=\"server:6443\",verb=\"POST\",le=\"256\"} "
                      "0\n"));
  EXPECT_THAT(
      text, HasSubstr("rest_client_request_size_bytes_bucket{host=\"server:6443\",verb=\"POST\",le=\"512\"} "
                      "1\n"));
  EXPECT_THAT(text, HasSubstr("rest_client_response_size_bytes_sum{host=\"server:6443\",verb=\"GET\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("rest_client_request_retries_total{")));
}

TEST_F(RequestMetricsTest, WhatIsTriedAgainCountsAsThat) {
  AddReply(Failure(429, "TooManyRequests", "slow down", {{"Retry-After", "2"}}));
  AddReply(Json(200, "{}"));
  Start(Counting().Send({.path = "/x"}));
  Advance(2s);
  EXPECT_THAT(
      registry_.Text(),
      HasSubstr("rest_client_request_retries_total{code=\"200\",host=\"server:6443\",verb=\"GET\"} 1\n"));
}

TEST_F(RequestMetricsTest, ARequestWithoutAnAnswerIsAnError) {
  AddReply(Broken(net::ErrorKind::kReset));
  Start(Counting().Send({.method = "POST", .path = "/x"}));
  EXPECT_THAT(
      registry_.Text(),
      HasSubstr("rest_client_requests_total{code=\"<error>\",host=\"server:6443\",method=\"POST\"} 1\n"));
}

TEST_F(RequestMetricsTest, WaitingForATurnIsMeasured) {
  AddReply(Json(200, "{}"));
  AddReply(Json(200, "{}"));
  ApiClient& client = Counting({.per_second = 1, .burst = 1});
  Start(client.Send({.path = "/x"}));
  Start(client.Send({.path = "/x"}));
  Advance(1s);
  EXPECT_THAT(
      registry_.Text(),
      HasSubstr("rest_client_rate_limiter_duration_seconds_sum{host=\"server:6443\",verb=\"GET\"} 1\n"));
}

}  // namespace
}  // namespace berth::client
