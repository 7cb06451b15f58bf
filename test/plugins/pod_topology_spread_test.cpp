#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "plugins/pod_topology_spread_state.h"
#include "plugins/topology_harness.h"
#include "support/builders.h"

// Numbers are those of the cases of the chapter about topology plugins.
namespace berth::plugins::test {
namespace {

using berth::test::LabelSelectorBuilder;
using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::MakeSelector;
using berth::test::NodeBuilder;
using berth::test::PodBuilder;
using cluster::PodSlot;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

using berth::test::kHost;
using berth::test::kZone;
const std::string kSkewed = "Unschedulable: node(s) didn't match pod topology spread constraints";
const std::string kNoLabel =
    "UnschedulableAndUnresolvable: node(s) didn't match pod topology spread constraints (missing required "
    "label)";

api::TopologySpreadConstraint Constraint(const char* key, const char* action, std::int32_t max_skew = 1) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = max_skew;
  constraint.topology_key = key;
  constraint.when_unsatisfiable = action;
  constraint.label_selector = MakeSelector().Label("foo", "");
  return constraint;
}
api::TopologySpreadConstraint Hard(const char* key, std::int32_t max_skew = 1) {
  return Constraint(key, "DoNotSchedule", max_skew);
}
api::TopologySpreadConstraint Soft(const char* key, std::int32_t max_skew = 1) {
  return Constraint(key, "ScheduleAnyway", max_skew);
}

class SpreadTest : public testing::Test {
 protected:
  // A node with as many pods that the constraints match.
  void Node(const std::string& name, const std::string& zone, int pods) {
    auto node = MakeNode(name).Hostname();
    if (!zone.empty()) node.Zone(zone);
    Node(node, name, pods);
  }
  void Node(const NodeBuilder& node, const std::string& name, int pods) {
    harness_.AddNode(node);
    for (int i = 0; i < pods; ++i) {
      harness_.AddPod(MakePod("p" + std::to_string(++made_)).Label("foo", "").Node(name));
    }
  }
  void Nodes(const std::vector<int>& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      Node("n" + std::to_string(i), i < 2 ? "z1" : "z2", counts[i]);
  }
  static PodBuilder Pod() { return MakePod("q").Label("foo", ""); }
  std::vector<std::string> Fits(const PodBuilder& pod) {
    const PodSlot slot = harness_.AddPod(pod);
    const Answer answer = harness_.Ask(slot);
    EXPECT_EQ(harness_.AskAgain(slot), answer);
    std::vector<std::string> names;
    harness_.cluster().nodes().existing().ForEach([&](std::size_t bit) {
      const std::string name(
          harness_.cluster().nodes().name(cluster::NodeRow(static_cast<std::uint32_t>(bit))));
      if (!answer.refused.contains(name)) names.push_back(name);
    });
    return names;
  }
  Answer Ask(const PodBuilder& pod, const TopologyHarness::Question& question = {}) {
    return harness_.Ask(harness_.AddPod(pod), question);
  }
  std::vector<std::int64_t> Scores(const PodBuilder& pod, const TopologyHarness::Question& question = {}) {
    std::vector<std::int64_t> scores;
    for (const auto& [name, score] : Ask(pod, question).scores) scores.push_back(score);
    return scores;
  }
  void Service(const api::StringMap& selector) {
    api::Service service;
    service.metadata.name = "s" + std::to_string(++made_);
    service.metadata.namespace_ = "default";
    service.spec.selector = selector;
    harness_.cluster().workloads().Set(service);
  }

  TopologyHarness harness_{"PodTopologySpread"};
  int made_ = 0;
};

// Case 1.
TEST_F(SpreadTest, EvenZonesFitEverywhere) {
  Nodes({2, 1, 0, 3});
  EXPECT_THAT(Fits(Pod().Spread(Hard(kZone))), ElementsAre("n0", "n1", "n2", "n3"));
}

// Case 1.
TEST_F(SpreadTest, OnlyTheEmptiestHostsFit) {
  Nodes({2, 1, 0, 3});
  EXPECT_THAT(Fits(Pod().Spread(Hard(kHost))), ElementsAre("n2"));
  EXPECT_THAT(Fits(Pod().Spread(Hard(kHost, 2))), ElementsAre("n1", "n2"));
}

// Case 2.
TEST_F(SpreadTest, APodThatDoesNotMatchItselfAddsNothing) {
  Nodes({2, 1, 0, 3});
  EXPECT_THAT(Fits(MakePod("q").Spread(Hard(kHost))), ElementsAre("n1", "n2"));
}

// Case 3.
TEST_F(SpreadTest, ANodeWithoutAKeyFormsNoDomain) {
  Node("a", "z1", 1);
  Node("b", "z2", 1);
  Node(MakeNode("lost").Zone("z3"), "lost", 0);
  const Answer answer = Ask(Pod().Spread(Hard(kZone)).Spread(Hard(kHost)));
  EXPECT_THAT(answer.refused, ElementsAre(Pair("lost", kNoLabel)));
}

TEST_F(SpreadTest, Case03PodsOnANodeWithoutAKeyAreNotCounted) {
  Node("a", "z1", 1);
  Node("b", "z2", 1);
  Node(MakeNode("lost").Zone("z1"), "lost", 5);
  EXPECT_THAT(Fits(Pod().Spread(Hard(kZone)).Spread(Hard(kHost))), ElementsAre("a", "b"));
}

// Case 4.
TEST_F(SpreadTest, EveryConstraintMustHold) {
  Nodes({2, 1, 0, 3});
  EXPECT_THAT(Fits(Pod().Spread(Hard(kZone)).Spread(Hard(kHost))), ElementsAre("n2"));
  harness_.AddPod(MakePod("more").Label("foo", "").Node("n3"));
  const Answer answer = Ask(Pod().Spread(Hard(kZone)).Spread(Hard(kHost)));
  EXPECT_EQ(answer.refused.size(), 4u);
  EXPECT_EQ(answer.refused.at("n2"), kSkewed);
}

// Case 5.
TEST_F(SpreadTest, TooFewDomainsCountAsAnEmptyOne) {
  Nodes({2, 2, 1});
  auto constraint = Hard(kHost, 2);
  EXPECT_THAT(Fits(Pod().Spread(constraint)), ElementsAre("n0", "n1", "n2"));
  constraint.min_domains = 2;
  EXPECT_THAT(Fits(Pod().Spread(constraint)), ElementsAre("n0", "n1", "n2"));
  constraint.min_domains = 4;
  EXPECT_THAT(Fits(Pod().Spread(constraint)), ElementsAre("n2"));
}

// Case 6.
TEST_F(SpreadTest, OnlyLivingPodsOfTheNamespaceCount) {
  Nodes({0, 1});
  harness_.AddPod(MakePod("elsewhere").Namespace("other").Label("foo", "").Node("n0"));
  harness_.AddPod(MakePod("dying").Label("foo", "").Node("n0").Terminating());
  EXPECT_THAT(Fits(Pod().Spread(Hard(kHost))), ElementsAre("n0"));
}

// Case 7.
TEST_F(SpreadTest, SelectorsOfNothingAndOfEverythingCountNothing) {
  Nodes({2, 0});
  Node(MakeNode("lost"), "lost", 0);
  auto constraint = Hard(kHost);
  constraint.label_selector.reset();
  EXPECT_THAT(Fits(Pod().Spread(constraint)), ElementsAre("n0", "n1"));
  constraint.label_selector = MakeSelector();
  EXPECT_THAT(Fits(Pod().Spread(constraint)), ElementsAre("n0", "n1"));
}

// Case 8.
TEST_F(SpreadTest, WithoutEligibleDomainTheMinimumIsZero) {
  Nodes({2, 0});
  EXPECT_THAT(Fits(Pod().Spread(Hard(kHost)).NodeSelector("no", "where")), ElementsAre("n0", "n1"));
}

// Case 9.
TEST_F(SpreadTest, NodesOutsideNodeAffinityCountByPolicy) {
  Node(MakeNode("a").Hostname().Label("bar", ""), "a", 1);
  Node(MakeNode("b").Hostname().Label("bar", ""), "b", 1);
  Node(MakeNode("x").Hostname().Label("bar", ""), "x", 0);
  Node(MakeNode("y").Hostname(), "y", 1);
  auto constraint = Hard(kHost);
  EXPECT_THAT(Fits(Pod().Spread(constraint).NodeSelector("bar", "")), ElementsAre("x", "y"));
  constraint.node_affinity_policy = "Ignore";
  EXPECT_THAT(Fits(Pod().Spread(constraint).NodeSelector("bar", "")), ElementsAre("x"));
}

// Case 10.
TEST_F(SpreadTest, TaintedNodesCountByPolicy) {
  Node(MakeNode("a").Hostname(), "a", 1);
  Node(MakeNode("x").Hostname(), "x", 0);
  Node(MakeNode("y").Hostname().Taint("t", "", "NoSchedule"), "y", 1);
  Node(MakeNode("z").Hostname().Taint("t", "", "PreferNoSchedule"), "z", 1);
  auto constraint = Hard(kHost);
  EXPECT_THAT(Fits(Pod().Spread(constraint)), ElementsAre("x"));
  constraint.node_taints_policy = "Honor";
  EXPECT_THAT(Fits(Pod().Spread(constraint)), ElementsAre("x", "y"));
  api::Toleration toleration;
  toleration.key = "t";
  toleration.operator_ = "Exists";
  EXPECT_THAT(Fits(Pod().Spread(constraint).Tolerate(toleration)), ElementsAre("x"));
}

// Case 11.
TEST_F(SpreadTest, MatchLabelKeysNarrowTheSelector) {
  Nodes({2, 0});
  harness_.AddPod(MakePod("a1").Label("foo", "").Label("bar", "a").Node("n1"));
  auto constraint = Hard(kHost);
  constraint.match_label_keys = {"bar"};
  EXPECT_THAT(Fits(Pod().Label("bar", "a").Spread(constraint)), ElementsAre("n0"));
  EXPECT_THAT(Fits(Pod().Spread(constraint)), ElementsAre("n1"));
  constraint.label_selector = MakeSelector();
  EXPECT_THAT(Fits(Pod().Label("bar", "a").Spread(constraint)), ElementsAre("n0"));
  constraint.label_selector.reset();
  EXPECT_THAT(Fits(Pod().Label("bar", "a").Spread(constraint)), ElementsAre("n0", "n1"));
}

TEST_F(SpreadTest, MatchLabelKeysAreNotReadWithTheGateOff) {
  TopologyHarness::Options options;
  options.features.match_label_keys_in_pod_topology_spread = false;
  TopologyHarness off("PodTopologySpread", options);
  for (const char* name : {"n0", "n1"}) off.AddNode(MakeNode(name).Hostname());
  off.AddPod(MakePod("a1").Label("foo", "").Label("bar", "b").Node("n1"));
  auto constraint = Hard(kHost);
  constraint.match_label_keys = {"bar"};
  EXPECT_THAT(off.Ask(off.AddPod(Pod().Label("bar", "a").Spread(constraint))).refused,
              ElementsAre(Pair("n1", kSkewed)));
}

// Case 12.
TEST_F(SpreadTest, SoftConstraintsDoNotFilter) {
  Nodes({2, 0});
  Service({{"foo", ""}});
  const Answer answer = Ask(Pod().Spread(Soft(kHost)));
  EXPECT_TRUE(answer.pre_filter.IsSkip());
  EXPECT_THAT(answer.refused, IsEmpty());
}

// Case 15.
TEST_F(SpreadTest, ABadSelectorIsAnErrorOfItsKind) {
  Nodes({0});
  auto bad = Hard(kHost);
  bad.label_selector = MakeSelector().Label("foo", "{{bad}}");
  const Answer hard = Ask(Pod().Spread(bad));
  EXPECT_EQ(hard.pre_filter.code(), framework::Code::kError);
  EXPECT_THAT(hard.pre_filter.Message(),
              StartsWith("get constraints from pod: obtaining pod's hard topology spread constraints: "));
  bad.when_unsatisfiable = "ScheduleAnyway";
  const Answer soft = Ask(Pod().Spread(bad));
  EXPECT_TRUE(soft.pre_filter.IsSkip());
  EXPECT_EQ(soft.pre_score.code(), framework::Code::kError);
  EXPECT_THAT(soft.pre_score.Message(),
              StartsWith("calculating preScoreState: obtaining pod's soft topology spread constraints: "));
}

TEST_F(SpreadTest, APodWhoseResizeWaitsIsNotFiltered) {
  TopologyHarness::Options options;
  options.features.in_place_pod_vertical_scaling_scheduler_preemption = true;
  TopologyHarness harness("PodTopologySpread", options);
  harness.AddNode(MakeNode("lost"));
  api::PodCondition waits;
  waits.type = "PodResizePending";
  waits.reason = "Deferred";
  EXPECT_TRUE(harness.Ask(harness.AddPod(Pod().Spread(Hard(kHost)).Condition(waits))).pre_filter.IsSkip());
}

// Case 16. A trial that takes a dying pod away may leave less than nothing, as upstream has it.
TEST_F(SpreadTest, TrialsCountWhatCountingSkipped) {
  Nodes({0, 1});
  harness_.AddPod(MakePod("dying").Label("foo", "").Node("n0").Terminating());
  const PodSlot pod = harness_.AddPod(Pod().Spread(Hard(kHost)));
  const Answer before = harness_.AskAgain(pod);
  EXPECT_THAT(before.refused, ElementsAre(Pair("n1", kSkewed)));
  {
    cluster::Speculation trial(harness_.cluster());
    trial.Displace(harness_.cluster().pods().Find("uid-dying"));
    trial.Displace(harness_.cluster().pods().Find("uid-p1"));
    EXPECT_THAT(harness_.AskAgain(pod, {.score = false}).refused, ElementsAre(Pair("n1", kSkewed)))
        << "the minimum is -1";
  }
  EXPECT_EQ(harness_.AskAgain(pod), before);
}

TEST_F(SpreadTest, Case16APodThatIsTakenAwayAndPutBackChangesNothing) {
  Nodes({1, 2, 3});
  const PodSlot pod = harness_.AddPod(Pod().Spread(Hard(kHost)));
  const Answer before = harness_.AskAgain(pod);
  {
    cluster::Speculation trial(harness_.cluster());
    trial.Displace(harness_.cluster().pods().Find("uid-p1"));
    EXPECT_THAT(harness_.AskAgain(pod, {.score = false}).refused,
                ElementsAre(Pair("n1", kSkewed), Pair("n2", kSkewed)));
  }
  EXPECT_EQ(harness_.AskAgain(pod), before);
  EXPECT_THAT(before.refused, ElementsAre(Pair("n1", kSkewed), Pair("n2", kSkewed)));
}

// What is kept is asked again only where an answer moved.
TEST_F(SpreadTest, APlacementThatMovesNoVerdictJudgesNoNode) {
  for (int i = 0; i < 20; ++i) Node("n" + std::to_string(i), i % 2 == 0 ? "z1" : "z2", 0);
  const PodSlot pod = harness_.AddPod(Pod().Spread(Hard(kZone, 3)));
  harness_.AskAgain(pod);
  EXPECT_EQ(harness_.verdicts_computed(), 20u);
  Node("n0", "z1", 1);
  harness_.AskAgain(pod);
  EXPECT_EQ(harness_.verdicts_computed(), 0u) << "only pods came to n0";
  Node("n0", "z1", 2);
  EXPECT_EQ(harness_.AskAgain(pod).refused.size(), 10u);
  EXPECT_EQ(harness_.verdicts_computed(), 10u) << "zone z1 is full";
  Node("n1", "z2", 1);
  EXPECT_EQ(harness_.AskAgain(pod).refused.size(), 0u);
  EXPECT_EQ(harness_.verdicts_computed(), 10u) << "the minimum rose";
}

struct ScoreCase {
  std::string name;
  std::vector<int> counts;
  std::int32_t max_skew;
  std::vector<std::int64_t> scores;
};
class SpreadScoreTest : public SpreadTest, public testing::WithParamInterface<ScoreCase> {};

// Cases 17, 18 and 22.
TEST_P(SpreadScoreTest, ByHost) {
  Nodes(GetParam().counts);
  EXPECT_EQ(Scores(Pod().Spread(Soft(kHost, GetParam().max_skew))), GetParam().scores);
}

INSTANTIATE_TEST_SUITE_P(Plugins, SpreadScoreTest,
                         testing::Values(ScoreCase{"FewerIsBetter", {2, 1, 0, 3}, 1, {20, 60, 100, 0}},
                                         ScoreCase{"SkewFlattens", {2, 1, 0, 3}, 2, {33, 66, 100, 16}},
                                         ScoreCase{"SkewOfThree", {4, 3, 2, 1}, 3, {44, 66, 77, 100}},
                                         ScoreCase{"NoPods", {0, 0, 0}, 1, {100, 100, 100}},
                                         ScoreCase{"OneNode", {5}, 1, {100}}),
                         [](const auto& test) { return test.param.name; });

// Case 19.
TEST_F(SpreadTest, OnlyFeasibleNodesAreScored) {
  Nodes({4, 2, 1, 7});
  EXPECT_THAT(Scores(Pod().Spread(Soft(kHost)), {.infeasible = {"n3"}}), ElementsAre(33, 83, 100));
}

// Case 19.
TEST_F(SpreadTest, ANodeWithoutTheKeyScoresNothing) {
  Node("a", "", 4);
  Node("b", "", 1);
  Node(MakeNode("lost"), "lost", 0);
  const Answer answer = Ask(Pod().Spread(Soft(kHost)));
  EXPECT_THAT(answer.scores, ElementsAre(Pair("a", 16), Pair("b", 100), Pair("lost", 0)));
  EXPECT_EQ(answer.raw.size(), 2u);
}

// Case 20.
TEST_F(SpreadTest, ZonesAreScoredAsAWhole) {
  Node("a1", "z1", 4);
  Node("a2", "z1", 2);
  Node("b1", "z2", 4);
  EXPECT_THAT(Scores(Pod().Spread(Soft(kZone))), ElementsAre(75, 75, 100));
}

// Case 21.
TEST_F(SpreadTest, SeveralConstraintsAddUp) {
  Node("a1", "z1", 2);
  Node("a2", "z1", 1);
  Node("b1", "z2", 2);
  Node("b2", "z2", 4);
  const Answer answer = Ask(Pod().Spread(Soft(kZone)).Spread(Soft(kHost)), {.infeasible = {"a2", "b2"}});
  EXPECT_THAT(answer.scores, ElementsAre(Pair("a1", 100), Pair("b1", 63)));
}

// Case 22.
TEST_F(SpreadTest, AllFeasibleNodesIgnoredScoreZero) {
  Node(MakeNode("a"), "a", 1);
  Node(MakeNode("b"), "b", 0);
  EXPECT_THAT(Scores(Pod().Spread(Soft(kHost))), ElementsAre(0, 0));
}

// Case 23.
TEST_F(SpreadTest, ASelectorOfNothingScoresAllAlike) {
  Nodes({3, 0});
  auto constraint = Soft(kHost);
  constraint.label_selector.reset();
  constraint.min_domains = 5;
  EXPECT_THAT(Scores(Pod().Spread(constraint)), ElementsAre(100, 100));
}

// Case 25.
TEST_F(SpreadTest, PodsCountInZonesThatHaveAFeasibleNode) {
  Node("a1", "z1", 1);
  Node("a2", "z1", 5);
  Node("b1", "z2", 2);
  Node("c1", "z3", 9);
  const Answer answer = Ask(Pod().Spread(Soft(kZone)), {.infeasible = {"a2", "c1"}});
  // Two zones weigh ln 4.
  EXPECT_THAT(answer.raw, ElementsAre(Pair("a1", 8), Pair("b1", 3)));
}

// Case 18.
TEST_F(SpreadTest, SystemDefaultsSpreadPodsOfAService) {
  for (int i = 0; i < 4; ++i) Node("n" + std::to_string(i), "", 4 - i);
  EXPECT_TRUE(Ask(Pod()).pre_score.IsSkip()) << "no Service selects it";
  Service({{"foo", ""}});
  EXPECT_THAT(Scores(Pod()), ElementsAre(44, 66, 77, 100));
}

// Case 24. Under the defaults of the system a node without a zone is scored by its host alone.
TEST_F(SpreadTest, SystemDefaultsDoNotAskForAZone) {
  Service({{"foo", ""}});
  Node("a", "mars", 1);
  Node("b", "mars", 1);
  Node("c", "mars", 0);
  Node("d", "", 2);
  const Answer answer = Ask(Pod());
  // ln 6 for four hosts, ln 4 for the zones mars and "".
  EXPECT_THAT(answer.raw, ElementsAre(Pair("a", 11), Pair("b", 11), Pair("c", 9), Pair("d", 6)));
}

TEST_F(SpreadTest, NodesWithoutAZoneCountForTheEmptyZone) {
  Service({{"foo", ""}});
  Node(MakeNode("empty").Hostname().Zone(""), "empty", 1);
  Node(MakeNode("none").Hostname(), "none", 3);
  const Answer answer = Ask(Pod());
  // Hosts weigh ln 4, the one zone ln 3: 1.39 + 2 + 4 * 1.10 + 4.
  EXPECT_THAT(answer.raw, ElementsAre(Pair("empty", 12), Pair("none", 6)));
}

// Case 13.
TEST_F(SpreadTest, ListedDefaultsFilterPodsOfAServiceOnly) {
  TopologyHarness::Options options;
  options.args.pod_topology_spread.defaulting = framework::SpreadDefaulting::kList;
  auto constraint = Hard(kZone);
  constraint.label_selector.reset();
  options.args.pod_topology_spread.default_constraints = {constraint};
  TopologyHarness harness("PodTopologySpread", options);
  harness.AddNode(MakeNode("a").Zone("z1"));
  harness.AddNode(MakeNode("b").Zone("z2"));
  harness.AddPod(MakePod("p").Label("foo", "").Node("a"));
  const PodSlot pod = harness.AddPod(Pod());
  EXPECT_TRUE(harness.AskAgain(pod).pre_filter.IsSkip());
  api::Service service;
  service.metadata.name = "s";
  service.metadata.namespace_ = "default";
  service.spec.selector = {{"foo", ""}};
  harness.cluster().workloads().Set(service);
  EXPECT_THAT(harness.AskAgain(pod).refused, ElementsAre(Pair("a", kSkewed)));
  EXPECT_THAT(harness.Ask(harness.AddPod(Pod().Uid("own").Spread(Soft(kHost)))).refused, IsEmpty());
}

// Case 14.
TEST_F(SpreadTest, OwnersOfOtherVersionsGiveNoSelector) {
  Nodes({1, 0});
  api::ReplicaSet set;
  set.metadata.name = "rs";
  set.metadata.namespace_ = "default";
  set.spec.selector = MakeSelector().Label("foo", "");
  harness_.cluster().workloads().Set(set);
  EXPECT_TRUE(Ask(Pod().Uid("beta").Owner("apps/v1beta1", "ReplicaSet", "rs")).pre_score.IsSkip());
  EXPECT_TRUE(Ask(Pod().Uid("v1").Owner("apps/v1", "ReplicaSet", "rs")).pre_score.IsSuccess());
}

TEST_F(SpreadTest, Case14AServiceThatSelectsNothingSpreadsNothing) {
  Nodes({1, 0});
  Service({});
  EXPECT_TRUE(Ask(Pod()).pre_score.IsSkip());
}

TEST_F(SpreadTest, ScoresFollowTheFeasibleNodes) {
  Nodes({4, 2, 1, 7});
  const PodSlot pod = harness_.AddPod(Pod().Spread(Soft(kHost)).Spread(Soft(kZone, 2)));
  for (const std::set<std::string>& infeasible :
       {std::set<std::string>{}, {"n3"}, {"n2", "n3"}, {"n0"}, {"n0", "n1"}, {}}) {
    EXPECT_EQ(harness_.AskAgain(pod, {.infeasible = infeasible}),
              harness_.Ask(pod, {.infeasible = infeasible}));
  }
}

// A node that fills up changes the weight of host names, which moves no score where there is no pod to weigh.
TEST_F(SpreadTest, WeightsAreAppliedOnlyWhereThereArePods) {
  for (int i = 0; i < 50; ++i) Node("n" + std::to_string(i), "", i == 7 ? 40 : 0);
  const PodSlot pod = harness_.AddPod(Pod().Spread(Soft(kHost)));
  harness_.AskAgain(pod);
  EXPECT_EQ(harness_.scores_computed(), 50u);
  harness_.AskAgain(pod, {.infeasible = {"n3"}});
  EXPECT_EQ(harness_.scores_computed(), 1u);
}

TEST(GoLogTest, IsGoLogOnAmd64) {
  EXPECT_EQ(GoLog(1), 0.0);
  EXPECT_EQ(GoLog(2), 0x1.62e42fefa39efp-1);
  for (int i = 3; i < 6000; ++i) EXPECT_NEAR(GoLog(i), std::log(i), 2e-15 * std::log(i)) << i;
}

bool Signs(const TopologyHarness& harness, PodSlot pod) {
  framework::Signature signature;
  return dynamic_cast<const framework::SignPoint&>(harness.plugin())
      .Sign({harness.cluster(), pod}, signature);
}

// Case 30, and 25 of the cycle chapter: with the default constraints no pod can.
TEST_F(SpreadTest, OnlyPodsThatAreNotSpreadCanBeSigned) {
  EXPECT_FALSE(Signs(harness_, harness_.AddPod(Pod())));
  TopologyHarness::Options options;
  options.args.pod_topology_spread.defaulting = framework::SpreadDefaulting::kList;
  TopologyHarness none("PodTopologySpread", options);
  EXPECT_TRUE(Signs(none, none.AddPod(Pod())));
  EXPECT_FALSE(Signs(none, none.AddPod(Pod().Spread(Soft(kZone)))));
}

}  // namespace
}  // namespace berth::plugins::test
