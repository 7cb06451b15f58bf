#include "client/status_error.h"

#include <string>

#include "client/retry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "wire/codec.h"
#include "wire/envelope.h"

namespace berth::client {
namespace {

net::ClientResponse Response(int status, std::string type, std::string body) {
  return {.status = status, .headers = {{"Content-Type", std::move(type)}}, .body = std::move(body)};
}
ApiError ErrorOf(int status, std::string type, std::string body, std::string method = "PUT") {
  return ErrorFromResponse({.method = std::move(method), .resource = "pods", .name = "p"},
                           Response(status, std::move(type), std::move(body)));
}

// Case 11.
TEST(StatusErrors, Case11CodeCountsWhereTheReasonIsMissing) {
  EXPECT_TRUE(
      IsConflict(ErrorOf(409, "application/json", R"({"kind":"Status","status":"Failure","code":409})")));
  EXPECT_TRUE(IsServiceUnavailable(ErrorOf(503, "text/plain", "upstream connect error")));
  const ApiError timeout = ErrorOf(
      500, "application/json", R"({"kind":"Status","status":"Failure","reason":"ServerTimeout","code":500})");
  EXPECT_FALSE(IsInternalError(timeout));
  EXPECT_FALSE(IsServerTrouble(timeout));
  EXPECT_TRUE(IsInternalError(
      ErrorOf(500, "application/json", R"({"kind":"Status","status":"Failure","reason":"Odd","code":500})")));
}

TEST(StatusErrors, GoneIsExpiredByReasonAndByCode) {
  EXPECT_TRUE(
      IsExpired(ErrorOf(410, "application/json", R"({"kind":"Status","reason":"Expired","code":410})")));
  EXPECT_TRUE(IsExpired(ErrorOf(410, "application/json", R"({"kind":"Status","reason":"Gone","code":410})")));
  EXPECT_TRUE(IsExpired(ErrorOf(410, "application/json", R"({"kind":"Status","code":410})")));
  EXPECT_FALSE(
      IsExpired(ErrorOf(410, "application/json", R"({"kind":"Status","reason":"NotFound","code":410})")));
}

TEST(StatusErrors, TooManyRequestsCountsWhateverTheReason) {
  EXPECT_TRUE(
      IsTooManyRequests(ErrorOf(429, "application/json", R"({"kind":"Status","reason":"Odd","code":429})")));
}

TEST(StatusErrors, WhatMayBeDoneIsWhatTheServerHasSeen) {
  using net::ErrorKind;
  for (const ErrorKind kind : {ErrorKind::kReset, ErrorKind::kTimeout, ErrorKind::kUnreachable,
                               ErrorKind::kProtocol, ErrorKind::kTooLarge}) {
    EXPECT_TRUE(IsReplyLost(ApiError::FromNetwork({kind, ""})));
    EXPECT_TRUE(MayBeDone(ApiError::FromNetwork({kind, ""})));
  }
  for (const ErrorKind kind :
       {ErrorKind::kRefused, ErrorKind::kTls, ErrorKind::kDns, ErrorKind::kCancelled}) {
    EXPECT_FALSE(IsReplyLost(ApiError::FromNetwork({kind, ""})));
    EXPECT_FALSE(MayBeDone(ApiError::FromNetwork({kind, ""})));
  }
  EXPECT_TRUE(IsReplyLost(ErrorOf(504, "text/plain", "")));
  for (const int code : {500, 502, 503}) {
    EXPECT_FALSE(IsReplyLost(ErrorOf(code, "text/plain", "")));
    EXPECT_TRUE(MayBeDone(ErrorOf(code, "text/plain", "")));
  }
  EXPECT_FALSE(MayBeDone(ErrorOf(409, "text/plain", "")));
  EXPECT_FALSE(MayBeDone(ApiError{.message = "the answer is malformed"}));
}

TEST(StatusErrors, TextBecomesAGenericErrorByCode) {
  EXPECT_EQ(ErrorOf(409, "text/plain", "x", "POST").status->reason, "AlreadyExists");
  EXPECT_EQ(ErrorOf(409, "text/plain", "x", "PUT").status->reason, "Conflict");
  const ApiError error = ErrorOf(502, "text/html", "  <bad \"gateway\">\n");
  EXPECT_EQ(error.message,
            "an error on the server (\"<bad \\\"gateway\\\">\") has prevented the request from succeeding "
            "(put pods p)");
  EXPECT_EQ(error.status->details->causes[0].reason, "UnexpectedServerResponse");
  EXPECT_EQ(ErrorOf(500, "text/plain", std::string(5000, 'x')).status->details->causes[0].message.size(),
            2048U);
}

TEST(StatusErrors, ProtobufStatusIsRead) {
  api::Status status;
  status.status = "Failure";
  status.reason = "NotFound";
  status.message = "pods \"p\" not found";
  status.code = 404;
  const std::string body =
      wire::WriteEnvelope({.api_version = "v1", .kind = "Status", .raw = wire::EncodeProtobuf(status)});
  const ApiError error = ErrorOf(404, "application/vnd.kubernetes.protobuf", body);
  EXPECT_TRUE(IsNotFound(error));
  EXPECT_EQ(error.message, "pods \"p\" not found");
}

TEST(StatusErrors, TooLargeResourceVersionByCauseOrText) {
  EXPECT_TRUE(IsTooLargeResourceVersion(ErrorOf(
      504, "application/json",
      R"({"kind":"Status","reason":"Timeout","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}})")));
  EXPECT_TRUE(IsTooLargeResourceVersion(ErrorOf(
      504, "application/json",
      R"({"kind":"Status","reason":"Timeout","message":"Too large resource version: 9, current: 5"})")));
  EXPECT_FALSE(
      IsTooLargeResourceVersion(ErrorOf(504, "application/json", R"({"kind":"Status","reason":"Timeout"})")));
}

TEST(RetryAfter, IsWholeSecondsAndNoDate) {
  EXPECT_EQ(RetryAfterSeconds({{"Retry-After", "7"}}), 7);
  EXPECT_EQ(RetryAfterSeconds({{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"}}), std::nullopt);
  EXPECT_EQ(RetryAfterSeconds({{"Retry-After", "-1"}}), std::nullopt);
  EXPECT_EQ(RetryAfterSeconds({}), std::nullopt);
}

}  // namespace
}  // namespace berth::client
