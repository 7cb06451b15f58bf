#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"

#include "api/storage.h"
#include "base/interner.h"
#include "cluster/cluster.h"
#include "cluster/extension.h"
#include "plugins/node_volume_limits_volumes.h"
#include "plugins/volume_csi_nodes.h"

namespace berth::plugins {

using AttachedId = base::Id<struct AttachedTag>;
using DriverId = base::Id<struct DriverTag>;

// The volumes that are attached to each node, or will be: those of its pods, and those that a
// VolumeAttachment names though no pod uses them any more.
//
// 1. count(row, driver) is the number of distinct volumes of the driver on the row, by pods or attachments.
// 2. What a pod attaches follows from its claims, their volumes and classes, and whether the node has a
//    CSINode. When one of these changes, the pods concerned are counted anew: an event costs O(pods that it
//    concerns), a placement O(volumes of the pod).
class AttachedVolumes final : public cluster::Extension {
 public:
  explicit AttachedVolumes(cluster::Cluster& cluster);

  // Invalid: attached nowhere.
  AttachedId Find(const CsiVolume& volume) const;
  DriverId FindDriver(std::string_view driver) const { return drivers_.Find(driver); }
  // A pod on the row uses it.
  bool IsUsed(cluster::NodeRow row, AttachedId volume) const;
  std::int32_t Count(cluster::NodeRow row, DriverId driver) const;
  // How many more volumes of the driver each row takes, by the limits of CSINodes. Rows beyond its end, and
  // those with kUnlimited, have no limit.
  static constexpr std::int32_t kUnlimited = std::numeric_limits<std::int32_t>::max();
  std::span<const std::int32_t> RoomFor(std::string_view driver) const;
  // The least of these.
  std::int32_t LeastRoom(std::string_view driver) const;
  // The volumes of some pod cannot be known.
  bool HasErrors() const { return error_count_ > 0; }
  // Nothing, or why the volumes of some pod on the row cannot be known.
  std::optional<std::string> ErrorOn(cluster::NodeRow row) const;

  void OnPodPlaced(cluster::PodSlot pod, cluster::NodeRow row) override;
  void OnPodDisplaced(cluster::PodSlot pod, cluster::NodeRow row) override;
  void OnNodeChanged(cluster::NodeRow row, cluster::Facts facts) override;
  void AddTo(cluster::Digester& digest) const override;

 private:
  struct Use {
    std::int32_t pods = 0;
    std::int32_t attachments = 0;
  };
  struct DriverCount {
    DriverId driver;
    std::int32_t count = 0;
  };
  struct Limit {
    DriverId driver;
    std::int32_t count = 0;
  };
  struct DriverRoom {
    std::vector<std::int32_t> left;                    // by row
    absl::btree_map<std::int32_t, std::int32_t> rows;  // how many have so much left, of those with a limit
  };
  struct Row {
    cluster::NodeRow node;
    absl::flat_hash_map<AttachedId, Use> uses;
    std::vector<DriverCount> driver_counts;  // of drivers that have some
    std::int32_t errors = 0;                 // pods whose volumes cannot be known
    bool has_csi_node = false;               // when its pods were counted
    std::vector<AttachedId> attachments;
    std::vector<Limit> limits;  // of its CSINode, each with a reference to its driver

    bool IsEmpty() const {
      return uses.empty() && errors == 0 && !has_csi_node && attachments.empty() && limits.empty();
    }
  };
  // What was counted for a pod, to take it back.
  struct PodUse {
    std::vector<AttachedId> volumes;
    std::vector<std::string> claims;  // by key
    bool has_error = false;
    bool by_class = false;  // some volume was not known, so that its class decided
  };
  using Pods = absl::btree_set<cluster::PodSlot>;

  // Made if there is none.
  Row& RowAt(cluster::NodeRow row);
  const Row* FindRow(cluster::NodeRow row) const {
    return row.index() < rows_.size() ? rows_[row.index()].get() : nullptr;
  }
  AttachedId Intern(const CsiVolume& volume);
  void Release(AttachedId volume);
  void Add(Row& row, AttachedId volume, std::int32_t Use::* by);
  void Subtract(Row& row, AttachedId volume, std::int32_t Use::* by);

  void CountPod(cluster::PodSlot pod, cluster::NodeRow row);
  void UncountPod(cluster::PodSlot pod, cluster::NodeRow row);
  void Recount(const Pods& pods);
  void RecountClaim(std::string_view key);
  void LoadAttachments(cluster::NodeRow row);
  void LoadLimits(cluster::NodeRow row);
  // Counts its pods anew if the node has come to have a CSINode, or has none any more.
  void TellMigration(cluster::NodeRow row);
  void SetRoom(DriverId driver, std::size_t row, std::int32_t left);
  void UpdateRoom(const Row& row, DriverId driver);

  void OnClaim(const api::PersistentVolumeClaim* before, const api::PersistentVolumeClaim* after);
  void OnVolume(std::string_view name);
  void OnClass();
  void OnCsiNode(std::string_view name);
  void OnAttachment(const api::VolumeAttachment* before, const api::VolumeAttachment* after);

  cluster::Cluster& cluster_;
  const CsiNodes& csi_nodes_;  // before this one in the order of extensions, so up to date here
  base::Interner<AttachedId> names_;
  base::Interner<DriverId> drivers_;
  std::vector<DriverId> driver_of_;         // by AttachedId
  std::vector<std::unique_ptr<Row>> rows_;  // null until there is something to know of the node
  std::vector<DriverRoom> rooms_;           // by DriverId
  std::int64_t error_count_ = 0;            // over all rows
  absl::flat_hash_map<cluster::PodSlot, PodUse> pods_;
  // Reverse ways, from what changes to what depends on it.
  absl::btree_map<std::string, Pods, std::less<>> pods_of_claim_;
  absl::btree_map<std::string, absl::btree_set<std::string>, std::less<>> claims_of_volume_;
  Pods pods_by_class_;
  absl::btree_map<std::string, absl::btree_set<std::string>, std::less<>> attachments_of_node_;
  absl::btree_map<std::string, absl::btree_set<std::string>, std::less<>> nodes_of_volume_;
};

}  // namespace berth::plugins
