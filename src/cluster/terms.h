#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/affinity.h"
#include "base/interner.h"
#include "cluster/digest.h"
#include "cluster/domain_tally.h"
#include "cluster/ids.h"
#include "cluster/matchers.h"
#include "cluster/topology.h"

namespace berth::cluster {

enum class TermKind : std::uint8_t {
  kRequiredAffinity,
  kRequiredAntiAffinity,
  kPreferredAffinity,
  kPreferredAntiAffinity
};

// An affinity or anti-affinity term that some pod carries, seen from the pods that it may concern.
struct Term {
  TermKind kind = TermKind::kRequiredAffinity;
  std::int32_t weight = 0;  // of preferred terms
  MatcherId matcher;
  TopologyKeyId key;

  bool operator==(const Term&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Term& t) {
    return H::combine(std::move(h), t.kind, t.weight, t.matcher, t.key);
  }
};

// Whether a pod with this affinity carries any term.
bool HasTerms(const api::Affinity& affinity);

// The distinct terms of the pods in the table, and how many pods that carry each are in every domain of its
// key. A pod on a node without the key counts nowhere.
//
// A kind of terms of which one does not parse is left out for that pod: upstream ignores such errors for
// existing pods.
class TermTable {
 public:
  TermTable(Topology& topology, MatcherTable& matchers);

  const Term& Get(TermId id) const { return terms_.Get(id); }
  const DomainTally& carriers(TermId id) const { return *carriers_[id.index()]; }
  base::Versioned<TermId> Version(TermId id) const { return terms_.Version(id); }
  bool IsCurrent(base::Versioned<TermId> id) const { return terms_.IsCurrent(id); }
  // As often as the pod names them, in the order of the spec within a kind.
  std::span<const TermId> Terms(TermListId list) const { return lists_.Get(list); }
  std::span<const TermId> TermsOf(MatcherId matcher) const {
    return matcher.index() < by_matcher_.size() ? std::span<const TermId>(by_matcher_[matcher.index()])
                                                : std::span<const TermId>();
  }
  // Calls visit(id, term) for every term of some pod on a labelled node that concerns a pod of this class. In
  // the order of matchers, then of terms.
  template <class F>
  void ForEachConcerning(PodClassId pod_class, F&& visit) const {
    for (const MatcherId matcher : matchers_.MatchersOf(pod_class)) {
      for (const TermId id : TermsOf(matcher)) {
        if (carriers(id).non_zero() > 0) visit(id, Get(id));
      }
    }
  }

  // For Cluster.
  // ------------------------------------------------------------------------------------------------------
  // With a reference for the caller.
  TermListId InternList(const api::Affinity& affinity, std::string_view owner_namespace);
  void AcquireList(TermListId list);
  void ReleaseList(TermListId list);
  // A pod with these terms came to a node or left it, or is lifted around a change of the node.
  void Apply(TermListId list, NodeRow row, std::int32_t delta);

  void AddTo(Digester& digest) const;
  bool empty() const { return terms_.empty() && lists_.empty(); }

 private:
  struct Parsed {
    PodCondition condition;
    std::int32_t weight;
    std::string_view topology_key;
  };

  TermId InternTerm(TermKind kind, const Parsed& parsed);
  void ReleaseTerm(TermId id);

  Topology& topology_;
  MatcherTable& matchers_;
  base::InternTable<TermId, Term> terms_;
  base::InternTable<TermListId, std::vector<TermId>> lists_;
  std::vector<std::unique_ptr<DomainTally>> carriers_;  // by TermId
  std::vector<std::vector<TermId>> by_matcher_;
};

}  // namespace berth::cluster
