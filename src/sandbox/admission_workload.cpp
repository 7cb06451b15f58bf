#include "sandbox/admission_workload.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <functional>
#include <optional>

#include "sandbox/admission_pod.h"
#include "sandbox/document.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

void DefaultTemplate(json::object& workload) {
  if (FindObject(workload, {"spec", "template"}) != nullptr) {
    DefaultPod(ObjectAt(workload, {"spec", "template"}));
  }
}

void DefaultDeployment(json::object& document) {
  json::object& spec = ObjectAt(document, {"spec"});
  SetDefault(spec, "replicas", 1);
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(spec, "progressDeadlineSeconds", 600);
  json::object& strategy = ObjectAt(document, {"spec", "strategy"});
  SetDefault(strategy, "type", "RollingUpdate");
  if (TextAt(strategy, {"type"}) == "RollingUpdate") {
    SetDefault(ObjectAt(strategy, {"rollingUpdate"}), "maxUnavailable", "25%");
    SetDefault(ObjectAt(strategy, {"rollingUpdate"}), "maxSurge", "25%");
  }
  DefaultTemplate(document);
}

void DefaultReplicaSet(json::object& document) {
  SetDefault(ObjectAt(document, {"spec"}), "replicas", 1);
  DefaultTemplate(document);
}

void DefaultReplicationController(json::object& document) {
  SetDefault(ObjectAt(document, {"spec"}), "replicas", 1);
  DefaultTemplate(document);
  if (const json::object* labels = FindObject(document, {"spec", "template", "metadata", "labels"})) {
    const json::object copy = *labels;
    SetDefault(ObjectAt(document, {"spec"}), "selector", copy);
    SetDefault(ObjectAt(document, {"metadata"}), "labels", copy);
  }
}

void DefaultClaimSpec(json::object& claim) {
  SetDefault(ObjectAt(claim, {"spec"}), "volumeMode", "Filesystem");
}

void DefaultStatefulSet(json::object& document) {
  json::object& spec = ObjectAt(document, {"spec"});
  SetDefault(spec, "replicas", 1);
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(spec, "podManagementPolicy", "OrderedReady");
  json::object& strategy = ObjectAt(document, {"spec", "updateStrategy"});
  SetDefault(strategy, "type", "RollingUpdate");
  if (TextAt(strategy, {"type"}) == "RollingUpdate") {
    SetDefault(ObjectAt(strategy, {"rollingUpdate"}), "partition", 0);
    SetDefault(ObjectAt(strategy, {"rollingUpdate"}), "maxUnavailable", 1);
  }
  json::object& retention = ObjectAt(document, {"spec", "persistentVolumeClaimRetentionPolicy"});
  SetDefault(retention, "whenDeleted", "Retain");
  SetDefault(retention, "whenScaled", "Retain");
  DefaultTemplate(document);
  if (json::array* claims = FindArray(document, {"spec", "volumeClaimTemplates"})) {
    for (json::value& claim : *claims) {
      if (!claim.is_object()) continue;
      DefaultClaimSpec(claim.get_object());
      SetDefault(ObjectAt(claim.get_object(), {"status"}), "phase", "Pending");
    }
  }
}

void DefaultDaemonSet(json::object& document) {
  SetDefault(ObjectAt(document, {"spec"}), "revisionHistoryLimit", 10);
  json::object& strategy = ObjectAt(document, {"spec", "updateStrategy"});
  SetDefault(strategy, "type", "RollingUpdate");
  if (TextAt(strategy, {"type"}) == "RollingUpdate") {
    SetDefault(ObjectAt(strategy, {"rollingUpdate"}), "maxUnavailable", 1);
    SetDefault(ObjectAt(strategy, {"rollingUpdate"}), "maxSurge", 0);
  }
  DefaultTemplate(document);
}

void DefaultJobSpec(json::object& holder) {
  json::object& spec = ObjectAt(holder, {"spec"});
  const bool is_work_queue = spec.contains("parallelism") && !spec.contains("completions");
  if (!is_work_queue) {
    SetDefault(spec, "completions", 1);
    SetDefault(spec, "parallelism", 1);
  }
  SetDefault(spec, "backoffLimit", 6);
  SetDefault(spec, "completionMode", "NonIndexed");
  SetDefault(spec, "suspend", false);
  SetDefault(spec, "manualSelector", false);
  SetDefault(spec, "podReplacementPolicy",
             spec.contains("podFailurePolicy") ? json::value("Failed") : json::value("TerminatingOrFailed"));
  DefaultTemplate(holder);
}

void DefaultJob(json::object& document) {
  DefaultJobSpec(document);
  const json::object* labels = FindObject(document, {"spec", "template", "metadata", "labels"});
  const json::object* own = FindObject(document, {"metadata", "labels"});
  if (labels == nullptr || (own != nullptr && !own->empty())) return;
  const json::object copy = *labels;
  ObjectAt(document, {"metadata"})["labels"] = copy;
}

void DefaultCronJob(json::object& document) {
  json::object& spec = ObjectAt(document, {"spec"});
  SetDefault(spec, "concurrencyPolicy", "Allow");
  SetDefault(spec, "suspend", false);
  SetDefault(spec, "successfulJobsHistoryLimit", 3);
  SetDefault(spec, "failedJobsHistoryLimit", 1);
}

void DefaultService(json::object& document) {
  json::object& spec = ObjectAt(document, {"spec"});
  SetDefault(spec, "type", "ClusterIP");
  SetDefault(spec, "sessionAffinity", "None");
  if (TextAt(spec, {"type"}) == "ExternalName") return;
  SetDefault(spec, "internalTrafficPolicy", "Cluster");
  json::array* ports = FindArray(document, {"spec", "ports"});
  if (ports == nullptr) return;
  for (json::value& entry : *ports) {
    if (!entry.is_object()) continue;
    json::object& port = entry.get_object();
    SetDefault(port, "protocol", "TCP");
    const json::value* target = port.if_contains("targetPort");
    if (target == nullptr || *target == 0 || *target == "") port["targetPort"] = NumberAt(port, {"port"});
  }
}

void DefaultVolume(json::object& document) {
  json::object& spec = ObjectAt(document, {"spec"});
  SetDefault(spec, "persistentVolumeReclaimPolicy", "Retain");
  SetDefault(spec, "volumeMode", "Filesystem");
  if (FindObject(document, {"spec", "hostPath"}) != nullptr) {
    SetDefault(ObjectAt(document, {"spec", "hostPath"}), "type", "");
  }
}

void DefaultStorageClass(json::object& document) {
  SetDefault(document, "reclaimPolicy", "Delete");
  SetDefault(document, "volumeBindingMode", "Immediate");
}

void DefaultPriorityClass(json::object& document) {
  SetDefault(document, "preemptionPolicy", "PreemptLowerPriority");
}

void DefaultSecret(json::object& document) { SetDefault(document, "type", "Opaque"); }

void DefaultDeviceRequest(json::object& request) {
  SetDefault(request, "allocationMode", "ExactCount");
  if (TextAt(request, {"allocationMode"}) == "ExactCount") SetDefault(request, "count", 1);
}

void DefaultDevices(json::object& holder) {
  json::array* requests = FindArray(holder, {"spec", "devices", "requests"});
  if (requests == nullptr) return;
  for (json::value& request : *requests) {
    if (!request.is_object()) continue;
    if (FindObject(request.get_object(), {"exactly"}) != nullptr) {
      DefaultDeviceRequest(ObjectAt(request.get_object(), {"exactly"}));
    }
    json::array* choices = FindArray(request.get_object(), {"firstAvailable"});
    if (choices == nullptr) continue;
    for (json::value& choice : *choices) {
      if (choice.is_object()) DefaultDeviceRequest(choice.get_object());
    }
  }
}

void DefaultDeviceTemplate(json::object& document) { DefaultDevices(ObjectAt(document, {"spec"})); }

struct KindDefaults {
  std::string_view api_version;
  std::string_view kind;
  void (*apply)(json::object& document);
};

constexpr KindDefaults kDefaults[] = {
    {"apps/v1", "Deployment", DefaultDeployment},
    {"apps/v1", "ReplicaSet", DefaultReplicaSet},
    {"apps/v1", "StatefulSet", DefaultStatefulSet},
    {"apps/v1", "DaemonSet", DefaultDaemonSet},
    {"v1", "ReplicationController", DefaultReplicationController},
    {"batch/v1", "Job", DefaultJob},
    {"batch/v1", "CronJob", DefaultCronJob},
    {"v1", "Service", DefaultService},
    {"v1", "PersistentVolume", DefaultVolume},
    {"v1", "PersistentVolumeClaim", DefaultClaimSpec},
    {"storage.k8s.io/v1", "StorageClass", DefaultStorageClass},
    {"scheduling.k8s.io/v1", "PriorityClass", DefaultPriorityClass},
    {"v1", "Secret", DefaultSecret},
    {"resource.k8s.io/v1", "ResourceClaim", DefaultDevices},
    {"resource.k8s.io/v1", "ResourceClaimTemplate", DefaultDeviceTemplate},
};

}  // namespace

void DefaultOtherKinds(const Resource& resource, json::object& document) {
  for (const KindDefaults& entry : kDefaults) {
    if (entry.kind == resource.kind && entry.api_version == resource.api_version) entry.apply(document);
  }
}

void AdmitClaim(json::object& claim, const AdmissionContext& context) {
  static const Resource& classes = ResourceOf("storage.k8s.io/v1", "StorageClass");
  constexpr std::string_view kIsDefault = "storageclass.kubernetes.io/is-default-class";
  ObjectAt(claim, {"status"})["phase"] = "Pending";
  if (FindValue(claim, {"spec", "storageClassName"}) != nullptr) return;
  // Of several the one made last, and of those the first by name.
  std::optional<std::pair<std::int64_t, std::string>> newest;
  context.lookup.ForEach(classes, [&](const RevisionPtr& revision) {
    const json::object document = revision->Document();
    if (TextAt(document, {"metadata", "annotations", kIsDefault}) != "true") return;
    const std::int64_t created = SecondsAt(document, {"metadata", "creationTimestamp"}).value_or(0);
    if (!newest || created > newest->first) newest.emplace(created, revision->name());
  });
  if (newest) ObjectAt(claim, {"spec"})["storageClassName"] = newest->second;
}

void AdmitService(json::object& service) {
  json::object& spec = ObjectAt(service, {"spec"});
  const std::string_view type = TextAt(spec, {"type"});
  if (type == "ExternalName") return;
  // Nothing listens at these addresses; they are to look like a cluster's and not to change.
  const std::size_t hash = std::hash<std::string_view>()(TextAt(service, {"metadata", "uid"}));
  if (TextAt(spec, {"clusterIP"}).empty()) {
    spec["clusterIP"] = fmt::format("10.{}.{}.{}", 96 + hash % 16, (hash >> 8) % 256, (hash >> 16) % 254 + 1);
  }
  const std::string address(TextAt(spec, {"clusterIP"}));
  SetDefault(spec, "clusterIPs", json::array({json::string(address)}));
  SetDefault(spec, "ipFamilies", json::array({"IPv4"}));
  SetDefault(spec, "ipFamilyPolicy", "SingleStack");
  json::array* ports = FindArray(service, {"spec", "ports"});
  if (ports == nullptr || (type != "NodePort" && type != "LoadBalancer")) return;
  std::size_t next = hash % 2000;
  for (json::value& port : *ports) {
    if (port.is_object()) SetDefault(port.get_object(), "nodePort", 30'000 + next++);
  }
}

void AdmitJob(json::object& job) {
  if (FlagAt(job, {"spec", "manualSelector"})) return;
  const std::string uid(TextAt(job, {"metadata", "uid"}));
  const std::string name(TextAt(job, {"metadata", "name"}));
  json::object& labels = ObjectAt(job, {"spec", "template", "metadata", "labels"});
  labels["batch.kubernetes.io/controller-uid"] = uid;
  labels["controller-uid"] = uid;
  labels["batch.kubernetes.io/job-name"] = name;
  labels["job-name"] = name;
  ObjectAt(job, {"spec", "selector", "matchLabels"})["batch.kubernetes.io/controller-uid"] = uid;
}

}  // namespace berth::sandbox
