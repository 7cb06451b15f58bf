#include "cluster/node_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::cluster {
namespace {

constexpr std::size_t kPodsMin = 8;

// Signed overflow wraps, as in Go.
void Accumulate(std::int64_t& sum, std::int64_t amount, std::int64_t sign) {
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                  static_cast<std::uint64_t>(amount) * static_cast<std::uint64_t>(sign));
}

std::int64_t AmountOf(const PriorityUse& use, ResourceId resource) {
  if (resource == kCpu) return use.milli_cpu;
  if (resource == kMemory) return use.memory;
  if (resource == kEphemeralStorage) return use.ephemeral_storage;
  if (resource == kPods) return use.pod_count;
  const auto found = std::ranges::lower_bound(use.scalars, resource, {}, &ResourceAmount::resource);
  return found != use.scalars.end() && found->resource == resource ? found->amount : 0;
}

}  // namespace

NodeRow NodeTable::Find(std::string_view name) const {
  const NodeNameId id = names_.Find(name);
  return id.IsValid() ? Find(id) : NodeRow();
}

NodeRow NodeTable::Find(NodeNameId name) const { return row_of_name_[name.index()]; }

std::int64_t NodeTable::RequestedBelow(NodeRow row, std::int32_t priority, ResourceId resource) const {
  std::int64_t sum = 0;
  for (const PriorityUse& use : by_priority(row)) {
    if (use.priority >= priority) break;
    Accumulate(sum, AmountOf(use, resource), 1);
  }
  return sum;
}

std::int32_t NodeTable::PodsBelow(NodeRow row, std::int32_t priority) const {
  return static_cast<std::int32_t>(RequestedBelow(row, priority, kPods));
}

NodeNameId NodeTable::InternName(std::string_view name) {
  const NodeNameId id = names_.Intern(name);
  if (id.index() >= row_of_name_.size()) row_of_name_.resize(id.index() + 1);
  return id;
}

NodeRow NodeTable::Ensure(std::string_view name) {
  if (const NodeRow row = Find(name); row.IsValid()) return row;
  const NodeRow row = TakeRow();
  const NodeNameId id = InternName(name);
  rows_[row.index()].name = id;
  row_of_name_[id.index()] = row;
  ++live_count_;
  return row;
}

void NodeTable::FreeIfUnused(NodeRow row) {
  Row& entry = rows_[row.index()];
  if (entry.object || !entry.pods.empty()) return;
  BERTH_DCHECK(entry.ports.empty() && entry.by_priority.empty());
  row_of_name_[entry.name.index()] = {};
  names_.Release(entry.name);
  const std::uint32_t generation = entry.generation + 1;
  entry = {};
  entry.generation = generation;
  free_.push_back(row);
  --live_count_;
}

NodeTable::Facts NodeTable::Exchange(NodeRow row, Facts facts) {
  Row& entry = rows_[row.index()];
  const std::size_t i = row.index();
  Facts old{std::exchange(entry.object, std::move(facts.object)),
            std::exchange(label_set_[i], facts.label_set),
            std::exchange(taint_set_[i], facts.taint_set),
            std::exchange(feature_set_[i], facts.feature_set),
            std::exchange(entry.images, std::move(facts.images)),
            std::exchange(entry.allocatable, std::move(facts.allocatable))};
  for (const ResourceAmount& amount : old.allocatable) SetAllocatable(row, amount.resource, 0);
  for (const ResourceAmount& amount : entry.allocatable) SetAllocatable(row, amount.resource, amount.amount);
  existing_count_ +=
      static_cast<std::size_t>(entry.object != nullptr) - static_cast<std::size_t>(old.object != nullptr);
  entry.object ? existing_.Set(i) : existing_.Clear(i);
  entry.object&& entry.object->spec.unschedulable ? unschedulable_.Set(i) : unschedulable_.Clear(i);
  return old;
}

void NodeTable::EnsureColumn(ResourceId resource) {
  if (IsFixed(resource) || ScalarIndex(resource) < scalars_.size()) return;
  scalars_.resize(ScalarIndex(resource) + 1);
}

void NodeTable::SetAllocatable(NodeRow row, ResourceId resource, std::int64_t amount) {
  if (IsFixed(resource)) {
    fixed_[resource.index()].allocatable[row.index()] = amount;
  } else {
    scalars_[ScalarIndex(resource)].allocatable.Set(row, amount);
  }
}

absl::InlinedVector<ResourceId, 8> NodeTable::ScalarsOf(NodeRow row) const {
  absl::InlinedVector<ResourceId, 8> resources;
  const Row& entry = rows_[row.index()];
  for (const ResourceAmount& amount : entry.allocatable) {
    if (!IsFixed(amount.resource)) resources.push_back(amount.resource);
  }
  for (const PriorityUse& use : entry.by_priority) {
    for (const ResourceAmount& scalar : use.scalars) resources.push_back(scalar.resource);
  }
  std::ranges::sort(resources);
  resources.erase(std::ranges::unique(resources).begin(), resources.end());
  return resources;
}

std::uint32_t NodeTable::AddPod(NodeRow row, const PodUse& pod) {
  Account(row, pod, 1);
  std::vector<PodSlot>& pods = rows_[row.index()].pods;
  // Most nodes have more than a few.
  if (pods.capacity() == 0) pods.reserve(kPodsMin);
  pods.push_back(pod.slot);
  return static_cast<std::uint32_t>(pods.size() - 1);
}

PodSlot NodeTable::RemovePod(NodeRow row, const PodUse& pod, std::uint32_t position) {
  Account(row, pod, -1);
  std::vector<PodSlot>& pods = rows_[row.index()].pods;
  BERTH_DCHECK(pods[position] == pod.slot);
  pods[position] = pods.back();
  pods.pop_back();
  return position < pods.size() ? pods[position] : PodSlot();
}

PodSlot NodeTable::ReinsertPod(NodeRow row, const PodUse& pod, std::uint32_t position) {
  Account(row, pod, 1);
  std::vector<PodSlot>& pods = rows_[row.index()].pods;
  pods.push_back(pod.slot);
  std::swap(pods[position], pods.back());
  return position + 1 < pods.size() ? pods.back() : PodSlot();
}

void NodeTable::Account(NodeRow row, const PodUse& pod, std::int64_t sign) {
  const std::size_t i = row.index();
  const Requests& requests = pod.requests;
  Accumulate(fixed_[kCpu.index()].requested[i], requests.milli_cpu, sign);
  Accumulate(fixed_[kMemory.index()].requested[i], requests.memory, sign);
  Accumulate(fixed_[kEphemeralStorage.index()].requested[i], requests.ephemeral_storage, sign);
  Accumulate(fixed_[kPods.index()].requested[i], 1, sign);
  for (const ResourceAmount& scalar : requests.scalars) {
    AmountColumn::Paged& column = scalars_[ScalarIndex(scalar.resource)].requested;
    std::int64_t sum = column.Get(row);
    Accumulate(sum, scalar.amount, sign);
    column.Set(row, sum);
  }
  Accumulate(non_zero_milli_cpu_[i], requests.non_zero_milli_cpu, sign);
  Accumulate(non_zero_memory_[i], requests.non_zero_memory, sign);
  pod_count_[i] += static_cast<std::int32_t>(sign);
  AccountPriority(rows_[i], pod, sign);
  if (!pod.ports.empty()) AccountPorts(row, pod.ports, sign);
}

void NodeTable::AccountPriority(Row& row, const PodUse& pod, std::int64_t sign) {
  auto use = std::ranges::lower_bound(row.by_priority, pod.priority, {}, &PriorityUse::priority);
  if (use == row.by_priority.end() || use->priority != pod.priority) {
    use = row.by_priority.insert(use, PriorityUse{.priority = pod.priority, .scalars = {}});
  }
  use->pod_count += static_cast<std::int32_t>(sign);
  if (use->pod_count == 0) {
    row.by_priority.erase(use);
    return;
  }
  Accumulate(use->milli_cpu, pod.requests.milli_cpu, sign);
  Accumulate(use->memory, pod.requests.memory, sign);
  Accumulate(use->ephemeral_storage, pod.requests.ephemeral_storage, sign);
  for (const ResourceAmount& scalar : pod.requests.scalars) {
    auto sum = std::ranges::lower_bound(use->scalars, scalar.resource, {}, &ResourceAmount::resource);
    if (sum == use->scalars.end() || sum->resource != scalar.resource) {
      sum = use->scalars.insert(sum, {scalar.resource, 0});
    }
    Accumulate(sum->amount, scalar.amount, sign);
    if (sum->amount == 0) use->scalars.erase(sum);
  }
}

void NodeTable::AccountPorts(NodeRow row, std::span<const PortId> ports, std::int64_t sign) {
  std::vector<PortUse>& uses = rows_[row.index()].ports;
  for (const PortId port : ports) {
    auto use = std::ranges::lower_bound(uses, port, {}, &PortUse::port);
    if (use == uses.end() || use->port != port) use = uses.insert(use, {port, 0});
    use->count += static_cast<std::uint32_t>(sign);
    if (use->count == 0) uses.erase(use);
  }
  uses.empty() ? with_ports_.Clear(row.index()) : with_ports_.Set(row.index());
}

NodeRow NodeTable::TakeRow() {
  if (!free_.empty()) {
    const NodeRow row = free_.back();
    free_.pop_back();
    return row;
  }
  BERTH_CHECK(rows_.size() < NodeRow::kInvalidValue);
  rows_.emplace_back();
  const std::size_t size = rows_.size();
  existing_.Resize(size);
  unschedulable_.Resize(size);
  with_ports_.Resize(size);
  for (FixedColumns& columns : fixed_) {
    columns.allocatable.resize(size);
    columns.requested.resize(size);
  }
  non_zero_milli_cpu_.resize(size);
  non_zero_memory_.resize(size);
  pod_count_.resize(size);
  label_set_.resize(size);
  taint_set_.resize(size);
  feature_set_.resize(size);
  return NodeRow(static_cast<std::uint32_t>(size - 1));
}

void NodeTable::AddTo(Digester& digest) const {
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    digest.Add(row.name.value());
    if (!row.name.IsValid()) continue;
    digest.Add(row.generation);
    digest.Add(static_cast<std::uint64_t>(existing_.Test(i)) | static_cast<std::uint64_t>(with_ports_.Test(i))
                                                                   << 1);
    digest.Add(label_set_[i].value());
    digest.Add(taint_set_[i].value());
    digest.AddSigned(pod_count_[i]);
    digest.AddSigned(non_zero_milli_cpu_[i]);
    digest.AddSigned(non_zero_memory_[i]);
    for (const PodSlot slot : row.pods) digest.Add(slot.value());
    for (const PortUse& use : row.ports) digest.Add(std::uint64_t{use.port.value()} << 32 | use.count);
    for (const PriorityUse& use : row.by_priority) {
      digest.AddSigned(use.priority);
      digest.AddSigned(use.pod_count);
      digest.AddSigned(use.milli_cpu);
      digest.AddSigned(use.memory);
      digest.AddSigned(use.ephemeral_storage);
      for (const ResourceAmount& scalar : use.scalars) {
        digest.Add(scalar.resource.value());
        digest.AddSigned(scalar.amount);
      }
    }
    ForEachAmount(NodeRow(i), [&](ResourceId resource, std::int64_t offered, std::int64_t taken) {
      digest.Add(resource.index());
      digest.AddSigned(taken);
      digest.AddSigned(offered);
    });
  }
}

void NodeTable::ReleaseName(NodeNameId name) { names_.Release(name); }

}  // namespace berth::cluster
