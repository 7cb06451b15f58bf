#include "cluster/claim_index.h"

#include <algorithm>

namespace berth::cluster {
namespace {

// Names of API objects contain no slash.
std::string KeyOf(ClaimIndex::Kind kind, std::string_view namespace_, std::string_view claim) {
  std::string key(1, static_cast<char>(kind));
  return key.append(namespace_).append("/").append(claim);
}

std::vector<std::string> KeysOf(const api::PodRecord& record) {
  std::vector<std::string> keys;
  const auto add = [&](ClaimIndex::Kind kind, std::string_view name) {
    keys.push_back(KeyOf(kind, record.namespace_, name));
  };
  for (const std::string& name : record.claims().resource_claim_names)
    add(ClaimIndex::Kind::kResourceClaim, name);
  for (const api::PodResourceClaim& entry : record.spec->spec.resource_claims) {
    if (entry.resource_claim_name || !entry.resource_claim_template_name) continue;
    // Of two that have its name the first counts, for whoever looks a claim up.
    const auto status = std::ranges::find(record.claims().resource_claim_statuses, entry.name,
                                          &api::PodResourceClaimStatus::name);
    if (status == record.claims().resource_claim_statuses.end() || !status->resource_claim_name) continue;
    add(ClaimIndex::Kind::kResourceClaim, *status->resource_claim_name);
  }
  for (const std::string& name : record.claims().volume_claim_names)
    add(ClaimIndex::Kind::kVolumeClaim, name);
  for (const api::Volume& volume : record.spec->spec.volumes) {
    if (volume.volume_source.ephemeral && !volume.volume_source.persistent_volume_claim) {
      add(ClaimIndex::Kind::kVolumeClaim, record.name + "-" + volume.name);
    }
  }
  return keys;
}

}  // namespace

void ClaimIndex::Set(PodSlot pod, const api::PodRecord& record) {
  std::vector<ClaimId> claims;
  // The new ones first: a claim that stays is not forgotten in between.
  for (const std::string& key : KeysOf(record)) claims.push_back(claims_.Intern(key));
  Remove(pod);
  if (claims.empty()) return;
  for (const ClaimId claim : claims) {
    if (claim.index() >= pods_of_.size()) pods_of_.resize(claim.index() + 1);
    pods_of_[claim.index()].insert(pod);
  }
  pods_.insert_or_assign(pod, Pod{record.namespace_, record.name, std::move(claims)});
}

void ClaimIndex::Remove(PodSlot pod) {
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return;
  for (const ClaimId claim : found->second.claims) {
    pods_of_[claim.index()].erase(pod);
    claims_.Release(claim);
  }
  pods_.erase(found);
}

std::vector<std::pair<std::string, std::string>> ClaimIndex::PodsOf(Kind kind, std::string_view namespace_,
                                                                    std::string_view claim) const {
  std::vector<std::pair<std::string, std::string>> pods;
  const ClaimId id = claims_.Find(KeyOf(kind, namespace_, claim));
  if (!id.IsValid()) return pods;
  for (const PodSlot slot : pods_of_[id.index()]) {
    const Pod& pod = pods_.find(slot)->second;
    pods.emplace_back(pod.namespace_, pod.name);
  }
  return pods;
}

}  // namespace berth::cluster
