#include <fmt/format.h>
#include <string>
#include <utility>

#include "base/check.h"
#include "cluster/claim_index.h"
#include "cluster/cluster.h"

// The pod's state machine. Errors are worded as upstream words them: uid, then namespace and name in
// brackets.
namespace berth::cluster {
namespace {

std::string Named(const api::PodRecord& pod) { return fmt::format("pod {}({})", pod.uid, PodName(pod)); }

std::unexpected<base::Error> NoNode(const api::PodRecord& pod) {
  return base::Fail(fmt::format("{} has no node, so it is not counted anywhere", Named(pod)));
}

std::unexpected<base::Error> NoUid() { return base::Fail("cannot get cache key for pod with empty UID"); }

// What indexes count a pod by: while these agree, a new record changes nothing that is counted.
bool CountsTheSame(const PodFacts& a, const PodFacts& b) {
  return a.template_id == b.template_id && a.pod_class == b.pod_class && a.requests == b.requests &&
         a.terms == b.terms && a.priority == b.priority && a.claims == b.claims &&
         a.record->deletion_timestamp.has_value() == b.record->deletion_timestamp.has_value();
}

}  // namespace

ClaimIndex& Cluster::claim_index() {
  if (claim_index_ == nullptr) claim_index_ = &UseExtension<ClaimIndex>();
  return *claim_index_;
}

base::Result<PodSlot> Cluster::SetPending(PodRecordRef pod) {
  BERTH_CHECK(!speculating());
  if (pod->uid.empty()) return NoUid();
  PodSlot slot = pods_.Find(pod->uid);
  if (!slot.IsValid()) {
    slot = pods_.Insert(factory_.Make(std::move(pod)), PodState::kPending);
  } else if (pods_.state(slot) == PodState::kPending) {
    factory_.Release(pods_.Replace(slot, factory_.Make(std::move(pod))));
  } else {
    return base::Fail(fmt::format("{} is on node {}, so it does not wait for one", Named(*pod),
                                  nodes_.name(pods_.row(slot))));
  }
  claim_index().Set(slot, pods_.record(slot));
  return slot;
}

base::Result<void> Cluster::RemovePending(std::string_view uid) {
  BERTH_CHECK(!speculating());
  const PodSlot slot = pods_.Find(uid);
  if (!slot.IsValid()) return {};
  if (pods_.state(slot) != PodState::kPending) {
    return base::Fail(fmt::format("{} is on node {}, so it does not wait for one", Named(pods_.record(slot)),
                                  nodes_.name(pods_.row(slot))));
  }
  EraseFromTable(slot);
  return {};
}

base::Result<void> Cluster::Assume(PodSlot pod, std::string_view node_name) {
  BERTH_CHECK(!speculating() && pods_.IsLive(pod) && !node_name.empty());
  if (pods_.state(pod) != PodState::kPending) {
    return base::Fail(fmt::format("{} is in the cache, so can't be assumed", Named(pods_.record(pod))));
  }
  ClearNomination(pod);
  PlaceOn(pod, node_name);
  pods_.SetState(pod, PodState::kAssumed);
  return {};
}

base::Result<PodSlot> Cluster::FindAssumed(std::string_view uid, std::string_view node_name) const {
  const PodSlot slot = pods_.Find(uid);
  if (!slot.IsValid() || pods_.state(slot) == PodState::kPending) return PodSlot();
  if (const std::string_view current = nodes_.name(pods_.row(slot)); current != node_name) {
    return base::Fail(fmt::format("{} was assumed on {} but assigned to {}", Named(pods_.record(slot)),
                                  node_name, current));
  }
  if (pods_.state(slot) != PodState::kAssumed) {
    return base::Fail(
        fmt::format("{} is not assumed, so it cannot be removed or forgotten", Named(pods_.record(slot))));
  }
  return slot;
}

base::Result<void> Cluster::Forget(std::string_view uid, std::string_view node_name) {
  BERTH_CHECK(!speculating());
  if (uid.empty()) return NoUid();
  const auto slot = FindAssumed(uid, node_name);
  if (!slot) return std::unexpected(slot.error());
  if (!slot->IsValid()) return {};
  TakeOff(*slot);
  pods_.SetState(*slot, PodState::kPending);
  return {};
}

base::Result<void> Cluster::RemoveAssumed(std::string_view uid, std::string_view node_name) {
  BERTH_CHECK(!speculating());
  if (uid.empty()) return NoUid();
  const auto slot = FindAssumed(uid, node_name);
  if (!slot) return std::unexpected(slot.error());
  if (slot->IsValid()) EraseFromTable(*slot);
  return {};
}

base::Result<void> Cluster::AddPod(PodRecordRef pod) {
  BERTH_CHECK(!speculating());
  if (pod->uid.empty()) return NoUid();
  if (pod->node_name.empty()) return NoNode(*pod);
  const PodSlot slot = pods_.Find(pod->uid);
  const base::SharedText node_name = pod->node_name;
  if (!slot.IsValid()) {
    PlaceOn(pods_.Insert(factory_.Make(std::move(pod)), PodState::kAdded), node_name);
    return {};
  }
  switch (pods_.state(slot)) {
    case PodState::kAdded:
      return base::Fail(fmt::format("{} was already in added state", Named(*pod)));
    case PodState::kPending:
      // Another scheduler, or this one before a restart, bound it.
      ClearNomination(slot);
      factory_.Release(pods_.Replace(slot, factory_.Make(std::move(pod))));
      PlaceOn(slot, node_name);
      break;
    case PodState::kAssumed:
      // What is seen wins over what was assumed, the node included.
      if (nodes_.name(pods_.row(slot)) == node_name) {
        ReplaceFacts(slot, std::move(pod));
      } else {
        TakeOff(slot);
        factory_.Release(pods_.Replace(slot, factory_.Make(std::move(pod))));
        PlaceOn(slot, node_name);
      }
      break;
  }
  pods_.SetState(slot, PodState::kAdded);
  claim_index().Remove(slot);
  return {};
}

base::Result<void> Cluster::UpdatePod(PodRecordRef pod) {
  BERTH_CHECK(!speculating());
  if (pod->uid.empty()) return NoUid();
  if (pod->node_name.empty()) return NoNode(*pod);
  const PodSlot slot = pods_.Find(pod->uid);
  if (!slot.IsValid() || pods_.state(slot) == PodState::kPending) {
    return base::Fail(fmt::format("{} is not added to scheduler cache, so cannot be updated", Named(*pod)));
  }
  if (pods_.state(slot) == PodState::kAssumed) {
    return base::Fail(fmt::format("assumed {} should not be updated", Named(*pod)));
  }
  if (nodes_.name(pods_.row(slot)) == pod->node_name) {
    ReplaceFacts(slot, std::move(pod));
    return {};
  }
  // Upstream stops here, taking its cache for corrupt. An update that is a removal and an addition mends the
  // state.
  const std::string message =
      fmt::format("{} updated on a different node than previously added to", Named(*pod));
  const base::SharedText node_name = pod->node_name;
  TakeOff(slot);
  factory_.Release(pods_.Replace(slot, factory_.Make(std::move(pod))));
  PlaceOn(slot, node_name);
  return base::Fail(message);
}

base::Result<void> Cluster::RemovePod(const api::PodRecord& pod) {
  BERTH_CHECK(!speculating());
  if (pod.uid.empty()) return NoUid();
  const PodSlot slot = pods_.Find(pod.uid);
  if (!slot.IsValid() || pods_.state(slot) == PodState::kPending) {
    return base::Fail(
        fmt::format("{} is not found in scheduler cache, so cannot be removed from it", Named(pod)));
  }
  // The last known state of a pod whose deletion was missed may be from before it had a node.
  const bool elsewhere = !pod.node_name.empty() && pod.node_name != nodes_.name(pods_.row(slot));
  const std::string message = Named(pod);
  EraseFromTable(slot);
  // Upstream stops here; the pod is gone from where it was, which is all that a removal can mean.
  if (elsewhere)
    return base::Fail(fmt::format("{} was added to a different node than it was assumed", message));
  return {};
}

void Cluster::Nominate(PodSlot pod, std::optional<std::string_view> node_name) {
  // The name may be that of the node that the pod is nominated to, whose text goes with the old nomination.
  const std::string name(node_name.value_or(pods_.record(pod).nominated_node_name));
  placements_.Unnominate(pod);
  if (name.empty() || pods_.state(pod) != PodState::kPending) return;
  placements_.Nominate(pod, nodes_.InternName(name));
}

void Cluster::UpdateNomination(PodSlot pod, const api::PodRecord& old) {
  const NodeNameId nominated = nominator_.NodeOf(pod);
  if (old.nominated_node_name.empty() && pods_.record(pod).nominated_node_name.empty() &&
      nominated.IsValid()) {
    Nominate(pod, nodes_.NameText(nominated));
  } else {
    Nominate(pod);
  }
}

void Cluster::PlaceOn(PodSlot pod, std::string_view node_name) {
  placements_.Place(pod, EnsureRow(node_name));
}

void Cluster::TakeOff(PodSlot pod) { nodes_.FreeIfUnused(placements_.Displace(pod)); }

void Cluster::EraseFromTable(PodSlot pod) {
  ClearNomination(pod);
  if (pods_.row(pod).IsValid()) TakeOff(pod);
  claim_index().Remove(pod);
  factory_.Release(pods_.Erase(pod));
}

void Cluster::ReplaceFacts(PodSlot pod, PodRecordRef record) {
  PodFacts facts = factory_.Make(std::move(record));
  if (CountsTheSame(pods_.facts(pod), facts)) {
    factory_.Release(pods_.Replace(pod, std::move(facts)));
    return;
  }
  const NodeRow row = placements_.Displace(pod);
  factory_.Release(pods_.Replace(pod, std::move(facts)));
  placements_.Place(pod, row);
}

}  // namespace berth::cluster
