#include "cluster/pod_table.h"

#include "base/check.h"

namespace berth::cluster {

PodSlot PodTable::Find(std::string_view uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? PodSlot() : found->second;
}

PodSlot PodTable::Find(std::string_view namespace_, std::string_view name) const {
  const auto found = by_name_.find(NameKey(namespace_, name));
  return found == by_name_.end() ? PodSlot() : found->second;
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
    pods_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Entry& entry = pods_[slot.index()];
  entry.facts = std::move(facts);
  entry.state = state;
  ++counts_[static_cast<std::size_t>(state)];
  Link(slot);
  return slot;
}

PodFacts PodTable::Replace(PodSlot slot, PodFacts facts) {
  Entry& entry = pods_[slot.index()];
  BERTH_DCHECK(entry.facts.record->uid == facts.record->uid);
  Unlink(slot);
  std::swap(entry.facts, facts);
  Link(slot);
  return facts;
}

PodFacts PodTable::Erase(PodSlot slot) {
  Entry& entry = pods_[slot.index()];
  BERTH_DCHECK(!entry.row.IsValid());
  Unlink(slot);
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

void PodTable::Link(PodSlot slot) {
  Entry& entry = pods_[slot.index()];
  const api::PodRecord& record = *entry.facts.record;
  by_uid_[record.uid] = slot;
  // The key must be a view of this record, whatever was there.
  by_name_.erase(NameKey(record.namespace_, record.name));
  by_name_.emplace(NameKey(record.namespace_, record.name), slot);
  const PodClassId id = entry.facts.pod_class;
  if (id.index() >= first_in_class_.size()) first_in_class_.resize(id.index() + 1);
  PodSlot& first = first_in_class_[id.index()];
  entry.previous = {};
  entry.next = first;
  if (first.IsValid()) pods_[first.index()].previous = slot;
  first = slot;
  claim_index_.Set(slot, record);
}

void PodTable::Unlink(PodSlot slot) {
  Entry& entry = pods_[slot.index()];
  const api::PodRecord& record = *entry.facts.record;
  claim_index_.Remove(slot);
  by_uid_.erase(record.uid);
  const auto named = by_name_.find(NameKey(record.namespace_, record.name));
  if (named != by_name_.end() && named->second == slot) by_name_.erase(named);
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
  return pod.namespace_.empty() ? pod.name : pod.namespace_ + "/" + pod.name;
}

ClaimId PodTable::FindClaim(std::string_view key) const { return claims_.Find(key); }

void PodTable::ReleaseClaim(ClaimId claim) { claims_.Release(claim); }

}  // namespace berth::cluster
