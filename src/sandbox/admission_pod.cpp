#include "sandbox/admission_pod.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <optional>

#include "api/time.h"
#include "api/wall_time.h"
#include "sandbox/admission_topology.h"
#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// An image without tag is the latest one, which may change under the same name.
std::string_view PullPolicy(std::string_view image) {
  const std::string_view last =
      image.substr(image.rfind('/') == std::string_view::npos ? 0 : image.rfind('/'));
  if (last.find('@') != std::string_view::npos) return "IfNotPresent";
  const std::size_t colon = last.find(':');
  return colon == std::string_view::npos || last.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void DefaultRequests(json::object& container) {
  const json::object* limits = FindObject(container, {"resources", "limits"});
  if (limits == nullptr) return;
  const json::object copy = *limits;
  json::object& requests = ObjectAt(container, {"resources", "requests"});
  for (const json::key_value_pair& limit : copy) {
    if (requests.if_contains(limit.key()) == nullptr) requests[limit.key()] = limit.value();
  }
}

void DefaultContainer(json::object& container, bool host_network) {
  SetDefault(container, "resources", json::object());
  SetDefault(container, "terminationMessagePath", "/dev/termination-log");
  SetDefault(container, "terminationMessagePolicy", "File");
  SetDefault(container, "imagePullPolicy", json::string(PullPolicy(TextAt(container, {"image"}))));
  DefaultRequests(container);
  json::array* ports = FindArray(container, {"ports"});
  if (ports == nullptr) return;
  for (json::value& port : *ports) {
    json::object* object = port.if_object();
    if (object == nullptr) continue;
    SetDefault(*object, "protocol", "TCP");
    if (host_network) SetDefault(*object, "hostPort", NumberAt(*object, {"containerPort"}));
  }
}

bool ToleratesNoExecute(const json::array& tolerations, std::string_view key) {
  for (const json::value& entry : tolerations) {
    const json::object* toleration = entry.if_object();
    if (toleration == nullptr) continue;
    const std::string_view on = TextAt(*toleration, {"key"});
    const std::string_view effect = TextAt(*toleration, {"effect"});
    if ((on.empty() || on == key) && (effect.empty() || effect == "NoExecute")) return true;
  }
  return false;
}

struct Priority {
  std::string name;
  std::int64_t value = 0;
  std::string preemption = "PreemptLowerPriority";
};

Priority PriorityOf(const json::object& document) {
  Priority priority{std::string(TextAt(document, {"metadata", "name"})), NumberAt(document, {"value"}), ""};
  const std::string_view policy = TextAt(document, {"preemptionPolicy"});
  priority.preemption = policy.empty() ? "PreemptLowerPriority" : policy;
  return priority;
}

Priority DefaultPriority(const AdmissionContext& context) {
  static const Resource& classes = ResourceOf("scheduling.k8s.io/v1", "PriorityClass");
  std::optional<Priority> lowest;
  context.lookup.ForEach(classes, [&](const RevisionPtr& revision) {
    const json::object document = revision->Document();
    if (!FlagAt(document, {"globalDefault"})) return;
    Priority candidate = PriorityOf(document);
    if (!lowest || candidate.value < lowest->value) lowest = std::move(candidate);
  });
  return lowest.value_or(Priority());
}

ApiResult<void> SetPriority(json::object& pod, const AdmissionContext& context) {
  static const Resource& classes = ResourceOf("scheduling.k8s.io/v1", "PriorityClass");
  static const Resource& pods = ResourceOf("v1", "Pod");
  json::object& spec = ObjectAt(pod, {"spec"});
  const std::string_view name = TextAt(pod, {"metadata", "name"});
  const std::string wanted(TextAt(spec, {"priorityClassName"}));
  Priority priority;
  if (wanted.empty()) {
    priority = DefaultPriority(context);
  } else {
    const RevisionPtr found = context.lookup.Find(classes, "", wanted);
    if (found == nullptr) {
      return Refuse(Forbidden(pods, name, fmt::format("no PriorityClass with name {} was found", wanted)));
    }
    priority = PriorityOf(found->Document());
  }
  const std::optional<std::int64_t> preset = FindNumber(spec, {"priority"});
  if (preset && *preset != priority.value) {
    return Refuse(Forbidden(
        pods, name,
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority admission "
                    "controller computed {} from the given PriorityClass name",
                    *preset, priority.value)));
  }
  const std::string_view policy = TextAt(spec, {"preemptionPolicy"});
  if (!policy.empty() && policy != priority.preemption) {
    return Refuse(Forbidden(
        pods, name,
        fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; priority "
                    "admission controller computed {} from the given PriorityClass name",
                    policy, priority.preemption)));
  }
  if (!priority.name.empty()) spec["priorityClassName"] = priority.name;
  spec["priority"] = priority.value;
  SetDefault(spec, "preemptionPolicy", json::string(priority.preemption));
  return {};
}

bool HasResources(const json::object& container, std::string_view what) {
  const json::object* list = FindObject(container, {"resources", what});
  return list != nullptr && (list->contains("cpu") || list->contains("memory"));
}

bool IsGuaranteed(const json::object& container) {
  for (const std::string_view resource : {"cpu", "memory"}) {
    const json::value* limit = FindValue(container, {"resources", "limits", resource});
    const json::value* request = FindValue(container, {"resources", "requests", resource});
    if (limit == nullptr || request == nullptr || *limit != *request) return false;
  }
  return true;
}

void SetFirstStatus(json::object& pod, base::WallPoint now) {
  json::object status;
  status["phase"] = "Pending";
  status["qosClass"] = QosClass(pod);
  const json::array* gates = FindArray(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty()) {
    json::object condition;
    condition["type"] = "PodScheduled";
    condition["status"] = "False";
    condition["lastTransitionTime"] = api::FormatTime(api::TimeOf(now));
    condition["reason"] = "SchedulingGated";
    condition["message"] = "Scheduling is blocked due to non-empty scheduling gates";
    status["conditions"] = json::array({std::move(condition)});
  }
  pod["status"] = std::move(status);
}

}  // namespace

std::string_view QosClass(const json::object& pod) {
  bool any = false;
  bool guaranteed = true;
  for (const std::string_view list : {"containers", "initContainers"}) {
    const json::array* containers = FindArray(pod, {"spec", list});
    if (containers == nullptr) continue;
    for (const json::value& entry : *containers) {
      if (!entry.is_object()) continue;
      const json::object& container = entry.get_object();
      any = any || HasResources(container, "requests") || HasResources(container, "limits");
      guaranteed = guaranteed && IsGuaranteed(container);
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

void DefaultPod(json::object& pod) {
  json::object& spec = ObjectAt(pod, {"spec"});
  SetDefault(spec, "restartPolicy", "Always");
  SetDefault(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "schedulerName", "default-scheduler");
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  SetDefault(spec, "securityContext", json::object());
  if (json::array* volumes = FindArray(spec, {"volumes"})) {
    for (json::value& volume : *volumes) {
      // A name alone: the volume is to be an empty directory.
      if (!volume.is_object()) continue;
      json::object& source = volume.get_object();
      if (source.size() == 1) source["emptyDir"] = json::object();
      if (FindObject(source, {"hostPath"}) != nullptr) {
        SetDefault(ObjectAt(source, {"hostPath"}), "type", "");
      }
    }
  }
  const bool host_network = FlagAt(spec, {"hostNetwork"});
  for (const std::string_view list : {"containers", "initContainers"}) {
    json::array* containers = FindArray(spec, {list});
    if (containers == nullptr) continue;
    for (json::value& container : *containers) {
      if (container.is_object()) DefaultContainer(container.get_object(), host_network);
    }
  }
}

void AddDefaultTolerations(json::object& pod) {
  json::array& tolerations = ArrayAt(pod, {"spec", "tolerations"});
  for (const std::string_view key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (ToleratesNoExecute(tolerations, key)) continue;
    json::object toleration;
    toleration["key"] = key;
    toleration["operator"] = "Exists";
    toleration["effect"] = "NoExecute";
    toleration["tolerationSeconds"] = 300;
    tolerations.push_back(std::move(toleration));
  }
}

ApiResult<void> AdmitPod(json::object& pod, const AdmissionContext& context) {
  ApiResult<void> prioritized = SetPriority(pod, context);
  if (!prioritized) return prioritized;
  AddDefaultTolerations(pod);
  CopyTopologyLabels(pod, context);
  FoldMatchLabelKeys(pod);
  SetFirstStatus(pod, context.now);
  return {};
}

}  // namespace berth::sandbox
