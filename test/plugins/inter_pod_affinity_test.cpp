#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "plugins/topology_harness.h"
#include "support/builders.h"

// Numbers are those of the cases of the chapter about topology plugins.
namespace berth::plugins::test {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::MakeSelector;
using berth::test::MakeTerm;
using berth::test::PodBuilder;
using cluster::PodSlot;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

using berth::test::kHost;
using berth::test::kZone;
const std::string kAffinity = "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules";
const std::string kAnti = "Unschedulable: node(s) didn't match pod anti-affinity rules";
const std::string kExisting = "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules";

// Nodes a1 and a2 in zone z1, b1 in z2, and one without labels.
class AffinityTest : public testing::Test {
 protected:
  explicit AffinityTest(const TopologyHarness::Options& options = {})
      : harness_("InterPodAffinity", options) {
    harness_.AddNode(MakeNode("a1").Zone("z1").Hostname());
    harness_.AddNode(MakeNode("a2").Zone("z1").Hostname());
    harness_.AddNode(MakeNode("b1").Zone("z2").Hostname());
    harness_.AddNode(MakeNode("lost"));
  }
  PodSlot Running(const std::string& name, const std::string& app, const std::string& node) {
    return harness_.AddPod(MakePod(name).Label("app", app).Node(node));
  }
  static PodBuilder Pod(const std::string& app) { return MakePod("q").Label("app", app); }
  Answer Ask(const PodBuilder& pod) {
    const PodSlot slot = harness_.AddPod(pod);
    const Answer answer = harness_.Ask(slot);
    EXPECT_EQ(harness_.AskAgain(slot), answer);
    return answer;
  }
  std::map<std::string, std::string> Refused(const PodBuilder& pod) { return Ask(pod).refused; }
  void Namespace(const std::string& name, const api::StringMap& labels) {
    api::Namespace object;
    object.metadata.name = name;
    object.metadata.labels = labels;
    harness_.cluster().SetNamespace(object);
  }

  TopologyHarness harness_;
};

// Case 31.
TEST_F(AffinityTest, GoesWhereMatchingPodsAre) {
  Running("p", "a", "a1");
  EXPECT_THAT(Refused(Pod("b").Affinity(MakeTerm(kZone).Label("app", "a"))),
              ElementsAre(Pair("b1", kAffinity), Pair("lost", kAffinity)));
}

// Case 32.
TEST_F(AffinityTest, TheFirstOfAGroupGoesToAnyLabelledNode) {
  EXPECT_THAT(Refused(Pod("a").Affinity(MakeTerm(kZone).Label("app", "a"))),
              ElementsAre(Pair("lost", kAffinity)));
  EXPECT_EQ(Refused(Pod("b").Affinity(MakeTerm(kZone).Label("app", "a"))).size(), 4u);
}

// Case 33.
TEST_F(AffinityTest, AMatchingPodOnAnUnlabelledNodeIsNone) {
  Running("p", "a", "lost");
  EXPECT_THAT(Refused(Pod("a").Affinity(MakeTerm(kZone).Label("app", "a"))),
              ElementsAre(Pair("lost", kAffinity)));
}

// Case 34.
TEST_F(AffinityTest, OnePodMustMatchAllTerms) {
  harness_.AddPod(MakePod("p1").Label("app", "a").Node("a1"));
  harness_.AddPod(MakePod("p2").Label("tier", "t").Node("a1"));
  const auto both = [](PodBuilder pod) {
    return pod.Affinity(MakeTerm(kZone).Label("app", "a")).Affinity(MakeTerm(kZone).Label("tier", "t"));
  };
  EXPECT_EQ(Refused(both(Pod("a"))).size(), 4u);
  EXPECT_THAT(Refused(both(Pod("a").Label("tier", "t"))), ElementsAre(Pair("lost", kAffinity)));
}

// Case 35.
TEST_F(AffinityTest, EachKeyMayBeMetByAnotherPod) {
  for (const char* name : {"z1r1", "z2r2", "z1r2", "z1r3"}) {
    const std::string text = name;
    harness_.AddNode(MakeNode(name).Zone(text.substr(0, 2)).Label("rack", text.substr(2)));
  }
  Running("p1", "a", "z1r1");
  Running("p2", "a", "z2r2");
  const auto refused = Refused(
      Pod("b").Affinity(MakeTerm(kZone).Label("app", "a")).Affinity(MakeTerm("rack").Label("app", "a")));
  EXPECT_FALSE(refused.contains("z1r2"));
  EXPECT_TRUE(refused.contains("z1r3"));
}

// Case 36.
TEST_F(AffinityTest, KeepsAwayFromMatchingPods) {
  Running("p", "a", "a1");
  EXPECT_THAT(Refused(Pod("b").AntiAffinity(MakeTerm(kZone).Label("app", "a"))),
              ElementsAre(Pair("a1", kAnti), Pair("a2", kAnti)));
  EXPECT_THAT(Refused(Pod("b")
                          .AntiAffinity(MakeTerm(kZone).Label("app", "c"))
                          .AntiAffinity(MakeTerm(kHost).Label("app", "a"))),
              ElementsAre(Pair("a1", kAnti)));
}

// Cases 37 and 43.
TEST_F(AffinityTest, ExistingPodsKeepOthersAway) {
  harness_.AddPod(MakePod("p").Node("a1").AntiAffinity(MakeTerm(kZone).Label("app", "b")));
  EXPECT_THAT(Refused(Pod("b")), ElementsAre(Pair("a1", kExisting), Pair("a2", kExisting)));
  EXPECT_TRUE(Ask(Pod("c")).pre_filter.IsSkip());
}

// Case 37.
TEST_F(AffinityTest, AnExistingPodOnAnUnlabelledNodeKeepsNobodyAway) {
  harness_.AddPod(MakePod("p").Node("lost").AntiAffinity(MakeTerm(kZone).Label("app", "b")));
  EXPECT_TRUE(Ask(Pod("b")).pre_filter.IsSkip());
}

// Case 38.
TEST_F(AffinityTest, AffinityIsReportedBeforeAntiAffinity) {
  Running("p", "a", "a1");
  EXPECT_THAT(Refused(Pod("b")
                          .Affinity(MakeTerm(kZone).Label("app", "none"))
                          .AntiAffinity(MakeTerm(kZone).Label("app", "a"))),
              testing::Contains(Pair("a1", kAffinity)));
}

// Case 39.
TEST_F(AffinityTest, TermsReachTheNamespacesThatTheyName) {
  Namespace("ns2", {});
  Namespace("ns3", {{"team", "x"}});
  const auto at = [&](const std::string& ns, const std::string& node) {
    harness_.AddPod(MakePod("p-" + ns).Namespace(ns).Label("app", "a").Node(node));
  };
  at("ns2", "a1");
  at("ns3", "b1");
  at("ns4", "a2");
  const auto refused = [&](const berth::test::TermBuilder& term) {
    std::vector<std::string> names;
    for (const auto& [name, reason] : Refused(Pod("b").AntiAffinity(term))) names.push_back(name);
    return names;
  };
  const auto term = MakeTerm(kHost).Label("app", "a");
  const auto team_x = MakeSelector().Label("team", "x");
  EXPECT_THAT(refused(term), IsEmpty()) << "its own namespace only";
  EXPECT_THAT(refused(berth::test::TermBuilder(term).NamespaceSelector(MakeSelector())),
              ElementsAre("a1", "a2", "b1"));
  EXPECT_THAT(refused(berth::test::TermBuilder(term).NamespaceSelector(team_x)), ElementsAre("b1"));
  EXPECT_THAT(refused(berth::test::TermBuilder(term).NamespaceSelector(team_x).Namespaces({"ns2"})),
              ElementsAre("a1", "b1"));
}

// Case 39.
TEST_F(AffinityTest, AnExistingTermOfEveryNamespaceRefusesPodsOfEveryNamespace) {
  harness_.AddPod(MakePod("p").Node("b1").AntiAffinity(
      MakeTerm(kZone).Label("app", "b").NamespaceSelector(MakeSelector())));
  EXPECT_THAT(Refused(Pod("b").Namespace("unheard-of")), ElementsAre(Pair("b1", kExisting)));
}

// Case 40.
TEST_F(AffinityTest, AnUnknownNamespaceHasNoLabels) {
  const auto term = MakeTerm(kZone).Label("app", "b").NamespaceSelector(MakeSelector().Label("team", "x"));
  harness_.AddPod(MakePod("p").Node("b1").AntiAffinity(term));
  const PodSlot pod = harness_.AddPod(Pod("b").Namespace("ns2"));
  EXPECT_THAT(harness_.AskAgain(pod).refused, IsEmpty());
  Namespace("ns2", {{"team", "x"}});
  EXPECT_THAT(harness_.AskAgain(pod).refused, ElementsAre(Pair("b1", kExisting)));
}

// Case 41.
TEST_F(AffinityTest, ATermWithoutSelectorMatchesNoPod) {
  Running("p", "a", "a1");
  EXPECT_EQ(Refused(Pod("a").Affinity(MakeTerm(kZone))).size(), 4u);
  EXPECT_THAT(Refused(Pod("a").AntiAffinity(MakeTerm(kZone))), IsEmpty());
}

// Case 42.
TEST_F(AffinityTest, ABadSelectorRejectsThePod) {
  const auto bad = MakeTerm(kZone).Selector(MakeSelector().Expression("service", "In", {"{{.bad-value.}}"}));
  const Answer required = Ask(Pod("a").Affinity(bad));
  EXPECT_EQ(required.pre_filter.code(), framework::Code::kUnschedulableAndUnresolvable);
  EXPECT_THAT(required.pre_filter.Message(),
              StartsWith("parsing pod: requiredAffinityTerms: values[0][service]: Invalid value: "
                         "\"{{.bad-value.}}\""));
  const Answer several = Ask(Pod("a").AntiAffinity(bad).PreferAntiAffinity(3, bad));
  EXPECT_THAT(several.pre_filter.Message(), StartsWith("parsing pod: [requiredAntiAffinityTerms: "));
  EXPECT_THAT(several.pre_filter.Message(), testing::HasSubstr(", preferredAntiAffinityTerms: "));
}

TEST_F(AffinityTest, Case42ABadPreferenceRejectsThePodToo) {
  const auto bad = MakeTerm(kZone).Selector(MakeSelector().Expression("service", "In", {"{{.bad-value.}}"}));
  const Answer preferred = Ask(Pod("a").PreferAffinity(3, bad));
  EXPECT_EQ(preferred.pre_filter.code(), framework::Code::kUnschedulableAndUnresolvable);
  EXPECT_THAT(preferred.pre_filter.Message(), StartsWith("parsing pod: preferredAffinityTerms: "));
}

// Case 42.
TEST_F(AffinityTest, ABadTermOfAnExistingPodIsIgnored) {
  const auto bad = MakeTerm(kZone).Selector(MakeSelector().Expression("app", "In", {"{{.bad-value.}}"}));
  harness_.AddPod(MakePod("p").Node("a1").AntiAffinity(MakeTerm(kZone).Label("app", "b")).AntiAffinity(bad));
  EXPECT_THAT(Refused(Pod("b")), IsEmpty());
}

// Case 44.
TEST_F(AffinityTest, ATrialLeavesNothingBehind) {
  const PodSlot other = harness_.AddPod(MakePod("other").Label("app", "a"));
  const PodSlot pod = harness_.AddPod(Pod("a").Affinity(MakeTerm(kZone).Label("app", "a")));
  const Answer before = harness_.AskAgain(pod);
  {
    cluster::Speculation trial(harness_.cluster());
    trial.Place(other, harness_.cluster().nodes().Find("b1"));
    EXPECT_THAT(harness_.AskAgain(pod, {.score = false}).refused,
                ElementsAre(Pair("a1", kAffinity), Pair("a2", kAffinity), Pair("lost", kAffinity)));
  }
  EXPECT_EQ(harness_.AskAgain(pod), before) << "it is the first of its group again";
}

TEST_F(AffinityTest, APlacementJudgesTheNodesOfItsDomain) {
  const PodSlot pod = harness_.AddPod(Pod("a").AntiAffinity(MakeTerm(kZone).Label("app", "a")));
  harness_.AskAgain(pod);
  EXPECT_EQ(harness_.verdicts_computed(), 4u);
  Running("p1", "a", "a1");
  harness_.AskAgain(pod);
  EXPECT_EQ(harness_.verdicts_computed(), 2u);
  Running("p2", "a", "a2");
  harness_.AskAgain(pod);
  EXPECT_EQ(harness_.verdicts_computed(), 0u) << "the zone was refused already";
}

// Labels that no term reads do not set pods apart: what one learned serves the other.
TEST_F(AffinityTest, PodsWithLabelsOfTheirOwnShareWhatIsKept) {
  const auto pod = [](const std::string& name) {
    return MakePod(name)
        .Label("app", "a")
        .Label("name", name)
        .AntiAffinity(MakeTerm(kZone).Label("app", "a"));
  };
  harness_.AskAgain(harness_.AddPod(pod("q1")));
  harness_.AskAgain(harness_.AddPod(pod("q2")));
  EXPECT_EQ(harness_.verdicts_computed(), 0u);
}

class FastPathTest : public AffinityTest {
 protected:
  static TopologyHarness::Options On() {
    TopologyHarness::Options options;
    options.features.inter_pod_affinity_hostname_fast_path = true;
    return options;
  }
  FastPathTest() : AffinityTest(On()) {}
};

// Case 45.
TEST_F(FastPathTest, HostTermsAreJudgedByThePodsOfTheNode) {
  Running("p", "a", "a1");
  harness_.AddPod(MakePod("e").Node("b1").AntiAffinity(MakeTerm(kHost).Label("app", "b")));
  EXPECT_THAT(Refused(Pod("c").Affinity(MakeTerm(kHost).Label("app", "a"))),
              ElementsAre(Pair("a2", kAffinity), Pair("b1", kAffinity), Pair("lost", kAffinity)));
  EXPECT_THAT(Refused(Pod("b").AntiAffinity(MakeTerm(kHost).Label("app", "a"))),
              ElementsAre(Pair("a1", kAnti), Pair("b1", kExisting)));
}

TEST_F(AffinityTest, Case45WithoutTheFastPathAPodOnANodeWithoutHostnameIsNone) {
  Running("p", "a", "lost");
  EXPECT_THAT(Refused(Pod("a").Affinity(MakeTerm(kHost).Label("app", "a"))),
              ElementsAre(Pair("lost", kAffinity)));
}

// Case 45.
TEST_F(FastPathTest, APodOnANodeWithoutHostnameIsTheFirstOfItsGroup) {
  Running("p", "a", "lost");
  EXPECT_EQ(Refused(Pod("a").Affinity(MakeTerm(kHost).Label("app", "a"))).size(), 4u);
}

TEST_F(FastPathTest, NodesThatShareAHostnameAreTwo) {
  harness_.AddNode(MakeNode("twin").Label(kHost, "a1"));
  Running("p", "a", "a1");
  EXPECT_THAT(Refused(Pod("b").AntiAffinity(MakeTerm(kHost).Label("app", "a"))),
              ElementsAre(Pair("a1", kAnti)));
}

TEST_F(FastPathTest, ItFollowsPlacements) {
  const PodSlot pod = harness_.AddPod(
      Pod("a").Affinity(MakeTerm(kHost).Label("app", "a")).AntiAffinity(MakeTerm(kHost).Label("app", "x")));
  EXPECT_EQ(harness_.AskAgain(pod), harness_.Ask(pod));
  Running("p", "a", "a1");
  EXPECT_EQ(harness_.AskAgain(pod), harness_.Ask(pod));
  harness_.AddPod(MakePod("e").Label("app", "x").Node("a1").AntiAffinity(MakeTerm(kHost).Label("app", "a")));
  EXPECT_EQ(harness_.AskAgain(pod), harness_.Ask(pod));
}

// Case 46.
TEST_F(AffinityTest, PreferredTermsScoreByDomain) {
  harness_.AddNode(MakeNode("c1").Zone("z3"));
  for (const char* name : {"p1", "p2"}) Running(name, "a", "a1");
  Running("p3", "a", "b1");
  const Answer with = Ask(Pod("b").PreferAffinity(5, MakeTerm(kZone).Label("app", "a")));
  EXPECT_THAT(with.raw,
              ElementsAre(Pair("a1", 10), Pair("a2", 10), Pair("b1", 5), Pair("c1", 0), Pair("lost", 0)));
  EXPECT_THAT(with.scores,
              ElementsAre(Pair("a1", 100), Pair("a2", 100), Pair("b1", 50), Pair("c1", 0), Pair("lost", 0)));
  const Answer against = Ask(Pod("b").PreferAntiAffinity(5, MakeTerm(kZone).Label("app", "a")));
  EXPECT_THAT(against.scores,
              ElementsAre(Pair("a1", 0), Pair("a2", 0), Pair("b1", 50), Pair("c1", 100), Pair("lost", 100)));
}

// Case 47.
TEST_F(AffinityTest, SharesAreRoundedBeforeTheyAreMultiplied) {
  const auto normalise = [&](std::vector<std::int64_t> scores) {
    const framework::Extent extent{.min = scores.front(), .max = scores.back(), .count = scores.size()};
    dynamic_cast<const framework::ScorePoint&>(harness_.plugin()).Normalize(extent, scores);
    return scores;
  };
  EXPECT_THAT(normalise({0, 29, 100}), ElementsAre(0, 28, 100));
  EXPECT_THAT(normalise({0, 57, 58, 100}), ElementsAre(0, 56, 57, 100));
  EXPECT_THAT(normalise({0, 2, 3}), ElementsAre(0, 66, 100));
  EXPECT_THAT(normalise({7, 7}), ElementsAre(0, 0));
}

// Case 48.
TEST_F(AffinityTest, RequiredAffinityOfOthersScoresByTheArgument) {
  harness_.AddPod(MakePod("p").Node("b1").Affinity(MakeTerm(kZone).Label("app", "b")));
  EXPECT_THAT(Ask(Pod("b")).scores,
              ElementsAre(Pair("a1", 0), Pair("a2", 0), Pair("b1", 100), Pair("lost", 0)));
  TopologyHarness::Options options;
  options.args.inter_pod_affinity.hard_pod_affinity_weight = 0;
  TopologyHarness none("InterPodAffinity", options);
  none.AddNode(MakeNode("b1").Zone("z2"));
  none.AddPod(MakePod("p").Node("b1").Affinity(MakeTerm(kZone).Label("app", "b")));
  EXPECT_TRUE(none.Ask(none.AddPod(Pod("b"))).pre_score.IsSkip());
}

// Case 49.
TEST_F(AffinityTest, PreferredTermsOfOthersCanBeIgnored) {
  TopologyHarness::Options options;
  options.args.inter_pod_affinity.ignore_preferred_terms_of_existing_pods = true;
  TopologyHarness harness("InterPodAffinity", options);
  harness.AddNode(MakeNode("a").Zone("z1"));
  harness.AddNode(MakeNode("b").Zone("z2"));
  harness.AddPod(MakePod("p").Node("a").PreferAffinity(5, MakeTerm(kZone).Label("app", "b")));
  EXPECT_TRUE(harness.Ask(harness.AddPod(Pod("b"))).pre_score.IsSkip());
  // With preferences of its own a pod is scored by those of others as usual.
  EXPECT_THAT(harness.Ask(harness.AddPod(Pod("b").PreferAffinity(1, MakeTerm(kZone).Label("app", "x")))).raw,
              ElementsAre(Pair("a", 5), Pair("b", 0)));
}

// Case 50.
TEST_F(AffinityTest, SumsThatCancelAreScoresOfZero) {
  Running("p", "a", "a1");
  const Answer answer = Ask(Pod("b")
                                .PreferAffinity(5, MakeTerm(kZone).Label("app", "a"))
                                .PreferAntiAffinity(5, MakeTerm(kZone).Label("app", "a")));
  EXPECT_TRUE(answer.pre_score.IsSuccess());
  for (const auto& [name, score] : answer.scores) EXPECT_EQ(score, 0) << name;
}

TEST_F(AffinityTest, PodsThatNothingConcernsAreNotScored) {
  Running("p", "a", "a1");
  EXPECT_TRUE(Ask(Pod("b")).pre_score.IsSkip());
}

TEST_F(AffinityTest, SignaturesTellLabelsApart) {
  const auto sign = [&](const PodBuilder& pod) {
    framework::Signature signature;
    const framework::WaitingPod waiting{harness_.cluster(), harness_.AddPod(pod)};
    const bool signs = dynamic_cast<const framework::SignPoint&>(harness_.plugin()).Sign(waiting, signature);
    return std::pair(signs, signature);
  };
  EXPECT_TRUE(sign(Pod("a")).first);
  EXPECT_EQ(sign(Pod("a")), sign(Pod("a").Uid("another")));
  EXPECT_NE(sign(Pod("a")).second, sign(Pod("b")).second);
  EXPECT_FALSE(sign(Pod("a").Affinity(MakeTerm(kZone))).first);
}

}  // namespace
}  // namespace berth::plugins::test
