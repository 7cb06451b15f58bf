#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"

#include "api/volumes.h"
#include "base/interner.h"
#include "cluster/cluster.h"
#include "cluster/extension.h"

namespace berth::plugins {

// A volume that two pods of one node cannot always share: a disk that is attached by its name.
bool IsRestricted(const api::VolumeSource& source);
// Two pods with these volumes cannot be on one node.
bool Conflict(const api::VolumeSource& a, const api::VolumeSource& b);

// Which pods on nodes hold which disks and name which claims, so that a pod looks at the holders of its own
// disks instead of at all pods.
class DiskHolders final : public cluster::Extension {
 public:
  explicit DiskHolders(cluster::Cluster& cluster) : cluster_(cluster) {}

  // The rows on which a pod has a volume that conflicts with this one.
  void AppendConflictingRows(const api::VolumeSource& source, std::vector<cluster::NodeRow>& rows) const;

  // How many volumes of pods on nodes refer to the claim. A node whose object is gone counts: its pods may
  // run there until somebody says otherwise.
  std::int32_t ClaimUse(std::string_view key) const;
  // The same by the claim's name in any namespace.
  std::int32_t ClaimNameUse(std::string_view name) const;

  void OnPodPlaced(cluster::PodSlot pod, cluster::NodeRow row) override;
  void OnPodDisplaced(cluster::PodSlot pod, cluster::NodeRow row) override;
  void OnNodeChanged(cluster::NodeRow, cluster::Facts) override {}
  void AddTo(cluster::Digester& digest) const override;

 private:
  using DiskId = base::Id<struct DiskTag>;
  using Holder = std::pair<cluster::NodeRow, cluster::PodSlot>;
  using Holders = absl::btree_map<Holder, std::int32_t>;  // how many volumes of the pod

  void CountDisks(const api::PodSpec& spec, Holder holder, std::int32_t delta);
  void CountNames(cluster::PodSlot pod, std::int32_t delta);

  const cluster::Cluster& cluster_;
  base::Interner<DiskId> disks_;
  std::vector<Holders> holders_;  // by DiskId
  absl::btree_map<std::string, std::int32_t, std::less<>> name_use_;
};

}  // namespace berth::plugins
