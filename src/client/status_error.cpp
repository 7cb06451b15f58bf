#include "client/status_error.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <utility>

#include "fmt/format.h"

#include "base/go_text.h"
#include "wire/codec.h"
#include "wire/envelope.h"
#include "wire/json_document.h"

namespace berth::client {
namespace {

constexpr std::size_t kTextBytesMax = 2048;

constexpr std::array<std::string_view, 19> kKnownReasons = {"Unauthorized",
                                                            "Forbidden",
                                                            "NotFound",
                                                            "AlreadyExists",
                                                            "Conflict",
                                                            "Gone",
                                                            "Invalid",
                                                            "ServerTimeout",
                                                            "StorageReadError",
                                                            "Timeout",
                                                            "TooManyRequests",
                                                            "BadRequest",
                                                            "MethodNotAllowed",
                                                            "NotAcceptable",
                                                            "RequestEntityTooLarge",
                                                            "UnsupportedMediaType",
                                                            "InternalError",
                                                            "Expired",
                                                            "ServiceUnavailable"};

struct Generic {
  std::string_view reason;
  std::string message;
};

Generic GenericFor(int code, std::string_view method, const std::string& text) {
  switch (code) {
    case 400:
      return {"BadRequest", "the server rejected our request for an unknown reason"};
    case 401:
      return {"Unauthorized", "the server has asked for the client to provide credentials"};
    case 403:
      return {"Forbidden", text};
    case 404:
      return {"NotFound", "the server could not find the requested resource"};
    case 405:
      return {"MethodNotAllowed", "the server does not allow this method on the requested resource"};
    case 406:
      return {"NotAcceptable",
              text == "unknown"
                  ? "the server was unable to respond with a content type that the client supports"
                  : text};
    case 409:
      return {method == "POST" ? "AlreadyExists" : "Conflict", "the server reported a conflict"};
    case 415:
      return {"UnsupportedMediaType", text};
    case 422:
      return {"Invalid", "the server rejected our request due to an error in our request"};
    case 429:
      return {"TooManyRequests",
              "the server has received too many requests and has asked us to try again later"};
    case 503:
      return {"ServiceUnavailable", "the server is currently unable to handle the request"};
    case 504:
      return {"Timeout",
              "the server was unable to return a response in the time allotted, but may still be processing "
              "the request"};
    default:
      break;
  }
  if (code >= 500) {
    return {"InternalError",
            fmt::format("an error on the server ({}) has prevented the request from succeeding",
                        base::QuoteGo(text))};
  }
  return {"", fmt::format("the server responded with the status code {} but did not return more information",
                          code)};
}

std::string ToLower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::string_view TextOf(std::string_view body) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = body.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "unknown";
  body = body.substr(first, body.find_last_not_of(kBlanks) - first + 1);
  return body.substr(0, kTextBytesMax);
}

bool Has(const ApiError& error, std::string_view reason, int code) {
  if (!error.status) return false;
  if (error.status->reason == reason) return true;
  return std::ranges::find(kKnownReasons, error.status->reason) == kKnownReasons.end() &&
         error.status->code == code;
}

}  // namespace

ApiError ApiError::FromNetwork(net::NetError error) {
  return {.message = std::move(error.message), .network = error.kind};
}

ApiError ApiError::FromStatus(api::Status status) {
  std::string message = status.message;
  return {.message = std::move(message), .status = std::move(status)};
}

bool IsProtobuf(std::string_view content_type) {
  return content_type.starts_with("application/vnd.kubernetes.protobuf");
}

std::optional<api::Status> DecodeStatus(std::string_view content_type, std::string_view body) {
  base::Result<api::Status> status = base::Fail("");
  if (IsProtobuf(content_type)) {
    const auto envelope = wire::ParseEnvelope(body);
    if (!envelope || envelope->kind != "Status") return std::nullopt;
    status = wire::DecodeProtobuf<api::Status>(envelope->raw);
  } else {
    const auto document = wire::ParseJson(body);
    if (!document || !document->is_object()) return std::nullopt;
    const auto* kind = document->get_object().if_contains("kind");
    if (kind == nullptr || !kind->is_string() || kind->get_string() != "Status") return std::nullopt;
    status = wire::DecodeJson<api::Status>(body);
  }
  if (!status) return std::nullopt;
  return std::move(*status);
}

std::optional<int> RetryAfterSeconds(const net::Headers& headers) {
  const std::string* text = headers.Find("Retry-After");
  if (text == nullptr) return std::nullopt;
  int seconds = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, seconds);
  if (error != std::errc() || rest != end || seconds < 0) return std::nullopt;
  return seconds;
}

ApiError ErrorFromResponse(const RequestSubject& subject, const net::ClientResponse& response) {
  const std::string* content_type = response.headers.Find("Content-Type");
  if (auto status = DecodeStatus(content_type == nullptr ? "" : *content_type, response.body);
      status && status->status != "Success") {
    if (status->code == 0) status->code = response.status;
    return ApiError::FromStatus(std::move(*status));
  }
  const std::string text(TextOf(response.body));
  Generic generic = GenericFor(response.status, subject.method, text);
  api::Status status;
  status.status = "Failure";
  status.code = response.status;
  status.reason = generic.reason;
  status.message = std::move(generic.message);
  if (!subject.resource.empty()) {
    status.message += fmt::format(" ({} {}{}{})", ToLower(subject.method), subject.resource,
                                  subject.name.empty() ? "" : " ", subject.name);
  }
  status.details =
      api::StatusDetails{.name = subject.name,
                         .group = "",
                         .kind = subject.resource,
                         .uid = "",
                         .causes = {{.reason = "UnexpectedServerResponse", .message = text, .field = ""}},
                         .retry_after_seconds = RetryAfterSeconds(response.headers).value_or(0)};
  return ApiError::FromStatus(std::move(status));
}

bool IsNotFound(const ApiError& error) { return Has(error, "NotFound", 404); }
bool IsAlreadyExists(const ApiError& error) {
  return error.status && error.status->reason == "AlreadyExists";
}
bool IsConflict(const ApiError& error) { return Has(error, "Conflict", 409); }
bool IsInternalError(const ApiError& error) { return Has(error, "InternalError", 500); }
bool IsServiceUnavailable(const ApiError& error) { return Has(error, "ServiceUnavailable", 503); }
bool IsUnauthorized(const ApiError& error) { return Has(error, "Unauthorized", 401); }
bool IsForbidden(const ApiError& error) { return Has(error, "Forbidden", 403); }
bool IsInvalid(const ApiError& error) { return Has(error, "Invalid", 422); }
bool IsExpired(const ApiError& error) {
  return error.status && (error.status->reason == "Expired" || Has(error, "Gone", 410));
}
bool IsTooManyRequests(const ApiError& error) {
  return error.status && (error.status->reason == "TooManyRequests" || error.status->code == 429);
}

bool IsTooLargeResourceVersion(const ApiError& error) {
  if (!error.status) return false;
  if (error.status->details) {
    for (const api::StatusCause& cause : error.status->details->causes) {
      if (cause.reason == "ResourceVersionTooLarge") return true;
    }
  }
  return error.status->reason == "Timeout" &&
         error.status->message.find("Too large resource version") != std::string::npos;
}

bool IsConnectionRefused(const ApiError& error) { return error.network == net::ErrorKind::kRefused; }
bool IsConnectionLost(const ApiError& error) { return error.network == net::ErrorKind::kReset; }
bool IsNetworkTimeout(const ApiError& error) { return error.network == net::ErrorKind::kTimeout; }

bool IsReplyLost(const ApiError& error) {
  if (error.status) return error.status->code == 504;
  if (!error.network) return false;
  switch (*error.network) {
    case net::ErrorKind::kReset:
    case net::ErrorKind::kTimeout:
    case net::ErrorKind::kUnreachable:
    case net::ErrorKind::kProtocol:
    case net::ErrorKind::kTooLarge:
      return true;
    case net::ErrorKind::kRefused:
    case net::ErrorKind::kTls:
    case net::ErrorKind::kDns:
    case net::ErrorKind::kCancelled:
      return false;
  }
  return false;
}

bool MayBeDone(const ApiError& error) {
  return IsReplyLost(error) || (error.status && error.status->code >= 500);
}

}  // namespace berth::client
