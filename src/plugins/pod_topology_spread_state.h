#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bitset.h"
#include "cluster/cluster.h"
#include "framework/plan.h"
#include "framework/points.h"
#include "framework/row_classes.h"
#include "plugins/class_keys.h"
#include "plugins/domain_flags.h"
#include "plugins/pod_topology_spread_constraints.h"

// What PodTopologySpread keeps: per template, and per view.
namespace berth::plugins {

struct SpreadPlan final : framework::Plan {
  bool own = false;  // the constraints are the pod's own, not the profile's defaults
  // Nodes without all soft keys take no part in scoring.
  bool require_all = false;
  std::vector<SpreadConstraint> hard;
  std::vector<SpreadConstraint> soft;
  std::vector<CountedNodes> hard_nodes;  // as hard
  std::vector<CountedNodes> soft_nodes;  // as soft
  std::string hard_error;                // what does not parse; empty if everything does
  std::string soft_error;
  bool reads_labels = false;  // some constraint has matchLabelKeys

  // What the constraints count for the pod seen last: they are the same for every pod that agrees in the
  // other members, as far as those matter. While the counters are current, the ids mean what they meant.
  struct Counted {
    cluster::NamespaceId namespace_;
    base::Versioned<cluster::PodClassId> pod_class;
    std::shared_ptr<const api::Selector> deduced;
    std::vector<base::Versioned<cluster::CounterId>> counters;  // hard, then soft
  };
  Counted counted;
};

// A hard constraint: a domain is full when it has more matching pods than limit().
class HardSpread {
 public:
  HardSpread(const SpreadConstraint& constraint, bool matches_itself, base::Versioned<cluster::TallyId> tally,
             cluster::TopologyKeyId key)
      : tally_(tally),
        key_(key),
        max_skew_(constraint.max_skew),
        min_domains_(constraint.min_domains),
        matches_itself_(matches_itself) {}

  // The domain is told by the class of a row.
  void TellByClass() { in_class_ = true; }
  bool in_class() const { return in_class_; }

  // Reports the nodes of domains that became full or stopped to be so, unless classes tell.
  void Refresh(const cluster::Cluster& cluster, framework::ChangedRows& changed);
  bool IsFull(const cluster::CounterTable& counters, cluster::DomainId domain) const {
    return counters.CountInDomain(tally_.id, domain) > limit_;
  }

  // The same of all domains; a row in none has its flag set, too.
  DomainFlags FullDomains(const cluster::Cluster& cluster) const;

  base::Versioned<cluster::TallyId> tally() const { return tally_; }
  cluster::TopologyKeyId key() const { return key_; }
  std::size_t MemoryBytes() const { return sizeof(*this) + follower_.MemoryBytes(); }

 private:
  std::int64_t FindLimit(const cluster::CounterTable& counters) const;

  base::Versioned<cluster::TallyId> tally_;
  cluster::TopologyKeyId key_;
  std::int32_t max_skew_;
  std::int32_t min_domains_;
  bool matches_itself_;
  bool in_class_ = false;
  std::int64_t limit_ = 0;
  cluster::TallyFollower follower_;
};

// A soft constraint. Of each domain it remembers how many feasible nodes it has: the number of domains with
// one weighs the constraint.
class SoftSpread {
 public:
  struct Rules {
    std::int32_t max_skew = 0;
    bool is_hostname = false;
    // Nodes without the label share the domain of the empty label.
    bool missing_is_empty = false;
  };
  SoftSpread(const Rules& rules, base::Versioned<cluster::CounterId> counter,
             base::Versioned<cluster::TallyId> tally, cluster::TopologyKeyId key)
      : rules_(rules), counter_(counter), tally_(tally), key_(key) {}

  // Domains are told by the class of a row, counts of host names are part of it.
  void TellByClass();
  // Reports the nodes of domains whose count moved, unless classes tell.
  void Refresh(const cluster::Cluster& cluster, framework::ChangedRows& changed);

  // After ForgetAll: these are the rows that take part.
  void TrackAll(const cluster::Topology& topology, const base::Bitset& rows);
  // The node joined or left the feasible ones that take part. Forget takes back what Track noted.
  void Track(const cluster::Topology& topology, cluster::NodeRow row);
  void Forget(cluster::NodeRow row);
  void ForgetAll();
  // With `participants` feasible nodes that take part.
  std::size_t DomainsTracked(const cluster::Cluster& cluster, std::size_t participants) const;

  bool HasKey(const cluster::Topology& topology, cluster::NodeRow row) const {
    return topology.domain(key_, row).IsValid();
  }
  // Matching pods that count for the node; it must have the key.
  std::int64_t CountFor(const cluster::Cluster& cluster, cluster::NodeRow row) const;
  // The same for a domain of another key than that of host names.
  std::int64_t CountIn(const cluster::Cluster& cluster, cluster::DomainId domain) const;
  // In how many domains are these, of which some may repeat or be invalid.
  std::size_t CountDistinct(const cluster::Cluster& cluster, ClassDomains& domains) const;
  cluster::TopologyKeyId key() const { return key_; }
  std::int32_t max_skew() const { return rules_.max_skew; }
  bool is_hostname() const { return rules_.is_hostname; }
  base::Versioned<cluster::CounterId> counter() const { return counter_; }
  base::Versioned<cluster::TallyId> tally() const { return tally_; }
  std::size_t MemoryBytes() const;

 private:
  cluster::DomainId EmptyDomain(const cluster::Cluster& cluster) const;

  Rules rules_;
  base::Versioned<cluster::CounterId> counter_;
  base::Versioned<cluster::TallyId> tally_;
  cluster::TopologyKeyId key_;
  cluster::TallyFollower follower_;
  std::vector<cluster::DomainId> domain_of_;   // by row, of the rows that are tracked
  std::vector<std::uint32_t> feasible_nodes_;  // by DomainId
  std::size_t domains_with_nodes_ = 0;
  std::size_t nodes_without_key_ = 0;
  bool in_class_ = false;
};

class SpreadState final : public framework::State {
 public:
  std::size_t MemoryBytes() const override;
  bool IsCurrent(const cluster::CounterTable& counters) const;
  void Touch(cluster::Cluster& cluster, std::uint64_t step) const;
  void Refresh(const cluster::Cluster& cluster, framework::StateChanges& changes);

  // Brings the weights up to the feasible rows and reports those whose raw score moves thereby.
  void FollowFeasible(const cluster::Cluster& cluster, const framework::FeasibleSet& feasible,
                      framework::ChangedRows& changed);
  std::int64_t RawScore(const cluster::Cluster& cluster, cluster::NodeRow row) const {
    return RawScore(cluster, row, weights_);
  }

  // The same for many rows.
  void RawScores(const cluster::Cluster& cluster, std::span<const cluster::NodeRow> rows,
                 std::span<std::int64_t> scores) const;

  // Classes; pod_topology_spread_classes.cpp. A class is the domains of one or two keys with few of them, for
  // hard constraints on other keys whether the node's domain is full, and how many matching pods the node has
  // if host names count softly.
  framework::ClassUse Classes(const cluster::Topology& topology) const;
  void UseClasses(const cluster::Topology& topology);
  bool uses_classes() const { return uses_classes_; }
  framework::RowClass ClassOf(const cluster::Cluster& cluster, cluster::NodeRow row) const;
  std::optional<framework::ReasonId> JudgeClass(const cluster::Cluster& cluster,
                                                const framework::RowClass& row_class) const;
  void WeighClasses(const cluster::Cluster& cluster, std::span<const framework::ClassCount> counts);
  std::int64_t ScoreClass(const cluster::Cluster& cluster, const framework::RowClass& row_class) const;

  std::vector<HardSpread> hard;
  std::vector<SoftSpread> soft;
  bool require_all = false;

 private:
  bool HasKey(const SoftSpread& soft, const framework::RowClass& row_class) const;
  bool TakesPart(const framework::RowClass& row_class) const;
  std::int64_t RawScore(const cluster::Cluster& cluster, cluster::NodeRow row,
                        const std::vector<double>& weights) const;
  bool TakesPart(const cluster::Topology& topology, cluster::NodeRow row) const;
  void Enter(const cluster::Topology& topology, cluster::NodeRow row);
  void Leave(cluster::NodeRow row);
  void CountFeasible(const cluster::Cluster& cluster, const framework::FeasibleSet& feasible);
  void ReportMoved(const cluster::Cluster& cluster, const base::Bitset& feasible,
                   const std::vector<double>& before, framework::ChangedRows& changed) const;

  std::vector<double> weights_;  // as soft; empty before the first FollowFeasible
  base::Bitset entered_;         // rows that take part
  std::size_t participants_ = 0;
  std::uint64_t version_ = 0;  // of the cluster's change log, for labels of feasible rows
  bool uses_classes_ = false;
  ClassKeys class_keys_;
};

// The natural logarithm as Go computes it on amd64, to the last bit: scores are compared with
// kube-scheduler's.
double GoLog(double x);

}  // namespace berth::plugins
