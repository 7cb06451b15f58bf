#pragma once

#include <coroutine>

#include "base/executor.h"

namespace berth::base {

// A condition that tasks wait for. Set() wakes all of them, in the order in which they began to wait, and
// lets later ones pass until Reset(). Destroying an event wakes nobody: its waiters end with their executor.
class Event {
 public:
  explicit Event(Executor& executor) : executor_(executor) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool IsSet() const { return set_; }
  void Set() {
    set_ = true;
    while (Waiter* waiter = waiters_.Front()) waiter->Wake(WaitResult::kDone);
  }
  void Reset() { set_ = false; }

  class [[nodiscard]] Wait : public Waiter {
   public:
    Wait(Event& event, CancellationToken token) : Waiter(event.executor_, std::move(token)), event_(event) {}

    bool await_ready() {
      if (event_.set_) result_ = WaitResult::kDone;
      return event_.set_ || CancelledBeforeWait();
    }
    void await_suspend(std::coroutine_handle<> handle) {
      Suspend(handle);
      event_.waiters_.PushBack(*this);
    }

   private:
    Event& event_;
  };
  // co_await event.WaitFor(token)
  Wait WaitFor(CancellationToken token = {}) { return Wait(*this, std::move(token)); }

 private:
  Executor& executor_;
  IntrusiveList<Waiter> waiters_;
  bool set_ = false;
};

}  // namespace berth::base
