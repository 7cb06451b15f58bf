// What tasks wait for besides time: events, futures, each other.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/clock.h"
#include "base/event.h"
#include "base/executor.h"
#include "base/future.h"
#include "base/task_group.h"

namespace berth::base {
namespace {

using namespace std::chrono_literals;
using Diary = std::vector<std::string>;

class WaitingTest : public testing::Test {
 protected:
  Task<void> WaitThenWrite(Event& event, std::string line, CancellationToken token = {}) {
    const WaitResult result = co_await event.WaitFor(token);
    diary_.push_back(line + (result == WaitResult::kDone ? "" : " cancelled"));
  }
  Task<void> WriteValue(Future<std::string> future, CancellationToken token = {}) {
    const std::optional<std::string> value = co_await future.Get(token);
    diary_.push_back(value.value_or("nothing"));
  }
  Task<void> SleepThenWrite(Duration duration, std::string line) {
    co_await executor_.SleepFor(duration);
    diary_.push_back(line);
  }
  Task<int> SleepThenReturn(Duration duration, int value) {
    co_await executor_.SleepFor(duration);
    co_return value;
  }
  Task<void> SleepInParallel() {
    TaskGroup group(executor_);
    group.Spawn(SleepThenWrite(3s, "slow"));
    group.Spawn(SleepThenWrite(1s, "fast"));
    co_await group.WaitForAll();
    diary_.push_back("all");
    co_await group.WaitForAll();  // nothing left to wait for
  }

  Diary diary_;
  VirtualClock clock_;
  Executor executor_{clock_};
};

TEST_F(WaitingTest, EventWakesWaitersInOrderThroughTheReadyQueue) {
  Event event(executor_);
  executor_.Spawn(WaitThenWrite(event, "a"));
  executor_.Spawn(WaitThenWrite(event, "b"));
  executor_.RunReady();
  event.Set();
  EXPECT_EQ(diary_, Diary{});
  executor_.RunReady();
  EXPECT_EQ(diary_, (Diary{"a", "b"}));
}

TEST_F(WaitingTest, SetEventLetsLaterWaitersPassUntilReset) {
  Event event(executor_);
  event.Set();
  executor_.Spawn(WaitThenWrite(event, "passes"));
  executor_.RunReady();
  event.Reset();
  executor_.Spawn(WaitThenWrite(event, "waits"));
  executor_.RunReady();
  EXPECT_EQ(diary_, Diary{"passes"});
}

TEST_F(WaitingTest, CancelledWaiterLeavesTheOthersWaiting) {
  Event event(executor_);
  CancellationSource source;
  executor_.Spawn(WaitThenWrite(event, "a", source.token()));
  executor_.Spawn(WaitThenWrite(event, "b"));
  executor_.RunReady();
  source.Cancel();
  executor_.RunReady();
  EXPECT_EQ(diary_, Diary{"a cancelled"});
  event.Set();
  executor_.RunReady();
  EXPECT_EQ(diary_, (Diary{"a cancelled", "b"}));
}

TEST_F(WaitingTest, EventMayGoBeforeItsWaiters) {
  auto event = std::make_unique<Event>(executor_);
  executor_.Spawn(WaitThenWrite(*event, "a"));
  executor_.RunReady();
  event.reset();
  executor_.RunReady();
  EXPECT_EQ(diary_, Diary{});
  EXPECT_EQ(executor_.task_count(), 1U);
}

TEST_F(WaitingTest, FutureDeliversWhatIsSetBeforeOrAfterTheWait) {
  Promise<std::string> before(executor_);
  Promise<std::string> after(executor_);
  before.Set("before");
  executor_.Spawn(WriteValue(before.future()));
  executor_.Spawn(WriteValue(after.future()));
  executor_.RunReady();
  after.Set("after");
  executor_.RunReady();
  EXPECT_EQ(diary_, (Diary{"before", "after"}));
}

TEST_F(WaitingTest, DroppedPromiseDeliversNothing) {
  {
    Promise<std::string> promise(executor_);
    executor_.Spawn(WriteValue(promise.future()));
    executor_.RunReady();
    EXPECT_EQ(diary_, Diary{});
  }
  executor_.RunReady();
  EXPECT_EQ(diary_, Diary{"nothing"});
}

TEST_F(WaitingTest, MovedPromiseIsStillPending) {
  std::vector<Promise<std::string>> calls;
  calls.emplace_back(executor_);
  executor_.Spawn(WriteValue(calls[0].future()));
  for (int i = 0; i < 10; ++i) calls.emplace_back(executor_);
  executor_.RunReady();
  EXPECT_EQ(diary_, Diary{});
  calls[0].Set("value");
  executor_.RunReady();
  EXPECT_EQ(diary_, Diary{"value"});
}

TEST_F(WaitingTest, CancelledWaitLeavesTheValueForLater) {
  struct Twice {
    static Task<void> Run(Future<int> future, CancellationToken token, Diary& diary) {
      const std::optional<int> early = co_await future.Get(token);
      if (!early) diary.push_back("cancelled");
      const std::optional<int> value = co_await future.Get();
      diary.push_back(std::to_string(value.value_or(-1)));
    }
  };
  Promise<int> promise(executor_);
  CancellationSource source;
  executor_.Spawn(Twice::Run(promise.future(), source.token(), diary_));
  executor_.RunReady();
  source.Cancel();
  executor_.RunReady();
  promise.Set(7);
  executor_.RunReady();
  EXPECT_EQ(diary_, (Diary{"cancelled", "7"}));
}

TEST_F(WaitingTest, PromiseMayOutliveTheExecutor) {
  std::optional<Promise<std::string>> promise;
  {
    Executor executor(clock_);
    promise.emplace(executor);
    executor.Spawn(WriteValue(promise->future()));
    executor.RunReady();
  }
  promise->Set("too late");
  EXPECT_EQ(diary_, Diary{});
}

TEST_F(WaitingTest, GroupWaitsForItsSlowestTask) {
  executor_.Spawn(SleepInParallel());
  executor_.RunReady();
  for (int second = 0; second < 3; ++second) {
    EXPECT_EQ(executor_.task_count(), 1U);
    clock_.Advance(1s);
    executor_.RunReady();
  }
  EXPECT_EQ(diary_, (Diary{"fast", "slow", "all"}));
  EXPECT_EQ(executor_.task_count(), 0U);
}

TEST_F(WaitingTest, DestroyingAGroupEndsItsTasks) {
  Event event(executor_);
  {
    TaskGroup group(executor_);
    group.Spawn(SleepThenWrite(1s, "never"));
    group.Spawn(WaitThenWrite(event, "never"));
    executor_.RunReady();
    EXPECT_EQ(group.pending(), 2U);
    event.Set();  // one of them is in the ready queue when it goes
  }
  clock_.Advance(1s);
  executor_.RunReady();
  EXPECT_EQ(diary_, Diary{});
}

TEST_F(WaitingTest, WhenAllKeepsTheOrderOfTheTasks) {
  struct Parent {
    static Task<void> Run(Executor& executor, std::vector<Task<int>> tasks, std::vector<int>& results) {
      results = co_await WhenAll(executor, std::move(tasks));
    }
  };
  std::vector<int> results;
  std::vector<Task<int>> tasks;
  tasks.reserve(3);
  for (int i = 0; i < 3; ++i) tasks.push_back(SleepThenReturn(std::chrono::seconds(3 - i), i));
  executor_.Spawn(Parent::Run(executor_, std::move(tasks), results));
  executor_.RunReady();
  clock_.Advance(2s);
  executor_.RunReady();
  EXPECT_TRUE(results.empty());
  clock_.Advance(1s);
  executor_.RunReady();
  EXPECT_EQ(results, (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace berth::base
