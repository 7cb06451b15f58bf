#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gtest/gtest.h"

#include "framework/engine_bed.h"
#include "plugins/all_plugins.h"
#include "support/builders.h"

// What a decision may cost with the default plugins, counted in rows that filters and scores look at, in
// clusters made to be expensive. docs/benchmarks.md gives these bounds.
namespace berth::framework {
namespace {

using berth::test::kHost;
using berth::test::kZone;
using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::MakeSelector;
using berth::test::MakeTerm;
using berth::test::PodBuilder;

class BoundsTest : public testing::Test {
 protected:
  BoundsTest() {
    const Registry registry = plugins::AllPlugins();
    std::vector<EnabledPlugin> enabled = DefaultPlugins(features_);
    std::erase_if(enabled, [&](const EnabledPlugin& plugin) { return !registry.Contains(plugin.name); });
    const PluginSetup setup{features_, args_, cluster_};
    profile_ = *Profile::Make(*ExpandEverywhere(enabled, registry, setup), registry, setup, rejections_);
    // Without verification, which would look at every row.
    engine_ = std::make_unique<Engine>(cluster_, *profile_, rejections_, EngineOptions{});
  }

  void AddNodes(int count, int zones) {
    for (int i = 0; i < count; ++i) {
      cluster_.SetNode(MakeNode("n" + std::to_string(i))
                           .Hostname()
                           .Zone("z" + std::to_string(i % zones))
                           .Label("unique", std::to_string(i))
                           .Cpu("64")
                           .Memory("256Gi")
                           .Ref());
    }
  }

  struct Work {
    std::size_t judged = 0;
    std::size_t scored = 0;
  };
  Work Place(PodBuilder pod) {
    const auto slot = *cluster_.SetPending(pod.Record());
    const Outcome outcome = engine_->SchedulePod({.pod = slot, .step = ++step_});
    EXPECT_TRUE(std::holds_alternative<Decision>(outcome));
    const Work work{engine_->view()->rows_judged(), engine_->view()->rows_scored()};
    EXPECT_TRUE(cluster_.Assume(slot, std::string(cluster_.nodes().name(std::get<Decision>(outcome).row))));
    return work;
  }
  std::string NextName() { return "p" + std::to_string(step_); }
  // The most that one of `count` placements costs, after those that make the view.
  template <class MakeNext>
  Work Warm(int count, MakeNext&& make) {
    for (int i = 0; i < 4; ++i) Place(make());
    Work most;
    for (int i = 0; i < count; ++i) {
      const Work work = Place(make());
      most = {std::max(most.judged, work.judged), std::max(most.scored, work.scored)};
    }
    return most;
  }

  const Features features_ = Features::Upstream();
  const PluginArgs args_;
  cluster::Cluster cluster_;
  RejectionTable rejections_;
  std::unique_ptr<const Profile> profile_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t step_ = 0;
};

// One row changed; a plugin scores it at most once.
constexpr std::size_t kJudgedMax = 2;
constexpr std::size_t kScoredMax = 16;

api::TopologySpreadConstraint Constraint(const char* key, const char* action, const std::string& app) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = 1;
  constraint.topology_key = key;
  constraint.when_unsatisfiable = action;
  constraint.label_selector = api::LabelSelector(MakeSelector().Label("app", app));
  return constraint;
}

TEST_F(BoundsTest, PlacementInAZoneMovesOneRowAndNotTheZone) {
  AddNodes(3'000, 3);
  for (const std::string_view kind : {"hard", "soft", "both", "affinity", "preferred"}) {
    const Work work = Warm(40, [&] {
      PodBuilder pod = MakePod(NextName());
      pod.Label("app", "a").Cpu("100m").Memory("1Mi");
      const api::PodAffinityTerm term = MakeTerm(kZone).Label("app", "a");
      if (kind == "hard") pod.Spread(Constraint(kZone, "DoNotSchedule", "a"));
      if (kind == "soft" || kind == "both") pod.Spread(Constraint(kZone, "ScheduleAnyway", "a"));
      if (kind == "both") pod.Spread(Constraint(kHost, "ScheduleAnyway", "a"));
      if (kind == "affinity") pod.Affinity(term);
      if (kind == "preferred") pod.PreferAffinity(10, term);
      return pod;
    });
    EXPECT_LE(work.judged, kJudgedMax) << kind;
    EXPECT_LE(work.scored, kScoredMax) << kind;
  }
}

TEST_F(BoundsTest, TenThousandLabelSetsAndATermWithThousandsOfValues) {
  AddNodes(10'000, 100);
  std::vector<std::string> values;
  for (int i = 0; i < 5'000; ++i) values.push_back(std::to_string(2 * i));
  const auto make = [&] {
    PodBuilder pod = MakePod(NextName());
    pod.Label("app", "a").Cpu("100m").Memory("1Mi");
    pod.NodeAffinity(
        {.match_expressions = {{.key = "unique", .operator_ = "In", .values = values}}, .match_fields = {}});
    return pod;
  };
  const Work first = Place(make());
  EXPECT_EQ(first.judged, 10'000u) << "a cold decision looks at every row once";
  const Work work = Warm(40, make);
  EXPECT_LE(work.judged, kJudgedMax);
  EXPECT_LE(work.scored, kScoredMax);
}

// The same for selectors of pods: what a placement costs does not grow with the values that the terms list.
TEST_F(BoundsTest, PodSelectorsWithThousandsOfValues) {
  AddNodes(2'000, 5);
  for (int i = 0; i < 500; ++i) {
    Place(MakePod("other" + std::to_string(i)).Label("app", std::to_string(2 * i)).Cpu("10m").Memory("1Mi"));
  }
  std::vector<std::string> values;
  for (int i = 0; i < 5'000; ++i) values.push_back(std::to_string(2 * i + 1));
  const auto selector = MakeSelector().Expression("app", "In", values);
  for (const std::string_view kind : {"spread", "anti-affinity", "preferred"}) {
    const Work work = Warm(20, [&] {
      PodBuilder pod = MakePod(NextName());
      pod.Label("app", "1").Cpu("10m").Memory("1Mi");
      api::TopologySpreadConstraint constraint = Constraint(kZone, "DoNotSchedule", "");
      constraint.label_selector = selector;
      if (kind == "spread") pod.Spread(constraint);
      if (kind == "anti-affinity") pod.AntiAffinity(MakeTerm(kHost).Selector(selector));
      if (kind == "preferred") pod.PreferAffinity(10, MakeTerm(kZone).Selector(selector));
      return pod;
    });
    EXPECT_LE(work.judged, kJudgedMax) << kind;
    EXPECT_LE(work.scored, kScoredMax) << kind;
  }
}

TEST_F(BoundsTest, ThousandConstraintsOfOthersDoNotMoveADecision) {
  AddNodes(500, 5);
  for (int i = 0; i < 1'000; ++i) {
    PodBuilder pod = MakePod("other" + std::to_string(i));
    const std::string app = "app" + std::to_string(i);
    Place(pod.Label("app", app).Cpu("10m").Memory("1Mi").Spread(Constraint(kZone, "DoNotSchedule", app)));
  }
  const Work work = Warm(40, [&] {
    PodBuilder pod = MakePod(NextName());
    pod.Label("app", "app1").Cpu("10m").Memory("1Mi").Spread(Constraint(kZone, "ScheduleAnyway", "app2"));
    return pod;
  });
  EXPECT_LE(work.judged, kJudgedMax);
  EXPECT_LE(work.scored, kScoredMax);
}

// A pod with a thousand constraints of its own is told by rows again; what it costs is bounded by rows.
TEST_F(BoundsTest, ThousandConstraintsOfOnePodAreBoundedByRows) {
  AddNodes(50, 5);
  const Work work = Warm(3, [&] {
    PodBuilder pod = MakePod(NextName());
    pod.Label("app", "a").Cpu("10m").Memory("1Mi");
    for (int i = 0; i < 1'000; ++i) {
      pod.Spread(Constraint(kZone, "DoNotSchedule", "app" + std::to_string(i)));
    }
    return pod;
  });
  EXPECT_LE(work.judged, 50u);
  EXPECT_LE(work.scored, 50u * kScoredMax);
}

// A zone that is full is out of the extent by which the others' scores are normalised; its own scores were
// taken for wrong then.
TEST_F(BoundsTest, PreferredNodesOfAFullZoneDoNotFailTheOthers) {
  AddNodes(8, 2);
  const auto in_zone = [](const char* zone) {
    return api::NodeSelectorTerm{.match_expressions = {{.key = kZone, .operator_ = "In", .values = {zone}}},
                                 .match_fields = {}};
  };
  std::size_t by_class = 0;
  for (int i = 0; i < 12; ++i) {
    PodBuilder pod = MakePod(NextName());
    pod.Label("app", "a").Cpu("100m").Memory("1Mi").Spread(Constraint(kZone, "DoNotSchedule", "a"));
    Place(pod.PreferNodes(20, in_zone("z0")).PreferNodes(10, in_zone("z1")));
    if (engine_->view()->has_groups()) ++by_class;
  }
  EXPECT_GE(by_class, 8u);
}

TEST_F(BoundsTest, ViewsOfThousandTemplatesInTurnAreKept) {
  AddNodes(8, 2);
  constexpr int kTemplates = 1'000;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kTemplates; ++i) {
      PodBuilder pod = MakePod(NextName());
      const auto slot = *cluster_.SetPending(pod.Cpu(std::to_string(i + 1) + "m").Memory("1Mi").Record());
      engine_->SchedulePod({.pod = slot, .step = ++step_});
    }
  }
  // All but a few, whose keys gave way to others in the table of keys.
  EXPECT_GE(engine_->views().size(), std::size_t{kTemplates - 20});
}

TEST_F(BoundsTest, ResourceThatOneNodeHasIsLookedForThere) {
  AddNodes(200, 3);
  cluster_.SetNode(
      MakeNode("special").Hostname().Cpu("64").Memory("256Gi").Allocatable("example.com/gpu", "4").Ref());
  PodBuilder pod = MakePod("wants");
  const Work work = Place(pod.Cpu("10m").Request("example.com/gpu", "1"));
  EXPECT_EQ(work.judged, 1u);
  const auto slot = cluster_.pods().Find("default", "wants");
  EXPECT_EQ(cluster_.nodes().name(cluster_.pods().row(slot)), "special");

  // Of a pod that fits nowhere the reasons are those of all nodes.
  PodBuilder too_much = MakePod("wants-more");
  const auto waiting = *cluster_.SetPending(too_much.Cpu("65").Request("example.com/gpu", "1").Record());
  const Outcome outcome = engine_->SchedulePod({.pod = waiting, .step = ++step_});
  EXPECT_EQ(FitErrorMessage(std::get<Diagnosis>(outcome)),
            "0/201 nodes are available: 200 Insufficient example.com/gpu, 201 Insufficient cpu.");
}

// As in a cluster in which everybody preempts.
TEST_F(BoundsTest, WhatIsNominatedToNodesThatAreAlikeIsTriedOnce) {
  AddNodes(2'000, 3);
  for (int i = 0; i < 2'000; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_TRUE(cluster_.AddPod(MakePod("low" + number).Cpu("40").Node("n" + number).Record()).has_value());
    const auto high = MakePod("high" + number).Cpu("50").Priority(10);
    cluster_.Nominate(*cluster_.SetPending(PodBuilder(high).Record()), "n" + number);
  }
  const auto slot = *cluster_.SetPending(MakePod("one-more").Cpu("20").Priority(10).Record());
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Outcome outcome = engine_->SchedulePod({.pod = slot, .step = ++step_});
    const auto* const diagnosis = std::get_if<Diagnosis>(&outcome);
    ASSERT_NE(diagnosis, nullptr);
    EXPECT_EQ(FitErrorMessage(*diagnosis), "0/2000 nodes are available: 2000 Insufficient cpu.");
    EXPECT_EQ(engine_->crowds_tried(), 1u);
  }
}

}  // namespace
}  // namespace berth::framework
