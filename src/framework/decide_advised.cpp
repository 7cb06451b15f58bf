#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "framework/decide.h"

// Attempts in which somebody outside has a say. There is a wait between showing them the nodes and hearing
// what they think of them, and the cluster goes on meanwhile; so an answer never continues an old attempt. It
// restricts a new one, on the cluster as it has become.
namespace berth::framework {
namespace {

// Wraps around at the ends of its range, as Go's arithmetic does: scores from outside have no bounds.
std::int64_t SumOfScores(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

void Engine::Apply(const Advice& advice) {
  const auto is_allowed = [&](std::string_view name) {
    return std::ranges::binary_search(advice.allowed, name);
  };
  // Reasons first: they also go to nodes that a filter has refused meanwhile.
  for (const Advice::Refusal& refusal : advice.refused) {
    const cluster::NodeRow row = cluster_.nodes().Find(refusal.node);
    if (!row.IsValid() || !cluster_.nodes().exists(row) || is_allowed(refusal.node)) continue;
    const RejectionId id =
        rejections_.Intern({.plugin = profile_.extender_index(),
                            .code = refusal.code,
                            .reasons = {Reason{.words = {}, .parameter = refusal.reason}}});
    view_->Mask(row, id);
  }
  const base::Bitset feasible = view_->FeasibleRows();
  feasible.ForEach([&](std::size_t bit) {
    const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
    if (!is_allowed(cluster_.nodes().name(row))) view_->Mask(row, kAccepted);
  });
}

Feasible Engine::FeasibleRows() const {
  Feasible feasible;
  view_->FeasibleRows().ForEach(
      [&](std::size_t bit) { feasible.rows.emplace_back(static_cast<std::uint32_t>(bit)); });
  return feasible;
}

Engine::Found Engine::Shown(const Narrowing& narrowing, const Advice* advice) {
  auto ended = Search(narrowing, advice);
  // Scores were not asked for, so a view that is kept has none to be verified by.
  if (view_ != nullptr && is_wanted_) KeepView();
  if (ended) return std::visit([](auto& end) { return Found(std::move(end)); }, *ended);
  return FeasibleRows();
}

Engine::Found Engine::FindNodes(const Cycle::Subject& subject, bool try_nominated) {
  Narrowing narrowing;
  if (auto ended = Enter(subject, narrowing)) {
    return std::visit([](auto& end) { return Found(std::move(end)); }, *ended);
  }
  if (try_nominated) {
    if (const cluster::NodeRow row = TryNominatedNode(); row.IsValid()) {
      return Feasible{.rows = {row}, .is_nominated = true};
    }
  }
  return Shown(narrowing, nullptr);
}

Engine::Found Engine::FindNodes(const Cycle::Subject& subject, const Advice& advice) {
  Narrowing narrowing;
  if (auto ended = Enter(subject, narrowing)) {
    return std::visit([](auto& end) { return Found(std::move(end)); }, *ended);
  }
  return Shown(narrowing, &advice);
}

Outcome Engine::SchedulePod(const Cycle::Subject& subject, const Advice& advice) {
  Narrowing narrowing;
  if (auto ended = Enter(subject, narrowing)) {
    return std::visit([](auto& end) { return Outcome(std::move(end)); }, *ended);
  }
  Outcome outcome = Decide(narrowing, &advice);
  if (view_ != nullptr && is_kept_ && options_.verify_views) VerifyView();
  return outcome;
}

cluster::NodeRow Engine::PickBest(const Advice& advice) {
  std::int64_t best = 0;
  std::vector<cluster::NodeRow> rows;
  view_->FeasibleRows().ForEach([&](std::size_t bit) {
    const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
    const auto extra = advice.scores.find(cluster_.nodes().name(row));
    const std::int64_t total =
        SumOfScores(view_->Total(row), extra == advice.scores.end() ? 0 : extra->second);
    if (rows.empty() || total > best) {
      best = total;
      rows.clear();
    }
    if (total == best) rows.push_back(row);
  });
  return rows[random_.Uniform(rows.size())];
}

}  // namespace berth::framework
