#include <algorithm>

#include "fmt/format.h"

#include "base/check.h"
#include "dra/allocator.h"

// What the search asks about one device, and how it takes one and gives it back.
namespace berth::dra {
namespace {

constexpr std::string_view kOptionalNodeOperations = "DRAOptionalNodeOperations";

bool Tolerates(const api::DeviceToleration& toleration, const api::DeviceTaint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operator_.empty() || toleration.operator_ == "Equal") return toleration.value == taint.value;
  return toleration.operator_ == "Exists";
}

}  // namespace

bool Allocator::IsMulti(const PoolDevice& device) const {
  return device.multi_allocatable && state_.gates().consumable_capacity;
}

bool Allocator::IsInUse(const PoolDevice& device, const Position& at) const {
  if (AlternativeAt(at).admin) {
    // Somebody else's device is no obstacle, only the claim's own.
    return marked_.contains(device.id) && std::ranges::any_of(taken_, [&](const TakenDevice& taken) {
             return taken.claim == at.claim && taken.device->id == device.id;
           });
  }
  const DeviceUse& use = state_.devices().use(device.id);
  if (use.dedicated > 0 || marked_.contains(device.id)) return true;
  // Its driver no longer lets it be shared, and parts of it are in use.
  return use.IsShared() && !IsMulti(device);
}

Match Allocator::Selectable(const ClaimPlan& claim, const Alternative& alternative,
                            const Candidate& candidate) {
  const PoolDevice& device = *candidate.device;
  if (device.has_binding_conditions && !state_.gates().binding_conditions) return Match::kNo;
  std::vector<Match>& selected = alternative.selected;
  if (device.shape.index() >= selected.size()) {
    selected.resize(state_.selectors().shape_count(), Match::kUnknown);
  }
  Match& match = selected[device.shape.index()];
  if (match == Match::kUnknown) {
    const Match found = MatchSelectors(claim, alternative, candidate);
    if (found == Match::kError) return found;
    match = found;
  }
  if (match != Match::kYes || !device.slice->per_device_nodes) return match;
  const cluster::Cluster& cluster = state_.cluster();
  const base::Result<bool> covers = device.slice->device_nodes[device.position].Covers(
      cluster.nodes().name(row_), cluster.labels().View(cluster.nodes().label_set()[row_.index()]));
  if (!covers) {
    Fail(covers.error().message);
    return Match::kError;
  }
  return *covers ? Match::kYes : Match::kNo;
}

Match Allocator::MatchSelectors(const ClaimPlan& claim, const Alternative& alternative,
                                const Candidate& candidate) {
  SelectorTable& selectors = state_.selectors();
  for (const PlannedSelector& selector : alternative.selectors) {
    const auto fail = [&](std::string_view where, std::string_view what) {
      const std::string owner =
          selector.of_class ? "class " + alternative.device_class->metadata.name : "claim " + claim.name;
      Fail(fmt::format("{}: selector #{}{}: {}", owner, selector.index, where, what));
      return Match::kError;
    };
    if (const auto& error = selectors.compile_error(selector.id)) {
      return fail("", "CEL compile error: " + *error);
    }
    switch (selectors.Evaluate(selector.id, candidate.device->shape)) {
      case Match::kNo:
        return Match::kNo;
      case Match::kError:
        return fail(" on device " + candidate.pool->DeviceNameOf(*candidate.device),
                    "CEL runtime error: " + selectors.error(selector.id, candidate.device->shape));
      default:
        break;
    }
  }
  return Match::kYes;
}

const ConsumedCapacity& Allocator::ConsumedOf(const Alternative& alternative,
                                              const PoolDevice& device) const {
  const auto [entry, is_new] = alternative.consumed.try_emplace(device.kind);
  if (is_new) {
    entry->second =
        ConsumedBy(alternative.capacity, device.device(), state_.gates().fractional_capacity_range);
  }
  return entry->second;
}

Match Allocator::CapacityFits(const ClaimPlan& claim, const Alternative& alternative,
                              const Candidate& candidate) {
  if (!state_.gates().consumable_capacity) return Match::kYes;
  const PoolDevice& device = *candidate.device;
  if (device.device().capacity.empty() && alternative.capacity == nullptr) return Match::kYes;
  const ConsumedCapacity& consumed = ConsumedOf(alternative, device);
  if (consumed.error) {
    Fail(fmt::format("claim {}, request {}: checking capacity for device {}: {}", claim.name,
                     alternative.name, candidate.pool->DeviceNameOf(device), *consumed.error));
    return Match::kError;
  }
  if (!consumed.fits) return Match::kNo;
  const api::ResourceList& used = state_.devices().use(device.id).consumed;
  const auto share = shares_.find(device.id);
  if (used.empty() && share == shares_.end()) return Match::kYes;
  for (const auto& [name, capacity] : device.device().capacity) {
    api::Quantity sum = *consumed.amounts.find(name);
    if (const api::Quantity* const amount = used.find(name)) sum.Add(*amount);
    if (share != shares_.end()) {
      if (const api::Quantity* const amount = share->second.consumed.find(name)) sum.Add(*amount);
    }
    if (sum.Compare(capacity.value) > 0) return Match::kNo;
  }
  return Match::kYes;
}

bool Allocator::IsTolerated(const Alternative& alternative, const PoolDevice& device) const {
  if (!device.has_taints || !state_.gates().device_taints) return true;
  return std::ranges::all_of(device.device().taints, [&](const api::DeviceTaint& taint) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return true;
    return std::ranges::any_of(*alternative.tolerations,
                               [&](const auto& toleration) { return Tolerates(toleration, taint); });
  });
}

CounterUse& Allocator::CountersOf(const PoolView& pool) {
  for (const auto& counters : counters_) {
    if (&counters->pool() == &pool) return *counters;
  }
  return *counters_.emplace_back(std::make_unique<CounterUse>(pool, state_.devices()));
}

bool Allocator::TakeCounters(const Candidate& candidate) {
  CounterUse& counters = CountersOf(*candidate.pool);
  if (state_.gates().compatibility_groups) {
    std::vector<const PoolDevice*> peers;
    for (const PoolDevice* consumer : consumers_) {
      if (state_.devices().pool(consumer->id) == state_.devices().pool(candidate.device->id)) {
        peers.push_back(consumer);
      }
    }
    if (!counters.GroupsAllow(*candidate.device, peers, state_.devices())) return false;
  }
  return counters.Take(*candidate.device);
}

bool Allocator::Take(const Position& at, const Candidate& candidate, bool must) {
  const Alternative& alternative = AlternativeAt(at);
  const PoolDevice& device = *candidate.device;
  const Gates& gates = state_.gates();
  const ClaimPlan& claim = *claims_[at.claim];
  if (IsInUse(device, at)) return false;
  if (gates.IsExperimental() && !device.slice->spec().skip_node_operations.empty()) {
    const cluster::Cluster& cluster = state_.cluster();
    const auto& declared = cluster.features().Get(cluster.nodes().feature_set()[row_.index()]);
    if (!gates.optional_node_operations ||
        std::ranges::find(declared, kOptionalNodeOperations) == declared.end()) {
      return false;
    }
  }
  const bool consumes = !device.device().consumes_counters.empty();
  if (consumes && !gates.partitionable_devices) return false;
  const bool is_multi = IsMulti(device);
  const bool is_shared =
      is_multi && (state_.devices().use(device.id).IsShared() || shares_.contains(device.id));
  // Whoever was first has paid for the others.
  const bool takes_counters = consumes && !is_shared;
  if (takes_counters && !TakeCounters(candidate)) return false;

  const auto undo_counters = [&] {
    if (takes_counters) CountersOf(*candidate.pool).GiveBack(device);
  };
  if (!IsTolerated(alternative, device)) {
    undo_counters();
    return false;
  }
  if (!AddToConstraints(at, candidate)) {
    undo_counters();
    if (must) {
      Fail(
          fmt::format("claim {}, request {}: cannot add device {} because a claim constraint would not be "
                      "satisfied",
                      claim.name, alternative.name, candidate.pool->DeviceNameOf(device)));
    }
    return false;
  }
  if (CapacityFits(claim, alternative, candidate) != Match::kYes) {
    for (const std::uint32_t index : alternative.constraints) constraints_[at.claim][index].Remove();
    undo_counters();
    return false;
  }

  if (is_multi) {
    Share& share = shares_[device.id];
    ++share.count;
    for (const auto& [name, amount] : ConsumedOf(alternative, device).amounts)
      share.consumed[name].Add(amount);
  } else {
    ++marked_[device.id];
  }
  if (takes_counters) consumers_.push_back(&device);
  taken_.push_back({.claim = at.claim,
                    .request = at.request,
                    .alternative = at.alternative.value_or(0),
                    .pool = candidate.pool,
                    .device = &device});
  took_counters_.push_back(takes_counters);
  ++results_[at.claim];
  return true;
}

std::optional<const api::DeviceAttribute*> Allocator::AttributeOf(const Alternative& alternative,
                                                                  std::string_view name,
                                                                  const Candidate& candidate) {
  SelectorTable& selectors = state_.selectors();
  for (const DerivedAttribute& derived : alternative.derived) {
    if (derived.name != name) continue;
    if (const auto& error = selectors.compile_error(derived.id)) {
      Fail(fmt::format("compile derived attribute {} failed: {}", name, *error));
      return std::nullopt;
    }
    const auto& attribute = selectors.EvaluateAttribute(derived.id, candidate.device->shape);
    if (attribute) return &*attribute;
    Fail(fmt::format("evaluate derived attribute {} on device {} failed: {}", name,
                     candidate.pool->DeviceNameOf(*candidate.device), attribute.error()));
    return std::nullopt;
  }
  return FindAttribute(candidate.device->device(), candidate.pool->driver, name);
}

// To all of them or to none.
bool Allocator::AddToConstraints(const Position& at, const Candidate& candidate) {
  const Alternative& alternative = AlternativeAt(at);
  std::vector<Constraint>& constraints = constraints_[at.claim];
  for (std::size_t i = 0; i < alternative.constraints.size(); ++i) {
    Constraint& constraint = constraints[alternative.constraints[i]];
    const auto attribute = AttributeOf(alternative, constraint.attribute_name(), candidate);
    if (attribute && constraint.Add(*attribute)) continue;
    while (i-- > 0) constraints[alternative.constraints[i]].Remove();
    return false;
  }
  return true;
}

void Allocator::GiveBackLast() {
  BERTH_DCHECK(!taken_.empty());
  const TakenDevice taken = taken_.back();
  const bool took_counters = took_counters_.back();
  taken_.pop_back();
  took_counters_.pop_back();
  --results_[taken.claim];
  const Alternative& alternative =
      claims_[taken.claim]->requests[taken.request].alternatives[taken.alternative];
  const PoolDevice& device = *taken.device;
  if (const auto marked = marked_.find(device.id); marked != marked_.end() && !IsMulti(device)) {
    if (--marked->second == 0) marked_.erase(marked);
  }
  if (IsMulti(device)) {
    const auto share = shares_.find(device.id);
    for (const auto& [name, amount] : ConsumedOf(alternative, device).amounts) {
      share->second.consumed[name].Sub(amount);
    }
    if (--share->second.count == 0) shares_.erase(share);
  }
  if (took_counters) {
    consumers_.pop_back();
    CountersOf(*taken.pool).GiveBack(device);
  }
  for (const std::uint32_t index : alternative.constraints) constraints_[taken.claim][index].Remove();
}

}  // namespace berth::dra
