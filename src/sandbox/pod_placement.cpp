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
    // The error of the storage comes through as it is.
    return Refuse(Conflict(
        *target.resource, "", target.name,
        fmt::format(
            "StorageError: invalid object, Code: 4, Key: /registry/pods/{}, ResourceVersion: 0, "
            "AdditionalErrorMsg: Precondition failed: UID in precondition: {}, UID in object meta: {}",
            current.key(), uid, current.uid())));
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

StatusError BudgetForbids(const Revision& budget, std::string_view why, std::string_view explained) {
  StatusError error = Forbidden(budget.resource(), budget.name(), why);
  // Upstream names the kind here, and not the resource.
  error.kind = "poddisruptionbudget";
  error.message = fmt::format("poddisruptionbudget.policy \"{}\" is forbidden: {}", budget.name(), why);
  error.causes.push_back({"DisruptionBudget",
                          fmt::format("The disruption budget {} does not allow evicting pods currently: {}",
                                      budget.name(), explained),
                          ""});
  return error;
}

StatusError BudgetUsedUp(std::string message, int retry_after_seconds) {
  StatusError error = TooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.",
                                      retry_after_seconds);
  error.causes.push_back({"DisruptionBudget", std::move(message), ""});
  return error;
}

// Why a budget has nothing left, as far as its status tells.
std::string WhyUsedUp(const Revision& budget, const json::object& document) {
  const std::int64_t needs = NumberAt(document, {"status", "desiredHealthy"});
  const std::int64_t has = NumberAt(document, {"status", "currentHealthy"});
  const std::string plain =
      fmt::format("The disruption budget {} does not allow evicting pods currently", budget.name());
  std::string_view reason;
  std::string_view message;
  if (const json::array* conditions = FindArray(document, {"status", "conditions"})) {
    for (const json::value& entry : *conditions) {
      const json::object* condition = entry.if_object();
      if (condition == nullptr || TextAt(*condition, {"type"}) != "DisruptionAllowed") continue;
      if (TextAt(*condition, {"status"}) != "False") continue;
      reason = TextAt(*condition, {"reason"});
      message = TextAt(*condition, {"message"});
    }
  }
  if (reason == "SyncFailed" && !message.empty()) {
    return fmt::format("{} because it failed sync: {}", plain, message);
  }
  if (has <= needs) {
    return fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", budget.name(),
                       needs, has);
  }
  return message.empty() ? plain : fmt::format("{} ({}): {}", plain, reason, message);
}

ApiResult<void> CheckBudgetAllows(const Revision& budget, const json::object& document) {
  constexpr int kRetrySeconds = 10;
  constexpr std::size_t kDisruptedMax = 2000;
  if (NumberAt(document, {"status", "observedGeneration"}) < NumberAt(document, {"metadata", "generation"})) {
    return Refuse(BudgetUsedUp(
        fmt::format("The disruption budget {} is still being processed by the server.", budget.name()),
        kRetrySeconds));
  }
  const std::int64_t allowed = NumberAt(document, {"status", "disruptionsAllowed"});
  if (allowed < 0) {
    constexpr std::string_view kNegative = "pdb disruptions allowed is negative";
    return Refuse(BudgetForbids(budget, kNegative, kNegative));
  }
  const json::object* disrupted = FindObject(document, {"status", "disruptedPods"});
  if (disrupted != nullptr && disrupted->size() > kDisruptedMax) {
    return Refuse(BudgetForbids(
        budget, "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        "too many pending evictions not confirmed by PDB controller"));
  }
  if (allowed == 0) return Refuse(BudgetUsedUp(WhyUsedUp(budget, document), 0));
  return {};
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
  const ApiResult<void> allows = CheckBudgetAllows(*budget, document);
  if (!allows) return Refuse(allows.error());
  if (!wish.dry_run) {
    ObjectAt(document, {"status"})["disruptionsAllowed"] =
        NumberAt(document, {"status", "disruptionsAllowed"}) - 1;
    ObjectAt(document, {"status", "disruptedPods"})[target.name] = TimeText();
    const base::Result<RevisionPtr> counted = store_.Replace(budget, document);
    if (!counted) return Refuse(InternalError(counted.error().message));
  }
  return Delete(target, wish);
}

}  // namespace berth::sandbox
