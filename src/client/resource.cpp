#include "client/resource.h"

#include <array>

#include "net/url.h"

namespace berth::client {
namespace {

// In the order of Resource.
constexpr std::array<ResourceInfo, kResourceCount> kInfos = {{
    // Pods that have ended take no room; without them a server with many finished jobs sends far less.
    {"", "v1", "pods", "Pod", true, "status.phase!=Succeeded,status.phase!=Failed"},
    {"", "v1", "nodes", "Node"},
    {"", "v1", "namespaces", "Namespace"},
    {"", "v1", "services", "Service", true},
    {"", "v1", "replicationcontrollers", "ReplicationController", true},
    {"apps", "v1", "replicasets", "ReplicaSet", true},
    {"apps", "v1", "statefulsets", "StatefulSet", true},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true},
    {"", "v1", "persistentvolumes", "PersistentVolume"},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true},
    {"storage.k8s.io", "v1", "storageclasses", "StorageClass"},
    {"storage.k8s.io", "v1", "csinodes", "CSINode"},
    {"storage.k8s.io", "v1", "csidrivers", "CSIDriver"},
    {"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", true},
    {"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment"},
    {"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", true},
    {"resource.k8s.io", "v1", "resourceslices", "ResourceSlice"},
    {"resource.k8s.io", "v1", "deviceclasses", "DeviceClass"},
    {"resource.k8s.io", "v1", "devicetaintrules", "DeviceTaintRule"},
    {"scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup", true},
    {"scheduling.k8s.io", "v1alpha3", "compositepodgroups", "CompositePodGroup", true},
}};

}  // namespace

const ResourceInfo& InfoOf(Resource resource) { return kInfos[static_cast<std::size_t>(resource)]; }

std::string ApiVersion(const ResourceInfo& resource) {
  std::string text(resource.group);
  if (!text.empty()) text += '/';
  return text.append(resource.version);
}

std::string QualifiedName(const ResourceInfo& resource) {
  std::string text(resource.plural);
  if (!resource.group.empty()) text.append(".").append(resource.group);
  return text;
}

std::string CollectionPath(const ResourceInfo& resource, std::string_view namespace_) {
  std::string path;
  // Room for what most callers add, too.
  path.reserve(64 + namespace_.size() * 2 + resource.plural.size());
  path.append(resource.group.empty() ? "/api/" : "/apis/");
  if (!resource.group.empty()) path.append(resource.group).append("/");
  path.append(resource.version);
  if (resource.is_namespaced && !namespace_.empty()) {
    net::AppendPathSegment(path.append("/namespaces/"), namespace_);
  }
  return path.append("/").append(resource.plural);
}

std::string ObjectPath(const ResourceInfo& resource, std::string_view namespace_, std::string_view name,
                       std::string_view subresource) {
  std::string path = CollectionPath(resource, namespace_);
  path.reserve(path.size() + name.size() + subresource.size() + 2);
  net::AppendPathSegment(path.append("/"), name);
  if (!subresource.empty()) path.append("/").append(subresource);
  return path;
}

}  // namespace berth::client
