#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "support/builders.h"

namespace berth::cluster {
namespace {

using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;

// Keeps a journal of its own: how volumes and devices will join.
class Recorder final : public Extension {
 public:
  void OnPodPlaced(PodSlot pod, NodeRow row) override { calls.push_back("+" + Call(pod, row)); }
  void OnPodDisplaced(PodSlot pod, NodeRow row) override { calls.push_back("-" + Call(pod, row)); }
  void OnNodeChanged(NodeRow row, Facts) override { calls.push_back("n" + std::to_string(row.value())); }
  void AddTo(Digester& digest) const override { digest.Add(0); }

  std::vector<std::string> calls;

 private:
  static std::string Call(PodSlot pod, NodeRow row) {
    return std::to_string(pod.value()) + "@" + std::to_string(row.value());
  }
};

TEST(SpeculationTest, PreemptionCanTryAndGoBack) {
  Cluster cluster;
  const NodeRow row = cluster.SetNode(MakeNode("n1").Cpu("2").Ref());
  for (const char* name : {"a", "b", "c"})
    ASSERT_TRUE(cluster.AddPod(MakePod(name).Cpu("500m").Node("n1").Record()));
  const auto pod = cluster.SetPending(MakePod("big").Cpu("2").Priority(10).Record());
  const std::vector<PodSlot> before(cluster.nodes().pods(row).begin(), cluster.nodes().pods(row).end());
  const std::uint64_t digest = cluster.Digest();
  {
    Speculation trial(cluster);
    for (const char* name : {"uid-a", "uid-c", "uid-b"}) trial.Displace(cluster.pods().Find(name));
    trial.Place(*pod, row);
    EXPECT_EQ(cluster.nodes().requested(kCpu)[row.index()], 2000);
    EXPECT_EQ(cluster.nodes().PodsBelow(row, 10), 0);
    EXPECT_EQ(cluster.pods().state(cluster.pods().Find("uid-a")), PodState::kAdded);
    // One victim is spared after all.
    trial.Place(cluster.pods().Find("uid-b"), row);
  }
  EXPECT_EQ(cluster.Digest(), digest);
  EXPECT_EQ(cluster.nodes().requested(kCpu)[row.index()], 1500);
  EXPECT_EQ(std::vector<PodSlot>(cluster.nodes().pods(row).begin(), cluster.nodes().pods(row).end()), before);
}

TEST(SpeculationTest, NestedTrialsEndOneByOne) {
  Cluster cluster;
  const NodeRow row = cluster.SetNode(MakeNode("n1").Ref());
  const auto a = cluster.SetPending(MakePod("a").Record());
  const auto b = cluster.SetPending(MakePod("b").Record());
  Speculation outer(cluster);
  outer.Place(*a, row);
  {
    Speculation inner(cluster);
    inner.Place(*b, row);
    EXPECT_EQ(cluster.nodes().pod_count()[row.index()], 2);
  }
  EXPECT_EQ(cluster.nodes().pod_count()[row.index()], 1);
  EXPECT_TRUE(cluster.speculating());
  outer.RollBack();
  EXPECT_EQ(cluster.nodes().pod_count()[row.index()], 0);
  EXPECT_FALSE(cluster.speculating());
}

TEST(SpeculationTest, ExtensionsSeeTheOppositeCallsInTheOppositeOrder) {
  Recorder recorder;
  Cluster cluster;
  cluster.AddExtension(recorder);
  cluster.SetNode(MakeNode("n1").Ref());
  const NodeRow row = cluster.nodes().Find("n1");
  ASSERT_TRUE(cluster.AddPod(MakePod("a").Node("n1").Record()));
  const auto b = cluster.SetPending(MakePod("b").Record());
  recorder.calls.clear();
  {
    Speculation trial(cluster);
    trial.Displace(cluster.pods().Find("uid-a"));
    trial.Place(*b, row);
  }
  EXPECT_THAT(recorder.calls, ElementsAre("-0@0", "+1@0", "-1@0", "+0@0"));
}

TEST(SpeculationTest, NominationsGoBackToTheirPlace) {
  Cluster cluster;
  cluster.SetNode(MakeNode("n1").Ref());
  const auto a = cluster.SetPending(MakePod("a").Record());
  const auto b = cluster.SetPending(MakePod("b").Record());
  cluster.Nominate(*a, "n1");
  cluster.Nominate(*b, "n1");
  {
    Speculation trial(cluster);
    cluster.Nominate(*a, "not-there");
    cluster.ClearNomination(*b);
    EXPECT_TRUE(cluster.NominatedTo(cluster.nodes().Find("n1")).empty());
  }
  EXPECT_THAT(cluster.NominatedTo(cluster.nodes().Find("n1")), ElementsAre(*a, *b));
}

TEST(SpeculationTest, ClaimsAndPrioritiesFollow) {
  Cluster cluster;
  const NodeRow row = cluster.SetNode(MakeNode("n1").Ref());
  ASSERT_TRUE(cluster.AddPod(MakePod("a").VolumeClaim("data").Priority(5).Node("n1").Record()));
  const ClaimId claim = cluster.pods().FindClaim("default/data");
  {
    Speculation trial(cluster);
    trial.Displace(cluster.pods().Find("uid-a"));
    EXPECT_EQ(cluster.pods().ClaimUse(claim), 0);
    EXPECT_TRUE(cluster.nodes().by_priority(row).empty());
  }
  EXPECT_EQ(cluster.pods().ClaimUse(claim), 1);
  EXPECT_EQ(cluster.nodes().by_priority(row).front().priority, 5);
}

}  // namespace
}  // namespace berth::cluster
