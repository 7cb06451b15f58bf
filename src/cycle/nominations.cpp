#include "cycle/nominations.h"

namespace berth::cycle {

std::function<void(const dispatch::CallOutcome&)> RestoreUnlessCleared(
    cluster::Cluster& cluster, base::Versioned<cluster::PodSlot> pod) {
  return [&cluster, pod](const dispatch::CallOutcome& outcome) {
    const auto& pods = cluster.pods();
    if (!outcome.IsFailure() || !pods.IsCurrent(pod)) return;
    if (pods.state(pod.id) != cluster::PodState::kPending) return;
    if (!cluster.nominator().NodeOf(pod.id).IsValid()) cluster.Nominate(pod.id);
  };
}

}  // namespace berth::cycle
