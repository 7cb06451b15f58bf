#include "plugins/node_volume_limits_index.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "base/check.h"
#include "cluster/object_store.h"
#include "plugins/volume_claims.h"

namespace berth::plugins {
namespace {

std::string NameOf(const CsiVolume& volume) { return fmt::format("{}/{}", volume.driver, volume.handle); }

template <class Map, class Value>
void Link(Map& map, const std::string& key, const Value& value) {
  map[key].insert(value);
}

template <class Map, class Value>
void Unlink(Map& map, const std::string& key, const Value& value) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  found->second.erase(value);
  if (found->second.empty()) map.erase(found);
}

}  // namespace

AttachedVolumes::AttachedVolumes(cluster::Cluster& cluster)
    : cluster_(cluster), csi_nodes_(cluster.UseExtension<CsiNodes>()) {
  cluster::ObjectStore& objects = cluster.objects();
  objects.Of<api::PersistentVolumeClaim>().AddObserver(
      [this](const auto& before, const auto& after) { OnClaim(before.get(), after.get()); });
  objects.Of<api::PersistentVolume>().AddObserver(
      [this](const auto& before, const auto& after) { OnVolume((after ? after : before)->metadata.name); });
  objects.Of<api::StorageClass>().AddObserver([this](const auto& before, const auto& after) {
    if (!before || !after || before->provisioner != after->provisioner) OnClass();
  });
  objects.Of<api::CSINode>().AddObserver(
      [this](const auto& before, const auto& after) { OnCsiNode((after ? after : before)->metadata.name); });
  objects.Of<api::VolumeAttachment>().AddObserver(
      [this](const auto& before, const auto& after) { OnAttachment(before.get(), after.get()); });
}

AttachedId AttachedVolumes::Find(const CsiVolume& volume) const {
  return names_.Find(std::string_view(NameOf(volume)));
}

bool AttachedVolumes::IsUsed(cluster::NodeRow row, AttachedId volume) const {
  const Row* const at = FindRow(row);
  if (at == nullptr || !volume.IsValid()) return false;
  const auto found = at->uses.find(volume);
  return found != at->uses.end() && found->second.pods > 0;
}

std::int32_t AttachedVolumes::Count(cluster::NodeRow row, DriverId driver) const {
  const Row* const at = FindRow(row);
  if (at == nullptr || !driver.IsValid()) return 0;
  const auto found = std::ranges::find(at->driver_counts, driver, &DriverCount::driver);
  return found == at->driver_counts.end() ? 0 : found->count;
}

std::optional<std::string> AttachedVolumes::ErrorOn(cluster::NodeRow row) const {
  const Row* const at = FindRow(row);
  if (at == nullptr || at->errors == 0) return std::nullopt;
  for (const cluster::PodSlot pod : cluster_.nodes().pods(row)) {
    const auto use = pods_.find(pod);
    if (use == pods_.end() || !use->second.has_error) continue;
    PodAttachments scan =
        AttachmentsOf(cluster_, cluster_.pods().record(pod), {.migrated = at->has_csi_node});
    return scan.error->text;
  }
  return std::nullopt;
}

AttachedVolumes::Row& AttachedVolumes::RowAt(cluster::NodeRow row) {
  if (row.index() >= rows_.size()) rows_.resize(row.index() + 1);
  std::unique_ptr<Row>& at = rows_[row.index()];
  if (at == nullptr) {
    at = std::make_unique<Row>();
    at->node = row;
  }
  return *at;
}

AttachedId AttachedVolumes::Intern(const CsiVolume& volume) {
  const AttachedId id = names_.Intern(std::string_view(NameOf(volume)));
  if (names_.References(id) == 1) {
    if (id.index() >= driver_of_.size()) driver_of_.resize(id.index() + 1);
    driver_of_[id.index()] = drivers_.Intern(std::string_view(volume.driver));
  }
  return id;
}

void AttachedVolumes::Release(AttachedId volume) {
  const DriverId driver = driver_of_[volume.index()];
  if (names_.Release(volume)) drivers_.Release(driver);
}

void AttachedVolumes::Add(Row& row, AttachedId volume, std::int32_t Use::* by) {
  const auto [at, is_new] = row.uses.try_emplace(volume);
  ++(at->second.*by);
  if (!is_new) return;
  const DriverId driver = driver_of_[volume.index()];
  const auto count = std::ranges::find(row.driver_counts, driver, &DriverCount::driver);
  if (count == row.driver_counts.end()) {
    row.driver_counts.push_back({driver, 1});
  } else {
    ++count->count;
  }
  UpdateRoom(row, driver);
}

void AttachedVolumes::Subtract(Row& row, AttachedId volume, std::int32_t Use::* by) {
  const auto at = row.uses.find(volume);
  BERTH_CHECK(at != row.uses.end() && at->second.*by > 0);
  --(at->second.*by);
  if (at->second.pods > 0 || at->second.attachments > 0) return;
  row.uses.erase(at);
  const DriverId driver = driver_of_[volume.index()];
  const auto count = std::ranges::find(row.driver_counts, driver, &DriverCount::driver);
  if (--count->count == 0) row.driver_counts.erase(count);
  UpdateRoom(row, driver);
}

std::span<const std::int32_t> AttachedVolumes::RoomFor(std::string_view driver) const {
  const DriverId id = drivers_.Find(driver);
  if (!id.IsValid() || id.index() >= rooms_.size()) return {};
  return rooms_[id.index()].left;
}

std::int32_t AttachedVolumes::LeastRoom(std::string_view driver) const {
  const DriverId id = drivers_.Find(driver);
  if (!id.IsValid() || id.index() >= rooms_.size() || rooms_[id.index()].rows.empty()) return kUnlimited;
  return rooms_[id.index()].rows.begin()->first;
}

void AttachedVolumes::SetRoom(DriverId driver, std::size_t row, std::int32_t left) {
  if (driver.index() >= rooms_.size()) rooms_.resize(driver.index() + 1);
  DriverRoom& room = rooms_[driver.index()];
  if (row >= room.left.size()) room.left.resize(std::max(row + 1, rows_.size()), kUnlimited);
  const std::int32_t before = std::exchange(room.left[row], left);
  if (before == left) return;
  if (before != kUnlimited) {
    const auto at = room.rows.find(before);
    if (--at->second == 0) room.rows.erase(at);
  }
  if (left != kUnlimited) ++room.rows[left];
}

void AttachedVolumes::UpdateRoom(const Row& row, DriverId driver) {
  const auto limit = std::ranges::find(row.limits, driver, &Limit::driver);
  if (limit == row.limits.end()) return;
  const std::int64_t left = std::int64_t{limit->count} - Count(row.node, driver);
  // As good as no limit, or as none left, beyond the range.
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  SetRoom(driver, row.node.index(),
          static_cast<std::int32_t>(std::clamp<std::int64_t>(left, kLeast, kUnlimited - 1)));
}

void AttachedVolumes::LoadLimits(cluster::NodeRow row) {
  Row& at = RowAt(row);
  std::vector<Limit> limits;
  const api::CSINode* const node = csi_nodes_.At(row);
  const std::size_t driver_count = node == nullptr ? 0 : node->spec.drivers.size();
  for (std::size_t i = 0; i < driver_count; ++i) {
    const api::CSINodeDriver& driver = node->spec.drivers[i];
    const DriverId id = drivers_.Intern(std::string_view(driver.name));
    // Of two entries with one name the last counts.
    const auto earlier = std::ranges::find(limits, id, &Limit::driver);
    if (earlier != limits.end()) {
      limits.erase(earlier);
      drivers_.Release(id);
    }
    if (driver.allocatable && driver.allocatable->count) {
      limits.push_back({id, *driver.allocatable->count});
    } else {
      drivers_.Release(id);
    }
  }
  std::swap(at.limits, limits);
  for (const Limit& old : limits) {
    SetRoom(old.driver, row.index(), kUnlimited);
    drivers_.Release(old.driver);
  }
  for (const Limit& limit : at.limits) UpdateRoom(at, limit.driver);
}

void AttachedVolumes::CountPod(cluster::PodSlot pod, cluster::NodeRow row) {
  Row& at = RowAt(row);
  PodAttachments scan = AttachmentsOf(cluster_, cluster_.pods().record(pod), {.migrated = at.has_csi_node});
  PodUse use{.volumes = {},
             .claims = std::move(scan.claims),
             .has_error = scan.error.has_value(),
             .by_class = scan.by_class};
  for (const CsiVolume& volume : scan.volumes) {
    const AttachedId id = Intern(volume);
    Add(at, id, &Use::pods);
    use.volumes.push_back(id);
  }
  if (use.has_error) ++at.errors;
  if (use.has_error) ++error_count_;
  for (const std::string& claim : use.claims) Link(pods_of_claim_, claim, pod);
  if (use.by_class) pods_by_class_.insert(pod);
  pods_.emplace(pod, std::move(use));
}

void AttachedVolumes::UncountPod(cluster::PodSlot pod, cluster::NodeRow row) {
  auto counted = pods_.extract(pod);
  BERTH_CHECK(!counted.empty());
  const PodUse& use = counted.mapped();
  Row& at = RowAt(row);
  for (const AttachedId volume : use.volumes) {
    Subtract(at, volume, &Use::pods);
    Release(volume);
  }
  if (use.has_error) --at.errors;
  if (use.has_error) --error_count_;
  for (const std::string& claim : use.claims) Unlink(pods_of_claim_, claim, pod);
  if (use.by_class) pods_by_class_.erase(pod);
}

void AttachedVolumes::Recount(const Pods& pods) {
  const std::vector<cluster::PodSlot> concerned(pods.begin(), pods.end());
  for (const cluster::PodSlot pod : concerned) {
    const cluster::NodeRow row = cluster_.pods().row(pod);
    UncountPod(pod, row);
    CountPod(pod, row);
  }
}

void AttachedVolumes::RecountClaim(std::string_view key) {
  if (const auto found = pods_of_claim_.find(key); found != pods_of_claim_.end()) Recount(found->second);
}

void AttachedVolumes::OnPodPlaced(cluster::PodSlot pod, cluster::NodeRow row) {
  if (!cluster_.pods().record(pod).spec->spec.volumes.empty()) CountPod(pod, row);
}

void AttachedVolumes::OnPodDisplaced(cluster::PodSlot pod, cluster::NodeRow row) {
  if (!cluster_.pods().record(pod).spec->spec.volumes.empty()) UncountPod(pod, row);
}

void AttachedVolumes::OnNodeChanged(cluster::NodeRow row, cluster::Facts facts) {
  if ((facts & cluster::kExistsFact) == 0) return;
  LoadLimits(row);
  LoadAttachments(row);
  TellMigration(row);
  if (RowAt(row).IsEmpty()) rows_[row.index()].reset();
}

void AttachedVolumes::TellMigration(cluster::NodeRow row) {
  Row& at = RowAt(row);
  const bool has_csi_node = csi_nodes_.At(row) != nullptr;
  if (has_csi_node == at.has_csi_node) return;
  at.has_csi_node = has_csi_node;
  const auto pods = cluster_.nodes().pods(row);
  Pods concerned;
  for (const cluster::PodSlot pod : pods) {
    if (pods_.contains(pod)) concerned.insert(pod);
  }
  Recount(concerned);
}

void AttachedVolumes::OnCsiNode(std::string_view name) {
  const cluster::NodeRow row = cluster_.nodes().Find(name);
  if (row.IsValid()) OnNodeChanged(row, cluster::kExistsFact);
}

void AttachedVolumes::OnClaim(const api::PersistentVolumeClaim* before,
                              const api::PersistentVolumeClaim* after) {
  const std::string key = KeyOf((after != nullptr ? after : before)->metadata);
  if (before != nullptr && !before->spec.volume_name.empty()) {
    Unlink(claims_of_volume_, before->spec.volume_name, key);
  }
  if (after != nullptr && !after->spec.volume_name.empty()) {
    Link(claims_of_volume_, after->spec.volume_name, key);
  }
  RecountClaim(key);
}

void AttachedVolumes::OnVolume(std::string_view name) {
  if (const auto claims = claims_of_volume_.find(name); claims != claims_of_volume_.end()) {
    for (const std::string& key : claims->second) RecountClaim(key);
  }
  if (const auto nodes = nodes_of_volume_.find(name); nodes != nodes_of_volume_.end()) {
    for (const std::string& node : nodes->second) {
      const cluster::NodeRow row = cluster_.nodes().Find(node);
      if (row.IsValid()) LoadAttachments(row);
    }
  }
}

void AttachedVolumes::OnClass() {
  const Pods concerned = pods_by_class_;
  Recount(concerned);
}

void AttachedVolumes::OnAttachment(const api::VolumeAttachment* before, const api::VolumeAttachment* after) {
  for (const auto& [object, link] : {std::pair(before, false), std::pair(after, true)}) {
    if (object == nullptr) continue;
    const std::string& node = object->spec.node_name;
    const auto& volume = object->spec.source.persistent_volume_name;
    if (link) {
      Link(attachments_of_node_, node, object->metadata.name);
      if (volume) Link(nodes_of_volume_, *volume, node);
    } else {
      Unlink(attachments_of_node_, node, object->metadata.name);
    }
  }
  for (const api::VolumeAttachment* const object : {before, after}) {
    if (object == nullptr) continue;
    const cluster::NodeRow row = cluster_.nodes().Find(object->spec.node_name);
    if (row.IsValid()) LoadAttachments(row);
  }
  if (before == nullptr || !before->spec.source.persistent_volume_name) return;
  // The node goes from the volume's list with its last attachment of it.
  const std::string& node = before->spec.node_name;
  const std::string& volume = *before->spec.source.persistent_volume_name;
  const auto of_node = attachments_of_node_.find(node);
  const auto& table = cluster_.objects().Of<api::VolumeAttachment>();
  const bool is_left = of_node != attachments_of_node_.end() &&
                       std::ranges::any_of(of_node->second, [&](const std::string& name) {
                         const auto other = table.Find(name);
                         return other && other->spec.source.persistent_volume_name == volume;
                       });
  if (!is_left) Unlink(nodes_of_volume_, volume, node);
}

void AttachedVolumes::LoadAttachments(cluster::NodeRow row) {
  Row& at = RowAt(row);
  // The old ones are kept until the new ones are counted, so that nothing is forgotten in between.
  std::vector<AttachedId> attached;
  if (cluster_.nodes().IsLive(row) && cluster_.nodes().exists(row)) {
    const auto names = attachments_of_node_.find(cluster_.nodes().name(row));
    if (names != attachments_of_node_.end()) {
      for (const std::string& name : names->second) {
        const auto object = cluster_.objects().Of<api::VolumeAttachment>().Find(name);
        if (!object || object->spec.attacher.empty() || !object->spec.source.persistent_volume_name) continue;
        const VolumeRef volume = FindVolume(cluster_, *object->spec.source.persistent_volume_name);
        if (!volume || !volume->spec.persistent_volume_source.csi) continue;
        attached.push_back(
            Intern({object->spec.attacher, volume->spec.persistent_volume_source.csi->volume_handle}));
      }
    }
  }
  for (const AttachedId id : attached) Add(at, id, &Use::attachments);
  std::swap(at.attachments, attached);
  for (const AttachedId id : attached) {
    Subtract(at, id, &Use::attachments);
    Release(id);
  }
}

void AttachedVolumes::AddTo(cluster::Digester& digest) const {
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i] == nullptr) continue;
    const Row& row = *rows_[i];
    // By name: ids depend on what was tried in between.
    absl::btree_map<std::string_view, Use> volumes;
    // house: hash-order: sorted here
    for (const auto& [volume, use] : row.uses) volumes.emplace(names_.Get(volume), use);
    absl::btree_map<std::string_view, std::int32_t> by_driver;
    // house: hash-order: a vector
    for (const DriverCount& count : row.driver_counts)
      by_driver.emplace(drivers_.Get(count.driver), count.count);
    if (volumes.empty() && row.errors == 0) continue;
    digest.Add(i);
    digest.AddSigned(row.errors);
    for (const auto& [name, use] : volumes) {
      digest.Add(name);
      digest.AddSigned(use.pods);
      digest.AddSigned(use.attachments);
    }
    for (const auto& [name, count] : by_driver) {
      digest.Add(name);
      digest.AddSigned(count);
    }
  }
  for (const auto& [claim, pods] : pods_of_claim_) {
    digest.Add(claim);
    for (const cluster::PodSlot pod : pods) digest.Add(pod.value());
  }
}

}  // namespace berth::plugins
