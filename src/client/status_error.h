#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "api/meta.h"
#include "net/http_client.h"
#include "net/net_error.h"

namespace berth::client {

// Why a call failed: the server's Status, an error of the network, or (neither) an answer that makes no
// sense.
struct ApiError {
  std::string message;
  std::optional<api::Status> status = {};
  std::optional<net::ErrorKind> network = {};

  static ApiError FromNetwork(net::NetError error);
  static ApiError FromStatus(api::Status status);
};

template <class T>
using ApiResult = std::expected<T, ApiError>;

// What a request was about, for the words of errors whose body says nothing.
struct RequestSubject {
  std::string method;
  std::string resource;  // "pods", "leases.coordination.k8s.io"
  std::string name;
};

// Makes an error of an answer that is none of 200 to 206. A body that is no Status (a proxy's page, plain
// text) becomes a generic error by its code, with the text kept to 2048 bytes.
ApiError ErrorFromResponse(const RequestSubject& subject, const net::ClientResponse& response);

// The Status in a body of the given content type; nothing if it is something else.
std::optional<api::Status> DecodeStatus(std::string_view content_type, std::string_view body);

bool IsProtobuf(std::string_view content_type);

// The whole seconds of a Retry-After header. Dates are not looked at.
std::optional<int> RetryAfterSeconds(const net::Headers& headers);

// By reason; the code counts only where the reason is missing or unknown.
bool IsNotFound(const ApiError& error);
bool IsAlreadyExists(const ApiError& error);
bool IsConflict(const ApiError& error);
bool IsInternalError(const ApiError& error);
bool IsServiceUnavailable(const ApiError& error);
bool IsUnauthorized(const ApiError& error);
bool IsForbidden(const ApiError& error);
bool IsInvalid(const ApiError& error);
// The requested resource version is gone: 410, whether it says Expired or Gone.
bool IsExpired(const ApiError& error);
// 429 counts whatever the reason.
bool IsTooManyRequests(const ApiError& error);
// The server has not seen the requested resource version yet.
bool IsTooLargeResourceVersion(const ApiError& error);
bool IsConnectionRefused(const ApiError& error);
// The connection broke, or the server ended it.
bool IsConnectionLost(const ApiError& error);
bool IsNetworkTimeout(const ApiError& error);
// The request was on its way and nobody said what became of it. A server that was never reached (refused, no
// such name, TLS) did nothing.
bool IsReplyLost(const ApiError& error);
// What was asked for may be done all the same: the reply was lost, or says that the server is in trouble
// (5xx), which may have come after the write.
bool MayBeDone(const ApiError& error);

}  // namespace berth::client
