#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interner.h"
#include "cluster/digest.h"
#include "cluster/domain_tally.h"
#include "cluster/eligibility.h"
#include "cluster/ids.h"
#include "cluster/matchers.h"
#include "cluster/paged_column.h"
#include "cluster/topology.h"

namespace berth::cluster {

// Which matching pods count. Speculative additions and removals always do, in both directions: upstream
// applies these rules when it counts a cluster, not when it tries a pod on a node.
struct CountRules {
  bool skip_terminating = false;
  // A selector that selects everything counts nothing (topology spreading).
  bool everything_is_zero = false;

  bool operator==(const CountRules&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const CountRules& r) {
    return H::combine(std::move(h), r.skip_terminating, r.everything_is_zero);
  }
};

// How many pods that meet some conditions are on each node and in each domain.
//
// A counter counts per node, pods on ghosts included. A tally sums a counter over the domains of a key, nodes
// that are not eligible left out. Both exist from their first use until CollectUnused finds that nobody used
// them for a while: between, they follow every pod and node at O(1) per counter and tally that a change
// concerns.
class CounterTable {
 public:
  CounterTable(const NodeTable& nodes, Topology& topology, EligibilityTable& eligibility,
               MatcherTable& matchers);

  base::Versioned<CounterId> Version(CounterId id) const { return counter_keys_.Version(id); }
  base::Versioned<TallyId> Version(TallyId id) const { return tally_keys_.Version(id); }
  bool IsCurrent(base::Versioned<CounterId> id) const { return counter_keys_.IsCurrent(id); }
  bool IsCurrent(base::Versioned<TallyId> id) const { return tally_keys_.IsCurrent(id); }

  std::int32_t CountOnNode(CounterId id, NodeRow row) const {
    return counters_[id.index()]->per_node.Get(row);
  }
  // Calls visit(row, count) for every node with a count other than zero, ascending.
  template <class F>
  void ForEachNode(CounterId id, F&& visit) const {
    counters_[id.index()]->per_node.ForEachNonZero(visit);
  }
  // On existing nodes, whatever their labels.
  std::int64_t Total(CounterId id) const { return counters_[id.index()]->total; }
  MatcherId matcher(CounterId id) const { return counter_keys_.Get(id).matcher; }

  const DomainTally& tally(TallyId id) const { return *tallies_[id.index()]; }
  std::int32_t CountInDomain(TallyId id, DomainId domain) const { return tally(id).Count(domain); }
  TopologyKeyId topology_key(TallyId id) const { return tally_keys_.Get(id).key; }
  CounterId counter(TallyId id) const { return tally_keys_.Get(id).counter; }
  // Domains with an eligible node, and the smallest count among them; 0 if there is none.
  std::size_t DomainCount(TallyId id) const;
  std::int32_t MinCount(TallyId id) const { return tally(id).Min(DomainCount(id)); }
  bool HasEligibleNode(TallyId id, DomainId domain) const;

  // Marks as used. A tally's use is a use of its counter.
  void Touch(CounterId id, std::uint64_t step) { counters_[id.index()]->last_used = step; }
  void Touch(TallyId id, std::uint64_t step);

  // For Cluster.
  // ------------------------------------------------------------------------------------------------------
  struct Found {
    CounterId id;
    bool is_new;  // then the caller adds every pod that is there already
  };
  Found Use(std::span<const PodCondition> conditions, CountRules rules, std::uint64_t step);
  // O(nodes with a count) if the tally is new.
  TallyId UseTally(CounterId id, std::string_view topology_key, EligibilityId eligibility,
                   std::uint64_t step);
  void CollectUnused(std::uint64_t step);

  enum class Mode : std::uint8_t { kReal, kSpeculative };
  struct PodChange {
    bool terminating;
    NodeRow row;
    std::int32_t delta;
    Mode mode;
  };
  // A pod that these matchers match came to a node or left it.
  void Apply(std::span<const MatcherId> matchers, const PodChange& change);
  void Apply(CounterId id, const PodChange& change);
  // The same for the sums over domains only: around a change of the node itself.
  void ApplyToDomains(std::span<const MatcherId> matchers, const PodChange& change);

  void AddTo(Digester& digest) const;
  bool empty() const { return counter_keys_.empty() && tally_keys_.empty(); }

 private:
  struct CounterKey {
    MatcherId matcher;
    CountRules rules;

    bool operator==(const CounterKey&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const CounterKey& k) {
      return H::combine(std::move(h), k.matcher, k.rules);
    }
  };
  struct TallyKey {
    CounterId counter;
    TopologyKeyId key;
    EligibilityId eligibility;

    bool operator==(const TallyKey&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const TallyKey& k) {
      return H::combine(std::move(h), k.counter, k.key, k.eligibility);
    }
  };
  struct Counter {
    PagedColumn<NodeRow> per_node;
    std::int64_t total = 0;
    std::uint64_t last_used = 0;
    bool selects_everything = false;
    std::vector<TallyId> tallies;
  };

  std::span<const CounterId> CountersOf(MatcherId matcher) const;
  bool Counts(CounterId id, const PodChange& change) const;
  void AddToDomains(CounterId id, NodeRow row, std::int32_t delta);
  void AddToTally(TallyId id, NodeRow row, std::int32_t delta);
  void DropTally(TallyId id);
  void DropCounter(CounterId id);

  const NodeTable& nodes_;
  Topology& topology_;
  EligibilityTable& eligibility_;
  MatcherTable& matchers_;
  base::InternTable<CounterId, CounterKey> counter_keys_;  // the table itself holds the one reference
  base::InternTable<TallyId, TallyKey> tally_keys_;
  std::vector<std::unique_ptr<Counter>> counters_;     // by CounterId
  std::vector<std::unique_ptr<DomainTally>> tallies_;  // by TallyId
  std::vector<std::uint64_t> tally_last_used_;
  std::vector<std::vector<CounterId>> by_matcher_;
};

}  // namespace berth::cluster
