#include <set>
#include <string>
#include <variant>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "framework/decide.h"
#include "framework/engine_bed.h"
#include "framework/observer.h"
#include "framework/synthetic_plugins.h"
#include "support/builders.h"

// Numbers are those of the cases of the cycle chapter.
namespace berth::framework {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using cluster::NodeRow;
using cluster::PodSlot;
using test::Enabled;
using test::EngineBed;
using test::Script;
using testing::ElementsAre;

class EngineTest : public testing::Test {
 protected:
  void AddNodes(int count, std::string_view cpu = "4") {
    for (int i = 0; i < count; ++i) {
      cluster_.SetNode(MakeNode("n" + std::to_string(i)).Cpu(cpu).Zone("z" + std::to_string(i % 2)).Ref());
    }
  }
  PodSlot Pending(const berth::test::PodBuilder& pod) { return *cluster_.SetPending(pod.Record()); }
  NodeRow Row(std::string_view name) const { return cluster_.nodes().Find(name); }
  std::string_view NameOf(NodeRow row) const { return cluster_.nodes().name(row); }

  cluster::Cluster cluster_;
  Registry registry_ = test::SyntheticPlugins();
};

TEST_F(EngineTest, NoNodesIsARefusalThatNoPluginIsBehind) {
  EngineBed bed(cluster_, registry_, Enabled({"Room"}));
  const Outcome outcome = bed.Schedule(Pending(MakePod("p")));
  EXPECT_EQ(std::get<Status>(outcome), Status::Unresolvable("no nodes available to schedule pods"));
}

TEST_F(EngineTest, MessageCountsTheFirstRefusalOfEachNode) {
  AddNodes(3);
  cluster_.SetNode(MakeNode("n1").Cpu("4").Label("owner", "other").Ref());
  EngineBed bed(cluster_, registry_, Enabled({"Room", "Owner"}));
  // n1 is refused by both; Room comes first.
  EXPECT_EQ(bed.Answer(Pending(MakePod("big").Cpu("5"))), "0/3 nodes are available: 3 no room.");
  EngineBed reversed(cluster_, registry_, Enabled({"Owner", "Room"}));
  EXPECT_EQ(reversed.Answer(cluster_.pods().Find("default", "big")),
            "0/3 nodes are available: 1 owned by another, 2 no room.");
}

TEST_F(EngineTest, WarmViewFollowsPlacementsAndReleases) {
  AddNodes(2);
  EngineBed bed(cluster_, registry_, Enabled({"Room", "Zones"}));
  std::vector<std::string> uids;
  for (int i = 0; i < 4; ++i) {
    const PodSlot pod = Pending(MakePod("p" + std::to_string(i)).Cpu("2"));
    const std::string node = bed.Answer(pod);
    ASSERT_TRUE(cluster_.Assume(pod, node).has_value()) << node;
    uids.push_back(cluster_.pods().record(pod).uid);
  }
  EXPECT_EQ(bed.engine().views().size(), 1u);
  const PodSlot last = Pending(MakePod("last").Cpu("2"));
  EXPECT_EQ(bed.Answer(last), "0/2 nodes are available: 2 no room.");
  const std::string freed(cluster_.nodes().name(cluster_.pods().row(cluster_.pods().Find(uids[0]))));
  ASSERT_TRUE(cluster_.Forget(uids[0], freed).has_value());
  EXPECT_EQ(bed.Answer(last), freed);
}

TEST_F(EngineTest, PodsOfOneTemplateInTwoNamespacesDoNotShareAView) {
  AddNodes(1);
  cluster_.SetNode(MakeNode("n0").Cpu("4").Label("owner", "a").Ref());
  EngineBed bed(cluster_, registry_, Enabled({"Room", "Owner"}));
  const PodSlot in_a = Pending(MakePod("p").Namespace("a").Uid("1"));
  const PodSlot in_b = Pending(MakePod("p").Namespace("b").Uid("2"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bed.Answer(in_a), "n0");
    EXPECT_EQ(bed.Answer(in_b), "0/1 nodes are available: 1 owned by another.");
  }
  EXPECT_EQ(bed.engine().views().size(), 2u);
}

TEST_F(EngineTest, FilterThatReadsTheAttemptIsAskedForEveryPodOfAView) {
  AddNodes(10);
  EngineBed bed(cluster_, registry_, Enabled({"Pairs", "Room"}));
  // Names end in the digits that Pairs adds up; a big pod is refused by Room wherever Pairs lets it through.
  std::set<std::string> messages;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) {
      messages.insert(bed.Answer(Pending(MakePod("p" + std::to_string(i)).Cpu("9"))));
    }
  }
  EXPECT_EQ(bed.engine().views().size(), 1u);
  EXPECT_THAT(messages, ElementsAre("0/10 nodes are available: 2 no pair with p0, 8 no room.",
                                    "0/10 nodes are available: 2 no pair with p1, 8 no room.",
                                    "0/10 nodes are available: 2 no pair with p2, 8 no room."));
}

TEST_F(EngineTest, PreFilterThatSkipsSilencesFilter) {
  AddNodes(1, "0");
  EngineBed bed(cluster_, registry_, Enabled({"Room"}));
  EXPECT_EQ(bed.Answer(Pending(MakePod("p"))), "n0");
}

class ScriptedTest : public EngineTest {
 protected:
  ScriptedTest() {
    AddNodes(3);
    test::AddScripted(registry_, "A", a_);
    test::AddScripted(registry_, "B", b_);
  }
  Explanation Explain(EngineBed& bed, PodSlot pod) { return bed.engine().Explain({.pod = pod, .step = 1}); }

  Script a_;
  Script b_;
  NodeNames names_a_;
  NodeNames names_b_;
};

TEST_F(ScriptedTest, Case12NarrowingsAreIntersectedAndTheOthersCountAsAbsent) {
  names_a_ = {"n0", "n1", "nowhere"};
  names_b_ = {"n1", "n2", "nowhere"};
  a_.pre_filter = [&](Cycle&) { return PreFilterResult{.status = {}, .nodes = &names_a_}; };
  b_.pre_filter = [&](Cycle&) { return PreFilterResult{.status = {}, .nodes = &names_b_}; };
  EngineBed bed(cluster_, registry_, Enabled({"A", "B"}));
  const PodSlot pod = Pending(MakePod("p"));
  EXPECT_EQ(bed.Answer(pod), "n1");

  b_.filter = [](const Cycle&, NodeRow) { return Status::Unschedulable("not here"); };
  const Outcome outcome = bed.Schedule(pod);
  const auto& diagnosis = std::get<Diagnosis>(outcome);
  EXPECT_EQ(FitErrorMessage(diagnosis),
            "0/3 nodes are available: 1 not here, 2 node(s) didn't satisfy plugin(s) [A B].");
  EXPECT_THAT(diagnosis.unschedulable_plugins, ElementsAre("A", "B"));
  EXPECT_EQ(diagnosis.CodeOf(Row("n0")), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(diagnosis.CodeOf(Row("n1")), Code::kUnschedulable);
}

TEST_F(ScriptedTest, Case12NothingLeftByPreFilterEndsTheAttempt) {
  names_a_ = {"n0"};
  names_b_ = {"n1"};
  a_.pre_filter = [&](Cycle&) { return PreFilterResult{.status = {}, .nodes = &names_a_}; };
  b_.pre_filter = [&](Cycle&) { return PreFilterResult{.status = {}, .nodes = &names_b_}; };
  EngineBed bed(cluster_, registry_, Enabled({"A", "B"}));
  EXPECT_EQ(bed.Answer(Pending(MakePod("p"))),
            "0/3 nodes are available: node(s) didn't satisfy plugin(s) [A B] simultaneously.");
}

TEST_F(ScriptedTest, Case13TheLastUnschedulablePreFilterSpeaksAndAllNodesMayBePreemptedOn) {
  a_.pre_filter = [](Cycle&) { return PreFilterResult{.status = Status::Unschedulable("first")}; };
  b_.pre_filter = [](Cycle&) { return PreFilterResult{.status = Status::Unschedulable("second")}; };
  EngineBed bed(cluster_, registry_, Enabled({"A", "B"}));
  const Outcome outcome = bed.Schedule(Pending(MakePod("p")));
  const auto& diagnosis = std::get<Diagnosis>(outcome);
  EXPECT_EQ(FitErrorMessage(diagnosis), "0/3 nodes are available: second.");
  EXPECT_EQ(diagnosis.CodeOf(Row("n0")), Code::kUnschedulable);
  EXPECT_THAT(diagnosis.unschedulable_plugins, ElementsAre("B"));
}

TEST_F(ScriptedTest, Case13UnresolvablePreFilterStopsTheOthers) {
  bool asked = false;
  a_.pre_filter = [](Cycle&) { return PreFilterResult{.status = Status::Unresolvable("never")}; };
  b_.pre_filter = [&](Cycle&) {
    asked = true;
    return PreFilterResult{};
  };
  EngineBed bed(cluster_, registry_, Enabled({"A", "B"}));
  EXPECT_EQ(bed.Answer(Pending(MakePod("p"))), "0/3 nodes are available: never.");
  EXPECT_FALSE(asked);
}

TEST_F(ScriptedTest, Case22ErrorsNameThePointAndThePlugin) {
  EngineBed bed(cluster_, registry_, Enabled({"A"}));
  const PodSlot pod = Pending(MakePod("p"));
  a_.pre_filter = [](Cycle&) { return PreFilterResult{.status = Status(Code::kPending, "later")}; };
  EXPECT_EQ(bed.Answer(pod), "running PreFilter plugin \"A\": later");
  a_.pre_filter = nullptr;
  a_.filter = [&](const Cycle&, NodeRow row) {
    return row == Row("n1") ? Status::Error("broken") : Status();
  };
  EXPECT_EQ(bed.Answer(pod), "running \"A\" filter plugin: broken");
  a_.filter = nullptr;
  a_.pre_score = [](Cycle&) { return Status::Unschedulable("odd"); };
  EXPECT_EQ(bed.Answer(pod), "running PreScore plugin \"A\": odd");
  a_.pre_score = nullptr;
  a_.score = [](const Cycle&, NodeRow) { return std::int64_t{101}; };
  EXPECT_EQ(bed.Answer(pod),
            "applying score defaultWeights on Score plugins: plugin \"A\" returns an invalid score 101, it "
            "should in the range of [0, 100] after normalizing");
  a_.score = nullptr;
  EXPECT_TRUE(bed.Answer(pod).starts_with("n")) << "an error must not outlast its attempt";
}

TEST_F(ScriptedTest, OneFeasibleNodeIsNotScored) {
  a_.filter = [&](const Cycle&, NodeRow row) {
    return row == Row("n2") ? Status() : Status::Unschedulable("no");
  };
  a_.pre_score = [](Cycle&) { return Status::Error("must not be asked"); };
  EngineBed bed(cluster_, registry_, Enabled({"A"}));
  EXPECT_EQ(bed.Answer(Pending(MakePod("p"))), "n2");
}

TEST_F(ScriptedTest, Case22WeightsCountAndSkippedPluginsDoNot) {
  a_.score = [&](const Cycle&, NodeRow row) { return row == Row("n0") ? 10 : 0; };
  b_.score = [&](const Cycle&, NodeRow row) { return row == Row("n1") ? 4 : 0; };
  const PodSlot pod = Pending(MakePod("p"));
  EngineBed even(cluster_, registry_, Enabled({"A", "B"}));
  EXPECT_EQ(even.Answer(pod), "n0");
  EngineBed heavy(cluster_, registry_, {{"A", 1}, {"B", 3}});
  EXPECT_EQ(heavy.Answer(pod), "n1");
  b_.pre_score = [](Cycle&) { return Status::Skip(); };
  EXPECT_EQ(heavy.Answer(pod), "n0");
  const Explanation explanation = Explain(heavy, pod);
  ASSERT_EQ(explanation.scores.size(), 1u);
  EXPECT_EQ(explanation.scores[0].plugin, "A");
  EXPECT_THAT(explanation.totals, ElementsAre(10, 0, 0));
}

TEST_F(ScriptedTest, TiesFallToEveryBestNodeAndToNoOther) {
  a_.score = [&](const Cycle&, NodeRow row) { return row == Row("n1") ? 0 : 7; };
  EngineBed bed(cluster_, registry_, Enabled({"A"}));
  const PodSlot pod = Pending(MakePod("p"));
  std::set<std::string> chosen;
  for (int i = 0; i < 40; ++i) chosen.insert(bed.Answer(pod));
  EXPECT_THAT(chosen, ElementsAre("n0", "n2"));
}

TEST_F(ScriptedTest, OwnNominatedNodeIsTakenWithoutScoring) {
  a_.score = [&](const Cycle&, NodeRow row) { return row == Row("n0") ? 100 : 0; };
  EngineBed bed(cluster_, registry_, Enabled({"A"}));
  const PodSlot pod = Pending(MakePod("p").NominatedNode("n2"));
  const Outcome outcome = bed.Schedule(pod);
  EXPECT_EQ(std::get<Decision>(outcome).row, Row("n2"));
  EXPECT_EQ(std::get<Decision>(outcome).feasible, 1u);
  a_.filter = [&](const Cycle&, NodeRow row) {
    return row == Row("n2") ? Status::Unschedulable("full") : Status();
  };
  EXPECT_EQ(bed.Answer(pod), "n0");
}

TEST_F(ScriptedTest, NominatedNodeOutsideTheNarrowingKeepsItsOwnRefusal) {
  names_a_ = {"n0"};
  a_.pre_filter = [&](Cycle&) { return PreFilterResult{.status = {}, .nodes = &names_a_}; };
  a_.filter = [](const Cycle&, NodeRow) { return Status::Unschedulable("full"); };
  EngineBed bed(cluster_, registry_, Enabled({"A"}));
  EXPECT_EQ(bed.Answer(Pending(MakePod("p").NominatedNode("n2"))),
            "0/3 nodes are available: 1 node(s) didn't satisfy plugin(s) [A], 2 full.");
}

TEST_F(ScriptedTest, ObserverHearsOfEveryCallOfItsAttemptOnly) {
  struct Recorder final : PluginObserver {
    void Begin(ExtensionPoint, PluginIndex) override { ++begun; }
    void End(ExtensionPoint point, PluginIndex, Code code) override {
      if (point == ExtensionPoint::kFilter) ++filters;
      if (code == Code::kSkip) ++skips;
      ++ended;
    }
    int begun = 0, ended = 0, filters = 0, skips = 0;
  } recorder;
  b_.pre_filter = [](Cycle&) { return PreFilterResult{.status = Status::Skip()}; };
  EngineBed bed(cluster_, registry_, Enabled({"A", "B"}));
  const PodSlot pod = Pending(MakePod("p"));
  bed.engine().SchedulePod({.pod = pod, .step = 1, .observer = &recorder});
  EXPECT_EQ(recorder.begun, recorder.ended);
  EXPECT_EQ(recorder.filters, 1);
  EXPECT_EQ(recorder.skips, 1);
  const int before = recorder.begun;
  bed.Answer(pod);
  EXPECT_EQ(recorder.begun, before);
}

class NominationTest : public EngineTest {
 protected:
  NominationTest() : bed_(cluster_, registry_, Enabled({"Room", "Zones"})) {}
  void Nominate(const berth::test::PodBuilder& pod, std::string_view node) {
    cluster_.Nominate(Pending(pod), node);
  }
  EngineBed bed_;
};

TEST_F(NominationTest, RoomForPodsOfEqualOrHigherPriorityIsLeftFree) {
  AddNodes(2);
  Nominate(MakePod("expected").Cpu("3").Priority(5), "n0");
  const PodSlot equal = Pending(MakePod("equal").Cpu("2").Priority(5));
  const PodSlot higher = Pending(MakePod("higher").Cpu("2").Priority(6));
  std::set<std::string> of_equal;
  std::set<std::string> of_higher;
  for (int i = 0; i < 30; ++i) {
    of_equal.insert(bed_.Answer(equal));
    of_higher.insert(bed_.Answer(higher));
  }
  EXPECT_THAT(of_equal, ElementsAre("n1"));
  EXPECT_THAT(of_higher, ElementsAre("n0", "n1"));
}

TEST_F(NominationTest, TwoPodsOfOneViewSeeTheirOwnNominations) {
  AddNodes(1);
  const auto builder = MakePod("a").Cpu("3");
  const PodSlot a = Pending(builder);
  const PodSlot b = Pending(MakePod("b").Cpu("3"));
  cluster_.Nominate(a, "n0");
  for (int i = 0; i < 3; ++i) {
    // The nomination of a keeps b away and not a itself.
    EXPECT_EQ(bed_.Answer(a), "n0");
    EXPECT_EQ(bed_.Answer(b), "0/1 nodes are available: 1 no room.");
  }
  EXPECT_EQ(bed_.engine().views().size(), 1u);
  cluster_.ClearNomination(a);
  EXPECT_EQ(bed_.Answer(b), "n0");
}

TEST_F(NominationTest, StateSeesNominatedPodsWhileTheyAreCounted) {
  AddNodes(2);
  // Zone z0 holds 1 pod, so one more is fine; with two expected there it would be crowded.
  ASSERT_TRUE(cluster_.AddPod(MakePod("there").Node("n0").Record()).has_value());
  const PodSlot pod = Pending(MakePod("p").Cpu("1"));
  for (int i = 0; i < 3; ++i) EXPECT_NE(bed_.Answer(pod).substr(0, 1), "0");
  Nominate(MakePod("x"), "n0");
  Nominate(MakePod("y"), "n0");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bed_.Answer(pod), "n1");
}

TEST_F(NominationTest, FilterRowAnswersForTheSpeculationAndForgetsIt) {
  AddNodes(2);
  const PodSlot victim = Pending(MakePod("victim").Cpu("4"));
  ASSERT_TRUE(cluster_.Assume(victim, "n0").has_value());
  const PodSlot pod = Pending(MakePod("p").Cpu("3"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bed_.Answer(pod), "n1");
    EXPECT_EQ(bed_.engine().FilterRow(Row("n0"), Nominations::kCount),
              Status::Unschedulable("no room").WithPlugin("Room"));
    {
      cluster::Speculation trial(cluster_);
      trial.Displace(victim);
      EXPECT_TRUE(bed_.engine().Fits(Row("n0"), Nominations::kCount));
    }
    EXPECT_FALSE(bed_.engine().Fits(Row("n0"), Nominations::kCount));
  }
}

class SamplingTest : public EngineTest {
 protected:
  std::vector<Decision> Decisions(int count, std::optional<std::int32_t> percentage) {
    EngineOptions options;
    options.percentage_of_nodes_to_score = percentage;
    EngineBed bed(cluster_, registry_, Enabled({"Room", "Share"}), options);
    const PodSlot pod = Pending(MakePod("p").Cpu("1"));
    std::vector<Decision> decisions;
    for (int i = 0; i < count; ++i) decisions.push_back(std::get<Decision>(bed.Schedule(pod)));
    return decisions;
  }
};

TEST_F(SamplingTest, Case09HowManyNodesAreEnough) {
  EXPECT_EQ(NodesToFind(99, 10), 99u);
  EXPECT_EQ(NodesToFind(100, 10), 100u);
  EXPECT_EQ(NodesToFind(5000, 30), 1500u);
  EXPECT_EQ(NodesToFind(5000, 0), 500u);
  EXPECT_EQ(NodesToFind(10, 0), 10u);
  EXPECT_EQ(NodesToFind(1000, 0), 420u);
  EXPECT_EQ(NodesToFind(1000, 40), 400u);
  EXPECT_EQ(NodesToFind(6000, 0), 300u);
  EXPECT_EQ(NodesToFind(6000, 40), 2400u);
  EXPECT_EQ(NodesToFind(100, 0), 100u);
  EXPECT_EQ(NodesToFind(150, 10), 100u);
  EXPECT_EQ(NodesToFind(300, 100), 300u);
}

TEST_F(SamplingTest, SearchEndsAtTheQuotaAndTheNextOneGoesOnFromThere) {
  AddNodes(240);
  // Every third node is full: 160 fit, 100 are enough, so a search looks at 150 of 240.
  for (int i = 0; i < 240; i += 3) {
    const std::string n = std::to_string(i);
    ASSERT_TRUE(cluster_.AddPod(MakePod("full" + n).Cpu("4").Node("n" + n).Record()).has_value());
  }
  const auto decisions = Decisions(4, 10);
  for (const Decision& decision : decisions) {
    EXPECT_EQ(decision.feasible, 100u);
    EXPECT_GE(decision.evaluated, 149u);
    EXPECT_LE(decision.evaluated, 151u);
  }
  std::set<NodeRow> chosen;
  for (const Decision& decision : decisions) chosen.insert(decision.row);
  EXPECT_GT(chosen.size(), 1u);
  EXPECT_EQ(Decisions(1, std::nullopt)[0].feasible, 160u);
}

TEST_F(EngineTest, OutcomeDoesNotDependOnWhatIsKept) {
  AddNodes(7);
  EngineBed warm(cluster_, registry_, Enabled({"Room", "Zones", "FeasibleZones", "Share"}));
  EngineBed cold(cluster_, registry_, Enabled({"Room", "Zones", "FeasibleZones", "Share"}),
                 {.views = {.memory_bytes_max = 0}});
  for (int i = 0; i < 25; ++i) {
    const PodSlot pod = Pending(MakePod("p" + std::to_string(i)).Cpu("1"));
    const std::string node = warm.Answer(pod);
    ASSERT_EQ(cold.Answer(pod), node);
    ASSERT_TRUE(cluster_.Assume(pod, node).has_value());
  }
  EXPECT_EQ(warm.engine().views().size(), 1u);
  EXPECT_EQ(cold.engine().views().size(), 0u);
}

TEST_F(EngineTest, CrowdedTableOfRefusalsIsResetBetweenAttempts) {
  AddNodes(3, "1");
  EngineBed bed(cluster_, registry_, Enabled({"Pairs", "Room"}));
  const PodSlot pod = Pending(MakePod("p1").Cpu("2"));
  const std::string answer = bed.Answer(pod);
  while (!bed.rejections().IsCrowded()) {
    bed.rejections().Intern({0, Code::kUnschedulable, {{"x", std::to_string(bed.rejections().size())}}});
  }
  EXPECT_EQ(bed.Answer(pod), answer);
  EXPECT_FALSE(bed.rejections().IsCrowded());
}

TEST_F(EngineTest, PlansOfTemplatesThatAreGoneAreDropped) {
  AddNodes(1);
  EngineBed bed(cluster_, registry_, Enabled({"Room"}));
  const PodSlot pod = Pending(MakePod("p").Cpu("1"));
  bed.Answer(pod);
  bed.Answer(Pending(MakePod("q").Cpu("2")));
  EXPECT_EQ(bed.engine().plans().size(), 2u);
  ASSERT_TRUE(cluster_.RemovePending(cluster_.pods().record(pod).uid).has_value());
  bed.engine().Collect(0);
  EXPECT_EQ(bed.engine().plans().size(), 1u);
  bed.engine().Collect(100);
  EXPECT_EQ(bed.engine().plans().size(), 0u);
}

TEST_F(EngineTest, PlansOfTemplatesThatComeOnceDoNotAddUp) {
  AddNodes(1);
  EngineBed bed(cluster_, registry_, Enabled({"Room"}));
  const auto ask = [&](int template_number) {
    const std::string name = fmt::format("p{}", template_number);
    bed.Answer(Pending(MakePod(name).Cpu(fmt::format("{}m", template_number + 1))));
  };
  for (int i = 0; i < 1000; ++i) ask(i);
  const std::size_t once = bed.engine().plans().size();
  EXPECT_LT(once, 100u);
  // Those that come again are known, however many there are.
  for (int i = 0; i < 1000; ++i) ask(i);
  EXPECT_GE(bed.engine().plans().size(), 990u);
}

}  // namespace
}  // namespace berth::framework
