#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"

#include "base/interner.h"
#include "cluster/cluster.h"
#include "dra/device_table.h"
#include "dra/gates.h"
#include "dra/pool.h"
#include "dra/selectors.h"

namespace berth::dra {

// Which pools of devices a node can use, kept from attempt to attempt.
//
// A pool is what its newest slices say, and only if they are all there. Upstream gathers the slices of a node
// for every attempt; here a slice that changes drops what was known of its pool, on the nodes of that pool,
// and the rest stays. Nodes that the same slices are for share one PoolView.
class PoolIndex {
 public:
  PoolIndex(const cluster::Cluster& cluster, DeviceTable& devices, SelectorTable& selectors)
      : cluster_(cluster), devices_(devices), selectors_(selectors) {}
  PoolIndex(const PoolIndex&) = delete;
  PoolIndex& operator=(const PoolIndex&) = delete;
  ~PoolIndex();

  // Drops everything that was made of the slices.
  void SetGates(const Gates& gates);

  // Add and update alike; the slice carries the taints of rules.
  void Set(SliceRef slice);
  void Remove(std::string_view slice_name);
  void OnNodeChanged(cluster::NodeRow row);

  // Good until a slice or node changes.
  const NodePools& Of(cluster::NodeRow row);

  // Calls visit(slice) for each slice, by name.
  template <class F>
  void ForEachSlice(F&& visit) const {
    for (const auto& [name, slice] : slices_) visit(*slice);
  }
  // Grows with every change of a slice.
  std::uint64_t version() const { return version_; }
  std::size_t view_count() const;

 private:
  using PoolKey = std::pair<std::string, std::string>;  // driver, pool
  using Pools = absl::btree_map<PoolKey, int>;          // and how many slices of it
  struct Pool {
    absl::btree_map<std::string_view, const SliceRecord*> slices;  // by name
    // By the slices that are for the node.
    absl::btree_map<std::vector<const SliceRecord*>, std::unique_ptr<const PoolView>> views;
  };
  struct Entry {
    bool is_current = false;
    std::uint64_t shared_version = 0;
    NodePools pools;
  };

  std::unique_ptr<SliceRecord> MakeRecord(SliceRef slice);
  void ReleaseRecord(const SliceRecord& record);
  void Link(const SliceRecord& record);
  void Unlink(const SliceRecord& record);
  // The pool changed: forget it wherever it shows.
  void Forget(Pool& pool);
  void MarkStale(std::string_view node_name);

  void Rebuild(cluster::NodeRow row, NodePools& pools);
  base::Result<bool> IsRelevant(const SliceRecord& slice, cluster::NodeRow row) const;
  bool IsIgnored(const SliceRecord& slice) const;
  base::Result<const PoolView*> ViewOf(Pool& pool, cluster::NodeRow row);
  std::unique_ptr<const PoolView> MakeView(const Pool& pool,
                                           const std::vector<const SliceRecord*>& here) const;

  const cluster::Cluster& cluster_;
  DeviceTable& devices_;
  SelectorTable& selectors_;
  Gates gates_;
  std::uint64_t version_ = 0;
  std::uint64_t shared_version_ = 1;  // of what concerns all nodes
  std::uint64_t last_stamp_ = 0;
  absl::btree_map<std::string, std::unique_ptr<SliceRecord>, std::less<>> slices_;
  absl::btree_map<PoolKey, Pool> pools_;
  absl::flat_hash_map<std::string, Pools, base::TextHash, std::equal_to<>>
      pools_of_node_;   // through slices that name the node
  Pools shared_pools_;  // through slices that name none
  base::Interner<KindId> kinds_;
  std::vector<Entry> entries_;  // by row
};

}  // namespace berth::dra
