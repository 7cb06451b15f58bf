#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "framework/points.h"
#include "plugins/image_locality.h"
#include "plugins/plugin_harness.h"

// How TaintToleration, NodeAffinity and ImageLocality rate nodes. Numbers are those of the cases of the
// chapter about node plugins.
namespace berth::plugins {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::PluginHarness;
using berth::test::PodBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::int64_t kMebibyte = 1024 * 1024;

api::Toleration Tolerate(std::string key, std::string effect) {
  return {.key = std::move(key),
          .operator_ = "Exists",
          .value = "",
          .effect = std::move(effect),
          .toleration_seconds = {}};
}

// Case 43.
TEST(NormalizeByMaxTest, ScoresAreSharesOfTheLargest) {
  const auto shares = [](std::vector<std::int64_t> scores, framework::Direction direction) {
    const framework::Extent extent{
        .min = std::ranges::min(scores), .max = std::ranges::max(scores), .count = scores.size()};
    framework::NormalizeByMax(extent, direction, scores);
    return scores;
  };
  constexpr auto kUp = framework::Direction::kHigherIsBetter;
  constexpr auto kDown = framework::Direction::kLowerIsBetter;
  EXPECT_THAT(shares({1, 2, 3, 4}, kUp), ElementsAre(25, 50, 75, 100));
  EXPECT_THAT(shares({1, 2, 3, 4}, kDown), ElementsAre(75, 50, 25, 0));
  EXPECT_THAT(shares({0, 0}, kUp), ElementsAre(0, 0));
  EXPECT_THAT(shares({0, 0}, kDown), ElementsAre(100, 100));
  EXPECT_THAT(shares({1000, 1}, kUp), ElementsAre(100, 0));
}

// Case 44.
TEST(TaintTolerationScoreTest, FewerTaintsThatPodsShouldAvoidAreBetter) {
  PluginHarness harness("TaintToleration");
  harness.Add(MakeNode("none"))
      .Add(MakeNode("one").Taint("a", "", "PreferNoSchedule"))
      .Add(MakeNode("two").Taint("a", "", "PreferNoSchedule").Taint("b", "", "PreferNoSchedule"));
  EXPECT_THAT(harness.RawScores(MakePod("p")),
              UnorderedElementsAre(Pair("none", 0), Pair("one", 1), Pair("two", 2)));
  EXPECT_THAT(harness.FinalScores(MakePod("p")),
              UnorderedElementsAre(Pair("none", 100), Pair("one", 50), Pair("two", 0)));
}

// Case 44.
TEST(TaintTolerationScoreTest, OnlyTolerationsOfThatEffectCount) {
  PluginHarness harness("TaintToleration");
  harness.Add(MakeNode("n1").Taint("a", "", "PreferNoSchedule").Taint("b", "", "PreferNoSchedule"));
  EXPECT_THAT(harness.RawScores(MakePod("p").Tolerate(Tolerate("a", "NoSchedule"))),
              UnorderedElementsAre(Pair("n1", 2)));
  EXPECT_THAT(harness.RawScores(MakePod("q").Tolerate(Tolerate("a", "PreferNoSchedule"))),
              UnorderedElementsAre(Pair("n1", 1)));
  EXPECT_THAT(harness.RawScores(MakePod("r").Tolerate(Tolerate("a", "")).Tolerate(Tolerate("b", ""))),
              UnorderedElementsAre(Pair("n1", 0)));
}

// Case 44.
TEST(TaintTolerationScoreTest, WithoutSuchTaintsEveryNodeIsBest) {
  PluginHarness harness("TaintToleration");
  harness.Add(MakeNode("n1")).Add(MakeNode("n2"));
  EXPECT_THAT(harness.FinalScores(MakePod("p")), UnorderedElementsAre(Pair("n1", 100), Pair("n2", 100)));
}

// Taint sets come and go while a plan lives, and their numbers are used again.
TEST(TaintTolerationScoreTest, FollowsTaintsThatChange) {
  PluginHarness harness("TaintToleration");
  harness.Add(MakeNode("n1").Taint("a", "", "PreferNoSchedule"));
  EXPECT_THAT(harness.RawScores(MakePod("p")), UnorderedElementsAre(Pair("n1", 1)));
  harness.Add(MakeNode("n1").Taint("b", "", "NoSchedule"));
  EXPECT_EQ(harness.Verdict(MakePod("p"), "n1"), "UU node(s) had untolerated taint(s)");
  harness.Add(MakeNode("n1").Taint("b", "", "PreferNoSchedule").Taint("c", "", "PreferNoSchedule"));
  EXPECT_THAT(harness.RawScores(MakePod("p")), UnorderedElementsAre(Pair("n1", 2)));
}

// ---------------------------------------------------------------------------------------------------------

api::NodeSelectorTerm HasLabel(std::string key) {
  return {.match_expressions = {{std::move(key), "Exists", {}}}, .match_fields = {}};
}

// Case 45.
TEST(NodeAffinityScoreTest, SumsTheWeightsOfMatchingTerms) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1"))
      .Add(MakeNode("n2").Label("a", ""))
      .Add(MakeNode("n3").Label("a", "").Label("b", ""));
  const PodBuilder pod = MakePod("p").PreferNodes(10, HasLabel("a")).PreferNodes(30, HasLabel("b"));
  EXPECT_THAT(harness.RawScores(pod), UnorderedElementsAre(Pair("n1", 0), Pair("n2", 10), Pair("n3", 40)));
  EXPECT_THAT(harness.FinalScores(pod), UnorderedElementsAre(Pair("n1", 0), Pair("n2", 25), Pair("n3", 100)));
}

// Case 45.
TEST(NodeAffinityScoreTest, NoNodeMatches) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1")).Add(MakeNode("n2"));
  EXPECT_THAT(harness.FinalScores(MakePod("p").PreferNodes(10, HasLabel("a"))),
              UnorderedElementsAre(Pair("n1", 0), Pair("n2", 0)));
}

TEST(NodeAffinityScoreTest, TermsMayNameNodes) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1").Label("a", "")).Add(MakeNode("n2").Label("a", ""));
  api::NodeSelectorTerm term = HasLabel("a");
  term.match_fields = {{"metadata.name", "In", {"n2"}}};
  EXPECT_THAT(harness.RawScores(MakePod("p").PreferNodes(5, HasLabel("a")).PreferNodes(7, term)),
              UnorderedElementsAre(Pair("n1", 5), Pair("n2", 12)));
}

TEST(NodeAffinityScoreTest, PodsWithoutPreferencesAreNotScored) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1"));
  EXPECT_THAT(harness.RawScores(MakePod("p")), IsEmpty());
}

// Case 45.
TEST(NodeAffinityScoreTest, AWrongTermFailsTheAttempt) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1"));
  const auto explanation = harness.Explain(MakePod("p").PreferNodes(1, HasLabel("a=b")));
  EXPECT_EQ(explanation.error.code(), framework::Code::kError);
  EXPECT_TRUE(explanation.error.Message().contains("[0].matchExpressions[0].key: Invalid value: \"a=b\": "))
      << explanation.error.Message();
}

TEST(NodeAffinityScoreTest, AWrongTermOfWeightZeroIsLeftOut) {
  PluginHarness harness("NodeAffinity");
  harness.Add(MakeNode("n1"));
  EXPECT_THAT(harness.RawScores(MakePod("p").PreferNodes(0, HasLabel("a=b"))),
              UnorderedElementsAre(Pair("n1", 0)));
}

TEST(NodeAffinityScoreTest, AddedPreferencesCountForEveryPod) {
  framework::PluginArgs args;
  args.node_affinity.added_affinity.emplace().preferred_during_scheduling_ignored_during_execution = {
      {.weight = 3, .preference = HasLabel("pool")}};
  PluginHarness harness({.plugins = {{"NodeAffinity", 1}}, .args = args});
  harness.Add(MakeNode("n1")).Add(MakeNode("n2").Label("pool", "").Label("a", ""));
  EXPECT_THAT(harness.RawScores(MakePod("p")), UnorderedElementsAre(Pair("n1", 0), Pair("n2", 3)));
  EXPECT_THAT(harness.RawScores(MakePod("q").PreferNodes(4, HasLabel("a"))),
              UnorderedElementsAre(Pair("n1", 0), Pair("n2", 7)));
}

// ---------------------------------------------------------------------------------------------------------

// Case 57.
TEST(ImageNameTest, GetsATagIfItHasNone) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"a/b", "a/b:latest"},
      {"a/b:1", "a/b:1"},
      {"gcr.io/x", "gcr.io/x:latest"},
      {"localhost:5000/x", "localhost:5000/x:latest"},
      {"localhost:5000/x:2", "localhost:5000/x:2"},
      {"a@sha256:x", "a@sha256:x"},
      {"", ":latest"},
  };
  for (const auto& [name, want] : names) EXPECT_EQ(NormalizedImageName(name), want);
}

// Case 56.
TEST(ImageLocalityTest, LargerImagesThatAreThereCountForMore) {
  PluginHarness harness("ImageLocality");
  harness.Add(MakeNode("n1").Image("gcr.io/40:latest", 40 * kMebibyte))
      .Add(MakeNode("n2").Image("gcr.io/250:latest", 250 * kMebibyte));
  EXPECT_THAT(harness.RawScores(MakePod("p").Container("gcr.io/40").Container("gcr.io/250")),
              UnorderedElementsAre(Pair("n1", 0), Pair("n2", 5)));
}

// Case 56.
TEST(ImageLocalityTest, AnImageOnFewNodesCountsForLess) {
  PluginHarness harness("ImageLocality");
  harness.Add(MakeNode("n1").Image("big:latest", 4000 * kMebibyte)).Add(MakeNode("n2")).Add(MakeNode("n3"));
  EXPECT_THAT(harness.RawScores(MakePod("p").Container("big").Container("other")),
              UnorderedElementsAre(Pair("n1", 66), Pair("n2", 0), Pair("n3", 0)));
}

// The product of size and spread is beyond an int64, and becomes the least one.
TEST(ImageLocalityTest, ASizeBeyondNumbersCountsForNothing) {
  PluginHarness harness("ImageLocality");
  harness.Add(MakeNode("n1").Image("huge:1", std::numeric_limits<std::int64_t>::max()));
  EXPECT_THAT(harness.RawScores(MakePod("p").Container("huge:1").InitContainer("huge:1")),
              UnorderedElementsAre(Pair("n1", 0)));
}

// Case 56.
TEST(ImageLocalityTest, BoundsOfTheScore) {
  PluginHarness harness("ImageLocality");
  harness.Add(MakeNode("n1").Image("small:1", 23 * kMebibyte).Image("large:1", 1000 * kMebibyte));
  EXPECT_THAT(harness.RawScores(MakePod("p").Container("small:1")), UnorderedElementsAre(Pair("n1", 0)));
  EXPECT_THAT(harness.RawScores(MakePod("q").Container("large:1")), UnorderedElementsAre(Pair("n1", 100)));
  // Named twice it counts twice, and the bound with it.
  EXPECT_THAT(harness.RawScores(MakePod("r").Container("large:1").InitContainer("large:1")),
              UnorderedElementsAre(Pair("n1", 100)));
}

// Case 57.
TEST(ImageLocalityTest, ANameWithoutATagOnTheNodeNeverMatches) {
  PluginHarness harness("ImageLocality");
  harness.Add(MakeNode("n1").Image("x", 1000 * kMebibyte));
  EXPECT_THAT(harness.RawScores(MakePod("p").Container("x")), UnorderedElementsAre(Pair("n1", 0)));
}

// Case 58.
TEST(ImageLocalityTest, TheFirstReportOfASizeStays) {
  PluginHarness harness("ImageLocality");
  harness.Add(MakeNode("n1").Image("x:1", 1000 * kMebibyte))
      .Add(MakeNode("n2").Image("x:1", 100 * kMebibyte));
  EXPECT_THAT(harness.RawScores(MakePod("p").Container("x:1")),
              UnorderedElementsAre(Pair("n1", 100), Pair("n2", 100)));
}

TEST(ImageLocalityTest, APodWithoutContainersScoresNothing) {
  PluginHarness harness("ImageLocality");
  harness.Add(MakeNode("n1"));
  EXPECT_THAT(harness.RawScores(MakePod("p")), UnorderedElementsAre(Pair("n1", 0)));
}

// An image that arrives on one node moves the score of every node that has it.
TEST(ImageLocalityTest, FollowsTheSpreadOfAnImage) {
  PluginHarness harness("ImageLocality");
  const PodBuilder pod = MakePod("p").Container("x:1");
  harness.Add(MakeNode("n1").Image("x:1", 1000 * kMebibyte)).Add(MakeNode("n2"));
  const auto before = harness.RawScores(pod);
  harness.Add(MakeNode("n2").Image("x:1", 1000 * kMebibyte));
  const auto after = harness.RawScores(pod);
  EXPECT_LT(before.at("n1"), 100);
  EXPECT_THAT(after, UnorderedElementsAre(Pair("n1", 100), Pair("n2", 100)));
}

}  // namespace
}  // namespace berth::plugins
