#include "plugins/default_preemption.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "fmt/ranges.h"

#include "framework/cycle.h"
#include "framework/profile.h"
#include "plugins/default_preemption_choice.h"
#include "plugins/default_preemption_search.h"
#include "plugins/default_preemption_sums.h"

namespace berth::plugins {
namespace {

using framework::Status;

constexpr framework::ReasonText kDefaultPreemptionReasons[] = {
    {framework::Code::kUnschedulableAndUnresolvable, "No preemption victims found for incoming pod"},
};
constexpr std::string_view kPrefix = "preemption: ";

struct Candidate {
  cluster::NodeRow row;
  Victims victims;
  VictimsRank rank;
};

// What a walk over the potential nodes came to.
struct Found {
  std::optional<Candidate> best;
  std::vector<framework::PreemptionCandidate> all;  // if others are to see them
  std::vector<framework::RejectionId> refusals;     // by row
  std::vector<std::string> errors;                  // each once
};

class Walk {
 public:
  struct Tools {
    VictimSearch& search;
    VictimSums& sums;
  };
  Walk(framework::Cycle& cycle, Tools tools, std::size_t wanted)
      : cycle_(cycle), search_(tools.search), sums_(tools.sums), wanted_(wanted) {
    found_.refusals.resize(cycle.cluster().nodes().row_count());
  }

  // From a drawn node on, and round.
  Found Over(const std::vector<cluster::NodeRow>& potential) && {
    const RoomBound bound(cycle_);
    const std::size_t offset = potential.empty() ? 0 : cycle_.judge().Draw(potential.size());
    std::vector<cluster::NodeRow> too_small;
    std::vector<cluster::NodeRow> order(potential.begin() + static_cast<std::ptrdiff_t>(offset),
                                        potential.end());
    order.insert(order.end(), potential.begin(), potential.begin() + static_cast<std::ptrdiff_t>(offset));
    for (std::size_t i = 0; i < order.size() && !HasEnough(); ++i) {
      if (i % kBlockRows == 0) {
        sums_.Prepare(std::span(order).subspan(i, std::min(kBlockRows, order.size() - i)));
      }
      const cluster::NodeRow row = order[i];
      if (bound.IsTooSmall(row)) {
        too_small.push_back(row);
      } else {
        Visit(row);
      }
    }
    // Only if nobody helps it matters why.
    if (!found_.best) {
      for (const cluster::NodeRow row : too_small) Visit(row);
    }
    return std::move(found_);
  }

 private:
  // About as many as are visited at least.
  static constexpr std::size_t kBlockRows = 128;

  // As long as every candidate violates a budget a better one is looked for.
  bool HasEnough() const { return harmless_ > 0 && harmless_ + violating_ >= wanted_; }

  void Visit(cluster::NodeRow row) {
    auto outcome = search_.On(row);
    if (auto* const victims = std::get_if<Victims>(&outcome)) {
      Consider(row, std::move(*victims));
      return;
    }
    auto& verdict = std::get<framework::RowVerdict>(outcome);
    found_.refusals[row.index()] = verdict.refusal;
    if (verdict.error.IsSuccess()) return;
    std::string text = verdict.error.Message();
    if (std::ranges::find(found_.errors, text) == found_.errors.end()) {
      found_.errors.push_back(std::move(text));
    }
  }

  void Consider(cluster::NodeRow row, Victims victims) {
    std::size_t& kept = victims.budget_violations == 0 ? harmless_ : violating_;
    if (kept == wanted_) return;
    ++kept;
    const VictimsRank rank = RankOf(cycle_.cluster(), victims);
    if (cycle_.shows_candidates()) {
      SortByImportance(cycle_.cluster(), victims.pods);
      found_.all.push_back({row, victims.pods, victims.budget_violations});
    }
    if (!found_.best || rank < found_.best->rank) found_.best = {row, std::move(victims), rank};
  }

  framework::Cycle& cycle_;
  VictimSearch& search_;
  VictimSums& sums_;
  const std::size_t wanted_;
  std::size_t harmless_ = 0;
  std::size_t violating_ = 0;
  Found found_;
};

std::string NobodyHelps(const framework::Cycle& cycle, const framework::Diagnosis& diagnosis,
                        const Found& found) {
  framework::Diagnosis why;
  why.node_count = diagnosis.node_count;
  why.refusals = found.refusals;
  why.table = &cycle.rejections();
  why.plugin_names = cycle.profile().plugin_names();
  why.absent = Status::Unresolvable("Preemption is not helpful for scheduling");
  return framework::FitErrorMessage(why);
}

framework::PostFilterResult Taken(const cluster::Cluster& cluster, cluster::NodeRow row,
                                  std::vector<cluster::PodSlot> victims) {
  const std::string_view node = cluster.nodes().name(row);
  return {
      .status = Status(framework::Code::kSuccess,
                       fmt::format("found a potential placement for pod on node {}, preempting {} victims",
                                   node, victims.size())),
      .nominated_node = std::string(node),
      .preemption = framework::Preemption{.victims = std::move(victims)}};
}

framework::PostFilterResult Prefixed(framework::PostFilterResult result) {
  if (!result.preemption) result.preemption.emplace();
  if (const std::string message = result.status.Message(); !message.empty()) {
    result.status = Status(result.status.code(), fmt::format("{}{}", kPrefix, message));
  }
  return result;
}

Status ErrorOf(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return Status::Error(errors.front());
  return Status::Error(fmt::format("[{}]", fmt::join(errors, ", ")));
}

base::Result<void> Validate(const framework::DefaultPreemptionArgs& args) {
  const std::int32_t percentage = args.min_candidate_nodes_percentage;
  const std::int32_t absolute = args.min_candidate_nodes_absolute;
  if (percentage < 0 || percentage > 100) {
    return base::Fail(fmt::format(
        "minCandidateNodesPercentage: Invalid value: {}: not in valid range [0, 100]", percentage));
  }
  if (absolute < 0) {
    return base::Fail(
        fmt::format("minCandidateNodesAbsolute: Invalid value: {}: not in valid range [0, inf)", absolute));
  }
  if (percentage == 0 && absolute == 0) {
    return base::Fail(
        "[minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
        "minCandidateNodesAbsolute, minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at "
        "the same time as minCandidateNodesPercentage]");
  }
  return {};
}

}  // namespace

DefaultPreemption::DefaultPreemption(const framework::PluginSetup& setup)
    : args_(setup.args.default_preemption),
      holds_back_(setup.features.scheduler_async_preemption),
      ongoing_(setup.cluster.UseExtension<framework::OngoingPreemptions>()),
      budgets_(setup.cluster.UseExtension<DisruptionBudgets>()) {}

base::Result<std::unique_ptr<framework::Plugin>> DefaultPreemption::Make(
    const framework::PluginSetup& setup) {
  if (auto valid = Validate(setup.args.default_preemption); !valid) {
    return std::unexpected(std::move(valid.error()));
  }
  return std::unique_ptr<framework::Plugin>(new DefaultPreemption(setup));
}

std::span<const framework::ReasonText> DefaultPreemption::Reasons() const {
  return kDefaultPreemptionReasons;
}

framework::RejectionId DefaultPreemption::NoVictims(const framework::Cycle& cycle) const {
  const std::uint16_t first = cycle.profile().fixed_reasons(index()).first.value();
  return framework::RejectionId(static_cast<std::uint16_t>(first + kNoVictims));
}

Status DefaultPreemption::PreEnqueue(const framework::WaitingPod& pod) const {
  if (!holds_back_ || !ongoing_.IsWaiting(pod.pod)) return {};
  return Status::Unresolvable("waiting for the preemption for this pod to be finished");
}

std::vector<framework::EventRegistration> DefaultPreemption::EventsToRegister() const {
  // The pod waits for its victims to go, and that they went is no reason by itself: the plugins that refused
  // it know whether it fits then. Registered so that they are asked.
  return {{.event = {framework::EventResource::kAssignedPod, framework::kDelete},
           .hint = [](const framework::HintInput&) -> base::Result<framework::Hint> {
             return framework::Hint::kQueueSkip;
           },
           .by_template = true}};
}

framework::PostFilterResult DefaultPreemption::Preempt(framework::Cycle& cycle,
                                                       const framework::Diagnosis& diagnosis) const {
  if (const std::string_view reason = WhyNotEligible(cycle, diagnosis); !reason.empty()) {
    return {.status = Status::Unschedulable(std::string(reason))};
  }
  const std::vector<cluster::NodeRow> potential = PotentialRows(cycle.cluster(), diagnosis);
  VictimSums sums(cycle);
  VictimSearch search(cycle, budgets_, NoVictims(cycle), &sums);
  Found found = Walk(cycle, {search, sums}, CandidatesWanted(args_, potential.size())).Over(potential);
  if (!found.best) {
    if (!found.errors.empty()) return {.status = ErrorOf(found.errors)};
    return {.status = Status::Unschedulable(NobodyHelps(cycle, diagnosis, found)),
            .nominated_node = std::string()};
  }
  if (!found.all.empty()) {
    return {.status = Status(framework::Code::kWait),
            .preemption = framework::Preemption{.victims = {}, .candidates = std::move(found.all)}};
  }
  std::vector<cluster::PodSlot>& victims = found.best->victims.pods;
  SortByImportance(cycle.cluster(), victims);
  return Taken(cycle.cluster(), found.best->row, std::move(victims));
}

framework::PostFilterResult DefaultPreemption::Choose(
    const cluster::Cluster& cluster, std::span<const framework::PreemptionCandidate> candidates) const {
  const framework::PreemptionCandidate* best = nullptr;
  VictimsRank best_rank;
  for (const framework::PreemptionCandidate& candidate : candidates) {
    const VictimsRank rank =
        RankOf(cluster, {.pods = candidate.victims, .budget_violations = candidate.budget_violations});
    if (best != nullptr && !(rank < best_rank)) continue;
    best = &candidate;
    best_rank = rank;
  }
  framework::PostFilterResult result =
      best == nullptr
          ? framework::PostFilterResult{.status = Status::Unschedulable("no candidate node for preemption")}
          : Taken(cluster, best->row, best->victims);
  return Prefixed(std::move(result));
}

framework::PostFilterResult DefaultPreemption::PostFilter(framework::Cycle& cycle,
                                                          const framework::Diagnosis& diagnosis) const {
  return Prefixed(Preempt(cycle, diagnosis));
}

}  // namespace berth::plugins
