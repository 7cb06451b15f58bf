#include "framework/ongoing_preemptions.h"

namespace berth::framework {

void OngoingPreemptions::SetLastVictim(PodRef preemptor, PodRef victim) {
  const auto found = by_preemptor_.find(preemptor);
  if (found != by_preemptor_.end()) found->second = victim;
}

bool OngoingPreemptions::IsWaiting(cluster::PodSlot pod) const {
  const auto& pods = cluster_.pods();
  const auto found = by_preemptor_.find(pods.Version(pod));
  if (found == by_preemptor_.end()) return false;
  const std::optional<PodRef>& last = found->second;
  return !last || (pods.IsCurrent(*last) && !pods.terminating(last->id));
}

void OngoingPreemptions::AddTo(cluster::Digester& digest) const {
  digest.Add(by_preemptor_.size());
  for (const auto& [preemptor, last] : by_preemptor_) {
    digest.Add(preemptor.id.value());
    digest.Add(last ? last->id.value() : cluster::PodSlot::kInvalidValue);
  }
}

}  // namespace berth::framework
