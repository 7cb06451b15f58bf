#include "client/loop_executor.h"

#include <utility>

namespace berth::client {

LoopExecutor::LoopExecutor(net::EventLoop& loop) : loop_(loop), timer_(loop) {}

LoopExecutor::~LoopExecutor() = default;

void LoopExecutor::Spawn(base::Task<void> task) {
  executor_.Spawn(std::move(task));
  Wake();
}

void LoopExecutor::Wake() {
  if (std::exchange(*wake_queued_, true)) return;
  // The flag is shared so that a callback that outlives this object can tell.
  loop_.Post([this, alive = std::weak_ptr<bool>(wake_queued_)] {
    const auto queued = alive.lock();
    if (!queued) return;
    *queued = false;
    Run();
  });
}

void LoopExecutor::Run() {
  executor_.RunReady();
  if (const auto next = executor_.NextDeadline()) {
    timer_.StartAt(*next, [this] { Run(); });
  } else {
    timer_.Cancel();
  }
}

}  // namespace berth::client
