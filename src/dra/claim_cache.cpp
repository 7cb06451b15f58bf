#include "dra/claim_cache.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "fmt/format.h"

namespace berth::dra {
namespace {

// Versions of claims are numbers that grow; whatever is none counts as the oldest.
std::uint64_t VersionOf(const api::ResourceClaim& claim) {
  const std::string& text = claim.metadata.resource_version;
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc() && end == text.data() + text.size() ? version : 0;
}

std::span<const api::DeviceRequestAllocationResult> ResultsOf(const ClaimRef& claim) {
  if (claim == nullptr || !claim->status.allocation) return {};
  return claim->status.allocation->devices.results;
}

}  // namespace

bool IsReservedFor(const api::ResourceClaim& claim, std::string_view pod_uid) {
  return std::ranges::any_of(claim.status.reserved_for,
                             [&](const auto& user) { return user.uid == pod_uid; });
}

const api::OwnerReference* ControllerOf(const api::ObjectMeta& metadata) {
  const auto found = std::ranges::find_if(metadata.owner_references, [](const api::OwnerReference& owner) {
    return owner.controller.value_or(false);
  });
  return found == metadata.owner_references.end() ? nullptr : &*found;
}

std::string ClaimName(const api::ResourceClaim& claim) {
  if (claim.metadata.namespace_.empty()) return claim.metadata.name;
  return fmt::format("{}/{}", claim.metadata.namespace_, claim.metadata.name);
}

ClaimCache::ClaimCache(cluster::ObjectTable<api::ResourceClaim>& table, DeviceTable& devices)
    : table_(table), devices_(devices) {
  table_.ForEach([&](const ClaimRef& claim) { OnChange(nullptr, claim); });
  table_.AddObserver([this](const ClaimRef& before, const ClaimRef& after) { OnChange(before, after); });
}

ClaimRef ClaimCache::Find(std::string_view namespace_, std::string_view name) const {
  if (!assumed_.empty()) {
    const auto assumed = assumed_.find(Key(namespace_, name));
    if (assumed != assumed_.end()) return assumed->second;
  }
  return table_.Find(namespace_, name);
}

void ClaimCache::OnChange(const ClaimRef& before, const ClaimRef& after) {
  const api::ObjectMeta& metadata = (after ? after : before)->metadata;
  IndexExtended(before, false);
  IndexExtended(after, true);
  const auto assumed = assumed_.find(Key(metadata.namespace_, metadata.name));
  if (assumed == assumed_.end()) {
    Replace(before, after);
    return;
  }
  const bool is_same = after != nullptr && after->metadata.uid == assumed->second->metadata.uid;
  if (is_same && VersionOf(*after) < VersionOf(*assumed->second)) return;
  const ClaimRef known = assumed->second;
  assumed_.erase(assumed);
  Replace(known, after);
}

base::Result<void> ClaimCache::Assume(ClaimRef claim) {
  const api::ObjectMeta& metadata = claim->metadata;
  const ClaimRef known = Find(metadata.namespace_, metadata.name);
  if (known == nullptr)
    return base::Fail(fmt::format("could not find ResourceClaim \"{}\"", ClaimName(*claim)));
  if (VersionOf(*claim) < VersionOf(*known)) {
    return base::Fail(fmt::format("ResourceClaim \"{}\" is out of sync (stored: {}, assume: {})",
                                  ClaimName(*claim), VersionOf(*known), VersionOf(*claim)));
  }
  Replace(known, claim);
  Key key(metadata.namespace_, metadata.name);
  // The watch was faster.
  const ClaimRef watched = table_.Find(metadata.namespace_, metadata.name);
  if (watched && VersionOf(*watched) == VersionOf(*claim)) {
    Replace(claim, watched);
    assumed_.erase(key);
  } else {
    assumed_.insert_or_assign(std::move(key), std::move(claim));
  }
  return {};
}

void ClaimCache::AssumeNew(ClaimRef claim) {
  const api::ObjectMeta& metadata = claim->metadata;
  if (Find(metadata.namespace_, metadata.name) != nullptr) {
    // Fails only if what is known is newer still, which is as good.
    static_cast<void>(Assume(std::move(claim)));
    return;
  }
  Replace(nullptr, claim);
  Key key(metadata.namespace_, metadata.name);
  assumed_.insert_or_assign(std::move(key), std::move(claim));
}

void ClaimCache::Restore(std::string_view namespace_, std::string_view name) {
  const auto assumed = assumed_.find(Key(namespace_, name));
  if (assumed == assumed_.end()) return;
  const ClaimRef known = assumed->second;
  assumed_.erase(assumed);
  Replace(known, table_.Find(namespace_, name));
}

void ClaimCache::Replace(const ClaimRef& before, const ClaimRef& after) {
  const auto set_known = [&](const std::string& uid, ClaimRef claim) {
    if (claim == nullptr) timed_out_.erase(uid);
    if (!doubted_.empty()) ForgetDoubts(uid, claim);
    if (claim == nullptr && !counted_.contains(uid)) return;
    counted_[uid].known = std::move(claim);
    Count(uid);
  };
  if (before && (after == nullptr || after->metadata.uid != before->metadata.uid)) {
    set_known(before->metadata.uid, nullptr);
  }
  if (after) set_known(after->metadata.uid, after->status.allocation ? after : nullptr);
}

void ClaimCache::Count(const std::string& uid) {
  Counted& counted = counted_[uid];
  ClaimRef now = counted.known;
  if (now == nullptr) {
    if (const auto in_flight = in_flight_.find(uid); in_flight != in_flight_.end())
      now = in_flight->second.claim;
  }
  if (now != counted.counted) {
    // A claim on its way from memory to the server and back has the same devices all the time.
    if (!std::ranges::equal(ResultsOf(now), ResultsOf(counted.counted))) {
      // The new ones first: a device that stays in use is not forgotten in between.
      devices_.Add(ResultsOf(now));
      devices_.Subtract(ResultsOf(counted.counted));
    }
    counted.counted = std::move(now);
  }
  if (counted.known == nullptr && counted.counted == nullptr) counted_.erase(uid);
}

base::Result<void> ClaimCache::Signal(const std::string& uid, ClaimRef allocated) {
  if (const auto found = in_flight_.find(uid); found != in_flight_.end()) {
    ++found->second.sharers;
    return {};
  }
  const ClaimRef known = Find(allocated->metadata.namespace_, allocated->metadata.name);
  if (known == nullptr) {
    return base::Fail(fmt::format("look up assumed claim {}, UID={}: could not find ResourceClaim \"{}\"",
                                  ClaimName(*allocated), uid, ClaimName(*allocated)));
  }
  if (known->metadata.uid == uid && known->status.allocation) return {};
  SignalNew(uid, std::move(allocated));
  return {};
}

void ClaimCache::SignalNew(const std::string& uid, ClaimRef allocated) {
  in_flight_.insert_or_assign(uid, InFlight{std::move(allocated)});
  Count(uid);
}

ClaimRef ClaimCache::InFlightClaim(std::string_view uid) const {
  const auto found = in_flight_.find(uid);
  return found == in_flight_.end() ? nullptr : found->second.claim;
}

bool ClaimCache::MaybeRemove(std::string_view uid, bool force) {
  const auto found = in_flight_.find(uid);
  if (found == in_flight_.end()) return false;
  if (!force && found->second.sharers > 1) {
    --found->second.sharers;
    return false;
  }
  const std::string key = found->first;
  ClaimRef dropped = std::move(found->second.claim);
  in_flight_.erase(found);
  Count(key);
  if (!counted_.contains(key)) {
    ClaimRef known = Find(dropped->metadata.namespace_, dropped->metadata.name);
    if (known && known->metadata.uid != key) known = nullptr;
    freed_.emplace_back(std::move(dropped), std::move(known));
  }
  return true;
}

void ClaimCache::MarkTimedOut(const api::ResourceClaim& claim) {
  const ClaimRef known = Find(claim.metadata.namespace_, claim.metadata.name);
  const bool is_same = known && known->metadata.uid == claim.metadata.uid && known->status.allocation;
  if (is_same) timed_out_.insert(claim.metadata.uid);
}

bool ClaimCache::HasTimedOut(const api::ResourceClaim& claim) const {
  return timed_out_.contains(claim.metadata.uid);
}

void ClaimCache::DoubtReservation(const api::ResourceClaim& claim, const std::string& pod_uid) {
  const ClaimRef known = Find(claim.metadata.namespace_, claim.metadata.name);
  const bool is_same = known && known->metadata.uid == claim.metadata.uid;
  if (!is_same || !IsReservedFor(*known, pod_uid)) return;
  std::vector<std::string>& pods = doubted_[claim.metadata.uid];
  if (std::ranges::find(pods, pod_uid) == pods.end()) pods.push_back(pod_uid);
}

void ClaimCache::TrustReservation(const api::ResourceClaim& claim, const std::string& pod_uid) {
  const auto found = doubted_.find(claim.metadata.uid);
  if (found == doubted_.end()) return;
  std::erase(found->second, pod_uid);
  if (found->second.empty()) doubted_.erase(found);
}

bool ClaimCache::IsSurelyReserved(const api::ResourceClaim& claim, std::string_view pod_uid) const {
  if (!IsReservedFor(claim, pod_uid)) return false;
  const auto found = doubted_.find(claim.metadata.uid);
  return found == doubted_.end() || std::ranges::find(found->second, pod_uid) == found->second.end();
}

// A claim that shows that the reservation has ended leaves nothing to doubt.
void ClaimCache::ForgetDoubts(const std::string& uid, const ClaimRef& claim) {
  const auto found = doubted_.find(uid);
  if (found == doubted_.end()) return;
  std::erase_if(found->second,
                [&](const std::string& pod) { return claim == nullptr || !IsReservedFor(*claim, pod); });
  if (found->second.empty()) doubted_.erase(found);
}

void ClaimCache::IndexExtended(const ClaimRef& claim, bool add) {
  if (claim == nullptr) return;
  const std::string* const mark = claim->metadata.annotations.find(kExtendedClaimAnnotation);
  if (mark == nullptr || *mark != "true") return;
  const api::OwnerReference* const owner = ControllerOf(claim->metadata);
  if (owner == nullptr) return;
  Key key(claim->metadata.namespace_, claim->metadata.name);
  if (add) {
    extended_of_[owner->uid].insert(std::move(key));
    return;
  }
  const auto found = extended_of_.find(owner->uid);
  if (found == extended_of_.end()) return;
  found->second.erase(key);
  if (found->second.empty()) extended_of_.erase(found);
}

ClaimRef ClaimCache::FindExtended(std::string_view pod_namespace, std::string_view pod_name,
                                  std::string_view pod_uid) const {
  const auto found = extended_of_.find(pod_uid);
  if (found == extended_of_.end()) return nullptr;
  for (const auto& [namespace_, name] : found->second) {
    if (namespace_ != pod_namespace) continue;
    ClaimRef claim = Find(namespace_, name);
    const api::OwnerReference* const owner = claim ? ControllerOf(claim->metadata) : nullptr;
    if (owner != nullptr && owner->name == pod_name) return claim;
  }
  return nullptr;
}

}  // namespace berth::dra
