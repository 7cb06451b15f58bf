#include "config/runtime_profile.h"

#include <algorithm>
#include <variant>

namespace berth::config {
namespace {

std::vector<framework::ResourceWeight> Weights(const std::vector<ResourceSpec>& resources) {
  std::vector<framework::ResourceWeight> weights;
  weights.reserve(resources.size());
  for (const ResourceSpec& resource : resources) weights.push_back({resource.name, resource.weight});
  return weights;
}

std::vector<framework::ShapePoint> Shape(const std::vector<UtilizationShapePoint>& points) {
  std::vector<framework::ShapePoint> shape;
  shape.reserve(points.size());
  for (const UtilizationShapePoint& point : points) shape.push_back({point.utilization, point.score});
  return shape;
}

framework::ScoringStrategyType StrategyType(std::string_view name) {
  if (name == "MostAllocated") return framework::ScoringStrategyType::kMostAllocated;
  if (name == "RequestedToCapacityRatio") return framework::ScoringStrategyType::kRequestedToCapacityRatio;
  return framework::ScoringStrategyType::kLeastAllocated;
}

// Puts the arguments of one plugin into those of the profile.
struct Translator {
  framework::PluginArgs& all;
  const std::string& name;

  void operator()(const RawValue& raw) const {
    if (raw.node) all.others.insert_or_assign(name, ToJsonText(*raw.node));
  }
  void operator()(const DefaultPreemptionArgs& args) const {
    all.default_preemption = {*args.min_candidate_nodes_percentage, *args.min_candidate_nodes_absolute};
  }
  void operator()(const DynamicResourcesArgs& args) const {
    all.dynamic_resources = {args.filter_timeout, args.binding_timeout};
  }
  void operator()(const InterPodAffinityArgs& args) const {
    all.inter_pod_affinity = {*args.hard_pod_affinity_weight, args.ignore_preferred_terms_of_existing_pods};
  }
  void operator()(const NodeAffinityArgs& args) const {
    all.node_affinity.added_affinity.reset();
    if (!args.added_affinity) return;
    api::NodeAffinity& affinity = all.node_affinity.added_affinity.emplace();
    if (args.added_affinity->required) {
      affinity.required_during_scheduling_ignored_during_execution.emplace().node_selector_terms =
          args.added_affinity->required->node_selector_terms.value_or(std::vector<api::NodeSelectorTerm>());
    }
    affinity.preferred_during_scheduling_ignored_during_execution = args.added_affinity->preferred;
  }
  void operator()(const NodeResourcesBalancedAllocationArgs& args) const {
    all.node_resources_balanced_allocation.resources = Weights(args.resources);
  }
  void operator()(const NodeResourcesFitArgs& args) const {
    framework::NodeResourcesFitArgs& fit = all.node_resources_fit;
    fit.ignored_resources = args.ignored_resources;
    fit.ignored_resource_groups = args.ignored_resource_groups;
    if (!args.scoring_strategy) return;
    fit.strategy = StrategyType(args.scoring_strategy->type);
    fit.resources = Weights(args.scoring_strategy->resources);
    if (args.scoring_strategy->requested_to_capacity_ratio) {
      fit.shape = Shape(args.scoring_strategy->requested_to_capacity_ratio->shape);
    }
  }
  void operator()(const PodTopologySpreadArgs& args) const {
    all.pod_topology_spread = {args.defaulting_type == "List" ? framework::SpreadDefaulting::kList
                                                              : framework::SpreadDefaulting::kSystem,
                               args.default_constraints};
  }
  void operator()(const VolumeBindingArgs& args) const {
    all.volume_binding = {*args.bind_timeout_seconds, Shape(args.shape)};
  }
};

}  // namespace

framework::PluginArgs RuntimeArguments(const Profile& profile) {
  framework::PluginArgs args;
  for (const PluginConfig& config : profile.plugin_config) {
    std::visit(Translator{args, config.name}, config.typed);
  }
  return args;
}

framework::ProfileConfig RuntimeProfile(const CompiledProfile& compiled, const Profile& profile,
                                        const PluginCatalog& built_in, std::vector<std::string>& missing) {
  const PluginCatalog in_tree = PluginCatalog::InTree();
  framework::ProfileConfig runtime;
  runtime.scheduler_name = compiled.scheduler_name;
  runtime.percentage_of_nodes_to_score = profile.percentage_of_nodes_to_score;
  runtime.args = RuntimeArguments(profile);
  std::vector<PluginEntry> enabled;  // each once
  for (std::size_t point = 0; point < kPointCount; ++point) {
    for (const PluginEntry& entry : compiled.plugins[point]) {
      if (std::ranges::find(enabled, entry.name, &PluginEntry::name) == enabled.end())
        enabled.push_back(entry);
      if (!built_in.Contains(entry.name)) {
        if (std::ranges::find(missing, entry.name) == missing.end()) missing.push_back(entry.name);
      } else if (point < framework::kExtensionPointCount &&
                 built_in.Extends(entry.name, static_cast<Point>(point))) {
        runtime.enabled[point].push_back({entry.name, entry.weight});
      }
    }
  }
  for (const PluginEntry& entry : enabled) {
    if (!in_tree.Contains(entry.name)) continue;
    for (std::size_t point = 0; point < framework::kExtensionPointCount; ++point) {
      if (built_in.Extends(entry.name, static_cast<Point>(point)) &&
          !in_tree.Extends(entry.name, static_cast<Point>(point))) {
        runtime.enabled[point].push_back({entry.name, 0});
      }
    }
  }
  return runtime;
}

}  // namespace berth::config
