#pragma once

#include <functional>

#include "base/ids.h"
#include "cluster/cluster.h"
#include "dispatch/call.h"

namespace berth::cycle {

// For the call that takes a nomination off a pod's status, after it was taken off in memory: if it cannot be
// written, the pod goes on to say that it has a node, and so it has.
std::function<void(const dispatch::CallOutcome&)> RestoreUnlessCleared(cluster::Cluster& cluster,
                                                                       base::Versioned<cluster::PodSlot> pod);

}  // namespace berth::cycle
