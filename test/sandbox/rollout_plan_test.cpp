#include "sandbox/controllers/rollout_plan.h"

#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck.h>
#include <vector>

namespace berth::sandbox {
namespace {

std::int64_t Total(const std::vector<SetSize>& sets) {
  return std::accumulate(sets.begin(), sets.end(), std::int64_t{0},
                         [](std::int64_t sum, const SetSize& set) { return sum + set.replicas; });
}

TEST(RolloutPlan, NewSetGrowsIntoTheSurge) {
  const RolloutLimits limits{.replicas = 10, .surge = 3, .unavailable = 2};
  EXPECT_EQ(GrowNewSet(limits, 0, 10), 3);
  EXPECT_EQ(GrowNewSet(limits, 3, 11), 5);
  EXPECT_EQ(GrowNewSet(limits, 3, 13), 3);
  EXPECT_EQ(GrowNewSet(limits, 9, 10), 10);
}

TEST(RolloutPlan, OldSetsLoseWhatDoesNotServeFirst) {
  const RolloutLimits limits{.replicas = 10, .surge = 3, .unavailable = 2};
  std::vector<SetSize> old_sets = {{.replicas = 6, .available = 6, .created_order = 0},
                                   {.replicas = 4, .available = 0, .created_order = 1}};
  EXPECT_TRUE(ShrinkOldSets(limits, {.replicas = 3, .available = 3}, old_sets));
  EXPECT_EQ(old_sets[1].replicas, 0);
  EXPECT_EQ(old_sets[0].replicas, 5);  // 9 serve, 8 are needed
}

TEST(RolloutPlan, NothingShrinksBelowWhatMustServe) {
  const RolloutLimits limits{.replicas = 4, .surge = 1, .unavailable = 0};
  std::vector<SetSize> old_sets = {{.replicas = 4, .available = 4}};
  EXPECT_FALSE(ShrinkOldSets(limits, {.replicas = 1, .available = 0}, old_sets));
  EXPECT_TRUE(ShrinkOldSets(limits, {.replicas = 1, .available = 1}, old_sets));
  EXPECT_EQ(old_sets[0].replicas, 3);
}

TEST(RolloutPlan, ResizeKeepsTheMix) {
  std::vector<SetSize> sets = {{.replicas = 8, .available = 8, .max_replicas = 13, .created_order = 0},
                               {.replicas = 5, .available = 5, .max_replicas = 13, .created_order = 1}};
  ScaleInProportion({.replicas = 20, .surge = 6}, 13, sets);
  EXPECT_EQ(sets[0].replicas, 16);
  EXPECT_EQ(sets[1].replicas, 10);
  ScaleInProportion({.replicas = 0, .surge = 0}, 26, sets);
  EXPECT_EQ(Total(sets), 0);
}

// Whatever the sets look like: a resize gives exactly what the Deployment may have, and never less than none.
TEST(RolloutPlanProperty, ResizeHitsItsTarget) {
  EXPECT_TRUE(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 6);
    std::vector<SetSize> sets(count);
    for (std::size_t i = 0; i < count; ++i) {
      sets[i].replicas = *rc::gen::inRange(0, 50);
      sets[i].max_replicas = *rc::gen::inRange(0, 200);
      sets[i].created_order = static_cast<std::int64_t>(i);
    }
    const RolloutLimits limits{.replicas = *rc::gen::inRange(0, 100), .surge = *rc::gen::inRange(0, 20)};
    const std::int64_t target = limits.replicas > 0 ? limits.replicas + limits.surge : 0;
    ScaleInProportion(limits, *rc::gen::inRange(0, 200), sets);
    for (const SetSize& set : sets) RC_ASSERT(set.replicas >= 0);
    RC_ASSERT(Total(sets) == target);
  }));
}

// A rollout that goes step by step, each new pod serving at once, ends with the new set alone, and at no step
// are there too many pods or too few that serve.
TEST(RolloutPlanProperty, StepsEndWithTheNewSetAndKeepTheLimits) {
  EXPECT_TRUE(rc::check([] {
    RolloutLimits limits{.replicas = *rc::gen::inRange(1, 40),
                         .surge = *rc::gen::inRange(0, 10),
                         .unavailable = *rc::gen::inRange(0, 10)};
    if (limits.surge == 0 && limits.unavailable == 0) limits.unavailable = 1;
    limits.unavailable = std::min(limits.unavailable, limits.replicas);
    SetSize newest;
    std::vector<SetSize> old_sets = {{.replicas = limits.replicas, .available = limits.replicas}};
    for (int step = 0; step < 200 && Total(old_sets) > 0; ++step) {
      newest.replicas = GrowNewSet(limits, newest.replicas, newest.replicas + Total(old_sets));
      RC_ASSERT(newest.replicas + Total(old_sets) <= limits.replicas + limits.surge);
      newest.available = newest.replicas;
      ShrinkOldSets(limits, newest, old_sets);
      for (SetSize& set : old_sets) set.available = std::min(set.available, set.replicas);
      RC_ASSERT(newest.available + old_sets[0].available >= limits.replicas - limits.unavailable);
    }
    newest.replicas = GrowNewSet(limits, newest.replicas, newest.replicas + Total(old_sets));
    RC_ASSERT(Total(old_sets) == 0);
    RC_ASSERT(newest.replicas == limits.replicas);
  }));
}

}  // namespace
}  // namespace berth::sandbox
