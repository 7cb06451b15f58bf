#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/pod.h"

namespace berth::api {

// What a pod's status should say. What is not named here stays as it is.
struct PodStatusChange {
  // By type. Whoever writes them fills in the times: lastTransitionTime moves only with the status.
  std::vector<PodCondition> conditions = {};
  // Empty: the nomination is cleared.
  std::optional<std::string> nominated_node_name = {};
  // Takes PodScheduled away if, and only if, it says that the pod is not ready for scheduling.
  bool remove_not_ready = false;

  bool operator==(const PodStatusChange&) const = default;
};

inline constexpr const char* kPodScheduled = "PodScheduled";
inline constexpr const char* kNotReadyForScheduling = "NotReadyForScheduling";

inline bool IsNotReadyForScheduling(const PodCondition& condition) {
  return condition.type == kPodScheduled && condition.reason == kNotReadyForScheduling;
}

// Whether writing the one over the other would tell nobody anything. Another generation alone is not worth a
// request.
inline bool SaysTheSame(const PodCondition& a, const PodCondition& b) {
  return a.status == b.status && a.reason == b.reason && a.message == b.message &&
         a.last_probe_time == b.last_probe_time;
}

}  // namespace berth::api
