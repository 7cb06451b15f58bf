#include "sandbox/patch.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/document.h"
#include "sandbox/managed_fields.h"
#include "sandbox/patch_json.h"
#include "sandbox/patch_strategic.h"
#include "sandbox/typed_config.h"
#include "sandbox/validation.h"
#include "wire/json_document.h"
#include "wire/yaml.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// RFC 7386.
void MergePatch(json::value& target, const json::value& patch) {
  const json::object* changes = patch.if_object();
  if (changes == nullptr) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  json::object& object = target.get_object();
  for (const json::key_value_pair& change : *changes) {
    if (change.value().is_null()) {
      object.erase(change.key());
    } else {
      MergePatch(object[change.key()], change.value());
    }
  }
}

ApiResult<json::object> AsObject(json::value value) {
  if (!value.is_object()) return Refuse(BadRequest("the patch leaves no object"));
  return std::move(value.get_object());
}

std::string_view JsonKindName(const json::value& value) {
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  return value.is_bool() ? "bool" : "number";
}

// As Go prints a GroupVersionKind: "apps/v1, Kind=Deployment", "/v1, Kind=Pod".
std::string KindText(std::string_view api_version, std::string_view kind) {
  return fmt::format("{}{}, Kind={}", api_version.find('/') == std::string_view::npos ? "/" : "", api_version,
                     kind);
}

ApiResult<json::object> Apply(const Resource& served, const PatchRequest& request,
                              const json::object& current) {
  static const json::object kNothing;
  if (request.field_manager.empty()) {
    const FieldError error{FieldErrorType::kRequired, "fieldManager", "", "is required for apply patch"};
    return Refuse(Invalid("meta.k8s.io", "PatchOptions", "", {&error, 1}));
  }
  const base::Result<std::string> text = wire::YamlToJson(request.body);
  if (!text) {
    return Refuse(BadRequest(
        fmt::format("error decoding patch: error converting YAML to JSON: {}", text.error().message)));
  }
  const base::Result<json::value> config = wire::ParseJson(*text);
  if (!config) return Refuse(BadRequest("error decoding patch: " + config.error().message));
  if (!config->is_object() && !config->is_null()) {
    return Refuse(BadRequest(
        fmt::format("error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot "
                    "unmarshal {} into Go value of type map[string]interface {{}}",
                    JsonKindName(*config))));
  }
  const json::object& object = config->is_object() ? config->get_object() : kNothing;
  const std::string kind = KindText(TextAt(object, {"apiVersion"}), TextAt(object, {"kind"}));
  if (kind != KindText(served.api_version, served.kind)) {
    return Refuse(BadRequest("invalid object type: " + kind));
  }
  if (FindArray(object, {"metadata", "managedFields"}) != nullptr) {
    return Refuse(BadRequest("metadata.managedFields must be nil"));
  }
  if (const std::string problem = TypedProblem(*served.message, object); !problem.empty()) {
    return Refuse({.code = 500,
                   .message = fmt::format("failed to create typed patch object ({}/{}; {}): {}",
                                          TextAt(object, {"metadata", "namespace"}),
                                          TextAt(object, {"metadata", "name"}), kind, problem)});
  }
  const ManagedWrite write{
      .manager = request.field_manager, .subresource = request.subresource, .now = request.now};
  return ApplyConfiguration(served, current, object, write, request.force);
}

}  // namespace

std::optional<PatchType> PatchTypeOf(std::string_view bare_content_type) {
  if (bare_content_type == "application/json-patch+json") return PatchType::kJson;
  if (bare_content_type == "application/merge-patch+json") return PatchType::kMerge;
  if (bare_content_type == "application/strategic-merge-patch+json") return PatchType::kStrategic;
  if (bare_content_type == "application/apply-patch+yaml") return PatchType::kApply;
  return std::nullopt;
}

ApiResult<json::object> ApplyPatch(const Resource& served, const PatchRequest& request,
                                   const json::object& current) {
  if (request.type == PatchType::kApply) return Apply(served, request, current);
  const base::Result<json::value> patch = wire::ParseJson(request.body);
  if (!patch) {
    return Refuse(
        BadRequest(request.type == PatchType::kMerge ? "invalid JSON patch" : patch.error().message));
  }
  if (request.type == PatchType::kJson) {
    json::value document = current;
    const ApiResult<void> patched = ApplyJsonPatch(document, *patch);
    if (!patched) return Refuse(patched.error());
    return AsObject(std::move(document));
  }
  if (!patch->is_object()) return Refuse(BadRequest("the patch is no JSON object"));
  if (request.type == PatchType::kMerge) {
    json::value document = current;
    MergePatch(document, *patch);
    return AsObject(std::move(document));
  }
  json::object document = current;
  const ApiResult<void> merged = StrategicMerge(*served.message, document, patch->get_object());
  if (!merged) return Refuse(merged.error());
  return document;
}

}  // namespace berth::sandbox
