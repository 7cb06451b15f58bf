#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "base/clock.h"

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming): it is Boost's
}  // namespace boost::asio

namespace berth::net {

using Callback = std::move_only_function<void()>;

// One thread's sockets, timers and posted work.
//
// One thread calls Run; everything that is made with a loop (timers, servers, clients, their callbacks) is
// used from that thread alone, or before it starts. Post and Stop may be called from any thread.
//
// A loop makes the process ignore SIGPIPE: a peer that went away is an error of one write, not the end.
class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs callbacks until Stop. May be called again after it returned.
  void Run();
  // Waits for one callback and runs it; false after Stop.
  bool RunOne();
  void Stop();

  // Run looks at the sockets and timers, and at what other threads posted, at most once in so long while
  // there is much to do: what comes meanwhile is done together, for a fraction of the system calls. Whatever
  // comes alone, after some paces in which there was nothing to do, is done at once. Zero, as at first: never
  // waits. From any thread, as often as one likes.
  void SetPace(base::Duration pace);
  // What a loop does next when nothing is left to do.
  enum class Rest { kPace, kWait };
  // Called before each rest. Before a wait that may last for ever it is always called; before the next pace
  // it may be the only call for long. It posts nothing; what it refers to lives as long as Run.
  void OnRest(std::function<void(Rest)> callback);

  // Runs the callback soon, on the loop's thread, never inside this call. In order per posting thread.
  void Post(Callback callback);

  base::TimePoint Now() const;

  // Calls on each of these signals, instead of what the process would do. One subscription per loop.
  void OnSignals(std::span<const int> signals, std::move_only_function<void(int)> callback);

  // For this room: what sockets are made with, and a block of memory to read into that is free whenever no
  // callback is running.
  boost::asio::io_context& context();
  std::span<char> scratch();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Calls once, at or after a time. Starting it again or destroying it takes back what has not been called.
class Timer {
 public:
  explicit Timer(EventLoop& loop);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void StartAt(base::TimePoint time, Callback callback);
  void StartAfter(base::Duration delay, Callback callback);
  void Cancel();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::net
