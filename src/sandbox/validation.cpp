#include "sandbox/validation.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/validation.h"
#include "base/go_text.h"
#include "sandbox/validation_kinds.h"
#include "sandbox/validation_metadata.h"
#include "sandbox/validation_pod.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

struct Words {
  std::string_view reason;
  std::string_view text;
  bool shows_value;
};

Words WordsOf(FieldErrorType type) {
  switch (type) {
    case FieldErrorType::kRequired:
      return {"FieldValueRequired", "Required value", false};
    case FieldErrorType::kInvalid:
      return {"FieldValueInvalid", "Invalid value", true};
    case FieldErrorType::kNotSupported:
      return {"FieldValueNotSupported", "Unsupported value", true};
    case FieldErrorType::kForbidden:
      return {"FieldValueForbidden", "Forbidden", false};
    case FieldErrorType::kDuplicate:
      return {"FieldValueDuplicate", "Duplicate value", true};
    case FieldErrorType::kNotFound:
      return {"FieldValueNotFound", "Not found", true};
    case FieldErrorType::kTooLong:
      return {"FieldValueTooLong", "Too long", false};
    case FieldErrorType::kTooMany:
      return {"FieldValueTooMany", "Too many", true};
    case FieldErrorType::kTypeInvalid:
      return {"FieldValueTypeInvalid", "Invalid value", true};
  }
  return {};
}

std::string Body(const FieldError& error) {
  const Words words = WordsOf(error.type);
  std::string body(words.text);
  if (words.shows_value && !error.value.empty()) body.append(": ").append(error.value);
  if (!error.detail.empty()) body.append(": ").append(error.detail);
  return body;
}

void Append(FieldErrorList& errors, FieldErrorList more) {
  std::ranges::move(more, std::back_inserter(errors));
}

bool IsPod(const Resource& resource) { return resource.group.empty() && resource.kind == "Pod"; }

}  // namespace

void AddError(FieldErrorList& errors, FieldErrorType type, std::string_view field, std::string value,
              std::string_view detail) {
  errors.push_back({type, std::string(field), std::move(value), std::string(detail)});
}

std::string FieldError::ToString() const { return field + ": " + Body(*this); }

StatusError Invalid(std::string_view group, std::string_view kind, std::string_view name,
                    std::span<const FieldError> errors) {
  StatusError status{.code = 422,
                     .reason = "Invalid",
                     .name = std::string(name),
                     .group = std::string(group),
                     .kind = std::string(kind)};
  std::vector<std::string> messages;
  for (const FieldError& error : errors) {
    status.causes.push_back({std::string(WordsOf(error.type).reason), Body(error), error.field});
    messages.push_back(error.ToString());
  }
  std::string qualified(kind);
  if (!group.empty()) qualified.append(".").append(group);
  status.message =
      fmt::format("{} {} is invalid: {}", qualified, base::QuoteGo(name), api::AggregateErrors(messages));
  return status;
}

StatusError Invalid(const Resource& resource, std::string_view name, std::span<const FieldError> errors) {
  return Invalid(resource.group, resource.kind, name, errors);
}

FieldErrorList ValidateCreate(const Resource& resource, const json::object& document) {
  FieldErrorList errors;
  CheckNewMetadata(resource, document, errors);
  Append(errors, IsPod(resource) ? ValidateNewPod(document) : ValidateKind(resource, document));
  return errors;
}

FieldErrorList ValidateUpdate(const Resource& resource, const json::object& document,
                              const json::object& old) {
  FieldErrorList errors;
  CheckChangedMetadata(resource, document, old, errors);
  Append(errors,
         IsPod(resource) ? ValidatePodUpdate(document, old) : ValidateKindUpdate(resource, document, old));
  return errors;
}

FieldErrorList ValidateStatusUpdate(const Resource& resource, const json::object& document,
                                    const json::object& old) {
  FieldErrorList errors;
  CheckChangedMetadata(resource, document, old, errors);
  if (IsPod(resource)) Append(errors, ValidatePodStatusUpdate(document, old));
  return errors;
}

}  // namespace berth::sandbox
