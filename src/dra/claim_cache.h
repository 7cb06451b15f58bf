#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "api/devices.h"
#include "base/error.h"
#include "base/interner.h"
#include "cluster/object_store.h"
#include "dra/device_table.h"

namespace berth::dra {

using ClaimRef = std::shared_ptr<const api::ResourceClaim>;

// Marks the claim that the scheduler makes for a pod that asks for devices as for any other resource.
inline constexpr std::string_view kExtendedClaimAnnotation = "resource.kubernetes.io/extended-resource-claim";

// The controller among the owners; null if there is none.
const api::OwnerReference* ControllerOf(const api::ObjectMeta& metadata);

// Whether the claim says that it is reserved for the pod.
bool IsReservedFor(const api::ResourceClaim& claim, std::string_view pod_uid);

// "namespace/name", or the name alone.
std::string ClaimName(const api::ResourceClaim& claim);

// Claims as the scheduler knows them: what the watch said last, or what the server answered to a write of the
// scheduler's own if the watch has not shown that yet; and the allocations that were decided and are not
// written yet.
//
// 1. An assumed claim is newer than the one of the watch, and goes as soon as that is not so.
// 2. For each claim by uid, the devices of one allocation count as used in the device table: those of the
//    claim as it is known, else those in flight.
class ClaimCache {
 public:
  ClaimCache(cluster::ObjectTable<api::ResourceClaim>& table, DeviceTable& devices);
  ClaimCache(const ClaimCache&) = delete;
  ClaimCache& operator=(const ClaimCache&) = delete;

  // Null: there is none.
  ClaimRef Find(std::string_view namespace_, std::string_view name) const;
  // After a write: the claim as the server has it now. Fails if the claim is gone or is known newer.
  base::Result<void> Assume(ClaimRef claim);
  // The same for a claim that the scheduler has just made: the watch may not have shown it yet.
  void AssumeNew(ClaimRef claim);
  // Back to what the watch said.
  void Restore(std::string_view namespace_, std::string_view name);

  // The allocation of a claim that is being written. A claim may be allocated for several pods at once: then
  // the first allocation stays and they share it.
  base::Result<void> Signal(const std::string& uid, ClaimRef allocated);
  // For a claim that the server does not know yet.
  void SignalNew(const std::string& uid, ClaimRef allocated);
  bool IsInFlight(std::string_view uid) const { return in_flight_.contains(uid); }
  // The claim as it will be written; null if it is not in flight.
  ClaimRef InFlightClaim(std::string_view uid) const;
  // True: the allocation is no longer in flight, because nobody shares it or because of `force`.
  bool MaybeRemove(std::string_view uid, bool force);
  // Allocations that were in flight and came to nothing since this was last asked, each as the claim with it
  // and the claim without, if that exists. Their devices are free again, and no watch will say so.
  std::vector<std::pair<ClaimRef, ClaimRef>> TakeFreed() { return std::exchange(freed_, {}); }
  // Its driver did not make the devices of this allocation ready in time. Forgotten with the allocation.
  void MarkTimedOut(const api::ResourceClaim& claim);
  bool HasTimedOut(const api::ResourceClaim& claim) const;

  // The scheduler has asked the server to end this reservation, and the claim does not show that yet: it is
  // not to be relied on.
  void DoubtReservation(const api::ResourceClaim& claim, const std::string& pod_uid);
  // It was made again.
  void TrustReservation(const api::ResourceClaim& claim, const std::string& pod_uid);
  bool IsSurelyReserved(const api::ResourceClaim& claim, std::string_view pod_uid) const;
  std::size_t in_flight_count() const { return in_flight_.size(); }

  // The claim for the extended resources of the pod, if it was made before; null if not.
  ClaimRef FindExtended(std::string_view pod_namespace, std::string_view pod_name,
                        std::string_view pod_uid) const;

 private:
  struct InFlight {
    ClaimRef claim;
    int sharers = 1;
  };
  struct Counted {
    ClaimRef known;    // as Find gives it, if it is allocated
    ClaimRef counted;  // whose devices count
  };
  using Key = std::pair<std::string, std::string>;

  void OnChange(const ClaimRef& before, const ClaimRef& after);
  void Replace(const ClaimRef& before, const ClaimRef& after);
  void Count(const std::string& uid);
  void ForgetDoubts(const std::string& uid, const ClaimRef& claim);
  void IndexExtended(const ClaimRef& claim, bool add);

  cluster::ObjectTable<api::ResourceClaim>& table_;
  DeviceTable& devices_;
  absl::flat_hash_map<Key, ClaimRef> assumed_;
  absl::flat_hash_map<std::string, InFlight, base::TextHash, std::equal_to<>> in_flight_;  // by uid
  absl::flat_hash_set<std::string> timed_out_;                                             // uids
  absl::flat_hash_map<std::string, std::vector<std::string>> doubted_;  // uids of pods by uid of the claim
  absl::flat_hash_map<std::string, Counted> counted_;                   // by uid
  std::vector<std::pair<ClaimRef, ClaimRef>> freed_;
  absl::flat_hash_map<std::string, absl::btree_set<Key>, base::TextHash, std::equal_to<>>
      extended_of_;  // by uid of the pod
};

}  // namespace berth::dra
