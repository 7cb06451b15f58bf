#pragma once

#include "cluster/digest.h"
#include "cluster/facts.h"
#include "cluster/ids.h"

namespace berth::cluster {

// State that another room keeps in step with pods on nodes (volumes attached, devices taken), so that it
// takes part in speculations.
//
// OnPodPlaced and OnPodDisplaced are called right after the pod was added to or taken off the node's row, in
// real and in speculative changes alike. A rollback makes the opposite calls in the opposite order: each call
// must undo the other exactly. Nothing may be read from a clock or another thread, and neither call may
// change the cluster.
class Extension {
 public:
  virtual ~Extension() = default;

  virtual void OnPodPlaced(PodSlot pod, NodeRow row) = 0;
  virtual void OnPodDisplaced(PodSlot pod, NodeRow row) = 0;
  // The Node object came, changed or went; never in a speculation.
  virtual void OnNodeChanged(NodeRow row, Facts facts) = 0;
  virtual void AddTo(Digester& digest) const = 0;
};

}  // namespace berth::cluster
