#pragma once

#include <memory>
#include <vector>

#include "api/storage.h"
#include "base/change_log.h"
#include "cluster/cluster.h"
#include "cluster/extension.h"
#include "plugins/volume_csi_migration.h"

namespace berth::plugins {

// What the CSI drivers of each node say, by row: a CSINode has the name of its node, and a look-up by name
// per row and attempt would cost more than the question that it answers.
class CsiNodes final : public cluster::Extension {
 public:
  explicit CsiNodes(cluster::Cluster& cluster);

  // Null: the node has none, or there is no such node.
  const api::CSINode* At(cluster::NodeRow row) const {
    return row.index() < rows_.size() ? rows_[row.index()].object.get() : nullptr;
  }
  InTreePlugins Migrated(cluster::NodeRow row) const {
    return row.index() < rows_.size() ? rows_[row.index()].migrated : InTreePlugins{0};
  }

  // The rows of which Migrated changed.
  const base::ChangeLog<cluster::NodeRow>& migration_log() const { return migration_log_; }

  void OnPodPlaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnPodDisplaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnNodeChanged(cluster::NodeRow row, cluster::Facts facts) override;
  void AddTo(cluster::Digester&) const override {}  // derived from objects alone

 private:
  struct Row {
    std::shared_ptr<const api::CSINode> object;
    InTreePlugins migrated = 0;
  };

  static constexpr std::size_t kLogCapacity = 1 << 10;

  void Load(cluster::NodeRow row);
  void Read(cluster::NodeRow row, Row& at) const;

  const cluster::Cluster& cluster_;
  std::vector<Row> rows_;
  base::ChangeLog<cluster::NodeRow> migration_log_{kLogCapacity};
};

}  // namespace berth::plugins
