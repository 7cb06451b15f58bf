#include "base/executor.h"

#include <utility>

#include "base/check.h"

namespace berth::base {

void Waiter::Wake(WaitResult result) {
  if (result_.has_value()) return;
  result_ = result;
  executor_.ready_.PushBack(*this);
}

bool Waiter::CancelledBeforeWait() {
  if (!token_.IsCancelled()) return false;
  result_ = WaitResult::kCancelled;
  return true;
}

void Waiter::Suspend(std::coroutine_handle<> handle) {
  handle_ = handle;
  on_cancel_.emplace(token_, [this] { Wake(WaitResult::kCancelled); });
}

struct TaskSet::Frame {
  using promise_type = FramePromise;
};

// Of the coroutine around each spawned task: it starts from the ready queue, is known to its set and frees
// itself at its end.
struct TaskSet::FramePromise : ListHook {
  FramePromise(TaskSet& owner, Task<void>&) : set(owner) {
    set.frames_.PushBack(*this);
    ++set.size_;
  }

  Frame get_return_object() const noexcept { return {}; }
  Executor::Yielded initial_suspend() const { return set.executor_.Yield(); }
  std::suspend_never final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() const noexcept { CheckFailed("a task threw an exception", __FILE__, __LINE__); }

  TaskSet& set;
};

TaskSet::Frame TaskSet::Run(TaskSet& set, Task<void> task) {
  {
    // Its frame goes before the set counts it as finished.
    Task<void> running = std::move(task);
    co_await std::move(running);
  }
  if (--set.size_ > 0) co_return;
  while (Waiter* waiter = set.waiters_.Front()) waiter->Wake(WaitResult::kDone);
}

TaskSet::TaskSet(Executor& executor) : executor_(executor) {}

TaskSet::~TaskSet() {
  while (FramePromise* newest = frames_.Back()) {
    std::coroutine_handle<FramePromise>::from_promise(*newest).destroy();
  }
}

void TaskSet::Spawn(Task<void> task) { Run(*this, std::move(task)); }

std::size_t Executor::RunReady() {
  BERTH_CHECK(!running_);
  running_ = true;
  std::size_t resumed = 0;
  for (;;) {
    // Timers get their turn after each round, so that tasks which keep each other busy cannot hold them up.
    timers_.RunDue(clock_.Now());
    IntrusiveList<Waiter> round;
    round.Append(ready_);
    if (round.empty()) break;
    while (Waiter* waiter = round.PopFront()) {
      ++resumed;
      waiter->handle_.resume();
    }
  }
  running_ = false;
  return resumed;
}

Executor::Sleep::~Sleep() { executor_.timers_.Cancel(timer_); }

bool Executor::Sleep::await_ready() {
  if (CancelledBeforeWait()) return true;
  if (deadline_ > executor_.clock_.Now()) return false;
  result_ = WaitResult::kDone;
  return true;
}

void Executor::Sleep::await_suspend(std::coroutine_handle<> handle) {
  Suspend(handle);
  timer_ = executor_.timers_.Schedule(deadline_, [this] { Wake(WaitResult::kDone); });
}

}  // namespace berth::base
