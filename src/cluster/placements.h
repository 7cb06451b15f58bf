#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/change_log.h"
#include "cluster/counters.h"
#include "cluster/extension.h"
#include "cluster/facts.h"
#include "cluster/ids.h"
#include "cluster/matchers.h"
#include "cluster/node_table.h"
#include "cluster/nominator.h"
#include "cluster/pod_facts.h"
#include "cluster/pod_table.h"
#include "cluster/terms.h"

namespace berth::cluster {

// The one door through which pods come to nodes and leave them, and are nominated. Whatever counts pods
// learns of it here, and here the inverse is written down while a speculation is open.
//
// 1. Every index agrees with the pods on the nodes before and after each call.
// 2. A rollback makes the state what it was, down to the order of a node's pods. The change log goes on
// instead of back:
//    the rows that were touched are logged as changed once more, so that no reader keeps what it saw in
//    between.
class Placements {
 public:
  struct Tables {
    NodeTable& nodes;
    PodTable& pods;
    PodClassTable& classes;
    PodFactory& factory;
    MatcherTable& matchers;
    CounterTable& counters;
    TermTable& terms;
    Nominator& nominator;
  };
  Placements(const Tables& tables, std::size_t change_log_capacity);

  // O(counters, tallies and terms that the pod concerns).
  void Place(PodSlot pod, NodeRow row);
  // Returns where it was.
  NodeRow Displace(PodSlot pod);
  // Takes over a reference to the name. The pod must not be nominated.
  void Nominate(PodSlot pod, NodeNameId node);
  void Unnominate(PodSlot pod);

  // Around a change of what domain sums depend on: takes the node's pods out of them, and puts them back.
  void Lift(NodeRow row) { SumDomains(row, -1); }
  void Lower(NodeRow row) { SumDomains(row, +1); }
  // Around a change of a namespace's labels: takes its pods out of the counters that look at such labels.
  void Uncount(NamespaceId namespace_) { CountNamespace(namespace_, -1); }
  void Recount(NamespaceId namespace_) { CountNamespace(namespace_, +1); }
  // Adds the pods that are there to a new counter. O(classes it may match + pods it counts).
  void CountExisting(CounterId counter);

  // The Node object of the row changed.
  void NodeChanged(NodeRow row, Facts facts);
  const base::ChangeLog<NodeRow, Facts>& change_log() const { return change_log_; }
  void AddExtension(Extension& extension) { extensions_.push_back(&extension); }
  void AddExtensionsTo(Digester& digest) const;

  bool speculating() const { return depth_ > 0; }
  // Speculations nest; each is rolled back to the mark that opening it gave.
  std::size_t Open();
  void RollBack(std::size_t mark);

 private:
  enum class Kind : std::uint8_t { kPlaced, kDisplaced, kNominated, kUnnominated };
  struct Undo {
    Kind kind;
    PodSlot pod;
    NodeRow row;      // of placements
    NodeNameId node;  // of nominations; an entry that takes one away holds its reference to the name
    std::size_t position;
  };

  NodeTable::PodUse UseOf(PodSlot pod) const;
  CounterTable::Mode mode() const {
    return speculating() ? CounterTable::Mode::kSpeculative : CounterTable::Mode::kReal;
  }
  void Count(PodSlot pod, NodeRow row, std::int32_t delta);
  void SumDomains(NodeRow row, std::int32_t delta);
  void CountNamespace(NamespaceId namespace_, std::int32_t delta);
  void Log(PodSlot pod, NodeRow row);
  void LogNomination(NodeNameId node);
  void NotifyPlaced(PodSlot pod, NodeRow row);
  void NotifyDisplaced(PodSlot pod, NodeRow row);
  void Remember(const Undo& undo);
  void Invert(const Undo& undo);

  Tables t_;
  base::ChangeLog<NodeRow, Facts> change_log_;
  std::vector<Extension*> extensions_;
  std::vector<Undo> journal_;
  std::size_t depth_ = 0;
  std::vector<MatcherId> scratch_;
};

}  // namespace berth::cluster
