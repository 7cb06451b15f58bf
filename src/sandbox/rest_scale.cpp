#include <algorithm>
#include <boost/json.hpp>

#include "sandbox/api_server.h"
#include "sandbox/body.h"
#include "sandbox/document.h"
#include "sandbox/label_query.h"
#include "sandbox/text_parts.h"
#include "sandbox/validation.h"

// The scale subresource: the number of replicas of a workload, under the kind autoscaling/v1 Scale.
namespace berth::sandbox {
namespace {

namespace json = boost::json;

std::string SelectorText(const Resource& resource, const json::object& workload) {
  if (resource.kind == "ReplicationController") {
    std::vector<std::string> pairs;
    if (const json::object* selector = FindObject(workload, {"spec", "selector"})) {
      for (const json::key_value_pair& pair : *selector) {
        if (pair.value().is_string()) {
          pairs.push_back(std::string(pair.key()) + "=" + std::string(ViewOf(pair.value().get_string())));
        }
      }
    }
    std::ranges::sort(pairs);
    return JoinText(pairs, ",");
  }
  const base::Result<api::Selector> selector = SelectorFrom(FindObject(workload, {"spec", "selector"}));
  return selector ? selector->ToString() : "";
}

json::object ScaleOf(const Resource& resource, const json::object& workload) {
  json::object scale;
  scale["kind"] = "Scale";
  scale["apiVersion"] = "autoscaling/v1";
  json::object metadata;
  for (const std::string_view key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const json::value* value = FindValue(workload, {"metadata", key})) metadata[key] = *value;
  }
  scale["metadata"] = std::move(metadata);
  scale["spec"] = json::object({{"replicas", NumberAt(workload, {"spec", "replicas"})}});
  json::object status;
  status["replicas"] = NumberAt(workload, {"status", "replicas"});
  status["selector"] = SelectorText(resource, workload);
  scale["status"] = std::move(status);
  return scale;
}

// A workload with the replicas and the version that a changed Scale asks for.
ApiResult<json::object> WithScale(const json::object& workload, const json::object& scale) {
  const std::int64_t replicas = NumberAt(scale, {"spec", "replicas"});
  if (replicas < 0) {
    const FieldError error{FieldErrorType::kInvalid, "spec.replicas", std::to_string(replicas),
                           "must be greater than or equal to 0"};
    return Refuse(Invalid("autoscaling", "Scale", TextAt(scale, {"metadata", "name"}), {&error, 1}));
  }
  json::object changed = workload;
  ObjectAt(changed, {"spec"})["replicas"] = replicas;
  const std::string_view version = TextAt(scale, {"metadata", "resourceVersion"});
  if (!version.empty()) ObjectAt(changed, {"metadata"})["resourceVersion"] = version;
  return changed;
}

}  // namespace

ApiResult<Answer> ApiServer::Scale(Call& call) {
  const Resource& resource = *call.route.target.resource;
  const ApiResult<bool> dry_run = DryRunOf(call.route);
  if (!dry_run) return Refuse(dry_run.error());
  Target target = call.route.target;
  target.subresource.clear();
  target.manager = ManagerOf(call.request, call.route);
  ApiResult<RevisionPtr> result = Refuse(MethodNotSupported(resource, "scale"));
  if (call.route.verb == Verb::kGet) {
    result = writer_.Get(target);
  } else if (call.route.verb == Verb::kUpdate) {
    const ApiResult<json::object> scale =
        DecodeBody(call.request, {"autoscaling/v1", "Scale"}, FieldValidation::kIgnore, call.warnings);
    if (!scale) return Refuse(scale.error());
    result = writer_.Change(
        target, [&](const json::object& current) { return WithScale(current, *scale); }, *dry_run);
  } else if (call.route.verb == Verb::kPatch) {
    const std::string* type_header = call.request.headers.Find("Content-Type");
    const std::optional<PatchType> type =
        type_header != nullptr ? PatchTypeOf(BareType(*type_header)) : std::nullopt;
    if (!type) return Refuse(UnsupportedPatchType());
    // A Scale holds no lists, so that a strategic patch of it is a merge patch.
    const PatchRequest patch{.type = *type == PatchType::kJson ? PatchType::kJson : PatchType::kMerge,
                             .body = call.request.body};
    result = writer_.Change(
        target,
        [&](const json::object& current) -> ApiResult<json::object> {
          const ApiResult<json::object> scale = ApplyPatch(resource, patch, ScaleOf(resource, current));
          if (!scale) return Refuse(scale.error());
          return WithScale(current, *scale);
        },
        *dry_run);
  }
  if (!result) return Refuse(result.error());
  return DocumentAnswer(200, ScaleOf(resource, (*result)->Document()), call.form.media);
}

}  // namespace berth::sandbox
