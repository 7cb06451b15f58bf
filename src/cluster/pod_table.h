#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod_record.h"
#include "api/pod_template.h"
#include "base/chunked_vector.h"
#include "base/hash_index.h"
#include "base/ids.h"
#include "base/interner.h"
#include "cluster/digest.h"
#include "cluster/ids.h"

namespace berth::cluster {

using PodRecordRef = std::shared_ptr<const api::PodRecord>;

// Pending: waits for a node. Assumed: a node was chosen and the binding is under way. Added: seen as bound.
enum class PodState : std::uint8_t { kPending, kAssumed, kAdded };

// What is derived from a pod's record once, when it comes or changes. Each id is a reference that the table's
// owner releases when the facts go.
struct PodFacts {
  PodRecordRef record;
  api::TemplateId template_id;
  PodClassId pod_class;
  RequestsId requests;
  TermListId terms;  // invalid: the pod carries no affinity terms
  std::int32_t priority = 0;
  std::vector<ClaimId> claims;  // one per volume that names a claim
};

// Every pod that is not finished, by slot, by uid and by name.
//
// 1. A pod has one slot from its first sight until it is gone, whatever its state.
// 2. row(slot) is where the pod counts at this moment: valid for assumed and added pods, except in a
// speculation that
//    took the pod away, and for pending pods only in a speculation that tries them somewhere.
// 3. Pods of one class form a list, so that a new counter looks at the pods that it counts and at no others.
//
// Only Cluster changes it.
class PodTable {
 public:
  bool IsLive(PodSlot slot) const {
    return slot.index() < pods_.size() && pods_[slot.index()].facts.record != nullptr;
  }
  base::Versioned<PodSlot> Version(PodSlot slot) const { return {slot, pods_[slot.index()].generation}; }
  bool IsCurrent(base::Versioned<PodSlot> pod) const {
    return IsLive(pod.id) && pods_[pod.id.index()].generation == pod.generation;
  }

  // Invalid: no such pod. Of two pods with one name, whose uids differ, the one that came last.
  PodSlot Find(std::string_view uid) const;
  PodSlot Find(std::string_view namespace_, std::string_view name) const;

  const PodFacts& facts(PodSlot slot) const { return pods_[slot.index()].facts; }
  const api::PodRecord& record(PodSlot slot) const { return *facts(slot).record; }
  PodState state(PodSlot slot) const { return pods_[slot.index()].state; }
  NodeRow row(PodSlot slot) const { return pods_[slot.index()].row; }
  std::int32_t priority(PodSlot slot) const { return facts(slot).priority; }
  bool terminating(PodSlot slot) const { return record(slot).deletion_timestamp.has_value(); }

  std::size_t size() const { return counts_[0] + counts_[1] + counts_[2]; }
  std::size_t count(PodState state) const { return counts_[static_cast<std::size_t>(state)]; }
  // Slots are below this; ask IsLive.
  std::size_t slot_count() const { return pods_.size(); }

  // Calls visit(slot) for every pod of the class.
  template <class F>
  void ForEachInClass(PodClassId id, F&& visit) const {
    if (id.index() >= first_in_class_.size()) return;
    for (PodSlot slot = first_in_class_[id.index()]; slot.IsValid(); slot = pods_[slot.index()].next)
      visit(slot);
  }

  // Claims by "namespace/name". Invalid: no pod in the table uses it.
  ClaimId FindClaim(std::string_view key) const;
  std::string_view ClaimKey(ClaimId claim) const { return claims_.Get(claim); }
  // How many volumes of pods on nodes refer to it.
  std::int32_t ClaimUse(ClaimId claim) const { return claim_use_[claim.index()]; }

  // For Cluster.
  // ------------------------------------------------------------------------------------------------------
  ClaimId InternClaim(std::string_view key);
  void ReleaseClaim(ClaimId claim);

  // The pod must not be there.
  PodSlot Insert(PodFacts facts, PodState state);
  // Hands back the old facts. The uid must be the same.
  PodFacts Replace(PodSlot slot, PodFacts facts);
  PodFacts Erase(PodSlot slot);
  void SetState(PodSlot slot, PodState state);
  void SetRow(PodSlot slot, NodeRow row) { pods_[slot.index()].row = row; }
  // Where it is in NodeTable::pods(row).
  std::uint32_t position(PodSlot slot) const { return pods_[slot.index()].position; }
  void SetPosition(PodSlot slot, std::uint32_t position) { pods_[slot.index()].position = position; }
  void CountClaims(PodSlot slot, std::int32_t delta);

  void AddTo(Digester& digest) const;
  bool empty() const { return size() == 0 && by_uid_.empty() && by_name_.empty() && claims_.empty(); }

 private:
  struct Entry {
    PodFacts facts;
    PodState state = PodState::kPending;
    NodeRow row;
    std::uint32_t position = 0;
    PodSlot previous;
    PodSlot next;
    std::uint32_t generation = 0;
  };

  static std::size_t HashOf(std::string_view uid);
  static std::size_t HashOf(std::string_view namespace_, std::string_view name);
  bool IsNamed(PodSlot slot, std::string_view namespace_, std::string_view name) const;
  void SetName(PodSlot slot);
  void UnsetName(PodSlot slot);
  void JoinClass(PodSlot slot);
  void LeaveClass(PodSlot slot);

  base::ChunkedVector<Entry> pods_;
  std::vector<PodSlot> free_;
  std::size_t counts_[3] = {0, 0, 0};
  base::HashIndex<PodSlot> by_uid_;
  base::HashIndex<PodSlot> by_name_;
  std::vector<PodSlot> first_in_class_;  // by PodClassId
  base::Interner<ClaimId> claims_;
  std::vector<std::int32_t> claim_use_;
};

// "namespace/name", or the name alone.
std::string PodName(const api::PodRecord& pod);

}  // namespace berth::cluster
