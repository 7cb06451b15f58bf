#include "plugins/default_preemption_choice.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "framework/nominations.h"
#include "framework/ongoing_preemptions.h"
#include "framework/profile.h"
#include "plugins/default_preemption_sums.h"

namespace berth::plugins {
namespace {

// The node that is being made room on, as far as anybody here knows: the nominator may know more than the
// pod's own status, which is written later.
cluster::NodeRow NominatedRow(const framework::Cycle& cycle) {
  const cluster::NodeTable& nodes = cycle.cluster().nodes();
  const cluster::NodeNameId known = cycle.cluster().nominator().NodeOf(cycle.pod());
  return known.IsValid() ? nodes.Find(known) : nodes.Find(cycle.record().nominated_node_name);
}

// Deleted by a scheduler, as opposed to by somebody whose reasons are their own.
bool IsGoingForPreemption(const api::PodRecord& pod) {
  if (!pod.deletion_timestamp) return false;
  return std::ranges::any_of(pod.conditions(), [](const api::PodCondition& condition) {
    return condition.type == framework::kDisruptionTarget && condition.status == "True" &&
           condition.reason == framework::kPreemptionByScheduler;
  });
}

}  // namespace

std::string_view WhyNotEligible(const framework::Cycle& cycle, const framework::Diagnosis& diagnosis) {
  if (cycle.spec().preemption_policy == "Never") return "not eligible due to preemptionPolicy=Never.";
  const cluster::NodeRow row = NominatedRow(cycle);
  const cluster::Cluster& cluster = cycle.cluster();
  if (!row.IsValid() || !cluster.nodes().exists(row)) return {};
  // No room that could be made there would help.
  if (diagnosis.CodeOf(row) == framework::Code::kUnschedulableAndUnresolvable) return {};
  const bool is_going = std::ranges::any_of(cluster.nodes().pods(row), [&](cluster::PodSlot pod) {
    return cluster.pods().priority(pod) < cycle.priority() &&
           IsGoingForPreemption(cluster.pods().record(pod));
  });
  return is_going ? "not eligible due to a terminating pod on the nominated node." : "";
}

std::vector<cluster::NodeRow> PotentialRows(const cluster::Cluster& cluster,
                                            const framework::Diagnosis& diagnosis) {
  std::vector<cluster::NodeRow> rows;
  cluster.nodes().existing().ForEach([&](std::size_t bit) {
    const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
    if (diagnosis.CodeOf(row) == framework::Code::kUnschedulable) rows.push_back(row);
  });
  return rows;
}

RoomBound::RoomBound(const framework::Cycle& cycle)
    : cycle_(cycle),
      applies_(!cycle.resize_deferred() &&
               std::ranges::any_of(cycle.profile().filter(), [&](const auto& placed) {
                 const framework::Plan* const plan = cycle.plan(placed.index());
                 return placed.plugin->Name() == "NodeResourcesFit" && !cycle.IsSkipped(placed.index()) &&
                        (plan == nullptr || plan->filters);
               })) {}

bool RoomBound::Exceeds(cluster::NodeRow row, cluster::ResourceId resource, std::int64_t asked) const {
  if (asked == 0) return false;
  const cluster::NodeTable& nodes = cycle_.cluster().nodes();
  std::int64_t stays = 0;
  std::int64_t free = 0;
  // Sums that left the range of numbers say nothing.
  if (__builtin_sub_overflow(nodes.requested(resource)[row.index()],
                             nodes.RequestedBelow(row, cycle_.priority(), resource), &stays) ||
      __builtin_sub_overflow(nodes.allocatable(resource)[row.index()], stays, &free)) {
    return false;
  }
  for (const cluster::PodSlot pod : cycle_.cluster().NominatedTo(row)) {
    if (framework::IsExpected(cycle_, pod) &&
        __builtin_sub_overflow(free, SummedAmount(cycle_.cluster().requests(pod), resource), &free)) {
      return false;
    }
  }
  return asked > free;
}

bool RoomBound::IsTooSmall(cluster::NodeRow row) const {
  if (!applies_) return false;
  const cluster::Requests& requests = cycle_.requests();
  return Exceeds(row, cluster::kCpu, requests.milli_cpu) || Exceeds(row, cluster::kMemory, requests.memory);
}

std::size_t CandidatesWanted(const framework::DefaultPreemptionArgs& args, std::size_t potential_count) {
  const auto share = static_cast<std::size_t>(args.min_candidate_nodes_percentage) * potential_count / 100;
  const auto least = static_cast<std::size_t>(args.min_candidate_nodes_absolute);
  return std::min(potential_count, std::max(share, least));
}

VictimsRank RankOf(const cluster::Cluster& cluster, const Victims& victims) {
  VictimsRank rank{.budget_violations = victims.budget_violations, .count = victims.pods.size()};
  std::int64_t earliest = PossibleVictim::kNotStarted;
  bool is_first = true;
  for (const cluster::PodSlot pod : victims.pods) {
    const PossibleVictim victim = AsPossibleVictim(cluster, pod);
    if (std::exchange(is_first, false) || victim.priority > rank.highest_priority) {
      rank.highest_priority = victim.priority;
      earliest = victim.started;
    } else if (victim.priority == rank.highest_priority) {
      earliest = std::min(earliest, victim.started);
    }
    rank.priority_sum += std::int64_t{victim.priority} - std::numeric_limits<std::int32_t>::min();
  }
  rank.started_before = -earliest;
  return rank;
}

}  // namespace berth::plugins
