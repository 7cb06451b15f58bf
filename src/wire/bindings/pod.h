#pragma once

#include "api/pod.h"
#include "wire/binding.h"
#include "wire/bindings/affinity.h"
#include "wire/bindings/container.h"
#include "wire/bindings/meta.h"
#include "wire/bindings/taints.h"
#include "wire/bindings/volumes.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::NodeAllocatableMappedResources> {
  using T = api::NodeAllocatableMappedResources;
  static constexpr std::string_view kMessage = "core.v1.NodeAllocatableMappedResources";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name}, Bound{"quantity", &T::quantity}};
};

template <>
struct Binding<api::NodeAllocatableOverheadResources> {
  using T = api::NodeAllocatableOverheadResources;
  static constexpr std::string_view kMessage = "core.v1.NodeAllocatableOverheadResources";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name}, Bound{"perPod", &T::per_pod},
                                             Bound{"perContainer", &T::per_container}};
};

template <>
struct Binding<api::NodeAllocatableResourceClaimStatus> {
  using T = api::NodeAllocatableResourceClaimStatus;
  static constexpr std::string_view kMessage = "core.v1.NodeAllocatableResourceClaimStatus";
  static constexpr auto kFields =
      std::tuple{Bound{"resourceClaimName", &T::resource_claim_name}, Bound{"containers", &T::containers},
                 Bound{"mapping", &T::mapping}, Bound{"overhead", &T::overhead}};
};

template <>
struct Binding<api::PodSchedulingGate> {
  using T = api::PodSchedulingGate;
  static constexpr std::string_view kMessage = "core.v1.PodSchedulingGate";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name}};
};

template <>
struct Binding<api::PodResourceClaim> {
  using T = api::PodResourceClaim;
  static constexpr std::string_view kMessage = "core.v1.PodResourceClaim";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name}, Bound{"resourceClaimName", &T::resource_claim_name},
                 Bound{"resourceClaimTemplateName", &T::resource_claim_template_name}};
};

template <>
struct Binding<api::PodSchedulingGroup> {
  using T = api::PodSchedulingGroup;
  static constexpr std::string_view kMessage = "core.v1.PodSchedulingGroup";
  static constexpr auto kFields = std::tuple{Bound{"podGroupName", &T::pod_group_name}};
};

template <>
struct Binding<api::PodSpec> {
  using T = api::PodSpec;
  static constexpr std::string_view kMessage = "core.v1.PodSpec";
  static constexpr auto kFields =
      std::tuple{Bound{"volumes", &T::volumes},
                 Bound{"initContainers", &T::init_containers},
                 Bound{"containers", &T::containers},
                 Bound{"ephemeralContainers", &T::ephemeral_containers},
                 Bound{"nodeSelector", &T::node_selector},
                 Bound{"nodeName", &T::node_name},
                 Bound{"hostNetwork", &T::host_network},
                 Bound{"affinity", &T::affinity},
                 Bound{"schedulerName", &T::scheduler_name},
                 Bound{"tolerations", &T::tolerations},
                 Bound{"priority", &T::priority},
                 Bound{"preemptionPolicy", &T::preemption_policy},
                 Bound{"overhead", &T::overhead},
                 Bound{"topologySpreadConstraints", &T::topology_spread_constraints},
                 Bound{"hostUsers", &T::host_users},
                 Bound{"schedulingGates", &T::scheduling_gates},
                 Bound{"resourceClaims", &T::resource_claims},
                 Bound{"resources", &T::resources},
                 Bound{"schedulingGroup", &T::scheduling_group}};
};

template <>
struct Binding<api::PodCondition> {
  using T = api::PodCondition;
  static constexpr std::string_view kMessage = "core.v1.PodCondition";
  static constexpr auto kFields = std::tuple{Bound{"type", &T::type},
                                             Bound{"observedGeneration", &T::observed_generation},
                                             Bound{"status", &T::status},
                                             Bound{"lastProbeTime", &T::last_probe_time},
                                             Bound{"lastTransitionTime", &T::last_transition_time},
                                             Bound{"reason", &T::reason},
                                             Bound{"message", &T::message}};
};

template <>
struct Binding<api::PodResourceClaimStatus> {
  using T = api::PodResourceClaimStatus;
  static constexpr std::string_view kMessage = "core.v1.PodResourceClaimStatus";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name}, Bound{"resourceClaimName", &T::resource_claim_name}};
};

template <>
struct Binding<api::PodExtendedResourceClaimStatus> {
  using T = api::PodExtendedResourceClaimStatus;
  static constexpr std::string_view kMessage = "core.v1.PodExtendedResourceClaimStatus";
  static constexpr auto kFields = std::tuple{Bound{"requestMappings", &T::request_mappings},
                                             Bound{"resourceClaimName", &T::resource_claim_name}};
};

template <>
struct Binding<api::PodStatus> {
  using T = api::PodStatus;
  static constexpr std::string_view kMessage = "core.v1.PodStatus";
  static constexpr auto kFields =
      std::tuple{Bound{"phase", &T::phase},
                 Bound{"conditions", &T::conditions},
                 Bound{"nominatedNodeName", &T::nominated_node_name},
                 Bound{"startTime", &T::start_time},
                 Bound{"initContainerStatuses", &T::init_container_statuses},
                 Bound{"containerStatuses", &T::container_statuses},
                 Bound{"resourceClaimStatuses", &T::resource_claim_statuses},
                 Bound{"extendedResourceClaimStatus", &T::extended_resource_claim_status},
                 Bound{"allocatedResources", &T::allocated_resources},
                 Bound{"resources", &T::resources},
                 Bound{"nodeAllocatableResourceClaimStatuses", &T::node_allocatable_resource_claim_statuses}};
};

template <>
struct Binding<api::Pod> {
  using T = api::Pod;
  static constexpr std::string_view kMessage = "core.v1.Pod";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}, Bound{"status", &T::status}};
};

}  // namespace berth::wire
