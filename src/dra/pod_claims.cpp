#include "dra/pod_claims.h"

#include <algorithm>

#include "fmt/format.h"

namespace berth::dra {
namespace {

struct NamedClaim {
  std::string_view name;
  bool must_be_owned = false;
};

// Nothing: the claim is not wanted.
base::Result<std::optional<NamedClaim>> NameOf(const api::PodRecord& pod, const api::PodResourceClaim& entry,
                                               std::size_t& next_name) {
  if (entry.resource_claim_name) return NamedClaim{.name = pod.claims().resource_claim_names[next_name++]};
  if (!entry.resource_claim_template_name) {
    return base::Fail(
        fmt::format("pod \"{}/{}\", spec.resourceClaim \"{}\": none of the supported fields are set",
                    pod.namespace_, pod.name, entry.name));
  }
  const auto status =
      std::ranges::find(pod.claims().resource_claim_statuses, entry.name, &api::PodResourceClaimStatus::name);
  if (status == pod.claims().resource_claim_statuses.end()) {
    return base::Fail(fmt::format("pod \"{}/{}\": ResourceClaim not created yet", pod.namespace_, pod.name));
  }
  if (!status->resource_claim_name) return std::nullopt;
  return NamedClaim{.name = *status->resource_claim_name, .must_be_owned = true};
}

}  // namespace

base::Result<std::vector<ClaimRef>> ClaimsOf(const api::PodRecord& pod, const ClaimCache& claims) {
  std::vector<ClaimRef> found;
  std::size_t next_name = 0;
  for (const api::PodResourceClaim& entry : pod.spec->spec.resource_claims) {
    const auto named = NameOf(pod, entry, next_name);
    if (!named) return std::unexpected(named.error());
    if (!*named) continue;
    const std::string_view name = (*named)->name;
    ClaimRef claim = claims.Find(pod.namespace_, name);
    if (claim == nullptr) {
      return base::Fail(fmt::format("could not find ResourceClaim \"{}/{}\"", pod.namespace_, name));
    }
    if (claim->metadata.deletion_timestamp) {
      return base::Fail(fmt::format("resourceclaim \"{}\" is being deleted", name));
    }
    const api::OwnerReference* const owner = ControllerOf(claim->metadata);
    if ((*named)->must_be_owned && (owner == nullptr || owner->uid != pod.uid)) {
      return base::Fail(fmt::format("ResourceClaim {}/{} was not created for Pod {}/{} (Pod is not owner)",
                                    pod.namespace_, name, pod.namespace_, pod.name));
    }
    found.push_back(std::move(claim));
  }
  return found;
}

}  // namespace berth::dra
