#pragma once

#include "api/storage.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"
#include "wire/bindings/node_selector.h"
#include "wire/bindings/object_reference.h"
#include "wire/bindings/volumes.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::AzureFilePersistentVolumeSource> {
  using T = api::AzureFilePersistentVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.AzureFilePersistentVolumeSource";
  static constexpr auto kFields =
      std::tuple{Bound{"secretName", &T::secret_name}, Bound{"shareName", &T::share_name},
                 Bound{"readOnly", &T::read_only}, Bound{"secretNamespace", &T::secret_namespace}};
};

template <>
struct Binding<api::CSIPersistentVolumeSource> {
  using T = api::CSIPersistentVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.CSIPersistentVolumeSource";
  static constexpr auto kFields =
      std::tuple{Bound{"driver", &T::driver}, Bound{"volumeHandle", &T::volume_handle}};
};

template <>
struct Binding<api::CinderPersistentVolumeSource> {
  using T = api::CinderPersistentVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.CinderPersistentVolumeSource";
  static constexpr auto kFields =
      std::tuple{Bound{"volumeID", &T::volume_id}, Bound{"fsType", &T::fs_type},
                 Bound{"readOnly", &T::read_only}, Bound{"secretRef", &T::secret_ref}};
};

template <>
struct Binding<api::PersistentVolumeSource> {
  using T = api::PersistentVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.PersistentVolumeSource";
  static constexpr auto kFields = std::tuple{Bound{"gcePersistentDisk", &T::gce_persistent_disk},
                                             Bound{"awsElasticBlockStore", &T::aws_elastic_block_store},
                                             Bound{"cinder", &T::cinder},
                                             Bound{"azureFile", &T::azure_file},
                                             Bound{"vsphereVolume", &T::vsphere_volume},
                                             Bound{"azureDisk", &T::azure_disk},
                                             Bound{"portworxVolume", &T::portworx_volume},
                                             Bound{"csi", &T::csi}};
};

template <>
struct Binding<api::VolumeNodeAffinity> {
  using T = api::VolumeNodeAffinity;
  static constexpr std::string_view kMessage = "core.v1.VolumeNodeAffinity";
  static constexpr auto kFields = std::tuple{Bound{"required", &T::required}};
};

template <>
struct Binding<api::PersistentVolumeSpec> {
  using T = api::PersistentVolumeSpec;
  static constexpr std::string_view kMessage = "core.v1.PersistentVolumeSpec";
  static constexpr auto kFields =
      std::tuple{Bound{"capacity", &T::capacity},
                 Bound{"persistentVolumeSource", &T::persistent_volume_source},
                 Bound{"accessModes", &T::access_modes},
                 Bound{"claimRef", &T::claim_ref},
                 Bound{"storageClassName", &T::storage_class_name},
                 Bound{"volumeMode", &T::volume_mode},
                 Bound{"nodeAffinity", &T::node_affinity},
                 Bound{"volumeAttributesClassName", &T::volume_attributes_class_name}};
};

template <>
struct Binding<api::PersistentVolumeStatus> {
  using T = api::PersistentVolumeStatus;
  static constexpr std::string_view kMessage = "core.v1.PersistentVolumeStatus";
  static constexpr auto kFields = std::tuple{Bound{"phase", &T::phase}};
};

template <>
struct Binding<api::PersistentVolume> {
  using T = api::PersistentVolume;
  static constexpr std::string_view kMessage = "core.v1.PersistentVolume";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}, Bound{"status", &T::status}};
};

template <>
struct Binding<api::VolumeResourceRequirements> {
  using T = api::VolumeResourceRequirements;
  static constexpr std::string_view kMessage = "core.v1.VolumeResourceRequirements";
  static constexpr auto kFields = std::tuple{Bound{"limits", &T::limits}, Bound{"requests", &T::requests}};
};

template <>
struct Binding<api::PersistentVolumeClaimSpec> {
  using T = api::PersistentVolumeClaimSpec;
  static constexpr std::string_view kMessage = "core.v1.PersistentVolumeClaimSpec";
  static constexpr auto kFields =
      std::tuple{Bound{"accessModes", &T::access_modes},
                 Bound{"selector", &T::selector},
                 Bound{"resources", &T::resources},
                 Bound{"volumeName", &T::volume_name},
                 Bound{"storageClassName", &T::storage_class_name},
                 Bound{"volumeMode", &T::volume_mode},
                 Bound{"volumeAttributesClassName", &T::volume_attributes_class_name}};
};

template <>
struct Binding<api::PersistentVolumeClaimStatus> {
  using T = api::PersistentVolumeClaimStatus;
  static constexpr std::string_view kMessage = "core.v1.PersistentVolumeClaimStatus";
  static constexpr auto kFields = std::tuple{Bound{"phase", &T::phase}};
};

template <>
struct Binding<api::PersistentVolumeClaim> {
  using T = api::PersistentVolumeClaim;
  static constexpr std::string_view kMessage = "core.v1.PersistentVolumeClaim";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}, Bound{"status", &T::status}};
};

template <>
struct Binding<api::TopologySelectorLabelRequirement> {
  using T = api::TopologySelectorLabelRequirement;
  static constexpr std::string_view kMessage = "core.v1.TopologySelectorLabelRequirement";
  static constexpr auto kFields = std::tuple{Bound{"key", &T::key}, Bound{"values", &T::values}};
};

template <>
struct Binding<api::TopologySelectorTerm> {
  using T = api::TopologySelectorTerm;
  static constexpr std::string_view kMessage = "core.v1.TopologySelectorTerm";
  static constexpr auto kFields = std::tuple{Bound{"matchLabelExpressions", &T::match_label_expressions}};
};

template <>
struct Binding<api::CSIDriverSpec> {
  using T = api::CSIDriverSpec;
  static constexpr std::string_view kMessage = "storage.v1.CSIDriverSpec";
  static constexpr auto kFields =
      std::tuple{Bound{"storageCapacity", &T::storage_capacity},
                 Bound{"preventPodSchedulingIfMissing", &T::prevent_pod_scheduling_if_missing}};
};

template <>
struct Binding<api::CSIDriver> {
  using T = api::CSIDriver;
  static constexpr std::string_view kMessage = "storage.v1.CSIDriver";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

template <>
struct Binding<api::VolumeNodeResources> {
  using T = api::VolumeNodeResources;
  static constexpr std::string_view kMessage = "storage.v1.VolumeNodeResources";
  static constexpr auto kFields = std::tuple{Bound{"count", &T::count}};
};

template <>
struct Binding<api::CSINodeDriver> {
  using T = api::CSINodeDriver;
  static constexpr std::string_view kMessage = "storage.v1.CSINodeDriver";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name}, Bound{"allocatable", &T::allocatable}};
};

template <>
struct Binding<api::CSINodeSpec> {
  using T = api::CSINodeSpec;
  static constexpr std::string_view kMessage = "storage.v1.CSINodeSpec";
  static constexpr auto kFields = std::tuple{Bound{"drivers", &T::drivers}};
};

template <>
struct Binding<api::CSINode> {
  using T = api::CSINode;
  static constexpr std::string_view kMessage = "storage.v1.CSINode";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

template <>
struct Binding<api::CSIStorageCapacity> {
  using T = api::CSIStorageCapacity;
  static constexpr std::string_view kMessage = "storage.v1.CSIStorageCapacity";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"nodeTopology", &T::node_topology},
                 Bound{"storageClassName", &T::storage_class_name}, Bound{"capacity", &T::capacity},
                 Bound{"maximumVolumeSize", &T::maximum_volume_size}};
};

template <>
struct Binding<api::StorageClass> {
  using T = api::StorageClass;
  static constexpr std::string_view kMessage = "storage.v1.StorageClass";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"provisioner", &T::provisioner},
                 Bound{"volumeBindingMode", &T::volume_binding_mode},
                 Bound{"allowedTopologies", &T::allowed_topologies}};
};

template <>
struct Binding<api::VolumeAttachmentSource> {
  using T = api::VolumeAttachmentSource;
  static constexpr std::string_view kMessage = "storage.v1.VolumeAttachmentSource";
  static constexpr auto kFields = std::tuple{Bound{"persistentVolumeName", &T::persistent_volume_name}};
};

template <>
struct Binding<api::VolumeAttachmentSpec> {
  using T = api::VolumeAttachmentSpec;
  static constexpr std::string_view kMessage = "storage.v1.VolumeAttachmentSpec";
  static constexpr auto kFields = std::tuple{Bound{"attacher", &T::attacher}, Bound{"source", &T::source},
                                             Bound{"nodeName", &T::node_name}};
};

template <>
struct Binding<api::VolumeAttachment> {
  using T = api::VolumeAttachment;
  static constexpr std::string_view kMessage = "storage.v1.VolumeAttachment";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

}  // namespace berth::wire
