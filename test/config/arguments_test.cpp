#include "config/arguments.h"

#include "config/runtime_profile.h"
#include "config_bed.h"

namespace berth::config {
namespace {

// Without the path of the arguments.
std::string ArgumentsError(std::string_view plugin, std::string_view args,
                           const framework::Features& features = UpstreamFeatures()) {
  std::string error = ValidationError(
      InProfile("pluginConfig:\n- name: " + std::string(plugin) + "\n  args: " + std::string(args)),
      features);
  constexpr std::string_view kPath = "profiles[0].pluginConfig[0].args.";
  for (std::size_t at = error.find(kPath); at != std::string::npos; at = error.find(kPath)) {
    error.erase(at, kPath.size());
  }
  return error;
}

struct ArgumentsCase {
  std::string_view name;
  std::string_view plugin;
  std::string_view args;
  std::string_view want;
};

class PluginArgumentRules : public testing::TestWithParam<ArgumentsCase> {};

TEST_P(PluginArgumentRules, SayWhatKubeSchedulerSays) {
  EXPECT_EQ(ArgumentsError(GetParam().plugin, GetParam().args), GetParam().want);
}

// Cases 18 and 20 to 22 of the operations chapter, 29 and 54 of the one about topology plugins.
INSTANTIATE_TEST_SUITE_P(
    Config, PluginArgumentRules,
    testing::Values(
        ArgumentsCase{
            "NoCandidates", "DefaultPreemption",
            "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
            "[minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
            "minCandidateNodesAbsolute, minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the "
            "same time as minCandidateNodesPercentage]"},
        ArgumentsCase{"AbsoluteOnly", "DefaultPreemption", "{minCandidateNodesPercentage: 0}", ""},
        ArgumentsCase{"TooManyPercent", "DefaultPreemption", "{minCandidateNodesPercentage: 200}",
                      "minCandidateNodesPercentage: Invalid value: 200: not in valid range [0, 100]"},
        ArgumentsCase{"BalancedWeight", "NodeResourcesBalancedAllocation",
                      "{resources: [{name: cpu, weight: 2}]}",
                      "resources[0].weight: Invalid value: 2: must be 1"},
        ArgumentsCase{
            "ShapeNotSorted", "VolumeBinding",
            "{shape: [{utilization: 0, score: 0}, {utilization: 50, score: 11}, {utilization: 50, score: "
            "1}, {utilization: 40, score: 1}]}",
            "[shape[2].utilization: Invalid value: 50: values must be sorted in increasing order, "
            "shape[1].score: Invalid value: 11: not in valid range [0, 10]]"},
        ArgumentsCase{
            "SystemWithConstraints", "PodTopologySpread",
            "{defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
            "defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty"},
        ArgumentsCase{
            "ConstraintWithSelector", "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
            "whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}]}",
            "defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as "
            "they deduced for each pod"},
        ArgumentsCase{
            "ConstraintTwice", "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
            "whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: "
            "ScheduleAnyway}]}",
            "defaultConstraints[1]: Duplicate value: \"{zone, ScheduleAnyway}\""},
        ArgumentsCase{"ConstraintWithoutSkew", "PodTopologySpread",
                      "{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: zone, "
                      "whenUnsatisfiable: ScheduleAnyway}]}",
                      "defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)"},
        ArgumentsCase{
            "NegativeBindTimeout", "VolumeBinding", "{bindTimeoutSeconds: -1}",
            "bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative "
            "value"},
        ArgumentsCase{"NoBindTimeout", "VolumeBinding", "{bindTimeoutSeconds: 0}", ""},
        ArgumentsCase{"NegativeFilterTimeout", "DynamicResources", "{filterTimeout: -1s}",
                      "filterTimeout: Invalid value: \"-1s\": must be zero or positive"},
        ArgumentsCase{"NoFilterTimeout", "DynamicResources", "{filterTimeout: 0s}", ""},
        ArgumentsCase{"ShortBindingTimeout", "DynamicResources", "{bindingTimeout: 500ms}",
                      "bindingTimeout: Invalid value: \"500ms\": must be at least 1 second"},
        ArgumentsCase{"HardWeight", "InterPodAffinity", "{hardPodAffinityWeight: 101}",
                      "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"},
        ArgumentsCase{"NegativeHardWeight", "InterPodAffinity", "{hardPodAffinityWeight: -1}",
                      "hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(PluginArgumentGates, Forbid) {
  framework::Features features = UpstreamFeatures();
  features.dra_scheduler_filter_timeout = false;
  features.storage_capacity_scoring = false;
  EXPECT_EQ(ArgumentsError("DynamicResources", "{filterTimeout: 1s}", features),
            "filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled");
  EXPECT_EQ(
      ArgumentsError("VolumeBinding", "{shape: [{utilization: 0, score: 0}]}", features),
      "shape: Invalid value: [{\"Utilization\":0,\"Score\":0}]: unexpected field `shape`, remove it or turn "
      "on the feature gate StorageCapacityScoring");
  EXPECT_EQ(ArgumentsError("VolumeBinding", "{}", features), "");
}

TEST(RuntimeArguments, AreWhatPluginsRead) {
  const Configuration configuration =
      MustLoad(InProfile("pluginConfig:\n"
                         "- name: NodeResourcesFit\n"
                         "  args: {ignoredResources: [x.io/a], scoringStrategy: {type: "
                         "RequestedToCapacityRatio, resources: [{name: "
                         "gpu, weight: 3}], requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}, "
                         "{utilization: 100, score: "
                         "9}]}}}\n"
                         "- name: PodTopologySpread\n"
                         "  args: {defaultingType: List, defaultConstraints: [{maxSkew: 2, topologyKey: "
                         "zone, whenUnsatisfiable: "
                         "ScheduleAnyway}]}\n"
                         "- name: Mine\n"
                         "  args: {a: 1}"));
  const framework::PluginArgs args = RuntimeArguments(configuration.profiles[0]);
  EXPECT_EQ(args.node_resources_fit.ignored_resources, std::vector<std::string>{"x.io/a"});
  EXPECT_EQ(args.node_resources_fit.strategy, framework::ScoringStrategyType::kRequestedToCapacityRatio);
  EXPECT_EQ(args.node_resources_fit.resources, (std::vector<framework::ResourceWeight>{{"gpu", 3}}));
  EXPECT_EQ(args.node_resources_fit.shape, (std::vector<framework::ShapePoint>{{0, 1}, {100, 9}}));
  EXPECT_EQ(args.pod_topology_spread.defaulting, framework::SpreadDefaulting::kList);
  EXPECT_EQ(args.pod_topology_spread.default_constraints.at(0).max_skew, 2);
  ASSERT_NE(args.others.find("Mine"), nullptr);
  EXPECT_EQ(*args.others.find("Mine"), R"({"a":1})");
}

// A file without arguments must mean what the framework means by its own defaults.
TEST(RuntimeArguments, OfAnEmptyFileAreTheFrameworksDefaults) {
  EXPECT_EQ(RuntimeArguments(MustLoad(File("")).profiles[0]), framework::PluginArgs());
}

}  // namespace
}  // namespace berth::config
