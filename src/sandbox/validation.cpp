#include "sandbox/validation.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/validation.h"
#include "base/go_text.h"
#include "sandbox/document.h"

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

// RBAC's names may hold almost anything, because they stand in paths only.
bool HasPathName(const Resource& resource) { return resource.group == "rbac.authorization.k8s.io"; }

void CheckName(const Resource& resource, const json::object& document, FieldErrorList& errors) {
  const std::string_view name = TextAt(document, {"metadata", "name"});
  if (name.empty()) {
    errors.push_back({FieldErrorType::kRequired, "metadata.name", "", "name or generateName is required"});
    return;
  }
  if (HasPathName(resource)) {
    if (name == "." || name == "..") {
      errors.push_back({FieldErrorType::kInvalid, "metadata.name", base::QuoteGo(name),
                        fmt::format("may not be '{}'", name)});
    }
    return;
  }
  for (const std::string& problem : api::SubdomainProblems(name)) {
    errors.push_back({FieldErrorType::kInvalid, "metadata.name", base::QuoteGo(name), problem});
  }
}

void CheckLabels(const json::object& document, FieldErrorList& errors) {
  const json::object* labels = FindObject(document, {"metadata", "labels"});
  if (labels == nullptr) return;
  for (const json::key_value_pair& label : *labels) {
    const std::string_view key(label.key().data(), label.key().size());
    for (const std::string& problem : api::LabelKeyProblems(key)) {
      errors.push_back({FieldErrorType::kInvalid, "metadata.labels", base::QuoteGo(key), problem});
    }
    const json::string* value = label.value().if_string();
    if (value == nullptr) continue;
    for (const std::string& problem : api::LabelValueProblems(ViewOf(*value))) {
      errors.push_back({FieldErrorType::kInvalid, "metadata.labels", base::QuoteGo(ViewOf(*value)), problem});
    }
  }
}

bool IsPod(const Resource& resource) { return resource.group.empty() && resource.kind == "Pod"; }

bool HasGate(const json::object& pod, std::string_view name) {
  const json::array* gates = FindArray(pod, {"spec", "schedulingGates"});
  return gates != nullptr && std::ranges::any_of(*gates, [&](const json::value& gate) {
           return gate.is_object() && TextAt(gate.get_object(), {"name"}) == name;
         });
}

void CheckNewPod(const json::object& pod, FieldErrorList& errors) {
  const json::array* gates = FindArray(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty() && !TextAt(pod, {"spec", "nodeName"}).empty()) {
    errors.push_back({FieldErrorType::kForbidden, "spec.nodeName", "",
                      "cannot be set until all schedulingGates have been cleared"});
  }
}

// Gates hold a pod back until whoever set them lets go: none may be added later.
void CheckGatesOnlyGo(const json::object& pod, const json::object& old, FieldErrorList& errors) {
  const json::array* gates = FindArray(pod, {"spec", "schedulingGates"});
  if (gates == nullptr) return;
  for (std::size_t i = 0; i < gates->size(); ++i) {
    if (!(*gates)[i].is_object()) continue;
    const std::string_view name = TextAt((*gates)[i].get_object(), {"name"});
    if (HasGate(old, name)) continue;
    errors.push_back({FieldErrorType::kForbidden, fmt::format("spec.schedulingGates[{}]", i), "",
                      fmt::format("only deletion is allowed, but found new scheduling gate '{}'", name)});
  }
}

void CheckNomination(const json::object& pod, const json::object& old, FieldErrorList& errors) {
  const std::string_view nominated = TextAt(pod, {"status", "nominatedNodeName"});
  const bool is_new = !nominated.empty() && nominated != TextAt(old, {"status", "nominatedNodeName"});
  if (is_new && !TextAt(pod, {"spec", "nodeName"}).empty()) {
    errors.push_back({FieldErrorType::kForbidden, "status.nominatedNodeName", "",
                      "may not be set on pods that are already bound to a node"});
  }
}

}  // namespace

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
  CheckName(resource, document, errors);
  CheckLabels(document, errors);
  if (IsPod(resource)) CheckNewPod(document, errors);
  return errors;
}

FieldErrorList ValidateUpdate(const Resource& resource, const json::object& document,
                              const json::object& old) {
  FieldErrorList errors;
  CheckLabels(document, errors);
  if (IsPod(resource)) CheckGatesOnlyGo(document, old, errors);
  return errors;
}

FieldErrorList ValidateStatusUpdate(const Resource& resource, const json::object& document,
                                    const json::object& old) {
  FieldErrorList errors;
  CheckLabels(document, errors);
  if (IsPod(resource)) CheckNomination(document, old, errors);
  return errors;
}

}  // namespace berth::sandbox
