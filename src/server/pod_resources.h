#pragma once

#include <string>

#include "cluster/cluster.h"

namespace berth::server {

// The body of /metrics/resources: kube_pod_resource_request and kube_pod_resource_limit of every pod that is
// not finished, in the Prometheus text format. What a pod asks for is worked out once per template, so a
// scrape costs its output.
std::string PodResourcesText(const cluster::Cluster& cluster);

}  // namespace berth::server
