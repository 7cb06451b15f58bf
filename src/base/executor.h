#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/intrusive_list.h"
#include "base/task.h"
#include "base/timers.h"

namespace berth::base {

class Executor;

enum class WaitResult { kDone, kCancelled };

// One suspended coroutine. It is in the list of what it waits for, then in the executor's ready queue, and
// leaves either when its frame is destroyed. The base of every awaiter here; lives in the frame and never
// moves.
class Waiter : public ListHook {
 public:
  explicit Waiter(Executor& executor, CancellationToken token = {})
      : executor_(executor), token_(std::move(token)) {}

  // Makes the coroutine ready. The first call decides the result, later ones change nothing.
  void Wake(WaitResult result);

  WaitResult await_resume() const { return *result_; }

 protected:
  // True when the wait is over before it began because the token is cancelled already.
  bool CancelledBeforeWait();
  void Suspend(std::coroutine_handle<> handle);

  Executor& executor_;
  std::optional<WaitResult> result_;

 private:
  friend class Executor;

  CancellationToken token_;
  std::coroutine_handle<> handle_;
  std::optional<CancellationCallback> on_cancel_;
};

// Owns the frames of tasks that run beside each other. Destroying it destroys the frames that are left, the
// newest first, wherever they wait.
class TaskSet {
 public:
  explicit TaskSet(Executor& executor);
  TaskSet(const TaskSet&) = delete;
  TaskSet& operator=(const TaskSet&) = delete;
  ~TaskSet();

  // Queues the task behind everything that is ready.
  void Spawn(Task<void> task);
  std::size_t size() const { return size_; }

 private:
  friend class TaskGroup;
  struct Frame;
  struct FramePromise;
  static Frame Run(TaskSet& set, Task<void> task);

  Executor& executor_;
  IntrusiveList<FramePromise> frames_;
  std::size_t size_ = 0;
  // Wait for the set to become empty.
  IntrusiveList<Waiter> waiters_;
};

// Runs coroutines on the thread that calls it, one at a time.
//
// 1. Ready coroutines run first in, first out; timers that are due together become ready in the order of
// their
//    deadlines, then of their creation. Nothing else decides the order, so a run is a function of its inputs.
// 2. Waking never runs the woken coroutine: it becomes ready. So nothing is re-entered.
// 3. Destroying the executor destroys the tasks that are left. What they refer to has to live until then.
class Executor {
 public:
  explicit Executor(const Clock& clock) : clock_(clock), tasks_(*this) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void Spawn(Task<void> task) { tasks_.Spawn(std::move(task)); }
  // Spawned and not finished.
  std::size_t task_count() const { return tasks_.size(); }

  // Runs until nothing is ready and no timer is due; returns how often a coroutine was resumed.
  std::size_t RunReady();
  // When to call RunReady() again if nothing else happens.
  std::optional<TimePoint> NextDeadline() const { return timers_.NextDeadline(); }

  const Clock& clock() const { return clock_; }
  TimerQueue& timers() { return timers_; }

  class Sleep;
  class Yielded;
  // co_await executor.SleepFor(5s, token): kDone when the time has come, kCancelled when the token was first.
  // A deadline that has passed does not suspend.
  Sleep SleepUntil(TimePoint deadline, CancellationToken token = {});
  Sleep SleepFor(Duration duration, CancellationToken token = {});
  // co_await executor.Yield(): behind everything that is ready now.
  Yielded Yield();

 private:
  friend class Waiter;

  const Clock& clock_;
  TimerQueue timers_;
  IntrusiveList<Waiter> ready_;
  bool running_ = false;
  // Last, so that it goes first: frames cancel their timers and leave the ready queue.
  TaskSet tasks_;
};

class [[nodiscard]] Executor::Sleep : public Waiter {
 public:
  Sleep(Executor& executor, TimePoint deadline, CancellationToken token)
      : Waiter(executor, std::move(token)), deadline_(deadline) {}
  ~Sleep();

  bool await_ready();
  void await_suspend(std::coroutine_handle<> handle);

 private:
  TimePoint deadline_;
  TimerQueue::TimerId timer_;
};

class [[nodiscard]] Executor::Yielded : public Waiter {
 public:
  using Waiter::Waiter;

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    Suspend(handle);
    Wake(WaitResult::kDone);
  }
  void await_resume() const {}
};

inline Executor::Sleep Executor::SleepUntil(TimePoint deadline, CancellationToken token) {
  return Sleep(*this, deadline, std::move(token));
}

inline Executor::Sleep Executor::SleepFor(Duration duration, CancellationToken token) {
  return Sleep(*this, clock_.Now() + duration, std::move(token));
}

inline Executor::Yielded Executor::Yield() { return Yielded(*this); }

}  // namespace berth::base
