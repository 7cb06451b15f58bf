#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "framework/decide.h"
#include "framework/engine_bed.h"
#include "framework/synthetic_plugins.h"
#include "support/builders.h"

// How nodes are looked for and chosen among, case by case; numbers are those of the cases of the cycle
// chapter. What goes without scripted plugins is in engine_test.cpp.
namespace berth::framework {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using cluster::NodeRow;
using cluster::PodSlot;
using test::Enabled;
using test::EngineBed;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSubsetOf;

class EngineCases : public testing::Test {
 protected:
  EngineCases() {
    test::AddScripted(registry_, "P1", p1_);
    test::AddScripted(registry_, "P2", p2_);
    test::AddScripted(registry_, "P3", p3_);
  }
  void AddNodes(int count) {
    for (int i = 1; i <= count; ++i) cluster_.SetNode(MakeNode("n" + std::to_string(i)).Cpu("4").Ref());
  }
  PodSlot ThePod() { return *cluster_.SetPending(MakePod("p").Cpu("1").Record()); }
  static std::function<PreFilterResult(Cycle&)> Narrow(const NodeNames& names) {
    return [&names](Cycle&) { return PreFilterResult{.status = {}, .nodes = &names}; };
  }
  static std::function<PreFilterResult(Cycle&)> Refuse(Status status) {
    return [status](Cycle&) { return PreFilterResult{.status = status}; };
  }
  // Where in the cluster's order the row is.
  std::size_t PositionOf(NodeRow row) const {
    const auto order = cluster_.NodeOrder();
    return static_cast<std::size_t>(std::ranges::find(order, row) - order.begin());
  }

  cluster::Cluster cluster_;
  Registry registry_ = test::SyntheticPlugins();
  test::Script p1_;
  test::Script p2_;
  test::Script p3_;
};

TEST_F(EngineCases, Case10EachSearchGoesOnWhereTheLastOneEnded) {
  AddNodes(500);
  std::set<std::size_t> scored;
  p1_.score = [&](const Cycle&, NodeRow row) {
    scored.insert(PositionOf(row));
    return std::int64_t{1};
  };
  EngineBed bed(cluster_, registry_, Enabled({"P1"}), {.percentage_of_nodes_to_score = 30});
  const PodSlot pod = ThePod();
  std::vector<std::size_t> starts;
  for (int cycle = 0; cycle < 8; ++cycle) {
    scored.clear();
    const Outcome outcome = bed.Schedule(pod);
    EXPECT_EQ(std::get<Decision>(outcome).feasible, 150u);
    ASSERT_EQ(scored.size(), 150u);
    // They are a run, perhaps around the end: it begins where the one before is missing.
    for (const std::size_t position : scored) {
      if (!scored.contains((position + 499) % 500)) starts.push_back(position);
    }
  }
  EXPECT_THAT(starts, ElementsAre(0, 150, 300, 450, 100, 250, 400, 50));
}

TEST_F(EngineCases, Case11WithoutScoresOneNodeIsEnough) {
  AddNodes(3);
  registry_ = test::SyntheticPlugins();
  EngineBed bed(cluster_, registry_, Enabled({"Room"}), {.percentage_of_nodes_to_score = 0});
  const Outcome outcome = bed.Schedule(ThePod());
  EXPECT_EQ(std::get<Decision>(outcome).feasible, 1u);
  EXPECT_EQ(std::get<Decision>(outcome).evaluated, 1u);
}

TEST_F(EngineCases, Case12WhatPreFiltersLeaveTogether) {
  AddNodes(2);
  const NodeNames second = {"n2"};
  const NodeNames both = {"n1", "n2"};
  const NodeNames first = {"n1"};
  const NodeNames none;
  const NodeNames invalid = {"invalid"};
  EngineBed bed(cluster_, registry_, Enabled({"P1", "P2", "P3"}));
  const PodSlot pod = ThePod();
  p2_.pre_filter = Narrow(second);
  p3_.pre_filter = Narrow(both);
  EXPECT_EQ(bed.Answer(pod), "n2");
  p3_.pre_filter = Narrow(first);
  EXPECT_EQ(bed.Answer(pod),
            "0/2 nodes are available: node(s) didn't satisfy plugin(s) [P2 P3] simultaneously.");
  p2_.pre_filter = Narrow(none);
  EXPECT_EQ(bed.Answer(pod), "0/2 nodes are available: node(s) didn't satisfy plugin P2.");
  p2_.pre_filter = nullptr;
  p3_.pre_filter = Narrow(invalid);
  EXPECT_EQ(bed.Answer(pod), "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [P3].");
}

TEST_F(EngineCases, Case13TheLastRefusalBeforeFilterSpeaks) {
  AddNodes(2);
  EngineBed bed(cluster_, registry_, Enabled({"P1", "P2", "P3"}));
  const PodSlot pod = ThePod();
  p1_.pre_filter = Refuse(Status::Unschedulable("first"));
  p2_.pre_filter = Refuse(Status::Skip());
  p3_.pre_filter = Refuse(Status::Unschedulable("third"));
  Outcome outcome = bed.Schedule(pod);
  EXPECT_EQ(FitErrorMessage(std::get<Diagnosis>(outcome)), "0/2 nodes are available: third.");
  for (const NodeRow row : cluster_.NodeOrder()) {
    EXPECT_EQ(std::get<Diagnosis>(outcome).CodeOf(row), Code::kUnschedulable) << "a candidate for preemption";
  }
  p3_.pre_filter = Refuse(Status::Unresolvable("never"));
  outcome = bed.Schedule(pod);
  EXPECT_EQ(FitErrorMessage(std::get<Diagnosis>(outcome)), "0/2 nodes are available: never.");
  for (const NodeRow row : cluster_.NodeOrder()) {
    EXPECT_EQ(std::get<Diagnosis>(outcome).CodeOf(row), Code::kUnschedulableAndUnresolvable);
  }
}

TEST_F(EngineCases, Case22AWeightOfZeroIsOne) {
  AddNodes(2);
  p1_.score = [&](const Cycle&, NodeRow row) { return std::int64_t{cluster_.nodes().name(row) == "n2"}; };
  EngineBed bed(cluster_, registry_, {{"P1", 0}});
  const Explanation explanation = bed.engine().Explain({.pod = ThePod(), .step = 1});
  ASSERT_EQ(explanation.scores.size(), 1u);
  EXPECT_EQ(explanation.scores[0].weight, 1);
  EXPECT_THAT(explanation.totals, ElementsAre(0, 1));
}

TEST_F(EngineCases, Case22WhoSkipsBeforeScoringIsNotAskedForScores) {
  AddNodes(2);
  int asked = 0;
  p1_.score = [&](const Cycle&, NodeRow) { return std::int64_t{++asked}; };
  p1_.pre_score = [](Cycle&) { return Status::Skip(); };
  EngineBed bed(cluster_, registry_, Enabled({"P1"}));
  const PodSlot pod = ThePod();
  EXPECT_TRUE(bed.Answer(pod).starts_with("n"));
  EXPECT_EQ(asked, 0);
  const Explanation explanation = bed.engine().Explain({.pod = pod, .step = 2});
  EXPECT_THAT(explanation.scores, IsEmpty());
  EXPECT_THAT(explanation.totals, ElementsAre(0, 0));
}

// kube-scheduler takes the first of the best in its own order; berth draws among all of them, from its seed.
TEST_F(EngineCases, Case24OneOfTheBestTotalsWins) {
  struct Totals {
    std::vector<std::int64_t> given;
    std::vector<std::string> best;
  };
  const std::vector<Totals> cases = {{{5, 5, 5}, {"n1", "n2", "n3"}},
                                     {{3, 9, 9}, {"n2", "n3"}},
                                     {{1, 5, 2, 9, 9}, {"n4", "n5"}},
                                     {{1, 2, 7, 0, 0, 7}, {"n3", "n6"}}};
  for (const Totals& totals : cases) {
    cluster::Cluster cluster;
    for (std::size_t i = 1; i <= totals.given.size(); ++i) {
      cluster.SetNode(MakeNode("n" + std::to_string(i)).Ref());
    }
    p1_.score = [&](const Cycle& cycle, NodeRow row) {
      return totals.given[static_cast<std::size_t>(cycle.cluster().nodes().name(row)[1] - '1')];
    };
    EngineBed bed(cluster, registry_, Enabled({"P1"}));
    const PodSlot pod = *cluster.SetPending(MakePod("p").Record());
    std::set<std::string> chosen;
    for (int i = 0; i < 60; ++i) chosen.insert(bed.Answer(pod));
    EXPECT_THAT(chosen, testing::ElementsAreArray(totals.best));
  }
}

}  // namespace
}  // namespace berth::framework
