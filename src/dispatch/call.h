#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/pod_status_change.h"
#include "base/error.h"
#include "base/ids.h"
#include "cluster/cluster.h"

namespace berth::dispatch {

using CallId = base::Id<struct CallIdTag>;

// In the order of relevance: a call replaces a stored one of lower relevance, and is skipped beside a higher
// one.
enum class CallType : std::uint8_t { kPodStatusPatch, kPodBinding, kPodDeletion };
inline constexpr std::size_t kCallTypeCount = 3;
std::string_view CallTypeName(CallType type);

// How a call left the dispatcher. Skipped and overwritten are no failures: something better took its place.
enum class CallEnd : std::uint8_t { kSucceeded, kFailed, kSkipped, kOverwritten, kCancelled };

struct CallOutcome {
  CallEnd end = CallEnd::kSucceeded;
  std::string message = {};  // of a failure, or why it was not executed

  bool IsFailure() const { return end == CallEnd::kFailed || end == CallEnd::kCancelled; }
};

// An event to be recorded with a call, when and only when its request is made.
struct CallEvent {
  std::string type;
  std::string reason;
  std::string action;
  std::string note;
};

// One write to one pod.
struct Call {
  CallType type = CallType::kPodStatusPatch;
  cluster::PodRecordRef pod;    // as it was last seen
  std::string node = {};        // of a binding
  api::PodStatusChange change;  // of a patch; of a deletion, what the status says first
  std::optional<CallEvent> event = std::nullopt;
  // Called once, after the dispatcher has forgotten the call: it may add another one.
  std::move_only_function<void(const CallOutcome&)> on_finish = nullptr;
};

}  // namespace berth::dispatch
