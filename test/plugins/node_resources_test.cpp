#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "plugins/plugin_harness.h"
#include "plugins/resource_allocation.h"
#include "plugins/resource_args.h"

// NodeResourcesFit and NodeResourcesBalancedAllocation. Numbers are those of the cases of the chapter about
// node plugins; 39 and 51, which need devices, are in dynamic_resources_test.cpp.
namespace berth::plugins {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::NodeBuilder;
using berth::test::PluginHarness;
using berth::test::PodBuilder;
using framework::ResourceWeight;
using framework::ScoringStrategyType;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

struct FitCase {
  std::string name;
  NodeBuilder node;
  PodBuilder running;
  PodBuilder pod;
  std::string want;
};
class NodeResourcesFitTest : public testing::TestWithParam<FitCase> {};
void PrintTo(const FitCase& test, std::ostream* out) { *out << test.name; }

// Cases 18 and 35 to 38.
TEST_P(NodeResourcesFitTest, RefusesNodesWithTooLittleLeft) {
  PluginHarness harness("NodeResourcesFit");
  harness.Add(GetParam().node).Add(PodBuilder(GetParam().running).Node("n1"));
  EXPECT_EQ(harness.Verdict(GetParam().pod, "n1"), GetParam().want);
}

PodBuilder WithOverhead(PodBuilder pod, std::string resource, std::string_view amount) {
  pod.pod().spec.overhead.insert_or_assign(std::move(resource), *api::Quantity::Parse(amount));
  return pod;
}

PodBuilder WithPodLevel(PodBuilder pod, std::string resource, std::string_view amount) {
  if (!pod.pod().spec.resources) pod.pod().spec.resources.emplace();
  pod.pod().spec.resources->requests.insert_or_assign(std::move(resource), *api::Quantity::Parse(amount));
  return pod;
}

NodeBuilder TenCpus() {
  return MakeNode("n1").Cpu("10").Memory("20Gi").Allocatable("ephemeral-storage", "5Gi");
}

INSTANTIATE_TEST_SUITE_P(
    Plugins, NodeResourcesFitTest,
    testing::Values(
        FitCase{"Fits", TenCpus(), MakePod("r").Cpu("5"), MakePod("p").Cpu("5").Memory("1Gi"), ""},
        FitCase{"AllPodsTaken", TenCpus().Pods("1"), MakePod("r"), MakePod("p"), "U Too many pods"},
        FitCase{"NodeWithoutPods", TenCpus().Pods("0"), MakePod("r"), MakePod("p"), "U Too many pods"},
        FitCase{"PodsAndCpu", TenCpus().Pods("1"), MakePod("r").Cpu("8"), MakePod("p").Cpu("5"),
                "U Too many pods, Insufficient cpu"},
        FitCase{"MoreThanTheNodeHas", TenCpus(), MakePod("r"), MakePod("p").Cpu("11"), "UU Insufficient cpu"},
        FitCase{"OneUnresolvableReasonDecides", TenCpus(), MakePod("r").Memory("15Gi"),
                MakePod("p").Cpu("11").Memory("10Gi"), "UU Insufficient cpu, Insufficient memory"},
        FitCase{"EphemeralStorage", TenCpus(), MakePod("r").Request("ephemeral-storage", "4Gi"),
                MakePod("p").Request("ephemeral-storage", "2Gi"), "U Insufficient ephemeral-storage"},
        FitCase{"OvercommittedInWhatIsNotAskedFor", TenCpus(), MakePod("r").Cpu("12"),
                MakePod("p").Memory("1Gi"), ""},
        FitCase{"OvercommittedAndNothingAskedFor", TenCpus(), MakePod("r").Cpu("12").Memory("30Gi"),
                MakePod("p"), ""},
        FitCase{"ExtendedResourceOfZero", TenCpus(), MakePod("r"),
                MakePod("p").Request("example.com/foo", "0"), ""},
        FitCase{"ExtendedResourceThatNoNodeHas", TenCpus(), MakePod("r"),
                MakePod("p").Request("example.com/foo", "1"), "UU Insufficient example.com/foo"},
        FitCase{"ExtendedResourceInUse", TenCpus().Allocatable("example.com/foo", "4"),
                MakePod("r").Request("example.com/foo", "4"), MakePod("p").Request("example.com/foo", "1"),
                "U Insufficient example.com/foo"},
        FitCase{"ScalarsByName", TenCpus(), MakePod("r"),
                MakePod("p").Request("z.com/b", "1").Request("a.com/z", "1").Request("hugepages-2Mi", "2Mi"),
                "UU Insufficient a.com/z, Insufficient hugepages-2Mi, Insufficient z.com/b"},
        FitCase{"NativeScalar", TenCpus(), MakePod("r"), MakePod("p").Request("x.kubernetes.io/y", "1"),
                "UU Insufficient x.kubernetes.io/y"},
        FitCase{"NameThatIsNoResource", TenCpus(), MakePod("r"), MakePod("p").Request("foo", "1"), ""},
        FitCase{"OverheadCounts", TenCpus(), MakePod("r"), WithOverhead(MakePod("p").Cpu("10"), "cpu", "1m"),
                "UU Insufficient cpu"},
        FitCase{"PodLevelReplacesContainers", TenCpus(), MakePod("r"),
                WithPodLevel(MakePod("p").Cpu("30"), "cpu", "3"), ""},
        FitCase{"OverheadOnTopOfPodLevel", TenCpus(), MakePod("r"),
                WithOverhead(WithPodLevel(MakePod("p").Cpu("1"), "cpu", "10"), "cpu", "250m"),
                "UU Insufficient cpu"}),
    [](const auto& test) { return test.param.name; });

// Case 38.
TEST(NodeResourcesFitIgnoreTest, LeavesOutIgnoredExtendedResourcesOnly) {
  framework::PluginArgs args;
  args.node_resources_fit.ignored_resources = {"example.com/foo", "hugepages-2Mi"};
  args.node_resources_fit.ignored_resource_groups = {"vendor.io"};
  PluginHarness harness({.plugins = {{"NodeResourcesFit", 1}}, .args = args});
  harness.Add(TenCpus());
  EXPECT_EQ(harness.Verdict(MakePod("a").Request("example.com/foo", "1"), "n1"), "");
  EXPECT_EQ(harness.Verdict(MakePod("b").Request("vendor.io/x", "1").Request("vendor.io/y", "1"), "n1"), "");
  EXPECT_EQ(harness.Verdict(MakePod("c").Request("example.com/bar", "1"), "n1"),
            "UU Insufficient example.com/bar");
  EXPECT_EQ(harness.Verdict(MakePod("d").Request("hugepages-2Mi", "2Mi"), "n1"),
            "UU Insufficient hugepages-2Mi");
}

// What an earlier life of the pod left in its status is no demand on a new node.
TEST(NodeResourcesFitStatusTest, LooksAtTheSpecOfAWaitingPod) {
  PluginHarness harness("NodeResourcesFit");
  harness.Add(TenCpus());
  PodBuilder pod = MakePod("p").Cpu("2");
  pod.pod().spec.containers.front().name = "main";
  api::ContainerStatus& status = pod.pod().status.container_statuses.emplace_back();
  status.name = "main";
  status.allocated_resources.insert_or_assign("cpu", *api::Quantity::Parse("20"));
  EXPECT_EQ(harness.Verdict(pod, "n1"), "");
}

TEST(NodeResourcesFitStatusTest, ManyResourcesAtOnce) {
  PluginHarness harness("NodeResourcesFit");
  harness.Add(TenCpus()).Add(MakeNode("n2").Cpu("10"));
  PodBuilder pod = MakePod("p");
  for (int i = 100; i < 170; ++i) pod.Request("example.com/r" + std::to_string(i), "1");
  const std::string verdict = harness.Verdict(pod, "n1");
  EXPECT_TRUE(verdict.starts_with("UU Insufficient example.com/r100, Insufficient example.com/r101, "));
  EXPECT_TRUE(verdict.ends_with(", Insufficient example.com/r169"));
}

// A pod that is being resized is in the node's sums already: only what it wants on top has to be free.
class ResizeInPlaceTest : public testing::Test {
 protected:
  static std::string Resize(bool gate, std::string_view others, std::string_view wanted) {
    framework::Features features = framework::Features::Upstream();
    features.in_place_pod_vertical_scaling_scheduler_preemption = gate;
    // Without the status the cluster would count what the pod wants, not what it has.
    features.in_place_pod_vertical_scaling = true;
    PluginHarness harness({.plugins = {{"NodeResourcesFit", 1}}, .features = features});
    harness.Add(MakeNode("n1").Cpu("1")).Add(MakePod("other").Cpu(others).Node("n1"));
    PodBuilder pod = MakePod("p").Cpu(wanted).Node("n1");
    return harness.Verdict(pod, "n1");
  }
};

// Case 40.
TEST_F(ResizeInPlaceTest, CountsThePodOnlyOnceWithTheGate) {
  EXPECT_EQ(Resize(true, "100m", "800m"), "");
  EXPECT_EQ(Resize(false, "100m", "800m"), "U Insufficient cpu");
}

// Case 40.
TEST_F(ResizeInPlaceTest, NoticesThatTheNodeIsOverItsCapacity) {
  EXPECT_EQ(Resize(true, "400m", "800m"), "U Insufficient cpu");
  EXPECT_EQ(Resize(true, "0", "1200m"), "UU Insufficient cpu");
}

// ---------------------------------------------------------------------------------------------------------

framework::PluginArgs Strategy(ScoringStrategyType type, std::vector<framework::ShapePoint> shape = {},
                               std::vector<ResourceWeight> resources = {{"cpu", 1}, {"memory", 1}}) {
  framework::PluginArgs args;
  args.node_resources_fit.strategy = type;
  args.node_resources_fit.shape = std::move(shape);
  args.node_resources_fit.resources = std::move(resources);
  return args;
}

struct ScoreCase {
  std::string name;
  NodeBuilder node;
  PodBuilder running;
  PodBuilder pod;
  framework::PluginArgs args;
  std::int64_t want;
};
class FitScoreTest : public testing::TestWithParam<ScoreCase> {};
void PrintTo(const ScoreCase& test, std::ostream* out) { *out << test.name; }

// Cases 46 to 48, 50 and 52.
TEST_P(FitScoreTest, ScoresByTheStrategy) {
  PluginHarness harness({.plugins = {{"NodeResourcesFit", 1}}, .args = GetParam().args});
  harness.Add(GetParam().node).Add(PodBuilder(GetParam().running).Node("n1"));
  EXPECT_THAT(harness.RawScores(GetParam().pod), UnorderedElementsAre(Pair("n1", GetParam().want)));
}

const NodeBuilder kSmall = MakeNode("n1").Cpu("4000m").Memory("10000");
const PodBuilder kHalf = MakePod("r").Cpu("2000m").Memory("4000");
constexpr auto kLeast = ScoringStrategyType::kLeastAllocated;
constexpr auto kMost = ScoringStrategyType::kMostAllocated;
constexpr auto kRatio = ScoringStrategyType::kRequestedToCapacityRatio;

INSTANTIATE_TEST_SUITE_P(
    Plugins, FitScoreTest,
    testing::Values(
        ScoreCase{"Least", kSmall, kHalf, MakePod("p").Cpu("1000m").Memory("2000"), Strategy(kLeast), 32},
        ScoreCase{"Most", kSmall, kHalf, MakePod("p").Cpu("1000m").Memory("2000"), Strategy(kMost), 67},
        ScoreCase{"LeastWithDefaultsForABestEffortPod", MakeNode("n1").Cpu("4").Memory("8Gi"),
                  MakePod("r").Cpu("0").Memory("0"), MakePod("p").Container(), Strategy(kLeast), 97},
        ScoreCase{"MostWithDefaultsForABestEffortPod", MakeNode("n1").Cpu("4").Memory("8Gi"),
                  MakePod("r").Cpu("0").Memory("0"), MakePod("p").Container(), Strategy(kMost), 2},
        ScoreCase{"RatioDown", MakeNode("n1").Cpu("6000m").Memory("10000"),
                  MakePod("r").Cpu("1000m").Memory("2000"), MakePod("p").Cpu("3000m").Memory("5000"),
                  Strategy(kRatio, {{0, 10}, {100, 0}}), 32},
        ScoreCase{"RatioUp", MakeNode("n1").Cpu("6000m").Memory("10000"),
                  MakePod("r").Cpu("1000m").Memory("2000"), MakePod("p").Cpu("3000m").Memory("5000"),
                  Strategy(kRatio, {{0, 0}, {100, 10}}), 68},
        ScoreCase{"ExtendedResourceThatIsNotAskedForDoesNotCount",
                  NodeBuilder(kSmall).Allocatable("example.com/gpu", "8"), kHalf,
                  MakePod("p").Cpu("1000m").Memory("2000"),
                  Strategy(kLeast, {}, {{"cpu", 1}, {"memory", 1}, {"example.com/gpu", 5}}), 32},
        ScoreCase{"ExtendedResourceCountsByItsWeight",
                  NodeBuilder(kSmall).Allocatable("example.com/gpu", "8"), kHalf,
                  MakePod("p").Cpu("1000m").Memory("2000").Request("example.com/gpu", "4"),
                  Strategy(kLeast, {}, {{"cpu", 1}, {"memory", 1}, {"example.com/gpu", 2}}), 41},
        ScoreCase{"ResourceThatTheNodeLacksDoesNotCount", kSmall, kHalf,
                  MakePod("p").Cpu("1000m").Memory("2000"),
                  Strategy(kLeast, {}, {{"cpu", 1}, {"memory", 1}, {"ephemeral-storage", 5}}), 32},
        ScoreCase{"PodCountIsNoResource", kSmall, kHalf, MakePod("p").Cpu("1000m").Memory("2000"),
                  Strategy(kLeast, {}, {{"cpu", 1}, {"memory", 1}, {"pods", 5}}), 32},
        ScoreCase{"PodLevelRequestsAreNotLookedAt", MakeNode("n1").Cpu("10").Memory("8Gi"),
                  MakePod("r").Cpu("0").Memory("0"), WithPodLevel(MakePod("p").Container(), "cpu", "4"),
                  Strategy(kLeast, {}, {{"cpu", 1}}), 99}),
    [](const auto& test) { return test.param.name; });

// Filter would refuse such a node, but what is already there may be over the capacity.
// Case 48.
TEST(FitScoreRatioTest, AResourceThatScoresNothingIsLeftOut) {
  PluginHarness harness(
      {.plugins = {{"NodeResourcesFit", 1}}, .args = Strategy(kRatio, {{0, 10}, {100, 0}})});
  harness.Add(kSmall)
      .Add(PodBuilder(kHalf).Node("n1"))
      .Add(MakePod("more").Cpu("3000m").Memory("4900").Node("n1"));
  // cpu is over its capacity; memory is at 90 %.
  EXPECT_THAT(harness.RawScores(MakePod("p").Cpu("0").Memory("100")), UnorderedElementsAre(Pair("n1", 10)));
}

// Case 49.
TEST(ShapeScoreTest, FollowsTheLineBetweenPoints) {
  const std::vector<framework::ShapePoint> falling = {{0, 10}, {70, 0}};
  EXPECT_EQ(ShapeScore(falling, 33), 53);
  EXPECT_EQ(ShapeScore(falling, 0), 100);
  EXPECT_EQ(ShapeScore(falling, 100), 0);
  const std::vector<framework::ShapePoint> single = {{10, 5}};
  for (const std::int64_t utilization : {0, 10, 11, 100}) EXPECT_EQ(ShapeScore(single, utilization), 50);
}

// ---------------------------------------------------------------------------------------------------------

class BalanceTest : public testing::TestWithParam<ScoreCase> {};

// Cases 53 and 54.
TEST_P(BalanceTest, ScoresByTheChangeOfBalance) {
  PluginHarness harness({.plugins = {{"NodeResourcesBalancedAllocation", 1}}, .args = GetParam().args});
  harness.Add(GetParam().node).Add(PodBuilder(GetParam().running).Node("n1"));
  EXPECT_THAT(harness.RawScores(GetParam().pod), UnorderedElementsAre(Pair("n1", GetParam().want)));
}

const NodeBuilder kHundred = MakeNode("n1").Cpu("100m").Memory("100");

PodBuilder Uses(std::string name, int cpu, int memory) {
  return MakePod(std::move(name)).Cpu(std::to_string(cpu) + "m").Memory(std::to_string(memory));
}

framework::PluginArgs Balanced(std::vector<ResourceWeight> resources) {
  framework::PluginArgs args;
  args.node_resources_balanced_allocation.resources = std::move(resources);
  return args;
}

const framework::PluginArgs kWithGpu = Balanced({{"cpu", 1}, {"memory", 1}, {"example.com/gpu", 1}});
const NodeBuilder kGpuNode = MakeNode("n1").Cpu("3500m").Memory("40000").Allocatable("example.com/gpu", "8");

INSTANTIATE_TEST_SUITE_P(
    Plugins, BalanceTest,
    testing::Values(
        ScoreCase{"FromNothing", kHundred, Uses("r", 0, 0), Uses("p", 75, 50), {}, 68},
        ScoreCase{"SlightlyWorse", kHundred, Uses("r", 30, 0), Uses("p", 30, 25), {}, 73},
        ScoreCase{"FullyBalanced", kHundred, Uses("r", 100, 0), Uses("p", 0, 100), {}, 100},
        ScoreCase{"FullyUnbalanced", kHundred, Uses("r", 0, 0), Uses("p", 0, 100), {}, 50},
        ScoreCase{"MoreOfTheSame", kHundred, Uses("r", 50, 0), Uses("p", 50, 0), {}, 62},
        ScoreCase{"ThreeResourcesEvening", kGpuNode,
                  MakePod("r").Cpu("3000m").Memory("5000").Request("example.com/gpu", "3"),
                  MakePod("p").Cpu("0").Memory("0").Request("example.com/gpu", "1"), kWithGpu, 75},
        ScoreCase{"ThreeResourcesFromZero", kGpuNode, MakePod("r").Cpu("3000m").Memory("5000"),
                  MakePod("p").Cpu("0").Memory("0").Request("example.com/gpu", "1"), kWithGpu, 76},
        ScoreCase{"OneResource", kHundred, Uses("r", 10, 0), Uses("p", 20, 0), Balanced({{"cpu", 1}}), 75}),
    [](const auto& test) { return test.param.name; });

// Case 55.
TEST(BalanceSkipTest, BestEffortPodsHaveNoPartInIt) {
  PluginHarness harness("NodeResourcesBalancedAllocation");
  harness.Add(kHundred);
  EXPECT_THAT(harness.RawScores(MakePod("p")), IsEmpty());
  EXPECT_THAT(harness.RawScores(MakePod("q").Request("example.com/gpu", "1")), IsEmpty());
}

// Case 52.
TEST(BalanceSkipTest, PodLevelRequestsCount) {
  PluginHarness harness("NodeResourcesBalancedAllocation");
  harness.Add(MakeNode("n1").Cpu("8").Memory("8Gi"));
  // cpu at one half, memory at nothing: a deviation of a quarter.
  EXPECT_THAT(harness.RawScores(WithPodLevel(MakePod("p"), "cpu", "4")),
              UnorderedElementsAre(Pair("n1", 62)));
}

// ---------------------------------------------------------------------------------------------------------

// What is wrong with default arguments after a change; nothing if it is empty.
template <class F>
std::string FitProblem(F&& change) {
  framework::NodeResourcesFitArgs args;
  change(args);
  const auto valid = Validate(args);
  return valid ? "" : valid.error().message;
}

// Case 67.
TEST(FitArgsTest, SaysWhatIsWrong) {
  using Args = framework::NodeResourcesFitArgs;
  EXPECT_EQ(FitProblem([](Args&) {}), "");
  EXPECT_EQ(FitProblem([](Args& args) { args.resources = {{"cpu", 101}}; }),
            "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid "
            "range (0, 100]");
  EXPECT_TRUE(FitProblem([](Args& args) {
                args.ignored_resources = {"bad name"};
              }).starts_with("ignoredResources[0]: Invalid value: \"bad name\": name part must consist of"));
  EXPECT_EQ(FitProblem([](Args& args) { args.ignored_resource_groups = {"a/b"}; }),
            "ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/'");
  EXPECT_EQ(FitProblem([](Args& args) { args.shape = {{0, 0}}; }),
            "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
            "RequestedToCapacityRatio");
}

// Case 67.
TEST(FitArgsTest, SaysWhatIsWrongWithAShape) {
  const auto problem = [](std::vector<framework::ShapePoint> shape) {
    return FitProblem([&](framework::NodeResourcesFitArgs& args) {
      args.strategy = kRatio;
      args.shape = std::move(shape);
    });
  };
  EXPECT_EQ(problem({{0, 0}, {100, 10}}), "");
  EXPECT_EQ(problem({}),
            "scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be "
            "specified");
  EXPECT_EQ(
      problem({{50, 1}, {50, 2}}),
      "scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 50: values must be "
      "sorted in increasing order");
  EXPECT_EQ(problem({{-1, 11}}),
            "[scoringStrategy.requestedToCapacityRatio.shape[0].utilization: Invalid value: -1: not in valid "
            "range [0, 100], scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: 11: not "
            "in valid range [0, 10]]");
}

// Case 67.
TEST(BalanceArgsTest, SaysWhatIsWrong) {
  const auto problem = [](std::vector<ResourceWeight> resources) {
    const auto valid = Validate(framework::NodeResourcesBalancedAllocationArgs{std::move(resources)});
    return valid ? std::string() : valid.error().message;
  };
  EXPECT_EQ(problem({{"cpu", 1}, {"memory", 1}}), "");
  EXPECT_EQ(problem({{"cpu", 2}}), "resources[0].weight: Invalid value: 2: must be 1");
  EXPECT_EQ(problem({{"cpu", 1}, {"cpu", 1}}), "resources[1].name: Duplicate value: \"cpu\"");
}

}  // namespace
}  // namespace berth::plugins
