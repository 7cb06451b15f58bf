#include "net/event_loop.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/harness.h"

namespace berth::net {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

class TimerTest : public NetTest {};

TEST_F(TimerTest, CallsNotBeforeTheTimeThatWasSetLast) {
  Timer timer(loop_);
  std::vector<std::string> calls;
  timer.StartAfter(milliseconds(1), [&] { calls.push_back("first"); });
  const base::TimePoint wanted = loop_.Now() + milliseconds(20);
  timer.StartAt(wanted, [&] {
    calls.push_back("second");
    EXPECT_GE(loop_.Now(), wanted);
  });
  ASSERT_TRUE(RunUntil([&] { return !calls.empty(); }));
  EXPECT_THAT(calls, ElementsAre("second"));
}

TEST_F(TimerTest, EarlierTimeReplacesALaterOne) {
  Timer timer(loop_);
  Timer judge(loop_);
  std::vector<std::string> calls;
  timer.StartAfter(std::chrono::hours(1), [&] { calls.push_back("late"); });
  timer.StartAfter(milliseconds(1), [&] { calls.push_back("early"); });
  ASSERT_TRUE(RunUntil([&] { return !calls.empty(); }));
  // The kernel's timer was set anew: what it was set for first is forgotten.
  bool judged = false;
  judge.StartAfter(milliseconds(5), [&] { judged = true; });
  ASSERT_TRUE(RunUntil([&] { return judged; }));
  EXPECT_THAT(calls, ElementsAre("early"));
}

TEST_F(TimerTest, CanBeStartedAgainFromItsOwnCallback) {
  Timer timer(loop_);
  int calls = 0;
  std::function<void()> tick = [&] {
    if (++calls < 5) timer.StartAfter(milliseconds(calls % 2), [&] { tick(); });
  };
  timer.StartAfter(milliseconds(1), [&] { tick(); });
  ASSERT_TRUE(RunUntil([&] { return calls == 5; }));
}

TEST_F(TimerTest, NothingIsCalledAfterCancelOrTheEnd) {
  Timer judge(loop_);
  Timer cancelled(loop_);
  auto ended = std::make_unique<Timer>(loop_);
  bool judged = false;
  for (const auto delay : {milliseconds(0), milliseconds(1)}) {
    judged = false;
    cancelled.StartAfter(delay, [] { ADD_FAILURE() << "it was cancelled"; });
    cancelled.Cancel();
    ended->StartAfter(delay, [] { ADD_FAILURE() << "it is no more"; });
    ended = std::make_unique<Timer>(loop_);
    judge.StartAfter(milliseconds(5), [&] { judged = true; });
    ASSERT_TRUE(RunUntil([&] { return judged; }));
  }
  // A timer that was cancelled while the kernel's was set can be used again.
  bool called = false;
  cancelled.StartAfter(milliseconds(1), [&] { called = true; });
  EXPECT_TRUE(RunUntil([&] { return called; }));
}

class RunTest : public NetTest {};

TEST_F(RunTest, WhatACallbackPostsIsDoneInOrder) {
  std::vector<std::string> order;
  loop_.Post([&] {
    loop_.Post([&] {
      order.push_back("second");
      loop_.Post([&] {
        order.push_back("fourth");
        loop_.Stop();
        loop_.Post([&] { order.push_back("after the end"); });
      });
    });
    loop_.Post([&] { order.push_back("third"); });
    order.push_back("first");
  });
  loop_.Run();
  EXPECT_THAT(order, ElementsAre("first", "second", "third", "fourth"));
}

TEST_F(RunTest, CallbacksThatPostForEverLeaveTimersTheirTurn) {
  std::function<void()> again = [&] { loop_.Post([&] { again(); }); };
  again();
  Timer timer(loop_);
  timer.StartAfter(milliseconds(1), [&] { loop_.Stop(); });
  loop_.Run();
}

TEST_F(RunTest, WithAPaceOthersMayPostAndWhatComesAloneIsDoneAtOnce) {
  loop_.SetPace(std::chrono::hours(1));
  bool done = false;
  std::thread other([&] {
    loop_.Post([&] {
      done = true;
      loop_.Stop();
    });
  });
  loop_.Run();
  other.join();
  EXPECT_TRUE(done);
}

TEST_F(RunTest, WithAPaceWhatComesInManyPiecesIsAllDone) {
  loop_.SetPace(milliseconds(1));
  int done = 0;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) {
      loop_.Post([&] {
        if (++done == 1000) loop_.Stop();
      });
    }
  });
  loop_.Run();
  other.join();
  EXPECT_EQ(done, 1000);
}

TEST_F(TimerTest, NoDelayMeansSoonAndNotNow) {
  Timer timer(loop_);
  std::vector<std::string> order;
  loop_.Post([&] { order.push_back("posted"); });
  timer.StartAfter({}, [&] { order.push_back("timer"); });
  order.push_back("started");
  ASSERT_TRUE(RunUntil([&] { return order.size() == 3; }));
  EXPECT_THAT(order, ElementsAre("started", "posted", "timer"));
}

TEST_F(RunTest, BeforeItWaitsItSaysSo) {
  std::vector<std::string> order;
  loop_.OnRest([&](EventLoop::Rest rest) {
    ASSERT_EQ(rest, EventLoop::Rest::kWait);
    order.push_back("rest");
  });
  Timer timer(loop_);
  loop_.Post([&] {
    order.push_back("work");
    timer.StartAfter(milliseconds(1), [&] {
      order.push_back("more");
      loop_.Stop();
    });
  });
  loop_.Run();
  EXPECT_EQ(order.front(), "rest");
  EXPECT_THAT(std::vector(order.end() - 3, order.end()), ElementsAre("work", "rest", "more"));
}

TEST_F(RunTest, BetweenPacesItSaysThatMoreMayCome) {
  loop_.SetPace(milliseconds(20));
  int paces = 0;
  loop_.OnRest([&](EventLoop::Rest rest) { paces += rest == EventLoop::Rest::kPace ? 1 : 0; });
  Timer timer(loop_);
  int calls = 0;
  std::function<void()> tick = [&] {
    if (++calls == 4) return loop_.Stop();
    timer.StartAfter(std::chrono::microseconds(100), [&] { tick(); });
  };
  tick();
  loop_.Run();
  EXPECT_GT(paces, 0);
}

}  // namespace
}  // namespace berth::net
