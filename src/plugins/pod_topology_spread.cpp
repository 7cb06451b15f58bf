#include "plugins/pod_topology_spread.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plugins/pod_topology_spread_state.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::Status;

// Indexed by PodTopologySpread::Reason.
constexpr framework::ReasonText kPodTopologySpreadReasons[] = {
    {Code::kUnschedulableAndUnresolvable,
     "node(s) didn't match pod topology spread constraints (missing required label)"},
    {Code::kUnschedulable, "node(s) didn't match pod topology spread constraints"},
};

constexpr cluster::Facts kSpreadFacts = cluster::kLabelsFact | cluster::kExistsFact;
constexpr cluster::CountRules kCountRules{.skip_terminating = true, .everything_is_zero = true};

bool IsByHostname(const SpreadConstraint& constraint) { return constraint.topology_key == kHostnameKey; }

}  // namespace

PodTopologySpread::PodTopologySpread(const framework::PluginSetup& setup)
    : system_defaulted_(setup.args.pod_topology_spread.defaulting == framework::SpreadDefaulting::kSystem),
      defaults_(system_defaulted_
                    ? std::vector(SystemDefaultConstraints().begin(), SystemDefaultConstraints().end())
                    : setup.args.pod_topology_spread.default_constraints),
      read_match_label_keys_(setup.features.match_label_keys_in_pod_topology_spread),
      comparison_operators_(setup.features.taint_toleration_comparison_operators) {}

std::span<const framework::ReasonText> PodTopologySpread::Reasons() const {
  return kPodTopologySpreadReasons;
}

base::Result<std::vector<SpreadConstraint>> PodTopologySpread::Compile(const api::PodSpec& spec,
                                                                       std::string_view action) const {
  const bool own = !spec.topology_spread_constraints.empty();
  // Of defaults the selector is deduced as a whole, so their matchLabelKeys have no effect.
  return CompileConstraints(own ? spec.topology_spread_constraints : defaults_, action,
                            own && read_match_label_keys_);
}

std::unique_ptr<framework::Plan> PodTopologySpread::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<SpreadPlan>();
  plan->own = !input.spec.topology_spread_constraints.empty();
  plan->require_all = plan->own || !system_defaulted_;
  const auto compile = [&](std::string_view action, std::vector<SpreadConstraint>& into, std::string& error) {
    auto compiled = Compile(input.spec, action);
    if (compiled) {
      into = std::move(*compiled);
    } else {
      error = compiled.error().message;
    }
  };
  compile(kDoNotSchedule, plan->hard, plan->hard_error);
  compile(kScheduleAnyway, plan->soft, plan->soft_error);
  const auto nodes_for = [&](const std::vector<SpreadConstraint>& constraints, bool all_keys) {
    std::vector<CountedNodes> nodes;
    nodes.reserve(constraints.size());
    for (const SpreadConstraint& constraint : constraints) {
      nodes.push_back(NodesFor(
          constraint, {.spec = input.spec,
                       .cluster = input.cluster,
                       .with_keys_of = std::span(constraints).first(all_keys ? constraints.size() : 0),
                       .comparison_operators = comparison_operators_}));
    }
    return nodes;
  };
  plan->hard_nodes = nodes_for(plan->hard, true);
  plan->soft_nodes = nodes_for(plan->soft, plan->require_all);
  const auto reads_labels = [](const SpreadConstraint& each) { return !each.match_label_keys.empty(); };
  plan->reads_labels =
      std::ranges::any_of(plan->hard, reads_labels) || std::ranges::any_of(plan->soft, reads_labels);
  plan->filters = !plan->hard.empty() || !plan->hard_error.empty();
  plan->scores = !plan->soft.empty() || !plan->soft_error.empty();
  plan->filter_reads = framework::Reads::RowAndState(kSpreadFacts);
  const bool by_hostname = std::ranges::any_of(plan->soft, IsByHostname);
  plan->score_reads = framework::Reads::RowAndState(kSpreadFacts | (by_hostname ? cluster::kPodsFact : 0));
  return plan;
}

std::span<const base::Versioned<cluster::CounterId>> PodTopologySpread::UseCounters(
    const framework::Cycle& cycle, SpreadPlan& plan) const {
  if (plan.hard.empty() && plan.soft.empty()) return {};
  cluster::Cluster& indexes = cycle.indexes();
  const cluster::Cluster& cluster = cycle.cluster();
  const cluster::CounterTable& counters = cluster.counters();
  const cluster::PodClassId pod_class = cycle.facts().pod_class;
  SpreadPlan::Counted now{.namespace_ = cluster.classes().Get(pod_class).namespace_,
                          .pod_class = {},
                          .deduced = nullptr,
                          .counters = {}};
  if (plan.reads_labels) now.pod_class = cluster.classes().Version(pod_class);
  if (!plan.own) {
    now.deduced =
        cluster.workloads().DeducedSelector(cycle.record(), cluster.classes().Get(pod_class).labels);
    if (now.deduced->matches_everything()) return {};
  }
  SpreadPlan::Counted& known = plan.counted;
  if (known.namespace_ == now.namespace_ && known.pod_class == now.pod_class &&
      known.deduced == now.deduced &&
      std::ranges::all_of(known.counters, [&](const auto& each) { return counters.IsCurrent(each); })) {
    for (const auto& counter : known.counters) indexes.Touch(counter.id, cycle.step());
    return known.counters;
  }
  for (const auto* list : {&plan.hard, &plan.soft}) {
    for (const SpreadConstraint& constraint : *list) {
      const cluster::PodCondition condition{
          .selector = plan.own ? constraint.SelectorFor(cycle.record().labels) : *now.deduced,
          .namespaces = {cycle.record().namespace_}};
      now.counters.push_back(
          counters.Version(indexes.UseCounter({&condition, 1}, kCountRules, cycle.step())));
    }
  }
  known = std::move(now);
  return known.counters;
}

void PodTopologySpread::AppendScope(framework::Cycle& cycle, framework::Scope& scope) const {
  SpreadPlan& plan = cycle.PlanOf<SpreadPlan>(*this);
  const auto counters = UseCounters(cycle, plan);
  scope.Add(std::uint64_t{counters.size()});
  const auto matchers = cycle.cluster().matchers().MatchersOf(cycle.facts().pod_class);
  for (std::size_t i = 0; i < counters.size(); ++i) {
    scope.Add(counters[i]);
    if (i >= plan.hard.size()) continue;
    const cluster::MatcherId matcher = cycle.cluster().counters().matcher(counters[i].id);
    scope.Add(std::uint64_t{std::ranges::binary_search(matchers, matcher)});
  }
}

std::unique_ptr<framework::State> PodTopologySpread::MakeState(framework::Cycle& cycle) const {
  auto state = std::make_unique<SpreadState>();
  Build(cycle, *state);
  return state;
}

void PodTopologySpread::Build(framework::Cycle& cycle, SpreadState& state) const {
  SpreadPlan& plan = cycle.PlanOf<SpreadPlan>(*this);
  const auto counters = UseCounters(cycle, plan);
  cluster::Cluster& indexes = cycle.indexes();
  const cluster::CounterTable& table = cycle.cluster().counters();
  const auto use_tally = [&](cluster::CounterId counter, const std::string& key, const CountedNodes& nodes) {
    const cluster::EligibilityId eligibility =
        nodes.name.empty() ? cluster::EligibilityId()
                           : indexes.UseEligibility(nodes.name, nodes.predicate, cycle.step());
    return table.Version(indexes.UseTally(counter, key, eligibility, cycle.step()));
  };
  const bool by_class = state.uses_classes();
  state = SpreadState();
  state.require_all = plan.require_all;
  if (by_class) state.UseClasses(cycle.cluster().topology());
  if (counters.empty()) return;
  const auto matchers = cycle.cluster().matchers().MatchersOf(cycle.facts().pod_class);
  for (std::size_t i = 0; i < plan.hard.size(); ++i) {
    const bool matches_itself = std::ranges::binary_search(matchers, table.matcher(counters[i].id));
    const auto tally = use_tally(counters[i].id, plan.hard[i].topology_key, plan.hard_nodes[i]);
    state.hard.emplace_back(plan.hard[i], matches_itself, tally, table.topology_key(tally.id));
  }
  for (std::size_t i = 0; i < plan.soft.size(); ++i) {
    const SpreadConstraint& constraint = plan.soft[i];
    const auto counter = counters[plan.hard.size() + i];
    // Host names are counted on the node; their tally only keeps the column of the key.
    const bool by_hostname = IsByHostname(constraint);
    const auto tally =
        use_tally(counter.id, constraint.topology_key, by_hostname ? CountedNodes() : plan.soft_nodes[i]);
    state.soft.emplace_back(SoftSpread::Rules{.max_skew = constraint.max_skew,
                                              .is_hostname = by_hostname,
                                              .missing_is_empty = !plan.require_all},
                            counter, tally, table.topology_key(tally.id));
  }
  if (by_class) state.UseClasses(cycle.cluster().topology());
}

void PodTopologySpread::Refresh(framework::Cycle& cycle, framework::State& state,
                                framework::StateChanges& changes) const {
  auto& mine = static_cast<SpreadState&>(state);
  if (!mine.IsCurrent(cycle.cluster().counters())) {
    Build(cycle, mine);
    changes.verdicts.AddAll();
    changes.scores.AddAll();
  }
  mine.Touch(cycle.indexes(), cycle.step());
  mine.Refresh(cycle.cluster(), changes);
}

framework::PreFilterResult PodTopologySpread::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred()) return {Status::Skip()};
  const SpreadPlan& plan = cycle.PlanOf<SpreadPlan>(*this);
  if (!plan.hard_error.empty()) {
    return {Status::Error("get constraints from pod: obtaining pod's hard topology spread constraints: " +
                          plan.hard_error)};
  }
  if (cycle.StateOf<SpreadState>(*this).hard.empty()) return {Status::Skip()};
  return {};
}

void PodTopologySpread::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.resize_deferred()) return;
  const SpreadState& state = cycle.StateOf<SpreadState>(*this);
  const cluster::Cluster& cluster = cycle.cluster();
  const auto judge = [&](cluster::NodeRow row) {
    for (const HardSpread& constraint : state.hard) {
      const cluster::DomainId domain = cluster.topology().domain(constraint.key(), row);
      if (!domain.IsValid()) return nodes.Fixed(kMissingLabel);
      if (constraint.IsFull(cluster.counters(), domain)) return nodes.Fixed(kSkew);
    }
    return framework::kAccepted;
  };
  if (!nodes.is_whole()) {
    nodes.Judge(judge);
    return;
  }
  std::vector<DomainFlags> refused;
  refused.reserve(state.hard.size());
  for (const HardSpread& constraint : state.hard) refused.push_back(constraint.FullDomains(cluster));
  nodes.JudgeSuspects([&](std::size_t first, std::size_t count) { return AmongAny(refused, first, count); },
                      judge);
}

Status PodTopologySpread::CheckSoft(const framework::Cycle& cycle) const {
  const SpreadPlan& plan = cycle.PlanOf<SpreadPlan>(*this);
  if (!plan.soft_error.empty()) {
    return Status::Error("calculating preScoreState: obtaining pod's soft topology spread constraints: " +
                         plan.soft_error);
  }
  return cycle.StateOf<SpreadState>(*this).soft.empty() ? Status::Skip() : Status();
}

Status PodTopologySpread::PreScore(framework::Cycle& cycle, const framework::FeasibleSet& feasible,
                                   framework::ChangedRows& changed) const {
  if (Status status = CheckSoft(cycle); !status.IsSuccess()) return status;
  cycle.StateOf<SpreadState>(*this).FollowFeasible(cycle.cluster(), feasible, changed);
  return {};
}

Status PodTopologySpread::Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                                std::span<std::int64_t> scores) const {
  const SpreadState& state = cycle.StateOf<SpreadState>(*this);
  state.RawScores(cycle.cluster(), rows, scores);
  return {};
}

void PodTopologySpread::Normalize(const framework::Extent& extent, std::span<std::int64_t> scores) const {
  const std::int64_t max = std::max<std::int64_t>(extent.max, 0);
  if (max == 0) {
    std::ranges::fill(scores, framework::kScoreMax);
    return;
  }
  const auto normalized = [&](std::int64_t score) {
    return framework::kScoreMax * (max + extent.min - score) / max;
  };
  // A zone or a few pods more or less: there are few scores, and a division takes longer than to look one up.
  struct Known {
    std::int64_t raw = 0;
    std::int64_t normalized = 0;
  };
  std::array<Known, 16> known;
  known.fill({extent.min, normalized(extent.min)});
  for (std::int64_t& score : scores) {
    Known& entry = known[static_cast<std::uint64_t>(score) % known.size()];
    if (entry.raw != score) entry = {score, normalized(score)};
    score = entry.normalized;
  }
}

bool PodTopologySpread::Sign(const framework::WaitingPod& pod, framework::Signature&) const {
  return pod.record().spec->spec.topology_spread_constraints.empty() && defaults_.empty();
}

base::Result<std::vector<SpreadConstraint>> PodTopologySpread::HardConstraintsOf(
    const framework::HintInput& input) const {
  const api::PodRecord& pod = input.record();
  auto compiled = Compile(pod.spec->spec, kDoNotSchedule);
  if (!compiled) {
    return base::Fail("obtaining pod's hard topology spread constraints: " + compiled.error().message);
  }
  if (!pod.spec->spec.topology_spread_constraints.empty()) {
    for (SpreadConstraint& constraint : *compiled) constraint.selector = constraint.SelectorFor(pod.labels);
    return compiled;
  }
  if (compiled->empty()) return compiled;
  const cluster::PodClassId pod_class = input.cluster.pods().facts(input.pod).pod_class;
  const auto deduced =
      input.cluster.workloads().DeducedSelector(pod, input.cluster.classes().Get(pod_class).labels);
  if (deduced->matches_everything()) return std::vector<SpreadConstraint>();
  for (SpreadConstraint& constraint : *compiled) constraint.selector = *deduced;
  return compiled;
}

}  // namespace berth::plugins
