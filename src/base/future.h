#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/executor.h"

namespace berth::base {

namespace internal {
template <class T>
struct FutureState {
  explicit FutureState(Executor& run_on) : executor(run_on) {}

  Executor& executor;
  std::optional<T> value;
  bool closed = false;  // there is a value, or there never will be
  IntrusiveList<Waiter> waiter;
};
}  // namespace internal

// A value that arrives later, for one task that waits for it: the result of an API call, say.
//
//   std::optional<T> value = co_await future.Get(token);
//
// Nothing comes out when the token was cancelled first (the value may still be had later) or when the promise
// was dropped without a value.
template <class T>
class [[nodiscard]] Future {
 public:
  class [[nodiscard]] Wait : public Waiter {
   public:
    Wait(std::shared_ptr<internal::FutureState<T>> state, CancellationToken token)
        : Waiter(state->executor, std::move(token)), state_(std::move(state)) {}

    bool await_ready() { return state_->closed || CancelledBeforeWait(); }
    void await_suspend(std::coroutine_handle<> handle) {
      BERTH_CHECK(state_->waiter.empty());
      Suspend(handle);
      state_->waiter.PushBack(*this);
    }
    std::optional<T> await_resume() {
      if (result_ == WaitResult::kCancelled) return std::nullopt;
      return std::exchange(state_->value, std::nullopt);
    }

   private:
    std::shared_ptr<internal::FutureState<T>> state_;
  };

  bool IsReady() const { return state_->closed; }
  Wait Get(CancellationToken token = {}) { return Wait(state_, std::move(token)); }

 private:
  template <class U>
  friend class Promise;
  explicit Future(std::shared_ptr<internal::FutureState<T>> state) : state_(std::move(state)) {}

  std::shared_ptr<internal::FutureState<T>> state_;
};

// The side that delivers, once. May outlive the future and the task that waits. Dropping it tells the waiting
// task that nothing will come. The executor must be alive when a value is set for a task that still waits.
template <class T>
class Promise {
 public:
  explicit Promise(Executor& executor) : state_(std::make_shared<internal::FutureState<T>>(executor)) {}
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&& other) noexcept {
    Close();
    state_ = std::move(other.state_);
    return *this;
  }
  ~Promise() { Close(); }

  // Call once.
  Future<T> future() { return Future<T>(state_); }

  void Set(T value) {
    BERTH_CHECK(state_ != nullptr && !state_->closed);
    state_->value.emplace(std::move(value));
    Close();
  }

 private:
  void Close() {
    if (state_ == nullptr) return;
    state_->closed = true;
    while (Waiter* waiter = state_->waiter.Front()) waiter->Wake(WaitResult::kDone);
  }

  std::shared_ptr<internal::FutureState<T>> state_;
};

}  // namespace berth::base
