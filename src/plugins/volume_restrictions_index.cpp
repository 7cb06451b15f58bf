#include "plugins/volume_restrictions_index.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.h"

namespace berth::plugins {
namespace {

// What two volumes must share to be able to conflict.
std::string DiskKey(const api::VolumeSource& source) {
  if (source.gce_persistent_disk) return "g" + source.gce_persistent_disk->pd_name;
  if (source.aws_elastic_block_store) return "a" + source.aws_elastic_block_store->volume_id;
  if (source.iscsi) return "i" + source.iscsi->iqn;
  return fmt::format("r{}:{}{}", source.rbd->pool.size(), source.rbd->pool, source.rbd->image);
}

bool Intersect(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(a,
                             [&](const std::string& text) { return std::ranges::find(b, text) != b.end(); });
}

}  // namespace

bool IsRestricted(const api::VolumeSource& source) {
  return source.gce_persistent_disk || source.aws_elastic_block_store || source.iscsi || source.rbd;
}

bool Conflict(const api::VolumeSource& a, const api::VolumeSource& b) {
  if (a.gce_persistent_disk && b.gce_persistent_disk &&
      a.gce_persistent_disk->pd_name == b.gce_persistent_disk->pd_name &&
      !(a.gce_persistent_disk->read_only && b.gce_persistent_disk->read_only)) {
    return true;
  }
  if (a.aws_elastic_block_store && b.aws_elastic_block_store &&
      a.aws_elastic_block_store->volume_id == b.aws_elastic_block_store->volume_id) {
    return true;
  }
  if (a.iscsi && b.iscsi && a.iscsi->iqn == b.iscsi->iqn && !(a.iscsi->read_only && b.iscsi->read_only)) {
    return true;
  }
  return a.rbd && b.rbd && Intersect(a.rbd->monitors, b.rbd->monitors) && a.rbd->pool == b.rbd->pool &&
         a.rbd->image == b.rbd->image && !(a.rbd->read_only && b.rbd->read_only);
}

void DiskHolders::AppendConflictingRows(const api::VolumeSource& source,
                                        std::vector<cluster::NodeRow>& rows) const {
  const DiskId disk = disks_.Find(std::string_view(DiskKey(source)));
  if (!disk.IsValid()) return;
  for (const auto& [holder, count] : holders_[disk.index()]) {
    const auto& [row, pod] = holder;
    if (!rows.empty() && rows.back() == row) continue;
    const auto& volumes = cluster_.pods().record(pod).spec->spec.volumes;
    if (std::ranges::any_of(
            volumes, [&](const api::Volume& volume) { return Conflict(source, volume.volume_source); })) {
      rows.push_back(row);
    }
  }
}

std::int32_t DiskHolders::ClaimUse(std::string_view key) const {
  const cluster::ClaimId claim = cluster_.pods().FindClaim(key);
  if (!claim.IsValid()) return 0;
  return cluster_.pods().ClaimUse(claim);
}

std::int32_t DiskHolders::ClaimNameUse(std::string_view name) const {
  const auto found = name_use_.find(name);
  return found == name_use_.end() ? 0 : found->second;
}

void DiskHolders::OnPodPlaced(cluster::PodSlot pod, cluster::NodeRow row) {
  const api::PodSpec& spec = cluster_.pods().record(pod).spec->spec;
  if (spec.volumes.empty()) return;
  CountDisks(spec, {row, pod}, +1);
  CountNames(pod, +1);
}

void DiskHolders::OnPodDisplaced(cluster::PodSlot pod, cluster::NodeRow row) {
  const api::PodSpec& spec = cluster_.pods().record(pod).spec->spec;
  if (spec.volumes.empty()) return;
  CountNames(pod, -1);
  CountDisks(spec, {row, pod}, -1);
}

void DiskHolders::CountDisks(const api::PodSpec& spec, Holder holder, std::int32_t delta) {
  for (const api::Volume& volume : spec.volumes) {
    if (!IsRestricted(volume.volume_source)) continue;
    const std::string key = DiskKey(volume.volume_source);
    // Each volume that is counted keeps one reference to its disk.
    const DiskId disk = delta > 0 ? disks_.Intern(std::string_view(key)) : disks_.Find(std::string_view(key));
    if (disk.index() >= holders_.size()) holders_.resize(disk.index() + 1);
    Holders& holders = holders_[disk.index()];
    const auto at = holders.try_emplace(holder, 0).first;
    at->second += delta;
    BERTH_CHECK(at->second >= 0);
    if (at->second == 0) holders.erase(at);
    if (delta < 0) disks_.Release(disk);
  }
}

void DiskHolders::CountNames(cluster::PodSlot pod, std::int32_t delta) {
  for (const std::string& name : cluster_.pods().record(pod).claims().volume_claim_names) {
    const auto at = name_use_.try_emplace(name, 0).first;
    at->second += delta;
    if (at->second == 0) name_use_.erase(at);
  }
}

void DiskHolders::AddTo(cluster::Digester& digest) const {
  // Ids of disks depend on what was tried in between; the names do not.
  absl::btree_map<std::string_view, const Holders*> disks;
  for (std::uint32_t i = 0; i < holders_.size(); ++i) {
    if (disks_.IsLive(DiskId(i))) disks.emplace(disks_.Get(DiskId(i)), &holders_[i]);
  }
  for (const auto& [name, holders] : disks) {
    digest.Add(name);
    for (const auto& [holder, count] : *holders) {
      digest.Add(holder.first.value());
      digest.Add(holder.second.value());
      digest.AddSigned(count);
    }
  }
  for (const auto& [name, count] : name_use_) {
    digest.Add(name);
    digest.AddSigned(count);
  }
}

}  // namespace berth::plugins
