#pragma once

#include <chrono>
#include <cstdint>

namespace berth::base {

using Duration = std::chrono::nanoseconds;

// Tags for two kinds of time that must not be mixed. They are no std clocks: nothing here can read the time
// without being handed a Clock.
struct MonotonicTime {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
};
struct WallTime : MonotonicTime {};

// For deadlines, backoff and latencies. Never goes back; its zero means nothing.
using TimePoint = std::chrono::time_point<MonotonicTime, Duration>;
// For what people and API objects read: since the Unix epoch, UTC. May jump when the machine's clock is set.
using WallPoint = std::chrono::time_point<WallTime, Duration>;

// Where time comes from. Whatever decides gets its clock from outside, so that a run can be simulated,
// recorded and replayed; RealClock is for the shell around it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
  virtual WallPoint WallNow() const = 0;
};

class RealClock final : public Clock {
 public:
  TimePoint Now() const override;
  WallPoint WallNow() const override;
};

// Time that passes only when told to. Both readings advance together and never go back.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(TimePoint start = TimePoint(), WallPoint wall_start = WallPoint())
      : now_(start), wall_offset_(wall_start.time_since_epoch() - start.time_since_epoch()) {}

  TimePoint Now() const override { return now_; }
  WallPoint WallNow() const override { return WallPoint(now_.time_since_epoch() + wall_offset_); }

  // Aborts when time would go back.
  void Advance(Duration by);
  void SetTo(TimePoint to);

 private:
  TimePoint now_;
  Duration wall_offset_;
};

}  // namespace berth::base
