#include "plugins/volume_bed.h"

#include "base/check.h"

namespace berth::plugins::test {
namespace {

api::Quantity Parse(std::string_view text) {
  auto quantity = api::Quantity::Parse(text);
  BERTH_CHECK(quantity.has_value());
  return *std::move(quantity);
}

}  // namespace

ClaimBuilder::ClaimBuilder(std::string name) {
  claim_.metadata.uid = "uid-" + name;
  claim_.metadata.name = std::move(name);
  claim_.metadata.namespace_ = "default";
  claim_.metadata.resource_version = "1";
  claim_.spec.access_modes = {"ReadWriteOnce"};
}
ClaimBuilder& ClaimBuilder::Namespace(std::string name) {
  claim_.metadata.namespace_ = std::move(name);
  return *this;
}
ClaimBuilder& ClaimBuilder::Class(std::string name) {
  claim_.spec.storage_class_name = std::move(name);
  return *this;
}
ClaimBuilder& ClaimBuilder::Request(std::string_view quantity) {
  claim_.spec.resources.requests.insert_or_assign(std::string("storage"), Parse(quantity));
  return *this;
}
ClaimBuilder& ClaimBuilder::Modes(std::vector<std::string> modes) {
  claim_.spec.access_modes = std::move(modes);
  return *this;
}
ClaimBuilder& ClaimBuilder::BoundTo(std::string volume) {
  claim_.spec.volume_name = std::move(volume);
  return Annotation("pv.kubernetes.io/bind-completed", "yes");
}
ClaimBuilder& ClaimBuilder::Annotation(std::string key, std::string value) {
  claim_.metadata.annotations.insert_or_assign(std::move(key), std::move(value));
  return *this;
}
ClaimBuilder& ClaimBuilder::Owner(std::string uid, bool controller) {
  api::OwnerReference& owner = claim_.metadata.owner_references.emplace_back();
  owner.uid = std::move(uid);
  if (controller) owner.controller = true;
  return *this;
}
ClaimBuilder& ClaimBuilder::Version(std::string version) {
  claim_.metadata.resource_version = std::move(version);
  return *this;
}

VolumeBuilder::VolumeBuilder(std::string name) {
  volume_.metadata.name = std::move(name);
  volume_.metadata.resource_version = "1";
  volume_.spec.access_modes = {"ReadWriteOnce"};
  volume_.status.phase = "Available";
}
VolumeBuilder& VolumeBuilder::Class(std::string name) {
  volume_.spec.storage_class_name = std::move(name);
  return *this;
}
VolumeBuilder& VolumeBuilder::Capacity(std::string_view quantity) {
  volume_.spec.capacity.insert_or_assign(std::string("storage"), Parse(quantity));
  return *this;
}
VolumeBuilder& VolumeBuilder::Modes(std::vector<std::string> modes) {
  volume_.spec.access_modes = std::move(modes);
  return *this;
}
VolumeBuilder& VolumeBuilder::Label(std::string key, std::string value) {
  volume_.metadata.labels.insert_or_assign(std::move(key), std::move(value));
  return *this;
}
VolumeBuilder& VolumeBuilder::Affinity(std::string key, std::vector<std::string> values, std::string op) {
  if (!volume_.spec.node_affinity) volume_.spec.node_affinity.emplace();
  if (!volume_.spec.node_affinity->required) volume_.spec.node_affinity->required.emplace();
  volume_.spec.node_affinity->required->node_selector_terms.push_back(
      {.match_expressions = {{std::move(key), std::move(op), std::move(values)}}, .match_fields = {}});
  return *this;
}
VolumeBuilder& VolumeBuilder::MeantFor(std::string claim, std::string uid) {
  volume_.spec.claim_ref.emplace();
  volume_.spec.claim_ref->namespace_ = "default";
  volume_.spec.claim_ref->name = std::move(claim);
  volume_.spec.claim_ref->uid = std::move(uid);
  return *this;
}
VolumeBuilder& VolumeBuilder::Phase(std::string phase) {
  volume_.status.phase = std::move(phase);
  return *this;
}
VolumeBuilder& VolumeBuilder::Csi(std::string driver, std::string handle) {
  volume_.spec.persistent_volume_source.csi = {std::move(driver), std::move(handle)};
  return *this;
}
VolumeBuilder& VolumeBuilder::Ebs(std::string id) {
  volume_.spec.persistent_volume_source.aws_elastic_block_store.emplace().volume_id = std::move(id);
  return *this;
}
VolumeBuilder& VolumeBuilder::Gce(std::string name) {
  volume_.spec.persistent_volume_source.gce_persistent_disk.emplace().pd_name = std::move(name);
  return *this;
}
VolumeBuilder& VolumeBuilder::Version(std::string version) {
  volume_.metadata.resource_version = std::move(version);
  return *this;
}

api::StorageClass MakeClass(std::string name, std::string provisioner, std::string mode) {
  api::StorageClass made;
  made.metadata.name = std::move(name);
  made.provisioner = std::move(provisioner);
  made.volume_binding_mode = std::move(mode);
  return made;
}

api::CSINode MakeCsiNode(std::string node, std::vector<std::pair<std::string, int>> limits,
                         std::string migrated) {
  api::CSINode made;
  made.metadata.name = std::move(node);
  if (!migrated.empty()) {
    made.metadata.annotations.insert_or_assign(std::string("storage.alpha.kubernetes.io/migrated-plugins"),
                                               std::move(migrated));
  }
  for (auto& [name, limit] : limits) {
    api::CSINodeDriver& driver = made.spec.drivers.emplace_back();
    driver.name = std::move(name);
    if (limit >= 0) driver.allocatable.emplace().count = limit;
  }
  return made;
}

api::CSIDriver MakeDriver(std::string name, bool storage_capacity, bool must_be_installed) {
  api::CSIDriver made;
  made.metadata.name = std::move(name);
  made.spec.storage_capacity = storage_capacity;
  made.spec.prevent_pod_scheduling_if_missing = must_be_installed;
  return made;
}

api::CSIStorageCapacity MakeCapacity(std::string name, std::string class_name, std::string_view capacity) {
  api::CSIStorageCapacity made;
  made.metadata.name = std::move(name);
  made.metadata.namespace_ = "driver";
  made.storage_class_name = std::move(class_name);
  made.node_topology.emplace();
  if (!capacity.empty()) made.capacity = Parse(capacity);
  return made;
}

api::VolumeAttachment MakeAttachment(std::string name, std::string node, std::string attacher,
                                     std::string volume) {
  api::VolumeAttachment made;
  made.metadata.name = std::move(name);
  made.spec.node_name = std::move(node);
  made.spec.attacher = std::move(attacher);
  if (!volume.empty()) made.spec.source.persistent_volume_name = std::move(volume);
  return made;
}

api::Volume EphemeralVolume(std::string name) {
  api::Volume volume;
  volume.name = std::move(name);
  volume.volume_source.ephemeral.emplace();
  return volume;
}

api::Volume GceDisk(std::string name, bool read_only) {
  api::Volume volume;
  volume.name = "gce-" + name;
  auto& disk = volume.volume_source.gce_persistent_disk.emplace();
  disk.pd_name = std::move(name);
  disk.read_only = read_only;
  return volume;
}

api::Volume EbsDisk(std::string id, bool read_only) {
  api::Volume volume;
  volume.name = "ebs-" + id;
  auto& disk = volume.volume_source.aws_elastic_block_store.emplace();
  disk.volume_id = std::move(id);
  disk.read_only = read_only;
  return volume;
}

}  // namespace berth::plugins::test
