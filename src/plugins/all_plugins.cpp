#include "plugins/all_plugins.h"

#include "plugins/default_binder.h"
#include "plugins/default_preemption.h"
#include "plugins/deferred_pod_scheduling.h"
#include "plugins/dynamic_resources.h"
#include "plugins/example_hold.h"
#include "plugins/image_locality.h"
#include "plugins/inter_pod_affinity.h"
#include "plugins/node_affinity.h"
#include "plugins/node_declared_features.h"
#include "plugins/node_name.h"
#include "plugins/node_ports.h"
#include "plugins/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit.h"
#include "plugins/node_unschedulable.h"
#include "plugins/node_volume_limits.h"
#include "plugins/pod_topology_spread.h"
#include "plugins/priority_sort.h"
#include "plugins/scheduling_gates.h"
#include "plugins/taint_toleration.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_restrictions.h"
#include "plugins/volume_zone.h"

namespace berth::plugins {

framework::Registry AllPlugins() {
  framework::Registry registry;
  registry.Add<SchedulingGates>("SchedulingGates");
  registry.Add<PrioritySort>("PrioritySort");
  registry.Add<NodeName>("NodeName");
  registry.Add<NodeUnschedulable>("NodeUnschedulable");
  registry.Add<TaintToleration>("TaintToleration");
  registry.Add("NodeAffinity", NodeAffinity::Make);
  registry.Add<NodePorts>("NodePorts");
  registry.Add<DeferredPodScheduling>("DeferredPodScheduling");
  registry.Add("NodeResourcesFit", NodeResourcesFit::Make);
  registry.Add<VolumeRestrictions>("VolumeRestrictions");
  registry.Add<NodeVolumeLimits>("NodeVolumeLimits");
  registry.Add("VolumeBinding", VolumeBinding::Make);
  registry.Add<VolumeZone>("VolumeZone");
  registry.Add<PodTopologySpread>("PodTopologySpread");
  registry.Add<InterPodAffinity>("InterPodAffinity");
  registry.Add("DefaultPreemption", DefaultPreemption::Make);
  registry.Add("NodeResourcesBalancedAllocation", NodeResourcesBalancedAllocation::Make);
  registry.Add<ImageLocality>("ImageLocality");
  registry.Add<DefaultBinder>("DefaultBinder");
  registry.Add<NodeDeclaredFeatures>("NodeDeclaredFeatures");
  registry.Add<DynamicResources>("DynamicResources");
  registry.Add<ExampleHold>("ExampleHold");
  return registry;
}

}  // namespace berth::plugins
