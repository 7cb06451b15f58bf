#include "cli/conformance/preemption_check.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "cli/conformance/case_json.h"
#include "cli/conformance/status_text.h"

#include "framework/post_filter.h"
#include "plugins/default_preemption.h"
#include "plugins/default_preemption_choice.h"
#include "plugins/default_preemption_search.h"
#include "plugins/default_preemption_sums.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using Difference = std::optional<std::string>;
using Names = std::vector<std::string>;

const plugins::DefaultPreemption* FindPreemption(const framework::Profile& profile) {
  for (const auto& plugin : profile.plugins()) {
    if (const auto* found = dynamic_cast<const plugins::DefaultPreemption*>(plugin.get())) return found;
  }
  return nullptr;
}

Names NamesOf(const cluster::Cluster& cluster, const std::vector<cluster::PodSlot>& pods) {
  Names names;
  for (const cluster::PodSlot pod : pods) names.push_back(cluster::PodName(cluster.pods().record(pod)));
  return names;
}

// Two pods hold one host port of the node. For kube-scheduler it is free when one of them goes, for berth
// when both are gone (docs/differences.md), so that other pods are victims there.
bool HasSharedPort(const cluster::Cluster& cluster, cluster::NodeRow row) {
  return std::ranges::any_of(cluster.nodes().ports(row),
                             [](const cluster::PortUse& use) { return use.count > 1; });
}

// Potential nodes on which the two differ by choice.
Names SharedPortNodes(const FailedAttempt& attempt) {
  Names names;
  if (attempt.cluster.host_ports(attempt.cycle.pod()).empty()) return names;
  for (const cluster::NodeRow row : plugins::PotentialRows(attempt.cluster, attempt.diagnosis)) {
    if (HasSharedPort(attempt.cluster, row)) names.emplace_back(attempt.cluster.nodes().name(row));
  }
  return names;
}

// What a search finds on every node, whatever its first one is.
struct Everywhere {
  std::map<std::string, std::string> candidates;  // as text
  std::map<std::string, std::string> failures;
  Names acceptable;  // the best of the candidates
};

std::string CandidateText(const Names& victims, std::int64_t violations) {
  return fmt::format("{} with {} violations", victims, violations);
}

Everywhere SearchEverywhere(const FailedAttempt& attempt, const plugins::DefaultPreemption& preemption) {
  Everywhere found;
  std::optional<plugins::VictimsRank> best;
  const plugins::RoomBound bound(attempt.cycle);
  const std::vector<cluster::NodeRow> potential = plugins::PotentialRows(attempt.cluster, attempt.diagnosis);
  plugins::VictimSums sums(attempt.cycle);
  sums.Prepare(potential);
  plugins::VictimSearch search(attempt.cycle, preemption.budgets(), preemption.NoVictims(attempt.cycle),
                               &sums);
  for (const cluster::NodeRow row : potential) {
    const std::string node(attempt.cluster.nodes().name(row));
    auto outcome = search.On(row);
    if (std::holds_alternative<plugins::Victims>(outcome) && bound.IsTooSmall(row)) {
      found.failures[node] = "passed over although there are victims";
    }
    if (const auto* verdict = std::get_if<framework::RowVerdict>(&outcome)) {
      framework::Status status = verdict->error;
      if (verdict->refusal.IsRefusal()) {
        // That nobody can be evicted is no plugin's finding.
        const bool is_own = verdict->refusal == preemption.NoVictims(attempt.cycle);
        const auto plugin = attempt.cycle.rejections().Get(verdict->refusal).plugin;
        status = attempt.cycle.rejections().ToStatus(verdict->refusal,
                                                     is_own ? "" : attempt.profile.plugin_names()[plugin]);
      }
      found.failures[node] = StatusText(status);
      continue;
    }
    auto& victims = std::get<plugins::Victims>(outcome);
    plugins::SortByImportance(attempt.cluster, victims.pods);
    found.candidates[node] = CandidateText(NamesOf(attempt.cluster, victims.pods), victims.budget_violations);
    const plugins::VictimsRank rank = plugins::RankOf(attempt.cluster, victims);
    if (!best || rank < *best) found.acceptable.clear();
    if (!best || rank <= *best) {
      best = rank;
      found.acceptable.push_back(node);
    }
  }
  std::ranges::sort(found.acceptable);
  return found;
}

Difference CheckNodes(const FailedAttempt& attempt, const json::object& want) {
  const plugins::DefaultPreemption* const preemption = FindPreemption(attempt.profile);
  if (preemption == nullptr) return std::nullopt;
  const std::string_view reason = plugins::WhyNotEligible(attempt.cycle, attempt.diagnosis);
  const json::value* const eligible = ValueAt(want, "eligible");
  if (auto difference = Compare("eligible", reason.empty(), eligible != nullptr && eligible->as_bool())) {
    return difference;
  }
  if (auto difference =
          Compare("ineligibleReason", std::string(reason), std::string(TextAt(want, "ineligibleReason")))) {
    return difference;
  }
  if (!reason.empty()) return std::nullopt;

  Names potential;
  for (const cluster::NodeRow row : plugins::PotentialRows(attempt.cluster, attempt.diagnosis)) {
    potential.emplace_back(attempt.cluster.nodes().name(row));
  }
  std::ranges::sort(potential);
  if (auto difference = Compare("potentialNodes", potential, TextsAt(want, "potentialNodes"))) {
    return difference;
  }
  std::map<std::string, std::string> candidates;
  if (const json::value* const wanted = ValueAt(want, "candidates")) {
    for (const auto& entry : wanted->as_object()) {
      const json::object& candidate = entry.value().as_object();
      candidates[std::string(entry.key())] = CandidateText(
          TextsAt(candidate, "victims"), candidate.at("numPDBViolations").to_number<std::int64_t>());
    }
  }
  std::map<std::string, std::string> failures;
  if (const json::value* const wanted = ValueAt(want, "dryRunFailures")) {
    for (const auto& entry : wanted->as_object()) {
      failures[std::string(entry.key())] = StatusText(entry.value().as_object());
    }
  }
  Everywhere found = SearchEverywhere(attempt, *preemption);
  const Names shared = SharedPortNodes(attempt);
  for (const std::string& node : shared) {
    for (auto* const by_node : {&found.candidates, &found.failures, &candidates, &failures})
      by_node->erase(node);
  }
  if (auto difference = Compare("dryRunFailures", found.failures, failures)) return difference;
  if (auto difference = Compare("candidates", found.candidates, candidates)) return difference;
  // What another plugin did before it may have made preemption needless.
  if (!shared.empty() || !want.contains("acceptableNodes")) return std::nullopt;
  return Compare("acceptableNodes", found.acceptable, TextsAt(want, "acceptableNodes"));
}

std::string NominationText(const std::optional<std::string>& node) {
  return node ? fmt::format("\"{}\"", *node) : "keep";
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Of several nodes that are equally good the case names one; any is right.
struct Chosen {
  std::string nomination;
  Names victims;
  std::string message;
  std::string fit_error_message;
};

Chosen Wanted(const WantedPostFilter& want, const std::optional<std::string>& got_node) {
  const json::value* const node = ValueAt(want.answer, "nominatedNode");
  std::optional<std::string> wanted;
  if (node != nullptr) wanted = std::string(node->get_string());
  Chosen chosen{.nomination = NominationText(wanted),
                .victims = TextsAt(want.answer, "victims"),
                .message = std::string(TextAt(want.answer, "message")),
                .fit_error_message = want.fit_error_message};
  const Names acceptable = TextsAt(want.answer, "acceptableNodes");
  if (!got_node || got_node == wanted || std::ranges::find(acceptable, *got_node) == acceptable.end()) {
    return chosen;
  }
  const std::string before = chosen.message;
  chosen.nomination = NominationText(got_node);
  chosen.victims = TextsAt(want.answer.at("candidates").as_object().at(*got_node).as_object(), "victims");
  chosen.message =
      fmt::format("preemption: found a potential placement for pod on node {}, preempting {} victims",
                  *got_node, chosen.victims.size());
  ReplaceAll(chosen.fit_error_message, before, chosen.message);
  return chosen;
}

Difference CheckAnswer(const FailedAttempt& attempt, const WantedPostFilter& want) {
  const framework::PostFilterResult got =
      framework::RunPostFilter(attempt.profile, attempt.cycle, attempt.diagnosis);
  const Chosen chosen = Wanted(want, got.nominated_node);
  if (auto difference = Compare("postFilter code", std::string(framework::CodeName(got.status.code())),
                                std::string(TextAt(want.answer, "code")))) {
    return difference;
  }
  if (auto difference = Compare("postFilter message", got.status.Message(), chosen.message)) {
    return difference;
  }
  if (auto difference = Compare("nominatedNode", NominationText(got.nominated_node), chosen.nomination)) {
    return difference;
  }
  const Names victims = got.preemption ? NamesOf(attempt.cluster, got.preemption->victims) : Names();
  if (auto difference = Compare("victims", victims, chosen.victims)) return difference;
  framework::Diagnosis diagnosis = attempt.diagnosis;
  diagnosis.post_filter_message = got.status.Message();
  return Compare("fitErrorMessage", framework::FitErrorMessage(diagnosis), chosen.fit_error_message);
}

}  // namespace

Difference CheckPostFilter(const FailedAttempt& attempt, const WantedPostFilter& want) {
  const std::uint64_t before = attempt.cluster.Digest();
  if (auto difference = CheckNodes(attempt, want.answer)) return difference;
  if (!want.is_spoilt && SharedPortNodes(attempt).empty()) {
    if (auto difference = CheckAnswer(attempt, want)) return difference;
  }
  return Compare("the cluster after dry runs", attempt.cluster.Digest(), before);
}

}  // namespace berth::cli
