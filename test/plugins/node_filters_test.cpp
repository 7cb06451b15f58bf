#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "framework/binding_points.h"
#include "plugins/plugin_harness.h"

// Which nodes the plugins that look at one node at a time refuse, and with which words. Numbers are those of
// the cases of the chapter about node plugins.
namespace berth::plugins {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::NodeBuilder;
using berth::test::PluginHarness;
using berth::test::PodBuilder;
using testing::ElementsAre;
using testing::Optional;
using testing::Pair;
using testing::UnorderedElementsAre;

struct FilterCase {
  std::string name;
  PodBuilder pod;
  NodeBuilder node;
  std::string want;
};

std::string CaseName(const testing::TestParamInfo<FilterCase>& test) { return test.param.name; }
void PrintTo(const FilterCase& test, std::ostream* out) { *out << test.name; }

api::Toleration Tolerate(std::string key, std::string op, std::string value, std::string effect) {
  return {.key = std::move(key),
          .operator_ = std::move(op),
          .value = std::move(value),
          .effect = std::move(effect),
          .toleration_seconds = {}};
}

api::NodeSelectorTerm Term(std::vector<api::NodeSelectorRequirement> expressions,
                           std::vector<api::NodeSelectorRequirement> fields = {}) {
  return {.match_expressions = std::move(expressions), .match_fields = std::move(fields)};
}

api::NodeSelectorTerm NamedTerm(std::vector<std::string> names) {
  return Term({}, {{"metadata.name", "In", std::move(names)}});
}

// ---------------------------------------------------------------------------------------------------------

TEST(NodeNameTest, Case19APodThatNamesItsNodeGoesNowhereElse) {
  PluginHarness harness("NodeName");
  harness.Add(MakeNode("n1")).Add(MakeNode("n2"));
  EXPECT_EQ(harness.PreFilter(MakePod("open")), "Skip");
  EXPECT_THAT(harness.Verdicts(MakePod("open")), UnorderedElementsAre(Pair("n1", ""), Pair("n2", "")));
  const PodBuilder pod = MakePod("bound").Node("n2");
  EXPECT_THAT(harness.Explain(pod).narrowed, Optional(ElementsAre("n2")));
  EXPECT_THAT(harness.Verdicts(pod), UnorderedElementsAre(Pair("n2", "")));
}

TEST(NodeNameTest, Case20ANameAndAnAffinityThatNamesAnotherNodeLeaveNone) {
  PluginHarness harness({.plugins = {{"NodeName", 1}, {"NodeAffinity", 1}}});
  harness.Add(MakeNode("n1")).Add(MakeNode("n2")).Add(MakeNode("n3"));
  const framework::Explanation explanation =
      harness.Explain(MakePod("p").Node("n2").NodeAffinity(NamedTerm({"n3"})));
  EXPECT_EQ(berth::test::ShortText(explanation.pre_filter),
            "UU node(s) didn't satisfy plugin(s) [NodeAffinity NodeName] simultaneously");
  EXPECT_TRUE(explanation.feasible.empty());
}

// ---------------------------------------------------------------------------------------------------------

class NodeUnschedulableTest : public testing::TestWithParam<FilterCase> {};

// Case 21.
TEST_P(NodeUnschedulableTest, RefusesCordonedNodesUnlessTolerated) {
  PluginHarness harness("NodeUnschedulable");
  harness.Add(GetParam().node);
  EXPECT_EQ(harness.Verdict(GetParam().pod, "n1"), GetParam().want);
}

constexpr const char* kCordonKey = "node.kubernetes.io/unschedulable";
constexpr const char* kCordoned = "UU node(s) were unschedulable";

INSTANTIATE_TEST_SUITE_P(
    Plugins, NodeUnschedulableTest,
    testing::Values(FilterCase{"OpenNode", MakePod("p"), MakeNode("n1"), ""},
                    FilterCase{"CordonedNode", MakePod("p"), MakeNode("n1").Unschedulable(), kCordoned},
                    FilterCase{"NoExecuteTolerationDoesNotHelp",
                               MakePod("p").Tolerate(Tolerate(kCordonKey, "Exists", "", "NoExecute")),
                               MakeNode("n1").Unschedulable(), kCordoned},
                    FilterCase{"NoScheduleToleration",
                               MakePod("p").Tolerate(Tolerate(kCordonKey, "Exists", "", "NoSchedule")),
                               MakeNode("n1").Unschedulable(), ""},
                    FilterCase{"TolerationOfAnyEffect",
                               MakePod("p").Tolerate(Tolerate(kCordonKey, "", "", "")),
                               MakeNode("n1").Unschedulable(), ""},
                    FilterCase{"TolerationOfEverything",
                               MakePod("p").Tolerate(Tolerate("", "Exists", "", "")),
                               MakeNode("n1").Unschedulable(), ""}),
    CaseName);

// ---------------------------------------------------------------------------------------------------------

class TaintTolerationTest : public testing::TestWithParam<FilterCase> {};

// Cases 22 to 24.
TEST_P(TaintTolerationTest, RefusesNodesWithHardTaintsThatAreNotTolerated) {
  PluginHarness harness("TaintToleration");
  harness.Add(GetParam().node);
  EXPECT_EQ(harness.Verdict(GetParam().pod, "n1"), GetParam().want);
}

constexpr const char* kTainted = "UU node(s) had untolerated taint(s)";

INSTANTIATE_TEST_SUITE_P(
    Plugins, TaintTolerationTest,
    testing::Values(
        FilterCase{"NoTaints", MakePod("p"), MakeNode("n1"), ""},
        FilterCase{"OtherValue", MakePod("p").Tolerate(Tolerate("dedicated", "Equal", "u2", "NoSchedule")),
                   MakeNode("n1").Taint("dedicated", "u1", "NoSchedule"), kTainted},
        FilterCase{"SameValue", MakePod("p").Tolerate(Tolerate("dedicated", "", "u1", "NoSchedule")),
                   MakeNode("n1").Taint("dedicated", "u1", "NoSchedule"), ""},
        FilterCase{"NoExecute", MakePod("p"), MakeNode("n1").Taint("dedicated", "u1", "NoExecute"), kTainted},
        FilterCase{"PreferNoScheduleIsForScoring", MakePod("p"),
                   MakeNode("n1").Taint("dedicated", "u1", "PreferNoSchedule"), ""},
        FilterCase{"EmptyKeyToleratesEveryTaintOfThatValue", MakePod("p").Tolerate(Tolerate("", "", "v", "")),
                   MakeNode("n1").Taint("a", "v", "NoSchedule").Taint("b", "v", "NoExecute"), ""},
        FilterCase{"SecondTaintIsNotTolerated", MakePod("p").Tolerate(Tolerate("a", "Exists", "", "")),
                   MakeNode("n1").Taint("a", "", "NoSchedule").Taint("b", "", "NoSchedule"), kTainted},
        FilterCase{"UnknownOperatorToleratesNothing", MakePod("p").Tolerate(Tolerate("k", "Bogus", "", "")),
                   MakeNode("n1").Taint("k", "", "NoSchedule"), kTainted},
        FilterCase{"GreaterThanNeedsItsGate", MakePod("p").Tolerate(Tolerate("k", "Gt", "750", "")),
                   MakeNode("n1").Taint("k", "950", "NoSchedule"), kTainted}),
    CaseName);

// Case 23.
TEST(TaintTolerationComparisonTest, ComparesCanonicalNumbersWithTheGate) {
  framework::Features features = framework::Features::Upstream();
  features.taint_toleration_comparison_operators = true;
  PluginHarness harness({.plugins = {{"TaintToleration", 1}}, .features = features});
  for (const std::string value : {"950", "750", "0950", "+950", "high", "", "9223372036854775808"}) {
    api::Node node = MakeNode("n" + value);
    node.spec.taints = {{.key = "k", .value = value, .effect = "NoSchedule", .time_added = {}}};
    harness.Add(node);
  }
  EXPECT_THAT(harness.Verdicts(MakePod("p").Tolerate(Tolerate("k", "Gt", "750", ""))),
              UnorderedElementsAre(Pair("n950", ""), Pair("n750", kTainted), Pair("n0950", kTainted),
                                   Pair("n+950", kTainted), Pair("nhigh", kTainted), Pair("n", kTainted),
                                   Pair("n9223372036854775808", kTainted)));
}

// ---------------------------------------------------------------------------------------------------------

class NodeAffinityTest : public testing::TestWithParam<FilterCase> {};

// Cases 25 to 29.
TEST_P(NodeAffinityTest, RefusesNodesThatThePodDoesNotName) {
  PluginHarness harness("NodeAffinity");
  harness.Add(GetParam().node);
  EXPECT_EQ(harness.Verdict(GetParam().pod, "n1"), GetParam().want);
}

constexpr const char* kUnselected = "UU node(s) didn't match Pod's node affinity/selector";

PodBuilder WithoutTerms() {
  PodBuilder pod = MakePod("p");
  pod.pod().spec.affinity.emplace().node_affinity.emplace();
  pod.pod().spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution.emplace();
  return pod;
}

INSTANTIATE_TEST_SUITE_P(
    Plugins, NodeAffinityTest,
    testing::Values(
        FilterCase{"NothingAskedFor", MakePod("p"), MakeNode("n1"), ""},
        FilterCase{"SelectorMatches", MakePod("p").NodeSelector("a", "1"), MakeNode("n1").Label("a", "1"),
                   ""},
        FilterCase{"SelectorDiffers", MakePod("p").NodeSelector("a", "1"), MakeNode("n1").Label("a", "2"),
                   kUnselected},
        FilterCase{"ZeroTermsMatchNothing", WithoutTerms(), MakeNode("n1"), kUnselected},
        FilterCase{"EmptyTermMatchesNothing", MakePod("p").NodeAffinity({}), MakeNode("n1"), kUnselected},
        FilterCase{"NegativeNumberIsNoLabelValue", MakePod("p").NodeAffinity(Term({{"k", "Gt", {"-5"}}})),
                   MakeNode("n1").Label("k", "6"), kUnselected},
        FilterCase{"GreaterThanReadsLeadingZeros", MakePod("p").NodeAffinity(Term({{"k", "Gt", {"05"}}})),
                   MakeNode("n1").Label("k", "6"), ""},
        FilterCase{"GreaterThanIsStrict", MakePod("p").NodeAffinity(Term({{"k", "Gt", {"05"}}})),
                   MakeNode("n1").Label("k", "5"), kUnselected},
        FilterCase{"GreaterThanNeedsAnInteger", MakePod("p").NodeAffinity(Term({{"k", "Gt", {"05"}}})),
                   MakeNode("n1").Label("k", "6.0"), kUnselected},
        FilterCase{"GreaterThanNeedsTheLabel", MakePod("p").NodeAffinity(Term({{"k", "Gt", {"05"}}})),
                   MakeNode("n1"), kUnselected},
        FilterCase{"NotInMatchesAnAbsentLabel", MakePod("p").NodeAffinity(Term({{"k", "NotIn", {"x"}}})),
                   MakeNode("n1"), ""},
        FilterCase{"DoesNotExist", MakePod("p").NodeAffinity(Term({{"k", "DoesNotExist", {}}})),
                   MakeNode("n1"), ""},
        FilterCase{"InWithoutValuesIsDead", MakePod("p").NodeAffinity(Term({{"k", "In", {}}})),
                   MakeNode("n1"), kUnselected},
        FilterCase{"OtherTermsSurviveAWrongOne",
                   MakePod("p")
                       .NodeAffinity(Term({{"bad key", "Exists", {}}}))
                       .NodeAffinity(Term({{"a", "In", {"1"}}})),
                   MakeNode("n1").Label("a", "1"), ""},
        FilterCase{"OnlyAWrongTerm", MakePod("p").NodeAffinity(Term({{"bad key", "Exists", {}}})),
                   MakeNode("n1"), kUnselected},
        FilterCase{"SelectorAndAffinityMustBothMatch",
                   MakePod("p").NodeSelector("a", "1").NodeAffinity(Term({{"b", "Exists", {}}})),
                   MakeNode("n1").Label("a", "1"), kUnselected},
        FilterCase{
            "NameAndLabelsOfOneTerm",
            MakePod("p").NodeAffinity(Term({{"a", "Exists", {}}}, {{"metadata.name", "NotIn", {"n1"}}})),
            MakeNode("n1").Label("a", "1"), kUnselected}),
    CaseName);

// Case 25.
TEST(NodeAffinityNarrowingTest, SkipsPodsThatNameNoNodes) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1"));
  EXPECT_EQ(harness.PreFilter(MakePod("p")), "Skip");
  EXPECT_EQ(harness.PreFilter(MakePod("q").NodeSelector("a", "1")), "");
}

// Case 30.
TEST(NodeAffinityNarrowingTest, TermsThatNameNodesAreUnited) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1")).Add(MakeNode("n2")).Add(MakeNode("n3"));
  const PodBuilder pod = MakePod("p").NodeAffinity(NamedTerm({"n2"})).NodeAffinity(NamedTerm({"n1"}));
  EXPECT_THAT(harness.Explain(pod).narrowed, Optional(ElementsAre("n1", "n2")));
  EXPECT_THAT(harness.Verdicts(pod), UnorderedElementsAre(Pair("n1", ""), Pair("n2", "")));
}

// Case 30.
TEST(NodeAffinityNarrowingTest, ATermThatNamesTwoNodesAtOnceContradictsItself) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1")).Add(MakeNode("n2"));
  const PodBuilder pod =
      MakePod("p").NodeAffinity(Term({}, {{"metadata.name", "In", {"n1"}}, {"metadata.name", "In", {"n2"}}}));
  EXPECT_EQ(harness.PreFilter(pod), "UU pod affinity terms conflict");
}

// Case 30.
TEST(NodeAffinityNarrowingTest, ATermWithoutANameKeepsAllNodes) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1")).Add(MakeNode("n2").Label("a", "1")).Add(MakeNode("n3"));
  const PodBuilder pod =
      MakePod("p").NodeAffinity(NamedTerm({"n1"})).NodeAffinity(Term({{"a", "Exists", {}}}));
  EXPECT_THAT(harness.Verdicts(pod),
              UnorderedElementsAre(Pair("n1", ""), Pair("n2", ""), Pair("n3", kUnselected)));
}

// Two values are an error for matching, but narrowing counts them.
// Case 31.
TEST(NodeAffinityNarrowingTest, ATermWithTwoNamesNarrowsAndNeverMatches) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1")).Add(MakeNode("n2")).Add(MakeNode("n3"));
  EXPECT_THAT(harness.Verdicts(MakePod("p").NodeAffinity(NamedTerm({"n1", "n2"}))),
              UnorderedElementsAre(Pair("n1", kUnselected), Pair("n2", kUnselected)));
}

framework::PluginArgs AddedAffinity(api::NodeSelectorTerm term) {
  framework::PluginArgs args;
  args.node_affinity.added_affinity.emplace()
      .required_during_scheduling_ignored_during_execution.emplace()
      .node_selector_terms.push_back(std::move(term));
  return args;
}

// Case 32.
TEST(NodeAffinityAddedTest, IsJudgedBeforeThePodsOwn) {
  PluginHarness harness(
      {.plugins = {{"NodeAffinity", 1}}, .args = AddedAffinity(Term({{"pool", "In", {"x"}}}))});
  harness.Add(MakeNode("both").Label("pool", "x").Label("a", "1"))
      .Add(MakeNode("pod-only").Label("a", "1"))
      .Add(MakeNode("added-only").Label("pool", "x"))
      .Add(MakeNode("none"));
  constexpr const char* kEnforced = "UU node(s) didn't match scheduler-enforced node affinity";
  EXPECT_THAT(harness.Verdicts(MakePod("p").NodeSelector("a", "1")),
              UnorderedElementsAre(Pair("both", ""), Pair("pod-only", kEnforced),
                                   Pair("added-only", kUnselected), Pair("none", kEnforced)));
  EXPECT_EQ(harness.Verdict(MakePod("plain"), "pod-only"), kEnforced);
}

// ---------------------------------------------------------------------------------------------------------

struct PortCase {
  std::string name;
  PodBuilder running;
  PodBuilder wanting;
  std::string want;
};
class NodePortsTest : public testing::TestWithParam<PortCase> {};
void PrintTo(const PortCase& test, std::ostream* out) { *out << test.name; }

// Case 33.
TEST_P(NodePortsTest, RefusesNodesWhereAPortIsTaken) {
  PluginHarness harness("NodePorts");
  harness.Add(MakeNode("n1")).Add(PodBuilder(GetParam().running).Node("n1"));
  EXPECT_EQ(harness.Verdict(GetParam().wanting, "n1"), GetParam().want);
}

constexpr const char* kTaken = "U node(s) didn't have free ports for the requested pod ports";

PodBuilder WithSidecarPort(std::string name, std::int32_t port, bool restarts) {
  PodBuilder pod = MakePod(std::move(name));
  api::Container& container = pod.pod().spec.init_containers.emplace_back();
  container.ports.push_back({.host_port = port, .protocol = "TCP", .host_ip = ""});
  if (restarts) container.restart_policy = "Always";
  return pod;
}

INSTANTIATE_TEST_SUITE_P(
    Plugins, NodePortsTest,
    testing::Values(PortCase{"AnyAddressTakesEveryAddress", MakePod("r").HostPort(8001, "TCP", "0.0.0.0"),
                             MakePod("p").HostPort(8001, "TCP", "127.0.0.1"), kTaken},
                    PortCase{"OtherProtocol", MakePod("r").HostPort(8001, "UDP", "0.0.0.0"),
                             MakePod("p").HostPort(8001, "TCP", "127.0.0.1"), ""},
                    PortCase{"OtherAddress", MakePod("r").HostPort(8001, "TCP", "127.0.0.2"),
                             MakePod("p").HostPort(8001, "TCP", "127.0.0.1"), ""},
                    PortCase{"WantsEveryAddress", MakePod("r").HostPort(8001, "TCP", "127.0.0.2"),
                             MakePod("p").HostPort(8001), kTaken},
                    PortCase{"UnnamedProtocolIsTcp", MakePod("r").HostPort(8001, "TCP"),
                             MakePod("p").HostPort(8001), kTaken},
                    PortCase{"IPv6AnyMeetsTheWildcard", MakePod("r").HostPort(8001, "TCP", "0.0.0.0"),
                             MakePod("p").HostPort(8001, "TCP", "::"), kTaken},
                    PortCase{"IPv6AnyIsNoWildcard", MakePod("r").HostPort(8001, "TCP", "127.0.0.1"),
                             MakePod("p").HostPort(8001, "TCP", "::"), ""},
                    PortCase{"OtherPort", MakePod("r").HostPort(8002), MakePod("p").HostPort(8001), ""},
                    PortCase{"SidecarWants", MakePod("r").HostPort(8001), WithSidecarPort("p", 8001, true),
                             kTaken},
                    PortCase{"InitContainerIsGoneBeforeThePodServes", MakePod("r").HostPort(8001),
                             WithSidecarPort("p", 8001, false), ""}),
    [](const auto& test) { return test.param.name; });

// Case 34.
TEST(NodePortsSkipTest, SkipsPodsWithoutHostPorts) {
  PluginHarness harness("NodePorts");
  harness.Add(MakeNode("n1"));
  EXPECT_EQ(harness.PreFilter(MakePod("p")), "Skip");
  EXPECT_EQ(harness.PreFilter(WithSidecarPort("i", 80, false)), "Skip");
  EXPECT_EQ(harness.PreFilter(MakePod("q").HostPort(80)), "");
}

// Case 34.
TEST(NodePortsSkipTest, APortIsFreeWhenItsHolderLeaves) {
  PluginHarness harness("NodePorts");
  const PodBuilder holder = MakePod("r").HostPort(80).Node("n1");
  harness.Add(MakeNode("n1")).Add(holder);
  EXPECT_EQ(harness.Verdict(MakePod("p").HostPort(80), "n1"), kTaken);
  ASSERT_TRUE(harness.cluster().RemovePod(*holder.Record()));
  EXPECT_EQ(harness.Verdict(MakePod("p").HostPort(80), "n1"), "");
}

// ---------------------------------------------------------------------------------------------------------

class NodeDeclaredFeaturesTest : public testing::TestWithParam<FilterCase> {};

// Cases 41 and 42.
TEST_P(NodeDeclaredFeaturesTest, RefusesNodesThatDoNotDeclareWhatThePodNeeds) {
  PluginHarness harness("NodeDeclaredFeatures");
  harness.Add(GetParam().node);
  EXPECT_EQ(harness.Verdict(GetParam().pod, "n1"), GetParam().want);
}

constexpr const char* kLacksFeature = "UU node(s) didn't match Pod's required features";

PodBuilder HostNetworkPod(std::optional<bool> host_users) {
  PodBuilder pod = MakePod("p");
  pod.pod().spec.host_network = true;
  pod.pod().spec.host_users = host_users;
  return pod;
}

PodBuilder RestartingPod() {
  PodBuilder pod = MakePod("p").InitContainer();
  pod.pod().spec.init_containers.back().restart_policy_rules = {{"RestartAllContainers"}};
  return pod;
}

PodBuilder BindMountPod() {
  PodBuilder pod = MakePod("p");
  pod.pod().spec.ephemeral_containers.emplace_back().ephemeral_container_common.volume_mounts = {
      {{"noexec"}}};
  return pod;
}

INSTANTIATE_TEST_SUITE_P(
    Plugins, NodeDeclaredFeaturesTest,
    testing::Values(
        FilterCase{"UserNamespacesOnTheHostNetwork", HostNetworkPod(false), MakeNode("n1"), kLacksFeature},
        FilterCase{"Declared", HostNetworkPod(false),
                   MakeNode("n1").Feature("UserNamespacesHostNetworkSupport"), ""},
        FilterCase{"HostUsersLeftOpen", HostNetworkPod({}), MakeNode("n1"), ""},
        FilterCase{"RestartRule", RestartingPod(), MakeNode("n1"), kLacksFeature},
        FilterCase{"RestartRuleDeclared", RestartingPod(),
                   MakeNode("n1").Feature("Another").Feature("RestartAllContainersOnContainerExits"), ""},
        FilterCase{"BindMountOptions", BindMountPod(), MakeNode("n1"), kLacksFeature},
        FilterCase{"BindMountOptionsDeclared", BindMountPod(),
                   MakeNode("n1").Feature("VolumeBindMountOptions"), ""},
        FilterCase{"UnsortedDeclarationLosesEntries", RestartingPod(),
                   MakeNode("n1")
                       .Feature("UserNamespacesHostNetworkSupport")
                       .Feature("RestartAllContainersOnContainerExits"),
                   kLacksFeature}),
    CaseName);

// Case 41.
TEST(NodeDeclaredFeaturesSkipTest, SkipsPodsThatNeedNothing) {
  PluginHarness harness("NodeDeclaredFeatures");
  harness.Add(MakeNode("n1"));
  EXPECT_EQ(harness.PreFilter(MakePod("p")), "Skip");
  EXPECT_EQ(harness.PreFilter(HostNetworkPod({}).Uid("other")), "Skip");
}

// Case 46 of the benchmarks: a measurement's features instead of the release's.
TEST(NodeDeclaredFeaturesMadeUpTest, PodsWithResourcesOfTheirOwnNeedAll) {
  PluginHarness harness({.plugins = {{"NodeDeclaredFeatures", 1}}, .made_up_node_features = 2});
  harness.Add(MakeNode("all").Feature("Feature1").Feature("Feature2"));
  harness.Add(MakeNode("one").Feature("Feature1"));
  PodBuilder pod = MakePod("p");
  pod.pod().spec.resources.emplace().requests.insert_or_assign("cpu", api::Quantity::FromMilli(1));
  const auto verdicts = harness.Verdicts(pod);
  EXPECT_EQ(verdicts.at("all"), "");
  EXPECT_EQ(verdicts.at("one"), kLacksFeature);
  EXPECT_EQ(harness.PreFilter(HostNetworkPod(false).Uid("other")), "Skip");
}

// ---------------------------------------------------------------------------------------------------------

// A running pod whose resize was put off is tried again on its own node only; plugins that would judge its
// move let it pass.
class DeferredResizeTest : public testing::Test {
 protected:
  static framework::Features WithGate() {
    framework::Features features = framework::Features::Upstream();
    features.in_place_pod_vertical_scaling_scheduler_preemption = true;
    return features;
  }
  static PodBuilder Deferred(std::string name) {
    api::PodCondition condition;
    condition.type = "PodResizePending";
    condition.status = "False";  // not looked at
    condition.reason = "Deferred";
    return MakePod(std::move(name)).Node("n1").Condition(std::move(condition));
  }
};

TEST_F(DeferredResizeTest, IsLetPassByPluginsThatJudgeAMove) {
  PluginHarness harness({.plugins = {{"NodeUnschedulable", 1},
                                     {"TaintToleration", 1},
                                     {"NodeAffinity", 1},
                                     {"NodePorts", 1},
                                     {"NodeDeclaredFeatures", 1}},
                         .features = WithGate()});
  harness.Add(MakeNode("n1").Unschedulable().Taint("k", "", "NoExecute"));
  PodBuilder pod = Deferred("p").NodeSelector("a", "1").HostPort(80);
  pod.pod().spec.host_network = true;
  pod.pod().spec.host_users = false;
  EXPECT_EQ(harness.PreFilter(pod), "Skip");
  EXPECT_EQ(harness.Verdict(pod, "n1"), "");
}

TEST_F(DeferredResizeTest, StaysOnItsNodeIfThatAllowsPreemption) {
  PluginHarness harness({.plugins = {{"DeferredPodScheduling", 1}}, .features = WithGate()});
  api::Node closed = MakeNode("n3");
  closed.spec.pod_preemption_policy.emplace().disable_resize_preemption = {"all"};
  harness.Add(MakeNode("n1")).Add(MakeNode("n2")).Add(closed);
  EXPECT_THAT(harness.Verdicts(Deferred("p")),
              UnorderedElementsAre(Pair("n1", ""), Pair("n2", "UU pod assigned to different node"),
                                   Pair("n3", "UU pod assigned to different node")));
  EXPECT_EQ(harness.Verdict(Deferred("q").Node("n3"), "n3"), "UU node had resize preemption disabled");
  EXPECT_EQ(harness.PreFilter(MakePod("plain")), "Skip");
}

TEST_F(DeferredResizeTest, IsNeverBoundAgain) {
  PluginHarness harness({.plugins = {{"DeferredPodScheduling", 1}}, .features = WithGate()});
  const framework::PermitPoint& permit = *harness.profile().permit().front().point;
  framework::Assignment assignment;
  assignment.record = Deferred("p").Record();
  EXPECT_EQ(berth::test::ShortText(permit.Permit(harness.cluster(), assignment).status),
            "UU pod resize fits, waiting for Kubelet actuation");
  assignment.record = MakePod("q").Record();
  EXPECT_TRUE(permit.Permit(harness.cluster(), assignment).status.IsSuccess());
}

}  // namespace
}  // namespace berth::plugins
