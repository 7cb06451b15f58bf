#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/string_map.h"
#include "base/interner.h"
#include "cluster/ids.h"

namespace berth::cluster {

// The order in which nodes are tried: one node of every zone, then the next of every zone, so that the first
// nodes of any scan are spread over zones. Zones, and nodes within one, are in the order in which they came.
//
// 1. A zone exists while it has a node; one that returns goes to the end.
// 2. place_[row] says where in which zone the row is; a removed row leaves a gap that a later removal closes
// when gaps
//    are half of the zone, so a removal is O(1) amortised.
class NodeTree {
 public:
  // Does nothing if the row is there already.
  void Add(NodeRow row, std::string_view zone_key);
  void Remove(NodeRow row);
  // Moves the row to the end of another zone; does nothing if the zone is the same.
  void Update(NodeRow row, std::string_view zone_key);

  // Every row once. O(nodes) after a change, else O(1). Valid until the next change.
  std::span<const NodeRow> Order() const;
  // Changes whenever Order() may have.
  std::uint64_t version() const { return version_; }
  std::size_t size() const { return size_; }

 private:
  using ZoneId = base::Id<struct ZoneTag>;
  struct Zone {
    std::vector<NodeRow> rows;  // invalid: a gap
    std::size_t gaps = 0;
  };
  struct Place {
    ZoneId zone;
    std::uint32_t position = 0;
  };

  void Compact(Zone& zone);

  base::Interner<ZoneId> zone_keys_;  // one reference per node
  std::vector<Zone> zones_;           // by ZoneId
  std::vector<ZoneId> zone_order_;
  std::vector<Place> places_;  // by NodeRow
  std::size_t size_ = 0;
  std::uint64_t version_ = 0;
  mutable std::vector<NodeRow> order_;
  mutable std::optional<std::uint64_t> order_version_;
};

// Region and zone of a node, from its labels; the older label names win where both are there. Empty without
// either.
std::string ZoneKey(const api::StringMap& labels);

}  // namespace berth::cluster
