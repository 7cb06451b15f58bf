#include "plugins/node_volume_limits_volumes.h"

#include <fmt/format.h>
#include <utility>

#include "cluster/object_store.h"
#include "plugins/volume_claims.h"

namespace berth::plugins {
namespace {

// Stands for the volume that a claim will get. No driver's handle begins with it.
constexpr std::string_view kUnknownHandle = "\x01unbound-";

// Nothing: the claim's volume is not attached by a CSI driver.
std::optional<CsiVolume> ByVolume(const api::PersistentVolume& volume, bool migrated) {
  const api::PersistentVolumeSource& source = volume.spec.persistent_volume_source;
  if (source.csi) return CsiVolume{source.csi->driver, source.csi->volume_handle};
  const std::optional<InTreePlugin> plugin = InTreePluginOf(source);
  if (!plugin || !migrated || !IsMigrated(*plugin)) return std::nullopt;
  const base::Result<CsiVolume> translated = TranslateToCsi(*plugin, volume);
  return translated ? std::optional(*translated) : std::nullopt;
}

std::optional<CsiVolume> ByClass(const cluster::Cluster& cluster, const api::PersistentVolumeClaim& claim,
                                 bool migrated) {
  const std::string_view name = ClassOf(claim);
  if (name.empty()) return std::nullopt;
  const auto storage_class = cluster.objects().Of<api::StorageClass>().Find(name);
  if (!storage_class) return std::nullopt;
  std::string driver = storage_class->provisioner;
  if (const std::optional<InTreePlugin> plugin = InTreePluginOf(std::string_view(driver))) {
    if (!migrated || !IsMigrated(*plugin)) return std::nullopt;
    driver = DriverOf(*plugin);
  }
  return CsiVolume{std::move(driver), fmt::format("{}{}", kUnknownHandle, KeyOf(claim.metadata))};
}

class Scan {
 public:
  Scan(const cluster::Cluster& cluster, const api::PodRecord& pod, const AttachmentRules& rules)
      : cluster_(cluster), pod_(pod), rules_(rules) {}

  PodAttachments Run() {
    for (const PodVolume& volume : VolumesOf(pod_)) {
      if (volume.kind == ClaimKind::kNone) {
        AddInline(*volume.volume);
      } else {
        AddClaim(volume);
      }
      if (found_.error) break;
    }
    return std::move(found_);
  }

 private:
  void AddInline(const api::Volume& volume) {
    const std::optional<InTreePlugin> plugin = InTreePluginOf(volume.volume_source);
    if (!plugin || !rules_.migrated || !IsMigrated(*plugin)) return;
    base::Result<CsiVolume> translated = TranslateToCsi(*plugin, volume.volume_source);
    if (translated) {
      found_.volumes.push_back(*std::move(translated));
    } else {
      found_.error = {.not_found = false,
                      .text = fmt::format("converting volume({}) from inline to csi: {}", volume.name,
                                          translated.error().message)};
    }
  }

  void AddClaim(const PodVolume& volume) {
    if (volume.claim.empty()) {
      found_.error = {.not_found = false, .text = "PersistentVolumeClaim had no name"};
      return;
    }
    found_.claims.push_back(KeyOf(pod_.namespace_, volume.claim));
    const ClaimRef claim = FindClaim(cluster_, pod_.namespace_, volume.claim);
    if (!claim) {
      if (!rules_.missing_claim_is_error) return;
      found_.error = {.not_found = true,
                      .text = fmt::format("looking up PVC {}: {}", found_.claims.back(),
                                          NotFound("persistentvolumeclaim", volume.claim))};
      return;
    }
    if (volume.kind == ClaimKind::kEphemeral) {
      if (const auto owned = CheckOwner(pod_, *claim); !owned) {
        found_.error = {.not_found = false, .text = owned.error().message};
        return;
      }
    }
    AddVolumeOf(*claim);
  }

  void AddVolumeOf(const api::PersistentVolumeClaim& claim) {
    const VolumeRef known =
        claim.spec.volume_name.empty() ? nullptr : FindVolume(cluster_, claim.spec.volume_name);
    found_.by_class = found_.by_class || !known;
    std::optional<CsiVolume> volume =
        known ? ByVolume(*known, rules_.migrated) : ByClass(cluster_, claim, rules_.migrated);
    if (volume && !volume->driver.empty() && !volume->handle.empty()) {
      found_.volumes.push_back(*std::move(volume));
    }
  }

  const cluster::Cluster& cluster_;
  const api::PodRecord& pod_;
  const AttachmentRules rules_;
  PodAttachments found_;
};

}  // namespace

PodAttachments AttachmentsOf(const cluster::Cluster& cluster, const api::PodRecord& pod,
                             const AttachmentRules& rules) {
  return Scan(cluster, pod, rules).Run();
}

}  // namespace berth::plugins
