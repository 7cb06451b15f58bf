#include "dra/allocation_result.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "fmt/format.h"

#include "cluster/digest.h"
#include "dra/capacity.h"

namespace berth::dra {
namespace {

constexpr std::string_view kFromClass = "FromClass";
constexpr std::string_view kFromClaim = "FromClaim";

bool SameRequirement(const api::NodeSelectorRequirement& a, const api::NodeSelectorRequirement& b) {
  const auto covers = [](const auto& some, const auto& others) {
    return std::ranges::all_of(
        some, [&](const std::string& value) { return std::ranges::find(others, value) != others.end(); });
  };
  return a.key == b.key && a.operator_ == b.operator_ && covers(a.values, b.values) &&
         covers(b.values, a.values);
}

void Merge(std::vector<api::NodeSelectorRequirement>& into,
           const std::vector<api::NodeSelectorRequirement>& requirements) {
  for (const api::NodeSelectorRequirement& requirement : requirements) {
    const auto is_same = [&](const auto& other) { return SameRequirement(other, requirement); };
    if (std::ranges::none_of(into, is_same)) into.push_back(requirement);
  }
}

api::NodeSelector OnlyOn(std::string_view node_name) {
  api::NodeSelectorTerm term;
  term.match_fields.push_back({"metadata.name", "In", {std::string(node_name)}});
  return {.node_selector_terms = {std::move(term)}};
}

// The alternative of each request that the devices were taken for, by request.
std::vector<const Alternative*> ChosenOf(const ClaimPlan& plan, std::span<const TakenDevice> taken) {
  std::vector<const Alternative*> chosen;
  chosen.reserve(plan.requests.size());
  for (const PlannedRequest& request : plan.requests) chosen.push_back(&request.alternatives.front());
  for (const TakenDevice& device : taken) {
    chosen[device.request] = &plan.requests[device.request].alternatives[device.alternative];
  }
  return chosen;
}

bool Names(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<api::DeviceAllocationConfiguration> ConfigOf(const ClaimPlan& plan,
                                                         const std::vector<const Alternative*>& chosen) {
  std::vector<api::DeviceAllocationConfiguration> config;
  absl::btree_map<std::string_view, std::pair<std::size_t, std::size_t>> of_class;  // first entry, count
  for (const Alternative* alternative : chosen) {
    const api::DeviceClass& device_class = *alternative->device_class;
    const auto [entry, is_new] = of_class.try_emplace(
        device_class.metadata.name, std::pair(config.size(), device_class.spec.config.size()));
    if (is_new) {
      for (const api::DeviceClassConfiguration& from : device_class.spec.config) {
        config.push_back({.source = std::string(kFromClass),
                          .requests = {},
                          .device_configuration = from.device_configuration});
      }
    }
    for (std::size_t i = 0; i < entry->second.second; ++i) {
      config[entry->second.first + i].requests.push_back(alternative->full_name);
    }
  }
  const auto is_named = [&](const std::vector<std::string>& requests, std::size_t index) {
    return Names(requests, plan.requests[index].name) || Names(requests, chosen[index]->full_name);
  };
  for (const api::DeviceClaimConfiguration& from : plan.claim->spec.devices.config) {
    bool concerns = from.requests.empty();
    for (std::size_t i = 0; i < chosen.size(); ++i) concerns = concerns || is_named(from.requests, i);
    if (!concerns) continue;
    config.push_back({.source = std::string(kFromClaim),
                      .requests = from.requests,
                      .device_configuration = from.device_configuration});
  }
  for (api::DeviceAllocationConfiguration& entry : config) {
    bool covers_all = true;
    for (std::size_t i = 0; i < chosen.size(); ++i) covers_all = covers_all && is_named(entry.requests, i);
    if (covers_all) entry.requests.clear();
  }
  return config;
}

}  // namespace

std::string MakeShareId(const ShareSeed& seed, std::size_t position) {
  std::uint64_t halves[2];
  for (std::uint64_t half = 0; half < 2; ++half) {
    cluster::Digester digest;
    digest.Add(half);
    digest.Add(seed.claim_uid);
    digest.Add(seed.pod_uid);
    digest.Add(seed.attempt);
    digest.Add(position);
    halves[half] = digest.value();
  }
  // Version 8: made by a rule of one's own.
  return fmt::format("{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}", halves[0] >> 32, (halves[0] >> 16) & 0xffff,
                     halves[0] & 0xfff, ((halves[1] >> 48) & 0x3fff) | 0x8000, halves[1] & 0xffffffffffff);
}

base::Result<std::optional<api::NodeSelector>> NodesOf(const ClaimPlan& plan,
                                                       std::span<const TakenDevice> taken,
                                                       std::string_view node_name) {
  api::NodeSelectorTerm term;
  for (const TakenDevice& one : taken) {
    const SliceRecord& slice = *one.device->slice;
    const api::Device& device = one.device->device();
    const std::optional<std::string>& only =
        slice.per_device_nodes ? device.node_name : slice.spec().node_name;
    if ((only && !only->empty()) || device.binds_to_node.value_or(false)) return OnlyOn(node_name);
    const std::optional<api::NodeSelector>& selector =
        slice.per_device_nodes ? device.node_selector : slice.spec().node_selector;
    if (!selector) continue;
    if (selector->node_selector_terms.size() > 1) {
      return base::Fail(fmt::format(
          "create NodeSelector for claim {}: unsupported ResourceSlice.NodeSelector with {} terms",
          plan.claim->metadata.name, selector->node_selector_terms.size()));
    }
    for (const api::NodeSelectorTerm& part : selector->node_selector_terms) {
      Merge(term.match_fields, part.match_fields);
      Merge(term.match_expressions, part.match_expressions);
    }
  }
  if (term.match_fields.empty() && term.match_expressions.empty()) return std::nullopt;
  return api::NodeSelector{.node_selector_terms = {std::move(term)}};
}

api::AllocationResult MakeAllocation(const ClaimPlan& plan, std::span<const TakenDevice> taken,
                                     std::string_view node_name, const Gates& gates, const ShareSeed& seed) {
  api::AllocationResult allocation;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const TakenDevice& one = taken[i];
    const Alternative& alternative = plan.requests[one.request].alternatives[one.alternative];
    const api::Device& device = one.device->device();
    api::DeviceRequestAllocationResult result;
    result.request = alternative.full_name;
    result.driver = one.pool->driver;
    result.pool = one.pool->pool;
    result.device = device.name;
    if (alternative.admin) result.admin_access = true;
    result.tolerations = *alternative.tolerations;
    if (gates.binding_conditions) {
      result.binding_conditions = device.binding_conditions;
      result.binding_failure_conditions = device.binding_failure_conditions;
    }
    if (gates.consumable_capacity && one.device->multi_allocatable) {
      result.share_id = MakeShareId(seed, i);
      result.consumed_capacity =
          ConsumedBy(alternative.capacity, device, gates.fractional_capacity_range).amounts;
    }
    if (gates.optional_node_operations)
      result.skip_node_operations = one.device->slice->spec().skip_node_operations;
    allocation.devices.results.push_back(std::move(result));
  }
  allocation.devices.config = ConfigOf(plan, ChosenOf(plan, taken));
  auto nodes = NodesOf(plan, taken, node_name);
  if (nodes) allocation.node_selector = *std::move(nodes);
  return allocation;
}

}  // namespace berth::dra
