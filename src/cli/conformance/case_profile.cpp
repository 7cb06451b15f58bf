#include "cli/conformance/case_profile.h"

#include <algorithm>
#include <boost/json.hpp>
#include <span>
#include <stdexcept>

#include "cli/conformance/case_json.h"

#include "cluster/cluster.h"
#include "wire/yaml.h"

namespace berth::cli {
namespace {

namespace json = boost::json;
using framework::EnabledPlugin;

constexpr std::string_view kPointKeys[] = {"preEnqueue", "queueSort", "preFilter", "filter",
                                           "postFilter", "preScore",  "score",     "reserve",
                                           "permit",     "preBind",   "bind",      "postBind"};

struct PluginSet {
  std::vector<EnabledPlugin> enabled;
  std::vector<std::string> disabled;

  bool Disables(std::string_view name) const { return std::ranges::find(disabled, name) != disabled.end(); }
  bool Enables(std::string_view name) const {
    return std::ranges::find(enabled, name, &EnabledPlugin::name) != enabled.end();
  }
};

PluginSet ReadSet(const json::object& plugins, std::string_view key) {
  PluginSet set;
  const json::value* const value = ValueAt(plugins, key);
  if (value == nullptr) return set;
  if (const json::value* const enabled = ValueAt(value->as_object(), "enabled")) {
    for (const json::value& entry : enabled->as_array()) {
      const json::object& plugin = entry.as_object();
      const json::value* const weight = ValueAt(plugin, "weight");
      set.enabled.push_back(
          {std::string(TextAt(plugin, "name")), weight == nullptr ? 0 : weight->to_number<std::int64_t>()});
    }
  }
  if (const json::value* const disabled = ValueAt(value->as_object(), "disabled")) {
    for (const json::value& entry : disabled->as_array()) {
      set.disabled.emplace_back(TextAt(entry.as_object(), "name"));
    }
  }
  return set;
}

// The defaults, each replaced in place by an entry of its name, then what else is enabled.
std::vector<EnabledPlugin> Merge(std::vector<EnabledPlugin> defaults, const PluginSet& custom) {
  std::vector<EnabledPlugin> merged;
  std::vector<EnabledPlugin> others = custom.enabled;
  for (EnabledPlugin& plugin : defaults) {
    if (custom.Disables("*") || custom.Disables(plugin.name)) continue;
    const auto own = std::ranges::find(others, plugin.name, &EnabledPlugin::name);
    merged.push_back(own == others.end() ? plugin : *own);
    if (own != others.end()) others.erase(own);
  }
  merged.insert(merged.end(), others.begin(), others.end());
  return merged;
}

// Those of multiPoint that the point names too, then the other ones of multiPoint, then the rest.
std::vector<EnabledPlugin> Expand(const std::vector<EnabledPlugin>& multi_point, const PluginSet& point) {
  if (point.Disables("*")) return point.enabled;
  std::vector<EnabledPlugin> first;
  std::vector<EnabledPlugin> rest;
  for (const EnabledPlugin& plugin : point.enabled) {
    const bool both =
        std::ranges::find(multi_point, plugin.name, &EnabledPlugin::name) != multi_point.end() &&
        !point.Disables(plugin.name);
    (both ? first : rest).push_back(plugin);
  }
  for (const EnabledPlugin& plugin : multi_point) {
    if (!point.Disables(plugin.name) && !point.Enables(plugin.name)) first.push_back(plugin);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

std::vector<framework::ResourceWeight> ReadWeights(const json::value& list) {
  std::vector<framework::ResourceWeight> weights;
  for (const json::value& entry : list.as_array()) {
    const json::value* const weight = ValueAt(entry.as_object(), "weight");
    const std::int64_t number = weight == nullptr ? 0 : weight->to_number<std::int64_t>();
    weights.push_back({std::string(TextAt(entry.as_object(), "name")), number == 0 ? 1 : number});
  }
  return weights;
}

std::vector<framework::ShapePoint> ReadShape(const json::value& list) {
  std::vector<framework::ShapePoint> shape;
  const auto number = [](const json::value& entry, std::string_view key) {
    const json::value* const value = ValueAt(entry.as_object(), key);
    return value == nullptr ? 0 : value->to_number<std::int32_t>();
  };
  for (const json::value& entry : list.as_array()) {
    shape.push_back({number(entry, "utilization"), number(entry, "score")});
  }
  return shape;
}

void ReadFitArgs(const json::object& args, framework::NodeResourcesFitArgs& fit) {
  fit.ignored_resources = TextsAt(args, "ignoredResources");
  fit.ignored_resource_groups = TextsAt(args, "ignoredResourceGroups");
  const json::value* const value = ValueAt(args, "scoringStrategy");
  if (value == nullptr) return;
  const json::object& strategy = value->as_object();
  const std::string_view type = TextAt(strategy, "type");
  if (type == "MostAllocated") fit.strategy = framework::ScoringStrategyType::kMostAllocated;
  if (type == "RequestedToCapacityRatio") {
    fit.strategy = framework::ScoringStrategyType::kRequestedToCapacityRatio;
  }
  if (const json::value* const resources = ValueAt(strategy, "resources")) {
    if (!resources->as_array().empty()) fit.resources = ReadWeights(*resources);
  }
  if (const json::value* const ratio = ValueAt(strategy, "requestedToCapacityRatio")) {
    fit.shape = ReadShape(ratio->as_object().at("shape"));
  }
}

void ReadSpreadArgs(const json::object& args, framework::PodTopologySpreadArgs& spread) {
  if (TextAt(args, "defaultingType") == "List") spread.defaulting = framework::SpreadDefaulting::kList;
  if (const json::value* const constraints = ValueAt(args, "defaultConstraints")) {
    for (const json::value& constraint : constraints->as_array()) {
      spread.default_constraints.push_back(DecodeObject<api::TopologySpreadConstraint>(constraint));
    }
  }
}

void ReadAffinityArgs(const json::object& args, framework::InterPodAffinityArgs& affinity) {
  if (const json::value* const weight = ValueAt(args, "hardPodAffinityWeight")) {
    affinity.hard_pod_affinity_weight = weight->to_number<std::int32_t>();
  }
  if (const json::value* const ignore = ValueAt(args, "ignorePreferredTermsOfExistingPods")) {
    affinity.ignore_preferred_terms_of_existing_pods = ignore->as_bool();
  }
}

void ReadVolumeArgs(const json::object& args, framework::VolumeBindingArgs& volumes) {
  if (const json::value* const timeout = ValueAt(args, "bindTimeoutSeconds")) {
    volumes.bind_timeout_seconds = timeout->to_number<std::int64_t>();
  }
  const json::value* const shape = ValueAt(args, "shape");
  if (shape != nullptr && !shape->as_array().empty()) volumes.shape = ReadShape(*shape);
}

// Not inlined: g++ 12 then takes the default shape of VolumeBindingArgs for uninitialised.
[[gnu::noinline]] framework::PluginArgs ReadArgs(const json::object& profile) {
  framework::PluginArgs all;
  const json::value* const configs = ValueAt(profile, "pluginConfig");
  if (configs == nullptr) return all;
  for (const json::value& config : configs->as_array()) {
    const std::string_view name = TextAt(config.as_object(), "name");
    const json::object& args = config.as_object().at("args").as_object();
    if (name == "NodeResourcesFit") ReadFitArgs(args, all.node_resources_fit);
    if (name == "PodTopologySpread") ReadSpreadArgs(args, all.pod_topology_spread);
    if (name == "InterPodAffinity") ReadAffinityArgs(args, all.inter_pod_affinity);
    if (name == "VolumeBinding") ReadVolumeArgs(args, all.volume_binding);
    if (const json::value* const added = ValueAt(args, "addedAffinity")) {
      all.node_affinity.added_affinity = DecodeObject<api::NodeAffinity>(*added);
    }
    const json::value* const resources = ValueAt(args, "resources");
    if (name == "NodeResourcesBalancedAllocation" && resources != nullptr && !resources->as_array().empty()) {
      all.node_resources_balanced_allocation.resources = ReadWeights(*resources);
    }
  }
  return all;
}

framework::Features ReadFeatures(const json::object& test_case) {
  framework::Features features = framework::Features::Upstream();
  if (const json::value* const gates = ValueAt(test_case, "featureGates")) {
    for (const auto& gate : gates->as_object()) {
      // Some gates only the API server reads.
      const framework::FeatureGate* const known = framework::FindFeatureGate(gate.key());
      if (known != nullptr) features.*(known->value) = gate.value().as_bool();
    }
  }
  return features;
}

// As JSON, or as the text of a file.
json::object ReadConfig(const json::object& test_case) {
  const json::value* const config = ValueAt(test_case, "config");
  if (config == nullptr) return {};
  if (!config->is_string()) return config->as_object();
  const base::Result<std::string> text = wire::YamlToJson(std::string_view(config->get_string()));
  if (!text) throw std::runtime_error(text.error().message);
  return json::parse(*text).as_object();
}

json::object FindProfile(const json::object& test_case, std::string_view scheduler_name) {
  const json::object config = ReadConfig(test_case);
  const json::value* const profiles = ValueAt(config, "profiles");
  if (profiles == nullptr) return {};
  for (const json::value& profile : profiles->as_array()) {
    const std::string_view name = TextAt(profile.as_object(), "schedulerName");
    if (name == scheduler_name || (name.empty() && scheduler_name == "default-scheduler")) {
      return profile.as_object();
    }
  }
  throw std::runtime_error(fmt::format("no profile is named {}", scheduler_name));
}

}  // namespace

CaseProfile ReadCaseProfile(const json::object& test_case, std::string_view scheduler_name,
                            const framework::Registry& registry) {
  CaseProfile made;
  made.features = ReadFeatures(test_case);
  const json::object profile = FindProfile(test_case, scheduler_name);
  const json::value* const value = ValueAt(profile, "plugins");
  const json::object plugins = value == nullptr ? json::object() : value->as_object();

  std::vector<EnabledPlugin> multi_point =
      Merge(framework::DefaultPlugins(made.features), ReadSet(plugins, "multiPoint"));
  std::erase_if(multi_point, [&](const EnabledPlugin& plugin) {
    if (registry.Contains(plugin.name)) return false;
    made.missing.push_back(plugin.name);
    return true;
  });
  const framework::PluginArgs args = ReadArgs(profile);
  cluster::Cluster aside;
  const auto everywhere = framework::ExpandEverywhere(multi_point, registry, {made.features, args, aside});
  if (!everywhere) throw std::runtime_error(everywhere.error().message);
  made.config = *everywhere;
  made.config.scheduler_name = scheduler_name;
  for (std::size_t point = 0; point < framework::kExtensionPointCount; ++point) {
    std::vector<EnabledPlugin>& enabled = made.config.enabled[point];
    PluginSet own = ReadSet(plugins, kPointKeys[point]);
    std::erase_if(own.enabled, [&](const EnabledPlugin& plugin) { return !registry.Contains(plugin.name); });
    enabled = Expand(enabled, own);
  }
  return made;
}

}  // namespace berth::cli
