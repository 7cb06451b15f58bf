#include "wire/bindings/affinity.h"
#include "wire/bindings/container.h"
#include "wire/bindings/list.h"
#include "wire/bindings/node_selector.h"
#include "wire/bindings/pod.h"
#include "wire/bindings/taints.h"
#include "wire/bindings/volumes.h"
#include "wire/typed_codec.h"

namespace berth::wire {

BERTH_INSTANTIATE_KIND(api::Pod);

BERTH_INSTANTIATE_CODEC(api::NodeAffinity);
BERTH_INSTANTIATE_CODEC(api::PodAffinityTerm);
BERTH_INSTANTIATE_CODEC(api::WeightedPodAffinityTerm);
BERTH_INSTANTIATE_CODEC(api::PodAffinity);
BERTH_INSTANTIATE_CODEC(api::PodAntiAffinity);
BERTH_INSTANTIATE_CODEC(api::Affinity);
BERTH_INSTANTIATE_CODEC(api::TopologySpreadConstraint);
BERTH_INSTANTIATE_CODEC(api::ContainerPort);
BERTH_INSTANTIATE_CODEC(api::ContainerResourceClaim);
BERTH_INSTANTIATE_CODEC(api::ResourceRequirements);
BERTH_INSTANTIATE_CODEC(api::ContainerRestartRule);
BERTH_INSTANTIATE_CODEC(api::VolumeMount);
BERTH_INSTANTIATE_CODEC(api::Container);
BERTH_INSTANTIATE_CODEC(api::ContainerExtendedResourceRequest);
BERTH_INSTANTIATE_CODEC(api::ContainerStatus);
BERTH_INSTANTIATE_CODEC(api::EphemeralContainerCommon);
BERTH_INSTANTIATE_CODEC(api::EphemeralContainer);
BERTH_INSTANTIATE_CODEC(api::NodeSelectorRequirement);
BERTH_INSTANTIATE_CODEC(api::NodeSelectorTerm);
BERTH_INSTANTIATE_CODEC(api::NodeSelector);
BERTH_INSTANTIATE_CODEC(api::PreferredSchedulingTerm);
BERTH_INSTANTIATE_CODEC(api::NodeAllocatableMappedResources);
BERTH_INSTANTIATE_CODEC(api::NodeAllocatableOverheadResources);
BERTH_INSTANTIATE_CODEC(api::NodeAllocatableResourceClaimStatus);
BERTH_INSTANTIATE_CODEC(api::PodSchedulingGate);
BERTH_INSTANTIATE_CODEC(api::PodResourceClaim);
BERTH_INSTANTIATE_CODEC(api::PodSchedulingGroup);
BERTH_INSTANTIATE_CODEC(api::PodSpec);
BERTH_INSTANTIATE_CODEC(api::PodCondition);
BERTH_INSTANTIATE_CODEC(api::PodResourceClaimStatus);
BERTH_INSTANTIATE_CODEC(api::PodExtendedResourceClaimStatus);
BERTH_INSTANTIATE_CODEC(api::PodStatus);
BERTH_INSTANTIATE_CODEC(api::Taint);
BERTH_INSTANTIATE_CODEC(api::Toleration);
BERTH_INSTANTIATE_CODEC(api::AWSElasticBlockStoreVolumeSource);
BERTH_INSTANTIATE_CODEC(api::AzureDiskVolumeSource);
BERTH_INSTANTIATE_CODEC(api::AzureFileVolumeSource);
BERTH_INSTANTIATE_CODEC(api::CSIVolumeSource);
BERTH_INSTANTIATE_CODEC(api::CinderVolumeSource);
BERTH_INSTANTIATE_CODEC(api::ConfigMapVolumeSource);
BERTH_INSTANTIATE_CODEC(api::PersistentVolumeClaimTemplate);
BERTH_INSTANTIATE_CODEC(api::EphemeralVolumeSource);
BERTH_INSTANTIATE_CODEC(api::GCEPersistentDiskVolumeSource);
BERTH_INSTANTIATE_CODEC(api::ISCSIVolumeSource);
BERTH_INSTANTIATE_CODEC(api::VsphereVirtualDiskVolumeSource);
BERTH_INSTANTIATE_CODEC(api::PortworxVolumeSource);
BERTH_INSTANTIATE_CODEC(api::PersistentVolumeClaimVolumeSource);
BERTH_INSTANTIATE_CODEC(api::SecretVolumeSource);
BERTH_INSTANTIATE_CODEC(api::RBDVolumeSource);
BERTH_INSTANTIATE_CODEC(api::VolumeSource);
BERTH_INSTANTIATE_CODEC(api::Volume);

}  // namespace berth::wire
