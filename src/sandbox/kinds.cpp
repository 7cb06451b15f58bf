#include "sandbox/kinds.h"

#include <algorithm>

#include "base/check.h"
#include "sandbox/text_parts.h"
#include "wire/schema.h"

namespace berth::sandbox {
namespace {

enum Rule : unsigned {
  kCluster = 1,  // not namespaced
  kCreateOnly = 2,
  kKeepStatus = 4,
  kGeneration = 8,
  kConditional = 16,    // PUT needs a resourceVersion
  kAnswersObject = 32,  // DELETE answers what was removed
};

// Lists are separated by blanks.
struct Row {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  std::string_view singular;
  std::string_view short_names;
  std::string_view categories;
  std::string_view subresources;
  unsigned rules;
};

constexpr std::string_view kStorage = "storage.k8s.io";
constexpr std::string_view kDevices = "resource.k8s.io";
constexpr std::string_view kScheduling = "scheduling.k8s.io";
constexpr std::string_view kAuthentication = "authentication.k8s.io";
constexpr std::string_view kAuthorization = "authorization.k8s.io";
constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

constexpr Row kRows[] = {
    {"", "v1", "Binding", "bindings", "binding", "", "", "", kCreateOnly},
    {"", "v1", "ConfigMap", "configmaps", "configmap", "cm", "", "", 0},
    {"", "v1", "Endpoints", "endpoints", "endpoints", "ep", "", "", 0},
    {"", "v1", "Event", "events", "event", "ev", "", "", 0},
    {"", "v1", "LimitRange", "limitranges", "limitrange", "limits", "", "", 0},
    {"", "v1", "Namespace", "namespaces", "namespace", "ns", "", "status finalize",
     kCluster | kAnswersObject},
    {"", "v1", "Node", "nodes", "node", "no", "", "status", kCluster | kKeepStatus},
    {"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", "pvc", "",
     "status", kAnswersObject},
    {"", "v1", "PersistentVolume", "persistentvolumes", "persistentvolume", "pv", "", "status",
     kCluster | kAnswersObject},
    {"", "v1", "Pod", "pods", "pod", "po", "all", "binding ephemeralcontainers eviction resize status",
     kGeneration | kAnswersObject},
    {"", "v1", "PodTemplate", "podtemplates", "podtemplate", "", "", "", kGeneration | kAnswersObject},
    {"", "v1", "ReplicationController", "replicationcontrollers", "replicationcontroller", "rc", "all",
     "scale status", kGeneration},
    {"", "v1", "ResourceQuota", "resourcequotas", "resourcequota", "quota", "", "status", kAnswersObject},
    {"", "v1", "Secret", "secrets", "secret", "", "", "", 0},
    {"", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount", "sa", "", "", kAnswersObject},
    {"", "v1", "Service", "services", "service", "svc", "all", "status", kAnswersObject},

    {"apps", "v1", "ControllerRevision", "controllerrevisions", "controllerrevision", "", "", "", 0},
    {"apps", "v1", "DaemonSet", "daemonsets", "daemonset", "ds", "all", "status", kGeneration},
    {"apps", "v1", "Deployment", "deployments", "deployment", "deploy", "all", "scale status", kGeneration},
    {"apps", "v1", "ReplicaSet", "replicasets", "replicaset", "rs", "all", "scale status", kGeneration},
    {"apps", "v1", "StatefulSet", "statefulsets", "statefulset", "sts", "all", "scale status", kGeneration},

    {kAuthentication, "v1", "SelfSubjectReview", "selfsubjectreviews", "selfsubjectreview", "", "", "",
     kCluster | kCreateOnly},
    {kAuthentication, "v1", "TokenReview", "tokenreviews", "tokenreview", "", "", "", kCluster | kCreateOnly},

    {kAuthorization, "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews",
     "localsubjectaccessreview", "", "", "", kCreateOnly},
    {kAuthorization, "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", "selfsubjectaccessreview",
     "", "", "", kCluster | kCreateOnly},
    {kAuthorization, "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", "selfsubjectrulesreview", "",
     "", "", kCluster | kCreateOnly},
    {kAuthorization, "v1", "SubjectAccessReview", "subjectaccessreviews", "subjectaccessreview", "", "", "",
     kCluster | kCreateOnly},

    {"batch", "v1", "CronJob", "cronjobs", "cronjob", "cj", "all", "status", kGeneration},
    {"batch", "v1", "Job", "jobs", "job", "", "all", "status", kGeneration},

    {"coordination.k8s.io", "v1", "Lease", "leases", "lease", "", "", "", kConditional},

    {"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "endpointslice", "", "", "", kGeneration},

    {"events.k8s.io", "v1", "Event", "events", "event", "ev", "", "", 0},

    {"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget", "pdb", "",
     "status", kGeneration | kConditional},

    {kRbac, "v1", "ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding", "", "", "", kCluster},
    {kRbac, "v1", "ClusterRole", "clusterroles", "clusterrole", "", "", "", kCluster},
    {kRbac, "v1", "RoleBinding", "rolebindings", "rolebinding", "", "", "", 0},
    {kRbac, "v1", "Role", "roles", "role", "", "", "", 0},

    {kDevices, "v1", "DeviceClass", "deviceclasses", "deviceclass", "", "", "",
     kCluster | kGeneration | kAnswersObject},
    {kDevices, "v1", "DeviceTaintRule", "devicetaintrules", "devicetaintrule", "", "", "status",
     kCluster | kGeneration | kAnswersObject},
    {kDevices, "v1", "ResourceClaim", "resourceclaims", "resourceclaim", "", "", "status", kAnswersObject},
    {kDevices, "v1", "ResourceClaimTemplate", "resourceclaimtemplates", "resourceclaimtemplate", "", "", "",
     kAnswersObject},
    {kDevices, "v1", "ResourceSlice", "resourceslices", "resourceslice", "", "", "",
     kCluster | kGeneration | kAnswersObject},

    {kScheduling, "v1", "PriorityClass", "priorityclasses", "priorityclass", "pc", "", "",
     kCluster | kGeneration},
    {kScheduling, "v1beta1", "PodGroup", "podgroups", "podgroup", "pg", "", "status", kGeneration},
    {kScheduling, "v1beta1", "Workload", "workloads", "workload", "wl", "", "", kGeneration},
    {kScheduling, "v1alpha3", "CompositePodGroup", "compositepodgroups", "compositepodgroup", "", "",
     "status", kGeneration},

    {kStorage, "v1", "CSIDriver", "csidrivers", "csidriver", "", "", "",
     kCluster | kGeneration | kConditional | kAnswersObject},
    {kStorage, "v1", "CSINode", "csinodes", "csinode", "", "", "", kCluster | kConditional | kAnswersObject},
    {kStorage, "v1", "CSIStorageCapacity", "csistoragecapacities", "csistoragecapacity", "", "", "",
     kConditional | kAnswersObject},
    {kStorage, "v1", "StorageClass", "storageclasses", "storageclass", "sc", "", "",
     kCluster | kAnswersObject},
    {kStorage, "v1", "VolumeAttachment", "volumeattachments", "volumeattachment", "", "", "status",
     kCluster | kConditional | kAnswersObject},
    {kStorage, "v1", "VolumeAttributesClass", "volumeattributesclasses", "volumeattributesclass", "vac", "",
     "", kCluster | kAnswersObject},
};

SelectableField At(std::string_view path) { return {.label = path, .path = SplitText(path, '.')}; }

SelectableField FlagAt(std::string_view path) {
  SelectableField field = At(path);
  field.is_flag = true;
  return field;
}

// Both views of events select by the same fields of the stored form, under names of their own.
std::vector<SelectableField> EventFields(bool core) {
  constexpr std::string_view kCore[] = {"involvedObject.kind",       "involvedObject.namespace",
                                        "involvedObject.name",       "involvedObject.uid",
                                        "involvedObject.apiVersion", "involvedObject.resourceVersion",
                                        "involvedObject.fieldPath",  "reason",
                                        "reportingComponent",        "type"};
  constexpr std::string_view kGrouped[] = {"regarding.kind",       "regarding.namespace",
                                           "regarding.name",       "regarding.uid",
                                           "regarding.apiVersion", "regarding.resourceVersion",
                                           "regarding.fieldPath",  "reason",
                                           "reportingController",  "type"};
  std::vector<SelectableField> fields;
  fields.reserve(std::size(kCore) + 1);
  for (std::size_t i = 0; i < std::size(kCore); ++i) {
    fields.push_back({.label = core ? kCore[i] : kGrouped[i], .path = SplitText(kCore[i], '.')});
  }
  if (core) {
    fields.push_back(
        {.label = "source", .path = {"source", "component"}, .fallback = {"reportingComponent"}});
  }
  return fields;
}

std::vector<SelectableField> FieldsOf(const Resource& resource) {
  if (resource.plural == "events") return EventFields(resource.group.empty());
  if (resource.kind == "Pod") {
    return {At("spec.nodeName"),        At("spec.restartPolicy"),
            At("spec.schedulerName"),   At("spec.serviceAccountName"),
            FlagAt("spec.hostNetwork"), At("status.phase"),
            At("status.podIP"),         At("status.nominatedNodeName")};
  }
  if (resource.kind == "Node") return {FlagAt("spec.unschedulable")};
  if (resource.kind == "Namespace") return {At("status.phase")};
  if (resource.kind == "ResourceSlice") return {At("spec.nodeName"), At("spec.driver")};
  if (resource.kind == "Secret") return {At("type")};
  return {};
}

// "core.v1.Pod" is the message of v1 Pod; the schema's kinds know it.
const wire::Message* MessageOf(const std::string& api_version, std::string_view kind) {
  const wire::KindInfo* info = wire::Schema::Get().FindKind(api_version, kind);
  return info != nullptr ? info->message : nullptr;
}

Resource MakeResource(const Row& row) {
  Resource resource;
  resource.group = row.group;
  resource.version = row.version;
  resource.kind = row.kind;
  resource.plural = row.plural;
  resource.singular = row.singular;
  resource.short_names = SplitText(row.short_names, ' ');
  resource.categories = SplitText(row.categories, ' ');
  resource.subresources = SplitText(row.subresources, ' ');
  resource.namespaced = (row.rules & kCluster) == 0;
  resource.create_only = (row.rules & kCreateOnly) != 0;
  resource.keeps_status_on_create = (row.rules & kKeepStatus) != 0;
  resource.has_generation = (row.rules & kGeneration) != 0;
  resource.unconditional_update = (row.rules & kConditional) == 0;
  resource.delete_answers_object = (row.rules & kAnswersObject) != 0;
  if (!row.group.empty()) resource.api_version.append(row.group).append("/");
  resource.api_version.append(row.version);
  resource.json_head.append("{\"kind\":\"").append(row.kind).append("\",\"apiVersion\":\"");
  resource.json_head.append(resource.api_version).append("\",");
  resource.fields = FieldsOf(resource);
  resource.message = MessageOf(resource.api_version, row.kind);
  resource.list_message = MessageOf(resource.api_version, resource.list_kind());
  BERTH_CHECK(resource.message != nullptr && (resource.create_only || resource.list_message != nullptr));
  return resource;
}

}  // namespace

std::string Resource::QualifiedName() const {
  std::string text(plural);
  if (!group.empty()) text.append(".").append(group);
  return text;
}

bool Resource::HasSubresource(std::string_view name) const {
  return std::ranges::find(subresources, name) != subresources.end();
}

const ResourceTable& ResourceTable::Get() {
  static const ResourceTable table;
  return table;
}

ResourceTable::ResourceTable() {
  for (const Row& row : kRows) resources_.push_back(MakeResource(row));
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    Resource& resource = resources_[i];
    resource.index = i;
    resource.storage = &resource;
    const auto same = [&](const GroupVersion& known) {
      return known.group == resource.group && known.version == resource.version;
    };
    if (std::ranges::none_of(group_versions_, same))
      group_versions_.push_back({resource.group, resource.version});
  }
  for (Resource& resource : resources_) {
    if (resource.group == "events.k8s.io") resource.storage = Find("", "v1", "events");
  }
}

const Resource* ResourceTable::Find(std::string_view group, std::string_view version,
                                    std::string_view plural) const {
  const auto it = std::ranges::find_if(resources_, [&](const Resource& resource) {
    return resource.plural == plural && resource.group == group && resource.version == version;
  });
  return it != resources_.end() ? &*it : nullptr;
}

const Resource* ResourceTable::FindKind(std::string_view api_version, std::string_view kind) const {
  const auto it = std::ranges::find_if(resources_, [&](const Resource& resource) {
    return resource.kind == kind && resource.api_version == api_version;
  });
  return it != resources_.end() ? &*it : nullptr;
}

const Resource& ResourceOf(std::string_view api_version, std::string_view kind) {
  const Resource* resource = ResourceTable::Get().FindKind(api_version, kind);
  BERTH_CHECK(resource != nullptr);
  return *resource;
}

}  // namespace berth::sandbox
