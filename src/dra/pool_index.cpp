#include "dra/pool_index.h"

#include <algorithm>
#include <tuple>

#include "fmt/format.h"

#include "dra/pool_builder.h"

namespace berth::dra {
namespace {

std::optional<base::Result<api::NodeMatcher>> Compile(const std::optional<api::NodeSelector>& selector) {
  if (!selector) return std::nullopt;
  return api::NodeMatcher::CompileStrict(*selector);
}

template <class Spec>
NodeChoice ChoiceOf(const Spec& spec) {
  return {.node_name = spec.node_name ? std::string_view(*spec.node_name) : std::string_view(),
          .all_nodes = spec.all_nodes.value_or(false),
          .selector = Compile(spec.node_selector)};
}

}  // namespace

PoolIndex::~PoolIndex() {
  for (const auto& [name, slice] : slices_) ReleaseRecord(*slice);
}

void PoolIndex::SetGates(const Gates& gates) {
  if (gates == gates_) return;
  gates_ = gates;
  ++shared_version_;
  for (auto& [key, pool] : pools_) Forget(pool);
}

std::unique_ptr<SliceRecord> PoolIndex::MakeRecord(SliceRef slice) {
  auto record = std::make_unique<SliceRecord>();
  record->object = std::move(slice);
  const api::ResourceSliceSpec& spec = record->spec();
  record->nodes = ChoiceOf(spec);
  record->per_device_nodes = spec.per_device_node_selection.value_or(false);
  for (const api::Device& device : spec.devices) {
    record->ids.push_back(devices_.Intern(spec.driver, spec.pool.name, device.name));
    record->shapes.push_back(selectors_.InternShape(ShapeText(spec.driver, device), spec.driver, device));
    record->kinds.push_back(kinds_.Intern(KindText(spec, device)));
    if (record->per_device_nodes) record->device_nodes.push_back(ChoiceOf(device));
    record->has_binding_conditions = record->has_binding_conditions || !device.binding_conditions.empty();
    record->declares_groups =
        record->declares_groups || std::ranges::any_of(device.consumes_counters, [](const auto& consumption) {
          return !consumption.compatibility_groups.empty();
        });
  }
  return record;
}

void PoolIndex::ReleaseRecord(const SliceRecord& record) {
  for (const DeviceId id : record.ids) devices_.Release(id);
  for (const ShapeId shape : record.shapes) selectors_.ReleaseShape(shape);
  for (const KindId kind : record.kinds) kinds_.Release(kind);
}

void PoolIndex::Set(SliceRef slice) {
  // The new record first: ids of devices that stay are kept.
  std::unique_ptr<SliceRecord> record = MakeRecord(std::move(slice));
  const std::string name(record->name());
  Remove(name);
  Link(*record);
  slices_.emplace(name, std::move(record));
}

void PoolIndex::Remove(std::string_view slice_name) {
  ++version_;
  const auto found = slices_.find(slice_name);
  if (found == slices_.end()) return;
  Unlink(*found->second);
  ReleaseRecord(*found->second);
  slices_.erase(found);
}

void PoolIndex::Link(const SliceRecord& record) {
  const PoolKey key(record.spec().driver, record.spec().pool.name);
  Pool& pool = pools_[key];
  pool.slices.emplace(record.name(), &record);
  if (record.is_shared()) {
    ++shared_pools_[key];
  } else {
    ++pools_of_node_[std::string(record.nodes.node_name)][key];
  }
  Forget(pool);
}

void PoolIndex::Unlink(const SliceRecord& record) {
  const PoolKey key(record.spec().driver, record.spec().pool.name);
  const auto pool = pools_.find(key);
  Forget(pool->second);
  pool->second.slices.erase(record.name());
  if (pool->second.slices.empty()) {
    // Whoever used it was told.
    if (!record.ids.empty()) {
      const std::size_t index = devices_.pool(record.ids.front()).index();
      if (index < sights_.size()) sights_[index] = Sight();
    }
    pools_.erase(pool);
  }
  const auto drop_from = [&](Pools& pools) {
    const auto counted = pools.find(key);
    if (--counted->second == 0) pools.erase(counted);
  };
  if (record.is_shared()) {
    drop_from(shared_pools_);
    return;
  }
  const auto of_node = pools_of_node_.find(record.nodes.node_name);
  drop_from(of_node->second);
  if (of_node->second.empty()) pools_of_node_.erase(of_node);
}

void PoolIndex::Forget(Pool& pool) {
  for (const auto& [name, slice] : pool.slices) {
    if (slice->is_shared()) {
      ++shared_version_;
    } else {
      MarkStale(slice->nodes.node_name);
    }
  }
  pool.views.clear();
}

void PoolIndex::MarkStale(std::string_view node_name) {
  const cluster::NodeRow row = cluster_.nodes().Find(node_name);
  if (row.IsValid()) OnNodeChanged(row);
}

void PoolIndex::OnNodeChanged(cluster::NodeRow row) {
  if (row.index() < entries_.size()) entries_[row.index()].is_current = false;
  row_log_.Append(row, 0);
}

const NodePools& PoolIndex::Of(cluster::NodeRow row) {
  if (row.index() >= entries_.size()) entries_.resize(cluster_.nodes().row_count());
  Entry& entry = entries_[row.index()];
  if (!entry.is_current || entry.shared_version != shared_version_) {
    entry.pools = {};
    Rebuild(row, entry.pools);
    entry.pools.stamp = ++last_stamp_;
    entry.is_current = true;
    entry.shared_version = shared_version_;
  }
  return entry.pools;
}

bool PoolIndex::IsIgnored(const SliceRecord& slice) const {
  if (!gates_.partitionable_devices &&
      (slice.spec().per_device_node_selection || !slice.spec().shared_counters.empty())) {
    return true;
  }
  return !gates_.compatibility_groups && slice.declares_groups;
}

base::Result<bool> PoolIndex::IsRelevant(const SliceRecord& slice, cluster::NodeRow row) const {
  const std::string_view node = cluster_.nodes().name(row);
  const auto labels = cluster_.labels().View(cluster_.nodes().label_set()[row.index()]);
  const bool slice_decides =
      !slice.nodes.node_name.empty() || slice.nodes.all_nodes || slice.nodes.selector.has_value();
  if (slice_decides || !slice.per_device_nodes) return slice.nodes.Covers(node, labels);
  for (const NodeChoice& choice : slice.device_nodes) {
    const base::Result<bool> covers = choice.Covers(node, labels);
    if (!covers || *covers) return covers;
  }
  return false;
}

void PoolIndex::NoteSight(const PoolKey& key, cluster::NodeRow row) {
  const auto& slices = pools_.find(key)->second.slices;
  const auto with_devices =
      std::ranges::find_if(slices, [](const auto& slice) { return !slice.second->ids.empty(); });
  if (with_devices == slices.end()) return;
  const PoolId pool = devices_.pool(with_devices->second->ids.front());
  if (pool.index() >= sights_.size()) sights_.resize(pool.index() + 1);
  Sight& sight = sights_[pool.index()];
  if (sight.is_wide || std::ranges::find(sight.rows, row) != sight.rows.end()) return;
  sight.rows.push_back(row);
  sight.is_wide = sight.rows.size() > kSightRowsMax || shared_pools_.contains(key);
}

void PoolIndex::Rebuild(cluster::NodeRow row, NodePools& pools) {
  Pools keys = shared_pools_;
  if (const auto own = pools_of_node_.find(cluster_.nodes().name(row)); own != pools_of_node_.end()) {
    keys.insert(own->second.begin(), own->second.end());
  }
  for (const auto& [key, count] : keys) NoteSight(key, row);
  for (const auto& [key, count] : keys) {
    base::Result<const PoolView*> view = ViewOf(pools_.find(key)->second, row);
    if (!view) {
      pools = {};
      pools.error = std::move(view.error().message);
      return;
    }
    if (*view == nullptr) continue;
    pools.pools.push_back(*view);
    const bool has_devices = !(*view)->devices.empty();
    if (has_devices) pools.used.push_back(devices_.pool((*view)->devices.front().id));
    pools.has_invalid = pools.has_invalid || (*view)->state == PoolView::State::kInvalid;
  }
  // By driver and name they are already; what can be used at once goes first.
  std::ranges::stable_partition(pools.pools,
                                [](const PoolView* view) { return !view->has_binding_conditions; });
}

base::Result<const PoolView*> PoolIndex::ViewOf(Pool& pool, cluster::NodeRow row) {
  std::vector<const SliceRecord*> here;
  const std::string_view node = cluster_.nodes().name(row);
  for (const auto& [name, slice] : pool.slices) {
    if (!slice->nodes.node_name.empty() && slice->nodes.node_name != node) continue;
    if (IsIgnored(*slice)) continue;
    const base::Result<bool> relevant = IsRelevant(*slice, row);
    if (!relevant) {
      return base::Fail(
          fmt::format("gather pool information: failed to perform node selection for slice {}: {}", name,
                      relevant.error().message));
    }
    if (!*relevant) continue;
    const std::int64_t generation = slice->spec().pool.generation;
    if (!here.empty() && generation < here.front()->spec().pool.generation) continue;
    if (!here.empty() && generation > here.front()->spec().pool.generation) here.clear();
    here.push_back(slice);
  }
  if (here.empty()) return nullptr;
  const auto [view, is_new] = pool.views.try_emplace(std::move(here));
  if (is_new) view->second = MakeView(pool, view->first);
  return view->second.get();
}

std::unique_ptr<const PoolView> PoolIndex::MakeView(const Pool& pool,
                                                    const std::vector<const SliceRecord*>& here) const {
  const api::ResourcePool& first = here.front()->spec().pool;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(0, first.resource_slice_count));
  std::vector<PooledSlice> slices;
  if (here.size() == wanted) {
    for (const SliceRecord* slice : here) slices.push_back({slice, true});
    return std::make_unique<const PoolView>(BuildPool(slices, gates_));
  }
  for (const auto& [name, slice] : pool.slices) {
    const std::int64_t generation = slice->spec().pool.generation;
    if (generation > first.generation) return nullptr;
    if (generation < first.generation) continue;
    if (!gates_.compatibility_groups && slice->declares_groups) continue;
    slices.push_back({slice, std::ranges::find(here, slice) != here.end()});
  }
  if (slices.size() == wanted) return std::make_unique<const PoolView>(BuildPool(slices, gates_));
  auto incomplete = std::make_unique<PoolView>();
  incomplete->driver = here.front()->spec().driver;
  incomplete->pool = first.name;
  incomplete->state = PoolView::State::kIncomplete;
  return incomplete;
}

std::size_t PoolIndex::view_count() const {
  std::size_t count = 0;
  for (const auto& [key, pool] : pools_) count += pool.views.size();
  return count;
}

}  // namespace berth::dra
