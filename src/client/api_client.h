#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/credentials.h"
#include "client/rate_limiter.h"
#include "client/request_metrics.h"
#include "client/resource.h"
#include "client/status_error.h"
#include "client/transport.h"

#include "base/executor.h"
#include "net/url.h"
#include "wire/codec.h"
#include "wire/envelope.h"

namespace berth::client {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
inline constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";

struct ApiRequest {
  std::string method = "GET";
  std::string path;
  net::QueryPairs query = {};  // sent in the order of the keys
  std::string content_type = {};
  std::string body = {};
  RequestSubject subject = {};  // its method is filled in
  std::optional<base::Duration> timeout = {};
};

struct ApiResponse {
  int status = 0;
  std::string content_type;
  std::string body;
};

struct ApiClientOptions {
  std::string user_agent;
  std::string accept = "application/vnd.kubernetes.protobuf, */*";
  RateLimiter::Options rate = {};
  std::optional<base::Duration> timeout = {};  // of every request but watches; the server is told too
  RequestMetrics* metrics = nullptr;           // null: nothing is counted
};

// Requests of one set of credentials to one server, each in its turn.
//
// An attempt waits for a token of the rate limiter first; a watch does so only when it is tried again.
// Answers that ask for it (429, 5xx with Retry-After) and reads that lost their connection are tried again,
// ten times at most. What is not repeated here is the caller's decision (retry.h).
class ApiClient {
 public:
  ApiClient(base::Executor& executor, Transport& transport, Credentials& credentials,
            ApiClientOptions options);

  // An answer other than success is an error.
  base::Task<ApiResult<ApiResponse>> Send(ApiRequest request);
  // A watch. Nothing comes out (and no error) when the server never got as far as an answer.
  base::Task<ApiResult<std::unique_ptr<OpenResponse>>> Watch(ApiRequest request);

  // See Transport.
  void DropIdleConnections() { transport_.DropIdleConnections(); }

  base::Executor& executor() { return executor_; }

 private:
  net::ClientRequest Prepare(const ApiRequest& request, const net::Body& body, bool is_watch) const;
  // How long the next attempt has to wait for its token.
  base::Duration TakeTurn(const ApiRequest& request);
  // Whether a request can be sent now; most can. Then its credentials are in it. Otherwise AwaitReady waits.
  bool IsReady(base::Duration wait, net::ClientRequest& prepared);
  base::Task<ApiResult<void>> AwaitReady(base::Duration wait, net::ClientRequest& prepared);
  void Count(RequestMetrics::Exchange exchange, base::TimePoint began) const;
  void CountAnswer(const ApiRequest& request, int code, bool again) const;
  base::Task<ApiResult<void>> ReadWhole(OpenResponse& response, std::string& body);

  base::Executor& executor_;
  Transport& transport_;
  Credentials& credentials_;
  const ApiClientOptions options_;
  const std::shared_ptr<const net::Headers> common_headers_;
  RateLimiter limiter_;
};

// An object of the kind that the request was for.
template <class T>
ApiResult<T> DecodeObject(const ApiResponse& response) {
  const auto decode = [&]() -> base::Result<T> {
    if (!IsProtobuf(response.content_type)) return wire::DecodeJson<T>(response.body);
    const auto envelope = wire::ParseEnvelope(response.body);
    if (!envelope) return std::unexpected(envelope.error());
    return wire::DecodeProtobuf<T>(envelope->raw);
  };
  auto object = decode();
  if (!object)
    return std::unexpected(ApiError{.message = "the answer is malformed: " + object.error().message});
  return std::move(*object);
}

// A body for POST and PUT; `encoded` is the object as protobuf.
inline void SetEncodedBody(ApiRequest& request, const wire::ObjectKind& kind, std::string_view encoded) {
  request.content_type = kProtobufType;
  request.body = wire::WriteEnvelope({.api_version = kind.api_version, .kind = kind.kind, .raw = encoded});
}
template <class T>
void SetBody(ApiRequest& request, const T& object) {
  SetEncodedBody(request, wire::KindOf<T>(), wire::EncodeProtobuf(object));
}

}  // namespace berth::client
