#include <algorithm>
#include <string>

#include "cluster/claim_index.h"
#include "dra/pod_claims.h"
#include "plugins/dynamic_resources.h"
#include "plugins/hint_objects.h"

namespace berth::plugins {
namespace {

using framework::Hint;
using framework::HintInput;

const api::ResourceClaim* DeviceClaimIn(const framework::EventObject& object) {
  const auto* const claim = std::get_if<const api::ResourceClaim*>(&object);
  return claim == nullptr ? nullptr : *claim;
}

// Devices became free, which may help any pod.
bool FreesDevices(const api::ResourceClaim* before, const api::ResourceClaim* after) {
  return before != nullptr && before->status.allocation && (after == nullptr || !after->status.allocation);
}

}  // namespace

// A claim event concerns the pods that name the claim, unless it frees devices.
base::Result<framework::PreHint> DynamicResources::PodsConcerned(const framework::PreHintInput& input) const {
  const api::ResourceClaim* const before = DeviceClaimIn(input.old_object);
  const api::ResourceClaim* const after = DeviceClaimIn(input.new_object);
  const api::ResourceClaim* const claim = after != nullptr ? after : before;
  if (claim == nullptr || FreesDevices(before, after)) return framework::PreHint{};
  return framework::PreHint{.all_pods = false,
                            .pods = waiting_.PodsOf(cluster::ClaimIndex::Kind::kResourceClaim,
                                                    claim->metadata.namespace_, claim->metadata.name)};
}

base::Result<Hint> DynamicResources::AfterClaimChange(const HintInput& input) const {
  const auto claim = ObjectsOf<api::ResourceClaim>(input);
  if (!claim)
    return base::Fail("unexpected object in isSchedulableAfterClaimChange: " + claim.error().message);
  const api::ResourceClaim* const before = claim->before;
  const api::ResourceClaim* const after = claim->after;
  if (after == nullptr) return QueueIf(before->status.allocation.has_value());
  const auto own = dra::ClaimsOf(input.record(), state_.claims());
  if (!own) return Hint::kQueueSkip;
  if (FreesDevices(before, after)) return Hint::kQueue;
  const auto is_this = [&](const dra::ClaimRef& other) { return other->metadata.uid == after->metadata.uid; };
  if (std::ranges::none_of(*own, is_this)) return Hint::kQueueSkip;
  return QueueIf(before == nullptr || before->status != after->status);
}

base::Result<Hint> DynamicResources::AfterOwnClaims(const HintInput& input) const {
  const auto pod = ChangedObjectsOf<api::PodRecord>(input);
  if (!pod) return std::unexpected(pod.error());
  return QueueIf(dra::ClaimsOf(*pod->after, state_.claims()).has_value());
}

std::vector<framework::EventRegistration> DynamicResources::EventsToRegister() const {
  using framework::EventResource;
  if (!features_.dynamic_resource_allocation) return {};
  return {
      {.event = {EventResource::kNode,
                 framework::kAdd | framework::kUpdateNodeLabel | framework::kUpdateNodeAllocatable}},
      {.event = {EventResource::kResourceClaim, framework::kAdd | framework::kUpdate | framework::kDelete},
       .hint = [this](const HintInput& input) { return AfterClaimChange(input); },
       .pre_hint = [this](const framework::PreHintInput& input) { return PodsConcerned(input); }},
      {.event = {EventResource::kTargetPod, framework::kUpdatePodGeneratedResourceClaim},
       .hint = [this](const HintInput& input) { return AfterOwnClaims(input); }},
      {.event = {EventResource::kDeviceClass, framework::kAdd | framework::kUpdate}},
      {.event = {EventResource::kResourceSlice, framework::kAdd | framework::kUpdate}},
  };
}

}  // namespace berth::plugins
