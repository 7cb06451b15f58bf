#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "api/node.h"
#include "base/bitset.h"
#include "base/interner.h"
#include "cluster/amount_column.h"
#include "cluster/digest.h"
#include "cluster/ids.h"
#include "cluster/ports.h"
#include "cluster/resources.h"

namespace berth::cluster {

using NodeRef = std::shared_ptr<const api::Node>;

// What the pods of one priority on one node request together.
struct PriorityUse {
  std::int32_t priority = 0;
  std::int32_t pod_count = 0;
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  std::vector<ResourceAmount> scalars;  // by resource id, none that is zero

  bool operator==(const PriorityUse&) const = default;
};

// One column per fact about nodes, indexed by NodeRow.
//
// 1. A row is live while its node exists or pods are on it. A live row whose node does not exist is a ghost:
// pods were
//    bound to a node that was not seen yet or is gone. Ghosts have no labels, taints, images and no place in
//    topology.
// 2. requested(), pod_count(), ports(), by_priority() and pods() count assumed pods as well, and agree with
// each other.
// 3. by_priority(row) is ascending by priority and holds only priorities that some pod on the node has.
// 4. A name has one row.
//
// Only Cluster changes it. Amounts wrap on overflow, as upstream's do.
class NodeTable {
 public:
  // Columns have this many entries; rows that are not live among them are zero.
  std::size_t row_count() const { return rows_.size(); }
  // The rows of existing nodes: what a filter starts from.
  const base::Bitset& existing() const { return existing_; }
  std::size_t existing_count() const { return existing_count_; }
  bool exists(NodeRow row) const { return existing_.Test(row.index()); }
  bool IsLive(NodeRow row) const { return row.index() < rows_.size() && rows_[row.index()].name.IsValid(); }
  bool IsGhost(NodeRow row) const { return IsLive(row) && !exists(row); }
  base::Versioned<NodeRow> Version(NodeRow row) const { return {row, rows_[row.index()].generation}; }
  bool IsCurrent(base::Versioned<NodeRow> row) const {
    return IsLive(row.id) && rows_[row.id.index()].generation == row.generation;
  }

  // Existing node or ghost; invalid if neither.
  NodeRow Find(std::string_view name) const;
  NodeRow Find(NodeNameId name) const;
  NodeNameId name_id(NodeRow row) const { return rows_[row.index()].name; }
  std::string_view name(NodeRow row) const { return names_.Get(rows_[row.index()].name); }
  std::string_view NameText(NodeNameId name) const { return names_.Get(name); }
  // Null for a ghost.
  const NodeRef& object(NodeRow row) const { return rows_[row.index()].object; }

  AmountColumn allocatable(ResourceId resource) const {
    return IsFixed(resource) ? AmountColumn(fixed_[resource.index()].allocatable)
                             : AmountColumn(scalars_[ScalarIndex(resource)].allocatable);
  }
  AmountColumn requested(ResourceId resource) const {
    return IsFixed(resource) ? AmountColumn(fixed_[resource.index()].requested)
                             : AmountColumn(scalars_[ScalarIndex(resource)].requested);
  }
  std::span<const std::int64_t> non_zero_milli_cpu() const { return non_zero_milli_cpu_; }
  std::span<const std::int64_t> non_zero_memory() const { return non_zero_memory_; }
  std::span<const std::int32_t> pod_count() const { return pod_count_; }
  std::span<const std::int64_t> pod_limit() const { return fixed_[kPods.index()].allocatable; }
  std::span<const LabelSetId> label_set() const { return label_set_; }
  std::span<const TaintSetId> taint_set() const { return taint_set_; }
  std::span<const FeatureSetId> feature_set() const { return feature_set_; }
  // Rows whose node has spec.unschedulable.
  const base::Bitset& unschedulable() const { return unschedulable_; }
  const base::Bitset& with_ports() const { return with_ports_; }

  // What the node offers, resource by resource; empty for a ghost.
  const std::vector<ResourceAmount>& allocatable_of(NodeRow row) const {
    return rows_[row.index()].allocatable;
  }
  // Calls visit(resource, allocatable, requested) for every resource of which one is not zero, by ascending
  // id.
  template <class F>
  void ForEachAmount(NodeRow row, F&& visit) const {
    const auto look = [&](ResourceId resource) {
      const std::int64_t offered = allocatable(resource)[row.index()];
      const std::int64_t taken = requested(resource)[row.index()];
      if (offered != 0 || taken != 0) visit(resource, offered, taken);
    };
    for (std::uint32_t fixed = 0; fixed < kFixedCount; ++fixed) look(ResourceId(fixed));
    for (const ResourceId resource : ScalarsOf(row)) look(resource);
  }
  // In the order in which they came, except that a removal moves the last one into the gap.
  std::span<const PodSlot> pods(NodeRow row) const { return rows_[row.index()].pods; }
  // Ascending by id.
  std::span<const PortUse> ports(NodeRow row) const { return rows_[row.index()].ports; }
  std::span<const ImageId> images(NodeRow row) const { return rows_[row.index()].images; }
  std::span<const PriorityUse> by_priority(NodeRow row) const { return rows_[row.index()].by_priority; }
  // What would be free if every pod of lower priority went. O(distinct priorities on the node).
  std::int64_t RequestedBelow(NodeRow row, std::int32_t priority, ResourceId resource) const;
  std::int32_t PodsBelow(NodeRow row, std::int32_t priority) const;

  // The name as an id, with a reference for the caller: nominations may name nodes that do not exist.
  NodeNameId InternName(std::string_view name);
  void ReleaseName(NodeNameId name);

  // For Cluster.
  // ------------------------------------------------------------------------------------------------------
  struct Facts {
    NodeRef object;
    LabelSetId label_set;
    TaintSetId taint_set;
    FeatureSetId feature_set;
    std::vector<ImageId> images;
    std::vector<ResourceAmount> allocatable;
  };
  // The row of the name, made if need be.
  NodeRow Ensure(std::string_view name);
  // Frees the row if neither node nor pods are left.
  void FreeIfUnused(NodeRow row);
  // Both hand back what the row had, so that the caller can release it.
  Facts Exchange(NodeRow row, Facts facts);
  // Before any request or allocatable amount names the resource.
  void EnsureColumn(ResourceId resource);

  struct PodUse {
    PodSlot slot;
    const Requests& requests;
    std::span<const PortId> ports;
    std::int32_t priority;
  };
  // Returns the pod's position in pods(row).
  std::uint32_t AddPod(NodeRow row, const PodUse& pod);
  // Returns the pod that moved to `position`, invalid if none did.
  PodSlot RemovePod(NodeRow row, const PodUse& pod, std::uint32_t position);
  // The exact inverse of RemovePod: returns the pod that moved to the end, invalid if none did.
  PodSlot ReinsertPod(NodeRow row, const PodUse& pod, std::uint32_t position);

  void AddTo(Digester& digest) const;
  bool empty() const { return live_count_ == 0 && names_.empty(); }

 private:
  struct Row {
    NodeNameId name;
    std::uint32_t generation = 0;
    NodeRef object;
    std::vector<PodSlot> pods;
    std::vector<PortUse> ports;
    std::vector<ImageId> images;
    std::vector<PriorityUse> by_priority;
    std::vector<ResourceAmount> allocatable;  // what Exchange set, to take it back
  };

  // Resources that every node has; the others, of which each node may have its own, follow.
  static constexpr std::size_t kFixedCount = kPods.index() + 1;
  struct FixedColumns {
    std::vector<std::int64_t> allocatable;  // by row
    std::vector<std::int64_t> requested;
  };
  struct ScalarColumns {
    AmountColumn::Paged allocatable;
    AmountColumn::Paged requested;
  };
  static bool IsFixed(ResourceId resource) { return resource.index() < kFixedCount; }
  static std::size_t ScalarIndex(ResourceId resource) { return resource.index() - kFixedCount; }
  // What the node or a pod on it names, ascending.
  absl::InlinedVector<ResourceId, 8> ScalarsOf(NodeRow row) const;

  NodeRow TakeRow();
  void SetAllocatable(NodeRow row, ResourceId resource, std::int64_t amount);
  // Sums and ports; sign is +1 or -1.
  void Account(NodeRow row, const PodUse& pod, std::int64_t sign);
  void AccountPriority(Row& row, const PodUse& pod, std::int64_t sign);
  void AccountPorts(NodeRow row, std::span<const PortId> ports, std::int64_t sign);

  base::Interner<NodeNameId> names_;
  std::vector<NodeRow> row_of_name_;  // by NodeNameId
  std::vector<NodeRow> free_;
  std::size_t live_count_ = 0;
  std::size_t existing_count_ = 0;

  std::vector<Row> rows_;
  base::Bitset existing_;
  base::Bitset unschedulable_;
  base::Bitset with_ports_;
  std::array<FixedColumns, kFixedCount> fixed_;  // by ResourceId
  std::vector<ScalarColumns> scalars_;           // by ScalarIndex
  std::vector<std::int64_t> non_zero_milli_cpu_;
  std::vector<std::int64_t> non_zero_memory_;
  std::vector<std::int32_t> pod_count_;
  std::vector<LabelSetId> label_set_;
  std::vector<TaintSetId> taint_set_;
  std::vector<FeatureSetId> feature_set_;
};

}  // namespace berth::cluster
