#include <algorithm>

#include "fmt/format.h"

#include "base/check.h"
#include "framework/observer.h"
#include "framework/view.h"

// What a view knows of scores: the set that was scored last, the columns, and totals.
namespace berth::framework {
namespace {

// Beyond this share of the rows all totals are summed up, column by column.
constexpr std::size_t kMovedShareMax = 4;

constexpr TotalIndex::Addend kNoAddend[] = {{}};

}  // namespace

void View::CollectDifference() {
  entered_.clear();
  left_.clear();
  if (!has_scores_) return;
  for (const cluster::NodeRow row : flips_.rows()) {
    const bool now = fitting_.Test(row.index());
    if (now == scored_.Test(row.index())) continue;
    (now ? entered_ : left_).push_back(row);
  }
  std::ranges::sort(entered_);
  std::ranges::sort(left_);
}

Status View::RefreshScores(Cycle& cycle) {
  CollectDifference();
  Status status = RunPreScores(cycle);
  if (by_kind_) {
    if (!status.IsSuccess()) return status;
    ObservedPoint point(cycle.observer(), ExtensionPoint::kScore);
    status = kind_columns_.Score(cycle, columns_);
    point.SetCode(status.code());
    return status;
  }
  if (!has_scores_ || totals_stale_) moved_.AddAll();
  if (status.IsSuccess()) status = UpdateColumns(cycle);
  if (!status.IsSuccess()) return status;
  UpdateTotals();

  if (has_scores_) {
    for (const cluster::NodeRow row : entered_) scored_.Set(row.index());
    for (const cluster::NodeRow row : left_) scored_.Clear(row.index());
  } else {
    scored_ = fitting_;
  }
  has_scores_ = true;
  flips_.Reset(fitting_.size());
  moved_.Reset(fitting_.size());
  return {};
}

Status View::RunPreScores(Cycle& cycle) {
  ObservedPoint point(cycle.observer(), ExtensionPoint::kPreScore);
  const FeasibleSet feasible{fitting_, feasible_count(), !has_scores_, entered_, left_};
  for (ScoreColumn& column : columns_) {
    const PlacedScore& score = column.placed();
    if (!column.takes_part() || !score.pre_score) continue;
    Observed observed(cycle.observer(), ExtensionPoint::kPreScore, score.index());
    const Status status = column.is_classed() ? groups_->PreScore(cycle, column)
                                              : score.point->PreScore(cycle, feasible, column.stale());
    observed.SetCode(status.code());
    if (!status.IsSuccess() && !status.IsSkip()) {
      point.SetCode(Code::kError);
      return Status::Error(
          fmt::format("running PreScore plugin \"{}\": {}", score.plugin->Name(), status.AsError()));
    }
    // Addends are summed up at every attempt.
    if (column.SetSkipped(status.IsSkip()) && !column.is_classed()) totals_stale_ = true;
  }
  return {};
}

Status View::UpdateColumns(Cycle& cycle) {
  ObservedPoint point(cycle.observer(), ExtensionPoint::kScore);
  const bool any_closed = groups_ != nullptr && groups_->AnyClosed();
  scratch_.all.clear();
  const ScoreColumn::Rows rows{.feasible = fitting_,
                               .feasible_count = fitting_count_,
                               .before = scored_,
                               .entered = entered_,
                               .left = left_,
                               .groups = any_closed ? groups_.get() : nullptr,
                               .scratch = scratch_,
                               .kinds = samples_.rows.empty() ? nullptr : &samples_};
  for (ScoreColumn& column : columns_) {
    if (!column.counts() || column.is_classed()) continue;
    Observed observed(cycle.observer(), ExtensionPoint::kScore, column.placed().index());
    if (Status status = column.Update(cycle, rows, moved_); !status.IsSuccess()) {
      observed.SetCode(status.code());
      point.SetCode(status.code());
      return status;
    }
  }
  return groups_ == nullptr ? Status() : groups_->Score(cycle);
}

std::int64_t View::SumOf(cluster::NodeRow row) const {
  std::int64_t total = 0;
  for (const ScoreColumn& column : columns_) {
    if (column.counts() && !column.is_classed()) total += column.weighted(row);
  }
  return total;
}

RowGroup View::GroupOf(cluster::NodeRow row) const {
  return groups_ == nullptr ? RowGroup{0} : groups_->group_of()[row.index()];
}

void View::UpdateTotals() {
  const std::size_t moved = moved_.rows().size() + entered_.size() + left_.size();
  if (totals_stale_ || !has_scores_ || moved_.all() || moved * kMovedShareMax > fitting_count_) {
    SumAll();
  } else {
    const auto update = [&](cluster::NodeRow row) { index_.Set(row, GroupOf(row), SumOf(row)); };
    for (const cluster::NodeRow row : moved_.rows()) {
      if (fitting_.Test(row.index())) update(row);
    }
    for (const cluster::NodeRow row : entered_) update(row);
    for (const cluster::NodeRow row : left_) index_.Remove(row);
  }
  totals_stale_ = false;
}

void View::SumAll() {
  index_.Grow(fitting_.size());
  const std::span<std::int64_t> totals = index_.totals();
  std::int64_t everywhere = 0;
  for (const ScoreColumn& column : columns_) {
    if (column.counts() && !column.is_classed()) everywhere += column.weighted_everywhere();
  }
  std::ranges::fill(totals, everywhere);
  for (const ScoreColumn& column : columns_) {
    if (column.counts() && !column.is_classed()) column.AddTo(totals);
  }
  const std::span<const std::uint64_t> words = std::as_const(fitting_).words();
  for (std::size_t row = 0; row < totals.size();) {
    const std::size_t end = std::min(totals.size(), row + 64);
    const std::uint64_t word = words[row / 64];
    if (word == ~std::uint64_t{0}) {
      row = end;
      continue;
    }
    for (std::size_t bit = 0; row < end; ++bit, ++row) {
      if (((word >> bit) & 1u) == 0) totals[row] = TotalIndex::kAbsent;
    }
  }
  index_.Summarize(groups_ == nullptr ? std::span<const RowGroup>() : groups_->group_of());
}

std::size_t View::rows_scored() const {
  if (by_kind_) return kind_columns_.rows_scored();
  std::size_t count = 0;
  for (const ScoreColumn& column : columns_) {
    if (column.counts() && !column.is_classed()) count += column.rows_scored();
  }
  return count;
}

cluster::NodeRow View::PickBest(base::Random& random) {
  if (by_kind_) return kind_columns_.PickBest(random);
  return index_.PickBest(groups_ == nullptr ? kNoAddend : groups_->addends(), random);
}

std::int64_t View::Raw(const ScoreColumn& column, cluster::NodeRow row) const {
  if (by_kind_) return kind_columns_.raw(static_cast<std::size_t>(&column - columns_.data()), row);
  return column.is_classed() ? groups_->raw(column, row) : column.raw(row);
}

std::int64_t View::Weighted(const ScoreColumn& column, cluster::NodeRow row) const {
  if (by_kind_) {
    const auto index = static_cast<std::size_t>(&column - columns_.data());
    return kind_columns_.normalized(column, index, row) * column.placed().weight;
  }
  return column.is_classed() ? groups_->weighted(column, row) : column.weighted(row);
}

// The plugins that can be asked by class.
std::vector<RowGroups::Member> View::PossibleMembers() const {
  std::vector<RowGroups::Member> members;
  if (!attempt_filters_.empty() || is_restricted_) return members;
  for (const Placed<StatefulPoint>& stateful : profile_.stateful()) {
    const auto* const point = dynamic_cast<const ClassPoint*>(stateful.plugin);
    const Plan* const plan = plans_->plans[stateful.index()];
    if (point == nullptr || plan == nullptr || states_[stateful.index()] == nullptr) continue;
    if (plan->filter_reads.attempt || plan->score_reads.attempt) continue;
    members.push_back({.plugin = stateful.index(),
                       .point = point,
                       .filters = position_of_[stateful.index()] != kNowhere,
                       .column = nullptr,
                       .facts = plan->filter_reads.facts | plan->score_reads.facts});
  }
  if (members.size() > RowGroups::kMembersMax) members.resize(RowGroups::kMembersMax);
  return members;
}

// False: some other plugin has to know each feasible row, which does not go together with groups.
bool View::FindColumns(std::span<RowGroups::Member> members) {
  for (ScoreColumn& column : columns_) {
    if (!column.takes_part()) continue;
    const PlacedScore& placed = column.placed();
    const auto member = std::ranges::find(members, placed.index(), &RowGroups::Member::plugin);
    if (member != members.end()) {
      member->column = &column;
    } else if (!column.is_kept() || (placed.pre_score && placed.point->reads_feasible()) ||
               placed.point->normalizing() == Normalizing::kByColumn) {
      return false;
    }
  }
  return true;
}

void View::FormGroups(Cycle& cycle) {
  if (groups_ != nullptr || groups_refused_) return;
  groups_refused_ = true;
  std::vector<RowGroups::Member> members = PossibleMembers();
  const auto use = [&](const RowGroups::Member& member) {
    return member.point->Classes(cycle, *states_[member.plugin]);
  };
  std::erase_if(members, [&](const RowGroups::Member& each) { return use(each) == ClassUse::kImpossible; });
  const bool is_gain = std::ranges::any_of(
      members, [&](const RowGroups::Member& each) { return use(each) == ClassUse::kGain; });
  if (!is_gain || !FindColumns(members)) return;
  groups_ = std::make_unique<RowGroups>(members);
  for (const RowGroups::Member& member : members) {
    member.point->UseClasses(cycle, *states_[member.plugin]);
    if (member.column == nullptr) continue;
    // What it had by row is not needed any more.
    member.column->Reset(plans_->plans[member.plugin], fitting_.size());
    member.column->SetClassed();
    member.column->Trim();
  }
  SortFilters();
  all_stale_ = true;
  totals_stale_ = true;
  ungrouped_.AddAll();
}

void View::DropGroups(Cycle& cycle) {
  Reset(plans_, cycle);
  groups_refused_ = true;
  RefreshStates(cycle);
}

}  // namespace berth::framework
