#include "base/executor.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/task.h"

namespace berth::base {
namespace {

using namespace std::chrono_literals;

// A clock, an executor and a diary of what happened in which order.
class ExecutorTest : public testing::Test {
 protected:
  void Write(std::string line) { diary_.push_back(std::move(line)); }
  void RunFor(Duration duration) {
    executor_.RunReady();
    clock_.Advance(duration);
    executor_.RunReady();
  }

  Task<void> SleepThenWrite(Duration duration, std::string line, CancellationToken token = {}) {
    const WaitResult result = co_await executor_.SleepFor(duration, token);
    Write(line + (result == WaitResult::kDone ? "" : " cancelled"));
  }
  Task<void> YieldBetween(std::string first, std::string second) {
    Write(first);
    co_await executor_.Yield();
    Write(second);
  }

  // Time passes while it is never idle.
  Task<void> KeepBusy() {
    for (int i = 0; i < 10; ++i) {
      clock_.Advance(1s);
      co_await executor_.Yield();
    }
    Write("busy");
  }

  using Diary = std::vector<std::string>;
  Diary diary_;
  VirtualClock clock_;
  Executor executor_{clock_};
};

Task<int> Number(int number) { co_return number; }
Task<int> Sum(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await Number(1);
  co_return sum;
}
Task<std::unique_ptr<int>> Boxed(std::unique_ptr<int> value) {
  ++*value;
  co_return value;
}
Task<void> Store(Task<int> task, int& result) { result = co_await std::move(task); }
Task<void> StoreBox(int& result) { result = *co_await Boxed(std::make_unique<int>(41)); }

TEST_F(ExecutorTest, TaskIsLazy) {
  int result = 0;
  {
    Task<void> unused = Store(Number(1), result);
  }
  EXPECT_EQ(result, 0);
  executor_.Spawn(Store(Number(1), result));
  EXPECT_EQ(result, 0);
  executor_.RunReady();
  EXPECT_EQ(result, 1);
  EXPECT_EQ(executor_.task_count(), 0U);
}

// Tasks that finish at once must not pile up on the stack, whatever the optimisation level.
TEST_F(ExecutorTest, AMillionImmediateTasksNeedNoStack) {
  int result = 0;
  executor_.Spawn(Store(Sum(1'000'000), result));
  executor_.RunReady();
  EXPECT_EQ(result, 1'000'000);
}

TEST_F(ExecutorTest, MoveOnlyValuesGoInAndOut) {
  int result = 0;
  executor_.Spawn(StoreBox(result));
  executor_.RunReady();
  EXPECT_EQ(result, 42);
}

TEST_F(ExecutorTest, ReadyTasksRunFirstInFirstOut) {
  executor_.Spawn(YieldBetween("a1", "a2"));
  executor_.Spawn(YieldBetween("b1", "b2"));
  EXPECT_EQ(executor_.RunReady(), 4U);
  EXPECT_EQ(diary_, (Diary{"a1", "b1", "a2", "b2"}));
}

TEST_F(ExecutorTest, SleepersWakeByDeadlineThenByAge) {
  executor_.Spawn(SleepThenWrite(2s, "late"));
  executor_.Spawn(SleepThenWrite(1s, "early"));
  executor_.Spawn(SleepThenWrite(1s, "early too"));
  executor_.RunReady();
  EXPECT_EQ(executor_.NextDeadline(), TimePoint(1s));
  RunFor(5s);
  EXPECT_EQ(diary_, (Diary{"early", "early too", "late"}));
  EXPECT_EQ(executor_.NextDeadline(), std::nullopt);
}

TEST_F(ExecutorTest, SleepIntoThePastDoesNotSuspend) {
  executor_.Spawn(SleepThenWrite(0s, "now"));
  EXPECT_EQ(executor_.RunReady(), 1U);
  EXPECT_EQ(diary_, Diary{"now"});
}

TEST_F(ExecutorTest, CancelWakesTheSleeperAndDropsItsTimer) {
  CancellationSource source;
  executor_.Spawn(SleepThenWrite(1h, "a", source.token()));
  executor_.Spawn(SleepThenWrite(2h, "b", source.token()));
  executor_.RunReady();
  source.Cancel();
  EXPECT_EQ(diary_, Diary{});  // ready, not run inside Cancel()
  executor_.RunReady();
  EXPECT_EQ(diary_, (Diary{"a cancelled", "b cancelled"}));
  EXPECT_EQ(executor_.NextDeadline(), std::nullopt);
}

TEST_F(ExecutorTest, CancelledTokenEndsTheNextWaitAtOnce) {
  CancellationSource source;
  source.Cancel();
  executor_.Spawn(SleepThenWrite(1h, "a", source.token()));
  executor_.RunReady();
  EXPECT_EQ(diary_, Diary{"a cancelled"});
}

// The deadline came first, so that is the result, even if the task has not run since.
TEST_F(ExecutorTest, CancelAfterTheDeadlineChangesNothing) {
  CancellationSource source;
  executor_.Spawn(SleepThenWrite(1s, "a", source.token()));
  executor_.RunReady();
  executor_.timers().Schedule(TimePoint(1s), [&] { source.Cancel(); });
  RunFor(1s);
  EXPECT_EQ(diary_, Diary{"a"});
}

TEST_F(ExecutorTest, BusyTasksDoNotHoldUpTimers) {
  executor_.Spawn(SleepThenWrite(3s, "timer"));
  executor_.Spawn(KeepBusy());
  executor_.RunReady();
  EXPECT_EQ(diary_, (Diary{"timer", "busy"}));
}

// Says when it is destroyed, to see frames go.
struct Witness {
  Witness(std::vector<std::string>& list, std::string text) : diary(list), line(std::move(text)) {}
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() { diary.push_back(line); }
  std::vector<std::string>& diary;
  std::string line;
};

Task<void> Inner(Executor& executor, std::vector<std::string>& diary, std::string name) {
  const Witness witness(diary, name + " inner");
  co_await executor.SleepFor(1h);
  diary.push_back("never");
}
Task<void> Outer(Executor& executor, std::vector<std::string>& diary, std::string name) {
  const Witness witness(diary, name + " outer");
  co_await Inner(executor, diary, name);
}

TEST_F(ExecutorTest, DestroyingItDestroysPendingFramesNewestFirst) {
  {
    Executor executor(clock_);
    executor.Spawn(Outer(executor, diary_, "a"));
    executor.Spawn(Outer(executor, diary_, "b"));
    executor.RunReady();
    executor.Spawn(Outer(executor, diary_, "not started"));
    EXPECT_EQ(executor.task_count(), 3U);
  }
  EXPECT_EQ(diary_, (Diary{"b inner", "b outer", "a inner", "a outer"}));
}

TEST_F(ExecutorTest, DestroyingItForgetsReadyTasks) {
  {
    Executor executor(clock_);
    executor.Spawn(Outer(executor, diary_, "a"));
    executor.RunReady();
    executor.timers().RunDue(TimePoint(1h));  // awake, but not run again
  }
  EXPECT_EQ(diary_, (Diary{"a inner", "a outer"}));
}

Task<void> Throw() {
  throw 1;
  co_return;
}

TEST(TaskDeathTest, AnExceptionThatLeavesATaskIsABug) {
  VirtualClock clock;
  Executor executor(clock);
  executor.Spawn(Throw());
  EXPECT_DEATH(executor.RunReady(), "a task threw");
}

Task<void> RunInside(Executor& executor) {
  executor.RunReady();
  co_return;
}

TEST(ExecutorDeathTest, IsNotReentered) {
  VirtualClock clock;
  Executor executor(clock);
  executor.Spawn(RunInside(executor));
  EXPECT_DEATH(executor.RunReady(), "check failed");
}

}  // namespace
}  // namespace berth::base
