#include <algorithm>

#include "fmt/format.h"

#include "base/check.h"
#include "framework/observer.h"
#include "framework/view.h"

// What a view knows of scores: the set that was scored last, the columns, and totals.
namespace berth::framework {
namespace {

// An index over totals costs about this many scans to build, and is of no use once most totals move.
constexpr std::size_t kScansBeforeIndex = 16;
constexpr std::size_t kMovedShareMax = 8;

}  // namespace

void View::CollectDifference() {
  entered_.clear();
  left_.clear();
  if (!has_scores_) return;
  for (const cluster::NodeRow row : flips_.rows()) {
    const bool now = feasible_.Test(row.index());
    if (now == scored_.Test(row.index())) continue;
    (now ? entered_ : left_).push_back(row);
  }
  std::ranges::sort(entered_);
  std::ranges::sort(left_);
}

Status View::RefreshScores(Cycle& cycle) {
  CollectDifference();
  Status status = RunPreScores(cycle);
  if (status.IsSuccess()) status = UpdateColumns(cycle);
  if (!status.IsSuccess()) return status;
  UpdateTotals();

  if (has_scores_) {
    for (const cluster::NodeRow row : entered_) scored_.Set(row.index());
    for (const cluster::NodeRow row : left_) scored_.Clear(row.index());
  } else {
    scored_ = feasible_;
  }
  has_scores_ = true;
  flips_.Reset(feasible_.size());
  moved_.Reset(feasible_.size());
  return {};
}

Status View::RunPreScores(Cycle& cycle) {
  ObservedPoint point(cycle.observer(), ExtensionPoint::kPreScore);
  const FeasibleSet feasible{feasible_, feasible_count_, !has_scores_, entered_, left_};
  for (ScoreColumn& column : columns_) {
    const PlacedScore& score = column.placed();
    if (!column.takes_part() || !score.pre_score) continue;
    Observed observed(cycle.observer(), ExtensionPoint::kPreScore, score.index());
    const Status status = score.point->PreScore(cycle, feasible, column.stale());
    observed.SetCode(status.code());
    if (!status.IsSuccess() && !status.IsSkip()) {
      point.SetCode(Code::kError);
      return Status::Error(
          fmt::format("running PreScore plugin \"{}\": {}", score.plugin->Name(), status.AsError()));
    }
    if (column.SetSkipped(status.IsSkip())) totals_stale_ = true;
  }
  return {};
}

Status View::UpdateColumns(Cycle& cycle) {
  ObservedPoint point(cycle.observer(), ExtensionPoint::kScore);
  const ScoreColumn::Rows rows{feasible_, feasible_count_, scored_, entered_, left_};
  for (ScoreColumn& column : columns_) {
    if (!column.counts()) continue;
    Observed observed(cycle.observer(), ExtensionPoint::kScore, column.placed().index());
    if (Status status = column.Update(cycle, rows, moved_); !status.IsSuccess()) {
      observed.SetCode(status.code());
      point.SetCode(status.code());
      return status;
    }
  }
  return {};
}

std::int64_t View::SumOf(cluster::NodeRow row) const {
  std::int64_t total = 0;
  for (const ScoreColumn& column : columns_) {
    if (column.counts()) total += column.weighted(row);
  }
  return total;
}

void View::UpdateTotals() {
  const bool all = totals_stale_ || !has_scores_ || moved_.all();
  const std::size_t moved = moved_.rows().size() + entered_.size() + left_.size();
  const bool many = all || moved * kMovedShareMax > feasible_count_;
  if (many) is_indexed_ = false;
  const auto update = [&](cluster::NodeRow row) {
    totals_[row.index()] = SumOf(row);
    if (is_indexed_) index_.Set(row, totals_[row.index()]);
  };
  if (all) {
    feasible_.ForEach([&](std::size_t bit) { update(NodeSelection::RowOf(bit)); });
  } else {
    for (const cluster::NodeRow row : moved_.rows()) {
      if (feasible_.Test(row.index())) update(row);
    }
    for (const cluster::NodeRow row : entered_) update(row);
    if (is_indexed_) {
      for (const cluster::NodeRow row : left_) index_.Remove(row);
    }
  }
  totals_stale_ = false;
  KeepIndex(many);
}

void View::KeepIndex(bool many_moved) {
  scans_ = many_moved ? 0 : scans_ + 1;
  if (is_indexed_ || scans_ < kScansBeforeIndex) return;
  index_.Reset(feasible_.size());
  feasible_.ForEach([&](std::size_t bit) { index_.Set(NodeSelection::RowOf(bit), totals_[bit]); });
  is_indexed_ = true;
}

cluster::NodeRow View::ScanForBest(base::Random& random) const {
  std::int64_t best = 0;
  std::size_t count = 0;
  feasible_.ForEach([&](std::size_t bit) {
    if (count == 0 || totals_[bit] > best) {
      best = totals_[bit];
      count = 0;
    }
    if (totals_[bit] == best) ++count;
  });
  BERTH_CHECK(count > 0);
  std::size_t n = random.Uniform(count);
  for (std::size_t bit = feasible_.FindFirst();; bit = feasible_.FindFirst(bit + 1)) {
    if (totals_[bit] != best) continue;
    if (n == 0) return NodeSelection::RowOf(bit);
    --n;
  }
}

cluster::NodeRow View::PickBest(base::Random& random) {
  return is_indexed_ ? index_.PickBest(random) : ScanForBest(random);
}

}  // namespace berth::framework
