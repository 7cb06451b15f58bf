#pragma once

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace berth::base {

template <class T>
class Task;

namespace internal {

class TaskPromiseBase {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
      TaskPromiseBase& promise = finished.promise();
      promise.finished_ = true;
      if (promise.starting_) return std::noop_coroutine();
      return promise.continuation_;
    }
    void await_resume() const noexcept {}
  };
  FinalAwaiter final_suspend() const noexcept { return {}; }

  // Errors are values; an exception that reaches the edge of a task is a bug.
  void unhandled_exception() const noexcept { CheckFailed("a task threw an exception", __FILE__, __LINE__); }

  // Runs the task until it finishes or waits for the first time; true if it waits. A task that finishes at
  // once returns here rather than resuming its consumer, so a loop over such tasks needs no stack even where
  // the compiler does not turn the transfer of control into a jump (g++ does so from -O2 on).
  bool Start(std::coroutine_handle<> self, std::coroutine_handle<> continuation) {
    BERTH_CHECK(!continuation_);  // awaited twice
    continuation_ = continuation;
    starting_ = true;
    self.resume();
    starting_ = false;
    return !finished_;
  }

 private:
  std::coroutine_handle<> continuation_;
  bool starting_ = false;
  bool finished_ = false;
};

template <class T>
class TaskPromise : public TaskPromiseBase {
 public:
  Task<T> get_return_object();
  template <class U>
    requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) {
    result_.emplace(std::forward<U>(value));
  }
  T TakeResult() { return std::move(*result_); }

 private:
  std::optional<T> result_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
 public:
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void TakeResult() const noexcept {}
};

}  // namespace internal

// A coroutine that computes a T. Lazy: nothing runs until it is awaited (once, as `co_await std::move(task)`)
// or spawned on an Executor. Destroying a task destroys its frame, and with it whatever it was waiting for.
//
//   Task<int> Twice(Task<int> number) { co_return 2 * co_await std::move(number); }
//
// Arguments live in the frame, so a task takes values, or references to what surely outlives it. A lambda
// that is a coroutine must not capture: its captures die with the lambda, not with the frame.
template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = internal::TaskPromise<T>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    Task moved(std::move(other));
    std::swap(handle_, moved.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  class Awaiter {
   public:
    explicit Awaiter(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> consumer) {
      return handle_.promise().Start(handle_, consumer);
    }
    T await_resume() { return handle_.promise().TakeResult(); }

   private:
    std::coroutine_handle<promise_type> handle_;
  };

  // The task keeps the frame and must outlive the wait; a temporary does.
  Awaiter operator co_await() && {
    BERTH_CHECK(static_cast<bool>(handle_));
    return Awaiter(handle_);
  }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

namespace internal {

template <class T>
Task<T> TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace internal
}  // namespace berth::base
