#include "wire/bindings/list.h"
#include "wire/bindings/storage.h"
#include "wire/typed_codec.h"

namespace berth::wire {

BERTH_INSTANTIATE_KIND(api::PersistentVolume);
BERTH_INSTANTIATE_KIND(api::PersistentVolumeClaim);
BERTH_INSTANTIATE_KIND(api::CSIDriver);
BERTH_INSTANTIATE_KIND(api::CSINode);
BERTH_INSTANTIATE_KIND(api::CSIStorageCapacity);
BERTH_INSTANTIATE_KIND(api::StorageClass);
BERTH_INSTANTIATE_KIND(api::VolumeAttachment);

BERTH_INSTANTIATE_CODEC(api::AzureFilePersistentVolumeSource);
BERTH_INSTANTIATE_CODEC(api::CSIPersistentVolumeSource);
BERTH_INSTANTIATE_CODEC(api::CinderPersistentVolumeSource);
BERTH_INSTANTIATE_CODEC(api::PersistentVolumeSource);
BERTH_INSTANTIATE_CODEC(api::VolumeNodeAffinity);
BERTH_INSTANTIATE_CODEC(api::PersistentVolumeSpec);
BERTH_INSTANTIATE_CODEC(api::PersistentVolumeStatus);
BERTH_INSTANTIATE_CODEC(api::VolumeResourceRequirements);
BERTH_INSTANTIATE_CODEC(api::PersistentVolumeClaimSpec);
BERTH_INSTANTIATE_CODEC(api::PersistentVolumeClaimStatus);
BERTH_INSTANTIATE_CODEC(api::TopologySelectorLabelRequirement);
BERTH_INSTANTIATE_CODEC(api::TopologySelectorTerm);
BERTH_INSTANTIATE_CODEC(api::CSIDriverSpec);
BERTH_INSTANTIATE_CODEC(api::VolumeNodeResources);
BERTH_INSTANTIATE_CODEC(api::CSINodeDriver);
BERTH_INSTANTIATE_CODEC(api::CSINodeSpec);
BERTH_INSTANTIATE_CODEC(api::VolumeAttachmentSource);
BERTH_INSTANTIATE_CODEC(api::VolumeAttachmentSpec);

}  // namespace berth::wire
