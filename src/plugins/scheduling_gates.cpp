#include "plugins/scheduling_gates.h"

#include <string>
#include <utility>

namespace berth::plugins {

framework::Status SchedulingGates::PreEnqueue(const framework::WaitingPod& pod) const {
  const std::vector<api::PodSchedulingGate>& gates = pod.record().spec->spec.scheduling_gates;
  if (gates.empty()) return {};
  if (speaks_as_api_server_) {
    return framework::Status::Unresolvable("Scheduling is blocked due to non-empty scheduling gates");
  }
  std::string message = "waiting for scheduling gates: [";
  for (const api::PodSchedulingGate& gate : gates) {
    if (&gate != &gates.front()) message += ' ';
    message += gate.name;
  }
  message += ']';
  return framework::Status::Unresolvable(std::move(message));
}

std::vector<framework::EventRegistration> SchedulingGates::EventsToRegister() const {
  // The event only comes when no gate is left.
  return {{.event = {framework::EventResource::kTargetPod, framework::kUpdatePodSchedulingGatesEliminated},
           .hint = [](const framework::HintInput&) -> base::Result<framework::Hint> {
             return framework::Hint::kQueue;
           }}};
}

}  // namespace berth::plugins
