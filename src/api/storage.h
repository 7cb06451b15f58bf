#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/node_selector.h"
#include "api/object_reference.h"
#include "api/quantity.h"
#include "api/resource_list.h"
#include "api/volumes.h"
#include "base/boxed.h"

// Volumes, claims, classes and what CSI drivers say about nodes and capacity.
namespace berth::api {

struct AzureFilePersistentVolumeSource {
  std::string secret_name;
  std::string share_name;
  bool read_only = false;
  std::optional<std::string> secret_namespace;

  bool operator==(const AzureFilePersistentVolumeSource&) const = default;
};

struct CSIPersistentVolumeSource {
  std::string driver;
  std::string volume_handle;

  bool operator==(const CSIPersistentVolumeSource&) const = default;
};

struct CinderPersistentVolumeSource {
  std::string volume_id;
  std::string fs_type;
  bool read_only = false;
  std::optional<SecretReference> secret_ref;

  bool operator==(const CinderPersistentVolumeSource&) const = default;
};

// A volume has one of them, so the others should take little.
struct PersistentVolumeSource {
  base::Boxed<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  base::Boxed<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  base::Boxed<CinderPersistentVolumeSource> cinder;
  base::Boxed<AzureFilePersistentVolumeSource> azure_file;
  base::Boxed<VsphereVirtualDiskVolumeSource> vsphere_volume;
  base::Boxed<AzureDiskVolumeSource> azure_disk;
  base::Boxed<PortworxVolumeSource> portworx_volume;
  base::Boxed<CSIPersistentVolumeSource> csi;

  bool operator==(const PersistentVolumeSource&) const = default;
};

struct VolumeNodeAffinity {
  std::optional<NodeSelector> required;

  bool operator==(const VolumeNodeAffinity&) const = default;
};

struct PersistentVolumeSpec {
  ResourceList capacity;
  PersistentVolumeSource persistent_volume_source;
  std::vector<std::string> access_modes;
  base::Boxed<ObjectReference> claim_ref;
  std::string storage_class_name;
  std::optional<std::string> volume_mode;
  std::optional<VolumeNodeAffinity> node_affinity;
  std::optional<std::string> volume_attributes_class_name;

  bool operator==(const PersistentVolumeSpec&) const = default;
};

struct PersistentVolumeStatus {
  std::string phase;

  bool operator==(const PersistentVolumeStatus&) const = default;
};

struct PersistentVolume {
  ObjectMeta metadata;
  PersistentVolumeSpec spec;
  PersistentVolumeStatus status;

  bool operator==(const PersistentVolume&) const = default;
};

struct VolumeResourceRequirements {
  ResourceList limits;
  ResourceList requests;

  bool operator==(const VolumeResourceRequirements&) const = default;
};

struct PersistentVolumeClaimSpec {
  std::vector<std::string> access_modes;
  std::optional<LabelSelector> selector;
  VolumeResourceRequirements resources;
  std::string volume_name;
  std::optional<std::string> storage_class_name;
  std::optional<std::string> volume_mode;
  std::optional<std::string> volume_attributes_class_name;

  bool operator==(const PersistentVolumeClaimSpec&) const = default;
};

struct PersistentVolumeClaimStatus {
  std::string phase;

  bool operator==(const PersistentVolumeClaimStatus&) const = default;
};

struct PersistentVolumeClaim {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
  PersistentVolumeClaimStatus status;

  bool operator==(const PersistentVolumeClaim&) const = default;
};

struct TopologySelectorLabelRequirement {
  std::string key;
  std::vector<std::string> values;

  bool operator==(const TopologySelectorLabelRequirement&) const = default;
};

struct TopologySelectorTerm {
  std::vector<TopologySelectorLabelRequirement> match_label_expressions;

  bool operator==(const TopologySelectorTerm&) const = default;
};

struct CSIDriverSpec {
  std::optional<bool> storage_capacity;
  std::optional<bool> prevent_pod_scheduling_if_missing;

  bool operator==(const CSIDriverSpec&) const = default;
};

struct CSIDriver {
  ObjectMeta metadata;
  CSIDriverSpec spec;

  bool operator==(const CSIDriver&) const = default;
};

struct VolumeNodeResources {
  std::optional<std::int32_t> count;

  bool operator==(const VolumeNodeResources&) const = default;
};

struct CSINodeDriver {
  std::string name;
  std::optional<VolumeNodeResources> allocatable;

  bool operator==(const CSINodeDriver&) const = default;
};

struct CSINodeSpec {
  std::vector<CSINodeDriver> drivers;

  bool operator==(const CSINodeSpec&) const = default;
};

struct CSINode {
  ObjectMeta metadata;
  CSINodeSpec spec;

  bool operator==(const CSINode&) const = default;
};

struct CSIStorageCapacity {
  ObjectMeta metadata;
  std::optional<LabelSelector> node_topology;
  std::string storage_class_name;
  std::optional<Quantity> capacity;
  std::optional<Quantity> maximum_volume_size;

  bool operator==(const CSIStorageCapacity&) const = default;
};

struct StorageClass {
  ObjectMeta metadata;
  std::string provisioner;
  std::optional<std::string> volume_binding_mode;
  std::vector<TopologySelectorTerm> allowed_topologies;

  bool operator==(const StorageClass&) const = default;
};

struct VolumeAttachmentSource {
  std::optional<std::string> persistent_volume_name;

  bool operator==(const VolumeAttachmentSource&) const = default;
};

struct VolumeAttachmentSpec {
  std::string attacher;
  VolumeAttachmentSource source;
  std::string node_name;

  bool operator==(const VolumeAttachmentSpec&) const = default;
};

struct VolumeAttachment {
  ObjectMeta metadata;
  VolumeAttachmentSpec spec;

  bool operator==(const VolumeAttachment&) const = default;
};

}  // namespace berth::api
