#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "plugins/hint_objects.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_capacity_index.h"
#include "plugins/volume_claims.h"
#include "plugins/volume_csi_migration.h"
#include "plugins/volume_hints.h"

// What may wake a pod that VolumeBinding rejected.
namespace berth::plugins {
namespace {

using framework::Hint;
using framework::HintInput;

base::Result<Hint> AfterClassChange(const HintInput& input) {
  const auto storage_class = ChangedObjectsOf<api::StorageClass>(input);
  if (!storage_class) return std::unexpected(storage_class.error());
  return QueueIf(storage_class->before == nullptr ||
                 storage_class->before->allowed_topologies != storage_class->after->allowed_topologies);
}

base::Result<Hint> AfterClaimChange(const HintInput& input) {
  const auto claim = ChangedObjectsOf<api::PersistentVolumeClaim>(input);
  if (!claim) return std::unexpected(claim.error());
  return QueueIf(NamesClaim(input.record(), *claim->after, Ephemeral::kCount));
}

std::string MigratedText(const api::CSINode& node) {
  const std::string* const list = node.metadata.annotations.find(kMigratedPlugins);
  return list != nullptr ? *list : std::string();
}

base::Result<Hint> AfterCsiNodeChange(const HintInput& input) {
  const auto node = ChangedObjectsOf<api::CSINode>(input);
  if (!node) return std::unexpected(node.error());
  return QueueIf(node->before == nullptr || MigratedText(*node->before) != MigratedText(*node->after));
}

base::Result<Hint> AfterDriverUpdate(const HintInput& input) {
  const auto driver = ChangedObjectsOf<api::CSIDriver>(input);
  if (!driver) return std::unexpected(driver.error());
  if (driver->before == nullptr) return base::Fail("the event has no old object");
  const bool freed = driver->before->spec.storage_capacity.value_or(false) &&
                     !driver->after->spec.storage_capacity.value_or(false);
  const auto& volumes = input.record().spec->spec.volumes;
  return QueueIf(freed && std::ranges::any_of(volumes, [&](const api::Volume& volume) {
                   return volume.volume_source.csi &&
                          volume.volume_source.csi->driver == driver->after->metadata.name;
                 }));
}

base::Result<Hint> AfterCapacityChange(const HintInput& input) {
  const auto capacity = ChangedObjectsOf<api::CSIStorageCapacity>(input);
  if (!capacity) return std::unexpected(capacity.error());
  if (capacity->before == nullptr) return Hint::kQueue;
  const std::optional<std::int64_t> before = LimitOf(*capacity->before);
  const std::optional<std::int64_t> after = LimitOf(*capacity->after);
  return QueueIf(after && (!before || *after > *before));
}

}  // namespace

std::vector<framework::EventRegistration> VolumeBinding::EventsToRegister() const {
  using framework::EventResource;
  constexpr framework::Actions kChange = framework::kAdd | framework::kUpdate;
  return {
      {.event = {EventResource::kStorageClass, kChange}, .hint = AfterClassChange, .by_template = true},
      {.event = {EventResource::kPersistentVolumeClaim, kChange},
       .hint = AfterClaimChange,
       .pre_hint = PodsNamingTheClaim(waiting_)},
      {.event = {EventResource::kPersistentVolume, kChange}},
      {.event = {EventResource::kNode, framework::kAdd | framework::kUpdateNodeLabel}},
      {.event = {EventResource::kCSINode, kChange}, .hint = AfterCsiNodeChange, .by_template = true},
      {.event = {EventResource::kCSIDriver, framework::kUpdate},
       .hint = AfterDriverUpdate,
       .by_template = true},
      {.event = {EventResource::kCSIStorageCapacity, kChange},
       .hint = AfterCapacityChange,
       .by_template = true},
  };
}

}  // namespace berth::plugins
