#include "plugins/node_term_judge.h"

namespace berth::plugins {

NodeTermJudge::NodeTermJudge(std::span<const api::NodeTerm> terms) {
  for (const api::NodeTerm& term : terms) terms_.push_back({&term, 1});
}

NodeTermJudge::NodeTermJudge(std::span<const api::WeightedNodeTerm> terms) {
  for (const api::WeightedNodeTerm& weighted : terms) terms_.push_back({&weighted.term, weighted.weight});
}

std::int64_t NodeTermJudge::Weight(const cluster::LabelTable& labels, cluster::LabelSetId set,
                                   std::string_view node_name) {
  const Judgement& judgement = per_set_.Get(labels.Version(set), [&](cluster::LabelSetId id) {
    Judgement made;
    for (const Term& term : terms_) {
      if (!term.term->MatchesLabels(labels.View(id))) continue;
      if (term.term->reads_name()) {
        made.by_name.push_back(term);
      } else {
        made.weight += term.weight;
      }
    }
    return made;
  });
  std::int64_t weight = judgement.weight;
  for (const Term& term : judgement.by_name) {
    if (term.term->MatchesName(node_name)) weight += term.weight;
  }
  return weight;
}

}  // namespace berth::plugins
