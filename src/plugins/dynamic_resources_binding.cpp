#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "fmt/format.h"

#include "api/wall_time.h"
#include "base/log.h"
#include "dra/allocation_result.h"
#include "dra/pod_claims.h"
#include "dra/readiness.h"
#include "plugins/dynamic_resources.h"
#include "plugins/dynamic_resources_data.h"

// From the node that was chosen to claims that say so.
namespace berth::plugins {
namespace {

using framework::Status;

constexpr std::string_view kFinalizer = "resource.kubernetes.io/delete-protection";
constexpr base::Duration kPollInterval = std::chrono::seconds(5);

// The claim as it will be once the allocation is written.
dra::ClaimRef Allocated(const api::ResourceClaim& claim, const api::AllocationResult& allocation) {
  auto copy = std::make_shared<api::ResourceClaim>(claim);
  if (std::ranges::find(copy->metadata.finalizers, kFinalizer) == copy->metadata.finalizers.end()) {
    copy->metadata.finalizers.emplace_back(kFinalizer);
  }
  copy->status.allocation = allocation;
  return copy;
}

framework::ObjectWrite BindWrite(const dra::ClaimRef& claim, std::optional<api::AllocationResult> allocation,
                                 const api::PodRecord& pod) {
  api::ResourceClaimConsumerReference consumer;
  consumer.resource = "pods";
  consumer.name = pod.name;
  consumer.uid = pod.uid;
  return framework::BindClaim{claim, std::move(allocation), std::move(consumer)};
}

}  // namespace

Status DynamicResources::Reserve(cluster::Cluster& cluster, framework::Assignment& assignment) const {
  DeviceClaims* const claims = assignment.DataOf<DeviceClaims>(*this);
  if (claims == nullptr || claims->allocator == nullptr) return {};
  const cluster::NodeRow row = assignment.row.id;
  const std::uint64_t served = claims->HasExtended() ? ServedByDevices(*claims, row).value_or(0) : 0;
  // The node serves the extended resources without devices, and there is nothing else.
  if (served == 0 && claims->plans.empty()) return {};
  // What was found when the node was judged, by the same search: nothing has changed since.
  const Wish wish = WishFor(assignment.record->spec->spec, *claims, served);
  if (SearchOn(wish.plans, *claims->allocator, row).verdict != dra::Verdict::kFound) {
    return Status::Error("claim allocation not found for node");
  }
  const std::span<const dra::TakenDevice> taken = claims->allocator->taken();
  std::uint32_t index = 0;  // among the claims that are allocated here
  std::size_t first = 0;
  for (PodClaim& claim : claims->claims) {
    const dra::ClaimPlan* plan = claim.plan.get();
    if (claim.is_extended && served != 0) {
      const DeviceClaims::ExtendedPlan& extended = claims->extended_plans.find(served)->second;
      plan = extended.plan.get();
      claims->mappings = extended.requests.mappings;
      claim.claim = plan->claim;
    }
    if (plan == nullptr) continue;
    std::size_t end = first;
    while (end < taken.size() && taken[end].claim == index) ++end;
    const std::string& uid = claim.claim->metadata.uid;
    claim.chosen = dra::MakeAllocation(
        *plan, taken.subspan(first, end - first), cluster.nodes().name(row), state_.gates(),
        {.claim_uid = uid, .pod_uid = assignment.record->uid, .attempt = claims->attempt});
    dra::ClaimRef allocated = Allocated(*claim.claim, *claim.chosen);
    if (claim.IsNew()) {
      state_.claims().SignalNew(uid, std::move(allocated));
    } else if (auto signalled = state_.claims().Signal(uid, std::move(allocated)); !signalled) {
      return Status::Error(fmt::format("internal error, couldn't signal allocation for claim {}: {}",
                                       claim.claim->metadata.name, signalled.error().message));
    }
    claims->in_flight.push_back(uid);
    first = end;
    ++index;
  }
  return {};
}

void DynamicResources::Unreserve(cluster::Cluster&, framework::Assignment& assignment) const {
  DeviceClaims* const claims = assignment.DataOf<DeviceClaims>(*this);
  if (claims == nullptr) return;
  // What PreBind has written is in the server, whatever becomes of the pod: the claim stays known as written.
  for (const std::string& uid : claims->in_flight) state_.claims().MaybeRemove(uid, /*force=*/false);
  claims->in_flight.clear();
  if (writes_ == nullptr) return;
  for (const PodClaim& claim : claims->claims) {
    if (claim.is_extended) {
      if (claim.IsNew()) continue;
      // Without its pod nobody else can use it.
      state_.claims().Restore(claim.claim->metadata.namespace_, claim.claim->metadata.name);
      writes_->Post(framework::DeleteClaim{claim.claim});
      continue;
    }
    if (claim.claim->status.allocation && dra::IsReservedFor(*claim.claim, assignment.record->uid)) {
      state_.claims().DoubtReservation(*claim.claim, assignment.record->uid);
      writes_->Post(framework::UnreserveClaim{claim.claim->metadata, assignment.record->uid});
    }
  }
}

framework::PreFlightResult DynamicResources::PreBindPreFlight(const cluster::Cluster&,
                                                              const framework::Assignment& assignment) const {
  const DeviceClaims* const claims = assignment.DataOf<DeviceClaims>(*this);
  if (claims == nullptr || claims->claims.empty()) return {.status = Status::Skip()};
  return {.status = {}, .allow_parallel = true};
}

base::Task<Status> DynamicResources::PreBind(framework::BindingContext& context,
                                             framework::Assignment& assignment) const {
  DeviceClaims* const claims = assignment.DataOf<DeviceClaims>(*this);
  if (claims == nullptr || writes_ == nullptr) co_return Status();
  Status status = co_await BindClaims(context, assignment, *claims);
  if (!status.IsSuccess()) co_return status;
  const bool waits =
      state_.gates().binding_conditions && std::ranges::any_of(claims->claims, [](const PodClaim& claim) {
        return dra::HasBindingConditions(*claim.claim);
      });
  if (waits) status = co_await WaitForDevices(context, assignment, *claims);
  if (!status.IsSuccess()) co_return status;
  // Only now: until then the pod may still be given up.
  for (const std::string& uid : claims->in_flight) state_.claims().MaybeRemove(uid, /*force=*/true);
  claims->in_flight.clear();
  co_return Status();
}

base::Task<Status> DynamicResources::BindClaims(framework::BindingContext& context,
                                                framework::Assignment& assignment,
                                                DeviceClaims& claims) const {
  for (std::size_t i = 0; i < claims.claims.size(); ++i) {
    const PodClaim& claim = claims.claims[i];
    if (state_.claims().IsSurelyReserved(*claim.claim, assignment.record->uid)) continue;
    // The node serves the extended resources without devices.
    if (claim.is_extended && !claim.chosen) continue;
    Status status = co_await BindOne(context, assignment, claims, i);
    if (!status.IsSuccess()) co_return status;
  }
  co_return Status();
}

base::Task<Status> DynamicResources::CreateExtended(framework::Assignment& assignment, DeviceClaims& claims,
                                                    std::size_t index) const {
  auto wanted = std::make_shared<api::ResourceClaim>(*claims.claims[index].claim);
  wanted->metadata.name.clear();
  wanted->metadata.uid.clear();
  wanted->status = {};
  framework::ObjectWrite write = framework::CreateClaim{std::move(wanted)};
  auto created = co_await writes_->Write(std::move(write));
  const auto* const stored = created ? std::get_if<dra::ClaimRef>(&*created) : nullptr;
  metrics_.CountClaimCreated(stored != nullptr);
  if (stored == nullptr) {
    co_return Status::Error(fmt::format(
        "create claim for extended resources {}/{}: {}", assignment.record->namespace_,
        claims.claims[index].claim->metadata.generate_name, created ? "no answer" : created.error().message));
  }
  claims.claims[index].claim = *stored;
  co_return Status();
}

base::Task<Status> DynamicResources::BindOne(framework::BindingContext& context,
                                             framework::Assignment& assignment, DeviceClaims& claims,
                                             std::size_t index) const {
  PodClaim& claim = claims.claims[index];
  if (claim.is_extended && claims.mappings.empty()) {
    co_return Status::Error(
        fmt::format("nil or empty request mappings, no update of pod {}/{} ExtendedResourceClaimStatus",
                    assignment.record->namespace_, assignment.record->name));
  }
  if (claim.IsNew()) {
    Status status = co_await CreateExtended(assignment, claims, index);
    if (!status.IsSuccess()) co_return status;
  }
  std::optional<api::AllocationResult> allocation = claim.chosen;
  if (allocation && state_.gates().binding_conditions) {
    allocation->allocation_timestamp = api::TimeOf(context.executor.clock().WallNow());
  }
  framework::ObjectWrite write = BindWrite(claim.claim, std::move(allocation), *assignment.record);
  auto bound = co_await writes_->Write(std::move(write));
  if (!bound) co_return Status::Error(std::move(bound.error().message));
  if (const auto* const stored = std::get_if<dra::ClaimRef>(&*bound); stored != nullptr && *stored) {
    claim.claim = *stored;
    state_.claims().TrustReservation(**stored, assignment.record->uid);
    if (claim.is_extended) {
      state_.claims().AssumeNew(*stored);
    } else if (auto assumed = state_.claims().Assume(*stored); !assumed) {
      BERTH_LOG(5, "A claim that was written is not kept in memory", {"why", assumed.error().message});
    }
  }
  if (!claim.is_extended) co_return Status();
  api::PodExtendedResourceClaimStatus status;
  status.resource_claim_name = claim.claim->metadata.name;
  status.request_mappings = claims.mappings;
  framework::ObjectWrite patch = framework::SetExtendedResourceClaim{assignment.record, std::move(status)};
  auto patched = co_await writes_->Write(std::move(patch));
  if (!patched) co_return Status::Error(std::move(patched.error().message));
  co_return Status();
}

std::optional<Status> DynamicResources::CheckDevices(const DeviceClaims& claims, base::WallPoint now,
                                                     DeviceWait& result) const {
  bool all_ready = true;
  for (const PodClaim& claim : claims.claims) {
    const api::ObjectMeta& metadata = claim.claim->metadata;
    if (!dra::HasBindingConditions(*claim.claim)) continue;
    const dra::ClaimRef known = state_.claims().Find(metadata.namespace_, metadata.name);
    if (known == nullptr || known->metadata.uid != metadata.uid || !known->status.allocation) {
      result = DeviceWait::kError;
      return Status::Error(
          fmt::format("claim {} got deallocated elsewhere in the meantime", dra::ClaimName(*claim.claim)));
    }
    const dra::ClaimReadiness found = dra::ReadinessOf(*known);
    if (found.readiness == dra::Readiness::kFailed) {
      result = DeviceWait::kFailure;
      return Status::Error(fmt::format("device binding failed: claim={}, reason={}, message=\"{}\"",
                                       metadata.name, found.failure->reason, found.failure->message));
    }
    if (found.readiness == dra::Readiness::kReady) continue;
    all_ready = false;
    const std::optional<api::Time>& since = known->status.allocation->allocation_timestamp;
    if (since && std::chrono::seconds(since->unix_seconds) + binding_timeout_ < now.time_since_epoch()) {
      state_.claims().MarkTimedOut(*known);
      result = DeviceWait::kTimeout;
      return Status::Error(fmt::format("device binding timeout: claim={}", metadata.name));
    }
  }
  if (all_ready) return Status();
  return std::nullopt;
}

base::Task<Status> DynamicResources::WaitForDevices(framework::BindingContext& context,
                                                    framework::Assignment& assignment,
                                                    DeviceClaims& claims) const {
  const base::TimePoint start = context.executor.clock().Now();
  framework::PodNote note{
      .reason = "BindingConditionsPending",
      .action = "Scheduling",
      .text = fmt::format("waiting for binding conditions for device on node {}", assignment.node_name)};
  context.api.Tell(assignment, std::move(note));
  DeviceWait result = DeviceWait::kSuccess;
  Status status = co_await PollDevices(context, claims, result);
  const base::Duration duration = context.executor.clock().Now() - start;
  for (const PodClaim& claim : claims.claims) {
    if (!claim.claim->status.allocation) continue;
    for (const auto& device : claim.claim->status.allocation->devices.results) {
      const PluginMetrics::Wait wait{assignment.record->spec->spec.scheduler_name, device.driver, result};
      metrics_.ObserveDeviceWait(wait, duration);
      if (!device.binding_conditions.empty()) metrics_.CountConditionedAllocation(wait);
    }
  }
  co_return status;
}

base::Task<Status> DynamicResources::PollDevices(framework::BindingContext& context, DeviceClaims& claims,
                                                 DeviceWait& result) const {
  const base::TimePoint deadline = context.executor.clock().Now() + binding_timeout_;
  while (true) {
    std::optional<Status> status = CheckDevices(claims, context.executor.clock().WallNow(), result);
    if (status) co_return *std::move(status);
    const base::TimePoint now = context.executor.clock().Now();
    if (now >= deadline) break;
    const base::Duration wait = std::min<base::Duration>(kPollInterval, deadline - now);
    const base::WaitResult waited = co_await context.executor.SleepFor(wait, context.cancelled);
    if (waited == base::WaitResult::kCancelled) {
      result = DeviceWait::kError;
      co_return Status::Error("some other PreBind operation failed");
    }
  }
  for (const PodClaim& claim : claims.claims) {
    if (dra::HasBindingConditions(*claim.claim)) state_.claims().MarkTimedOut(*claim.claim);
  }
  result = DeviceWait::kTimeout;
  co_return Status::Error("device binding timeout: context deadline exceeded");
}

}  // namespace berth::plugins
