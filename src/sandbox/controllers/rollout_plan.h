#pragma once

#include <cstdint>
#include <span>
#include <vector>

// The arithmetic of a Deployment's rollout, apart from objects: how many pods each of its ReplicaSets is to
// have next. Numbers only, so that the rules can be tested as such.
namespace berth::sandbox {

// One ReplicaSet of a Deployment. The plans below change `replicas` and nothing else.
struct SetSize {
  std::int64_t replicas = 0;   // that it is asked for
  std::int64_t available = 0;  // that serve
  std::int64_t max_replicas =
      0;  // what the whole Deployment could have when this set was last sized; 0: unknown
  std::int64_t created_order = 0;  // ascending with age: the oldest is 0
};

struct RolloutLimits {
  std::int64_t replicas = 0;     // of the Deployment
  std::int64_t surge = 0;        // so many more may exist
  std::int64_t unavailable = 0;  // so many may be missing
};

// How many the new set may have now: up to the Deployment's size, as long as the total stays within the
// surge.
std::int64_t GrowNewSet(const RolloutLimits& limits, std::int64_t new_replicas, std::int64_t all_replicas);

// Shrinks the old sets, those pods first that do not serve anyway, oldest set first, as far as availability
// allows. True if anything changed.
bool ShrinkOldSets(const RolloutLimits& limits, const SetSize& new_set, std::span<SetSize> old_sets);

// The Deployment was resized in the middle of a rollout: every set gets its part of what is added or taken,
// so that the mix of old and new stays what it was. `current_status_replicas` stands in for an unknown
// max_replicas.
void ScaleInProportion(const RolloutLimits& limits, std::int64_t current_status_replicas,
                       std::span<SetSize> sets);

}  // namespace berth::sandbox
