#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/executor.h"

namespace berth::base {

// Tasks that run beside each other within one other task, which waits for all of them:
//
//   TaskGroup group(executor);
//   for (...) group.Spawn(PreBind(...));
//   co_await group.WaitForAll();
//
// Tasks start in the order in which they were spawned. Destroying the group destroys the tasks that are left,
// so a task never outlives the group that it was spawned in. To stop them gently hand them a
// CancellationToken.
class TaskGroup {
 public:
  explicit TaskGroup(Executor& executor) : tasks_(executor) {}

  void Spawn(Task<void> task) { tasks_.Spawn(std::move(task)); }
  std::size_t pending() const { return tasks_.size(); }

  class [[nodiscard]] Wait : public Waiter {
   public:
    explicit Wait(TaskSet& tasks) : Waiter(tasks.executor_), tasks_(tasks) {}

    bool await_ready() const { return tasks_.size_ == 0; }
    void await_suspend(std::coroutine_handle<> handle) {
      Suspend(handle);
      tasks_.waiters_.PushBack(*this);
    }
    void await_resume() const {}

   private:
    TaskSet& tasks_;
  };
  Wait WaitForAll() { return Wait(tasks_); }

 private:
  TaskSet tasks_;
};

namespace internal {
template <class T>
Task<void> StoreResult(Task<T> task, std::optional<T>& result) {
  result.emplace(co_await std::move(task));
}
}  // namespace internal

// Runs the tasks beside each other; the results come in the order of the tasks.
template <class T>
Task<std::vector<T>> WhenAll(Executor& executor, std::vector<Task<T>> tasks) {
  std::vector<std::optional<T>> results(tasks.size());
  TaskGroup group(executor);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    group.Spawn(internal::StoreResult(std::move(tasks[i]), results[i]));
  }
  co_await group.WaitForAll();
  std::vector<T> values;
  values.reserve(results.size());
  for (std::optional<T>& result : results) values.push_back(std::move(*result));
  co_return values;
}

}  // namespace berth::base
