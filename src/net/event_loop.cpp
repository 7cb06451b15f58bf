#include "net/event_loop.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace berth::net {
namespace {

constexpr std::size_t kScratchBytes = 64 * 1024;
// What callbacks post is done before the sockets are asked again, but not for longer than this.
constexpr base::Duration kPostedTurn = std::chrono::milliseconds(1);
// Most callbacks take less than a microsecond, and a look at the clock a tenth of that.
constexpr int kPostedPerLook = 8;
// Rounds that follow each other within so many paces make a loop busy.
constexpr int kBusyPaces = 4;

// The loop whose callbacks this thread is running.
thread_local const EventLoop* running_loop = nullptr;

class Running {
 public:
  explicit Running(const EventLoop& loop) : before_(std::exchange(running_loop, &loop)) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { running_loop = before_; }

 private:
  const EventLoop* before_;
};

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
  // By callbacks of this loop: they cost neither a lock nor a look at the sockets each.
  std::deque<Callback> posted;
  std::atomic<base::Duration> pace = base::Duration::zero();
  std::vector<std::function<void(Rest)>> on_rest;
  base::TimePoint round;  // when the last wait was over
  bool is_busy = false;

  bool RunPosted();
  void RunAllPosted();
  void TellRest(Rest rest) {
    for (const auto& callback : on_rest) callback(rest);
  }
  // Whether there was something to wait for, and something to do afterwards.
  bool KeepPace();
  void NoteRound();
};

bool EventLoop::Impl::RunPosted() {
  if (posted.empty()) return false;
  Callback callback = std::move(posted.front());
  posted.pop_front();
  callback();
  return true;
}

void EventLoop::Impl::RunAllPosted() {
  if (posted.empty()) return;
  const base::TimePoint until = clock.Now() + kPostedTurn;
  for (int count = 1; !context.stopped() && RunPosted(); ++count) {
    if (count % kPostedPerLook == 0 && clock.Now() >= until) return;
  }
}

bool EventLoop::Impl::KeepPace() {
  if (!is_busy || round + pace.load() <= clock.Now()) return false;
  TellRest(Rest::kPace);
  std::this_thread::sleep_for(round + pace.load() - clock.Now());
  return context.poll_one() != 0;
}

void EventLoop::Impl::NoteRound() {
  const base::TimePoint now = clock.Now();
  is_busy = now - round < kBusyPaces * pace.load();
  round = now;
}

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) { std::signal(SIGPIPE, SIG_IGN); }

EventLoop::~EventLoop() = default;

void EventLoop::Run() {
  const Running running(*this);
  Impl& impl = *impl_;
  impl.context.restart();
  while (true) {
    impl.RunAllPosted();
    if (impl.context.stopped()) return;
    const bool has_pace = impl.pace.load() != base::Duration::zero();
    if (has_pace || !impl.posted.empty()) {
      if (impl.context.poll_one() != 0 || !impl.posted.empty()) continue;
    }
    if (!has_pace || !impl.KeepPace()) {
      impl.TellRest(Rest::kWait);
      if (impl.context.run_one() == 0) return;
    }
    if (has_pace) impl.NoteRound();
  }
}

bool EventLoop::RunOne() {
  if (impl_->context.stopped()) return false;
  const Running running(*this);
  return impl_->RunPosted() || impl_->context.run_one() != 0;
}

void EventLoop::Stop() { impl_->context.stop(); }

void EventLoop::SetPace(base::Duration pace) { impl_->pace = pace; }

void EventLoop::OnRest(std::function<void(Rest)> callback) { impl_->on_rest.push_back(std::move(callback)); }

void EventLoop::Post(Callback callback) {
  if (running_loop == this) {
    impl_->posted.push_back(std::move(callback));
  } else {
    boost::asio::post(impl_->context, std::move(callback));
  }
}

base::TimePoint EventLoop::Now() const { return impl_->clock.Now(); }

void EventLoop::OnSignals(std::span<const int> signals, SignalCallback callback) {
  auto& set = impl_->signals.emplace(impl_->context);
  for (const int signal : signals) set.add(signal);
  WaitForSignal(set, std::make_shared<SignalCallback>(std::move(callback)));
}

boost::asio::io_context& EventLoop::context() { return impl_->context; }

std::span<char> EventLoop::scratch() { return impl_->scratch; }

// The kernel's timer is expensive to set, and most deadlines move on before they come: a timer that is set
// for an earlier time stays as it is, and looks again when it fires.
struct Timer::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(EventLoop& owner) : loop(owner), timer(owner.context()) {}

  void Arm();
  void Call(std::uint64_t started);

  EventLoop& loop;
  boost::asio::steady_timer timer;
  Callback callback;  // of the latest start, or none
  base::TimePoint wanted;
  base::TimePoint armed = base::TimePoint::max();  // what the kernel knows, or never
  // A start or a setting that was taken back may already be on its way.
  std::uint64_t start = 0;
  std::uint64_t setting = 0;
};

void Timer::Impl::Arm() {
  armed = wanted;
  timer.expires_after(wanted - loop.Now());
  timer.async_wait([weak = weak_from_this(), set = ++setting](const auto& error) {
    const auto self = weak.lock();
    if (error || !self || self->setting != set) return;
    self->armed = base::TimePoint::max();
    if (!self->callback) return;
    if (self->loop.Now() < self->wanted) {
      self->Arm();
    } else {
      self->Call(self->start);
    }
  });
}

void Timer::Impl::Call(std::uint64_t started) {
  if (started != start || !callback) return;
  std::exchange(callback, nullptr)();
}

Timer::Timer(EventLoop& loop) : impl_(std::make_shared<Impl>(loop)) {}

Timer::~Timer() { Cancel(); }

void Timer::StartAt(base::TimePoint time, Callback callback) {
  StartAfter(time - impl_->loop.Now(), std::move(callback));
}

void Timer::StartAfter(base::Duration delay, Callback callback) {
  Impl& impl = *impl_;
  impl.callback = std::move(callback);
  ++impl.start;
  if (delay <= base::Duration::zero()) {
    impl.loop.Post([weak = impl_->weak_from_this(), started = impl.start] {
      if (const auto self = weak.lock()) self->Call(started);
    });
    return;
  }
  impl.wanted = impl.loop.Now() + delay;
  if (impl.armed > impl.wanted) impl.Arm();
}

void Timer::Cancel() {
  ++impl_->start;
  impl_->callback = nullptr;
}

}  // namespace berth::net
