#include "cluster/claim_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(ClaimIndex, GeneratedClaimCountsOnceTheStatusNamesIt) {
  ClaimIndex index;
  index.Set(Slot(0), *MakePod("a").Record());
  EXPECT_TRUE(index.empty());
  auto named = MakePod("a");
  api::PodResourceClaimStatus& status = named.pod().status.resource_claim_statuses.emplace_back();
  status.name = "gpu";
  status.resource_claim_name = "a-gpu-x7";
  index.Set(Slot(0), *named.Record());
  EXPECT_THAT(index.PodsOf(Kind::kResourceClaim, "default", "a-gpu-x7"),
              UnorderedElementsAre(Pair("default", "a")));
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

}  // namespace
}  // namespace berth::cluster::test
