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

#include "base/change_log.h"
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

  // Rows whose pools may be others now; and a version that grows when those of all rows may be.
  const base::ChangeLog<cluster::NodeRow>& row_log() const { return row_log_; }
  std::uint64_t shared_version() const { return shared_version_; }
  // Calls visit(row) for the rows that Of() gave this pool to. False: there are many, take all.
  template <class F>
  bool ForEachRowWith(PoolId pool, F&& visit) const {
    if (pool.index() >= sights_.size()) return true;
    const Sight& sight = sights_[pool.index()];
    if (sight.is_wide) return false;
    for (const cluster::NodeRow row : sight.rows) visit(row);
    return true;
  }

  // Calls visit(slice) for each slice, by name.
  template <class F>
  void ForEachSlice(F&& visit) const {
    for (const auto& [name, slice] : slices_) visit(*slice);
  }
  // Calls visit(slice) for each slice that may be for the node.
  template <class F>
  void ForEachSliceOn(cluster::NodeRow row, F&& visit) const {
    const auto visit_pool = [&](const PoolKey& key) {
      for (const auto& [name, slice] : pools_.find(key)->second.slices) visit(*slice);
    };
    const auto own = pools_of_node_.find(cluster_.nodes().name(row));
    const bool has_own = own != pools_of_node_.end();
    if (has_own) {
      for (const auto& [key, count] : own->second) visit_pool(key);
    }
    for (const auto& [key, count] : shared_pools_) {
      // A pool may be among both.
      if (!has_own || !own->second.contains(key)) visit_pool(key);
    }
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
  // Who uses a pool: these rows, and perhaps some that did once.
  struct Sight {
    bool is_wide = false;
    std::vector<cluster::NodeRow> rows;
  };
  static constexpr std::size_t kSightRowsMax = 64;
  static constexpr std::size_t kRowLogCapacity = 1 << 13;

  std::unique_ptr<SliceRecord> MakeRecord(SliceRef slice);
  void ReleaseRecord(const SliceRecord& record);
  void Link(const SliceRecord& record);
  void Unlink(const SliceRecord& record);
  // The pool changed: forget it wherever it shows.
  void Forget(Pool& pool);
  void MarkStale(std::string_view node_name);
  void NoteSight(const PoolKey& key, cluster::NodeRow row);

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
  std::vector<Sight> sights_;   // by PoolId
  base::ChangeLog<cluster::NodeRow> row_log_{kRowLogCapacity};
};

}  // namespace berth::dra
