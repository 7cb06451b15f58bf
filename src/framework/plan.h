#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "base/bitset.h"
#include "base/ids.h"
#include "cluster/facts.h"
#include "cluster/ids.h"
#include "cluster/topology.h"

namespace berth::framework {

// What a verdict or a raw score is a function of, beside the plan and the scope. A view re-evaluates exactly
// what this names, so naming too little is a bug that verify_views finds, and naming too much only costs
// time.
struct Reads {
  static constexpr cluster::Facts kAllFacts = ~cluster::Facts{0};

  // Of the judged node's own row.
  cluster::Facts facts = kAllFacts;
  // Anything else in the cluster, of which the plugin's State says which rows it moves.
  bool state = false;
  // Something of the pod itself that is not in the scope (its claims), or that nobody reports. Such a column
  // is never kept: it is computed at every attempt.
  bool attempt = true;
  // It is the same for all rows of one kind (RowKinds), so that one row of each may be asked for all. Of a
  // score this also says that PreScore does not look at the feasible rows. A promise: naming too much here is
  // a bug.
  bool alike = false;

  static constexpr Reads Row(cluster::Facts facts) { return {facts, false, false}; }
  static constexpr Reads RowAndState(cluster::Facts facts) { return {facts, true, false}; }
  // Of the row, and nothing that RowKinds does not tell.
  static constexpr Reads Alike(cluster::Facts facts) { return {facts, false, false, true}; }
};

// What a plugin prepares for a template: compiled selectors, amounts as integers, and memos of what it
// decided per label set or taint set (base::GenerationalMemo: sets come and go while a plan lives). Made once
// per profile and template, dropped with the template or with the table of refusals; only its own plugin
// writes to it.
//
// It must not depend on anything that can change while the template lives, other than through memos by
// versioned id.
class Plan {
 public:
  virtual ~Plan() = default;

  // False: for pods of this template the plugin's Filter (Score) would do nothing, so it is never called. The
  // same as Skip from PreFilter (PreScore), known for good.
  bool filters = true;
  bool scores = true;
  Reads filter_reads;
  Reads score_reads;
};

// What of a pod, beyond its template, a plugin's answers depend on: ids, as words. Pods of one template whose
// scopes are equal have equal verdicts and raw scores and share a view. Examples: the namespace and, per
// spread constraint, whether the pod matches itself; the terms of other pods that concern it.
class Scope {
 public:
  void Add(std::uint64_t word) { words_.push_back(word); }
  template <class Tag>
  void Add(base::Id<Tag> id) {
    Add(std::uint64_t{id.value()});
  }
  // For what may go and come back under the same id.
  template <class IdType>
  void Add(base::Versioned<IdType> id) {
    Add((std::uint64_t{id.generation} << 32) | id.id.value());
  }
  // For names whose ids may come to mean another name: the text itself, eight bytes a word.
  void AddText(std::string_view text);
  void clear() { words_.clear(); }
  std::span<const std::uint64_t> words() const { return words_; }

  bool operator==(const Scope&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Scope& s) {
    return H::combine(std::move(h), s.words_);
  }

 private:
  absl::InlinedVector<std::uint64_t, 8> words_;
};

// Rows whose verdict or score may have moved. Adding a row twice costs nothing.
class ChangedRows {
 public:
  // Starts over for a table of so many rows. Keeps its memory.
  void Reset(std::size_t row_count);
  // Makes room for more rows and keeps what was added.
  void Grow(std::size_t row_count) {
    if (row_count > seen_.size()) seen_.Resize(row_count);
  }

  void Add(cluster::NodeRow row) {
    if (all_ || seen_.Test(row.index())) return;
    seen_.Set(row.index());
    rows_.push_back(row);
  }
  // Every node of the domain.
  void AddDomain(const cluster::Topology& topology, cluster::TopologyKeyId key, cluster::DomainId domain) {
    if (all_) return;
    for (const cluster::NodeRow row : topology.nodes(key, domain)) Add(row);
  }
  void AddAll() { all_ = true; }
  void Add(const ChangedRows& others) {
    all_ = all_ || others.all_;
    for (const cluster::NodeRow row : others.rows_) Add(row);
  }

  // Gives back memory that it does not need while it is small.
  void Trim() {
    if (rows_.empty()) rows_ = std::vector<cluster::NodeRow>();
  }

  bool all() const { return all_; }
  bool empty() const { return !all_ && rows_.empty(); }
  // In the order of their addition; meaningless if all().
  std::span<const cluster::NodeRow> rows() const { return rows_; }
  std::size_t MemoryBytes() const { return seen_.size() / 8 + rows_.capacity() * sizeof(cluster::NodeRow); }

 private:
  bool all_ = false;
  base::Bitset seen_;
  std::vector<cluster::NodeRow> rows_;
};

// What a plugin derives from the cluster as a whole for one scope, as upstream does anew in every PreFilter
// and PreScore: counts per domain, the smallest of them, the terms that apply. It lives with the view and
// follows the cluster by versions. See StatefulPoint.
class State {
 public:
  virtual ~State() = default;
  // About; for the budget of views.
  virtual std::size_t MemoryBytes() const = 0;
};

// Rows moved by a refresh, apart for verdicts and for raw scores.
struct StateChanges {
  ChangedRows verdicts;
  ChangedRows scores;
};

// The rows on which a pod fits, and how they differ from those of the plugin's last PreScore with this state.
struct FeasibleSet {
  const base::Bitset& rows;
  std::size_t count = 0;
  // No difference is known: count from the beginning.
  bool rebuilt = true;
  std::span<const cluster::NodeRow> entered;
  std::span<const cluster::NodeRow> left;
};

// What attempts of one pod need to remember per plugin until it is bound: the volumes and devices chosen for
// a node.
class CycleData {
 public:
  virtual ~CycleData() = default;
};

}  // namespace berth::framework
