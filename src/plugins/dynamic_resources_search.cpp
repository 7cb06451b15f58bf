#include <algorithm>
#include <string>
#include <utility>

#include "fmt/format.h"

#include "dra/allocation_result.h"
#include "plugins/dynamic_resources.h"
#include "plugins/dynamic_resources_data.h"

// Which nodes can serve the claims of a pod, and how well.
namespace berth::plugins {
namespace {

using framework::Status;

// The best that an alternative can score; the next one is worth one less.
constexpr std::int64_t kAlternativesMax = 8;

constexpr std::string_view kOptionalNodeOperations = "DRAOptionalNodeOperations";

// Which alternative of a prioritized request has a result; nothing: none.
std::optional<std::size_t> ChosenOf(const api::DeviceRequest& request,
                                    const api::AllocationResult& allocation) {
  for (std::size_t i = 0; i < request.first_available.size(); ++i) {
    const std::string name = fmt::format("{}/{}", request.name, request.first_available[i].name);
    if (std::ranges::find(allocation.devices.results, name, &api::DeviceRequestAllocationResult::request) !=
        allocation.devices.results.end()) {
      return i;
    }
  }
  return std::nullopt;
}

std::int64_t ScoreOfAllocated(const api::ResourceClaim& claim) {
  std::int64_t score = 0;
  for (const api::DeviceRequest& request : claim.spec.devices.requests) {
    if (const auto chosen = ChosenOf(request, *claim.status.allocation)) {
      score += kAlternativesMax - static_cast<std::int64_t>(*chosen);
    }
  }
  return score;
}

// The alternatives that are taken, each worth the less the later it is listed.
std::int64_t ScoreOfTaken(std::span<const dra::TakenDevice> devices,
                          std::span<const dra::ClaimPlan* const> plans) {
  std::int64_t score = 0;
  const dra::TakenDevice* before = nullptr;
  for (const dra::TakenDevice& taken : devices) {
    const bool is_new = before == nullptr || before->claim != taken.claim || before->request != taken.request;
    before = &taken;
    if (!is_new || taken.claim >= plans.size()) continue;
    if (plans[taken.claim]->requests[taken.request].prioritized) {
      score += kAlternativesMax - static_cast<std::int64_t>(taken.alternative);
    }
  }
  return score;
}

}  // namespace

bool DynamicResources::IsUnavailable(const framework::Cycle& cycle, const PodClaim& claim,
                                     cluster::NodeRow row) const {
  if (claim.has_failed) return true;
  if (!claim.nodes && !claim.skips_node_operations) return false;
  const cluster::Cluster& cluster = cycle.cluster();
  const auto labels = cluster.labels().View(cluster.nodes().label_set()[row.index()]);
  if (claim.nodes && !claim.nodes->Matches(cluster.nodes().name(row), labels)) return true;
  if (!claim.skips_node_operations) return false;
  const auto& declared = cluster.features().Get(cluster.nodes().feature_set()[row.index()]);
  return std::ranges::find(declared, kOptionalNodeOperations) == declared.end();
}

void DynamicResources::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  DeviceClaims& claims = *cycle.DataOf<DeviceClaims>(*this);
  if (claims.allocator && claims.solutions.size() < cycle.cluster().nodes().row_count()) {
    claims.solutions.resize(cycle.cluster().nodes().row_count());
  }
  nodes.Judge([&](cluster::NodeRow row) {
    // One node in error fails the attempt: nothing about the others matters any more.
    if (!nodes.error().IsSuccess()) return framework::kAccepted;
    return JudgeRow(cycle, claims, row, nodes);
  });
}

std::optional<std::uint64_t> DynamicResources::ServedByDevices(const framework::Cycle& cycle,
                                                               const DeviceClaims& claims,
                                                               cluster::NodeRow row) const {
  const cluster::Cluster& cluster = cycle.cluster();
  std::uint64_t served = 0;
  for (std::size_t i = 0; i < claims.served.size(); ++i) {
    const auto& [resource, device_class] = claims.served[i];
    const cluster::ResourceId id = cluster.resources().Find(resource);
    const auto& offers = cluster.nodes().allocatable_of(row);
    const auto offer = std::ranges::find(offers, id, &cluster::ResourceAmount::resource);
    const bool is_offered = id.IsValid() && offer != offers.end();
    if (!device_class.empty() && (!is_offered || offer->amount == 0)) {
      served |= std::uint64_t{1} << i;
    } else if (!is_offered) {
      return std::nullopt;
    }
  }
  return served;
}

framework::RejectionId DynamicResources::JudgeRow(const framework::Cycle& cycle, DeviceClaims& claims,
                                                  cluster::NodeRow row,
                                                  framework::NodeSelection& nodes) const {
  if (claims.allocator) claims.solutions[row.index()] = {};
  std::uint64_t served = 0;
  if (claims.HasExtended()) {
    PodClaim& extended = claims.claims.back();
    if (!extended.claim->spec.devices.requests.empty()) {
      extended.unavailable_somewhere = true;
      return nodes.Fixed(kLeftoverClaim);
    }
    const auto by_devices = ServedByDevices(cycle, claims, row);
    if (!by_devices) return nodes.Fixed(kCannotFit);
    served = *by_devices;
    if (served == 0 && claims.HasOnlyExtended()) return framework::kAccepted;
  }
  absl::InlinedVector<std::size_t, 4> unavailable;
  for (std::size_t i = 0; i < claims.claims.size(); ++i) {
    if (IsUnavailable(cycle, claims.claims[i], row)) unavailable.push_back(i);
  }
  if (claims.allocator) {
    const framework::RejectionId refusal = AllocateOn(cycle, claims, served, row, nodes);
    if (refusal.IsRefusal() || !nodes.error().IsSuccess()) return refusal;
  }
  if (unavailable.empty()) return framework::kAccepted;
  if (claims.allocator) claims.solutions[row.index()] = {};
  for (const std::size_t index : unavailable) claims.claims[index].unavailable_somewhere = true;
  return nodes.Fixed(kUnavailable);
}

dra::Outcome DynamicResources::SearchOn(std::span<const dra::ClaimPlan* const> plans, DeviceClaims& claims,
                                        cluster::NodeRow row) const {
  dra::Outcome outcome = claims.allocator->Allocate(plans, row, steps_max_);
  if (outcome.verdict != dra::Verdict::kFound) return outcome;
  const std::vector<dra::TakenDevice>& taken = claims.allocator->taken();
  const std::string_view node = state_.cluster().nodes().name(row);
  for (std::size_t i = 0, first = 0; i < plans.size(); ++i) {
    std::size_t end = first;
    while (end < taken.size() && taken[end].claim == i) ++end;
    const auto where = dra::NodesOf(*plans[i], std::span(taken).subspan(first, end - first), node);
    if (!where) return {dra::Verdict::kError, where.error().message};
    first = end;
  }
  DeviceClaims::Solution& solution = claims.solutions[row.index()];
  solution.first = static_cast<std::uint32_t>(claims.taken.size());
  solution.count = static_cast<std::uint32_t>(taken.size());
  solution.found = true;
  solution.score = ScoreOfTaken(taken, claims.plans);
  claims.taken.insert(claims.taken.end(), taken.begin(), taken.end());
  return outcome;
}

framework::RejectionId DynamicResources::AllocateOn(const framework::Cycle& cycle, DeviceClaims& claims,
                                                    std::uint64_t served, cluster::NodeRow row,
                                                    framework::NodeSelection& nodes) const {
  const std::string_view node = cycle.cluster().nodes().name(row);
  absl::InlinedVector<const dra::ClaimPlan*, 8> plans(claims.plans.begin(), claims.plans.end());
  DeviceSearch* search = claims.search.get();
  if (served != 0) {
    const auto [entry, is_new] = claims.extended_plans.try_emplace(served);
    DeviceClaims::ExtendedPlan& extended = entry->second;
    if (is_new) {
      std::vector<dra::ServedResource> resources;
      for (std::size_t i = 0; i < claims.served.size(); ++i) {
        if (((served >> i) & 1) != 0) resources.push_back({claims.served[i].first, claims.served[i].second});
      }
      extended.requests = dra::RequestsFor(cycle.spec(), resources);
      auto claim = std::make_shared<api::ResourceClaim>(*claims.claims.back().claim);
      claim->spec.devices.requests = extended.requests.requests;
      extended.plan = std::make_unique<const dra::ClaimPlan>(dra::PlanClaim(std::move(claim), state_));
    }
    plans.push_back(extended.plan.get());
    if (is_new) extended.search = searches_->Use(plans);
    search = extended.search.get();
  }
  claims.solutions[row.index()].served = served;
  const dra::NodePools& pools = state_.pools().Of(row);
  const std::uint64_t use = state_.UseVersion(pools);
  dra::Outcome outcome;
  if (const DeviceSearch::Finding* const known =
          search == nullptr ? nullptr : search->Find(row, pools.stamp, use)) {
    outcome.verdict = known->verdict;
    claims.solutions[row.index()].is_known = known->verdict == dra::Verdict::kFound;
    claims.solutions[row.index()].score = known->score;
  } else {
    outcome = SearchOn(plans, claims, row);
    const bool may_be_kept =
        outcome.verdict != dra::Verdict::kError && outcome.verdict != dra::Verdict::kTimedOut;
    if (search != nullptr && may_be_kept) {
      search->Set(row, {.stamp = pools.stamp,
                        .use = use,
                        .verdict = outcome.verdict,
                        .score = claims.solutions[row.index()].score});
    }
  }
  switch (outcome.verdict) {
    case dra::Verdict::kTimedOut:
      nodes.Fail(row, Status::Error(fmt::format("node {}: timed out trying to allocate devices", node)));
      return framework::kAccepted;
    case dra::Verdict::kError:
      nodes.Fail(row, Status::Error(std::move(outcome.error)));
      return framework::kAccepted;
    case dra::Verdict::kInvalidPools:
      return nodes.Fixed(kInvalidPools);
    case dra::Verdict::kNone:
      return nodes.Fixed(kCannotAllocate);
    case dra::Verdict::kFound:
      break;
  }
  return framework::kAccepted;
}

Status DynamicResources::Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                               std::span<std::int64_t> scores) const {
  const DeviceClaims* const claims = cycle.DataOf<DeviceClaims>(*this);
  std::ranges::fill(scores, 0);
  if (claims == nullptr || claims->allocator == nullptr || !features_.dra_prioritized_list) return {};
  std::int64_t of_allocated = 0;
  for (const PodClaim& claim : claims->claims) {
    if (!claim.to_allocate) of_allocated += ScoreOfAllocated(*claim.claim);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DeviceClaims::Solution* const solution = claims->SolutionFor(rows[i].index());
    if (solution == nullptr) continue;
    scores[i] = of_allocated + solution->score;
  }
  return {};
}

}  // namespace berth::plugins
