#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/object_reference.h"

// Volume sources that some plugin reads; all others are dropped on decode.
namespace berth::api {

struct AWSElasticBlockStoreVolumeSource {
  std::string volume_id;
  std::string fs_type;
  std::int32_t partition = 0;
  bool read_only = false;

  bool operator==(const AWSElasticBlockStoreVolumeSource&) const = default;
};

struct AzureDiskVolumeSource {
  std::string disk_name;
  std::string disk_uri;
  std::optional<std::string> caching_mode;
  std::optional<std::string> fs_type;
  std::optional<bool> read_only;
  std::optional<std::string> kind;

  bool operator==(const AzureDiskVolumeSource&) const = default;
};

struct AzureFileVolumeSource {
  std::string secret_name;
  std::string share_name;
  bool read_only = false;

  bool operator==(const AzureFileVolumeSource&) const = default;
};

struct CSIVolumeSource {
  std::string driver;

  bool operator==(const CSIVolumeSource&) const = default;
};

struct CinderVolumeSource {
  std::string volume_id;
  std::string fs_type;
  bool read_only = false;
  std::optional<LocalObjectReference> secret_ref;

  bool operator==(const CinderVolumeSource&) const = default;
};

struct ConfigMapVolumeSource {
  bool operator==(const ConfigMapVolumeSource&) const = default;
};

struct PersistentVolumeClaimTemplate {
  bool operator==(const PersistentVolumeClaimTemplate&) const = default;
};

struct EphemeralVolumeSource {
  std::optional<PersistentVolumeClaimTemplate> volume_claim_template;

  bool operator==(const EphemeralVolumeSource&) const = default;
};

struct GCEPersistentDiskVolumeSource {
  std::string pd_name;
  std::string fs_type;
  std::int32_t partition = 0;
  bool read_only = false;

  bool operator==(const GCEPersistentDiskVolumeSource&) const = default;
};

struct ISCSIVolumeSource {
  std::string iqn;
  bool read_only = false;

  bool operator==(const ISCSIVolumeSource&) const = default;
};

struct VsphereVirtualDiskVolumeSource {
  std::string volume_path;
  std::string fs_type;
  std::string storage_policy_name;
  std::string storage_policy_id;

  bool operator==(const VsphereVirtualDiskVolumeSource&) const = default;
};

struct PortworxVolumeSource {
  std::string volume_id;
  std::string fs_type;
  bool read_only = false;

  bool operator==(const PortworxVolumeSource&) const = default;
};

struct PersistentVolumeClaimVolumeSource {
  std::string claim_name;

  bool operator==(const PersistentVolumeClaimVolumeSource&) const = default;
};

struct SecretVolumeSource {
  bool operator==(const SecretVolumeSource&) const = default;
};

struct RBDVolumeSource {
  std::vector<std::string> monitors;
  std::string image;
  std::string pool;
  bool read_only = false;

  bool operator==(const RBDVolumeSource&) const = default;
};

struct VolumeSource {
  std::optional<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  std::optional<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  std::optional<SecretVolumeSource> secret;
  std::optional<ISCSIVolumeSource> iscsi;
  std::optional<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  std::optional<RBDVolumeSource> rbd;
  std::optional<CinderVolumeSource> cinder;
  std::optional<AzureFileVolumeSource> azure_file;
  std::optional<ConfigMapVolumeSource> config_map;
  std::optional<VsphereVirtualDiskVolumeSource> vsphere_volume;
  std::optional<AzureDiskVolumeSource> azure_disk;
  std::optional<PortworxVolumeSource> portworx_volume;
  std::optional<CSIVolumeSource> csi;
  std::optional<EphemeralVolumeSource> ephemeral;

  bool operator==(const VolumeSource&) const = default;
};

struct Volume {
  std::string name;
  VolumeSource volume_source;

  bool operator==(const Volume&) const = default;
};

}  // namespace berth::api
