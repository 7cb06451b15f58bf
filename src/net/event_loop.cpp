#include "net/event_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdint>
#include <optional>
#include <vector>

namespace berth::net {
namespace {

constexpr std::size_t kScratchBytes = 64 * 1024;

using SignalCallback = std::move_only_function<void(int)>;

void WaitForSignal(boost::asio::signal_set& signals, std::shared_ptr<SignalCallback> callback) {
  signals.async_wait([&signals, callback](const boost::system::error_code& error, int signal) {
    if (error) return;
    (*callback)(signal);
    WaitForSignal(signals, callback);
  });
}

}  // namespace

struct EventLoop::Impl {
  base::RealClock clock;
  // One thread runs it, but others post: the default locking stays on.
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work = make_work_guard(context);
  std::optional<boost::asio::signal_set> signals;
  std::vector<char> scratch = std::vector<char>(kScratchBytes);
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) { std::signal(SIGPIPE, SIG_IGN); }

EventLoop::~EventLoop() = default;

void EventLoop::Run() {
  impl_->context.restart();
  impl_->context.run();
}

bool EventLoop::RunOne() {
  if (impl_->context.stopped()) return false;
  return impl_->context.run_one() != 0;
}

void EventLoop::Stop() { impl_->context.stop(); }

void EventLoop::Post(Callback callback) { boost::asio::post(impl_->context, std::move(callback)); }

base::TimePoint EventLoop::Now() const { return impl_->clock.Now(); }

void EventLoop::OnSignals(std::span<const int> signals, SignalCallback callback) {
  auto& set = impl_->signals.emplace(impl_->context);
  for (const int signal : signals) set.add(signal);
  WaitForSignal(set, std::make_shared<SignalCallback>(std::move(callback)));
}

boost::asio::io_context& EventLoop::context() { return impl_->context; }

std::span<char> EventLoop::scratch() { return impl_->scratch; }

struct Timer::Impl {
  explicit Impl(EventLoop& owner) : loop(owner), timer(owner.context()) {}

  EventLoop& loop;
  boost::asio::steady_timer timer;
  // A cancelled wait may already be on its way: only the callback of the latest start is called.
  std::uint64_t generation = 0;
};

Timer::Timer(EventLoop& loop) : impl_(std::make_shared<Impl>(loop)) {}

Timer::~Timer() { Cancel(); }

void Timer::StartAt(base::TimePoint time, Callback callback) {
  StartAfter(time - impl_->loop.Now(), std::move(callback));
}

void Timer::StartAfter(base::Duration delay, Callback callback) {
  const std::uint64_t generation = ++impl_->generation;
  impl_->timer.expires_after(delay);
  impl_->timer.async_wait(
      [weak = std::weak_ptr<Impl>(impl_), generation, call = std::move(callback)](const auto& error) mutable {
        const auto self = weak.lock();
        if (!error && self && self->generation == generation) call();
      });
}

void Timer::Cancel() {
  ++impl_->generation;
  impl_->timer.cancel();
}

}  // namespace berth::net
