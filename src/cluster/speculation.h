#pragma once

#include <cstddef>

#include "cluster/ids.h"

namespace berth::cluster {

class Cluster;

// Tries things on live state and leaves no trace: what is placed, displaced or nominated while it is open is
// taken back when it ends. Preemption, nominated pods, gangs and what-if questions all use it.
//
//   Speculation trial(cluster);
//   trial.Displace(victim);
//   trial.Place(pod, row);
//   ... evaluate ...
//
// Speculations nest, and end in the opposite order of their beginning. While one is open nothing else may
// change the cluster: an event that is applied then is a bug.
class Speculation {
 public:
  explicit Speculation(Cluster& cluster);
  ~Speculation();
  Speculation(const Speculation&) = delete;
  Speculation& operator=(const Speculation&) = delete;

  // The pod must be on no node.
  void Place(PodSlot pod, NodeRow row);
  // Returns where it was. The pod must be on a node; its state stays what it was.
  NodeRow Displace(PodSlot pod);
  // Ends it before its scope does.
  void RollBack();

 private:
  Cluster& cluster_;
  const std::size_t mark_;
  bool open_ = true;
};

}  // namespace berth::cluster
