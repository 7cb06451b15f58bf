#include "sandbox/pod_summary.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// The entry of a list of objects whose `key` is `value`, or null.
const json::object* FindEntry(const json::array* list, std::string_view key, std::string_view value) {
  if (list == nullptr) return nullptr;
  for (const json::value& entry : *list) {
    if (entry.is_object() && TextAt(entry.get_object(), {key}) == value) return &entry.get_object();
  }
  return nullptr;
}

// What keeps a container from running, if something does.
std::string ContainerReason(const json::object& status) {
  if (const json::object* waiting = FindObject(status, {"state", "waiting"})) {
    return std::string(TextAt(*waiting, {"reason"}));
  }
  const json::object* terminated = FindObject(status, {"state", "terminated"});
  if (terminated == nullptr) return "";
  const std::string_view reason = TextAt(*terminated, {"reason"});
  if (!reason.empty()) return std::string(reason);
  const std::int64_t signal = NumberAt(*terminated, {"signal"});
  return signal != 0 ? fmt::format("Signal:{}", signal)
                     : fmt::format("ExitCode:{}", NumberAt(*terminated, {"exitCode"}));
}

}  // namespace

std::string PodReady(const json::object& pod) {
  const json::array* containers = FindArray(pod, {"spec", "containers"});
  const json::array* statuses = FindArray(pod, {"status", "containerStatuses"});
  std::size_t ready = 0;
  if (statuses != nullptr) {
    for (const json::value& status : *statuses) {
      ready += status.is_object() && FlagAt(status.get_object(), {"ready"}) ? 1 : 0;
    }
  }
  return fmt::format("{}/{}", ready, containers != nullptr ? containers->size() : 0);
}

std::string PodStatus(const json::object& pod) {
  std::string status(TextAt(pod, {"status", "reason"}));
  if (status.empty()) status = TextAt(pod, {"status", "phase"});
  const json::object* scheduled = FindEntry(FindArray(pod, {"status", "conditions"}), "type", "PodScheduled");
  if (scheduled != nullptr && TextAt(*scheduled, {"reason"}) == "SchedulingGated") status = "SchedulingGated";
  if (const json::array* statuses = FindArray(pod, {"status", "containerStatuses"})) {
    for (auto it = statuses->rbegin(); it != statuses->rend(); ++it) {
      if (!it->is_object()) continue;
      const std::string reason = ContainerReason(it->get_object());
      if (!reason.empty()) status = reason;
    }
  }
  if (FindValue(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    const std::string_view phase = TextAt(pod, {"status", "phase"});
    if (phase != "Succeeded" && phase != "Failed") status = "Terminating";
  }
  return status;
}

std::string PodRestarts(const json::object& pod) {
  std::int64_t restarts = 0;
  if (const json::array* statuses = FindArray(pod, {"status", "containerStatuses"})) {
    for (const json::value& status : *statuses) {
      if (status.is_object()) restarts += NumberAt(status.get_object(), {"restartCount"});
    }
  }
  return std::to_string(restarts);
}

std::string PodReadinessGates(const json::object& pod) {
  const json::array* gates = FindArray(pod, {"spec", "readinessGates"});
  if (gates == nullptr || gates->empty()) return "<none>";
  std::size_t met = 0;
  for (const json::value& gate : *gates) {
    if (!gate.is_object()) continue;
    const json::object* condition = FindEntry(FindArray(pod, {"status", "conditions"}), "type",
                                              TextAt(gate.get_object(), {"conditionType"}));
    met += condition != nullptr && TextAt(*condition, {"status"}) == "True" ? 1 : 0;
  }
  return fmt::format("{}/{}", met, gates->size());
}

}  // namespace berth::sandbox
