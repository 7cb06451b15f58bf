#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitset.h"
#include "base/interner.h"
#include "cluster/ids.h"
#include "cluster/node_table.h"
#include "cluster/topology.h"

namespace berth::cluster {

// Whether a node takes part in somebody's counting. It may read the node's name, labels, taints and topology
// domains and nothing else, and must own what it refers to: it is asked again whenever one of those changes.
using NodePredicate = std::function<bool(NodeRow)>;

// Sets of nodes that counting is restricted to: those that a pod's node affinity admits, whose taints it
// tolerates, that have all its topology keys. The caller names the set by a text that says what the predicate
// says, so that pods with equal rules share one.
//
// Costs: one scan of the nodes when a set is first used; then one question per set and changed node.
class EligibilityTable {
 public:
  EligibilityTable(const NodeTable& nodes, const Topology& topology);

  // A use at `step`, counted as recent; the predicate is called and kept only if the name is new.
  EligibilityId Use(std::string_view name, NodePredicate predicate, std::uint64_t step);
  // A set that nothing refers to and that was last used before `step` is dropped.
  void CollectUnused(std::uint64_t step);
  bool IsCurrent(base::Versioned<EligibilityId> id) const { return names_.IsCurrent(id); }
  base::Versioned<EligibilityId> Version(EligibilityId id) const { return names_.Version(id); }

  const base::Bitset& rows(EligibilityId id) const { return sets_[id.index()].rows; }
  // An invalid id stands for all existing nodes.
  bool Contains(EligibilityId id, NodeRow row) const {
    return id.IsValid() ? sets_[id.index()].rows.Test(row.index()) : nodes_.exists(row);
  }

  // A user of the domains that hold an eligible node: they are counted from now on.
  void AddReader(EligibilityId id, TopologyKeyId key);
  void RemoveReader(EligibilityId id, TopologyKeyId key);
  // How many domains of the key have an eligible node, and how many such nodes one has. There must be a
  // reader.
  std::size_t DomainCount(EligibilityId id, TopologyKeyId key) const;
  std::uint32_t NodesIn(EligibilityId id, TopologyKeyId key, DomainId domain) const;

  // For Cluster: around any change of a row's existence, labels or taints.
  void BeforeChange(NodeRow row);
  void AfterChange(NodeRow row);
  bool empty() const { return names_.empty(); }

 private:
  struct Domains {
    TopologyKeyId key;
    std::uint32_t readers = 0;
    std::size_t count = 0;
    std::vector<std::uint32_t> nodes;  // by DomainId
  };
  struct Set {
    NodePredicate predicate;
    base::Bitset rows;
    std::uint64_t last_used = 0;
    std::vector<Domains> domains;  // by key id
  };

  void Count(Domains& domains, NodeRow row, bool add);
  Domains* FindDomains(EligibilityId id, TopologyKeyId key);
  const Domains& GetDomains(EligibilityId id, TopologyKeyId key) const;

  const NodeTable& nodes_;
  const Topology& topology_;
  base::Interner<EligibilityId> names_;  // the table itself holds the one reference
  std::vector<Set> sets_;                // by EligibilityId
};

}  // namespace berth::cluster
