#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "cluster/cluster.h"
#include "support/builders.h"

// The states of a pod in the scheduler's cache, cell by cell. Errors are upstream's words, which operators
// search for. Numbers are those of the cases of the cycle chapter.
namespace berth::cluster {
namespace {

using test::MakeNode;
using test::MakePod;

enum class From { kAbsent, kPending, kAssumed, kAdded };

class StateMachineTest : public testing::Test {
 protected:
  StateMachineTest() { cluster_.SetNode(MakeNode("n1").Cpu("4").Ref()); }

  // The pod "web" in the given state; on n1 if it is on a node.
  void Begin(From from) {
    if (from == From::kPending || from == From::kAssumed) {
      ASSERT_TRUE(cluster_.SetPending(MakePod("web").Cpu("1").Record()));
    }
    if (from == From::kAssumed) {
      ASSERT_TRUE(cluster_.Assume(Slot(), "n1"));
    }
    if (from == From::kAdded) {
      ASSERT_TRUE(cluster_.AddPod(MakePod("web").Cpu("1").Node("n1").Record()));
    }
  }
  PodSlot Slot() const { return cluster_.pods().Find("uid-web"); }
  std::int64_t CpuOn(std::string_view node) const {
    const NodeRow row = cluster_.nodes().Find(node);
    return row.IsValid() ? cluster_.nodes().requested(kCpu)[row.index()] : 0;
  }
  static std::string ErrorOf(const base::Result<void>& result) {
    return result ? "" : result.error().message;
  }

  Cluster cluster_;
};

TEST_F(StateMachineTest, Case04AssumeTakesOnlyPendingPods) {
  Begin(From::kPending);
  EXPECT_EQ(ErrorOf(cluster_.Assume(Slot(), "n1")), "");
  EXPECT_EQ(cluster_.pods().state(Slot()), PodState::kAssumed);
  EXPECT_EQ(CpuOn("n1"), 1000);
  EXPECT_EQ(ErrorOf(cluster_.Assume(Slot(), "n1")),
            "pod uid-web(default/web) is in the cache, so can't be assumed");
  EXPECT_EQ(CpuOn("n1"), 1000);
}

TEST_F(StateMachineTest, AddedPodCannotBeAssumed) {
  Begin(From::kAdded);
  EXPECT_EQ(ErrorOf(cluster_.Assume(Slot(), "n1")),
            "pod uid-web(default/web) is in the cache, so can't be assumed");
}

TEST_F(StateMachineTest, ForgetTakesAnAssumedPodBackToPending) {
  Begin(From::kAssumed);
  EXPECT_EQ(ErrorOf(cluster_.Forget("uid-web", "n2")),
            "pod uid-web(default/web) was assumed on n2 but assigned to n1");
  EXPECT_EQ(ErrorOf(cluster_.Forget("uid-web", "n1")), "");
  EXPECT_EQ(cluster_.pods().state(Slot()), PodState::kPending);
  EXPECT_EQ(CpuOn("n1"), 0);
}

TEST_F(StateMachineTest, Case05ForgetOfAnUnknownPodDoesNothing) {
  EXPECT_EQ(ErrorOf(cluster_.Forget("uid-web", "n1")), "");
}

TEST_F(StateMachineTest, ForgetRefusesAnAddedPod) {
  Begin(From::kAdded);
  EXPECT_EQ(ErrorOf(cluster_.Forget("uid-web", "n1")),
            "pod uid-web(default/web) is not assumed, so it cannot be removed or forgotten");
}

TEST_F(StateMachineTest, RemoveAssumedRemovesAltogether) {
  Begin(From::kAssumed);
  EXPECT_EQ(ErrorOf(cluster_.RemoveAssumed("uid-web", "n1")), "");
  EXPECT_FALSE(Slot().IsValid());
  EXPECT_EQ(CpuOn("n1"), 0);
  EXPECT_EQ(ErrorOf(cluster_.RemoveAssumed("uid-web", "n1")), "");
}

TEST_F(StateMachineTest, RemoveAssumedRefusesAnAddedPod) {
  Begin(From::kAdded);
  EXPECT_EQ(ErrorOf(cluster_.RemoveAssumed("uid-web", "n1")),
            "pod uid-web(default/web) is not assumed, so it cannot be removed or forgotten");
}

TEST_F(StateMachineTest, Case05AddPodConfirmsWhereverThePodWasAssumed) {
  Begin(From::kAssumed);
  EXPECT_EQ(ErrorOf(cluster_.AddPod(MakePod("web").Cpu("2").Node("n2").Record())), "");
  EXPECT_EQ(cluster_.pods().state(Slot()), PodState::kAdded);
  EXPECT_EQ(CpuOn("n1"), 0);
  EXPECT_EQ(CpuOn("n2"), 2000);
}

TEST_F(StateMachineTest, AddPodTakesThePodFromTheWaitingOnes) {
  Begin(From::kPending);
  const PodSlot slot = Slot();
  EXPECT_EQ(ErrorOf(cluster_.AddPod(MakePod("web").Cpu("1").Node("n1").Record())), "");
  EXPECT_EQ(Slot(), slot);
  EXPECT_EQ(cluster_.pods().count(PodState::kPending), 0u);
  EXPECT_EQ(CpuOn("n1"), 1000);
}

TEST_F(StateMachineTest, AddPodTwiceIsAnError) {
  Begin(From::kAdded);
  EXPECT_EQ(ErrorOf(cluster_.AddPod(MakePod("web").Node("n1").Record())),
            "pod uid-web(default/web) was already in added state");
}

TEST_F(StateMachineTest, UpdatePodNeedsAnAddedPod) {
  const PodRecordRef update = MakePod("web").Cpu("2").Node("n1").Record();
  const std::string unknown =
      "pod uid-web(default/web) is not added to scheduler cache, so cannot be updated";
  EXPECT_EQ(ErrorOf(cluster_.UpdatePod(update)), unknown);
  Begin(From::kPending);
  EXPECT_EQ(ErrorOf(cluster_.UpdatePod(update)), unknown);
  ASSERT_TRUE(cluster_.Assume(Slot(), "n1"));
  EXPECT_EQ(ErrorOf(cluster_.UpdatePod(update)), "assumed pod uid-web(default/web) should not be updated");
  ASSERT_TRUE(cluster_.AddPod(MakePod("web").Cpu("1").Node("n1").Record()));
  EXPECT_EQ(ErrorOf(cluster_.UpdatePod(update)), "");
  EXPECT_EQ(CpuOn("n1"), 2000);
}

TEST_F(StateMachineTest, UpdateOnAnotherNodeIsReportedAndMended) {
  Begin(From::kAdded);
  EXPECT_EQ(ErrorOf(cluster_.UpdatePod(MakePod("web").Cpu("1").Node("n2").Record())),
            "pod uid-web(default/web) updated on a different node than previously added to");
  EXPECT_EQ(CpuOn("n1"), 0);
  EXPECT_EQ(CpuOn("n2"), 1000);
}

TEST_F(StateMachineTest, RemovePodTakesAssumedAndAddedPods) {
  Begin(From::kAssumed);
  EXPECT_EQ(ErrorOf(cluster_.RemovePod(*MakePod("web").Record())), "");
  EXPECT_FALSE(Slot().IsValid());
  Begin(From::kAdded);
  EXPECT_EQ(ErrorOf(cluster_.RemovePod(*MakePod("web").Node("n1").Record())), "");
  EXPECT_FALSE(Slot().IsValid());
  EXPECT_EQ(CpuOn("n1"), 0);
}

TEST_F(StateMachineTest, RemovePodOnAnotherNodeIsReportedAndDone) {
  Begin(From::kAdded);
  EXPECT_EQ(ErrorOf(cluster_.RemovePod(*MakePod("web").Node("n2").Record())),
            "pod uid-web(default/web) was added to a different node than it was assumed");
  EXPECT_FALSE(Slot().IsValid());
  EXPECT_EQ(CpuOn("n1"), 0);
}

TEST_F(StateMachineTest, RemovePodOfAnUnknownPodIsAnError) {
  EXPECT_EQ(ErrorOf(cluster_.RemovePod(*MakePod("web").Node("n1").Record())),
            "pod uid-web(default/web) is not found in scheduler cache, so cannot be removed from it");
}

TEST_F(StateMachineTest, APodWithoutUidIsRefused) {
  const std::string error = "cannot get cache key for pod with empty UID";
  EXPECT_EQ(ErrorOf(cluster_.AddPod(MakePod("web").Uid("").Node("n1").Record())), error);
  EXPECT_EQ(ErrorOf(cluster_.UpdatePod(MakePod("web").Uid("").Node("n1").Record())), error);
  EXPECT_EQ(ErrorOf(cluster_.RemovePod(*MakePod("web").Uid("").Record())), error);
  EXPECT_EQ(ErrorOf(cluster_.Forget("", "n1")), error);
  EXPECT_FALSE(cluster_.SetPending(MakePod("web").Uid("").Record()));
}

TEST_F(StateMachineTest, APodWithoutNodeIsNotAdded) {
  EXPECT_EQ(ErrorOf(cluster_.AddPod(MakePod("web").Record())),
            "pod uid-web(default/web) has no node, so it is not counted anywhere");
  Begin(From::kAdded);
  EXPECT_FALSE(cluster_.UpdatePod(MakePod("web").Record()));
  EXPECT_EQ(CpuOn("n1"), 1000);
}

TEST_F(StateMachineTest, APodOnANodeDoesNotBecomePending) {
  Begin(From::kAdded);
  EXPECT_FALSE(cluster_.SetPending(MakePod("web").Record()));
  EXPECT_FALSE(cluster_.RemovePending("uid-web"));
  EXPECT_EQ(cluster_.pods().state(Slot()), PodState::kAdded);
}

// A holder from an earlier step must notice that its pod went and another one has the slot.
TEST_F(StateMachineTest, AReusedSlotHasAnotherGeneration) {
  Begin(From::kPending);
  const auto held = cluster_.pods().Version(Slot());
  ASSERT_TRUE(cluster_.RemovePending("uid-web"));
  EXPECT_FALSE(cluster_.pods().IsCurrent(held));
  const auto slot = cluster_.SetPending(MakePod("other").Record());
  ASSERT_TRUE(slot);
  EXPECT_EQ(*slot, held.id);
  EXPECT_FALSE(cluster_.pods().IsCurrent(held));
}

// Delete and create under one name, with the events in the wrong order: the newer pod owns the name.
TEST_F(StateMachineTest, TheNameBelongsToThePodThatCameLast) {
  ASSERT_TRUE(cluster_.AddPod(MakePod("web").Uid("old").Node("n1").Record()));
  ASSERT_TRUE(cluster_.SetPending(MakePod("web").Uid("new").Record()));
  ASSERT_TRUE(cluster_.RemovePod(*MakePod("web").Uid("old").Node("n1").Record()));
  EXPECT_EQ(cluster_.pods().Find("default", "web"), cluster_.pods().Find("new"));
}

TEST_F(StateMachineTest, ClaimsCountWhileThePodIsOnANode) {
  const auto claim_use = [&] { return cluster_.pods().ClaimUse(cluster_.pods().FindClaim("default/data")); };
  // One count per volume, also when two volumes share the claim.
  ASSERT_TRUE(cluster_.SetPending(MakePod("web").VolumeClaim("data").VolumeClaim("data").Record()));
  EXPECT_EQ(claim_use(), 0);
  ASSERT_TRUE(cluster_.Assume(Slot(), "n1"));
  EXPECT_EQ(claim_use(), 2);
  ASSERT_TRUE(cluster_.Forget("uid-web", "n1"));
  EXPECT_EQ(claim_use(), 0);
  ASSERT_TRUE(cluster_.RemovePending("uid-web"));
  EXPECT_FALSE(cluster_.pods().FindClaim("default/data").IsValid());
}

}  // namespace
}  // namespace berth::cluster
