#include "cluster/topology.h"

namespace berth::cluster {

Topology::Topology(LabelTable& labels, const NodeTable& nodes) : labels_(labels), nodes_(nodes) {}

TopologyKeyId Topology::Acquire(std::string_view text) {
  const TopologyKeyId id = keys_.Intern(text);
  if (keys_.References(id) > 1) return id;
  if (id.index() >= state_.size()) state_.resize(id.index() + 1);
  Key& key = state_[id.index()];
  key.label = labels_.InternKey(text);
  key.column.resize(nodes_.row_count());
  key.position.resize(nodes_.row_count());
  for (std::uint32_t row = 0; row < nodes_.row_count(); ++row) {
    if (nodes_.exists(NodeRow(row))) Place(key, NodeRow(row));
  }
  return id;
}

void Topology::Release(TopologyKeyId id) {
  if (!keys_.Release(id)) return;
  labels_.ReleaseKey(state_[id.index()].label);
  state_[id.index()] = {};
}

DomainId Topology::FindDomain(TopologyKeyId key, LabelValueId value) const {
  const auto& by_value = state_[key.index()].by_value;
  const auto found = by_value.find(value);
  return found == by_value.end() ? DomainId() : found->second;
}

void Topology::Refresh(NodeRow row) {
  for (Key& key : state_) {
    if (!key.label.IsValid()) continue;
    if (key.column.size() < nodes_.row_count()) {
      key.column.resize(nodes_.row_count());
      key.position.resize(nodes_.row_count());
    }
    const DomainId before = key.column[row.index()];
    if (nodes_.exists(row)) {
      // A heartbeat must not reorder anything.
      const LabelValueId value = labels_.Value(nodes_.label_set()[row.index()], key.label);
      if (before.IsValid() && value.IsValid() && key.domains[before.index()].value == value) continue;
    }
    if (before.IsValid()) Unplace(key, row);
    if (nodes_.exists(row)) Place(key, row);
  }
}

void Topology::Place(Key& key, NodeRow row) {
  const LabelValueId value = labels_.Value(nodes_.label_set()[row.index()], key.label);
  if (!value.IsValid()) return;
  const auto [found, is_new] = key.by_value.try_emplace(value);
  if (is_new) {
    if (key.free.empty()) {
      found->second = DomainId(static_cast<std::uint32_t>(key.domains.size()));
      key.domains.emplace_back();
    } else {
      found->second = key.free.back();
      key.free.pop_back();
    }
    key.domains[found->second.index()].value = value;
  }
  Domain& domain = key.domains[found->second.index()];
  key.column[row.index()] = found->second;
  key.position[row.index()] = static_cast<std::uint32_t>(domain.rows.size());
  domain.rows.push_back(row);
}

void Topology::Unplace(Key& key, NodeRow row) {
  const DomainId id = key.column[row.index()];
  Domain& domain = key.domains[id.index()];
  const std::uint32_t position = key.position[row.index()];
  const NodeRow moved = domain.rows.back();
  domain.rows[position] = moved;
  key.position[moved.index()] = position;
  domain.rows.pop_back();
  key.column[row.index()] = {};
  if (domain.rows.empty()) {
    key.by_value.erase(domain.value);
    domain = {};
    key.free.push_back(id);
  }
}

void Topology::Acquire(TopologyKeyId key) { keys_.Acquire(key); }

TopologyKeyId Topology::Find(std::string_view key) const { return keys_.Find(key); }

}  // namespace berth::cluster
