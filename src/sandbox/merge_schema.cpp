#include "sandbox/merge_schema.h"

#include <algorithm>
#include <boost/json.hpp>

#include "sandbox/document.h"
#include "wire/schema.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// Messages that are owned whole: references and selectors make sense only as one.
constexpr std::string_view kAtomicMessages[] = {
    "meta.v1.LabelSelector",         "meta.v1.OwnerReference",       "core.v1.NodeSelector",
    "core.v1.NodeSelectorTerm",      "core.v1.ObjectReference",      "core.v1.LocalObjectReference",
    "core.v1.SecretKeySelector",     "core.v1.ConfigMapKeySelector", "core.v1.ObjectFieldSelector",
    "core.v1.ResourceFieldSelector", "core.v1.SecretReference",      "core.v1.TypedLocalObjectReference",
    "core.v1.TopologySelectorTerm",  "core.v1.ScopeSelector",        "core.v1.TypedObjectReference",
};

struct AtomicField {
  std::string_view message;
  std::string_view key;
};
constexpr AtomicField kAtomicFields[] = {
    {"core.v1.PodSpec", "nodeSelector"},
    {"core.v1.ServiceSpec", "selector"},
    {"core.v1.ReplicationControllerSpec", "selector"},
    {"core.v1.PodStatus", "podIPs"},
    {"core.v1.PodStatus", "hostIPs"},
};

// Lists whose entries have more keys than a strategic patch looks at.
struct TwoKeys {
  std::string_view message;
  std::string_view key;
  std::string_view first;
  std::string_view second;
};
constexpr TwoKeys kTwoKeys[] = {
    {"core.v1.Container", "ports", "containerPort", "protocol"},
    {"core.v1.EphemeralContainer", "ports", "containerPort", "protocol"},
    {"core.v1.ServiceSpec", "ports", "port", "protocol"},
    {"core.v1.PodSpec", "topologySpreadConstraints", "topologyKey", "whenUnsatisfiable"},
};

bool IsAtomicMessage(const wire::Message* message) {
  return message == nullptr || message->form != wire::SpecialForm::kNone ||
         std::ranges::find(kAtomicMessages, message->name) != std::end(kAtomicMessages);
}

MergeRule ListRule(const wire::Message& message, std::string_view json_key, const wire::Field& field) {
  for (const TwoKeys& rule : kTwoKeys) {
    if (rule.message == message.name && rule.key == json_key) {
      return {MergeKind::kListMap, field.message, {rule.first, rule.second}};
    }
  }
  if (!field.patch.merge) return {};
  if (field.patch.merge_key.empty()) return {.kind = MergeKind::kListSet};
  return {MergeKind::kListMap, field.message, {field.patch.merge_key}};
}

}  // namespace

MergeRule RuleOf(const wire::Message& message, std::string_view json_key) {
  const wire::Message::JsonKey* found = message.ByJsonKey(json_key);
  if (found == nullptr) return {};
  const wire::Field& field = *found->field;
  for (const AtomicField& atomic : kAtomicFields) {
    if (atomic.message == message.name && atomic.key == json_key) return {};
  }
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
  if (rule.kind == MergeKind::kListSet) return "v:" + json::serialize(entry);
  const json::object* object = entry.if_object();
  if (object == nullptr) return std::nullopt;
  json::object keys;
  std::vector<std::string_view> names = rule.keys;
  std::ranges::sort(names);
  for (const std::string_view name : names) {
    if (const json::value* value = object->if_contains(name)) {
      keys[name] = *value;
    } else if (name == "protocol") {
      keys[name] = "TCP";  // the schema's default of a key
    } else {
      return std::nullopt;
    }
  }
  return "k:" + json::serialize(keys);
}

}  // namespace berth::sandbox
