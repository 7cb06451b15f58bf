#include "plugins/inter_pod_affinity.h"

#include <algorithm>
#include <string>
#include <utility>

#include "plugins/inter_pod_affinity_state.h"
#include "plugins/pod_signatures.h"

namespace berth::plugins {
namespace {

using cluster::TermKind;
using framework::Code;
using framework::Status;

// Indexed by InterPodAffinity::Reason.
constexpr framework::ReasonText kInterPodAffinityReasons[] = {
    {Code::kUnschedulableAndUnresolvable, "node(s) didn't match pod affinity rules"},
    {Code::kUnschedulable, "node(s) didn't match pod anti-affinity rules"},
    {Code::kUnschedulable, "node(s) didn't satisfy existing pods anti-affinity rules"},
};

constexpr cluster::Facts kDomainFacts = cluster::kLabelsFact | cluster::kExistsFact;

bool AllByHostname(std::span<const OwnTerm> terms) {
  return std::ranges::all_of(terms, [](const OwnTerm& term) { return term.topology_key == kHostname; });
}

}  // namespace

std::span<const framework::ReasonText> InterPodAffinity::Reasons() const { return kInterPodAffinityReasons; }

std::unique_ptr<framework::Plan> InterPodAffinity::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<AffinityPlan>();
  plan->terms = CompileOwnTerms(input.spec.affinity);
  // Terms of others may concern any pod, so only scoring can be known to have nothing to do.
  plan->scores = !ignore_preferred_ || !plan->terms.preferred.empty() || !plan->terms.error.empty();
  plan->filter_reads =
      framework::Reads::RowAndState(kDomainFacts | (hostname_fast_path_ ? cluster::kPodsFact : 0));
  plan->score_reads = framework::Reads::RowAndState(kDomainFacts);
  return plan;
}

std::int64_t InterPodAffinity::WeightOf(const cluster::Term& term) const {
  switch (term.kind) {
    case TermKind::kRequiredAffinity:
      return hard_weight_;
    case TermKind::kPreferredAffinity:
      return term.weight;
    case TermKind::kPreferredAntiAffinity:
      return -std::int64_t{term.weight};
    case TermKind::kRequiredAntiAffinity:
      break;
  }
  return 0;
}

template <class F>
void InterPodAffinity::ForEachConcerning(const framework::Cycle& cycle, const AffinityPlan& plan,
                                         F&& visit) const {
  const cluster::Cluster& cluster = cycle.cluster();
  for (const cluster::MatcherId matcher : cluster.matchers().MatchersOf(cycle.facts().pod_class)) {
    for (const cluster::TermId id : cluster.terms().TermsOf(matcher)) {
      const cluster::Term& term = cluster.terms().Get(id);
      if (term.kind == TermKind::kRequiredAntiAffinity || (plan.scores && WeightOf(term) != 0)) {
        visit(id, term);
      }
    }
  }
}

std::span<const base::Versioned<cluster::CounterId>> InterPodAffinity::UseCounters(
    const framework::Cycle& cycle, AffinityPlan& plan) const {
  const OwnTerms& terms = plan.terms;
  if (!terms.HasRequired() && terms.preferred.empty()) return {};
  cluster::Cluster& indexes = cycle.indexes();
  const cluster::CounterTable& counters = cycle.cluster().counters();
  const cluster::NamespaceId of = cycle.cluster().classes().Get(cycle.facts().pod_class).namespace_;
  if (plan.counted_namespace == of &&
      std::ranges::all_of(plan.counters, [&](const auto& counter) { return counters.IsCurrent(counter); })) {
    for (const auto& counter : plan.counters) indexes.Touch(counter.id, cycle.step());
    return plan.counters;
  }
  plan.counted_namespace = of;
  plan.counters.clear();
  const std::string& name = cycle.record().namespace_;
  const auto use = [&](std::span<const cluster::PodCondition> conditions) {
    plan.counters.push_back(counters.Version(indexes.UseCounter(conditions, {}, cycle.step())));
  };
  std::vector<cluster::PodCondition> all;
  all.reserve(terms.required_affinity.size());
  for (const OwnTerm& term : terms.required_affinity) all.push_back(term.ConditionIn(name));
  if (!all.empty()) use(all);
  for (const auto* list : {&terms.required_anti_affinity, &terms.preferred}) {
    for (const OwnTerm& term : *list) {
      const cluster::PodCondition condition = term.ConditionIn(name);
      use({&condition, 1});
    }
  }
  return plan.counters;
}

bool InterPodAffinity::MatchesItself(const framework::Cycle& cycle, const AffinityPlan& plan) const {
  if (plan.terms.required_affinity.empty()) return false;
  const cluster::MatcherId matcher = cycle.cluster().counters().matcher(plan.counters.front().id);
  return std::ranges::binary_search(cycle.cluster().matchers().MatchersOf(cycle.facts().pod_class), matcher);
}

void InterPodAffinity::AppendScope(framework::Cycle& cycle, framework::Scope& scope) const {
  AffinityPlan& plan = cycle.PlanOf<AffinityPlan>(*this);
  for (const auto& counter : UseCounters(cycle, plan)) scope.Add(counter);
  scope.Add(std::uint64_t{MatchesItself(cycle, plan)});
  // How many follow is not known before, so the end is marked by a word that is no id.
  ForEachConcerning(cycle, plan, [&](cluster::TermId id, const cluster::Term&) {
    scope.Add(cycle.cluster().terms().Version(id));
  });
  scope.Add(~std::uint64_t{0});
}

std::unique_ptr<framework::State> InterPodAffinity::MakeState(framework::Cycle& cycle) const {
  auto state = std::make_unique<AffinityState>();
  Build(cycle, *state);
  return state;
}

void InterPodAffinity::Build(framework::Cycle& cycle, AffinityState& state) const {
  AffinityPlan& plan = cycle.PlanOf<AffinityPlan>(*this);
  cluster::Cluster& indexes = cycle.indexes();
  const cluster::Cluster& cluster = cycle.cluster();
  const auto counters = UseCounters(cycle, plan);
  auto counter = counters.begin();
  const auto source = [&](const std::string& key) {
    return DomainSource::Counting(cluster, indexes.UseTally(counter->id, key, {}, cycle.step()));
  };
  const bool by_class = state.uses_classes();
  state = AffinityState();
  state.matches_itself = MatchesItself(cycle, plan);
  if (!plan.terms.required_affinity.empty()) {
    if (hostname_fast_path_ && AllByHostname(plan.terms.required_affinity)) {
      state.host.affinity = *counter;
    } else {
      for (const OwnTerm& term : plan.terms.required_affinity) {
        DomainSource made = source(term.topology_key);
        const auto same_key = std::ranges::find(state.affinity, made.key, &DomainSource::key);
        if (same_key == state.affinity.end()) state.affinity.push_back(std::move(made));
      }
    }
    ++counter;
  }
  for (const OwnTerm& term : plan.terms.required_anti_affinity) {
    if (hostname_fast_path_ && term.topology_key == kHostname) {
      state.host.anti_affinity.push_back(*counter);
    } else {
      state.anti_affinity.Add(source(term.topology_key));
    }
    ++counter;
  }
  for (const OwnTerm& term : plan.terms.preferred) {
    if (term.weight != 0) state.sums.Add(source(term.topology_key), term.weight);
    ++counter;
  }
  ForEachConcerning(cycle, plan, [&](cluster::TermId id, const cluster::Term& term) {
    if (term.kind != TermKind::kRequiredAntiAffinity) {
      state.sums.Add(DomainSource::Carrying(cluster, id), WeightOf(term));
    } else if (hostname_fast_path_ && cluster.topology().KeyText(term.key) == kHostname) {
      state.host.existing.push_back(id);
    } else {
      state.existing_anti_affinity.Add(DomainSource::Carrying(cluster, id));
    }
  });
  std::ranges::sort(state.host.existing);
  if (by_class) state.UseClasses(cluster.topology());
}

void InterPodAffinity::Refresh(framework::Cycle& cycle, framework::State& state,
                               framework::StateChanges& changes) const {
  auto& mine = static_cast<AffinityState&>(state);
  if (!mine.IsCurrent(cycle.cluster().counters())) {
    Build(cycle, mine);
    changes.verdicts.AddAll();
    changes.scores.AddAll();
  }
  mine.Touch(cycle.indexes(), cycle.step());
  mine.Refresh(cycle.cluster(), changes);
}

framework::PreFilterResult InterPodAffinity::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred()) return {Status::Skip()};
  const AffinityPlan& plan = cycle.PlanOf<AffinityPlan>(*this);
  if (!plan.terms.error.empty()) return {Status::Unresolvable("parsing pod: " + plan.terms.error)};
  const AffinityState& state = cycle.StateOf<AffinityState>(*this);
  if (!plan.terms.HasRequired() && state.existing_anti_affinity.empty() && state.host.existing.empty()) {
    return {Status::Skip()};
  }
  return {};
}

void InterPodAffinity::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.resize_deferred()) return;
  const AffinityState& state = cycle.StateOf<AffinityState>(*this);
  const cluster::Cluster& cluster = cycle.cluster();
  const bool has_affinity = !cycle.PlanOf<AffinityPlan>(*this).terms.required_affinity.empty();
  const auto judge = [&](cluster::NodeRow row) {
    if (has_affinity && !state.MeetsAffinity(cluster, row)) return nodes.Fixed(kAffinity);
    if (state.HasAntiAffinityHere(cluster, row)) return nodes.Fixed(kAntiAffinity);
    if (state.IsRefusedByPodsHere(cluster, row)) return nodes.Fixed(kExistingAntiAffinity);
    return framework::kAccepted;
  };
  std::vector<DomainFlags> refused;
  if (!nodes.is_whole() || !state.RefusedDomains(cluster, refused)) {
    nodes.Judge(judge);
    return;
  }
  nodes.JudgeSuspects([&](std::size_t first, std::size_t count) { return AmongAny(refused, first, count); },
                      judge);
}

Status InterPodAffinity::CheckScore(const framework::Cycle& cycle) const {
  const AffinityPlan& plan = cycle.PlanOf<AffinityPlan>(*this);
  if (!plan.terms.error.empty()) return Status::Error("failed to parse pod: " + plan.terms.error);
  const AffinityState& state = cycle.StateOf<AffinityState>(*this);
  return !plan.scores || !state.sums.AnyPods(cycle.cluster()) ? Status::Skip() : Status();
}

Status InterPodAffinity::PreScore(framework::Cycle& cycle, const framework::FeasibleSet&,
                                  framework::ChangedRows& changed) const {
  Status status = CheckScore(cycle);
  AffinityState& state = cycle.StateOf<AffinityState>(*this);
  if (std::exchange(state.score_skipped, status.IsSkip()) && status.IsSuccess()) changed.AddAll();
  return status;
}

Status InterPodAffinity::Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                               std::span<std::int64_t> scores) const {
  const AffinityState& state = cycle.StateOf<AffinityState>(*this);
  state.sums.Sums(cycle.cluster().topology(), rows, scores);
  return {};
}

void InterPodAffinity::Normalize(const framework::Extent& extent, std::span<std::int64_t> scores) const {
  const std::int64_t width = extent.max - extent.min;
  for (std::int64_t& score : scores) {
    // In this order: the share is rounded before it is multiplied, which shows for 29 of 100.
    score = width == 0 ? 0
                       : static_cast<std::int64_t>(
                             static_cast<double>(framework::kScoreMax) *
                             (static_cast<double>(score - extent.min) / static_cast<double>(width)));
  }
}

bool InterPodAffinity::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  const auto& affinity = pod.record().spec->spec.affinity;
  if (affinity && (affinity->pod_affinity || affinity->pod_anti_affinity)) return false;
  std::string labels;
  for (const auto& [key, value] : pod.record().labels) {
    AppendField(labels, key);
    AppendField(labels, value);
  }
  signature.Add("v1.Pod.Labels", std::move(labels));
  return true;
}

}  // namespace berth::plugins
