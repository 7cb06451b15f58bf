#include "cluster/claim_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "support/builders.h"

namespace berth::cluster::test {
namespace {

using berth::test::MakePod;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;
using Kind = ClaimIndex::Kind;

PodSlot Slot(std::uint32_t number) { return PodSlot(number); }

// Case 54, the part that is not the plugin's: three pods on one claim are three, a claim of the same name
// elsewhere or of another kind is another claim.
TEST(ClaimIndex, FindsEveryPodThatNamesTheClaim) {
  ClaimIndex index;
  for (std::uint32_t i = 0; i < 3; ++i) {
    index.Set(Slot(i), *MakePod("p" + std::to_string(i)).ResourceClaim("gpu", "shared").Record());
  }
  index.Set(Slot(3), *MakePod("p3").Namespace("elsewhere").ResourceClaim("gpu", "shared").Record());
  index.Set(Slot(4), *MakePod("p4").VolumeClaim("shared").Record());
  EXPECT_THAT(index.PodsOf(Kind::kResourceClaim, "default", "shared"),
              UnorderedElementsAre(Pair("default", "p0"), Pair("default", "p1"), Pair("default", "p2")));
  EXPECT_THAT(index.PodsOf(Kind::kVolumeClaim, "default", "shared"),
              UnorderedElementsAre(Pair("default", "p4")));
  EXPECT_THAT(index.PodsOf(Kind::kResourceClaim, "default", "other"), IsEmpty());
}

berth::test::PodBuilder PodWithTemplate() {
  auto pod = MakePod("a");
  api::PodResourceClaim& entry = pod.pod().spec.resource_claims.emplace_back();
  entry.name = "gpu";
  entry.resource_claim_template_name = "gpus";
  return pod;
}
void AddStatus(berth::test::PodBuilder& pod, std::optional<std::string> claim) {
  api::PodResourceClaimStatus& status = pod.pod().status.resource_claim_statuses.emplace_back();
  status.name = "gpu";
  status.resource_claim_name = std::move(claim);
}

TEST(ClaimIndex, GeneratedClaimCountsOnceTheStatusNamesIt) {
  ClaimIndex index;
  index.Set(Slot(0), *PodWithTemplate().Record());
  EXPECT_TRUE(index.empty());
  auto named = PodWithTemplate();
  AddStatus(named, "a-gpu-x7");
  index.Set(Slot(0), *named.Record());
  EXPECT_THAT(index.PodsOf(Kind::kResourceClaim, "default", "a-gpu-x7"),
              UnorderedElementsAre(Pair("default", "a")));
}

TEST(ClaimIndex, OfTwoStatusesOfOneNameTheFirstCounts) {
  ClaimIndex index;
  auto pod = PodWithTemplate();
  AddStatus(pod, std::nullopt);
  AddStatus(pod, "a-gpu-x7");
  index.Set(Slot(0), *pod.Record());
  EXPECT_TRUE(index.empty());
}

TEST(ClaimIndex, ForgetsPodsAndClaimsThatAreGone) {
  ClaimIndex index;
  index.Set(Slot(0), *MakePod("a").ResourceClaim("gpu", "one").Record());
  index.Set(Slot(0), *MakePod("a").ResourceClaim("gpu", "two").Record());
  EXPECT_THAT(index.PodsOf(Kind::kResourceClaim, "default", "one"), IsEmpty());
  EXPECT_EQ(index.PodsOf(Kind::kResourceClaim, "default", "two").size(), 1u);
  index.Remove(Slot(0));
  index.Remove(Slot(0));
  EXPECT_TRUE(index.empty());
}

TEST(ClaimIndex, EphemeralVolumeNamesItsClaimAfterThePod) {
  ClaimIndex index;
  api::Volume scratch;
  scratch.name = "scratch";
  scratch.volume_source.ephemeral.emplace();
  index.Set(Slot(0), *MakePod("web").Volume(scratch).Record());
  EXPECT_THAT(index.PodsOf(Kind::kVolumeClaim, "default", "web-scratch"),
              UnorderedElementsAre(Pair("default", "web")));
}

// Who waits is in the index of the cluster, and nobody else.
TEST(ClaimIndex, FollowsThePodsThatWait) {
  Cluster cluster;
  const ClaimIndex& index = cluster.UseExtension<ClaimIndex>();
  const auto waiting = [&] { return index.PodsOf(Kind::kVolumeClaim, "default", "c").size(); };
  cluster.SetNode(berth::test::MakeNode("n1").Ref());
  const auto a = MakePod("a").VolumeClaim("c");
  ASSERT_TRUE(cluster.SetPending(a.Record()).has_value());
  ASSERT_TRUE(cluster.SetPending(MakePod("b").VolumeClaim("c").Record()).has_value());
  EXPECT_EQ(waiting(), 2u);
  auto bound = a;
  ASSERT_TRUE(cluster.AddPod(bound.Node("n1").Record()).has_value());
  EXPECT_EQ(waiting(), 1u);
  ASSERT_TRUE(cluster.RemovePending(MakePod("b").Record()->uid).has_value());
  EXPECT_TRUE(index.empty());
}

}  // namespace
}  // namespace berth::cluster::test
