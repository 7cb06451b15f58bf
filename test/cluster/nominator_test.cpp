#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "support/builders.h"

namespace berth::cluster {
namespace {

using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;
using testing::IsEmpty;

class NominatorTest : public testing::Test {
 protected:
  PodSlot Pending(const test::PodBuilder& pod) { return *cluster_.SetPending(pod.Record()); }
  std::vector<std::string> On(std::string_view node) const {
    std::vector<std::string> names;
    cluster_.nominator().ForEachNode([&](NodeNameId id, std::span<const PodSlot> pods) {
      if (cluster_.nodes().NameText(id) != node) return;
      for (const PodSlot pod : pods) names.push_back(cluster_.pods().record(pod).name);
    });
    return names;
  }

  Cluster cluster_;
};

TEST_F(NominatorTest, KeepsTheOrderOfNomination) {
  const PodSlot a = Pending(MakePod("a"));
  const PodSlot b = Pending(MakePod("b"));
  cluster_.Nominate(a, "n1");
  cluster_.Nominate(b, "n1");
  EXPECT_THAT(On("n1"), ElementsAre("a", "b"));
  cluster_.Nominate(a, "n1");
  EXPECT_THAT(On("n1"), ElementsAre("b", "a"));
  cluster_.Nominate(b, "n2");
  EXPECT_THAT(On("n1"), ElementsAre("a"));
  EXPECT_THAT(On("n2"), ElementsAre("b"));
}

TEST_F(NominatorTest, TheNodeNeedNotExistButMayComeLater) {
  cluster_.Nominate(Pending(MakePod("a")), "n1");
  const NodeRow row = cluster_.SetNode(MakeNode("n1").Ref());
  EXPECT_EQ(cluster_.NominatedTo(row).size(), 1u);
}

TEST_F(NominatorTest, WithoutANameTheStatusDecides) {
  const PodSlot a = Pending(MakePod("a").NominatedNode("n1"));
  cluster_.Nominate(a);
  EXPECT_THAT(On("n1"), ElementsAre("a"));
  cluster_.Nominate(a, "");
  EXPECT_THAT(On("n1"), IsEmpty());
}

// A nomination that is only in memory must survive an update that knows nothing of it; one that the API has
// must follow the API.
TEST_F(NominatorTest, AnUpdateFollowsTheStatusUnlessItNeverHadOne) {
  const PodRecordRef plain = MakePod("a").Record();
  const PodRecordRef nominated = MakePod("a").NominatedNode("n2").Record();
  const PodSlot a = *cluster_.SetPending(plain);
  cluster_.Nominate(a, "n1");
  ASSERT_TRUE(cluster_.SetPending(MakePod("a").Label("x", "y").Record()));
  cluster_.UpdateNomination(a, *plain);
  EXPECT_THAT(On("n1"), ElementsAre("a"));
  ASSERT_TRUE(cluster_.SetPending(nominated));
  cluster_.UpdateNomination(a, *plain);
  EXPECT_THAT(On("n1"), IsEmpty());
  EXPECT_THAT(On("n2"), ElementsAre("a"));
  ASSERT_TRUE(cluster_.SetPending(plain));
  cluster_.UpdateNomination(a, *nominated);
  EXPECT_TRUE(cluster_.nominator().empty());
}

TEST_F(NominatorTest, OnlyWaitingPodsAreNominated) {
  const PodSlot a = Pending(MakePod("a"));
  cluster_.Nominate(a, "n1");
  ASSERT_TRUE(cluster_.Assume(a, "n2"));
  EXPECT_TRUE(cluster_.nominator().empty());
  cluster_.Nominate(a, "n1");
  EXPECT_TRUE(cluster_.nominator().empty());
}

TEST_F(NominatorTest, GoesWithThePod) {
  cluster_.Nominate(Pending(MakePod("a")), "n1");
  cluster_.Nominate(Pending(MakePod("b")), "n1");
  ASSERT_TRUE(cluster_.RemovePending("uid-a"));
  ASSERT_TRUE(cluster_.AddPod(MakePod("b").Node("n2").Record()));
  EXPECT_TRUE(cluster_.nominator().empty());
}

}  // namespace
}  // namespace berth::cluster
