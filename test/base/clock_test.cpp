#include "base/clock.h"

#include "gtest/gtest.h"

namespace berth::base {
namespace {

using namespace std::chrono_literals;

TEST(VirtualClock, StandsStillUntilAdvanced) {
  VirtualClock clock(TimePoint(5s), WallPoint(1000s));
  EXPECT_EQ(clock.Now(), TimePoint(5s));
  clock.Advance(250ms);
  EXPECT_EQ(clock.Now(), TimePoint(5250ms));
}

TEST(VirtualClock, WallTimeAdvancesWithMonotonicTime) {
  VirtualClock clock(TimePoint(5s), WallPoint(1000s));
  clock.SetTo(TimePoint(65s));
  EXPECT_EQ(clock.WallNow(), WallPoint(1060s));
}

TEST(VirtualClockDeathTest, NeverGoesBack) {
  VirtualClock clock(TimePoint(5s));
  EXPECT_DEATH(clock.SetTo(TimePoint(4s)), "check failed");
  EXPECT_DEATH(clock.Advance(-1ns), "check failed");
}

TEST(RealClock, NeverGoesBack) {
  const RealClock clock;
  const TimePoint first = clock.Now();
  EXPECT_LE(first, clock.Now());
}

// 2020 to 2200: neither zero nor in other units.
TEST(RealClock, WallTimeCountsFromTheUnixEpoch) {
  const auto years = RealClock().WallNow().time_since_epoch() / (365 * 24h);
  EXPECT_GT(years, 50);
  EXPECT_LT(years, 230);
}

}  // namespace
}  // namespace berth::base
