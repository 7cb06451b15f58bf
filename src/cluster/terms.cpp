#include "cluster/terms.h"

#include <algorithm>

namespace berth::cluster {
namespace {

const api::PodAffinityTerm& TermOf(const api::PodAffinityTerm& term) { return term; }
const api::PodAffinityTerm& TermOf(const api::WeightedPodAffinityTerm& term) {
  return term.pod_affinity_term;
}
std::int32_t WeightOf(const api::PodAffinityTerm&) { return 0; }
std::int32_t WeightOf(const api::WeightedPodAffinityTerm& term) { return term.weight; }

template <class Rules>
bool AnyTerm(const std::optional<Rules>& rules) {
  return rules && (!rules->required_during_scheduling_ignored_during_execution.empty() ||
                   !rules->preferred_during_scheduling_ignored_during_execution.empty());
}

}  // namespace

bool HasTerms(const api::Affinity& affinity) {
  return AnyTerm(affinity.pod_affinity) || AnyTerm(affinity.pod_anti_affinity);
}

TermTable::TermTable(Topology& topology, MatcherTable& matchers) : topology_(topology), matchers_(matchers) {}

TermListId TermTable::InternList(const api::Affinity& affinity, std::string_view owner_namespace) {
  std::vector<TermId> ids;
  const auto add = [&](TermKind kind, const auto& terms) {
    std::vector<Parsed> parsed;
    for (const auto& term : terms) {
      auto condition = ConditionOf(TermOf(term), owner_namespace, UnknownNamespace::kHasNoLabels);
      if (!condition) return;
      parsed.push_back({std::move(*condition), WeightOf(term), TermOf(term).topology_key});
    }
    for (const Parsed& each : parsed) ids.push_back(InternTerm(kind, each));
  };
  if (affinity.pod_affinity) {
    add(TermKind::kRequiredAffinity,
        affinity.pod_affinity->required_during_scheduling_ignored_during_execution);
    add(TermKind::kPreferredAffinity,
        affinity.pod_affinity->preferred_during_scheduling_ignored_during_execution);
  }
  if (affinity.pod_anti_affinity) {
    add(TermKind::kRequiredAntiAffinity,
        affinity.pod_anti_affinity->required_during_scheduling_ignored_during_execution);
    add(TermKind::kPreferredAntiAffinity,
        affinity.pod_anti_affinity->preferred_during_scheduling_ignored_during_execution);
  }
  const TermListId list = lists_.Intern(ids);
  if (lists_.References(list) > 1) {
    for (const TermId id : ids) ReleaseTerm(id);
  }
  return list;
}

void TermTable::ReleaseList(TermListId list) {
  if (lists_.References(list) == 1) {
    for (const TermId id : lists_.Get(list)) ReleaseTerm(id);
  }
  lists_.Release(list);
}

TermId TermTable::InternTerm(TermKind kind, const Parsed& parsed) {
  const Term term{kind, parsed.weight, matchers_.Intern({&parsed.condition, 1}),
                  topology_.Acquire(parsed.topology_key)};
  const TermId id = terms_.Intern(term);
  if (terms_.References(id) > 1) {
    matchers_.Release(term.matcher);
    topology_.Release(term.key);
    return id;
  }
  if (id.index() >= carriers_.size()) carriers_.resize(id.index() + 1);
  carriers_[id.index()] = std::make_unique<DomainTally>();
  if (term.matcher.index() >= by_matcher_.size()) by_matcher_.resize(term.matcher.index() + 1);
  by_matcher_[term.matcher.index()].push_back(id);
  return id;
}

void TermTable::ReleaseTerm(TermId id) {
  const Term term = terms_.Get(id);
  if (!terms_.Release(id)) return;
  carriers_[id.index()].reset();
  std::erase(by_matcher_[term.matcher.index()], id);
  matchers_.Release(term.matcher);
  topology_.Release(term.key);
}

void TermTable::Apply(TermListId list, NodeRow row, std::int32_t delta) {
  for (const TermId id : lists_.Get(list)) {
    const DomainId domain = topology_.domain(terms_.Get(id).key, row);
    if (domain.IsValid()) carriers_[id.index()]->Add(domain, delta);
  }
}

void TermTable::AddTo(Digester& digest) const {
  for (std::size_t id = 0; id < carriers_.size(); ++id) {
    if (!carriers_[id]) continue;
    digest.Add(id);
    carriers_[id]->ForEachNonZero([&](DomainId domain, std::int32_t count) {
      digest.Add(domain.value());
      digest.AddSigned(count);
    });
  }
}

void TermTable::AcquireList(TermListId list) { lists_.Acquire(list); }

}  // namespace berth::cluster
