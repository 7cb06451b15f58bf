#pragma once

#include "api/volumes.h"
#include "wire/binding.h"
#include "wire/bindings/object_reference.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::AWSElasticBlockStoreVolumeSource> {
  using T = api::AWSElasticBlockStoreVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.AWSElasticBlockStoreVolumeSource";
  static constexpr auto kFields =
      std::tuple{Bound{"volumeID", &T::volume_id}, Bound{"fsType", &T::fs_type},
                 Bound{"partition", &T::partition}, Bound{"readOnly", &T::read_only}};
};

template <>
struct Binding<api::AzureDiskVolumeSource> {
  using T = api::AzureDiskVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.AzureDiskVolumeSource";
  static constexpr auto kFields =
      std::tuple{Bound{"diskName", &T::disk_name},       Bound{"diskURI", &T::disk_uri},
                 Bound{"cachingMode", &T::caching_mode}, Bound{"fsType", &T::fs_type},
                 Bound{"readOnly", &T::read_only},       Bound{"kind", &T::kind}};
};

template <>
struct Binding<api::AzureFileVolumeSource> {
  using T = api::AzureFileVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.AzureFileVolumeSource";
  static constexpr auto kFields =
      std::tuple{Bound{"secretName", &T::secret_name}, Bound{"shareName", &T::share_name},
                 Bound{"readOnly", &T::read_only}};
};

template <>
struct Binding<api::CSIVolumeSource> {
  using T = api::CSIVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.CSIVolumeSource";
  static constexpr auto kFields = std::tuple{Bound{"driver", &T::driver}};
};

template <>
struct Binding<api::CinderVolumeSource> {
  using T = api::CinderVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.CinderVolumeSource";
  static constexpr auto kFields =
      std::tuple{Bound{"volumeID", &T::volume_id}, Bound{"fsType", &T::fs_type},
                 Bound{"readOnly", &T::read_only}, Bound{"secretRef", &T::secret_ref}};
};

template <>
struct Binding<api::ConfigMapVolumeSource> {
  using T = api::ConfigMapVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.ConfigMapVolumeSource";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::PersistentVolumeClaimTemplate> {
  using T = api::PersistentVolumeClaimTemplate;
  static constexpr std::string_view kMessage = "core.v1.PersistentVolumeClaimTemplate";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::EphemeralVolumeSource> {
  using T = api::EphemeralVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.EphemeralVolumeSource";
  static constexpr auto kFields = std::tuple{Bound{"volumeClaimTemplate", &T::volume_claim_template}};
};

template <>
struct Binding<api::GCEPersistentDiskVolumeSource> {
  using T = api::GCEPersistentDiskVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.GCEPersistentDiskVolumeSource";
  static constexpr auto kFields =
      std::tuple{Bound{"pdName", &T::pd_name}, Bound{"fsType", &T::fs_type},
                 Bound{"partition", &T::partition}, Bound{"readOnly", &T::read_only}};
};

template <>
struct Binding<api::ISCSIVolumeSource> {
  using T = api::ISCSIVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.ISCSIVolumeSource";
  static constexpr auto kFields = std::tuple{Bound{"iqn", &T::iqn}, Bound{"readOnly", &T::read_only}};
};

template <>
struct Binding<api::VsphereVirtualDiskVolumeSource> {
  using T = api::VsphereVirtualDiskVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.VsphereVirtualDiskVolumeSource";
  static constexpr auto kFields = std::tuple{
      Bound{"volumePath", &T::volume_path}, Bound{"fsType", &T::fs_type},
      Bound{"storagePolicyName", &T::storage_policy_name}, Bound{"storagePolicyID", &T::storage_policy_id}};
};

template <>
struct Binding<api::PortworxVolumeSource> {
  using T = api::PortworxVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.PortworxVolumeSource";
  static constexpr auto kFields = std::tuple{Bound{"volumeID", &T::volume_id}, Bound{"fsType", &T::fs_type},
                                             Bound{"readOnly", &T::read_only}};
};

template <>
struct Binding<api::PersistentVolumeClaimVolumeSource> {
  using T = api::PersistentVolumeClaimVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.PersistentVolumeClaimVolumeSource";
  static constexpr auto kFields = std::tuple{Bound{"claimName", &T::claim_name}};
};

template <>
struct Binding<api::SecretVolumeSource> {
  using T = api::SecretVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.SecretVolumeSource";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::RBDVolumeSource> {
  using T = api::RBDVolumeSource;
  static constexpr std::string_view kMessage = "core.v1.RBDVolumeSource";
  static constexpr auto kFields = std::tuple{Bound{"monitors", &T::monitors}, Bound{"image", &T::image},
                                             Bound{"pool", &T::pool}, Bound{"readOnly", &T::read_only}};
};

template <>
struct Binding<api::VolumeSource> {
  using T = api::VolumeSource;
  static constexpr std::string_view kMessage = "core.v1.VolumeSource";
  static constexpr auto kFields = std::tuple{Bound{"gcePersistentDisk", &T::gce_persistent_disk},
                                             Bound{"awsElasticBlockStore", &T::aws_elastic_block_store},
                                             Bound{"secret", &T::secret},
                                             Bound{"iscsi", &T::iscsi},
                                             Bound{"persistentVolumeClaim", &T::persistent_volume_claim},
                                             Bound{"rbd", &T::rbd},
                                             Bound{"cinder", &T::cinder},
                                             Bound{"azureFile", &T::azure_file},
                                             Bound{"configMap", &T::config_map},
                                             Bound{"vsphereVolume", &T::vsphere_volume},
                                             Bound{"azureDisk", &T::azure_disk},
                                             Bound{"portworxVolume", &T::portworx_volume},
                                             Bound{"csi", &T::csi},
                                             Bound{"ephemeral", &T::ephemeral}};
};

template <>
struct Binding<api::Volume> {
  using T = api::Volume;
  static constexpr std::string_view kMessage = "core.v1.Volume";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name}, Bound{"volumeSource", &T::volume_source}};
};

}  // namespace berth::wire
