#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/node_matching.h"
#include "base/ids.h"
#include "base/memo.h"
#include "cluster/labels.h"

namespace berth::plugins {

// Which of a list of node terms a node meets, decided per label set: thousands of nodes share a few, and only
// a term that names nodes (matchFields) has to look at the node itself.
//
// Terms have weights; a list that is only asked whether any term matches gives each the weight 1. Holds views
// of the terms, which the owner keeps. Belongs into a plan: label sets may come and go while it lives.
class NodeTermJudge {
 public:
  NodeTermJudge() = default;
  explicit NodeTermJudge(std::span<const api::NodeTerm> terms);
  explicit NodeTermJudge(std::span<const api::WeightedNodeTerm> terms);

  // The sum of the weights of the terms that the node meets.
  std::int64_t Weight(const cluster::LabelTable& labels, cluster::LabelSetId set, std::string_view node_name);
  bool MatchesAny(const cluster::LabelTable& labels, cluster::LabelSetId set, std::string_view node_name) {
    return Weight(labels, set, node_name) != 0;
  }

 private:
  struct Term {
    const api::NodeTerm* term;
    std::int64_t weight;
  };
  struct Judgement {
    std::int64_t weight = 0;    // of terms that the labels alone decide
    std::vector<Term> by_name;  // met by the labels; the node's name decides
  };

  std::vector<Term> terms_;
  base::GenerationalMemo<cluster::LabelSetId, Judgement> per_set_;
};

}  // namespace berth::plugins
