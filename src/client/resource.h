#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::client {

// What a scheduler watches.
enum class Resource : std::uint8_t {
  kPods,
  kNodes,
  kNamespaces,
  kServices,
  kReplicationControllers,
  kReplicaSets,
  kStatefulSets,
  kPodDisruptionBudgets,
  kPersistentVolumes,
  kPersistentVolumeClaims,
  kStorageClasses,
  kCsiNodes,
  kCsiDrivers,
  kCsiStorageCapacities,
  kVolumeAttachments,
  kResourceClaims,
  kResourceSlices,
  kDeviceClasses,
  kDeviceTaintRules,
  kPodGroups,
  kCompositePodGroups,
};
inline constexpr std::size_t kResourceCount = 21;

// Where a kind of object lives on a server.
struct ResourceInfo {
  std::string_view group;  // empty: core
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool is_namespaced = false;
  std::string_view field_selector = {};  // of its watch
};

const ResourceInfo& InfoOf(Resource resource);

inline constexpr ResourceInfo kEvents{"events.k8s.io", "v1", "events", "Event", true};
inline constexpr ResourceInfo kCoreEvents{"", "v1", "events", "Event", true};
inline constexpr ResourceInfo kLeases{"coordination.k8s.io", "v1", "leases", "Lease", true};

std::string ApiVersion(const ResourceInfo& resource);  // "v1", "apps/v1"
// "pods", "leases.coordination.k8s.io": how errors name it.
std::string QualifiedName(const ResourceInfo& resource);

// "/apis/apps/v1/namespaces/ns/replicasets"; without a namespace those of all namespaces.
std::string CollectionPath(const ResourceInfo& resource, std::string_view namespace_ = {});
std::string ObjectPath(const ResourceInfo& resource, std::string_view namespace_, std::string_view name,
                       std::string_view subresource = {});

}  // namespace berth::client
