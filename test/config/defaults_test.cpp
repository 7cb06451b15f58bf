#include "config/defaults.h"

#include <chrono>

#include "config/plugin_sets.h"
#include "config_bed.h"

namespace berth::config {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Case 1: a file that says nothing.
TEST(Defaults, OfAnEmptyFile) {
  const Configuration configuration = MustLoad(File(""));
  EXPECT_EQ(configuration, DefaultConfiguration(UpstreamFeatures()));
  EXPECT_EQ(*configuration.parallelism, 16);
  EXPECT_TRUE(*configuration.leader_election.leader_elect);
  EXPECT_EQ(configuration.leader_election.lease_duration, seconds(15));
  EXPECT_EQ(configuration.leader_election.resource_name, "kube-scheduler");
  EXPECT_EQ(configuration.client_connection.qps, 50);
  EXPECT_EQ(configuration.client_connection.burst, 100);
  EXPECT_EQ(*configuration.percentage_of_nodes_to_score, 0);
  EXPECT_EQ(*configuration.pod_initial_backoff_seconds, 1);
  EXPECT_EQ(*configuration.pod_max_backoff_seconds, 10);
  ASSERT_EQ(configuration.profiles.size(), 1u);
  EXPECT_EQ(configuration.profiles[0].scheduler_name, "default-scheduler");
  EXPECT_EQ(configuration.profiles[0].plugin_config.size(), 8u);
}

TEST(Defaults, OnlyASingleProfileGetsAName) {
  EXPECT_EQ(MustLoad(File("profiles: [{}]\n")).profiles[0].scheduler_name, "default-scheduler");
  EXPECT_EQ(MustLoad(File("profiles: [{}, {}]\n")).profiles[0].scheduler_name, std::nullopt);
  EXPECT_EQ(MustLoad(File("profiles: [{schedulerName: ''}]\n")).profiles[0].scheduler_name, "");
}

// Case 14: zeros cannot be configured; negative rates can.
TEST(Defaults, ZeroRatesCountAsAbsent) {
  EXPECT_EQ(MustLoad(File("clientConnection: {qps: 0, burst: 0}\n")).client_connection.qps, 50);
  EXPECT_EQ(MustLoad(File("clientConnection: {qps: -1}\n")).client_connection.qps, -1);
}

TEST(Defaults, ContentionProfilingFollowsProfiling) {
  EXPECT_FALSE(*MustLoad(File("enableProfiling: false\n")).enable_contention_profiling);
  EXPECT_TRUE(*MustLoad(File("enableProfiling: false\nenableContentionProfiling: true\n"))
                   .enable_contention_profiling);
}

template <class T>
T Arguments(std::string_view plugin, std::string_view args,
            const framework::Features& features = UpstreamFeatures()) {
  const Configuration configuration =
      MustLoad(InProfile("pluginConfig:\n- name: " + std::string(plugin) + "\n  args: " + std::string(args)),
               features);
  return std::get<T>(configuration.profiles[0].plugin_config[0].typed);
}

// Case 18: a weight of 0 becomes 1.
TEST(Defaults, WeightsOfZeroAreOne) {
  const auto args = Arguments<NodeResourcesBalancedAllocationArgs>("NodeResourcesBalancedAllocation",
                                                                   "{resources: [{name: gpu}]}");
  EXPECT_EQ(args.resources, (std::vector<ResourceSpec>{{"gpu", 1}}));
}

TEST(Defaults, AStrategyWithoutTypeKeepsNone) {
  EXPECT_EQ(
      Arguments<NodeResourcesFitArgs>("NodeResourcesFit", "{scoringStrategy: {}}").scoring_strategy->type,
      "");
  EXPECT_EQ(Arguments<NodeResourcesFitArgs>("NodeResourcesFit", "{}").scoring_strategy->type,
            "LeastAllocated");
}

// Case 22: what a gate turns off has no default.
TEST(Defaults, FollowGates) {
  framework::Features features = UpstreamFeatures();
  EXPECT_EQ(Arguments<DynamicResourcesArgs>("DynamicResources", "{}").filter_timeout, seconds(10));
  EXPECT_EQ(Arguments<DynamicResourcesArgs>("DynamicResources", "{}").binding_timeout, minutes(10));
  features.dra_scheduler_filter_timeout = false;
  features.storage_capacity_scoring = false;
  EXPECT_EQ(Arguments<DynamicResourcesArgs>("DynamicResources", "{}", features).filter_timeout, std::nullopt);
  EXPECT_TRUE(Arguments<VolumeBindingArgs>("VolumeBinding", "{}", features).shape.empty());
}

// Case 31: upstream forgets the arguments of a plugin that is enabled at this point alone, and fails.
TEST(Defaults, PluginsOfEveryPointGetArguments) {
  const Configuration configuration = MustLoad(
      InProfile("plugins: {multiPoint: {disabled: [{name: '*'}]}, podGroupPostFilter: {enabled: [{name: "
                "DefaultPreemption}]}}"));
  ASSERT_EQ(configuration.profiles[0].plugin_config.size(), 1u);
  EXPECT_EQ(configuration.profiles[0].plugin_config[0].name, "DefaultPreemption");
}

Plugins With(Point point, PluginSet set) {
  Plugins plugins;
  plugins.at(point) = std::move(set);
  return plugins;
}

TEST(MergePlugins, TheLastCustomEntryTakesTheDefaultsPlace) {
  const Plugins merged = MergePlugins(With(Point::kMultiPoint, {{{"A", 1}, {"B", 2}}, {}}),
                                      With(Point::kMultiPoint, {{{"A", 5}, {"C", 0}, {"A", 7}}, {}}));
  EXPECT_EQ(merged.at(Point::kMultiPoint).enabled,
            (std::vector<PluginEntry>{{"A", 7}, {"B", 2}, {"A", 5}, {"C", 0}}));
}

TEST(MergePlugins, DisabledAndEnabledMovesToTheEnd) {
  const Plugins merged = MergePlugins(With(Point::kMultiPoint, {{{"A", 1}, {"B", 2}}, {}}),
                                      With(Point::kMultiPoint, {{{"A", 0}}, {{"A", 9}, {"A", 0}}}));
  EXPECT_EQ(merged.at(Point::kMultiPoint).enabled, (std::vector<PluginEntry>{{"B", 2}, {"A", 0}}));
  EXPECT_EQ(merged.at(Point::kMultiPoint).disabled, (std::vector<PluginEntry>{{"A", 0}, {"A", 0}}));
}

}  // namespace
}  // namespace berth::config
