#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/storage.h"
#include "cluster/object_store.h"
#include "plugins/plugin_harness.h"
#include "support/builders.h"

// Volumes, claims and what belongs to them, one line each, and a cluster to put them in.
namespace berth::plugins::test {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::PluginHarness;
using berth::test::PodBuilder;

using berth::test::kZone;
inline constexpr const char* kBetaZone = "failure-domain.beta.kubernetes.io/zone";
using berth::test::kHost;
inline constexpr const char* kNoProvisioner = "kubernetes.io/no-provisioner";
inline constexpr const char* kEbs = "ebs.csi.aws.com";

class ClaimBuilder {
 public:
  // In the namespace "default", with the uid "uid-NAME", version 1 and mode ReadWriteOnce.
  explicit ClaimBuilder(std::string name);

  ClaimBuilder& Namespace(std::string name);
  ClaimBuilder& Class(std::string name);
  ClaimBuilder& Request(std::string_view quantity);
  ClaimBuilder& Modes(std::vector<std::string> modes);
  // As the controllers leave it.
  ClaimBuilder& BoundTo(std::string volume);
  ClaimBuilder& Annotation(std::string key, std::string value);
  ClaimBuilder& SelectedNode(std::string node) {
    return Annotation("volume.kubernetes.io/selected-node", std::move(node));
  }
  ClaimBuilder& Owner(std::string uid, bool controller = true);
  ClaimBuilder& Version(std::string version);
  api::PersistentVolumeClaim& claim() { return claim_; }
  operator api::PersistentVolumeClaim() const { return claim_; }

 private:
  api::PersistentVolumeClaim claim_;
};
inline ClaimBuilder MakeClaim(std::string name) { return ClaimBuilder(std::move(name)); }

class VolumeBuilder {
 public:
  // Available, version 1, mode ReadWriteOnce.
  explicit VolumeBuilder(std::string name);

  VolumeBuilder& Class(std::string name);
  VolumeBuilder& Capacity(std::string_view quantity);
  VolumeBuilder& Modes(std::vector<std::string> modes);
  VolumeBuilder& Label(std::string key, std::string value);
  // One more term: nodes with one of these values.
  VolumeBuilder& Affinity(std::string key, std::vector<std::string> values, std::string op = "In");
  VolumeBuilder& MeantFor(std::string claim, std::string uid = "");
  VolumeBuilder& Phase(std::string phase);
  VolumeBuilder& Csi(std::string driver, std::string handle);
  VolumeBuilder& Ebs(std::string id);
  VolumeBuilder& Gce(std::string name);
  VolumeBuilder& Version(std::string version);
  api::PersistentVolume& volume() { return volume_; }
  operator api::PersistentVolume() const { return volume_; }

 private:
  api::PersistentVolume volume_;
};
inline VolumeBuilder MakeVolume(std::string name) { return VolumeBuilder(std::move(name)); }

inline constexpr const char* kLate = "WaitForFirstConsumer";
api::StorageClass MakeClass(std::string name, std::string provisioner, std::string mode = kLate);
// A driver with a negative limit has none.
api::CSINode MakeCsiNode(std::string node, std::vector<std::pair<std::string, int>> limits,
                         std::string migrated = "");
api::CSIDriver MakeDriver(std::string name, bool storage_capacity, bool must_be_installed = false);
api::CSIStorageCapacity MakeCapacity(std::string name, std::string class_name, std::string_view capacity);
api::VolumeAttachment MakeAttachment(std::string name, std::string node, std::string attacher,
                                     std::string volume);
api::Volume EphemeralVolume(std::string name);
api::Volume GceDisk(std::string name, bool read_only = false);
api::Volume EbsDisk(std::string id, bool read_only = false);

// The harness of a plugin or several, with objects.
class VolumeBed : public PluginHarness {
 public:
  using PluginHarness::PluginHarness;

  // The same, but what follows may be an object.
  VolumeBed& Add(const api::Node& node) {
    PluginHarness::Add(node);
    return *this;
  }
  VolumeBed& Add(const PodBuilder& pod) {
    PluginHarness::Add(pod);
    return *this;
  }
  template <class T>
  VolumeBed& Set(const T& object) {
    cluster().objects().Of<T>().Set(std::make_shared<const T>(object));
    return *this;
  }
  VolumeBed& Set(const ClaimBuilder& claim) { return Set<api::PersistentVolumeClaim>(claim); }
  VolumeBed& Set(const VolumeBuilder& volume) { return Set<api::PersistentVolume>(volume); }
  template <class T>
  VolumeBed& Remove(std::string_view name, std::string_view namespace_ = {}) {
    cluster().objects().Of<T>().Remove(namespace_, name);
    return *this;
  }
  // The text of the error that fails the attempt.
  std::string Error(const PodBuilder& pod) { return Explain(pod).error.Message(); }
};

}  // namespace berth::plugins::test
