#include "sandbox/status_error.h"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace berth::sandbox {
namespace {

namespace json = boost::json;

StatusError About(const Resource& resource, std::string_view name, int code, std::string_view reason,
                  std::string message) {
  return {.code = code,
          .reason = std::string(reason),
          .message = std::move(message),
          .name = std::string(name),
          .group = std::string(resource.group),
          .kind = std::string(resource.plural)};
}

void SetUnlessEmpty(json::object& object, std::string_view key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

json::object StatusHead(std::string_view status) {
  json::object document;
  document["kind"] = "Status";
  document["apiVersion"] = "v1";
  document["metadata"] = json::object();
  document["status"] = status;
  return document;
}

}  // namespace

StatusError BadRequest(std::string message) {
  return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}

StatusError Unauthorized() { return {.code = 401, .reason = "Unauthorized", .message = "Unauthorized"}; }

StatusError Forbidden(const Resource& resource, std::string_view name, std::string_view why) {
  const std::string what = resource.QualifiedName();
  return About(resource, name, 403, "Forbidden",
               name.empty() ? fmt::format("{} is forbidden: {}", what, why)
                            : fmt::format("{} \"{}\" is forbidden: {}", what, name, why));
}

StatusError NotFound(const Resource& resource, std::string_view name) {
  return About(resource, name, 404, "NotFound",
               fmt::format("{} \"{}\" not found", resource.QualifiedName(), name));
}

StatusError PathNotFound() {
  return {.code = 404,
          .reason = "NotFound",
          .message = "the server could not find the requested resource",
          .has_empty_details = true};
}

StatusError MethodNotSupported(const Resource& resource, std::string_view action) {
  return About(
      resource, "", 405, "MethodNotAllowed",
      fmt::format("{} is not supported on resources of kind \"{}\"", action, resource.QualifiedName()));
}

StatusError AlreadyExists(const Resource& resource, std::string_view name) {
  return About(resource, name, 409, "AlreadyExists",
               fmt::format("{} \"{}\" already exists", resource.QualifiedName(), name));
}

StatusError NameNotGenerated(const Resource& resource, std::string_view name) {
  StatusError error = AlreadyExists(resource, name);
  error.message += ", the server was not able to generate a unique name for the object";
  return error;
}

StatusError Conflict(const Resource& resource, std::string_view subresource, std::string_view name,
                     std::string_view why) {
  // The group qualifies the whole of "pods/binding", as upstream's GroupResource prints it.
  std::string kind(resource.plural);
  if (!subresource.empty()) kind.append("/").append(subresource);
  std::string what = kind;
  if (!resource.group.empty()) what.append(".").append(resource.group);
  StatusError error = About(resource, name, 409, "Conflict",
                            fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", what, name, why));
  error.kind = kind;
  return error;
}

StatusError ModifiedMeanwhile(const Resource& resource, std::string_view name) {
  return Conflict(
      resource, "", name,
      "the object has been modified; please apply your changes to the latest version and try again");
}

StatusError Expired(std::string message) {
  return {.code = 410, .reason = "Expired", .message = std::move(message)};
}

StatusError VersionTooLarge(std::uint64_t wanted, std::uint64_t current) {
  StatusError error{
      .code = 504,
      .reason = "Timeout",
      .message = fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, current)};
  error.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  error.retry_after_seconds = 1;
  return error;
}

StatusError NotAcceptable(std::string_view accepted) {
  return {.code = 406,
          .reason = "NotAcceptable",
          .message = fmt::format("406: Not Acceptable\n\nAvailable representations: {}", accepted),
          .has_empty_details = true};
}

StatusError UnsupportedMediaType(std::string_view accepted) {
  return {
      .code = 415,
      .reason = "UnsupportedMediaType",
      .message = fmt::format(
          "the body of the request was in an unknown format - accepted media types include: {}", accepted)};
}

// Patches of unknown types are refused before anything of Kubernetes sees them, hence the other words.
StatusError UnsupportedPatchType() {
  return {.code = 415,
          .reason = "UnsupportedMediaType",
          .message = "415: Unsupported Media Type",
          .has_empty_details = true};
}

StatusError TooManyRequests(std::string message, int retry_after_seconds) {
  return {.code = 429,
          .reason = "TooManyRequests",
          .message = std::move(message),
          .retry_after_seconds = retry_after_seconds};
}

StatusError InternalError(std::string_view why) {
  StatusError error{
      .code = 500, .reason = "InternalError", .message = fmt::format("Internal error occurred: {}", why)};
  error.causes.push_back({"", std::string(why), ""});
  return error;
}

json::object StatusDocument(const StatusError& error) {
  json::object document = StatusHead("Failure");
  SetUnlessEmpty(document, "message", error.message);
  SetUnlessEmpty(document, "reason", error.reason);
  json::object details;
  SetUnlessEmpty(details, "name", error.name);
  SetUnlessEmpty(details, "group", error.group);
  SetUnlessEmpty(details, "kind", error.kind);
  SetUnlessEmpty(details, "uid", error.uid);
  if (!error.causes.empty()) {
    json::array causes;
    for (const StatusCause& cause : error.causes) {
      json::object entry;
      SetUnlessEmpty(entry, "reason", cause.reason);
      SetUnlessEmpty(entry, "message", cause.message);
      SetUnlessEmpty(entry, "field", cause.field);
      causes.push_back(std::move(entry));
    }
    details["causes"] = std::move(causes);
  }
  if (error.retry_after_seconds > 0) details["retryAfterSeconds"] = error.retry_after_seconds;
  if (!details.empty() || error.has_empty_details) document["details"] = std::move(details);
  document["code"] = error.code;
  return document;
}

json::object DeletedStatus(const Resource& resource, std::string_view name, std::string_view uid) {
  json::object document = StatusHead("Success");
  json::object details;
  details["name"] = name;
  if (!resource.group.empty()) details["group"] = resource.group;
  details["kind"] = resource.plural;
  details["uid"] = uid;
  document["details"] = std::move(details);
  return document;
}

json::object SuccessStatus(int code) {
  json::object document = StatusHead("Success");
  document["code"] = code;
  return document;
}

}  // namespace berth::sandbox
