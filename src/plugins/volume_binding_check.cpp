#include "plugins/volume_binding_check.h"

#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "plugins/volume_claims.h"

namespace berth::plugins {
namespace {

std::optional<std::uint64_t> VersionOf(const api::ObjectMeta& metadata) {
  const std::string& text = metadata.resource_version;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What the watch has told is from before our write.
bool IsOlder(const api::ObjectMeta& seen, const api::ObjectMeta& written) {
  const auto seen_version = VersionOf(seen);
  const auto written_version = VersionOf(written);
  return seen_version && written_version && *seen_version < *written_version;
}

class Checker {
 public:
  Checker(const cluster::Cluster& cluster, const CsiNodes& csi_nodes, const ReservedVolumes& reserved)
      : cluster_(cluster), csi_nodes_(csi_nodes), reserved_(reserved) {}

  BindingCheck Run(const api::PodRecord& pod) {
    if (!FindNode() || !FindPod(pod)) return std::move(check_);
    for (const ReservedVolume& volume : reserved_.volumes) {
      if (!CheckVolume(volume)) return std::move(check_);
    }
    for (const ReservedClaim& claim : reserved_.claims) {
      if (!CheckClaim(claim)) return std::move(check_);
    }
    check_.done = true;
    return std::move(check_);
  }

 private:
  // Each says whether to go on; if not, the answer is in check_: an error, or not yet.
  bool Fail(std::string text) {
    check_.error = std::move(text);
    return false;
  }

  bool FindNode() {
    check_.looked_at.push_back(VolumeWatch::NodeKey(reserved_.node));
    row_ = cluster_.nodes().Find(reserved_.node);
    if (row_.IsValid() && cluster_.nodes().exists(row_)) return true;
    return Fail(
        fmt::format("failed to get node \"{}\": {}", reserved_.node, NotFound("node", reserved_.node)));
  }

  bool FindPod(const api::PodRecord& pod) {
    check_.looked_at.push_back(VolumeWatch::PodKey(pod.uid));
    if (cluster_.pods().Find(pod.namespace_, pod.name).IsValid()) return true;
    return Fail(fmt::format("pod does not exist any more: {}", NotFound("pod", pod.name)));
  }

  ClaimRef LookAtClaim(const api::ObjectMeta& claim) {
    check_.looked_at.push_back(VolumeWatch::ClaimKey(claim));
    return FindClaim(cluster_, claim.namespace_, claim.name);
  }
  VolumeRef LookAtVolume(const std::string& name) {
    check_.looked_at.push_back(VolumeWatch::VolumeKey(name));
    return FindVolume(cluster_, name);
  }

  // A volume that was built in must be translatable where a driver has taken over.
  base::Result<void> CheckTranslation(const api::PersistentVolume& volume) const {
    const auto plugin = InTreePluginOf(volume.spec.persistent_volume_source);
    if (!plugin || (BitOf(*plugin) & csi_nodes_.Migrated(row_)) == 0) return {};
    if (const auto translated = TranslateToCsi(*plugin, volume); !translated) {
      return base::Fail(fmt::format("could not translate pv: {}", translated.error().message));
    }
    return {};
  }

  bool CheckPlace(const api::PersistentVolume& volume) {
    const cluster::LabelSetId labels = cluster_.nodes().label_set()[row_.index()];
    const auto usable = CheckAffinity(volume, csi_nodes_.Migrated(row_), cluster_.labels().View(labels));
    if (usable) return true;
    return Fail(fmt::format("pv \"{}\" node affinity doesn't match node \"{}\": {}", volume.metadata.name,
                            reserved_.node, usable.error().message));
  }

  bool CheckVolume(const ReservedVolume& reserved) {
    const std::string& name = reserved.chosen->metadata.name;
    const VolumeRef volume = LookAtVolume(name);
    if (!volume) return Fail("failed to check binding: " + NotFound("persistentvolumes", name));
    const ClaimRef claim = LookAtClaim(reserved.claim->metadata);
    if (!claim) {
      return Fail("failed to check binding: " +
                  NotFound("persistentvolumeclaims", KeyOf(reserved.claim->metadata)));
    }
    if (IsOlder(volume->metadata, reserved.promised->metadata)) return false;
    if (const auto translated = CheckTranslation(*volume); !translated) {
      return Fail("failed to translate pv to csi: " + translated.error().message);
    }
    if (!CheckPlace(*volume)) return false;
    if (!volume->spec.claim_ref || volume->spec.claim_ref->uid.empty()) {
      return Fail(fmt::format("ClaimRef got reset for pv \"{}\"", name));
    }
    return IsFullyBound(*claim);
  }

  bool CheckClaim(const ReservedClaim& reserved) {
    const api::ObjectMeta& metadata = reserved.chosen->metadata;
    const ClaimRef claim = LookAtClaim(metadata);
    if (!claim) {
      return Fail("failed to check provisioning pvc: " + NotFound("persistentvolumeclaims", KeyOf(metadata)));
    }
    if (reserved.stored && IsOlder(claim->metadata, reserved.stored->metadata)) return false;
    if (claim->metadata.annotations.empty()) {
      return Fail(fmt::format("selectedNode annotation reset for PVC \"{}\"", metadata.name));
    }
    const std::string* const node = claim->metadata.annotations.find(kSelectedNode);
    if (node == nullptr || *node != reserved_.node) {
      return Fail(fmt::format("provisioning failed for PVC \"{}\"", metadata.name));
    }
    if (!claim->spec.volume_name.empty()) {
      const VolumeRef volume = LookAtVolume(claim->spec.volume_name);
      if (!volume) return false;
      if (const auto translated = CheckTranslation(*volume); !translated) {
        return Fail(translated.error().message);
      }
      if (!CheckPlace(*volume)) return false;
    }
    return IsFullyBound(*claim);
  }

  const cluster::Cluster& cluster_;
  const CsiNodes& csi_nodes_;
  const ReservedVolumes& reserved_;
  cluster::NodeRow row_;
  BindingCheck check_;
};

}  // namespace

BindingCheck CheckBinding(const cluster::Cluster& cluster, const CsiNodes& csi_nodes,
                          const api::PodRecord& pod, const ReservedVolumes& reserved) {
  return Checker(cluster, csi_nodes, reserved).Run(pod);
}

}  // namespace berth::plugins
