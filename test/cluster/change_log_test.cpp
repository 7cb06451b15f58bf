#include <cstdint>
#include <gtest/gtest.h>
#include <map>

#include "cluster/cluster.h"
#include "support/builders.h"

namespace berth::cluster {
namespace {

using test::MakeNode;
using test::MakePod;

class NodeChangesTest : public testing::Test {
 protected:
  NodeChangesTest() {
    row_ = cluster_.SetNode(MakeNode("n1").Cpu("4").Ref());
    version_ = cluster_.change_log().version();
  }
  // What changed about n1 since the last call.
  Facts Changed() {
    Facts facts = 0;
    EXPECT_TRUE(cluster_.change_log().Since(version_, [&](NodeRow row, Facts changed) {
      if (row == row_) facts |= changed;
    }));
    version_ = cluster_.change_log().version();
    return facts & ~kObjectFact;
  }

  Cluster cluster_;
  NodeRow row_;
  std::uint64_t version_ = 0;
};

TEST_F(NodeChangesTest, ANodeUpdateNamesWhatChanged) {
  cluster_.SetNode(MakeNode("n1").Cpu("4").Ref());
  EXPECT_EQ(Changed(), 0u) << "a heartbeat";
  cluster_.SetNode(MakeNode("n1").Cpu("8").Ref());
  EXPECT_EQ(Changed(), kResourcesFact);
  cluster_.SetNode(MakeNode("n1").Cpu("8").Label("a", "b").Ref());
  EXPECT_EQ(Changed(), kLabelsFact);
  cluster_.SetNode(MakeNode("n1").Cpu("8").Label("a", "b").Unschedulable().Ref());
  EXPECT_EQ(Changed(), kTaintsFact);
  cluster_.SetNode(MakeNode("n1").Cpu("8").Image("i", 1).Feature("f").Ref());
  EXPECT_EQ(Changed(), kLabelsFact | kTaintsFact | kImagesFact | kFeaturesFact);
  ASSERT_TRUE(cluster_.RemoveNode(MakeNode("n1")));
  EXPECT_TRUE(Changed() & kExistsFact);
}

TEST_F(NodeChangesTest, APlacementNamesWhatThePodTakes) {
  ASSERT_TRUE(cluster_.AddPod(MakePod("a").Cpu("1").Node("n1").Record()));
  EXPECT_EQ(Changed(), kResourcesFact | kPodsFact);
  ASSERT_TRUE(cluster_.AddPod(
      MakePod("b").HostPort(80).VolumeClaim("c").ResourceClaim("d", "e").Node("n1").Record()));
  EXPECT_EQ(Changed(), kResourcesFact | kPodsFact | kPortsFact | kVolumesFact | kDevicesFact);
}

TEST_F(NodeChangesTest, APodUpdateThatChangesNothingCountedIsNoChange) {
  ASSERT_TRUE(cluster_.AddPod(MakePod("a").Cpu("1").Node("n1").Record()));
  Changed();
  ASSERT_TRUE(
      cluster_.UpdatePod(MakePod("a").Cpu("1").Annotation("x", "y").Phase("Running").Node("n1").Record()));
  EXPECT_EQ(Changed(), 0u);
  ASSERT_TRUE(cluster_.UpdatePod(MakePod("a").Cpu("1").Label("x", "y").Node("n1").Record()));
  EXPECT_EQ(Changed(), kResourcesFact | kPodsFact);
}

TEST_F(NodeChangesTest, NominationsAreChangesOfTheNode) {
  const auto pod = cluster_.SetPending(MakePod("a").Record());
  cluster_.Nominate(*pod, "n1");
  EXPECT_EQ(Changed(), kNominationsFact);
  cluster_.ClearNomination(*pod);
  EXPECT_EQ(Changed(), kNominationsFact);
}

// A reader that looked during a trial must look again after it.
TEST_F(NodeChangesTest, ARollbackIsAChangeOfTheRowsItTouched) {
  const auto pod = cluster_.SetPending(MakePod("a").Cpu("1").Record());
  {
    Speculation trial(cluster_);
    trial.Place(*pod, row_);
    EXPECT_TRUE(Changed() & kResourcesFact);
  }
  EXPECT_TRUE(Changed() & kResourcesFact);
}

}  // namespace
}  // namespace berth::cluster
