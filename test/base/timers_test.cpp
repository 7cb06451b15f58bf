#include "base/timers.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace berth::base {
namespace {

using namespace std::chrono_literals;

TimePoint At(int seconds) { return TimePoint(std::chrono::seconds(seconds)); }

TEST(TimerQueue, EqualDeadlinesFireInTheOrderOfScheduling) {
  TimerQueue timers;
  std::string fired;
  timers.Schedule(At(2), [&] { fired += 'c'; });
  timers.Schedule(At(1), [&] { fired += 'a'; });
  timers.Schedule(At(1), [&] { fired += 'b'; });
  EXPECT_EQ(timers.RunDue(At(2)), 3U);
  EXPECT_EQ(fired, "abc");
}

TEST(TimerQueue, NothingFiresBeforeItsDeadline) {
  TimerQueue timers;
  timers.Schedule(At(2), [] {});
  EXPECT_EQ(timers.RunDue(At(2) - 1ns), 0U);
  EXPECT_EQ(timers.NextDeadline(), At(2));
  EXPECT_EQ(timers.RunDue(At(2)), 1U);
  EXPECT_EQ(timers.NextDeadline(), std::nullopt);
}

TEST(TimerQueue, CancelOfAFiredTimerDoesNotTouchItsSuccessor) {
  TimerQueue timers;
  bool fired = false;
  const TimerQueue::TimerId first = timers.Schedule(At(1), [] {});
  timers.RunDue(At(1));
  timers.Schedule(At(2), [&] { fired = true; });
  EXPECT_FALSE(timers.Cancel(first));
  timers.RunDue(At(2));
  EXPECT_TRUE(fired);
}

TEST(TimerQueue, CallbackMayCancelAnotherDueTimer) {
  TimerQueue timers;
  TimerQueue::TimerId second;
  bool fired = false;
  timers.Schedule(At(1), [&] { EXPECT_TRUE(timers.Cancel(second)); });
  second = timers.Schedule(At(1), [&] { fired = true; });
  EXPECT_EQ(timers.RunDue(At(5)), 1U);
  EXPECT_FALSE(fired);
}

TEST(TimerQueue, CallbackMayScheduleADueTimer) {
  TimerQueue timers;
  bool fired = false;
  timers.Schedule(At(1), [&] { timers.Schedule(At(1), [&] { fired = true; }); });
  EXPECT_EQ(timers.RunDue(At(1)), 2U);
  EXPECT_TRUE(fired);
}

struct Planned {
  std::uint8_t deadline;
  bool cancelled;
};

// The model: a stable sort by deadline of what was not cancelled.
RC_GTEST_PROP(TimerQueue, FiresAsAStableSortWould, ()) {
  const auto plan = *rc::gen::container<std::vector<Planned>>(
      rc::gen::construct<Planned>(rc::gen::inRange<std::uint8_t>(0, 10), rc::gen::arbitrary<bool>()));
  TimerQueue timers;
  std::vector<std::size_t> fired;
  std::vector<TimerQueue::TimerId> ids;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    ids.push_back(timers.Schedule(At(plan[i].deadline), [&fired, i] { fired.push_back(i); }));
  }
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!plan[i].cancelled) expected.push_back(i);
    if (plan[i].cancelled) RC_ASSERT(timers.Cancel(ids[i]));
  }
  std::ranges::stable_sort(expected, {}, [&](std::size_t i) { return plan[i].deadline; });
  for (int second = 0; second < 10; ++second) timers.RunDue(At(second));
  RC_ASSERT(fired == expected);
}

}  // namespace
}  // namespace berth::base
