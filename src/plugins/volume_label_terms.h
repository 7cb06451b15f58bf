#pragma once

#include <optional>
#include <vector>

#include "api/node_matching.h"
#include "cluster/labels.h"

namespace berth::plugins {

// Node terms in the ids of the cluster's labels: good until an event is applied.
class NodeLabelTerms {
 public:
  NodeLabelTerms() = default;  // every node matches
  NodeLabelTerms(const api::NodeMatcher& matcher, const cluster::LabelTable& labels);

  bool Matches(const cluster::LabelTable& labels, cluster::LabelSetId set) const;
  bool MatchesEverything() const { return everything_; }

 private:
  struct Condition {
    cluster::LabelKeyId key;  // invalid: nothing has such a label
    bool is_list = false;     // one of these values
    std::vector<cluster::LabelValueId> values;
    std::optional<api::Requirement> other;
  };

  bool everything_ = true;
  std::vector<std::vector<Condition>> terms_;
};

}  // namespace berth::plugins
