#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "framework/plan.h"
#include "framework/row_classes.h"
#include "plugins/class_keys.h"
#include "plugins/domain_flags.h"
#include "plugins/inter_pod_affinity_terms.h"

// What InterPodAffinity keeps: per template, and per view.
namespace berth::plugins {

struct AffinityPlan final : framework::Plan {
  OwnTerms terms;
  // What the terms count, for pods of the namespace seen last: all required affinity terms together if there
  // are any, then each required anti-affinity term, then each preferred one. While these are current, their
  // matchers hold the id of the namespace, so it still means the same one.
  cluster::NamespaceId counted_namespace;
  std::vector<base::Versioned<cluster::CounterId>> counters;
};

// Something that is counted per domain of a topology key: the pods that match a term of ours, or the pods
// that carry a term which concerns us.
struct DomainSource {
  base::Versioned<cluster::TallyId> tally;
  cluster::TermId term;  // of the two, one is valid
  cluster::TopologyKeyId key;
  cluster::TallyFollower follower = {};

  static DomainSource Counting(const cluster::Cluster& cluster, cluster::TallyId tally);
  static DomainSource Carrying(const cluster::Cluster& cluster, cluster::TermId term);
  const cluster::DomainTally& Get(const cluster::Cluster& cluster) const;
};

// The domains in which any of some sources has pods.
//
// Invariant: present(key)[domain] is the number of sources of that key that had pods there when last
// refreshed.
class DomainPresence {
 public:
  void Add(DomainSource source);
  // Reports the nodes of domains that came or went, unless classes tell their key.
  void Refresh(const cluster::Cluster& cluster, framework::ChangedRows& changed, const ClassKeys& told);

  // There are sources, with or without pods.
  bool HasSources() const { return !sources_.empty(); }
  // No domain has any.
  bool empty() const { return present_domains_ == 0; }
  // By keys that are not told by class; without classes, by all.
  bool Contains(const cluster::Topology& topology, cluster::NodeRow row, const ClassKeys& told) const;
  // By the others.
  bool Contains(const ClassKeys& told, const framework::RowClass& row_class) const;
  // By all keys: adds the domains of each.
  void AddFlags(const cluster::Topology& topology, std::vector<DomainFlags>& flags) const;
  std::span<const DomainSource> sources() const { return sources_; }
  std::size_t MemoryBytes() const;

 private:
  struct Key {
    cluster::TopologyKeyId key;
    std::vector<std::uint32_t> sources_in;  // by DomainId

    bool Has(cluster::DomainId domain) const {
      return domain.IsValid() && domain.index() < sources_in.size() && sources_in[domain.index()] > 0;
    }
  };
  std::vector<DomainSource> sources_;
  std::vector<std::size_t> key_of_;  // by source: index in keys_
  std::vector<Key> keys_;
  std::size_t present_domains_ = 0;
};

// Per domain the sum of weight times count over some sources.
class DomainSums {
 public:
  void Add(DomainSource source, std::int64_t weight);
  // Reports the nodes of domains whose sum may have moved, unless classes tell their key.
  void Refresh(const cluster::Cluster& cluster, framework::ChangedRows& changed, const ClassKeys& told);

  // Some source has a pod on a labelled node, even if sums are zero.
  bool AnyPods(const cluster::Cluster& cluster) const;
  // Over keys that are not told by class, and over the others.
  std::int64_t Sum(const cluster::Topology& topology, cluster::NodeRow row, const ClassKeys& told) const;
  std::int64_t Sum(const ClassKeys& told, const framework::RowClass& row_class) const;
  // Over all keys, for many rows.
  void Sums(const cluster::Topology& topology, std::span<const cluster::NodeRow> rows,
            std::span<std::int64_t> sums) const;
  std::span<const DomainSource> sources() const { return sources_; }
  std::size_t MemoryBytes() const;

 private:
  struct Key {
    cluster::TopologyKeyId key;
    std::vector<std::int64_t> sums;  // by DomainId

    std::int64_t At(cluster::DomainId domain) const {
      return domain.IsValid() && domain.index() < sums.size() ? sums[domain.index()] : 0;
    }
  };
  std::vector<DomainSource> sources_;
  std::vector<std::int64_t> weights_;  // by source
  std::vector<std::size_t> key_of_;
  std::vector<Key> keys_;
};

inline constexpr std::string_view kHostname = "kubernetes.io/hostname";

// With the gate InterPodAffinityHostnameFastPath: terms by host name are judged by the pods of the node
// itself, and are in none of the sources.
struct HostTerms {
  base::Versioned<cluster::CounterId> affinity;  // invalid: required affinity is not by host name alone
  std::vector<base::Versioned<cluster::CounterId>> anti_affinity;  // our own
  std::vector<cluster::TermId> existing;                           // those of pods that run; ascending
};

class AffinityState final : public framework::State {
 public:
  std::size_t MemoryBytes() const override;
  // Nothing that this follows was collected meanwhile.
  bool IsCurrent(const cluster::CounterTable& counters) const;
  void Touch(cluster::Cluster& cluster, std::uint64_t step) const;
  void Refresh(const cluster::Cluster& cluster, framework::StateChanges& changes);

  // A node that meets required affinity: it has every key, and a matching pod in each domain or none at all.
  bool MeetsAffinity(const cluster::Cluster& cluster, cluster::NodeRow row) const;
  bool HasAntiAffinityHere(const cluster::Cluster& cluster, cluster::NodeRow row) const;
  bool IsRefusedByPodsHere(const cluster::Cluster& cluster, cluster::NodeRow row) const;
  // Rows in a domain with any of these flags are refused, and no others. False: this cannot be told by
  // domain.
  bool RefusedDomains(const cluster::Cluster& cluster, std::vector<DomainFlags>& flags) const;

  // Classes; inter_pod_affinity_classes.cpp. A class is the domains of one or two keys with few of them, what
  // the terms by other keys say of the node, and what they add to its score.
  framework::ClassUse Classes(const cluster::Topology& topology) const;
  void UseClasses(const cluster::Topology& topology);
  bool uses_classes() const { return uses_classes_; }
  framework::RowClass ClassOf(const cluster::Cluster& cluster, cluster::NodeRow row) const;
  std::optional<framework::ReasonId> JudgeClass(const cluster::Cluster& cluster,
                                                const framework::RowClass& row_class) const;
  std::int64_t ScoreClass(const framework::RowClass& row_class) const {
    return sums.Sum(class_keys_, row_class) + row_class.value;
  }

  std::vector<DomainSource> affinity;  // one per key, in the order of the terms
  bool matches_itself = false;
  DomainPresence anti_affinity;
  DomainPresence existing_anti_affinity;
  DomainSums sums;
  HostTerms host;
  bool score_skipped = true;  // by the last PreScore

 private:
  bool HasHostAntiAffinity(const cluster::Cluster& cluster, cluster::NodeRow row) const;
  bool IsRefusedOnHost(const cluster::Cluster& cluster, cluster::NodeRow row) const;
  template <class F>
  void ForEachSource(F&& visit) const;

  bool first_of_group_ = false;  // no pod that meets required affinity is on a labelled node
  bool uses_classes_ = false;
  ClassKeys class_keys_;
};

// The node has the label of host names.
bool HasHostname(const cluster::Cluster& cluster, cluster::NodeRow row);

}  // namespace berth::plugins
