#pragma once

#include <boost/json/fwd.hpp>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/kinds.h"

namespace berth::sandbox {

struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;
};

// A request that is refused, as clients see it: the Status object that is answered instead of a result.
// Clients react to the reason and people read the message, so both are kube-apiserver's, to the letter.
struct StatusError {
  int code = 500;
  std::string reason = {};
  std::string message = {};
  std::string name = {};
  std::string group = {};
  std::string kind = {};  // the plural for errors of storage, the kind for errors of validation
  std::string uid = {};
  std::vector<StatusCause> causes = {};
  int retry_after_seconds = 0;
  bool has_empty_details =
      false;  // kube-apiserver writes them for some errors and leaves them out for others
};

template <class T>
using ApiResult = std::expected<T, StatusError>;

inline std::unexpected<StatusError> Refuse(StatusError error) {
  return std::unexpected<StatusError>(std::move(error));
}

StatusError BadRequest(std::string message);
StatusError Unauthorized();
StatusError Forbidden(const Resource& resource, std::string_view name, std::string_view why);
StatusError NotFound(const Resource& resource, std::string_view name);
StatusError PathNotFound();
StatusError MethodNotSupported(const Resource& resource, std::string_view action);
StatusError AlreadyExists(const Resource& resource, std::string_view name);
StatusError NameNotGenerated(const Resource& resource, std::string_view name);
// `subresource` is empty or, for example, "binding".
StatusError Conflict(const Resource& resource, std::string_view subresource, std::string_view name,
                     std::string_view why);
StatusError ModifiedMeanwhile(const Resource& resource, std::string_view name);
StatusError Expired(std::string message);
StatusError VersionTooLarge(std::uint64_t wanted, std::uint64_t current);
StatusError NotAcceptable(std::string_view accepted);
StatusError UnsupportedMediaType(std::string_view accepted);
StatusError UnsupportedPatchType();
StatusError TooManyRequests(std::string message, int retry_after_seconds);
StatusError InternalError(std::string_view why);

// The Status object, kind and apiVersion included.
boost::json::object StatusDocument(const StatusError& error);

// What a removal answers that does not answer the object.
boost::json::object DeletedStatus(const Resource& resource, std::string_view name, std::string_view uid);
// A success without an object, such as a binding's.
boost::json::object SuccessStatus(int code);

}  // namespace berth::sandbox
