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

// The one node that an allocated claim is for, if its selector says no more than that.
std::optional<std::string_view> NamedNode(const api::ResourceClaim& claim) {
  if (!claim.status.allocation || !claim.status.allocation->node_selector) return std::nullopt;
  const auto& terms = claim.status.allocation->node_selector->node_selector_terms;
  if (terms.size() != 1 || !terms[0].match_expressions.empty() || terms[0].match_fields.size() != 1) {
    return std::nullopt;
  }
  const api::NodeSelectorRequirement& field = terms[0].match_fields[0];
  if (field.key != "metadata.name" || field.operator_ != "In" || field.values.size() != 1) {
    return std::nullopt;
  }
  return field.values[0];
}

}  // namespace

bool DynamicResources::IsUnavailable(const PodClaim& claim, cluster::NodeRow row) const {
  if (claim.has_failed) return true;
  if (!claim.nodes && !claim.skips_node_operations) return false;
  const cluster::Cluster& cluster = state_.cluster();
  const auto labels = cluster.labels().View(cluster.nodes().label_set()[row.index()]);
  if (claim.nodes && !claim.nodes->Matches(cluster.nodes().name(row), labels)) return true;
  if (!claim.skips_node_operations) return false;
  const auto& declared = cluster.features().Get(cluster.nodes().feature_set()[row.index()]);
  return std::ranges::find(declared, kOptionalNodeOperations) == declared.end();
}

void DynamicResources::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  DeviceClaims& claims = *cycle.DataOf<DeviceClaims>(*this);
  nodes.Judge([&](cluster::NodeRow row) {
    // One node in error fails the attempt: nothing about the others matters any more.
    if (!nodes.error().IsSuccess()) return framework::kAccepted;
    return JudgeRow(cycle, claims, row, nodes);
  });
}

// A claim that was allocated on a node is of use there only.
bool DynamicResources::LeaveCandidates(const framework::Cycle& cycle, base::Bitset& rows) const {
  const DeviceClaims* const claims = cycle.DataOf<DeviceClaims>(*this);
  if (claims == nullptr) return false;
  for (const PodClaim& claim : claims->claims) {
    const std::optional<std::string_view> node = NamedNode(*claim.claim);
    if (!node) continue;
    const cluster::NodeRow row = cycle.cluster().nodes().Find(*node);
    const bool stays = row.IsValid() && row.index() < rows.size() && rows.Test(row.index());
    rows.ClearAll();
    if (stays) rows.Set(row.index());
    return true;
  }
  return false;
}

std::optional<std::uint64_t> DynamicResources::ServedByDevices(const DeviceClaims& claims,
                                                               cluster::NodeRow row) const {
  const cluster::Cluster& cluster = state_.cluster();
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
  std::uint64_t served = 0;
  if (claims.HasExtended()) {
    if (!claims.claims.back().claim->spec.devices.requests.empty()) return nodes.Fixed(kLeftoverClaim);
    const auto by_devices = ServedByDevices(claims, row);
    if (!by_devices) return nodes.Fixed(kCannotFit);
    served = *by_devices;
    if (served == 0 && claims.HasOnlyExtended()) {
      cycle.StateOf<DeviceView>(*this).SetScore(row, 0);
      return framework::kAccepted;
    }
  }
  const bool is_unavailable =
      std::ranges::any_of(claims.claims, [&](const PodClaim& claim) { return IsUnavailable(claim, row); });
  if (claims.allocator) {
    const framework::RejectionId refusal = AllocateOn(cycle, claims, served, row, nodes);
    if (refusal.IsRefusal() || !nodes.error().IsSuccess()) return refusal;
  }
  return is_unavailable ? nodes.Fixed(kUnavailable) : framework::kAccepted;
}

bool DynamicResources::IsUnavailableSomewhere(const framework::Cycle& cycle,
                                              const framework::Diagnosis& diagnosis,
                                              const PodClaim& claim) const {
  const framework::RejectionId first = cycle.profile().fixed_reasons(index()).first;
  const framework::RejectionId refusal(static_cast<std::uint16_t>(first.value() + kUnavailable));
  for (std::size_t index = 0; index < diagnosis.refusals.size(); ++index) {
    if (diagnosis.refusals[index] == refusal && IsUnavailable(claim, framework::NodeSelection::RowOf(index)))
      return true;
  }
  return false;
}

dra::Outcome DynamicResources::SearchOn(std::span<const dra::ClaimPlan* const> plans,
                                        dra::Allocator& allocator, cluster::NodeRow row) const {
  dra::Outcome outcome = allocator.Allocate(plans, row, steps_max_);
  if (outcome.verdict != dra::Verdict::kFound) return outcome;
  const std::vector<dra::TakenDevice>& taken = allocator.taken();
  const std::string_view node = state_.cluster().nodes().name(row);
  for (std::size_t i = 0, first = 0; i < plans.size(); ++i) {
    std::size_t end = first;
    while (end < taken.size() && taken[end].claim == i) ++end;
    const auto where = dra::NodesOf(*plans[i], std::span(taken).subspan(first, end - first), node);
    if (!where) return {dra::Verdict::kError, where.error().message};
    first = end;
  }
  return outcome;
}

DynamicResources::Wish DynamicResources::WishFor(const api::PodSpec& spec, DeviceClaims& claims,
                                                 std::uint64_t served) const {
  Wish wish{.plans = {claims.plans.begin(), claims.plans.end()}, .search = claims.search.get()};
  if (served == 0) return wish;
  const auto [entry, is_new] = claims.extended_plans.try_emplace(served);
  DeviceClaims::ExtendedPlan& extended = entry->second;
  if (is_new) {
    std::vector<dra::ServedResource> resources;
    for (std::size_t i = 0; i < claims.served.size(); ++i) {
      if (((served >> i) & 1) != 0) resources.push_back({claims.served[i].first, claims.served[i].second});
    }
    extended.requests = dra::RequestsFor(spec, resources);
    auto claim = std::make_shared<api::ResourceClaim>(*claims.claims.back().claim);
    claim->spec.devices.requests = extended.requests.requests;
    extended.plan = std::make_unique<const dra::ClaimPlan>(dra::PlanClaim(std::move(claim), state_));
  }
  wish.plans.push_back(extended.plan.get());
  if (is_new) extended.search = searches_->Use(wish.plans);
  wish.search = extended.search.get();
  return wish;
}

framework::RejectionId DynamicResources::AllocateOn(const framework::Cycle& cycle, DeviceClaims& claims,
                                                    std::uint64_t served, cluster::NodeRow row,
                                                    framework::NodeSelection& nodes) const {
  const std::string_view node = state_.cluster().nodes().name(row);
  const Wish wish = WishFor(cycle.spec(), claims, served);
  auto& view = cycle.StateOf<DeviceView>(*this);
  const dra::NodePools& pools = state_.pools().Of(row);
  const std::uint64_t use = state_.UseVersion(pools);
  dra::Outcome outcome;
  if (const DeviceSearch::Finding* const known =
          wish.search == nullptr ? nullptr : wish.search->Find(row, pools.stamp, use)) {
    outcome.verdict = known->verdict;
    view.SetScore(row, known->score);
  } else {
    outcome = SearchOn(wish.plans, *claims.allocator, row);
    const bool is_found = outcome.verdict == dra::Verdict::kFound;
    const std::int64_t score = is_found ? ScoreOfTaken(claims.allocator->taken(), claims.plans) : 0;
    view.SetScore(row, score);
    const bool may_be_kept =
        outcome.verdict != dra::Verdict::kError && outcome.verdict != dra::Verdict::kTimedOut;
    if (wish.search != nullptr && may_be_kept) {
      wish.search->Set(row, {.stamp = pools.stamp, .use = use, .verdict = outcome.verdict, .score = score});
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

// Only alternatives score.
bool DynamicResources::ScoresAlike(const framework::Cycle& cycle) const {
  const DeviceClaims* const claims = cycle.DataOf<DeviceClaims>(*this);
  if (claims == nullptr || claims->allocator == nullptr || !features_.dra_prioritized_list) return true;
  return std::ranges::none_of(claims->claims, [](const PodClaim& claim) {
    const auto& requests = claim.claim->spec.devices.requests;
    return std::ranges::any_of(requests,
                               [](const auto& request) { return !request.first_available.empty(); });
  });
}

Status DynamicResources::Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                               std::span<std::int64_t> scores) const {
  std::ranges::fill(scores, 0);
  if (ScoresAlike(cycle)) return {};
  const DeviceClaims* const claims = cycle.DataOf<DeviceClaims>(*this);
  std::int64_t of_allocated = 0;
  for (const PodClaim& claim : claims->claims) {
    if (!claim.to_allocate) of_allocated += ScoreOfAllocated(*claim.claim);
  }
  const auto& view = cycle.StateOf<DeviceView>(*this);
  const bool has_claims = !claims->plans.empty();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // A node that serves everything without devices is not searched.
    const bool is_searched = has_claims || ServedByDevices(*claims, rows[i]).value_or(0) != 0;
    if (is_searched) scores[i] = of_allocated + view.score(rows[i]);
  }
  return {};
}

}  // namespace berth::plugins
