#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"

#include "base/ids.h"
#include "cluster/ids.h"
#include "queue/group_forest.h"
#include "queue/plugin_set.h"
#include "queue/queueing_params.h"

// What goes back and forth between the queue and whoever tries a pod.
namespace berth::queue {

using PodRef = base::Versioned<cluster::PodSlot>;

struct PoppedPod {
  PodRef pod;
  QueueingParams params;
  bool is_early = false;       // its backoff is not over
  std::uint64_t sequence = 0;  // its place among those whose backoff ends with its own
};
// What Pop hands out: a pod, or a group with the pods that are to be tried together.
struct PoppedEntity {
  GroupId group;  // invalid: a pod
  QueueingParams params;
  absl::InlinedVector<PoppedPod, 1> pods = {};
};

// Why an attempt failed. Nobody: an error, not a rejection.
struct Rejection {
  PluginSet unschedulable;
  PluginSet pending;
  // Of pods that would have been rejected in the same way at this moment, for as long as nothing happens. 0:
  // nothing is known of others.
  std::uint64_t likeness = 0;
};
enum class GroupOutcome : std::uint8_t { kSuccess, kUnschedulable, kError };

}  // namespace berth::queue
