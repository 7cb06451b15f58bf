#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queue/queue_harness.h"

// Who is tried before whom, and how long a failure holds a pod back. The numbers of the cases are those of
// the queue's specification.
namespace berth::queue::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PluginSpec Fit() { return {.name = "fit", .wishes = {{.event = kNodeAdd}}}; }

// Case 1.
TEST(ActiveOrder, HigherPriorityThenEarlierArrival) {
  QueueHarness q;
  q.Add(MakePod("middle").Priority(500));
  q.Add(MakePod("low").Priority(0));
  q.Add(MakePod("high").Priority(1000));
  q.Advance(seconds(1));
  q.Add(MakePod("later").Priority(500));
  EXPECT_EQ(q.Pop(), "high");
  EXPECT_EQ(q.Pop(), "middle");
  EXPECT_EQ(q.Pop(), "later");
  EXPECT_EQ(q.Pop(), "low");
  EXPECT_EQ(q.Pop(), "");
}

// Case 2.
TEST(ActiveOrder, RejectedPodGoesBehindItsEquals) {
  QueueHarness q({Fit()});
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    q.Add(MakePod(name));
    q.Advance(milliseconds(1));
  }
  ASSERT_EQ(q.Pop(), "a");
  q.Reject("a", {"fit"});
  q.Advance(seconds(10));
  q.Wildcard();
  EXPECT_THAT(q.List(Place::kActive), ElementsAre("b", "c", "d", "e", "a"));
}

// Case 5.
TEST(BackoffTime, GrowsFromOneToTenSeconds) {
  QueueHarness q({Fit()}, {.pop_from_backoff = false});
  q.Add(MakePod("a"));
  for (const int want : {1, 2, 4, 8, 10, 10, 10}) {
    ASSERT_EQ(q.Pop(), "a");
    q.Reject("a", {"fit"});
    q.Wildcard();
    ASSERT_EQ(q.Where("a"), Place::kBackoff);
    EXPECT_EQ(*q.Params("a").expiry - q.Params("a").timestamp, seconds(want));
    q.Advance(seconds(want));
    q.queue->FlushBackoff();
    EXPECT_EQ(q.Where("a"), Place::kBackoff) << "equality still backs off";
    q.Advance(milliseconds(1));
    q.queue->FlushBackoff();
    ASSERT_EQ(q.Where("a"), Place::kActive);
  }
}

// Case 6, as the flush sees it.
TEST(BackoffTime, WindowIsFlushedOneSecondLater) {
  QueueHarness q({Fit()});
  q.Add(MakePod("a"));
  q.Pop();
  q.Reject("a", {"fit"});
  q.Wildcard();
  q.Advance(seconds(1));
  q.queue->FlushBackoff();
  EXPECT_EQ(q.Where("a"), Place::kBackoff);
  q.Advance(seconds(1));
  q.queue->FlushBackoff();
  EXPECT_EQ(q.Where("a"), Place::kActive);
}

struct Return {
  const char* name;
  std::int32_t priority;
  milliseconds at;
};

// Brings pods into backoff by one rejection each, at given times.
void BackOffOnce(QueueHarness& q, std::vector<Return> returns) {
  for (const Return& r : returns) q.Add(MakePod(r.name).Priority(r.priority));
  for (std::size_t i = 0; i < returns.size(); ++i) q.Pop();
  for (const Return& r : returns) {
    q.clock.SetTo(base::TimePoint(r.at));
    q.Reject(r.name, {"fit"});
    q.Wildcard();
  }
}

const std::vector<Return> kSpread = {{"p5", 1, milliseconds(7000)}, {"p3", 1, milliseconds(8000)},
                                     {"p4", 2, milliseconds(8000)}, {"p2", 2, milliseconds(8001)},
                                     {"p1", 1, milliseconds(9000)}, {"p0", 1, milliseconds(10000)}};

// Case 7.
TEST(BackoffOrder, WithinASecondPriorityDecides) {
  QueueHarness q({Fit()});
  BackOffOnce(q, kSpread);
  EXPECT_THAT(q.List(Place::kBackoff), ElementsAre("p5", "p4", "p2", "p3", "p1", "p0"));
  // Everybody's first backoff is a second: the windows of 8 and 9 are over at 10.
  q.queue->FlushBackoff();
  EXPECT_THAT(q.List(Place::kBackoff), ElementsAre("p1", "p0"));
}

TEST(BackoffOrder, WithoutWindowsTimeAloneDecides) {
  QueueHarness q({Fit()}, {.pop_from_backoff = false});
  BackOffOnce(q, kSpread);
  const std::vector<std::string> order = q.List(Place::kBackoff);
  EXPECT_EQ(order.front(), "p5");
  EXPECT_EQ(order[3], "p2");
}

// Case 8: equal window and priority. A was rejected later, but for the first time.
std::vector<std::string> OrderOfExactEnds(bool upstream) {
  QueueHarness q({Fit()}, {.upstream_backoff_order = upstream});
  q.Add(MakePod("b"));
  q.Pop();
  q.Reject("b", {"fit"});
  q.Activate("b");
  EXPECT_EQ(q.Pop(), "b");
  q.Add(MakePod("a"));
  EXPECT_EQ(q.Pop(), "a");
  q.clock.SetTo(base::TimePoint(milliseconds(9950)));
  q.Reject("b", {"fit"});  // two seconds: 11.95
  q.Wildcard();
  q.clock.SetTo(base::TimePoint(milliseconds(10900)));
  q.Reject("a", {"fit"});  // one second: 11.90
  q.Wildcard();
  return q.List(Place::kBackoff);
}

TEST(BackoffOrder, EqualPriorityGoesByTheExactEnd) {
  EXPECT_THAT(OrderOfExactEnds(false), ElementsAre("a", "b"));
  EXPECT_THAT(OrderOfExactEnds(true), ElementsAre("b", "a"));
}

// Case 9.
TEST(BackoffFlush, MovesWhatIsOverFromBothHeaps) {
  QueueHarness q({Fit()});
  for (const char* name : {"rejected", "failed", "rejected-late", "failed-late"}) q.Add(MakePod(name));
  for (int i = 0; i < 4; ++i) q.Pop();
  q.Reject("rejected", {"fit"});
  q.Fail("failed");
  q.Wildcard();
  q.Advance(seconds(2));
  q.Reject("rejected-late", {"fit"});
  q.Fail("failed-late");
  q.Wildcard();
  q.queue->FlushBackoff();
  EXPECT_THAT(q.List(Place::kActive), testing::UnorderedElementsAre("rejected", "failed"));
  EXPECT_THAT(q.List(Place::kBackoff), ElementsAre("rejected-late"));
  EXPECT_THAT(q.List(Place::kErrorBackoff), ElementsAre("failed-late"));
}

// Case 10.
TEST(Attempts, ErrorsInARowAndRejectionsAreCountedApart) {
  QueueHarness q({Fit()});
  q.Add(MakePod("a"));
  struct Step {
    bool error;
    std::int32_t errors, rejections;
  };
  for (const Step& step : {Step{true, 1, 0}, {true, 2, 0}, {false, 0, 1}}) {
    ASSERT_EQ(q.Pop(), "a");
    q.Advance(seconds(3));
    q.Reject("a", step.error ? std::vector<std::string>{} : std::vector<std::string>{"fit"});
    EXPECT_EQ(q.Params("a").consecutive_errors, step.errors);
    EXPECT_EQ(q.Params("a").unschedulable_count, step.rejections);
    EXPECT_EQ(q.Params("a").timestamp, q.clock.Now());
    q.Activate("a");
  }
}

// The two flushes have their own times: whole seconds, and thirty seconds after the last.
TEST(Ticks, FlushWhenDue) {
  QueueHarness q({Fit()});
  q.Add(MakePod("a"));
  q.Pop();
  q.Fail("a");
  EXPECT_EQ(q.queue->NextTick(), q.clock.Now());
  q.queue->Tick();
  EXPECT_EQ(q.queue->NextTick(), base::TimePoint(seconds(1)));
  q.Advance(seconds(2));
  q.queue->Tick();
  EXPECT_THAT(q.List(Place::kErrorBackoff), IsEmpty());
  EXPECT_EQ(q.queue->NextTick(), base::TimePoint(seconds(3)));
}

}  // namespace
}  // namespace berth::queue::test
