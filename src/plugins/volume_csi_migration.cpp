#include "plugins/volume_csi_migration.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "plugins/volume_claims.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kUnspecified = "UNSPECIFIED";

struct Info {
  std::string_view name;
  std::string_view driver;
  bool migrated;
  std::string_view topology_key;  // empty: its topology needs no translation
};

// Indexed by InTreePlugin.
constexpr Info kInfos[] = {
    {"kubernetes.io/aws-ebs", "ebs.csi.aws.com", true, "topology.ebs.csi.aws.com/zone"},
    {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", true, "topology.gke.io/zone"},
    {"kubernetes.io/cinder", "cinder.csi.openstack.org", true, "topology.cinder.csi.openstack.org/zone"},
    {"kubernetes.io/azure-disk", "disk.csi.azure.com", true, ""},
    {"kubernetes.io/portworx-volume", "pxd.portworx.com", true, ""},
    {"kubernetes.io/azure-file", "file.csi.azure.com", false, ""},
    {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", false, ""},
};

const Info& InfoOf(InTreePlugin plugin) { return kInfos[static_cast<std::size_t>(plugin)]; }

// Both kinds of sources have these fields.
template <class Source>
std::optional<InTreePlugin> PluginOfSource(const Source& source) {
  if (source.aws_elastic_block_store) return InTreePlugin::kAwsEbs;
  if (source.gce_persistent_disk) return InTreePlugin::kGcePd;
  if (source.cinder) return InTreePlugin::kCinder;
  if (source.azure_disk) return InTreePlugin::kAzureDisk;
  if (source.portworx_volume) return InTreePlugin::kPortworx;
  if (source.azure_file) return InTreePlugin::kAzureFile;
  if (source.vsphere_volume) return InTreePlugin::kVsphere;
  return std::nullopt;
}

// aws://zone/vol-123 and vol-123 are the same disk.
base::Result<std::string> EbsHandle(const std::string& volume_id) {
  constexpr std::string_view kScheme = "aws://";
  if (!volume_id.starts_with(kScheme)) return volume_id;
  std::string_view path = std::string_view(volume_id).substr(kScheme.size());
  path = path.substr(0, path.find_first_of("?#"));
  const std::size_t slash = path.find('/');
  path = slash == std::string_view::npos ? std::string_view() : path.substr(slash);
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.starts_with("vol-") || path.contains('/')) {
    return base::Fail(fmt::format(
        "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({})", volume_id));
  }
  return std::string(path);
}

std::string GceHandle(std::string_view place, std::string_view name, std::string_view disk) {
  return fmt::format("projects/{}/{}/{}/disks/{}", kUnspecified, place, name, disk);
}

base::Result<std::string> GceRegion(std::span<const std::string_view> zones) {
  std::set<std::string> regions;
  for (const std::string_view zone : zones) {
    const std::vector<std::string_view> parts = Split(zone, "-");
    if (parts.size() != 3) {
      return base::Fail(
          fmt::format("failed to get region from zones: zone in unexpected format, expected: "
                      "{{locale}}-{{region}}-{{zone}}, "
                      "got: {}",
                      zone));
    }
    regions.insert(fmt::format("{}-{}", parts[0], parts[1]));
  }
  if (regions.size() != 1) {
    return base::Fail(fmt::format(
        "failed to get region from zones: multiple or no regions gotten from zones, got: map[{}:{{}}]",
        fmt::join(regions, ":{} ")));
  }
  return *regions.begin();
}

base::Result<std::string> GceHandle(const api::PersistentVolume& volume) {
  const std::string& disk = volume.spec.persistent_volume_source.gce_persistent_disk->pd_name;
  const auto label = [&](std::string_view key) {
    const std::string* const value = volume.metadata.labels.find(key);
    return value != nullptr ? std::string_view(*value) : std::string_view();
  };
  std::string_view text = label(kBetaZoneLabel);
  if (text.empty()) text = label(kZoneLabel);
  if (text.empty()) return GceHandle("zones", kUnspecified, disk);
  const std::vector<std::string_view> zones = Split(text, kZoneSeparator);
  if (zones.size() == 1) return GceHandle("zones", zones.front(), disk);
  auto region = GceRegion(zones);
  if (!region) return std::unexpected(region.error());
  return GceHandle("regions", *region, disk);
}

// `lower` is in lower case.
bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

base::Result<std::string> AzureDiskHandle(const api::AzureDiskVolumeSource& disk) {
  if (disk.kind && !EqualsIgnoringCase(*disk.kind, "managed")) {
    return base::Fail(fmt::format("kind({}) is not supported in csi migration", *disk.kind));
  }
  return disk.disk_uri;
}

base::Result<CsiVolume> Named(InTreePlugin plugin, base::Result<std::string> handle) {
  if (!handle) return std::unexpected(handle.error());
  return CsiVolume{std::string(DriverOf(plugin)), *std::move(handle)};
}

template <class Source>
base::Result<std::string> HandleOfSource(InTreePlugin plugin, const Source& source) {
  switch (plugin) {
    case InTreePlugin::kAwsEbs:
      return EbsHandle(source.aws_elastic_block_store->volume_id);
    case InTreePlugin::kGcePd:
      return GceHandle("zones", kUnspecified, source.gce_persistent_disk->pd_name);
    case InTreePlugin::kCinder:
      return source.cinder->volume_id;
    case InTreePlugin::kAzureDisk:
      return AzureDiskHandle(*source.azure_disk);
    case InTreePlugin::kPortworx:
      return source.portworx_volume->volume_id;
    case InTreePlugin::kAzureFile:
      return source.azure_file->share_name;
    case InTreePlugin::kVsphere:
      return source.vsphere_volume->volume_path;
  }
  return std::string();
}

// The terms of a volume's affinity, with the labels that they name.
class Terms {
 public:
  explicit Terms(std::optional<api::VolumeNodeAffinity> affinity) : affinity_(std::move(affinity)) {}

  bool HasKey(std::string_view key) const {
    return Any([&](const auto& expression) { return expression.key == key; });
  }
  bool HasValues(std::string_view key) const {
    return Any([&](const auto& expression) { return expression.key == key && !expression.values.empty(); });
  }
  void Rename(std::string_view from, std::string_view to) {
    for (api::NodeSelectorTerm& term : affinity_->required->node_selector_terms) {
      for (api::NodeSelectorRequirement& expression : term.match_expressions) {
        if (expression.key == from) expression.key = to;
      }
    }
  }
  // To each term; there is one afterwards.
  void Require(std::string_view key, std::vector<std::string> values) {
    if (!affinity_) affinity_.emplace();
    if (!affinity_->required) affinity_->required.emplace();
    auto& terms = affinity_->required->node_selector_terms;
    if (terms.empty()) terms.emplace_back();
    for (api::NodeSelectorTerm& term : terms) {
      term.match_expressions.push_back({std::string(key), "In", values});
    }
  }
  std::optional<api::VolumeNodeAffinity> Take() { return std::move(affinity_); }

 private:
  template <class F>
  bool Any(F&& holds) const {
    return affinity_ && affinity_->required &&
           std::ranges::any_of(affinity_->required->node_selector_terms, [&](const auto& term) {
             return std::ranges::any_of(term.match_expressions, holds);
           });
  }

  std::optional<api::VolumeNodeAffinity> affinity_;
};

std::vector<std::string> ZonesOf(std::string_view label) {
  std::set<std::string> zones;
  for (const std::string_view piece : Split(label, kZoneSeparator)) {
    const std::string_view zone = Trimmed(piece);
    if (!zone.empty()) zones.emplace(zone);
  }
  return {zones.begin(), zones.end()};
}

}  // namespace

std::string_view DriverOf(InTreePlugin plugin) { return InfoOf(plugin).driver; }
bool IsMigrated(InTreePlugin plugin) { return InfoOf(plugin).migrated; }

std::optional<InTreePlugin> InTreePluginOf(const api::PersistentVolumeSource& source) {
  return PluginOfSource(source);
}
std::optional<InTreePlugin> InTreePluginOf(const api::VolumeSource& source) { return PluginOfSource(source); }

std::optional<InTreePlugin> InTreePluginOf(std::string_view provisioner) {
  const auto found = std::ranges::find(kInfos, provisioner, &Info::name);
  if (found == std::end(kInfos)) return std::nullopt;
  return static_cast<InTreePlugin>(found - std::begin(kInfos));
}

InTreePlugins MigratedOn(const api::CSINode& node) {
  const std::string* const list = node.metadata.annotations.find(kMigratedPlugins);
  if (list == nullptr) return 0;
  InTreePlugins migrated = 0;
  // As it is written: a name after a comma and a space is another name.
  for (const std::string_view name : Split(*list, ",")) {
    const auto plugin = InTreePluginOf(name);
    if (plugin && IsMigrated(*plugin)) migrated |= BitOf(*plugin);
  }
  return migrated;
}

base::Result<CsiVolume> TranslateToCsi(InTreePlugin plugin, const api::PersistentVolume& volume) {
  // Only a volume says in which zone its disk is.
  if (plugin == InTreePlugin::kGcePd) return Named(plugin, GceHandle(volume));
  return Named(plugin, HandleOfSource(plugin, volume.spec.persistent_volume_source));
}

base::Result<CsiVolume> TranslateToCsi(InTreePlugin plugin, const api::VolumeSource& inline_volume) {
  return Named(plugin, HandleOfSource(plugin, inline_volume));
}

std::optional<api::VolumeNodeAffinity> TranslateAffinity(InTreePlugin plugin,
                                                         const api::PersistentVolume& volume) {
  const std::string_view key = InfoOf(plugin).topology_key;
  if (key.empty()) return volume.spec.node_affinity;
  Terms terms(volume.spec.node_affinity);
  const bool has_ga = terms.HasKey(kZoneLabel);
  const bool is_beta =
      !has_ga && (terms.HasKey(kBetaZoneLabel) || (!volume.metadata.labels.contains(kZoneLabel) &&
                                                   volume.metadata.labels.contains(kBetaZoneLabel)));
  const std::string_view zone_label = is_beta ? kBetaZoneLabel : kZoneLabel;
  if (terms.HasValues(zone_label)) {
    terms.Rename(zone_label, key);
  } else if (const std::string* const label = volume.metadata.labels.find(zone_label)) {
    std::vector<std::string> zones = ZonesOf(*label);
    if (!zones.empty()) terms.Require(key, std::move(zones));
  }
  if (is_beta && terms.HasValues(kBetaRegionLabel)) terms.Rename(kBetaRegionLabel, kRegionLabel);
  return terms.Take();
}

}  // namespace berth::plugins
