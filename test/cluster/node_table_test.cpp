#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/cluster.h"
#include "support/builders.h"

// Numbers are those of the cases of the cycle chapter.
namespace berth::cluster {
namespace {

using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::string> Order(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const NodeRow row : cluster.NodeOrder()) names.emplace_back(cluster.nodes().name(row));
  return names;
}

// Ties are broken and samples taken along this order, so it is part of the decision.
TEST(NodeOrder, GoesRoundRobinOverZones) {
  Cluster cluster;
  for (const char* name : {"a1", "a2", "a3"}) cluster.SetNode(MakeNode(name).Zone("a").Ref());
  cluster.SetNode(MakeNode("b1").Zone("b").Ref());
  for (const char* name : {"c1", "c2"}) cluster.SetNode(MakeNode(name).Zone("c").Ref());
  EXPECT_THAT(Order(cluster), ElementsAre("a1", "b1", "c1", "a2", "c2", "a3"));
}

TEST(NodeOrder, Case01RoundRobinWhateverTheOrderOfArrival) {
  Cluster cluster;
  const auto add = [&](std::string name) {
    std::string zone = name.substr(0, 1);
    cluster.SetNode(MakeNode(std::move(name)).Zone(std::move(zone)).Ref());
  };
  for (const char* name : {"a1", "b1", "c1", "a2", "c2"}) add(name);
  EXPECT_THAT(Order(cluster), ElementsAre("a1", "b1", "c1", "a2", "c2"));
  ASSERT_TRUE(cluster.RemoveNode(MakeNode("b1").Zone("b")));
  add("b1");
  EXPECT_THAT(Order(cluster), ElementsAre("a1", "c1", "b1", "a2", "c2"));
}

TEST(NodeOrder, Case01AZoneThatReturnsGoesToTheEnd) {
  Cluster cluster;
  cluster.SetNode(MakeNode("a1").Zone("a").Ref());
  cluster.SetNode(MakeNode("b1").Zone("b").Ref());
  ASSERT_TRUE(cluster.RemoveNode(MakeNode("a1").Zone("a")));
  EXPECT_THAT(Order(cluster), ElementsAre("b1"));
  cluster.SetNode(MakeNode("a1").Zone("a").Ref());
  EXPECT_THAT(Order(cluster), ElementsAre("b1", "a1"));
}

// kube-scheduler's order follows only when a node comes or goes; here there is no snapshot to be behind.
TEST(NodeOrder, Case08ANodeThatChangesItsZoneGoesToTheEndOfTheNewOneAtOnce) {
  Cluster cluster;
  cluster.SetNode(MakeNode("a1").Zone("a").Ref());
  cluster.SetNode(MakeNode("a2").Zone("a").Ref());
  cluster.SetNode(MakeNode("b1").Zone("b").Ref());
  cluster.SetNode(MakeNode("a1").Zone("b").Ref());
  EXPECT_THAT(Order(cluster), ElementsAre("a2", "b1", "a1"));
  cluster.SetNode(MakeNode("c1").Zone("c").Ref());
  EXPECT_THAT(Order(cluster), ElementsAre("a2", "b1", "c1", "a1"));
}

TEST(NodeOrder, AnUpdateInTheSameZoneChangesNothing) {
  Cluster cluster;
  cluster.SetNode(MakeNode("a1").Zone("a").Ref());
  cluster.SetNode(MakeNode("a2").Zone("a").Ref());
  cluster.SetNode(MakeNode("a1").Zone("a").Cpu("2").Ref());
  EXPECT_THAT(Order(cluster), ElementsAre("a1", "a2"));
}

TEST(NodeOrder, RemovalsInAnyOrderKeepTheRest) {
  Cluster cluster;
  for (int i = 0; i < 8; ++i) cluster.SetNode(MakeNode("n" + std::to_string(i)).Zone("a").Ref());
  for (const char* name : {"n1", "n6", "n2", "n0", "n5"})
    ASSERT_TRUE(cluster.RemoveNode(MakeNode(name).Zone("a")));
  EXPECT_THAT(Order(cluster), ElementsAre("n3", "n4", "n7"));
  cluster.SetNode(MakeNode("n8").Zone("a").Ref());
  ASSERT_TRUE(cluster.RemoveNode(MakeNode("n4").Zone("a")));
  EXPECT_THAT(Order(cluster), ElementsAre("n3", "n7", "n8"));
}

TEST(ZoneKeyTest, Case02OlderLabelsWinByPresence) {
  EXPECT_EQ(ZoneKey({}), "");
  EXPECT_EQ(ZoneKey({{"failure-domain.beta.kubernetes.io/zone", "z"}, {"topology.kubernetes.io/zone", "y"}}),
            std::string(":\0:z", 4));
  EXPECT_EQ(ZoneKey({{"topology.kubernetes.io/zone", "z"}}), std::string(":\0:z", 4));
  EXPECT_EQ(ZoneKey({{"topology.kubernetes.io/region", "r"},
                     {"failure-domain.beta.kubernetes.io/zone", "old"},
                     {"topology.kubernetes.io/zone", "new"}}),
            std::string("r:\0:old", 7));
  EXPECT_EQ(ZoneKey({{"failure-domain.beta.kubernetes.io/zone", ""}, {"topology.kubernetes.io/zone", "new"}}),
            "");
}

TEST(NodeTableTest, ColumnsHoldWhatTheNodeOffersAndItsPodsRequest) {
  Cluster cluster;
  const NodeRow row = cluster.SetNode(
      MakeNode("n1").Cpu("3500m").Memory("8Gi").Pods("20").Allocatable("example.com/gpu", "4").Ref());
  ASSERT_TRUE(cluster.AddPod(MakePod("a").Cpu("1").Request("example.com/gpu", "1").Node("n1").Record()));
  ASSERT_TRUE(cluster.AddPod(MakePod("b").Memory("1Gi").Node("n1").Record()));
  const NodeTable& nodes = cluster.nodes();
  const ResourceId gpu = cluster.resources().Find("example.com/gpu");
  ASSERT_TRUE(gpu.IsValid());
  EXPECT_EQ(nodes.allocatable(kCpu)[row.index()], 3500);
  EXPECT_EQ(nodes.allocatable(gpu)[row.index()], 4);
  EXPECT_EQ(nodes.pod_limit()[row.index()], 20);
  EXPECT_EQ(nodes.requested(kCpu)[row.index()], 1000);
  EXPECT_EQ(nodes.requested(kMemory)[row.index()], 1 << 30);
  EXPECT_EQ(nodes.requested(gpu)[row.index()], 1);
  EXPECT_EQ(nodes.pod_count()[row.index()], 2);
  // 1 cpu and the default of 100m; 1Gi and the default of 200Mi.
  EXPECT_EQ(nodes.non_zero_milli_cpu()[row.index()], 1100);
  EXPECT_EQ(nodes.non_zero_memory()[row.index()], (1 << 30) + 209715200);
}

TEST(NodeTableTest, ANodeThatStopsOfferingAResourceOffersNoneOfIt) {
  Cluster cluster;
  const NodeRow row = cluster.SetNode(MakeNode("n1").Allocatable("example.com/gpu", "4").Ref());
  ASSERT_TRUE(cluster.SetPending(MakePod("a").Request("example.com/gpu", "1").Record()));
  cluster.SetNode(MakeNode("n1").Ref());
  EXPECT_EQ(cluster.nodes().allocatable(cluster.resources().Find("example.com/gpu"))[row.index()], 0);
}

// A cluster may have as many such resources as nodes.
TEST(NodeTableTest, AResourceOfOneNodeTakesNoPlaceOnTheOthers) {
  Cluster cluster;
  std::vector<NodeRow> rows;
  const auto own = [](int i) { return "example.com/own-" + std::to_string(i); };
  for (int i = 0; i < 200; ++i) {
    rows.push_back(cluster.SetNode(MakeNode("n" + std::to_string(i)).Allocatable(own(i), "3").Ref()));
  }
  ASSERT_TRUE(cluster.AddPod(MakePod("a").Request(own(150), "2").Node("n150").Record()));
  std::vector<std::pair<std::string_view, std::int64_t>> scalars;
  cluster.nodes().ForEachAmount(rows[150],
                                [&](ResourceId resource, std::int64_t offered, std::int64_t taken) {
                                  if (resource.value() > kPods.value())
                                    scalars.emplace_back(cluster.resources().Name(resource), offered - taken);
                                });
  EXPECT_THAT(scalars, ElementsAre(Pair(own(150), 1)));
  const AmountColumn column = cluster.nodes().allocatable(cluster.resources().Find(own(150)));
  EXPECT_EQ(column[rows[0].index()], 0);
  EXPECT_EQ(column[rows[150].index()], 3);
}

// Preemption asks what would be free if all pods of lower priority went.
TEST(NodeTableTest, RequestsAreSummedByPriority) {
  Cluster cluster;
  const NodeRow row = cluster.SetNode(MakeNode("n1").Ref());
  ASSERT_TRUE(cluster.AddPod(
      MakePod("low").Cpu("1").Request("example.com/gpu", "2").Priority(-5).Node("n1").Record()));
  ASSERT_TRUE(cluster.AddPod(MakePod("mid").Cpu("2").Node("n1").Record()));
  ASSERT_TRUE(cluster.AddPod(MakePod("high").Cpu("3").Priority(100).Node("n1").Record()));
  const NodeTable& nodes = cluster.nodes();
  const ResourceId gpu = cluster.resources().Find("example.com/gpu");
  EXPECT_EQ(nodes.RequestedBelow(row, -5, kCpu), 0);
  EXPECT_EQ(nodes.RequestedBelow(row, 0, kCpu), 1000);
  EXPECT_EQ(nodes.RequestedBelow(row, 100, kCpu), 3000);
  EXPECT_EQ(nodes.RequestedBelow(row, 101, kCpu), 6000);
  EXPECT_EQ(nodes.RequestedBelow(row, 0, gpu), 2);
  EXPECT_EQ(nodes.PodsBelow(row, 100), 2);
  ASSERT_TRUE(cluster.RemovePod(*MakePod("mid").Node("n1").Record()));
  EXPECT_EQ(nodes.by_priority(row).size(), 2u);
}

TEST(GhostNode, Case04HoldsPodsOfANodeThatIsNotThereYet) {
  Cluster cluster;
  ASSERT_TRUE(cluster.AddPod(MakePod("web").Cpu("1").Node("n1").Record()));
  const NodeRow row = cluster.nodes().Find("n1");
  EXPECT_TRUE(cluster.nodes().IsGhost(row));
  EXPECT_THAT(Order(cluster), IsEmpty());
  cluster.SetNode(MakeNode("n1").Ref());
  EXPECT_EQ(cluster.nodes().Find("n1"), row);
  EXPECT_TRUE(cluster.nodes().exists(row));
  EXPECT_EQ(cluster.nodes().requested(kCpu)[row.index()], 1000);
  EXPECT_EQ(cluster.nodes().pod_count()[row.index()], 1);
}

TEST(GhostNode, Case03GoesWithItsLastPod) {
  Cluster cluster;
  cluster.SetNode(MakeNode("n1").Zone("a").Ref());
  ASSERT_TRUE(cluster.AddPod(MakePod("web").Node("n1").Record()));
  ASSERT_TRUE(cluster.RemoveNode(MakeNode("n1").Zone("a")));
  const auto held = cluster.nodes().Version(cluster.nodes().Find("n1"));
  EXPECT_TRUE(cluster.nodes().IsGhost(held.id));
  EXPECT_THAT(Order(cluster), IsEmpty()) << "no decision sees it";
  EXPECT_FALSE(cluster.RemoveNode(MakeNode("n1").Zone("a"))) << "it is gone already";
  ASSERT_TRUE(cluster.RemovePod(*MakePod("web").Node("n1").Record()));
  EXPECT_FALSE(cluster.nodes().Find("n1").IsValid());
  cluster.SetNode(MakeNode("n2").Ref());
  EXPECT_FALSE(cluster.nodes().IsCurrent(held));
}

TEST(RemoveNode, Case03OfAnUnknownNodeOrAGhostIsAnError) {
  Cluster cluster;
  const auto unknown = cluster.RemoveNode(MakeNode("n1"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "node n1 is not found");
  ASSERT_TRUE(cluster.AddPod(MakePod("web").Node("n1").Record()));
  const auto ghost = cluster.RemoveNode(MakeNode("n1").Region("r").Zone("z"));
  ASSERT_FALSE(ghost);
  EXPECT_EQ(ghost.error().message, "node \"n1\" in group \"r:\\x00:z\" was not found");
}

// How many nodes have the image is counted now, also for a node that did not change since.
TEST(ImageState, Case07SizeIsThatOfTheFirstReporterUntilNoNodeHasTheImage) {
  Cluster cluster;
  cluster.SetNode(MakeNode("n1").Image("app:1", 100).Image("app:1", 150).Ref());
  cluster.SetNode(MakeNode("n2").Image("app:1", 200).Ref());
  const ImageTable& images = cluster.images();
  EXPECT_EQ(images.SizeBytes(images.Find("app:1")), 100);
  EXPECT_EQ(images.NodeCount(images.Find("app:1")), 2u);
  ASSERT_TRUE(cluster.RemoveNode(MakeNode("n1")));
  EXPECT_EQ(images.SizeBytes(images.Find("app:1")), 100);
  EXPECT_EQ(images.NodeCount(images.Find("app:1")), 1u);
  // The only node that has it reports anew: as if nobody had had it.
  cluster.SetNode(MakeNode("n2").Image("app:1", 300).Ref());
  EXPECT_EQ(images.SizeBytes(images.Find("app:1")), 300);
  cluster.SetNode(MakeNode("n2").Ref());
  EXPECT_FALSE(images.Find("app:1").IsValid());
}

TEST(HostPorts, ConflictByProtocolPortAndAddress) {
  const HostPort any{.ip = "0.0.0.0", .protocol = "TCP", .port = 80};
  const HostPort one{.ip = "10.0.0.1", .protocol = "TCP", .port = 80};
  const HostPort two{.ip = "10.0.0.2", .protocol = "TCP", .port = 80};
  EXPECT_TRUE(Conflict(any, one));
  EXPECT_TRUE(Conflict(one, any));
  EXPECT_TRUE(Conflict(one, one));
  EXPECT_FALSE(Conflict(one, two));
  EXPECT_FALSE(Conflict(any, {.ip = "0.0.0.0", .protocol = "UDP", .port = 80}));
  EXPECT_FALSE(Conflict({.ip = "::", .protocol = "TCP", .port = 80}, one));
}

// Two pods were bound with one port in spite of the conflict: when one goes the port is still taken.
TEST(HostPorts, APortHeldTwiceIsFreeWhenBothAreGone) {
  Cluster cluster;
  const NodeRow row = cluster.SetNode(MakeNode("n1").Ref());
  ASSERT_TRUE(cluster.AddPod(MakePod("a").HostPort(80).Node("n1").Record()));
  ASSERT_TRUE(cluster.AddPod(MakePod("b").HostPort(80).Node("n1").Record()));
  ASSERT_TRUE(cluster.RemovePod(*MakePod("a").Node("n1").Record()));
  ASSERT_EQ(cluster.nodes().ports(row).size(), 1u);
  EXPECT_EQ(cluster.ports().Get(cluster.nodes().ports(row).front().port).port, 80);
  ASSERT_TRUE(cluster.RemovePod(*MakePod("b").Node("n1").Record()));
  EXPECT_THAT(cluster.nodes().ports(row), IsEmpty());
}

TEST(HostPorts, AWantedPortFindsTheOnesItConflictsWith) {
  Cluster cluster;
  ASSERT_TRUE(cluster.AddPod(MakePod("a").HostPort(80, "TCP", "10.0.0.1").Node("n1").Record()));
  ASSERT_TRUE(cluster.AddPod(MakePod("b").HostPort(80, "UDP").Node("n1").Record()));
  const auto slot = cluster.SetPending(MakePod("c").HostPort(80).Record());
  ASSERT_TRUE(slot);
  const auto conflicting = cluster.ports().Conflicting(cluster.host_ports(*slot));
  // With the other pod's, and with its own.
  ASSERT_EQ(conflicting.size(), 2u);
  EXPECT_EQ(cluster.ports().Get(conflicting[0]).ip, "10.0.0.1");
  EXPECT_EQ(conflicting[1], cluster.host_ports(*slot).front());
}

}  // namespace
}  // namespace berth::cluster
