#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/devices.h"
#include "api/node.h"
#include "api/pod_group.h"
#include "api/pod_record.h"
#include "api/storage.h"
#include "base/error.h"
#include "cluster/cluster.h"

// What happens in a cluster that may make a rejected pod fit, and what plugins say about it.
namespace berth::framework {

// What an event is about. kPod occurs in registrations only and stands for the three kinds that follow it.
enum class EventResource : std::uint8_t {
  kPod,
  kAssignedPod,
  kUnscheduledPod,
  kTargetPod,  // the waiting pod itself
  kNode,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kCSINode,
  kCSIDriver,
  kVolumeAttachment,
  kCSIStorageCapacity,
  kStorageClass,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass,
  kPodGroup,
  kCompositePodGroup,
  kWildcard,
};
std::string_view ResourceName(EventResource resource);

// What happened, as bits. The values are part of the matching rule.
using Actions = std::uint32_t;
inline constexpr Actions kAdd = 1u << 0;
inline constexpr Actions kDelete = 1u << 1;
inline constexpr Actions kUpdateNodeAllocatable = 1u << 2;
inline constexpr Actions kUpdateNodeLabel = 1u << 3;
inline constexpr Actions kUpdateNodeTaint = 1u << 4;
inline constexpr Actions kUpdateNodeCondition = 1u << 5;
inline constexpr Actions kUpdateNodeAnnotation = 1u << 6;
inline constexpr Actions kUpdateNodeDeclaredFeature = 1u << 7;
inline constexpr Actions kUpdateNodePreemptionPolicy = 1u << 8;
inline constexpr Actions kUpdatePodLabel = 1u << 9;
inline constexpr Actions kUpdatePodScaleDown = 1u << 10;
inline constexpr Actions kUpdatePodScaleUp = 1u << 11;
inline constexpr Actions kUpdatePodToleration = 1u << 12;
inline constexpr Actions kUpdatePodSchedulingGatesEliminated = 1u << 13;
inline constexpr Actions kUpdatePodGeneratedResourceClaim = 1u << 14;
inline constexpr Actions kAllActions = (1u << 15) - 1;
inline constexpr Actions kUpdate = kAllActions & ~(kAdd | kDelete);
// "Add", "UpdateNodeLabel", "Update", "All"; empty for any other combination.
std::string_view ActionName(Actions actions);

struct ClusterEvent {
  EventResource resource = EventResource::kWildcard;
  Actions actions = 0;
  std::string_view custom_label = {};  // a constant

  bool IsWildcard() const { return resource == EventResource::kWildcard && actions == kAllActions; }
  // For metrics and logs: "NodeAdd", "storage.k8s.io/CSINodeUpdate", or the custom label.
  std::string Label() const;
  bool operator==(const ClusterEvent&) const = default;
};

inline constexpr ClusterEvent kUnschedulableTimeout{EventResource::kWildcard, kAllActions,
                                                    "UnschedulableTimeout"};
inline constexpr ClusterEvent kForceActivate{EventResource::kWildcard, kAllActions, "ForceActivate"};

// Whether a plugin that registered the one is to be asked about the other. Not symmetric: a registered Update
// covers each kind of update, a registered kind does not cover an Update of unknown kind.
bool Matches(const ClusterEvent& registered, const ClusterEvent& incoming);
// Every resource, all actions: for plugins that register nothing themselves.
std::vector<ClusterEvent> AllEvents(bool generic_workload);

// The object before or after; nothing if it did not exist. A wrong type is a bug of the caller that hints
// answer with an error, which counts as Queue.
using EventObject =
    std::variant<std::monostate, const api::PodRecord*, const api::Node*, const api::PersistentVolume*,
                 const api::PersistentVolumeClaim*, const api::CSINode*, const api::CSIDriver*,
                 const api::VolumeAttachment*, const api::CSIStorageCapacity*, const api::StorageClass*,
                 const api::ResourceClaim*, const api::ResourceSlice*, const api::DeviceClass*,
                 const api::PodGroup*, const api::CompositePodGroup*>;

enum class Hint : std::uint8_t { kQueueSkip, kQueue };

struct HintInput {
  const cluster::Cluster& cluster;
  cluster::PodSlot pod;  // the rejected one
  EventObject old_object;
  EventObject new_object;

  const api::PodRecord& record() const { return cluster.pods().record(pod); }
};
// Whether the event may make the pod fit. Runs for every waiting pod that the plugin rejected: O(1) or
// nearly.
using HintFn = std::function<base::Result<Hint>(const HintInput&)>;

struct PreHintInput {
  const cluster::Cluster& cluster;
  EventObject old_object;
  EventObject new_object;
};
struct PreHint {
  bool all_pods = true;
  std::vector<std::pair<std::string, std::string>> pods;  // namespace and name; only these if not all
};
// Which waiting pods the event can concern at all. Runs once per event.
using PreHintFn = std::function<base::Result<PreHint>(const PreHintInput&)>;

struct EventRegistration {
  ClusterEvent event;
  HintFn hint = nullptr;         // null: always queue
  PreHintFn pre_hint = nullptr;  // null: all pods
  // The hint looks at nothing of the pod but its template: then one answer serves all pods of the template.
  bool by_template = false;
};
// kPod in its three kinds, everything else as it is.
std::vector<EventRegistration> Expand(std::vector<EventRegistration> registrations);

// The kinds of change that an update of a node holds, in upstream's order; a kind may come twice. Empty:
// nothing that could make a pod fit.
std::vector<ClusterEvent> NodeUpdateEvents(const api::Node& old_node, const api::Node& new_node);
// The same for a pod; never empty. `is_target`: the update is of a waiting pod itself.
std::vector<ClusterEvent> PodUpdateEvents(const api::PodRecord& old_pod, const api::PodRecord& new_pod,
                                          bool is_target, const api::ResourceGates& gates);

}  // namespace berth::framework
