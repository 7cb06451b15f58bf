#include <algorithm>

#include "framework/observer.h"
#include "framework/view.h"

// What a view does with kinds of rows: it is told by kind alone, or, where some plugin tells rows apart, it
// asks the others by kind when all rows are judged and scored.
namespace berth::framework {
namespace {

// A bit per column says what a kind was scored for.
constexpr std::size_t kColumnsMax = 64;

}  // namespace

bool View::IsToldByKind(const Cycle& cycle) const {
  if (kinds_ == nullptr || groups_ != nullptr || is_restricted_ || columns_.size() > kColumnsMax)
    return false;
  for (const KeptFilter& filter : filters_) {
    if (!filter.is_alike && !cycle.IsSkipped(filter.placed->index())) return false;
  }
  for (const Placed<FilterPoint>* const filter : attempt_filters_) {
    if (!cycle.IsSkipped(filter->index())) return false;
  }
  return std::ranges::all_of(columns_, [&](const ScoreColumn& column) {
    if (!column.takes_part()) return true;
    const ScorePoint& point = *column.placed().point;
    return (column.is_alike() || point.ScoresAlike(cycle)) && point.normalizing() != Normalizing::kByColumn;
  });
}

Status View::JudgeKinds(Cycle& cycle) {
  if (!is_empty_) ReleaseRows();
  ClearStale();
  const std::span<const cluster::NodeRow> rows = kind_columns_.Begin(*kinds_);
  rows_judged_ = rows.size();
  active_.assign(rows.begin(), rows.end());
  const std::span<RejectionId> refusals = cycle.refusals();
  for (const cluster::NodeRow row : rows) refusals[row.index()] = kAccepted;
  NodeSelection nodes(active_, refusals, cycle.rejections());
  for (const KeptFilter& filter : filters_) {
    if (active_.empty()) break;
    if (cycle.IsSkipped(filter.placed->index())) continue;
    if (Status status = RunFilter(*filter.placed, cycle, nodes); !status.IsSuccess()) return status;
  }
  kind_columns_.SetVerdicts(refusals);
  return {};
}

// One row of each kind, for what follows in this attempt. Rows that changed are few, and asked themselves.
void View::SampleKinds() {
  samples_.rows.clear();
  samples_.kinds.clear();
  if (kinds_ == nullptr || !(is_empty_ || all_stale_)) return;
  samples_.kind_of = kinds_->kind_of();
  std::vector<std::pair<cluster::NodeRow, KindId>> found;
  const std::span<const RowKinds::Size> sizes = kinds_->sizes();
  for (KindId kind = 0; kind < sizes.size(); ++kind) {
    if (sizes[kind].rows > 0) found.emplace_back(kinds_->Sample(kind), kind);
  }
  std::ranges::sort(found);
  for (const auto& [row, kind] : found) {
    samples_.rows.push_back(row);
    samples_.kinds.push_back(kind);
  }
}

Status View::FilterByKind(Cycle& cycle, std::size_t& position, NodeSelection& nodes) {
  active_ = samples_.rows;
  const std::span<RejectionId> refusals = cycle.refusals();
  for (const cluster::NodeRow row : active_) refusals[row.index()] = kAccepted;
  NodeSelection sampled(active_, refusals, cycle.rejections());
  for (; position < filters_.size() && filters_[position].is_alike; ++position) {
    const Placed<FilterPoint>& filter = *filters_[position].placed;
    if (active_.empty() || cycle.IsSkipped(filter.index())) continue;
    if (Status status = RunFilter(filter, cycle, sampled); !status.IsSuccess()) return status;
  }
  if (active_.size() == samples_.rows.size()) return {};
  kind_refusals_.assign(kinds_->sizes().size(), kAccepted);
  for (std::size_t i = 0; i < samples_.rows.size(); ++i) {
    kind_refusals_[samples_.kinds[i]] = refusals[samples_.rows[i].index()];
  }
  nodes.Judge([&](cluster::NodeRow row) { return kind_refusals_[samples_.kind_of[row.index()]]; });
  return {};
}

}  // namespace berth::framework
