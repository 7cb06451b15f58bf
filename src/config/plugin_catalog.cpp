#include "config/plugin_catalog.h"

#include <span>

#include "cluster/cluster.h"
#include "framework/profile.h"

namespace berth::config {
namespace {

using enum Point;

PluginCatalog::Points PointsOf(std::initializer_list<Point> list) {
  PluginCatalog::Points points;
  for (const Point point : list) points.set(Index(point));
  return points;
}

}  // namespace

PluginCatalog PluginCatalog::InTree() {
  PluginCatalog catalog;
  const auto add = [&](std::string_view name, std::initializer_list<Point> points) {
    catalog.Add(name, PointsOf(points));
  };
  add("SchedulingGates", {kPreEnqueue});
  add("PrioritySort", {kQueueSort});
  add("NodeName", {kPreFilter, kFilter});
  add("NodeUnschedulable", {kPreFilter, kFilter});
  add("TaintToleration", {kPreFilter, kFilter, kPreScore, kScore});
  add("NodeAffinity", {kPreFilter, kFilter, kPreScore, kScore});
  add("NodePorts", {kPreFilter, kFilter});
  add("DeferredPodScheduling", {kPreFilter, kFilter, kPermit});
  add("NodeResourcesFit", {kPreFilter, kFilter, kPreScore, kScore, kPlacementScore});
  add("VolumeRestrictions", {kPreFilter, kFilter});
  add("NodeVolumeLimits", {kPreFilter, kFilter});
  add("VolumeBinding", {kPreFilter, kFilter, kPreScore, kScore, kReserve, kPreBind});
  add("VolumeZone", {kPreFilter, kFilter});
  add("PodTopologySpread", {kPreFilter, kFilter, kPreScore, kScore});
  add("InterPodAffinity", {kPreFilter, kFilter, kPreScore, kScore});
  add("DynamicResources",
      {kPreEnqueue, kPreFilter, kFilter, kPostFilter, kPodGroupPostFilter, kScore, kReserve, kPreBind});
  add("DefaultPreemption", {kPreEnqueue, kPostFilter, kPodGroupPostFilter});
  add("NodeResourcesBalancedAllocation", {kPreScore, kScore});
  add("ImageLocality", {kScore});
  add("DefaultBinder", {kBind});
  add("NodeDeclaredFeatures", {kPreFilter, kFilter});
  add("GangScheduling", {kPreEnqueue, kPermit});
  add("TopologyPlacementGenerator", {kPlacementGenerate});
  add("PodGroupPodsCount", {kPlacementScore});
  return catalog;
}

base::Result<PluginCatalog> PluginCatalog::BuiltIn(const framework::Registry& registry,
                                                   const framework::Features& features) {
  PluginCatalog catalog;
  for (const std::string_view name : registry.Names()) {
    const framework::EnabledPlugin plugin{std::string(name), 0};
    const framework::PluginArgs args;
    cluster::Cluster aside;
    const auto expanded = framework::ExpandEverywhere({&plugin, 1}, registry, {features, args, aside});
    if (!expanded) return std::unexpected(expanded.error());
    Points points;
    for (std::size_t point = 0; point < framework::kExtensionPointCount; ++point) {
      points.set(point, !expanded->enabled[point].empty());
    }
    catalog.Add(name, points);
  }
  return catalog;
}

PluginCatalog PluginCatalog::With(const PluginCatalog& built_in) {
  PluginCatalog catalog = InTree();
  for (const auto& [name, points] : built_in.plugins()) {
    if (!catalog.Contains(name)) catalog.Add(name, points);
  }
  return catalog;
}

}  // namespace berth::config
