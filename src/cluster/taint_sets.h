#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "api/taints.h"
#include "base/interner.h"
#include "cluster/ids.h"

namespace berth::cluster {

// The distinct taint lists of nodes. When a taint was added is no part of it: no decision reads that.
class TaintSetTable {
 public:
  TaintSetId Intern(std::span<const api::Taint> taints);
  void Release(TaintSetId set);

  std::span<const api::Taint> Taints(TaintSetId set) const { return sets_.Get(set).taints; }

  base::Versioned<TaintSetId> Version(TaintSetId set) const { return sets_.Version(set); }
  bool IsCurrent(base::Versioned<TaintSetId> set) const { return sets_.IsCurrent(set); }
  std::size_t size() const { return sets_.size(); }
  bool empty() const { return sets_.empty(); }

 private:
  struct TaintSet {
    explicit TaintSet(std::span<const api::Taint> from);
    std::vector<api::Taint> taints;
  };
  struct Hash {
    std::size_t operator()(std::span<const api::Taint> taints) const;
  };
  struct Eq {
    bool operator()(const TaintSet& set, std::span<const api::Taint> taints) const;
  };

  base::InternTable<TaintSetId, TaintSet, Hash, Eq> sets_;
};

}  // namespace berth::cluster
