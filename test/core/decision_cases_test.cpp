#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "core/fake_api.h"
#include "core/scripted_plugin.h"
#include "framework/profile.h"
#include "plugins/all_plugins.h"

// What decisions come to with whole profiles, case by case; numbers are those of the cycle chapter.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using framework::Status;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";

// The pod that is to come would be company; but it may not come, and then there is none.
TEST(NominatedCompany, Case17APodThatIsOnlyExpectedIsNoCompany) {
  FakeApi api;
  api.Create(Node("n1", "8").Zone("a"));
  // At a gate, so that it is not tried itself.
  api.Create(Pod("db", 10).Label("app", "db").Gate("held").NominatedNode("n1"));
  api.Create(Pod("web", 1).Affinity(berth::test::MakeTerm(std::string(kZone)).Label("app", "db")));
  api.Settle();
  EXPECT_EQ(api.node_of("web"), "");
  EXPECT_THAT(api.MessageOf("web"),
              HasSubstr("0/1 nodes are available: 1 node(s) didn't match pod affinity rules."));

  api.Create(Pod("other-db", 10).Label("app", "db").Node("n1"));
  api.Run(20s);
  EXPECT_EQ(api.node_of("web"), "n1") << "one that is there is company";
}

TEST(Messages, Case19PreFiltersWordsThenPostFiltersWithoutAPeriod) {
  test::Scripts scripts;
  scripts.of["A"].pre_filter = [] {
    return framework::PreFilterResult{.status = Status::Unschedulable("the moon is wrong")};
  };
  FakeApi api(test::Scripted(scripts, {"PrioritySort", "A", "DefaultPreemption", "DefaultBinder"}));
  for (const char* name : {"n1", "n2", "n3"}) api.Create(Node(name));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(
      api.MessageOf("web"),
      "0/3 nodes are available: the moon is wrong. preemption: 0/3 nodes are available: 3 No preemption "
      "victims found for incoming pod.");

  api.Create(Pod("never").PreemptionPolicy("Never"));
  api.Settle();
  EXPECT_EQ(api.MessageOf("never"),
            "0/3 nodes are available: the moon is wrong. preemption: not eligible due to "
            "preemptionPolicy=Never.");
}

// kube-scheduler remembers the second best node for a pod like the last one, in profiles without default
// spreading, under conditions. berth does not batch: every decision is one about all nodes, and comes to the
// nodes that the batch would have had, or the search without one.
class EqualPods : public testing::Test {
 protected:
  static SchedulerOptions Options() {
    const framework::Registry registry = plugins::AllPlugins();
    SchedulerOptions options;
    framework::PluginArgs args;
    args.pod_topology_spread.defaulting = framework::SpreadDefaulting::kList;
    cluster::Cluster aside;
    std::vector<framework::EnabledPlugin> enabled = framework::DefaultPlugins(options.features);
    std::erase_if(enabled, [&](const auto& plugin) { return !registry.Contains(plugin.name); });
    for (const char* name : {"default-scheduler", "other"}) {
      options.profiles.push_back(
          *framework::ExpandEverywhere(enabled, registry, {options.features, args, aside}));
      options.profiles.back().scheduler_name = name;
      options.profiles.back().args = args;
    }
    return options;
  }
  void AddNodes(std::string_view cpu) {
    for (const char* name : {"n1", "n2", "n3"}) api_.Create(Node(name, cpu).Label("node", name));
  }
  // Would be on n1 most of all, then n2, then n3.
  static berth::test::PodBuilder Picky(std::string name) {
    const auto on = [](std::string node) {
      return api::NodeSelectorTerm{.match_expressions = {{"node", "In", {std::move(node)}}},
                                   .match_fields = {}};
    };
    return Pod(std::move(name)).PreferNodes(100, on("n1")).PreferNodes(50, on("n2"));
  }
  std::string PlaceFor(const berth::test::PodBuilder& pod) {
    const std::string name = pod.Record()->name;
    api_.Create(pod);
    api_.Settle();
    return api_.node_of(name);
  }

  FakeApi api_{Options()};
};

TEST_F(EqualPods, Case25EachGetsTheBestNodeThatIsLeft) {
  AddNodes("1");
  EXPECT_EQ(PlaceFor(Picky("a")), "n1");
  EXPECT_EQ(PlaceFor(Picky("b")), "n2");
  EXPECT_EQ(PlaceFor(Picky("c")), "n3");
  EXPECT_THAT(api_.metrics(), Not(HasSubstr("scheduler_batch_"))) << "there is no batch to count";
}

TEST_F(EqualPods, Case25ANodeWithRoomForTwoIsScoredAgain) {
  AddNodes("2");
  EXPECT_EQ(PlaceFor(Picky("a")), "n1");
  EXPECT_EQ(PlaceFor(Picky("b")), "n1");
  EXPECT_EQ(PlaceFor(Picky("c")), "n2");
}

TEST_F(EqualPods, Case26APodOfAnotherKindGetsItsOwnBestNode) {
  AddNodes("1");
  EXPECT_EQ(PlaceFor(Picky("a")), "n1");
  EXPECT_EQ(PlaceFor(Pod("other").NodeSelector("node", "n3")), "n3");
  EXPECT_EQ(PlaceFor(Picky("b")), "n2");
}

TEST_F(EqualPods, Case26APodOfAnotherProfileInBetween) {
  AddNodes("1");
  EXPECT_EQ(PlaceFor(Picky("a")), "n1");
  EXPECT_EQ(PlaceFor(Picky("other").SchedulerName("other")), "n2");
  EXPECT_EQ(PlaceFor(Picky("b")), "n3");
}

TEST_F(EqualPods, Case26ANominatedNodeComesFirst) {
  AddNodes("1");
  EXPECT_EQ(PlaceFor(Picky("a")), "n1");
  EXPECT_EQ(PlaceFor(Picky("b").NominatedNode("n3")), "n3");
}

TEST_F(EqualPods, Case26WhatIsRememberedDoesNotAge) {
  AddNodes("1");
  EXPECT_EQ(PlaceFor(Picky("a")), "n1");
  api_.Run(501ms);
  EXPECT_EQ(PlaceFor(Picky("b")), "n2");
}

TEST_F(EqualPods, Case26AfterAPodThatFailed) {
  AddNodes("1");
  EXPECT_EQ(PlaceFor(Picky("a")), "n1");
  EXPECT_EQ(PlaceFor(Picky("big").Cpu("3")), "");
  EXPECT_EQ(PlaceFor(Picky("b")), "n2");
}

TEST_F(EqualPods, Case27ANodeThatIsGoneIsNobodysSecondBest) {
  AddNodes("1");
  EXPECT_EQ(PlaceFor(Picky("a")), "n1");
  api_.DeleteNode("n2");
  EXPECT_EQ(PlaceFor(Picky("b")), "n3");
}

}  // namespace
}  // namespace berth::core
