#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/interner.h"
#include "cluster/ids.h"
#include "cluster/labels.h"
#include "cluster/node_table.h"

namespace berth::cluster {

// For every topology key in use, which domain each node is in and which nodes each domain has.
//
// 1. A key is kept while somebody holds a reference; its column is made by one scan of the nodes.
// 2. A domain exists while a node is in it. Its id is dense per key and reused.
// 3. Ghosts and nodes without the label are in no domain.
class Topology {
 public:
  Topology(LabelTable& labels, const NodeTable& nodes);

  // With a reference for the caller.
  TopologyKeyId Acquire(std::string_view key);
  void Acquire(TopologyKeyId key);
  void Release(TopologyKeyId key);

  // Invalid: not in use.
  TopologyKeyId Find(std::string_view key) const;
  std::string_view KeyText(TopologyKeyId key) const { return keys_.Get(key); }

  // By NodeRow; invalid where the node is in no domain.
  std::span<const DomainId> column(TopologyKeyId key) const { return state_[key.index()].column; }
  DomainId domain(TopologyKeyId key, NodeRow row) const { return state_[key.index()].column[row.index()]; }
  // Domain ids are below this; those without nodes are not in use.
  std::size_t domain_slots(TopologyKeyId key) const { return state_[key.index()].domains.size(); }
  // How many domains have a node.
  std::size_t domain_count(TopologyKeyId key) const { return state_[key.index()].by_value.size(); }
  // In no order that means anything.
  std::span<const NodeRow> nodes(TopologyKeyId key, DomainId domain) const {
    return state_[key.index()].domains[domain.index()].rows;
  }
  LabelValueId value(TopologyKeyId key, DomainId domain) const {
    return state_[key.index()].domains[domain.index()].value;
  }
  // The domain of a label value; invalid if no node has it.
  DomainId FindDomain(TopologyKeyId key, LabelValueId value) const;

  // For Cluster: the labels of the row, or whether it exists, changed.
  void Refresh(NodeRow row);
  bool empty() const { return keys_.empty(); }

 private:
  struct Domain {
    LabelValueId value;
    std::vector<NodeRow> rows;
  };
  struct Key {
    LabelKeyId label;
    std::vector<DomainId> column;
    std::vector<std::uint32_t> position;  // by row: where it is in its domain's rows
    std::vector<Domain> domains;
    std::vector<DomainId> free;
    absl::flat_hash_map<LabelValueId, DomainId> by_value;
  };

  void Place(Key& key, NodeRow row);
  void Unplace(Key& key, NodeRow row);

  LabelTable& labels_;
  const NodeTable& nodes_;
  base::Interner<TopologyKeyId> keys_;
  std::vector<Key> state_;  // by TopologyKeyId
};

}  // namespace berth::cluster
