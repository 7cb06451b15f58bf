#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "support/builders.h"

namespace berth::cluster {
namespace {

using test::MakeNode;
using testing::UnorderedElementsAre;

using berth::test::kZone;

DomainId DomainOf(const Cluster& cluster, TopologyKeyId key, std::string_view value) {
  return cluster.topology().FindDomain(key, cluster.labels().FindValue(value));
}

TEST(TopologyTest, AColumnIsMadeFromTheNodesThatAreThere) {
  Cluster cluster;
  const NodeRow a = cluster.SetNode(MakeNode("a").Zone("z1").Ref());
  const NodeRow b = cluster.SetNode(MakeNode("b").Zone("z1").Ref());
  const NodeRow c = cluster.SetNode(MakeNode("c").Ref());
  const TopologyKeyId key = cluster.AcquireTopologyKey(kZone);
  const Topology& topology = cluster.topology();
  EXPECT_EQ(topology.domain(key, a), topology.domain(key, b));
  EXPECT_FALSE(topology.domain(key, c).IsValid());
  EXPECT_EQ(topology.domain_count(key), 1u);
  EXPECT_THAT(topology.nodes(key, topology.domain(key, a)), UnorderedElementsAre(a, b));
}

TEST(TopologyTest, AnEmptyValueIsADomainAndNoLabelIsNone) {
  Cluster cluster;
  const TopologyKeyId key = cluster.AcquireTopologyKey(kZone);
  const NodeRow empty = cluster.SetNode(MakeNode("a").Zone("").Ref());
  const NodeRow none = cluster.SetNode(MakeNode("b").Ref());
  EXPECT_TRUE(cluster.topology().domain(key, empty).IsValid());
  EXPECT_FALSE(cluster.topology().domain(key, none).IsValid());
}

TEST(TopologyTest, ARelabelledNodeMovesAndAnEmptyDomainGoes) {
  Cluster cluster;
  const TopologyKeyId key = cluster.AcquireTopologyKey(kZone);
  const NodeRow a = cluster.SetNode(MakeNode("a").Zone("z1").Ref());
  const NodeRow b = cluster.SetNode(MakeNode("b").Zone("z2").Ref());
  cluster.SetNode(MakeNode("a").Zone("z2").Ref());
  EXPECT_FALSE(DomainOf(cluster, key, "z1").IsValid());
  EXPECT_THAT(cluster.topology().nodes(key, DomainOf(cluster, key, "z2")), UnorderedElementsAre(a, b));
  ASSERT_TRUE(cluster.RemoveNode(MakeNode("b").Zone("z2")));
  EXPECT_THAT(cluster.topology().nodes(key, DomainOf(cluster, key, "z2")), UnorderedElementsAre(a));
}

TEST(TopologyTest, AKeyIsKeptWhileItIsHeld) {
  Cluster cluster;
  cluster.SetNode(MakeNode("a").Zone("z1").Ref());
  const TopologyKeyId key = cluster.AcquireTopologyKey(kZone);
  EXPECT_EQ(cluster.AcquireTopologyKey(kZone), key);
  cluster.ReleaseTopologyKey(key);
  EXPECT_EQ(cluster.topology().Find(kZone), key);
  cluster.ReleaseTopologyKey(key);
  EXPECT_FALSE(cluster.topology().Find(kZone).IsValid());
}

TEST(EligibilityTest, FollowsLabelsAndTaintsOfNodes) {
  Cluster cluster;
  const NodeRow a = cluster.SetNode(MakeNode("a").Zone("z1").Ref());
  const TopologyKeyId key = cluster.AcquireTopologyKey(kZone);
  int asked = 0;
  const auto untainted = [&](NodeRow row) {
    ++asked;
    return cluster.taints().Taints(cluster.nodes().taint_set()[row.index()]).empty();
  };
  const EligibilityId id = cluster.UseEligibility("untainted", untainted, 1);
  EXPECT_EQ(cluster.UseEligibility("untainted", untainted, 1), id);
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(cluster.eligibility().Contains(id, a));

  cluster.SetNode(MakeNode("a").Zone("z1").Taint("gone", "", "NoSchedule").Ref());
  EXPECT_FALSE(cluster.eligibility().Contains(id, a));
  const NodeRow b = cluster.SetNode(MakeNode("b").Zone("z1").Ref());
  EXPECT_TRUE(cluster.eligibility().Contains(id, b));
  asked = 0;
  cluster.SetNode(MakeNode("b").Zone("z1").Cpu("4").Ref());
  EXPECT_EQ(asked, 0) << "a heartbeat is no reason to ask again";
  ASSERT_TRUE(cluster.RemoveNode(MakeNode("b").Zone("z1")));
  EXPECT_FALSE(cluster.eligibility().Contains(id, b));
  cluster.ReleaseTopologyKey(key);
}

}  // namespace
}  // namespace berth::cluster
