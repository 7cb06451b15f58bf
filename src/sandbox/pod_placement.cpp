#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/validation.h"
#include "sandbox/admission_topology.h"
#include "sandbox/document.h"
#include "sandbox/label_query.h"
#include "sandbox/object_writer.h"

// Where pods go and how they are asked to leave: the binding and eviction subresources.
namespace berth::sandbox {
namespace {

namespace json = boost::json;

// Upstream's error is no Status error there, so that it has neither reason nor details.
StatusError BadBinding(std::string message) {
  StatusError error;
  error.message = std::move(message);
  return error;
}

ApiResult<void> CheckBinding(const Target& target, const json::object& binding) {
  if (const std::string_view name = TextAt(binding, {"metadata", "name"});
      !name.empty() && name != target.name) {
    return Refuse(BadRequest("name in URL does not match name in Binding object"));
  }
  const std::string_view kind = TextAt(binding, {"target", "kind"});
  if (!kind.empty() && kind != "Node") {
    return Refuse(BadBinding(fmt::format(
        "target.kind: Unsupported value: \"{}\": supported values: \"Node\", \"<empty>\"", kind)));
  }
  const std::string_view node = TextAt(binding, {"target", "name"});
  if (node.empty()) return Refuse(BadBinding("target.name: Required value"));
  const std::vector<std::string> problems = api::SubdomainProblems(node);
  if (!problems.empty()) {
    return Refuse(BadBinding(fmt::format("target.name: Invalid value: \"{}\": {}", node, problems.front())));
  }
  return {};
}

ApiResult<void> CheckPlaceable(const Target& target, const Revision& current, const json::object& pod,
                               const json::object& binding) {
  const std::string_view uid = TextAt(binding, {"metadata", "uid"});
  const std::string_view version = TextAt(binding, {"metadata", "resourceVersion"});
  if (!uid.empty() && uid != current.uid()) {
    return Refuse(Conflict(*target.resource, "", target.name,
                           fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                                       uid, current.uid())));
  }
  if (!version.empty() && ParseVersion(version) != current.version()) {
    return Refuse(ModifiedMeanwhile(*target.resource, target.name));
  }
  const auto refuse = [&](std::string why) {
    return Refuse(Conflict(*target.resource, "binding", target.name, why));
  };
  if (FindValue(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    return refuse(fmt::format("pod {} is being deleted, cannot be assigned to a host", target.name));
  }
  if (const std::string_view node = TextAt(pod, {"spec", "nodeName"}); !node.empty()) {
    return refuse(fmt::format("pod {} is already assigned to node \"{}\"", target.name, node));
  }
  const json::array* gates = FindArray(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty()) {
    return refuse(fmt::format("pod {} has non-empty .spec.schedulingGates", target.name));
  }
  return {};
}

void CopyInto(json::object& pod, std::string_view what, const json::object& binding) {
  const json::object* given = FindObject(binding, {"metadata", what});
  if (given == nullptr || given->empty()) return;
  json::object& into = ObjectAt(pod, {"metadata", what});
  for (const json::key_value_pair& entry : *given) into[entry.key()] = entry.value();
}

void MarkScheduled(json::object& pod, const std::string& now) {
  json::array& conditions = ArrayAt(pod, {"status", "conditions"});
  json::object condition;
  condition["type"] = "PodScheduled";
  condition["status"] = "True";
  condition["lastProbeTime"] = nullptr;
  condition["lastTransitionTime"] = now;
  for (json::value& entry : conditions) {
    if (entry.is_object() && TextAt(entry.get_object(), {"type"}) == "PodScheduled") {
      entry = std::move(condition);
      return;
    }
  }
  conditions.push_back(std::move(condition));
}

bool Protects(const Revision& budget, const Revision& pod) {
  const json::object document = budget.Document();
  const base::Result<api::Selector> selector = SelectorFrom(FindObject(document, {"spec", "selector"}));
  return selector && selector->Matches(pod.labels());
}

}  // namespace

ApiResult<void> ObjectWriter::Bind(const Target& target, const json::object& binding, bool dry_run) {
  const ApiResult<void> readable = CheckBinding(target, binding);
  if (!readable) return readable;
  const ApiResult<RevisionPtr> found = Get(target);
  if (!found) return Refuse(found.error());
  json::object pod = (*found)->Document();
  const ApiResult<void> placeable = CheckPlaceable(target, **found, pod, binding);
  if (!placeable) return placeable;

  const std::string_view node_name = TextAt(binding, {"target", "name"});
  ObjectAt(pod, {"spec"})["nodeName"] = node_name;
  ObjectAt(pod, {"status"}).erase("nominatedNodeName");
  if (TextAt(binding, {"target", "kind"}) == "Node") CopyTopologyLabels(pod, context());
  CopyInto(pod, "labels", binding);
  CopyInto(pod, "annotations", binding);
  MarkScheduled(pod, TimeText());
  if (dry_run) return {};
  const base::Result<RevisionPtr> bound = store_.Replace(*found, pod);
  if (!bound) return Refuse(InternalError(bound.error().message));
  return {};
}

ApiResult<Removal> ObjectWriter::Evict(const Target& target, const DeleteWish& wish) {
  const ApiResult<RevisionPtr> found = Get(target);
  if (!found) return Refuse(found.error());
  const json::object pod = (*found)->Document();
  const std::string_view phase = TextAt(pod, {"status", "phase"});
  // A pod that does not run takes nothing from the service that the budget protects.
  if (phase == "Succeeded" || phase == "Failed" || phase == "Pending") return Delete(target, wish);

  static const Resource& budgets = ResourceOf("policy/v1", "PodDisruptionBudget");
  std::vector<RevisionPtr> protecting;
  ForEach(budgets, [&](const RevisionPtr& budget) {
    if (budget->namespace_name() == target.namespace_name && Protects(*budget, **found)) {
      protecting.push_back(budget);
    }
  });
  if (protecting.size() > 1) {
    return Refuse(InternalError(
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."));
  }
  if (protecting.empty()) return Delete(target, wish);
  const RevisionPtr& budget = protecting.front();
  json::object document = budget->Document();
  const std::int64_t allowed = NumberAt(document, {"status", "disruptionsAllowed"});
  if (allowed <= 0) {
    StatusError error =
        TooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0);
    error.causes.push_back(
        {"DisruptionBudget",
         fmt::format("The disruption budget {} does not allow evicting pods currently", budget->name()), ""});
    return Refuse(std::move(error));
  }
  if (!wish.dry_run) {
    ObjectAt(document, {"status"})["disruptionsAllowed"] = allowed - 1;
    ObjectAt(document, {"status", "disruptedPods"})[target.name] = TimeText();
    const base::Result<RevisionPtr> counted = store_.Replace(budget, document);
    if (!counted) return Refuse(InternalError(counted.error().message));
  }
  return Delete(target, wish);
}

}  // namespace berth::sandbox
