#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/affinity.h"
#include "api/field_selector.h"
#include "api/label_selector.h"
#include "api/node_selector.h"
#include "api/string_map.h"
#include "api/validation.h"
#include "base/boxed.h"
#include "base/error.h"

// Which nodes a pod, a volume or a device asks for. Compiled once, evaluated per distinct label set: only
// matchFields look at more than a node's labels, and of fields there is one, metadata.name.
//
// `labels` is anything that LookUpLabel answers for (label_selector.h).
namespace berth::api {

// One term: matchExpressions and matchFields both hold.
class NodeTerm {
 public:
  // A term with neither must not be compiled: it matches no node, and callers leave it out.
  static std::expected<NodeTerm, FieldErrors> Compile(const NodeSelectorTerm& term, const FieldPath& path);

  // The two halves: the first may be remembered per label set, the second costs a string comparison.
  template <class Labels>
  bool MatchesLabels(const Labels& labels) const {
    return labels_.Matches(labels);
  }
  // A node without a name (one that is only imagined) passes.
  bool MatchesName(std::string_view node_name) const;

  template <class Labels>
  bool Matches(std::string_view node_name, const Labels& labels) const {
    return MatchesLabels(labels) && MatchesName(node_name);
  }

  bool reads_name() const { return !fields_.matches_everything(); }
  const Selector& labels() const { return labels_; }

 private:
  Selector labels_;
  FieldSelector fields_;
};

// A NodeSelector: any of its terms matches. Without a usable term it matches no node.
class NodeMatcher {
 public:
  // Lenient, as for pods: a term that is wrong never matches, the others still can.
  static NodeMatcher Compile(const NodeSelector& selector, const FieldPath& path = {});
  // For what an administrator wrote, and for volumes and devices: any wrong term is an error.
  static base::Result<NodeMatcher> CompileStrict(const NodeSelector& selector, const FieldPath& path = {});

  template <class Labels>
  bool Matches(std::string_view node_name, const Labels& labels) const {
    for (const NodeTerm& term : terms_) {
      if (term.Matches(node_name, labels)) return true;
    }
    return false;
  }
  // The same, for those who report it: where no term matches, wrong terms are an error.
  template <class Labels>
  base::Result<bool> Match(std::string_view node_name, const Labels& labels) const {
    const bool matches = Matches(node_name, labels);
    if (!matches && error_) return std::unexpected(*error_);
    return matches;
  }

  std::span<const NodeTerm> terms() const { return terms_; }
  // What is wrong with the terms that were left out.
  const std::optional<base::Error>& error() const { return error_; }
  // False: the answer depends on a node's labels only.
  bool reads_name() const;

 private:
  std::vector<NodeTerm> terms_;
  std::optional<base::Error> error_;
};

// What a pod requires of its node: nodeSelector and required node affinity.
class RequiredNodeAffinity {
 public:
  RequiredNodeAffinity(const StringMap& node_selector, const base::Boxed<Affinity>& affinity);

  template <class Labels>
  bool Matches(std::string_view node_name, const Labels& labels) const {
    return node_selector_.Matches(labels) && (!affinity_ || affinity_->Matches(node_name, labels));
  }
  template <class Labels>
  base::Result<bool> Match(std::string_view node_name, const Labels& labels) const {
    if (!node_selector_.Matches(labels)) return false;
    if (!affinity_) return true;
    return affinity_->Match(node_name, labels);
  }

  const Selector& node_selector() const { return node_selector_; }
  const std::optional<NodeMatcher>& affinity() const { return affinity_; }
  // True: every node matches, now and after any change of labels.
  bool matches_everything() const { return node_selector_.matches_everything() && !affinity_; }
  bool reads_name() const { return affinity_ && affinity_->reads_name(); }

 private:
  Selector node_selector_;
  std::optional<NodeMatcher> affinity_;
};

struct WeightedNodeTerm {
  std::int32_t weight;
  NodeTerm term;
};

// Preferred node affinity. Terms of weight 0 and terms without conditions are left out, even if wrong; of the
// others none may be wrong.
class PreferredNodeTerms {
 public:
  static base::Result<PreferredNodeTerms> Compile(std::span<const PreferredSchedulingTerm> terms,
                                                  const FieldPath& path = {});

  // Sum of the weights of matching terms.
  template <class Labels>
  std::int64_t Score(std::string_view node_name, const Labels& labels) const {
    std::int64_t score = 0;
    for (const WeightedNodeTerm& weighted : terms_) {
      if (weighted.term.Matches(node_name, labels)) score += weighted.weight;
    }
    return score;
  }

  std::span<const WeightedNodeTerm> terms() const { return terms_; }
  bool reads_name() const;

 private:
  std::vector<WeightedNodeTerm> terms_;
};

// The only nodes that can match, by name and sorted, if every term names its nodes through metadata.name;
// nullopt if some term does not, or if there is none. An empty list: the terms contradict themselves. Terms
// that are wrong count.
std::optional<std::vector<std::string>> PinnedNodeNames(const NodeSelector& selector);

}  // namespace berth::api
