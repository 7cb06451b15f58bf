#pragma once

#include <string>

#include "cluster/cluster.h"
#include "queue/scheduling_queue.h"

namespace berth::server {

// What SIGUSR2 writes to the log, in the layout of kube-scheduler's debugger. Both cost the number of pods.

// Every node by name, with what is asked of it, what it offers, its pods and those that are nominated to it.
std::string DumpNodes(const cluster::Cluster& cluster);

// The pods that wait, in the order in which they would leave their queues.
std::string DumpQueue(const cluster::Cluster& cluster, const queue::SchedulingQueue& queue);

// Where the cluster contradicts itself: pods that stand on a node without being in its list, sums that are
// not those of the pods. Empty if all is well; one line per difference.
std::string CompareCache(const cluster::Cluster& cluster);

}  // namespace berth::server
