#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "queue/plugin_set.h"

namespace berth::queue {

// A time or none, in the space of a time: every waiting pod has three of them.
class MaybeTime {
 public:
  MaybeTime() = default;
  MaybeTime(base::TimePoint time) : time_(time) {}
  operator std::optional<base::TimePoint>() const {
    return has_value() ? std::optional(time_) : std::nullopt;
  }

  bool has_value() const { return time_ != kNone; }
  explicit operator bool() const { return has_value(); }
  base::TimePoint operator*() const { return time_; }
  base::TimePoint value_or(base::TimePoint otherwise) const { return has_value() ? time_ : otherwise; }
  void reset() { time_ = kNone; }
  bool operator==(const MaybeTime&) const = default;

 private:
  static constexpr base::TimePoint kNone = base::TimePoint::min();

  base::TimePoint time_ = kNone;
};

// What the queue knows of a pod's or group's attempts. It leaves the queue with Pop and comes back with the
// pod.
struct QueueingParams {
  base::TimePoint timestamp;  // of Add, then of the last return from an attempt
  MaybeTime initial_attempt;  // first entry to the active queue
  MaybeTime flush_timestamp;  // last time that the leftover flush moved it
  // End of backoff in full precision, found when first needed. A group that grows meanwhile keeps it.
  MaybeTime expiry;
  PluginSet unschedulable;
  PluginSet pending;  // these promised to bring the pod back themselves: no backoff once they do
  std::int32_t attempts = 0;
  std::int32_t unschedulable_count = 0;
  std::int32_t consecutive_errors = 0;
  PluginId gating = kNoPlugin;  // the PreEnqueue plugin that keeps it out
  bool was_flushed = false;

  PluginSet rejectors() const { return unschedulable | pending; }
  bool gated() const { return gating != kNoPlugin; }
};

}  // namespace berth::queue
