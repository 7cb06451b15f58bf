#include "framework/features.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::framework {
namespace {

// Each of these is a promise to users, documented as a difference.
TEST(FeaturesTest, DifferencesFromUpstreamAreTheDocumentedOnes) {
  const Features own;
  const Features upstream = Features::Upstream();
  std::vector<std::string_view> differing;
  for (const FeatureGate& gate : FeatureGates()) {
    if (own.*gate.value != upstream.*gate.value) differing.push_back(gate.name);
  }
  EXPECT_THAT(differing, testing::ElementsAre("SchedulerPreQueueingHints", "SchedulerPreEnqueuePodStatus",
                                              "SchedulerAsyncAPICalls"));
}

// A pointer to the wrong member would switch another feature.
TEST(FeaturesTest, EachGateHasAMemberOfItsOwn) {
  Features none;
  for (const FeatureGate& gate : FeatureGates()) none.*gate.value = false;
  for (const FeatureGate& gate : FeatureGates()) {
    Features one = none;
    one.*gate.value = true;
    for (const FeatureGate& other : FeatureGates()) {
      EXPECT_EQ(one.*other.value, other.name == gate.name) << gate.name << " and " << other.name;
    }
  }
  EXPECT_EQ(sizeof(Features), FeatureGates().size()) << "a member that no name switches";
}

TEST(FeaturesTest, NamesAreFoundExactly) {
  ASSERT_NE(FindFeatureGate("DRAConsumableCapacity"), nullptr);
  EXPECT_EQ(FindFeatureGate("DRAConsumableCapacity")->value, &Features::dra_consumable_capacity);
  EXPECT_EQ(FindFeatureGate("draconsumablecapacity"), nullptr);
}

}  // namespace
}  // namespace berth::framework
