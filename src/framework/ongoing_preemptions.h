#pragma once

#include <cstddef>
#include <optional>

#include "absl/container/btree_map.h"

#include "base/ids.h"
#include "cluster/cluster.h"

namespace berth::framework {

// How a victim's status says why it goes.
inline constexpr const char* kDisruptionTarget = "DisruptionTarget";
inline constexpr const char* kPreemptionByScheduler = "PreemptionByScheduler";

// Pods for which room is being made: somebody is evicting others on their behalf, and until that is done it
// would be wrong to try them, because they would choose victims once more.
//
// One per cluster (Cluster::UseExtension): who evicts writes it, who holds the pods back reads it.
class OngoingPreemptions final : public cluster::Extension {
 public:
  using PodRef = base::Versioned<cluster::PodSlot>;

  explicit OngoingPreemptions(const cluster::Cluster& cluster) : cluster_(cluster) {}

  // No effect if it began already.
  void Begin(PodRef preemptor) { by_preemptor_.try_emplace(preemptor); }
  // Only this one is left: as soon as it is on its way out the pod may be tried, whether or not the answer to
  // the request has come.
  void SetLastVictim(PodRef preemptor, PodRef victim);
  void End(PodRef preemptor) { by_preemptor_.erase(preemptor); }

  // Whether the pod is to be held back.
  bool IsWaiting(cluster::PodSlot pod) const;
  // Room is being made for it, held back or not.
  bool Contains(cluster::PodSlot pod) const { return by_preemptor_.contains(cluster_.pods().Version(pod)); }
  std::size_t size() const { return by_preemptor_.size(); }

  void OnPodPlaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnPodDisplaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnNodeChanged(cluster::NodeRow, cluster::Facts) override {}
  void AddTo(cluster::Digester& digest) const override;

 private:
  const cluster::Cluster& cluster_;
  absl::btree_map<PodRef, std::optional<PodRef>> by_preemptor_;  // to its last victim
};

}  // namespace berth::framework
