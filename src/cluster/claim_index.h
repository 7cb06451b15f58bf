#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"

#include "api/pod_record.h"
#include "base/ids.h"
#include "base/interner.h"
#include "cluster/ids.h"

namespace berth::cluster {

// Which pods name which claim, so that an event about a claim finds the pods that it can concern without a
// walk. One for all profiles.
//
// A claim that a template generates counts from the moment that the pod's status names it; claims that are
// reached through a pod group or an extended resource do not count. Set and Remove are O(claims of the pod *
// log pods of the claim).
class ClaimIndex {
 public:
  enum class Kind : char { kResourceClaim = 'r', kVolumeClaim = 'v' };

  // The pod came or changed.
  void Set(PodSlot pod, const api::PodRecord& record);
  void Remove(PodSlot pod);

  // Namespace and name of each, as pre-hints list them.
  std::vector<std::pair<std::string, std::string>> PodsOf(Kind kind, std::string_view namespace_,
                                                          std::string_view claim) const;
  bool empty() const { return claims_.empty(); }

 private:
  using ClaimId = base::Id<struct IndexedClaimTag>;
  struct Pod {
    std::string namespace_;
    std::string name;
    std::vector<ClaimId> claims;
  };

  base::Interner<ClaimId> claims_;                 // by kind, namespace and name
  std::vector<absl::btree_set<PodSlot>> pods_of_;  // by ClaimId
  absl::flat_hash_map<PodSlot, Pod> pods_;
};

}  // namespace berth::cluster
