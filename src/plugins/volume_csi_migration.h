#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/storage.h"
#include "api/volumes.h"
#include "base/error.h"

// Volumes that were built into Kubernetes once and are served by CSI drivers now: which driver serves a
// volume, under which handle, and what its topology labels are called there.
namespace berth::plugins {

// An annotation of a CSINode: the plugins that the node's drivers have taken over.
inline constexpr std::string_view kMigratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins";

enum class InTreePlugin : std::uint8_t {
  kAwsEbs,
  kGcePd,
  kCinder,
  kAzureDisk,
  kPortworx,
  kAzureFile,
  kVsphere,
};
// One bit per plugin.
using InTreePlugins = std::uint8_t;
constexpr InTreePlugins BitOf(InTreePlugin plugin) {
  return static_cast<InTreePlugins>(1u << static_cast<unsigned>(plugin));
}

std::string_view DriverOf(InTreePlugin plugin);
// Schedulers count and place its volumes as those of the driver; for the others only hints look at them.
bool IsMigrated(InTreePlugin plugin);

std::optional<InTreePlugin> InTreePluginOf(const api::PersistentVolumeSource& source);
std::optional<InTreePlugin> InTreePluginOf(const api::VolumeSource& source);
// By the name of a provisioner.
std::optional<InTreePlugin> InTreePluginOf(std::string_view provisioner);

// The migrated plugins that the node's CSI drivers have taken over, by its annotation.
InTreePlugins MigratedOn(const api::CSINode& node);

struct CsiVolume {
  std::string driver;
  std::string handle;

  bool operator==(const CsiVolume&) const = default;
};

// The volume must be one of the plugin's.
base::Result<CsiVolume> TranslateToCsi(InTreePlugin plugin, const api::PersistentVolume& volume);
// A volume that is written into a pod.
base::Result<CsiVolume> TranslateToCsi(InTreePlugin plugin, const api::VolumeSource& inline_volume);
// Which nodes can use the volume, in the driver's labels.
std::optional<api::VolumeNodeAffinity> TranslateAffinity(InTreePlugin plugin,
                                                         const api::PersistentVolume& volume);

}  // namespace berth::plugins
