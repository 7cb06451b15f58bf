#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"

#include "cluster/cluster.h"
#include "dra/device_state.h"

namespace berth::plugins {

// How many devices of a class a node can use, and how many of those claims have: what stands for the capacity
// and the use of an extended resource of which the node itself has none. Remembered per node; good as long as
// nothing changes.
class DeviceCounts {
 public:
  struct Count {
    std::int64_t total = 0;
    std::int64_t used = 0;
  };

  DeviceCounts(dra::DeviceState& state, std::string device_class)
      : state_(state), device_class_(std::move(device_class)) {}

  // Nothing of nothing if a selector of the class fails on some device.
  const Count& At(cluster::NodeRow row) const;

 private:
  Count CountAt(cluster::NodeRow row) const;

  dra::DeviceState& state_;
  std::string device_class_;
  mutable absl::flat_hash_map<cluster::NodeRow, Count> counts_;
};

}  // namespace berth::plugins
