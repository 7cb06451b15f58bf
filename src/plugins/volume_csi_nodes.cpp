#include "plugins/volume_csi_nodes.h"

#include <utility>

#include "cluster/object_store.h"

namespace berth::plugins {

CsiNodes::CsiNodes(cluster::Cluster& cluster) : cluster_(cluster) {
  using Ref = std::shared_ptr<const api::CSINode>;
  cluster.objects().Of<api::CSINode>().AddObserver([this](const Ref& before, const Ref& after) {
    const cluster::NodeRow row = cluster_.nodes().Find((after ? after : before)->metadata.name);
    if (row.IsValid()) Load(row);
  });
}

void CsiNodes::OnNodeChanged(cluster::NodeRow row, cluster::Facts facts) {
  if ((facts & cluster::kExistsFact) != 0) Load(row);
}

void CsiNodes::Load(cluster::NodeRow row) {
  if (row.index() >= rows_.size()) rows_.resize(row.index() + 1);
  Row& at = rows_[row.index()];
  const InTreePlugins before = std::exchange(at, {}).migrated;
  Read(row, at);
  if (at.migrated != before) migration_log_.Append(row, {});
}

void CsiNodes::Read(cluster::NodeRow row, Row& at) const {
  // A row without a node may be another node's tomorrow.
  if (!cluster_.nodes().IsLive(row) || !cluster_.nodes().exists(row)) return;
  at.object = cluster_.objects().Of<api::CSINode>().Find(cluster_.nodes().name(row));
  if (at.object) at.migrated = MigratedOn(*at.object);
}

}  // namespace berth::plugins
