#pragma once

#include <utility>

#include "absl/container/flat_hash_map.h"

#include "base/ids.h"
#include "cluster/cluster.h"

namespace berth::cycle {

// How pods are that changed after they were given a node and before they are bound. Their binding goes on
// with the pod as it was; if it fails, the pod waits again as it is by then. Otherwise a pod would be judged
// by what it no longer says, and what its status says would be taken for what it said: a nomination that was
// written meanwhile could not be taken back.
class LateUpdates {
 public:
  using PodRef = base::Versioned<cluster::PodSlot>;

  void Set(PodRef pod, cluster::PodRecordRef record) { records_.insert_or_assign(pod, std::move(record)); }
  // Null: it did not change.
  cluster::PodRecordRef Take(PodRef pod) {
    const auto found = records_.find(pod);
    if (found == records_.end()) return nullptr;
    cluster::PodRecordRef record = std::move(found->second);
    records_.erase(found);
    return record;
  }
  // The pod is bound, or gone.
  void Forget(PodRef pod) { records_.erase(pod); }
  bool empty() const { return records_.empty(); }

 private:
  absl::flat_hash_map<PodRef, cluster::PodRecordRef> records_;
};

}  // namespace berth::cycle
