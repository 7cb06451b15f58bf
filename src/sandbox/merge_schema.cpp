#include "sandbox/merge_schema.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <span>

#include "sandbox/document.h"
#include "wire/json_document.h"
#include "wire/schema.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// Messages that are owned whole: references and selectors make sense only as one.
constexpr std::string_view kAtomicMessages[] = {
    "meta.v1.LabelSelector",        "meta.v1.OwnerReference",
    "core.v1.NodeSelector",         "core.v1.NodeSelectorTerm",
    "core.v1.ObjectReference",      "core.v1.LocalObjectReference",
    "core.v1.SecretKeySelector",    "core.v1.ConfigMapKeySelector",
    "core.v1.ObjectFieldSelector",  "core.v1.ResourceFieldSelector",
    "core.v1.SecretReference",      "core.v1.TypedLocalObjectReference",
    "core.v1.TopologySelectorTerm", "core.v1.ScopeSelector",
    "core.v1.FileKeySelector",      "rbac.v1.RoleRef",
};

struct FieldName {
  std::string_view message;
  std::string_view key;
};
constexpr FieldName kAtomicFields[] = {
    {"core.v1.PodSpec", "nodeSelector"},
    {"core.v1.ServiceSpec", "selector"},
    {"core.v1.ReplicationControllerSpec", "selector"},
    {"core.v1.PodStatus", "hostIPs"},
    {"batch.v1.JobStatus", "conditions"},
};

// Lists of scalars, each of which is there once.
constexpr FieldName kSets[] = {
    {"batch.v1.PodFailurePolicyOnExitCodesRequirement", "values"},
    {"batch.v1.UncountedTerminatedPods", "succeeded"},
    {"batch.v1.UncountedTerminatedPods", "failed"},
    {"core.v1.ContainerRestartRuleOnExitCodes", "values"},
    {"core.v1.NodeAllocatableResourceClaimStatus", "containers"},
    {"core.v1.NodePodPreemptionPolicy", "disableResizePreemption"},
    {"core.v1.VolumeMount", "bindMountOptions"},
    {"discovery.v1.Endpoint", "addresses"},
    {"resource.v1.DeviceRequestAllocationResult", "skipNodeOperations"},
    {"resource.v1.ResourceSliceSpec", "skipNodeOperations"},
    {"storage.v1.CSIDriverSpec", "volumeLifecycleModes"},
};

// Lists whose entries have other keys than a strategic patch looks at.
struct ListKeys {
  std::string_view message;
  std::string_view key;
  std::array<std::string_view, 4> keys;
};
constexpr ListKeys kKeyedLists[] = {
    {"core.v1.Container", "ports", {"containerPort", "protocol"}},
    {"core.v1.EphemeralContainer", "ports", {"containerPort", "protocol"}},
    {"core.v1.ServiceSpec", "ports", {"port", "protocol"}},
    {"core.v1.PodSpec", "topologySpreadConstraints", {"topologyKey", "whenUnsatisfiable"}},
    {"core.v1.PodStatus", "volumeHealth", {"name"}},
    {"core.v1.PodVolumeHealth", "healthConditions", {"status", "reason"}},
    {"core.v1.VolumeHealthStatus", "healthConditions", {"status", "reason"}},
    {"core.v1.ResourceRequirements", "claims", {"name"}},
    {"core.v1.ResourceStatus", "resources", {"resourceID"}},
    {"resource.v1.AllocatedDeviceStatus", "conditions", {"type"}},
    {"resource.v1.ResourceClaimStatus", "devices", {"driver", "device", "pool", "shareID"}},
    {"scheduling.v1beta1.CompositePodGroupTemplate", "podGroupTemplates", {"name"}},
    {"scheduling.v1beta1.CompositePodGroupTemplate", "compositePodGroupTemplates", {"name"}},
    {"scheduling.v1beta1.WorkloadSpec", "podGroupTemplates", {"name"}},
    {"scheduling.v1beta1.WorkloadSpec", "compositePodGroupTemplates", {"name"}},
};

bool IsAmong(std::span<const FieldName> fields, const wire::Message& message, std::string_view json_key) {
  return std::ranges::any_of(
      fields, [&](const FieldName& field) { return field.message == message.name && field.key == json_key; });
}

bool IsAtomicMessage(const wire::Message* message) {
  return message == nullptr || message->form != wire::SpecialForm::kNone ||
         std::ranges::find(kAtomicMessages, message->name) != std::end(kAtomicMessages);
}

MergeRule ListRule(const wire::Message& message, std::string_view json_key, const wire::Field& field) {
  for (const ListKeys& list : kKeyedLists) {
    if (list.message != message.name || list.key != json_key) continue;
    MergeRule rule{MergeKind::kListMap, field.message};
    for (const std::string_view key : list.keys) {
      if (!key.empty()) rule.keys.push_back(key);
    }
    return rule;
  }
  if (IsAmong(kSets, message, json_key)) return {.kind = MergeKind::kListSet};
  if (!field.patch.merge) return {};
  if (field.patch.merge_key.empty()) return {.kind = MergeKind::kListSet};
  return {MergeKind::kListMap, field.message, {field.patch.merge_key}};
}

// What the schema has for a key that an entry leaves out. It has the zero of every field that Go always
// writes.
std::optional<json::value> KeyDefault(const wire::Message& message, std::string_view key) {
  if (key == "protocol") return "TCP";
  if (message.name == "core.v1.LocalObjectReference") return "";
  const wire::Message::JsonKey* known = message.ByJsonKey(key);
  if (known == nullptr || known->field->omit_empty || known->field->shape != wire::Shape::kValue) {
    return std::nullopt;
  }
  return known->field->kind == wire::ValueKind::kString ? json::value("") : json::value(0);
}

}  // namespace

MergeRule RuleOf(const wire::Message& message, std::string_view json_key) {
  const wire::Message::JsonKey* found = message.ByJsonKey(json_key);
  if (found == nullptr) return {};
  const wire::Field& field = *found->field;
  if (IsAmong(kAtomicFields, message, json_key)) return {};
  switch (field.shape) {
    case wire::Shape::kList:
      return ListRule(message, json_key, field);
    case wire::Shape::kMap:
      return {.kind = MergeKind::kMap};
    case wire::Shape::kValue:
    case wire::Shape::kPointer:
      break;
  }
  if (field.kind != wire::ValueKind::kMessage || IsAtomicMessage(field.message)) return {};
  return {.kind = MergeKind::kStruct, .message = field.message};
}

std::optional<std::string> EntryElement(const MergeRule& rule, const json::value& entry) {
  if (rule.kind == MergeKind::kListSet) return "v:" + wire::WriteJson(entry, wire::JsonEscapes::kPlain);
  const json::object* object = entry.if_object();
  if (object == nullptr) return std::nullopt;
  json::object keys;
  std::vector<std::string_view> names = rule.keys;
  std::ranges::sort(names);
  for (const std::string_view name : names) {
    const json::value* value = object->if_contains(name);
    if (value != nullptr && !value->is_null()) {
      keys[name] = *value;
    } else if (std::optional<json::value> missing = KeyDefault(*rule.message, name)) {
      keys[name] = std::move(*missing);
    }
  }
  if (keys.empty()) return std::nullopt;
  return "k:" + wire::WriteJson(keys, wire::JsonEscapes::kPlain);
}

}  // namespace berth::sandbox
