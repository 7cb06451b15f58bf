#include "framework/events.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>

namespace berth::framework {
namespace {

constexpr std::string_view kResourceNames[] = {
    "Pod",
    "AssignedPod",
    "UnscheduledPod",
    "TargetPod",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "storage.k8s.io/CSINode",
    "storage.k8s.io/CSIDriver",
    "storage.k8s.io/VolumeAttachment",
    "storage.k8s.io/CSIStorageCapacity",
    "storage.k8s.io/StorageClass",
    "resource.k8s.io/ResourceClaim",
    "resource.k8s.io/ResourceSlice",
    "resource.k8s.io/DeviceClass",
    "scheduling.k8s.io/PodGroup",
    "scheduling.k8s.io/CompositePodGroup",
    "*",
};
static_assert(std::size(kResourceNames) == static_cast<std::size_t>(EventResource::kWildcard) + 1);

// By number of the bit.
constexpr std::string_view kActionNames[] = {
    "Add",
    "Delete",
    "UpdateNodeAllocatable",
    "UpdateNodeLabel",
    "UpdateNodeTaint",
    "UpdateNodeCondition",
    "UpdateNodeAnnotation",
    "UpdateNodeDeclaredFeature",
    "UpdateNodePreemptionPolicy",
    "UpdatePodLabel",
    "UpdatePodScaleDown",
    "UpdatePodScaleUp",
    "UpdatePodToleration",
    "UpdatePodSchedulingGatesEliminated",
    "UpdatePodGeneratedResourceClaim",
};
static_assert((1u << std::size(kActionNames)) - 1 == kAllActions);

constexpr EventResource kKindsOfPod[] = {EventResource::kAssignedPod, EventResource::kUnscheduledPod,
                                         EventResource::kTargetPod};

bool ResourceMatches(EventResource registered, EventResource incoming) {
  return registered == EventResource::kWildcard || registered == incoming ||
         (registered == EventResource::kPod &&
          std::ranges::find(kKindsOfPod, incoming) != std::end(kKindsOfPod));
}

}  // namespace

std::string_view ResourceName(EventResource resource) {
  return kResourceNames[static_cast<std::size_t>(resource)];
}

std::string_view ActionName(Actions actions) {
  if (actions == kAllActions) return "All";
  if (actions == kUpdate) return "Update";
  if (!std::has_single_bit(actions) || actions > kAllActions) return {};
  return kActionNames[std::countr_zero(actions)];
}

std::string ClusterEvent::Label() const {
  if (!custom_label.empty()) return std::string(custom_label);
  return std::string(ResourceName(resource)).append(ActionName(actions));
}

bool Matches(const ClusterEvent& registered, const ClusterEvent& incoming) {
  if (registered.IsWildcard()) return true;
  // The comparison of the two numbers is upstream's way to say "not more kinds than registered"; others rely
  // on it.
  return ResourceMatches(registered.resource, incoming.resource) &&
         (registered.actions & incoming.actions) != 0 && incoming.actions <= registered.actions;
}

std::vector<ClusterEvent> AllEvents(bool generic_workload) {
  using enum EventResource;
  std::vector<ClusterEvent> events;
  for (const EventResource resource :
       {kAssignedPod, kUnscheduledPod, kTargetPod, kNode, kPersistentVolume, kPersistentVolumeClaim, kCSINode,
        kCSIDriver, kCSIStorageCapacity, kStorageClass, kResourceClaim, kDeviceClass}) {
    events.push_back({resource, kAllActions});
  }
  if (generic_workload) events.push_back({kPodGroup, kAllActions});
  return events;
}

std::vector<EventRegistration> Expand(std::vector<EventRegistration> registrations) {
  std::vector<EventRegistration> expanded;
  expanded.reserve(registrations.size());
  for (EventRegistration& registration : registrations) {
    if (registration.event.resource != EventResource::kPod) {
      expanded.push_back(std::move(registration));
      continue;
    }
    for (const EventResource kind : kKindsOfPod) {
      expanded.push_back(registration);
      expanded.back().event.resource = kind;
    }
  }
  return expanded;
}

}  // namespace berth::framework
