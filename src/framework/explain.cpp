#include <algorithm>

#include "framework/decide.h"

// Everything about one attempt, from scratch and in words.
namespace berth::framework {

std::vector<cluster::NodeRow> Engine::SortedByName(const base::Bitset& rows) const {
  std::vector<cluster::NodeRow> sorted;
  rows.ForEach([&](std::size_t bit) { sorted.push_back(cluster::NodeRow(static_cast<std::uint32_t>(bit))); });
  std::ranges::sort(sorted, {}, [&](cluster::NodeRow row) { return cluster_.nodes().name(row); });
  return sorted;
}

void Engine::ExplainRefusals(const Narrowing& narrowing, Explanation& explanation) const {
  const std::span<const RejectionId> refusals = view_->Refusals(cycle_);
  for (const cluster::NodeRow row : SortedByName(cluster_.nodes().existing())) {
    if (!narrowing.Has(row)) continue;
    const RejectionId id = refusals[row.index()];
    if (!id.IsRefusal()) continue;
    const PluginIndex plugin = rejections_.Get(id).plugin;
    explanation.refused.emplace_back(row, rejections_.ToStatus(id, profile_.plugin_names()[plugin]));
  }
}

void Engine::ExplainScores(Explanation& explanation) const {
  for (const ScoreColumn& column : view_->columns()) {
    if (!column.counts()) continue;
    Explanation::PluginScores scores;
    scores.plugin = column.placed().plugin->Name();
    scores.weight = column.placed().weight;
    for (const cluster::NodeRow row : explanation.feasible) {
      scores.raw.push_back(view_->Raw(column, row));
      scores.weighted.push_back(view_->Weighted(column, row));
    }
    explanation.scores.push_back(std::move(scores));
  }
  for (const cluster::NodeRow row : explanation.feasible) explanation.totals.push_back(view_->Total(row));
  const std::int64_t best = std::ranges::max(explanation.totals);
  for (std::size_t i = 0; i < explanation.feasible.size(); ++i) {
    if (explanation.totals[i] == best) explanation.best.push_back(explanation.feasible[i]);
  }
}

Explanation Engine::Explain(const Cycle::Subject& subject) {
  Explanation explanation;
  const auto conclude = [&](const Diagnosis& diagnosis) {
    explanation.unschedulable_plugins = diagnosis.unschedulable_plugins;
    explanation.pending_plugins = diagnosis.pending_plugins;
    explanation.fit_error_message = FitErrorMessage(diagnosis);
  };
  BeginAttempt(subject, Views::kAvoid);
  Narrowing narrowing;
  explanation.pre_filter = RunPreFilter(narrowing);
  if (!narrowing.all) explanation.narrowed = narrowing.names;
  if (!explanation.pre_filter.IsSuccess()) {
    if (explanation.pre_filter.IsRejected()) {
      conclude(RejectedBefore(explanation.pre_filter, narrowing));
    } else {
      explanation.error = explanation.pre_filter;
    }
    return explanation;
  }
  if (const cluster::NodeRow row = TryNominatedNode(); row.IsValid()) explanation.nominated = row;
  explanation.filtered = true;
  if (Status status = Judge(narrowing, nullptr); !status.IsSuccess()) {
    explanation.error = Fail(std::move(status));
    return explanation;
  }
  ExplainRefusals(narrowing, explanation);
  explanation.feasible = SortedByName(view_->FeasibleRows());
  if (explanation.feasible.empty()) {
    conclude(NothingFits(narrowing));
    return explanation;
  }
  if (Status status = view_->RefreshScores(cycle_); !status.IsSuccess()) {
    explanation.error = Fail(std::move(status));
    return explanation;
  }
  ExplainScores(explanation);
  return explanation;
}

}  // namespace berth::framework
