#pragma once

#include <string>
#include <vector>

#include "api/pod_record.h"
#include "cluster/cluster.h"
#include "plugins/volume_binding_data.h"
#include "plugins/volume_csi_nodes.h"

namespace berth::plugins {

// How far the binding of a pod's volumes is, by what the API server has said last.
struct BindingCheck {
  bool done = false;
  std::string error;  // empty: none. Else it cannot succeed any more
  // Not done: a change of one of these may change the answer (VolumeWatch).
  std::vector<std::string> looked_at;
};
BindingCheck CheckBinding(const cluster::Cluster& cluster, const CsiNodes& csi_nodes,
                          const api::PodRecord& pod, const ReservedVolumes& reserved);

}  // namespace berth::plugins
