#pragma once

#include "base/clock.h"
#include "base/executor.h"
#include "net/event_loop.h"

namespace berth::client {

// Runs tasks on the thread of an event loop, with the machine's clock.
//
// Whoever makes a task ready from a callback of the loop calls Wake. The loop outlives this object.
class LoopExecutor {
 public:
  explicit LoopExecutor(net::EventLoop& loop);
  ~LoopExecutor();
  LoopExecutor(const LoopExecutor&) = delete;
  LoopExecutor& operator=(const LoopExecutor&) = delete;

  void Spawn(base::Task<void> task);
  // Runs what is ready, soon, and never inside this call.
  void Wake();

  net::EventLoop& loop() { return loop_; }
  base::Executor& executor() { return executor_; }

 private:
  void Run();

  net::EventLoop& loop_;
  base::RealClock clock_;
  net::Timer timer_;
  std::shared_ptr<bool> wake_queued_ = std::make_shared<bool>(false);
  base::Executor executor_{clock_};
};

}  // namespace berth::client
