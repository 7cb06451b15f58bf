#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/cluster.h"
#include "dra/device_state.h"

namespace berth::plugins {

// How many devices of a class a node can use, and how many of those claims have: what stands for the capacity
// and the use of an extended resource of which the node itself has none.
//
// Kept from attempt to attempt: a node is counted again when its devices, or who has them, changed.
class DeviceCounts {
 public:
  struct Count {
    std::int64_t total = 0;
    std::int64_t used = 0;
  };

  DeviceCounts(dra::DeviceState& state, std::string device_class)
      : state_(state), device_class_name_(std::move(device_class)) {}

  const std::string& device_class_name() const { return device_class_name_; }
  // Before At(), whenever something may have changed.
  void Refresh();
  // Nothing of nothing if a selector of the class fails on some device.
  const Count& At(cluster::NodeRow row) const;

 private:
  struct Known {
    bool is_known = false;
    Count count;
  };

  Count CountAt(cluster::NodeRow row) const;

  dra::DeviceState& state_;
  const std::string device_class_name_;
  std::shared_ptr<const api::DeviceClass> device_class_;  // null: there is none
  dra::DeviceState::Version version_;
  mutable std::vector<Known> counts_;  // by row
};

// The counts of the classes that were asked for.
class DeviceCountsTable {
 public:
  explicit DeviceCountsTable(dra::DeviceState& state) : state_(state) {}

  // Up to date until something changes.
  const DeviceCounts& Of(std::string_view device_class);

 private:
  dra::DeviceState& state_;
  std::vector<std::unique_ptr<DeviceCounts>>
      counts_;  // few: the classes that the arguments name resources of
};

}  // namespace berth::plugins
