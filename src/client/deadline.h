#pragma once

#include <optional>
#include <utility>

#include "base/cancellation.h"
#include "base/executor.h"
#include "base/future.h"
#include "base/task_group.h"

namespace berth::client {

// Cancels its token when the time has come, if there is one, or with its parent.
class Deadline {
 public:
  Deadline(base::Executor& executor, std::optional<base::Duration> after, base::CancellationToken parent = {})
      : timers_(executor.timers()), late_(std::move(parent)) {
    if (after) timer_ = timers_.Schedule(executor.clock().Now() + *after, [this] { late_.Cancel(); });
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    if (timer_) timers_.Cancel(*timer_);
  }

  base::CancellationToken token() const { return late_.token(); }

 private:
  base::TimerQueue& timers_;
  std::optional<base::TimerQueue::TimerId> timer_;
  base::CancellationSource late_;
};

namespace internal {
template <class T>
base::Task<void> Deliver(base::Task<T> task, base::Promise<T> promise) {
  promise.Set(co_await std::move(task));
}
}  // namespace internal

// The result of the task, or nothing if it takes longer; then the task is destroyed where it waits.
template <class T>
base::Task<std::optional<T>> RunWithin(base::Executor& executor, base::Duration limit, base::Task<T> task) {
  base::Promise<T> promise(executor);
  auto result = promise.future();
  const Deadline deadline(executor, limit);
  base::TaskGroup group(executor);
  group.Spawn(internal::Deliver(std::move(task), std::move(promise)));
  co_return co_await result.Get(deadline.token());
}

}  // namespace berth::client
