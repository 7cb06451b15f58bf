#include "client/pod_status_patch.h"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "client/json_object.h"

namespace berth::client {
namespace {

std::string TimeJson(api::Time time) { return time.IsZero() ? "null" : "\"" + api::FormatTime(time) + "\""; }

// Every key of a condition that the list did not have yet.
std::string NewCondition(const api::PodCondition& condition) {
  JsonObject out;
  out.Raw("lastProbeTime", TimeJson(condition.last_probe_time));
  out.Raw("lastTransitionTime", TimeJson(condition.last_transition_time));
  if (!condition.message.empty()) out.Text("message", condition.message);
  if (condition.observed_generation != 0) {
    out.Raw("observedGeneration", std::to_string(condition.observed_generation));
  }
  if (!condition.reason.empty()) out.Text("reason", condition.reason);
  out.Text("status", condition.status);
  out.Text("type", condition.type);
  return out.Finish();
}

// The keys that differ, and the one that the list is merged by.
std::string ChangedCondition(const api::PodCondition& old, const api::PodCondition& wanted) {
  JsonObject out;
  const auto text = [&](std::string_view key, const std::string& from, const std::string& to) {
    if (from == to) return;
    if (to.empty()) {
      out.Raw(key, "null");
    } else {
      out.Text(key, to);
    }
  };
  if (old.last_probe_time != wanted.last_probe_time)
    out.Raw("lastProbeTime", TimeJson(wanted.last_probe_time));
  if (old.last_transition_time != wanted.last_transition_time) {
    out.Raw("lastTransitionTime", TimeJson(wanted.last_transition_time));
  }
  text("message", old.message, wanted.message);
  if (old.observed_generation != wanted.observed_generation) {
    out.Raw("observedGeneration",
            wanted.observed_generation == 0 ? "null" : std::to_string(wanted.observed_generation));
  }
  text("reason", old.reason, wanted.reason);
  text("status", old.status, wanted.status);
  out.Text("type", wanted.type);
  return out.Finish();
}

std::string TypeElement(std::string_view type) {
  JsonObject element;
  element.Text("type", type);
  return element.Finish();
}

// The list of conditions as it is changed: elements of the patch, and the types of the result in their order.
struct ConditionsPatch {
  std::map<std::string, std::string, std::less<>> elements;  // by type
  std::vector<std::string> order;
  bool had_any = false;

  // As the order has them; types that are removed come last.
  std::string Elements() const {
    JsonArray sorted;
    for (const std::string& type : order) {
      if (const auto element = elements.find(type); element != elements.end()) sorted.Raw(element->second);
    }
    for (const auto& [type, element] : elements) {
      if (std::ranges::find(order, type) == order.end()) sorted.Raw(element);
    }
    return sorted.Finish();
  }
  std::string Order() const {
    JsonArray types;
    for (const std::string& type : order) types.Raw(TypeElement(type));
    return types.Finish();
  }
};

ConditionsPatch PatchConditions(const api::PodRecord& known, const api::PodStatusChange& change,
                                api::Time now) {
  ConditionsPatch patch;
  if (known.condition_types) {
    patch.had_any = true;
    patch.order = *known.condition_types;
  }
  for (api::PodCondition wanted : change.conditions) {
    const auto old = std::ranges::find(known.conditions(), wanted.type, &api::PodCondition::type);
    if (old == known.conditions().end()) {
      wanted.last_transition_time = now;
      patch.elements[wanted.type] = NewCondition(wanted);
      patch.order.push_back(wanted.type);
    } else if (!api::SaysTheSame(*old, wanted)) {
      wanted.last_transition_time = old->status == wanted.status ? old->last_transition_time : now;
      patch.elements[wanted.type] = ChangedCondition(*old, wanted);
    }
  }
  return patch;
}

// True if there is something to remove.
bool RemoveNotReady(const api::PodRecord& known, ConditionsPatch& patch) {
  if (std::ranges::none_of(known.conditions(), api::IsNotReadyForScheduling)) return false;
  JsonObject element;
  element.Text("$patch", "delete");
  element.Text("type", api::kPodScheduled);
  patch.elements[api::kPodScheduled] = element.Finish();
  std::erase(patch.order, api::kPodScheduled);
  return true;
}

}  // namespace

std::string PodStatusPatch(const api::PodRecord& known, const api::PodStatusChange& change, api::Time now,
                           std::optional<std::string_view> nomination) {
  JsonObject status;
  ConditionsPatch conditions = PatchConditions(known, change, now);
  const bool sets_conditions = !conditions.elements.empty();
  const bool removes = change.remove_not_ready && RemoveNotReady(known, conditions);
  if (sets_conditions && conditions.had_any) {
    status.Raw("$setElementOrder/conditions", conditions.Order());
  }
  if (!conditions.elements.empty()) status.Raw("conditions", conditions.Elements());
  if (change.nominated_node_name &&
      *change.nominated_node_name != nomination.value_or(known.nominated_node_name)) {
    if (change.nominated_node_name->empty()) {
      status.Raw("nominatedNodeName", "null");
    } else {
      status.Text("nominatedNodeName", *change.nominated_node_name);
    }
  }
  if (status.empty()) return "";
  JsonObject patch;
  if (removes && !known.resource_version.empty()) {
    JsonObject metadata;
    metadata.Text("resourceVersion", known.resource_version);
    patch.Raw("metadata", metadata.Finish());
  }
  patch.Raw("status", status.Finish());
  return patch.Finish();
}

std::string ExtendedResourceClaimPatch(std::string_view pod_uid,
                                       const api::PodExtendedResourceClaimStatus& status) {
  JsonArray mappings;
  for (const api::ContainerExtendedResourceRequest& mapping : status.request_mappings) {
    JsonObject entry;
    entry.Text("containerName", mapping.container_name);
    entry.Text("requestName", mapping.request_name);
    entry.Text("resourceName", mapping.resource_name);
    mappings.Raw(entry.Finish());
  }
  JsonObject claim;
  claim.Raw("requestMappings", mappings.Finish());
  claim.Text("resourceClaimName", status.resource_claim_name);
  JsonObject of_status;
  of_status.Raw("extendedResourceClaimStatus", claim.Finish());
  JsonObject metadata;
  metadata.Text("uid", pod_uid);
  JsonObject patch;
  patch.Raw("metadata", metadata.Finish());
  patch.Raw("status", of_status.Finish());
  return patch.Finish();
}

}  // namespace berth::client
