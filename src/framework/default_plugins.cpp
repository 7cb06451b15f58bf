#include "framework/profile.h"

namespace berth::framework {

std::vector<EnabledPlugin> DefaultPlugins(const Features& features) {
  std::vector<EnabledPlugin> plugins;
  const auto add = [&](std::string_view name, std::int64_t weight = 0) {
    plugins.push_back({std::string(name), weight});
  };
  add("SchedulingGates");
  add("PrioritySort");
  add("NodeName");
  add("NodeUnschedulable");
  add("TaintToleration", 3);
  add("NodeAffinity", 2);
  add("NodePorts");
  if (features.in_place_pod_vertical_scaling_scheduler_preemption) add("DeferredPodScheduling");
  add("NodeResourcesFit", 1);
  add("VolumeRestrictions");
  add("NodeVolumeLimits");
  add("VolumeBinding");
  add("VolumeZone");
  add("PodTopologySpread", 2);
  add("InterPodAffinity", 2);
  if (features.dynamic_resource_allocation) add("DynamicResources", 2);
  add("DefaultPreemption");
  add("NodeResourcesBalancedAllocation", 1);
  add("ImageLocality", 1);
  add("DefaultBinder");
  if (features.node_declared_features) add("NodeDeclaredFeatures");
  if (features.generic_workload) add("GangScheduling");
  if (features.topology_aware_workload_scheduling) {
    add("TopologyPlacementGenerator");
    add("PodGroupPodsCount", 1);
  }
  return plugins;
}

}  // namespace berth::framework
