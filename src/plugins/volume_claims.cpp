#include "plugins/volume_claims.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

#include "cluster/object_store.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kBetaClass = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kStorage = "storage";
constexpr std::string_view kWaitForFirstConsumer = "WaitForFirstConsumer";

}  // namespace

std::vector<PodVolume> VolumesOf(const api::PodRecord& pod) {
  std::vector<PodVolume> volumes;
  std::size_t named = 0;  // the record holds the names that were cut out of the template, in order
  for (const api::Volume& volume : pod.spec->spec.volumes) {
    PodVolume& made = volumes.emplace_back(PodVolume{&volume, ClaimKind::kNone, {}});
    if (volume.volume_source.persistent_volume_claim) {
      made.kind = ClaimKind::kNamed;
      made.claim = pod.claims().volume_claim_names[named++];
    } else if (volume.volume_source.ephemeral) {
      made.kind = ClaimKind::kEphemeral;
      made.claim = fmt::format("{}-{}", pod.name, volume.name);
    }
  }
  return volumes;
}

bool HasNamedClaims(const api::PodSpec& spec) {
  return std::ranges::any_of(spec.volumes, [](const api::Volume& volume) {
    return volume.volume_source.persistent_volume_claim.has_value();
  });
}

bool HasClaims(const api::PodSpec& spec) {
  return std::ranges::any_of(spec.volumes, [](const api::Volume& volume) {
    return volume.volume_source.persistent_volume_claim || volume.volume_source.ephemeral;
  });
}

bool NamesClaim(const api::PodRecord& pod, const api::PersistentVolumeClaim& claim, Ephemeral ephemeral) {
  if (pod.namespace_ != claim.metadata.namespace_) return false;
  return std::ranges::any_of(VolumesOf(pod), [&](const PodVolume& volume) {
    return (volume.kind == ClaimKind::kNamed ||
            (volume.kind == ClaimKind::kEphemeral && ephemeral == Ephemeral::kCount)) &&
           volume.claim == claim.metadata.name;
  });
}

std::string KeyOf(std::string_view namespace_, std::string_view name) {
  return fmt::format("{}/{}", namespace_, name);
}

std::string KeyOf(const api::ObjectMeta& metadata) { return KeyOf(metadata.namespace_, metadata.name); }

std::string NotFound(std::string_view kind, std::string_view name) {
  return fmt::format("{} \"{}\" not found", kind, name);
}

std::string_view ClassOf(const api::PersistentVolumeClaim& claim) {
  if (const std::string* old = claim.metadata.annotations.find(kBetaClass)) return *old;
  return claim.spec.storage_class_name ? std::string_view(*claim.spec.storage_class_name) : "";
}

std::string_view ClassOf(const api::PersistentVolume& volume) {
  if (const std::string* old = volume.metadata.annotations.find(kBetaClass)) return *old;
  return volume.spec.storage_class_name;
}

bool IsFullyBound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() && claim.metadata.annotations.contains(kBindCompleted);
}

bool IsMeantFor(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const auto& reference = volume.spec.claim_ref;
  return reference && reference->name == claim.metadata.name &&
         reference->namespace_ == claim.metadata.namespace_ &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

base::Result<void> CheckOwner(const api::PodRecord& pod, const api::PersistentVolumeClaim& claim) {
  const auto controller =
      std::ranges::find_if(claim.metadata.owner_references,
                           [](const api::OwnerReference& owner) { return owner.controller.value_or(false); });
  if (controller != claim.metadata.owner_references.end() && controller->uid == pod.uid &&
      claim.metadata.namespace_ == pod.namespace_) {
    return {};
  }
  return base::Fail(fmt::format("PVC {} was not created for pod {} (pod is not owner)", KeyOf(claim.metadata),
                                KeyOf(pod.namespace_, pod.name)));
}

base::Result<bool> BindsLate(const cluster::Cluster& cluster, const api::PersistentVolumeClaim& claim) {
  const std::string_view name = ClassOf(claim);
  if (name.empty()) return false;
  const auto storage_class = cluster.objects().Of<api::StorageClass>().Find(name);
  if (!storage_class) return false;
  if (!storage_class->volume_binding_mode) {
    return base::Fail(fmt::format("VolumeBindingMode not set for StorageClass \"{}\"", name));
  }
  return *storage_class->volume_binding_mode == kWaitForFirstConsumer;
}

const api::Quantity* RequestOf(const api::PersistentVolumeClaim& claim) {
  return claim.spec.resources.requests.find(kStorage);
}

const api::Quantity& CapacityOf(const api::PersistentVolume& volume) {
  static const api::Quantity kNothing;
  const api::Quantity* const capacity = volume.spec.capacity.find(kStorage);
  return capacity != nullptr ? *capacity : kNothing;
}

std::vector<std::string_view> Split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string_view::npos;
       begin = end + separator.size()) {
    pieces.push_back(text.substr(begin, end - begin));
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

ClaimRef FindClaim(const cluster::Cluster& cluster, std::string_view namespace_, std::string_view name) {
  return cluster.objects().Of<api::PersistentVolumeClaim>().Find(namespace_, name);
}

VolumeRef FindVolume(const cluster::Cluster& cluster, std::string_view name) {
  return cluster.objects().Of<api::PersistentVolume>().Find(name);
}

}  // namespace berth::plugins
