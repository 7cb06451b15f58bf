#include "plugins/default_preemption_search.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "fmt/format.h"

#include "plugins/default_preemption_sums.h"

namespace berth::plugins {
namespace {

void SortPossible(const cluster::Cluster& cluster, std::vector<PossibleVictim>& victims) {
  const auto name = [&](const PossibleVictim& victim) {
    const api::PodRecord& record = cluster.pods().record(victim.pod);
    return std::tuple<std::string_view, std::string_view>(record.namespace_, record.name);
  };
  std::ranges::sort(victims, [&](const PossibleVictim& a, const PossibleVictim& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.started != b.started) return a.started < b.started;
    return name(a) < name(b);
  });
}

}  // namespace

PossibleVictim AsPossibleVictim(const cluster::Cluster& cluster, cluster::PodSlot pod) {
  const auto& started = cluster.pods().record(pod).start_time;
  return {.pod = pod,
          .priority = cluster.pods().priority(pod),
          .started = started ? started->unix_seconds : PossibleVictim::kNotStarted};
}

void SortByImportance(const cluster::Cluster& cluster, std::vector<cluster::PodSlot>& pods) {
  std::vector<PossibleVictim> victims;
  victims.reserve(pods.size());
  for (const cluster::PodSlot pod : pods) victims.push_back(AsPossibleVictim(cluster, pod));
  SortPossible(cluster, victims);
  std::ranges::transform(victims, pods.begin(), &PossibleVictim::pod);
}

void VictimSearch::Collect(cluster::NodeRow row) {
  const cluster::Cluster& cluster = cycle_.cluster();
  possible_.clear();
  for (const cluster::PodSlot pod : cluster.nodes().pods(row)) {
    if (cluster.pods().priority(pod) < cycle_.priority()) {
      possible_.push_back(AsPossibleVictim(cluster, pod));
    }
  }
  SortPossible(cluster, possible_);
}

bool VictimSearch::TakesFromBudgets(const api::PodRecord& pod) {
  if (pod.labels.empty()) return false;
  for (const DisruptionBudgets::Budget& budget : budgets_.InNamespace(pod.namespace_)) {
    if (!budget.selector.Matches(pod.labels)) continue;
    const api::PodDisruptionBudgetStatus& status = budget.object->status;
    // The API server has taken it from the budget already.
    if (status.disrupted_pods.find(pod.name) != nullptr) continue;
    const auto [left, is_new] =
        disruptions_left_.try_emplace(budget.object.get(), status.disruptions_allowed);
    if (--left->second < 0) return true;
  }
  return false;
}

void VictimSearch::MarkViolations() {
  if (budgets_.empty()) return;
  disruptions_left_.clear();
  for (PossibleVictim& victim : possible_) {
    victim.violates_budget = TakesFromBudgets(cycle_.cluster().pods().record(victim.pod));
  }
}

void VictimSearch::Reprieve(cluster::Speculation& trial, cluster::NodeRow row, bool violating) {
  for (PossibleVictim& victim : possible_) {
    if (victim.violates_budget != violating) continue;
    trial.Place(victim.pod, row);
    victim.goes = !Fits(row);
    if (victim.goes) trial.Displace(victim.pod);
  }
}

std::vector<cluster::PodSlot> VictimSearch::EverybodyBySums(cluster::NodeRow row) const {
  const cluster::Cluster& cluster = cycle_.cluster();
  std::vector<cluster::PodSlot> everybody;
  for (const cluster::PodSlot pod : cluster.nodes().pods(row)) {
    if (cluster.pods().priority(pod) >= cycle_.priority()) continue;
    // Somebody may stay: who it is depends on their order.
    if (sums_->CouldKeep(pod)) return {};
    everybody.push_back(pod);
  }
  return everybody;
}

void VictimSearch::ReprieveBySums(bool violating) {
  for (PossibleVictim& victim : possible_) {
    if (victim.violates_budget == violating) victim.goes = !sums_->Keep(victim.pod);
  }
}

Victims VictimSearch::TakeVictims() const {
  Victims victims;
  for (const PossibleVictim& victim : possible_) {
    if (!victim.goes) continue;
    victims.pods.push_back(victim.pod);
    if (victim.violates_budget) ++victims.budget_violations;
  }
  return victims;
}

std::variant<Victims, framework::RowVerdict> VictimSearch::On(cluster::NodeRow row) {
  const cluster::NodeTable& nodes = cycle_.cluster().nodes();
  if (nodes.PodsBelow(row, cycle_.priority()) == 0) return framework::RowVerdict{no_victims_, {}};
  const bool by_sums = sums_ != nullptr && sums_->FitsOnceEmptied(row);
  if (by_sums && budgets_.empty()) {
    if (Victims everybody{.pods = EverybodyBySums(row)}; !everybody.pods.empty()) return everybody;
  }
  Collect(row);
  if (by_sums) {
    MarkViolations();
    ReprieveBySums(/*violating=*/true);
    ReprieveBySums(/*violating=*/false);
  } else {
    cluster::Speculation trial(cycle_.indexes());
    for (const PossibleVictim& victim : possible_) trial.Displace(victim.pod);
    framework::RowVerdict emptied = cycle_.judge().JudgeRow(row, framework::Nominations::kCount);
    if (!emptied.fits()) return emptied;
    MarkViolations();
    Reprieve(trial, row, /*violating=*/true);
    Reprieve(trial, row, /*violating=*/false);
  }
  Victims victims = TakeVictims();
  if (!victims.pods.empty()) return victims;
  return framework::RowVerdict{{},
                               framework::Status::Error(fmt::format(
                                   "expected at least one victim pod on node \"{}\"", nodes.name(row)))};
}

}  // namespace berth::plugins
