#include "queue/backoff.h"

#include <gtest/gtest.h>
#include <limits>

#include "queue/queue_harness.h"

namespace berth::queue::test {
namespace {

using base::Duration;

struct DurationCase {
  std::int64_t initial, max;
  std::int32_t count;
  std::size_t size;
  std::int64_t want;
};

// Case 3. Doubling must neither overflow nor pass the maximum; a group's maximum grows with the root of its
// size.
TEST(BackoffDuration, DoublesUpToTheMaximum) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const base::VirtualClock clock;
  for (const DurationCase& c : {DurationCase{1, 32, 0, 1, 0},
                                {1, 32, 16, 1, 32},
                                {3, 1000, 5, 1, 48},
                                {1, 2147483647, 32, 1, 2147483647},
                                {1, kMax, 64, 1, kMax},
                                {1, 32, 7, 10, 64},
                                {1, 32, 16, 10, 101},
                                {1, kMax, 200, 10, kMax}}) {
    const Backoff backoff({.initial = Duration(c.initial), .max = Duration(c.max)}, clock);
    EXPECT_EQ(backoff.DurationOf(c.count, c.size).count(), c.want)
        << c.initial << " " << c.max << " " << c.count;
  }
}

QueueingParams Failed(std::int32_t unschedulable, std::int32_t errors, base::TimePoint timestamp = {}) {
  QueueingParams params;
  params.unschedulable_count = unschedulable;
  params.consecutive_errors = errors;
  params.timestamp = timestamp;
  return params;
}

// Case 4.
TEST(BackoffExpiry, ErrorsWinOverRejectionsAndACachedEndStays) {
  const base::VirtualClock clock;
  const Backoff backoff({.initial = seconds(1), .max = seconds(32)}, clock);
  QueueingParams params = Failed(5, 16, base::TimePoint(seconds(100)));
  EXPECT_EQ(backoff.Expiry(params, 1), base::TimePoint(seconds(132)));
  params.unschedulable_count = 1;
  params.consecutive_errors = 0;
  EXPECT_EQ(backoff.Expiry(params, 1), base::TimePoint(seconds(132)));

  const Backoff none({.initial = seconds(1), .max = Duration::zero()}, clock);
  QueueingParams again = Failed(5, 0);
  EXPECT_FALSE(none.IsBackingOff(again, 1, base::TimePoint()));
}

// Case 6. A window ends as a whole, so its own second still backs off.
TEST(BackoffExpiry, EqualityStillBacksOff) {
  base::VirtualClock clock(base::TimePoint(seconds(7)));
  const Backoff windows({.windows = true}, clock);
  QueueingParams params =
      Failed(1, 0, base::TimePoint(milliseconds(8300)));  // ends at 9.3, in the window of 9
  EXPECT_TRUE(windows.IsBackingOff(params, 1, base::TimePoint(milliseconds(9999))));
  EXPECT_FALSE(windows.IsBackingOff(params, 1, base::TimePoint(seconds(10))));

  const Backoff exact({.windows = false}, clock);
  QueueingParams other = Failed(1, 0, base::TimePoint(milliseconds(8300)));
  EXPECT_TRUE(exact.IsBackingOff(other, 1, base::TimePoint(milliseconds(9300))));
  EXPECT_FALSE(exact.IsBackingOff(other, 1, base::TimePoint(milliseconds(9300)) + Duration(1)));
}

// The seconds are those that people see on a clock, whatever the monotonic one started from.
TEST(BackoffWindow, IsASecondOfTheWallClock) {
  const base::VirtualClock clock(base::TimePoint(), base::WallPoint(milliseconds(5400)));
  const Backoff backoff({.windows = true}, clock);
  EXPECT_EQ(backoff.Window(base::TimePoint(milliseconds(700))), base::TimePoint(milliseconds(600)));
  EXPECT_EQ(backoff.Window(base::TimePoint(milliseconds(599))), base::TimePoint(milliseconds(-400)));
}

}  // namespace
}  // namespace berth::queue::test
