#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "api/node_matching.h"
#include "api/quantity.h"
#include "base/error.h"
#include "base/ids.h"
#include "dra/device_table.h"
#include "dra/selectors.h"

// Devices as the search for an allocation sees them.
namespace berth::dra {

using KindId = base::Id<struct KindTag>;

using SliceRef = std::shared_ptr<const api::ResourceSlice>;

// Where a slice or a device is: on one node, on all, or on those that a selector matches.
struct NodeChoice {
  std::string_view node_name = {};  // of the slice or device; empty: not by name
  bool all_nodes = false;
  std::optional<base::Result<api::NodeMatcher>> selector = std::nullopt;

  template <class Labels>
  base::Result<bool> Covers(std::string_view node, const Labels& labels) const {
    if (!node_name.empty()) return node_name == node;
    if (all_nodes) return true;
    if (!selector) return false;
    if (!*selector) return std::unexpected(selector->error());
    return (*selector)->Matches(node, labels);
  }
};

// A slice with what follows from it alone. Its devices hold references in the tables that their ids are of.
struct SliceRecord {
  SliceRef object;  // with the taints of rules
  NodeChoice nodes;
  bool per_device_nodes = false;
  bool declares_groups = false;  // some device names compatibility groups
  bool has_binding_conditions = false;
  // By device.
  std::vector<DeviceId> ids;
  std::vector<ShapeId> shapes;
  std::vector<KindId> kinds;
  std::vector<NodeChoice> device_nodes;  // only if per_device_nodes

  const api::ResourceSliceSpec& spec() const { return object->spec; }
  std::string_view name() const { return object->metadata.name; }
  // May concern any node. The server takes no slice that names a node and leaves it to its devices as well.
  bool is_shared() const { return nodes.node_name.empty() || per_device_nodes; }
};

// So much of one counter of the pool.
struct CounterAmount {
  std::uint32_t counter = 0;  // position in PoolView::counters
  api::Quantity amount;
};

// A device of a pool on a node.
struct PoolDevice {
  const SliceRecord* slice = nullptr;
  std::uint32_t position = 0;  // in the slice
  DeviceId id;
  ShapeId shape;
  // Devices of one kind are interchangeable: they differ in their name only.
  KindId kind;
  bool multi_allocatable = false;  // whatever the gate says
  bool has_binding_conditions = false;
  bool has_taints = false;
  std::vector<CounterAmount> consumes;

  const api::Device& device() const { return slice->spec().devices[position]; }
  std::string_view name() const { return device().name; }
};

// A pool as one node sees it, or many nodes that the same slices are for.
//
// Only a complete and valid pool offers devices.
struct PoolView {
  enum class State : std::uint8_t { kUsable, kIncomplete, kInvalid };

  std::string driver;
  std::string pool;
  State state = State::kUsable;
  bool has_binding_conditions = false;
  std::vector<PoolDevice> devices;  // by slice name, then as in the slice

  // Shared counters, all sets one after another; and every device of the pool that consumes some, on other
  // nodes too.
  struct Counter {
    std::uint32_t set = 0;
    api::Quantity total;
  };
  std::vector<std::string_view> counter_sets;
  std::vector<Counter> counters;
  struct Consumer {
    DeviceId id;
    const api::Device* device = nullptr;
    std::vector<CounterAmount> consumes;
  };
  std::vector<Consumer> consumers;

  std::string DeviceNameOf(const PoolDevice& device) const { return DeviceName(driver, pool, device.name()); }
};

// The pools of a node in the order in which they are searched.
struct NodePools {
  std::vector<const PoolView*> pools;
  bool has_invalid = false;
  std::vector<PoolId> used;  // those whose devices can be taken, for their versions
  std::uint64_t stamp = 0;   // no other pools, of this or another node, ever have the same
  // Why the pools cannot be known.
  std::optional<std::string> error;
};

}  // namespace berth::dra
