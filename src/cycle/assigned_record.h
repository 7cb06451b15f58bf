#pragma once

#include <memory>
#include <string_view>

#include "cluster/cluster.h"

namespace berth::cycle {

// The pod as it would be on the node that it was given but never bound to. When it leaves, plugins are to see
// what it frees, and on which node.
inline cluster::PodRecordRef AsAssigned(const api::PodRecord& pod, std::string_view node_name) {
  auto assigned = std::make_shared<api::PodRecord>(pod);
  assigned->node_name = node_name;
  return assigned;
}

}  // namespace berth::cycle
