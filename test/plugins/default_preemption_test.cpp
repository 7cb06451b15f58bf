#include "plugins/default_preemption.h"

#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "cluster/object_store.h"
#include "framework/ongoing_preemptions.h"
#include "plugins/all_plugins.h"
#include "plugins/default_preemption_choice.h"
#include "plugins/plugin_harness.h"

// Who may evict, whom, and on which node. Numbers are those of the cases of the cycle chapter.
namespace berth::plugins {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::MakeTerm;
using berth::test::NodeBuilder;
using berth::test::PluginHarness;
using berth::test::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<framework::EnabledPlugin> kPlugins = {{"NodeUnschedulable", 1},
                                                        {"NodePorts", 1},
                                                        {"NodeResourcesFit", 1},
                                                        {"InterPodAffinity", 1},
                                                        {"DefaultPreemption", 1}};

NodeBuilder Node(std::string name, std::string_view cpu = "1") {
  return MakeNode(std::move(name)).Cpu(cpu).Hostname();
}
PodBuilder On(std::string node, std::string name, std::int32_t priority, std::string_view cpu = "1") {
  return MakePod(std::move(name)).Node(std::move(node)).Priority(priority).Cpu(cpu).Started(1000);
}
PodBuilder Incoming(std::int32_t priority = 100, std::string_view cpu = "1") {
  return MakePod("incoming").Priority(priority).Cpu(cpu);
}

class DefaultPreemptionTest : public testing::Test {
 protected:
  explicit DefaultPreemptionTest(const framework::PluginArgs& args = {})
      : harness_({.plugins = kPlugins, .args = args}) {}

  void AddBudget(std::string name, api::LabelSelector selector, std::int32_t allowed,
                 std::vector<std::string> disrupted = {}) {
    api::PodDisruptionBudget budget;
    budget.metadata.namespace_ = "default";
    budget.metadata.name = std::move(name);
    budget.spec.selector = std::move(selector);
    budget.status.disruptions_allowed = allowed;
    for (std::string& pod : disrupted)
      budget.status.disrupted_pods.insert_or_assign(std::move(pod), api::Time());
    harness_.cluster().objects().Of<api::PodDisruptionBudget>().Set(
        std::make_shared<const api::PodDisruptionBudget>(std::move(budget)));
  }
  static api::LabelSelector App(std::string value) {
    return berth::test::MakeSelector().Label("app", std::move(value));
  }
  std::string ChosenNode() { return harness_.MakeRoom(Incoming()).node.value_or("none"); }

  PluginHarness harness_;
};

// Case 57.
TEST_F(DefaultPreemptionTest, Case57PodsOfTheSamePriorityAreNoVictims) {
  harness_.Add(Node("n1")).Add(On("n1", "old", 100));
  const auto room = harness_.MakeRoom(Incoming(100).NominatedNode("n1"));
  EXPECT_EQ(room.status,
            "U preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.");
  EXPECT_EQ(room.node, "") << "the nomination is cleared";
  EXPECT_THAT(room.victims, IsEmpty());
}

// Case 58.
TEST_F(DefaultPreemptionTest, Case58WhereEvictionsCannotHelpNobodyIsEvicted) {
  harness_.Add(Node("closed").Unschedulable()).Add(On("closed", "old", 1));
  EXPECT_EQ(harness_.MakeRoom(Incoming()).status,
            "U preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
}

TEST_F(DefaultPreemptionTest, Case58ASuccessNamesTheNodeAndCountsTheVictims) {
  harness_.Add(Node("n1")).Add(On("n1", "old", 1));
  EXPECT_EQ(harness_.MakeRoom(Incoming()),
            (PluginHarness::Room{
                .status = "",
                .message = "preemption: found a potential placement for pod on node n1, preempting 1 victims",
                .node = "n1",
                .victims = {"old"}}));
}

TEST_F(DefaultPreemptionTest, TheMessageCountsWhatIsFoundOnEachNode) {
  harness_.Add(Node("full")).Add(On("full", "equal", 100));
  for (const std::string node : {"a", "b"}) {
    harness_.Add(Node(node))
        .Add(On(node, "high-" + node, 100, "600m"))
        .Add(On(node, "low-" + node, 1, "400m"));
  }
  harness_.Add(Node("closed").Unschedulable());
  EXPECT_EQ(harness_.MakeRoom(Incoming()).message,
            "preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, 1 "
            "Preemption is not helpful for scheduling, 2 Insufficient cpu.");
}

// Case 59.
TEST_F(DefaultPreemptionTest, Case59APodThatMustNotPreemptDoesNot) {
  harness_.Add(Node("n1")).Add(On("n1", "old", 1));
  const auto room = harness_.MakeRoom(Incoming().PreemptionPolicy("Never").NominatedNode("n1"));
  EXPECT_EQ(room.status, "U preemption: not eligible due to preemptionPolicy=Never.");
  EXPECT_EQ(room.node, std::nullopt) << "the nomination is kept";
}

api::PodCondition Condition(std::string reason) {
  api::PodCondition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = std::move(reason);
  return condition;
}

TEST_F(DefaultPreemptionTest, Case59WhileVictimsAreGoingNobodyElseHasToGo) {
  harness_.Add(Node("n1")).Add(Node("n2"));
  harness_.Add(On("n1", "going", 1).Terminating().Condition(Condition("PreemptionByScheduler")));
  harness_.Add(On("n2", "other", 1));
  const auto room = harness_.MakeRoom(Incoming().NominatedNode("n1"));
  EXPECT_EQ(room.status, "U preemption: not eligible due to a terminating pod on the nominated node.");
  EXPECT_EQ(room.node, std::nullopt);
}

TEST_F(DefaultPreemptionTest, Case59PodsThatGoForOtherReasonsHoldNobodyUp) {
  harness_.Add(Node("n1"))
      .Add(On("n1", "going", 1).Terminating().Condition(Condition("DeletionByTaintManager")));
  EXPECT_EQ(harness_.MakeRoom(Incoming().NominatedNode("n1")).status, "");
}

TEST_F(DefaultPreemptionTest, Case59AVictimOnANodeThatCannotHelpHoldsNobodyUp) {
  harness_.Add(Node("n1").Unschedulable()).Add(Node("n2"));
  harness_.Add(On("n1", "going", 1).Terminating().Condition(Condition("PreemptionByScheduler")));
  harness_.Add(On("n2", "other", 1));
  EXPECT_EQ(harness_.MakeRoom(Incoming().NominatedNode("n1")).node, "n2");
  EXPECT_EQ(harness_.MakeRoom(MakePod("q").Priority(100).Cpu("1").NominatedNode("gone")).node, "n2");
}

TEST_F(DefaultPreemptionTest, AVictimOfEqualPriorityHoldsNobodyUp) {
  harness_.Add(Node("n1", "2"));
  harness_.Add(On("n1", "going", 100).Terminating().Condition(Condition("PreemptionByScheduler")));
  harness_.Add(On("n1", "low", 1));
  EXPECT_EQ(harness_.MakeRoom(Incoming().NominatedNode("n1")).victims, std::vector<std::string>{"low"});
}

// Case 60.
TEST_F(DefaultPreemptionTest, Case60ABudgetProtectsAPodFromTheMoreImportantOne) {
  AddBudget("keep", App("db"), 0);
  harness_.Add(Node("n1", "2")).Add(On("n1", "low", 1).Label("app", "db")).Add(On("n1", "mid", 50));
  EXPECT_THAT(harness_.MakeRoom(Incoming()).victims, ElementsAre("mid"));
}

// Case 61: of two nodes the one with violations loses, so that the choice says how they were counted. On
// "cheap" two pods of priority 1 would have to go, on "dear" two of priority 50.
class BudgetCountTest : public DefaultPreemptionTest {
 protected:
  BudgetCountTest() {
    harness_.Add(Node("cheap", "2")).Add(Node("dear", "2"));
    harness_.Add(On("cheap", "a", 1).Label("app", "db").Started(10));
    harness_.Add(On("cheap", "b", 1).Label("app", "db").Started(20));
    harness_.Add(On("dear", "c", 50)).Add(On("dear", "d", 50));
  }
  std::string Chosen() { return harness_.MakeRoom(Incoming(100, "2")).node.value_or("none"); }
};

TEST_F(BudgetCountTest, Case61OneMayGoTwoMayNot) {
  AddBudget("one", App("db"), 1);
  EXPECT_EQ(Chosen(), "dear");
  AddBudget("one", App("db"), 2);
  EXPECT_EQ(Chosen(), "cheap");
}

TEST_F(BudgetCountTest, Case61AnEmptyOrMissingSelectorMatchesNothing) {
  AddBudget("empty", api::LabelSelector(), 0);
  EXPECT_EQ(Chosen(), "cheap");
}

TEST_F(BudgetCountTest, Case61APodThatTheServerCountedIsNotCountedAgain) {
  AddBudget("one", App("db"), 1, {"b"});
  EXPECT_EQ(Chosen(), "cheap");
}

TEST_F(BudgetCountTest, BudgetsOfOtherNamespacesAndPodsWithoutLabelsDoNotMeet) {
  api::PodDisruptionBudget budget;
  budget.metadata.namespace_ = "elsewhere";
  budget.metadata.name = "x";
  budget.spec.selector = App("db");
  harness_.cluster().objects().Of<api::PodDisruptionBudget>().Set(
      std::make_shared<const api::PodDisruptionBudget>(budget));
  api::LabelSelector not_db = berth::test::MakeSelector().Expression("app", "NotIn", {"web"});
  AddBudget("bare", not_db, 0);
  EXPECT_EQ(Chosen(), "dear") << "pods with labels match";
  harness_.cluster().objects().Of<api::PodDisruptionBudget>().Remove("default", "bare");
  EXPECT_EQ(Chosen(), "cheap");
}

TEST_F(DefaultPreemptionTest, Case61TheMoreImportantPodGetsWhatIsLeftOfABudget) {
  AddBudget("one", App("db"), 1);
  harness_.Add(Node("n1", "2"));
  harness_.Add(On("n1", "older", 1).Label("app", "db").Started(10));
  harness_.Add(On("n1", "newer", 1).Label("app", "db").Started(20));
  // The newer one is over the budget and so comes back first.
  EXPECT_THAT(harness_.MakeRoom(Incoming()).victims, ElementsAre("older"));
}

// Case 62: each criterion decides when all before it tie. The better node is named "yes".
TEST_F(DefaultPreemptionTest, Case62FewerViolationsWin) {
  AddBudget("keep", App("db"), 0);
  harness_.Add(Node("no")).Add(Node("yes"));
  harness_.Add(On("no", "a", 1).Label("app", "db")).Add(On("yes", "b", 50));
  EXPECT_EQ(ChosenNode(), "yes");
}

TEST_F(DefaultPreemptionTest, Case62ALowerHighestPriorityWins) {
  harness_.Add(Node("no")).Add(Node("yes"));
  harness_.Add(On("no", "a", 5)).Add(On("yes", "b", 4, "500m")).Add(On("yes", "c", 4, "500m"));
  EXPECT_EQ(ChosenNode(), "yes");
}

TEST_F(DefaultPreemptionTest, Case62ASmallerSumOfPrioritiesWins) {
  harness_.Add(Node("no")).Add(Node("yes"));
  harness_.Add(On("no", "a", 5, "500m")).Add(On("no", "b", 4, "500m"));
  harness_.Add(On("yes", "c", 5, "500m")).Add(On("yes", "d", 3, "500m"));
  EXPECT_EQ(ChosenNode(), "yes");
}

TEST_F(DefaultPreemptionTest, Case62NegativePrioritiesDoNotMakeMorePodsCheaper) {
  harness_.Add(Node("no")).Add(Node("yes"));
  harness_.Add(On("no", "a", -10, "500m")).Add(On("no", "b", -10, "500m")).Add(On("yes", "c", -10));
  EXPECT_EQ(ChosenNode(), "yes");
}

TEST_F(DefaultPreemptionTest, Case62FewerVictimsWin) {
  // The lowest priority of all adds nothing to the sum, so that the number alone differs.
  constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();
  harness_.Add(Node("no")).Add(Node("yes"));
  harness_.Add(On("no", "a", 5, "500m")).Add(On("no", "b", kLowest, "500m")).Add(On("yes", "c", 5));
  EXPECT_EQ(ChosenNode(), "yes");
}

TEST_F(DefaultPreemptionTest, Case62TheMostImportantVictimThatStartedLatestWins) {
  harness_.Add(Node("no")).Add(Node("yes"));
  harness_.Add(On("no", "a", 5, "500m").Started(10)).Add(On("no", "b", 4, "500m").Started(900));
  harness_.Add(On("yes", "c", 5, "500m").Started(20)).Add(On("yes", "d", 4, "500m").Started(1));
  EXPECT_EQ(ChosenNode(), "yes");
}

TEST_F(DefaultPreemptionTest, Case62APodThatHasNotStartedIsTheNewest) {
  harness_.Add(Node("no")).Add(Node("yes"));
  harness_.Add(On("no", "a", 5).Started(10));
  harness_.Add(MakePod("b").Node("yes").Priority(5).Cpu("1"));
  EXPECT_EQ(ChosenNode(), "yes");
}

// Case 63.
TEST(CandidatesWantedTest, Case63IsAShareOfTheNodesButNotTooFew) {
  const framework::DefaultPreemptionArgs args;
  EXPECT_EQ(CandidatesWanted(args, 1000), 100u);
  EXPECT_EQ(CandidatesWanted(args, 5000), 500u);
  EXPECT_EQ(CandidatesWanted(args, 50), 50u);
  EXPECT_EQ(CandidatesWanted({.min_candidate_nodes_percentage = 50, .min_candidate_nodes_absolute = 0}, 7),
            3u);
}

class SmallSampleTest : public DefaultPreemptionTest {
 protected:
  SmallSampleTest() : DefaultPreemptionTest(Args()) {}
  static framework::PluginArgs Args() {
    framework::PluginArgs args;
    args.default_preemption = {.min_candidate_nodes_percentage = 0, .min_candidate_nodes_absolute = 1};
    return args;
  }
};

TEST_F(SmallSampleTest, Case63AsLongAsEveryCandidateViolatesABudgetTheSearchGoesOn) {
  AddBudget("keep", App("db"), 0);
  for (int i = 0; i < 30; ++i) {
    const std::string node = "n" + std::to_string(i);
    harness_.Add(Node(node));
    PodBuilder pod = On(node, "p" + std::to_string(i), 1);
    if (i != 17) pod.Label("app", "db");
    harness_.Add(pod);
  }
  for (int attempt = 0; attempt < 20; ++attempt) EXPECT_EQ(ChosenNode(), "n17");
}

TEST_F(SmallSampleTest, TheFirstNodeThatHelpsIsTakenWhenOneIsEnough) {
  for (int i = 0; i < 30; ++i) {
    const std::string node = "n" + std::to_string(i);
    harness_.Add(Node(node)).Add(On(node, "p" + std::to_string(i), 1));
  }
  std::set<std::string> seen;
  for (int attempt = 0; attempt < 50; ++attempt) seen.insert(ChosenNode());
  EXPECT_GT(seen.size(), 5u) << "the search begins somewhere else every time";
}

// ---------------------------------------------------------------------------------------------------------

TEST_F(DefaultPreemptionTest, VictimsAreListedByImportance) {
  harness_.Add(Node("n1", "4"));
  harness_.Add(On("n1", "new", 5).Started(20)).Add(On("n1", "old", 5).Started(10));
  harness_.Add(On("n1", "high", 7)).Add(MakePod("unstarted").Node("n1").Priority(5).Cpu("1"));
  EXPECT_THAT(harness_.MakeRoom(Incoming(100, "4")).victims, ElementsAre("high", "old", "new", "unstarted"));
}

TEST_F(DefaultPreemptionTest, ThoseWhoCanStayStayTheMoreImportantFirst) {
  harness_.Add(Node("n1", "3")).Add(On("n1", "a", 3)).Add(On("n1", "b", 2)).Add(On("n1", "c", 1));
  EXPECT_THAT(harness_.MakeRoom(Incoming()).victims, ElementsAre("c"));
}

TEST_F(DefaultPreemptionTest, HostPortsAreFreedToo) {
  harness_.Add(Node("n1", "4")).Add(On("n1", "holder", 1).HostPort(80)).Add(On("n1", "other", 1));
  EXPECT_THAT(harness_.MakeRoom(Incoming().HostPort(80)).victims, ElementsAre("holder"));
}

TEST_F(DefaultPreemptionTest, PodsThatKeepOthersAwayAreEvicted) {
  harness_.Add(Node("n1", "4"));
  harness_.Add(On("n1", "hermit", 1).AntiAffinity(MakeTerm("kubernetes.io/hostname").Label("app", "web")));
  harness_.Add(On("n1", "neighbour", 1));
  EXPECT_THAT(harness_.MakeRoom(Incoming().Label("app", "web")).victims, ElementsAre("hermit"));
}

// A pod that wants to be near one that would have to go gets no room there.
TEST_F(DefaultPreemptionTest, APodIsNotMadeRoomForByEvictingWhomItWantsToBeNear) {
  harness_.Add(Node("n1")).Add(On("n1", "friend", 1).Label("app", "db"));
  const auto room =
      harness_.MakeRoom(Incoming().Affinity(MakeTerm("kubernetes.io/hostname").Label("app", "db")));
  EXPECT_EQ(room.message, "preemption: 0/1 nodes are available: 1 node(s) didn't match pod affinity rules.");
}

// A pod that is expected on the node takes part in the dry run.
TEST_F(DefaultPreemptionTest, RoomThatAnotherPodWaitsForIsNotGivenAway) {
  harness_.Add(Node("n1", "2")).Add(On("n1", "a", 1)).Add(On("n1", "b", 1));
  const PodBuilder first = MakePod("first").Priority(100).Cpu("1").NominatedNode("n1");
  harness_.cluster().Nominate(harness_.SlotOf(first));
  EXPECT_EQ(harness_.MakeRoom(Incoming(100, "2")).status,
            "U preemption: 0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_THAT(harness_.MakeRoom(MakePod("small").Priority(100).Cpu("1")).victims, ElementsAre("a", "b"))
      << "both go: one for each of the two";
  EXPECT_THAT(harness_.MakeRoom(MakePod("higher").Priority(101).Cpu("1")).victims, ElementsAre("b"))
      << "who is more important does not wait behind it";
}

TEST_F(DefaultPreemptionTest, BadArgumentsAreRefused) {
  framework::PluginArgs args;
  args.default_preemption = {.min_candidate_nodes_percentage = 101, .min_candidate_nodes_absolute = 1};
  cluster::Cluster cluster;
  const framework::Features features;
  const auto made = AllPlugins().Make("DefaultPreemption", {features, args, cluster});
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, testing::HasSubstr("not in valid range [0, 100]"));
  args.default_preemption = {.min_candidate_nodes_percentage = 0, .min_candidate_nodes_absolute = 0};
  EXPECT_FALSE(AllPlugins().Make("DefaultPreemption", {features, args, cluster}).has_value());
}

// ---------------------------------------------------------------------------------------------------------

class HeldBackTest : public testing::Test {
 protected:
  std::string PreEnqueue() {
    const framework::WaitingPod waiting{harness_.cluster(), preemptor_.id};
    return berth::test::ShortText(harness_.profile().pre_enqueue().front().point->PreEnqueue(waiting));
  }
  base::Versioned<cluster::PodSlot> RefOf(const PodBuilder& pod) {
    return harness_.cluster().pods().Version(harness_.SlotOf(pod));
  }

  PluginHarness harness_{"DefaultPreemption"};
  framework::OngoingPreemptions& ongoing_ = harness_.cluster().UseExtension<framework::OngoingPreemptions>();
  const PodBuilder victim_ = On("n1", "victim", 1);
  base::Versioned<cluster::PodSlot> preemptor_ = RefOf(MakePod("preemptor").Priority(5));
};

const std::string kHeld = "UU waiting for the preemption for this pod to be finished";

// Case 66.
TEST_F(HeldBackTest, Case66APodIsHeldBackWhileItsVictimsAreEvicted) {
  EXPECT_EQ(PreEnqueue(), "");
  ongoing_.Begin(preemptor_);
  EXPECT_EQ(PreEnqueue(), kHeld);
  ongoing_.SetLastVictim(preemptor_, RefOf(victim_));
  EXPECT_EQ(PreEnqueue(), kHeld);
  ongoing_.End(preemptor_);
  EXPECT_EQ(PreEnqueue(), "");
}

TEST_F(HeldBackTest, Case66ItIsLetGoWhenTheLastVictimIsGone) {
  ongoing_.Begin(preemptor_);
  ongoing_.SetLastVictim(preemptor_, RefOf(victim_));
  ASSERT_TRUE(harness_.cluster().RemovePod(*victim_.Record()));
  EXPECT_EQ(PreEnqueue(), "");
}

TEST_F(HeldBackTest, Case66ItIsLetGoWhenTheLastVictimIsGoing) {
  ongoing_.Begin(preemptor_);
  ongoing_.SetLastVictim(preemptor_, RefOf(victim_));
  ASSERT_TRUE(harness_.cluster().UpdatePod(PodBuilder(victim_).Terminating().Record()));
  EXPECT_EQ(PreEnqueue(), "");
}

TEST_F(HeldBackTest, AnEvictionAloneWakesNobody) {
  const auto gone = victim_.Record();
  EXPECT_EQ(harness_.Hint("DefaultPreemption", MakePod("p"),
                          {.resource = framework::EventResource::kAssignedPod,
                           .actions = framework::kDelete,
                           .old_object = gone.get()}),
            "Skip");
}

TEST(HeldBackGateTest, WithTheGateOffNobodyIsHeldBack) {
  framework::Features features;
  features.scheduler_async_preemption = false;
  PluginHarness harness(
      PluginHarness::Options{.plugins = {{"DefaultPreemption", 1}}, .features = features, .args = {}});
  const cluster::PodSlot pod = harness.SlotOf(MakePod("p"));
  harness.cluster().UseExtension<framework::OngoingPreemptions>().Begin(
      harness.cluster().pods().Version(pod));
  const framework::WaitingPod waiting{harness.cluster(), pod};
  EXPECT_TRUE(harness.profile().pre_enqueue().front().point->PreEnqueue(waiting).IsSuccess());
}

}  // namespace
}  // namespace berth::plugins
