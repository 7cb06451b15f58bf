#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "queue/plugin_set.h"

namespace berth::queue {

// What the queue knows of a pod's or group's attempts. It leaves the queue with Pop and comes back with the
// pod.
struct QueueingParams {
  base::TimePoint timestamp;                       // of Add, then of the last return from an attempt
  std::optional<base::TimePoint> initial_attempt;  // first entry to the active queue
  std::optional<base::TimePoint> flush_timestamp;  // last time that the leftover flush moved it
  // End of backoff in full precision, found when first needed. A group that grows meanwhile keeps it.
  std::optional<base::TimePoint> expiry;
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
