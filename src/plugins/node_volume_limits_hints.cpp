#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "plugins/hint_objects.h"
#include "plugins/node_volume_limits.h"
#include "plugins/volume_claims.h"
#include "plugins/volume_csi_migration.h"
#include "plugins/volume_hints.h"

// What may wake a pod that NodeVolumeLimits rejected.
namespace berth::plugins {
namespace {

using framework::Hint;
using framework::HintInput;

// A driver without a limit counts as one that can attach nothing, as upstream has it.
std::int32_t AttachLimitOf(const api::CSINode& node, std::string_view driver) {
  const auto found = std::ranges::find(node.spec.drivers, driver, &api::CSINodeDriver::name);
  if (found == node.spec.drivers.end() || !found->allocatable) return 0;
  return found->allocatable->count.value_or(0);
}

base::Result<Hint> AfterCsiNodeUpdate(const HintInput& input) {
  const auto node = ChangedObjectsOf<api::CSINode>(input);
  if (!node) return std::unexpected(node.error());
  if (node->before == nullptr) return base::Fail("the event has no old object");
  return QueueIf(std::ranges::any_of(node->after->spec.drivers, [&](const api::CSINodeDriver& driver) {
    return AttachLimitOf(*node->after, driver.name) > AttachLimitOf(*node->before, driver.name);
  }));
}

base::Result<Hint> AfterPodDeletion(const HintInput& input) {
  const auto deleted = DeletedObjectOf<api::PodRecord>(input);
  if (!deleted) return std::unexpected(deleted.error());
  const api::PodRecord& gone = **deleted;
  if (gone.node_name.empty() && gone.nominated_node_name.empty()) return Hint::kQueueSkip;
  return QueueIf(std::ranges::any_of(gone.spec->spec.volumes, [](const api::Volume& volume) {
    const api::VolumeSource& source = volume.volume_source;
    return source.persistent_volume_claim || source.ephemeral || InTreePluginOf(source);
  }));
}

base::Result<Hint> AfterClaimCame(const HintInput& input) {
  const auto claim = ChangedObjectsOf<api::PersistentVolumeClaim>(input);
  if (!claim) return std::unexpected(claim.error());
  return QueueIf(NamesClaim(input.record(), *claim->after, Ephemeral::kCount));
}

base::Result<Hint> AfterDetachment(const HintInput& input) {
  const auto deleted = DeletedObjectOf<api::VolumeAttachment>(input);
  if (!deleted) return std::unexpected(deleted.error());
  for (const api::Volume& volume : input.record().spec->spec.volumes) {
    if (volume.volume_source.persistent_volume_claim) return Hint::kQueue;
    const auto plugin = InTreePluginOf(volume.volume_source);
    if (!plugin) continue;
    const base::Result<CsiVolume> translated = TranslateToCsi(*plugin, volume.volume_source);
    if (!translated) {
      return base::Fail(fmt::format("converting volume({}) from inline to csi: {}", volume.name,
                                    translated.error().message));
    }
    if (translated->driver == (*deleted)->spec.attacher) return Hint::kQueue;
  }
  return Hint::kQueueSkip;
}

}  // namespace

std::vector<framework::EventRegistration> NodeVolumeLimits::EventsToRegister() const {
  using framework::EventResource;
  return {
      {.event = {EventResource::kCSINode, framework::kAdd}},
      {.event = {EventResource::kCSINode, framework::kUpdate},
       .hint = AfterCsiNodeUpdate,
       .by_template = true},
      {.event = {EventResource::kAssignedPod, framework::kDelete},
       .hint = AfterPodDeletion,
       .by_template = true},
      {.event = {EventResource::kPersistentVolumeClaim, framework::kAdd},
       .hint = AfterClaimCame,
       .pre_hint = PodsNamingTheClaim(waiting_)},
      {.event = {EventResource::kVolumeAttachment, framework::kDelete},
       .hint = AfterDetachment,
       .by_template = true},
  };
}

}  // namespace berth::plugins
