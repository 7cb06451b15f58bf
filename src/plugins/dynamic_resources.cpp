#include "plugins/dynamic_resources.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "fmt/format.h"

#include "api/pod_requests.h"
#include "dra/allocation_result.h"
#include "dra/pod_claims.h"
#include "dra/readiness.h"
#include "plugins/dynamic_resources_data.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::Status;

// Indexed by DynamicResources::Reason.
constexpr framework::ReasonText kDynamicResourcesReasons[] = {
    {Code::kUnschedulableAndUnresolvable, "resourceclaim not available on the node"},
    {Code::kUnschedulableAndUnresolvable, "cannot allocate all claims"},
    {Code::kUnschedulableAndUnresolvable, "invalid resource pools were encountered"},
    {Code::kUnschedulableAndUnresolvable, "cannot schedule extended resource claim"},
    {Code::kUnschedulableAndUnresolvable, "cannot fit resource"},
};

// What upstream's search gets done in a second, about. The timeout of the configuration becomes a number of
// steps: a decision must not depend on how fast the machine is.
constexpr std::uint64_t kStepsPerSecond = 1'000'000;

// Never in the server: the name that the claim has until it is made.
constexpr std::string_view kExtendedClaimName = "<extended-resources>";

std::uint64_t StepsFor(const framework::Features& features, const framework::DynamicResourcesArgs& args) {
  const bool is_limited =
      features.dra_scheduler_filter_timeout && args.filter_timeout && args.filter_timeout->count() > 0;
  if (!is_limited) return std::numeric_limits<std::uint64_t>::max();
  const auto nanoseconds = static_cast<std::uint64_t>(args.filter_timeout->count());
  return nanoseconds / 1'000 * (kStepsPerSecond / 1'000'000);
}

}  // namespace

dra::Gates DeviceGates(const framework::Features& features) {
  return {.admin_access = features.dra_admin_access,
          .prioritized_list = features.dra_prioritized_list,
          .partitionable_devices = features.dra_partitionable_devices,
          .device_taints = features.dra_device_taints,
          .device_taint_rules = features.dra_device_taint_rules,
          .consumable_capacity = features.dra_consumable_capacity,
          .binding_conditions =
              features.dra_device_binding_conditions && features.dra_resource_claim_device_status,
          .fractional_capacity_range = features.dra_fractional_capacity_range,
          .list_type_attributes = features.dra_list_type_attributes,
          .derived_attributes = features.dra_derived_attributes,
          .compatibility_groups = features.dra_device_compatibility_groups,
          .optional_node_operations = features.dra_optional_node_operations};
}

DynamicResources::DynamicResources(const framework::PluginSetup& setup)
    : features_(setup.features),
      steps_max_(StepsFor(setup.features, setup.args.dynamic_resources)),
      binding_timeout_(setup.args.dynamic_resources.binding_timeout.value_or(std::chrono::minutes(10))),
      state_(setup.cluster.UseExtension<dra::DeviceState>()),
      searches_(std::make_unique<DeviceSearches>()),
      metrics_(setup.cluster.UseExtension<PluginMetrics>()),
      waiting_(setup.cluster.UseExtension<cluster::ClaimIndex>()),
      writes_(setup.writes) {
  state_.SetGates(DeviceGates(setup.features));
}

DynamicResources::~DynamicResources() = default;

std::span<const framework::ReasonText> DynamicResources::Reasons() const { return kDynamicResourcesReasons; }

std::unique_ptr<framework::Plan> DynamicResources::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<DevicePlan>();
  if (features_.dynamic_resource_allocation && features_.dra_extended_resource) {
    const api::ResourceVector wanted =
        api::PendingPodRequests(api::PodResourceView(input.spec), features_.ForResources());
    for (const auto& [name, amount] : wanted.scalars) {
      if (amount > 0 && dra::MayBeServedByDevices(name)) plan->extended.push_back(name);
    }
    std::ranges::sort(plan->extended);
  }
  const bool has_claims = features_.dynamic_resource_allocation && !input.spec.resource_claims.empty();
  if (has_claims || !plan->extended.empty()) {
    cluster::Facts facts = cluster::kLabelsFact | cluster::kFeaturesFact;
    if (!plan->extended.empty()) facts |= cluster::kResourcesFact;
    plan->filter_reads = framework::Reads::RowAndState(facts);
    plan->score_reads = framework::Reads::RowAndState(facts);
    return plan;
  }
  // Such a pod scores nothing everywhere, and that is kept.
  plan->filters = false;
  plan->filter_reads = framework::Reads::Row(0);
  plan->score_reads = framework::Reads::Alike(0);
  return plan;
}

Status DynamicResources::PreEnqueue(const framework::WaitingPod& pod) const {
  if (!features_.dynamic_resource_allocation || pod.record().spec->spec.resource_claims.empty()) return {};
  const auto claims = dra::ClaimsOf(pod.record(), state_.claims());
  return claims ? Status() : Status::Unresolvable(claims.error().message);
}

DeviceClaims& DynamicResources::ClaimsIn(framework::Cycle& cycle) const {
  if (auto* const claims = cycle.DataOf<DeviceClaims>(*this)) return *claims;
  auto& claims = cycle.EmplaceData<DeviceClaims>(*this);
  claims.status = PrepareClaims(cycle, claims);
  return claims;
}

void DynamicResources::AppendScope(framework::Cycle& cycle, framework::Scope& scope) const {
  const bool takes_part = cycle.PlanOf<DevicePlan>(*this).filters && !cycle.resize_deferred();
  if (!takes_part) return;
  const DeviceClaims& claims = ClaimsIn(cycle);
  if (!claims.status.IsSuccess() || claims.claims.empty()) return;
  const auto add_address = [&](const void* object) { scope.Add(reinterpret_cast<std::uintptr_t>(object)); };
  for (const PodClaim& claim : claims.claims) {
    enum Kind : std::uint64_t { kToAllocate, kAllocated, kFailed, kExtended };
    if (claim.is_extended) {
      scope.Add(std::uint64_t{kExtended});
      add_address(claim.IsNew() ? nullptr : claim.claim.get());
      for (const auto& [resource, device_class] : claims.served) {
        add_address(device_class.empty() ? nullptr : state_.FindClass(device_class).get());
      }
    } else if (claim.to_allocate) {
      scope.Add(std::uint64_t{kToAllocate});
    } else {
      scope.Add(std::uint64_t{claim.has_failed ? kFailed : kAllocated});
      add_address(claim.claim.get());
    }
  }
  if (claims.search != nullptr) scope.Add(claims.search->id());
}

std::unique_ptr<framework::State> DynamicResources::MakeState(framework::Cycle& cycle) const {
  if (!cycle.PlanOf<DevicePlan>(*this).filters) return nullptr;
  auto view = std::make_unique<DeviceView>();
  const DeviceClaims* const claims = cycle.DataOf<DeviceClaims>(*this);
  if (claims == nullptr) return view;
  for (const PodClaim& claim : claims->claims) {
    if (!claim.to_allocate || claim.is_extended) view->named.push_back(claim.claim);
  }
  for (const auto& [resource, device_class] : claims->served) {
    if (!device_class.empty()) view->named.push_back(state_.FindClass(device_class));
  }
  return view;
}

void DynamicResources::Refresh(framework::Cycle&, framework::State& state,
                               framework::StateChanges& changes) const {
  auto& view = static_cast<DeviceView&>(state);
  const dra::DeviceState::Version now = state_.version();
  if (view.version == now) return;
  const bool are_told = state_.RowsSince(view.version, [&](cluster::NodeRow row) {
    changes.verdicts.Add(row);
    changes.scores.Add(row);
  });
  if (!are_told) {
    changes.verdicts.AddAll();
    changes.scores.AddAll();
  }
  view.version = now;
}

framework::PreFilterResult DynamicResources::PreFilter(framework::Cycle& cycle) const {
  if (!features_.dynamic_resource_allocation || cycle.resize_deferred()) return {Status::Skip()};
  const DeviceClaims& claims = ClaimsIn(cycle);
  if (!claims.status.IsSuccess()) return {claims.status};
  return {claims.claims.empty() ? Status::Skip() : Status()};
}

Status DynamicResources::PrepareClaims(const framework::Cycle& cycle, DeviceClaims& claims) const {
  auto found = dra::ClaimsOf(cycle.record(), state_.claims());
  if (!found) return Status::Unresolvable(std::move(found.error().message));
  claims.attempt = cycle.step();
  for (dra::ClaimRef& claim : *found) claims.claims.push_back({.claim = std::move(claim)});
  PrepareExtended(cycle, claims);

  bool allocates = false;
  for (PodClaim& claim : claims.claims) {
    const std::optional<api::AllocationResult>& allocation = claim.claim->status.allocation;
    if (allocation) {
      claim.has_failed = HasFailed(*claim.claim);
      claim.skips_node_operations = std::ranges::any_of(allocation->devices.results, [](const auto& result) {
        return !result.skip_node_operations.empty();
      });
      if (!allocation->node_selector) continue;
      auto nodes = api::NodeMatcher::CompileStrict(*allocation->node_selector);
      if (!nodes) return Status::Error(std::move(nodes.error().message));
      claim.nodes = *std::move(nodes);
      continue;
    }
    claim.to_allocate = true;
    allocates = true;
    if (claim.is_extended) continue;
    if (state_.claims().IsInFlight(claim.claim->metadata.uid)) {
      return Status::Unresolvable(fmt::format("resource claim {} is in the process of being allocated",
                                              dra::ClaimName(*claim.claim)));
    }
    if (Status status = CheckClasses(*claim.claim); !status.IsSuccess()) return status;
  }
  if (!allocates) return {};
  state_.selectors().BeginAttempt();
  claims.allocator = std::make_unique<dra::Allocator>(state_);
  for (PodClaim& claim : claims.claims) {
    if (!claim.to_allocate || claim.is_extended) continue;
    claim.plan = std::make_unique<const dra::ClaimPlan>(dra::PlanClaim(claim.claim, state_));
    claims.plans.push_back(claim.plan.get());
  }
  if (!claims.plans.empty()) claims.search = searches_->Use(claims.plans);
  return {};
}

Status DynamicResources::CheckClasses(const api::ResourceClaim& claim) const {
  for (const api::DeviceRequest& request : claim.spec.devices.requests) {
    if (request.exactly) {
      Status status = CheckClass(request.name, request.exactly->device_class_name);
      if (!status.IsSuccess()) return status;
    } else if (!request.first_available.empty()) {
      if (!features_.dra_prioritized_list) {
        return Status::Unresolvable(
            fmt::format("resource claim {}, request {}: has subrequests, but the DRAPrioritizedList "
                        "feature is disabled",
                        dra::ClaimName(claim), request.name));
      }
      for (const api::DeviceSubRequest& sub : request.first_available) {
        Status status = CheckClass(fmt::format("{}/{}", request.name, sub.name), sub.device_class_name);
        if (!status.IsSuccess()) return status;
      }
    } else {
      return Status::Unresolvable(fmt::format("resource claim {}, request {}: unknown request type",
                                              dra::ClaimName(claim), request.name));
    }
  }
  return {};
}

Status DynamicResources::CheckClass(std::string_view request, const std::string& device_class) const {
  if (device_class.empty())
    return Status::Error(fmt::format("request {}: unsupported request type", request));
  if (state_.FindClass(device_class) != nullptr) return {};
  return Status::Unresolvable(
      fmt::format("request {}: device class {} does not exist", request, device_class));
}

void DynamicResources::PrepareExtended(const framework::Cycle& cycle, DeviceClaims& claims) const {
  const auto& plan = cycle.PlanOf<DevicePlan>(*this);
  bool is_served = false;
  for (const std::string& resource : plan.extended) {
    const std::string* const device_class = state_.extended_names().Find(resource);
    is_served = is_served || device_class != nullptr;
    claims.served.emplace_back(resource, device_class == nullptr ? std::string() : *device_class);
  }
  // One bit stands for one resource; a pod that asks for more of them than there are bits asks for nonsense.
  if (!is_served || claims.served.size() > 64) {
    claims.served.clear();
    return;
  }
  const api::PodRecord& pod = cycle.record();
  dra::ClaimRef claim = state_.claims().FindExtended(pod.namespace_, pod.name, pod.uid);
  if (claim == nullptr) {
    auto made = std::make_shared<api::ResourceClaim>();
    made->metadata.name = kExtendedClaimName;
    made->metadata.generate_name = pod.name + "-extended-resources-";
    made->metadata.namespace_ = pod.namespace_;
    // Only ever compared with those of other claims in memory.
    made->metadata.uid = "extended-resources-of-" + pod.uid;
    made->metadata.annotations.insert_or_assign(std::string(dra::kExtendedClaimAnnotation),
                                                std::string("true"));
    made->metadata.owner_references.push_back({.api_version = "v1",
                                               .kind = "Pod",
                                               .name = pod.name,
                                               .uid = pod.uid,
                                               .controller = true,
                                               .block_owner_deletion = true});
    claim = std::move(made);
  }
  claims.claims.push_back({.claim = std::move(claim), .is_extended = true});
}

bool DynamicResources::HasFailed(const api::ResourceClaim& claim) const {
  if (!state_.gates().binding_conditions) return false;
  const dra::Readiness readiness = dra::ReadinessOf(claim).readiness;
  // Whoever waited for it in vain says so: there is no clock here.
  return readiness == dra::Readiness::kFailed ||
         (readiness == dra::Readiness::kNotYet && state_.claims().HasTimedOut(claim));
}

framework::PostFilterResult DynamicResources::PostFilter(framework::Cycle& cycle,
                                                         const framework::Diagnosis& diagnosis) const {
  const DeviceClaims* const claims = cycle.DataOf<DeviceClaims>(*this);
  if (claims == nullptr || !claims->status.IsSuccess()) return {Status(Code::kUnschedulable), std::nullopt};
  const auto is_idle = [&](const api::ResourceClaim& claim) {
    const auto& users = claim.status.reserved_for;
    return users.empty() || (users.size() == 1 && users.front().uid == cycle.record().uid);
  };
  // One at a time: after each the pod is tried again, and that may be enough.
  for (const PodClaim& claim : claims->claims) {
    if (claim.is_extended || claim.to_allocate || !is_idle(*claim.claim)) continue;
    if (!IsUnavailableSomewhere(cycle, diagnosis, claim)) continue;
    if (writes_ != nullptr) {
      state_.claims().DoubtReservation(*claim.claim, cycle.record().uid);
      writes_->Post(framework::DeallocateClaim{claim.claim});
    }
    return {Status::Unschedulable("deallocation of ResourceClaim completed"), std::nullopt};
  }
  if (claims->HasExtended() && !claims->claims.back().IsNew()) {
    if (writes_ != nullptr) writes_->Post(framework::DeleteClaim{claims->claims.back().claim});
    return {Status::Unschedulable("deletion of ResourceClaim completed"), std::nullopt};
  }
  return {Status(Code::kUnschedulable), std::nullopt};
}

bool DynamicResources::Sign(const framework::WaitingPod& pod, framework::Signature&) const {
  return pod.record().spec->spec.resource_claims.empty();
}

}  // namespace berth::plugins
