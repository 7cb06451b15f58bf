#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "api/affinity.h"
#include "api/label_selector.h"
#include "base/error.h"
#include "base/interner.h"
#include "cluster/ids.h"
#include "cluster/pod_classes.h"

namespace berth::cluster {

// What a namespace selector says about a namespace that is not known: the terms of an incoming pod are
// resolved to the names of known namespaces, the terms of pods that run take such a namespace for one without
// labels.
enum class UnknownNamespace : std::uint8_t { kNeverSelected, kHasNoLabels };

// One condition on a pod: (its namespace is listed, or its namespace's labels are selected) and its labels
// are selected.
struct PodCondition {
  api::Selector selector;
  std::vector<std::string> namespaces;
  api::Selector namespace_selector = api::Selector::Nothing();
  UnknownNamespace unknown = UnknownNamespace::kNeverSelected;
};

// A condition of a pod's (anti-)affinity term; errors are those of the selectors. Without namespaces and
// namespace selector a term speaks of its owner's namespace.
base::Result<PodCondition> ConditionOf(const api::PodAffinityTerm& term, std::string_view owner_namespace,
                                       UnknownNamespace unknown);

// The distinct conjunctions of conditions that counters and terms use, and for each class of pods which of
// them it meets.
//
// A matcher is listed under probes that every pod it matches has, so finding the matchers of a class costs
// O(labels + candidates). The answer is remembered per class until a matcher comes or goes or a namespace
// changes.
class MatcherTable {
 public:
  MatcherTable(LabelTable& labels, NamespaceTable& namespaces, PodClassTable& classes);

  // Pods meet all conditions. With a reference for the caller.
  MatcherId Intern(std::span<const PodCondition> conditions);
  void Release(MatcherId id);

  bool Matches(MatcherId id, const PodClass& pod_class) const;
  // Ascending. Valid until the next change of matchers or namespaces, or the next call.
  std::span<const MatcherId> MatchersOf(PodClassId id) const;
  // The classes of pods that match, each once.
  std::vector<PodClassId> ClassesOf(MatcherId id) const;
  // Every label set and namespace that is in scope matches: the selector of a single condition is empty.
  bool SelectsEverything(MatcherId id) const;
  bool ReadsNamespaceLabels(MatcherId id) const;

  // A namespace became known or unknown, or its labels changed.
  void NamespaceChanged() { ++version_; }
  // The class is gone; its id may come back with another one.
  void Forget(PodClassId id);
  // Grows whenever MatchersOf may answer differently.
  std::uint64_t version() const { return version_; }
  bool empty() const { return matchers_.empty() && by_probe_.empty(); }

 private:
  struct Condition {
    api::Selector selector;
    std::vector<NamespaceId> namespaces;  // ascending, each once
    api::Selector namespace_selector;
    UnknownNamespace unknown;

    bool operator==(const Condition&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Condition& c) {
      return H::combine(std::move(h), c.selector, c.namespaces, c.namespace_selector, c.unknown);
    }
  };
  using Conditions = std::vector<Condition>;
  struct Answer {
    std::uint64_t version = 0;
    std::vector<MatcherId> matchers;
  };

  bool InScope(const Condition& condition, NamespaceId namespace_) const;
  bool Meets(const Condition& condition, const PodClass& pod_class) const;
  // The condition with the most telling requirement; null if none can be met.
  static const Condition* Narrowest(const Conditions& conditions);
  std::vector<Probe> ProbesOf(const Conditions& conditions);
  void Collect(const Probe& probe, const PodClass& pod_class, std::vector<MatcherId>& found) const;

  LabelTable& labels_;
  NamespaceTable& namespaces_;
  PodClassTable& classes_;
  base::InternTable<MatcherId, Conditions> matchers_;
  std::vector<std::vector<Probe>> probes_;  // by MatcherId; each holds references to its parts
  absl::flat_hash_map<Probe, std::vector<MatcherId>> by_probe_;
  std::size_t key_probes_ = 0;  // how many lists are under a key without a value
  std::uint64_t version_ = 1;
  mutable std::vector<Answer> answers_;  // by PodClassId
};

}  // namespace berth::cluster
