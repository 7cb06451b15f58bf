#pragma once

#include "cluster/cluster.h"
#include "framework/cycle.h"

namespace berth::framework {

// Whether a node that this pod is nominated to is judged as if it were there already: it is of equal or
// higher priority than the pod of the attempt, and another one. A pod that somebody is trying elsewhere just
// now is not expected here.
inline bool IsExpected(const Cycle& cycle, cluster::PodSlot nominated) {
  const cluster::PodTable& pods = cycle.cluster().pods();
  return nominated != cycle.pod() && pods.priority(nominated) >= cycle.priority() &&
         !pods.row(nominated).IsValid();
}

}  // namespace berth::framework
