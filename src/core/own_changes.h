#pragma once

#include "cluster/cluster.h"
#include "dra/claim_cache.h"
#include "plugins/volume_binding_caches.h"
#include "queue/scheduling_queue.h"

namespace berth::core {

// Tells the queue what the scheduler itself took back. While a pod is on its way to a node its volumes and
// devices are promised to it, and other pods may be rejected because of that. If it does not get there they
// are free again; the server never knew, so that no watch tells.
class OwnChanges {
 public:
  OwnChanges(cluster::Cluster& cluster, queue::SchedulingQueue& queue);

  // O(what was taken back since the last time).
  void Tell();

 private:
  queue::SchedulingQueue& queue_;
  dra::ClaimCache& device_claims_;
  plugins::VolumeCaches& volumes_;
};

}  // namespace berth::core
