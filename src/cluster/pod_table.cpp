#include "cluster/pod_table.h"

#include "base/check.h"
#include "base/text_hash.h"

namespace berth::cluster {

std::size_t PodTable::HashOf(std::string_view uid) { return base::HashText(uid); }

std::size_t PodTable::HashOf(std::string_view namespace_, std::string_view name) {
  return base::HashText(namespace_, name);
}

bool PodTable::IsNamed(PodSlot slot, std::string_view namespace_, std::string_view name) const {
  const api::PodRecord& pod = record(slot);
  return pod.name == name && pod.namespace_ == namespace_;
}

PodSlot PodTable::Find(std::string_view uid) const {
  return by_uid_.Find(HashOf(uid), [&](PodSlot slot) { return record(slot).uid == uid; });
}

PodSlot PodTable::Find(std::string_view namespace_, std::string_view name) const {
  return by_name_.Find(HashOf(namespace_, name),
                       [&](PodSlot slot) { return IsNamed(slot, namespace_, name); });
}

ClaimId PodTable::InternClaim(std::string_view key) {
  const ClaimId id = claims_.Intern(key);
  if (id.index() >= claim_use_.size()) claim_use_.resize(id.index() + 1);
  return id;
}

PodSlot PodTable::Insert(PodFacts facts, PodState state) {
  BERTH_DCHECK(!Find(facts.record->uid).IsValid());
  PodSlot slot;
  if (free_.empty()) {
    BERTH_CHECK(pods_.size() < PodSlot::kInvalidValue);
    slot = PodSlot(static_cast<std::uint32_t>(pods_.size()));
    pods_.Grow();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Entry& entry = pods_[slot.index()];
  entry.facts = std::move(facts);
  entry.state = state;
  ++counts_[static_cast<std::size_t>(state)];
  by_uid_.Insert(HashOf(record(slot).uid), slot);
  SetName(slot);
  JoinClass(slot);
  return slot;
}

PodFacts PodTable::Replace(PodSlot slot, PodFacts facts) {
  Entry& entry = pods_[slot.index()];
  BERTH_DCHECK(entry.facts.record->uid == facts.record->uid);
  // The indexes keep no text of their own, so there is mostly nothing to do: they ask the new record.
  const bool is_renamed = !IsNamed(slot, facts.record->namespace_, facts.record->name);
  const bool is_reclassed = entry.facts.pod_class != facts.pod_class;
  if (is_renamed) UnsetName(slot);
  if (is_reclassed) LeaveClass(slot);
  std::swap(entry.facts, facts);
  SetName(slot);
  if (is_reclassed) JoinClass(slot);
  return facts;
}

PodFacts PodTable::Erase(PodSlot slot) {
  Entry& entry = pods_[slot.index()];
  BERTH_DCHECK(!entry.row.IsValid());
  by_uid_.Erase(HashOf(record(slot).uid), slot);
  UnsetName(slot);
  LeaveClass(slot);
  PodFacts facts = std::move(entry.facts);
  --counts_[static_cast<std::size_t>(entry.state)];
  const std::uint32_t generation = entry.generation + 1;
  entry = {};
  entry.generation = generation;
  free_.push_back(slot);
  return facts;
}

void PodTable::SetState(PodSlot slot, PodState state) {
  Entry& entry = pods_[slot.index()];
  --counts_[static_cast<std::size_t>(entry.state)];
  entry.state = state;
  ++counts_[static_cast<std::size_t>(state)];
}

void PodTable::CountClaims(PodSlot slot, std::int32_t delta) {
  for (const ClaimId claim : facts(slot).claims) claim_use_[claim.index()] += delta;
}

void PodTable::SetName(PodSlot slot) {
  const api::PodRecord& pod = record(slot);
  by_name_.Assign(HashOf(pod.namespace_, pod.name), slot,
                  [&](PodSlot other) { return IsNamed(other, pod.namespace_, pod.name); });
}

void PodTable::UnsetName(PodSlot slot) {
  const api::PodRecord& pod = record(slot);
  if (Find(pod.namespace_, pod.name) == slot) by_name_.Erase(HashOf(pod.namespace_, pod.name), slot);
}

void PodTable::JoinClass(PodSlot slot) {
  Entry& entry = pods_[slot.index()];
  const PodClassId id = entry.facts.pod_class;
  if (id.index() >= first_in_class_.size()) first_in_class_.resize(id.index() + 1);
  PodSlot& first = first_in_class_[id.index()];
  entry.previous = {};
  entry.next = first;
  if (first.IsValid()) pods_[first.index()].previous = slot;
  first = slot;
}

void PodTable::LeaveClass(PodSlot slot) {
  Entry& entry = pods_[slot.index()];
  if (entry.next.IsValid()) pods_[entry.next.index()].previous = entry.previous;
  if (entry.previous.IsValid()) {
    pods_[entry.previous.index()].next = entry.next;
  } else {
    first_in_class_[entry.facts.pod_class.index()] = entry.next;
  }
}

void PodTable::AddTo(Digester& digest) const {
  for (std::uint32_t i = 0; i < pods_.size(); ++i) {
    const Entry& entry = pods_[i];
    if (!entry.facts.record) continue;
    digest.Add(i);
    digest.Add(entry.generation);
    digest.Add(entry.facts.record->uid);
    digest.Add(static_cast<std::uint64_t>(entry.state));
    digest.Add(entry.row.value());
    if (entry.row.IsValid()) digest.Add(entry.position);
    digest.Add(entry.facts.pod_class.value());
    digest.Add(entry.facts.requests.value());
    for (const ClaimId claim : entry.facts.claims) {
      digest.Add(claim.value());
      digest.AddSigned(ClaimUse(claim));
    }
  }
}

std::string PodName(const api::PodRecord& pod) {
  return pod.namespace_.empty() ? pod.name : pod.namespace_.str() + "/" + pod.name;
}

ClaimId PodTable::FindClaim(std::string_view key) const { return claims_.Find(key); }

void PodTable::ReleaseClaim(ClaimId claim) { claims_.Release(claim); }

}  // namespace berth::cluster
