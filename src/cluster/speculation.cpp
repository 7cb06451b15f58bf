#include "cluster/speculation.h"

#include "base/check.h"
#include "cluster/cluster.h"

namespace berth::cluster {

Speculation::Speculation(Cluster& cluster) : cluster_(cluster), mark_(cluster.placements_.Open()) {}

Speculation::~Speculation() {
  if (open_) RollBack();
}

void Speculation::Place(PodSlot pod, NodeRow row) {
  BERTH_CHECK(open_);
  cluster_.placements_.Place(pod, row);
}

NodeRow Speculation::Displace(PodSlot pod) {
  BERTH_CHECK(open_);
  return cluster_.placements_.Displace(pod);
}

void Speculation::RollBack() {
  BERTH_CHECK(open_);
  cluster_.placements_.RollBack(mark_);
  open_ = false;
}

}  // namespace berth::cluster
