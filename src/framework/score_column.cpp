#include "framework/score_column.h"

#include <algorithm>

#include "fmt/format.h"

#include "framework/row_groups.h"

namespace berth::framework {
namespace {

// Beyond this share of the feasible rows all of them are scored.
constexpr std::size_t kChangedShareMax = 4;

bool SameBounds(const Extent& a, const Extent& b) {
  return a.min == b.min && a.max == b.max && (a.count == 0) == (b.count == 0);
}

}  // namespace

void ScoreColumn::Reset(const Plan* plan, std::size_t row_count) {
  takes_part_ = plan == nullptr || plan->scores;
  is_kept_ = plan != nullptr && !plan->score_reads.attempt;
  facts_ = is_kept_ && takes_part_ ? plan->score_reads.facts : 0;
  skipped_ = false;
  is_valid_ = false;
  is_classed_ = false;
  BecomeUniform(0, 0);
  stale_.Reset(row_count);
  Grow(row_count);
}

bool ScoreColumn::SetSkipped(bool skipped) {
  if (skipped == skipped_) return false;
  skipped_ = skipped;
  // While it is skipped nobody tells the column which rows come and go.
  is_valid_ = false;
  return true;
}

void ScoreColumn::Grow(std::size_t row_count) {
  stale_.Grow(row_count);
  row_count_ = row_count;
  if (is_uniform()) return;
  normalized_.resize(row_count);
  if (KeepsRaw()) raw_.resize(row_count);
}

void ScoreColumn::Trim() {
  rows_ = {};
  scores_ = {};
  if (!is_uniform()) return;
  normalized_ = {};
  raw_ = {};
}

void ScoreColumn::BecomeUniform(std::int64_t raw, std::int64_t normalized) {
  normalized_.clear();
  raw_.clear();
  raw_uniform_ = raw;
  normalized_uniform_ = static_cast<std::uint8_t>(normalized);
}

void ScoreColumn::Spread() {
  normalized_.assign(row_count_, normalized_uniform_);
  if (KeepsRaw()) raw_.assign(row_count_, raw_uniform_);
}

void ScoreColumn::CollectAll(const Rows& rows) {
  std::vector<cluster::NodeRow>& list = *rows.list;
  if (list.empty()) {
    list.reserve(rows.feasible_count);
    rows.feasible.ForEach(
        [&](std::size_t bit) { list.push_back(cluster::NodeRow(static_cast<std::uint32_t>(bit))); });
  }
  rows_ = list;
}

void ScoreColumn::CollectRows(const Rows& rows) {
  rows_.assign(rows.entered.begin(), rows.entered.end());
  for (const cluster::NodeRow row : stale_.rows()) {
    // One that was not scored before is among those that entered, if it is feasible.
    if (rows.before.Test(row.index()) && rows.feasible.Test(row.index())) rows_.push_back(row);
  }
  std::ranges::sort(rows_);
  if (!KeepsRaw()) return;
  for (const cluster::NodeRow row : rows.left) Exclude(Raw(row));
  for (const cluster::NodeRow row : rows_) {
    if (rows.before.Test(row.index())) Exclude(Raw(row));
  }
}

void ScoreColumn::Include(std::int64_t score) {
  if (score == kNoScore) return;
  if (extent_.count == 0 || score < extent_.min) {
    extent_.min = score;
    at_min_ = 0;
  }
  if (extent_.count == 0 || score > extent_.max) {
    extent_.max = score;
    at_max_ = 0;
  }
  ++extent_.count;
  if (score == extent_.min) ++at_min_;
  if (score == extent_.max) ++at_max_;
}

void ScoreColumn::Exclude(std::int64_t score) {
  if (score == kNoScore) return;
  --extent_.count;
  if (score == extent_.min) --at_min_;
  if (score == extent_.max) --at_max_;
}

void ScoreColumn::Rescan(const base::Bitset& feasible) {
  extent_ = {};
  at_min_ = at_max_ = 0;
  feasible.ForEach([&](std::size_t bit) { Include(raw_[bit]); });
}

Extent ScoreColumn::OpenExtent(const Rows& rows) const {
  if (rows.groups == nullptr || extent_.min == extent_.max) return extent_;
  Extent open;
  rows.feasible.ForEach([&](std::size_t bit) {
    if (raw_[bit] == kNoScore || !rows.groups->IsOpen(cluster::NodeRow(static_cast<std::uint32_t>(bit))))
      return;
    open.min = open.count == 0 ? raw_[bit] : std::min(open.min, raw_[bit]);
    open.max = open.count == 0 ? raw_[bit] : std::max(open.max, raw_[bit]);
    ++open.count;
  });
  return open;
}

Status ScoreColumn::ScoreRows(const Cycle& cycle) {
  scores_.resize(rows_.size());
  rows_scored_ = rows_.size();
  if (rows_.empty()) return {};
  const Status status = placed_.point->Score(cycle, rows_, scores_);
  if (!status.IsSuccess()) {
    return Status::Error(fmt::format("running Score plugins: plugin \"{}\" failed with: {}",
                                     placed_.plugin->Name(), status.AsError()));
  }
  return {};
}

bool ScoreColumn::KeepUniform(bool all, ChangedRows& moved, Status& status) {
  if (placed_.point->normalizing() == Normalizing::kByColumn || (all ? rows_.empty() : !is_uniform())) {
    return false;
  }
  const std::int64_t raw = all ? scores_.front() : raw_uniform_;
  if (std::ranges::any_of(scores_, [&](std::int64_t score) { return score != raw; })) return false;
  if (!all) {
    if (KeepsRaw()) {
      for (std::size_t i = 0; i < rows_.size(); ++i) Include(raw);
    }
    return true;
  }
  extent_ = raw == kNoScore ? Extent() : Extent{raw, raw, rows_.size()};
  at_min_ = at_max_ = extent_.count;
  std::int64_t normalized = raw == kNoScore ? 0 : raw;
  if (raw != kNoScore && KeepsRaw()) placed_.point->Normalize(extent_, {&normalized, 1});
  status = CheckRange(placed_, normalized);
  if (!status.IsSuccess()) return true;
  if (!is_uniform() || normalized_uniform_ != normalized) moved.AddAll();
  BecomeUniform(raw, normalized);
  normalized_by_ = extent_;
  return true;
}

Status ScoreColumn::Update(const Cycle& cycle, const Rows& rows, ChangedRows& moved) {
  const std::size_t changed = stale_.rows().size() + rows.entered.size() + rows.left.size();
  const bool all =
      !is_valid_ || !is_kept_ || stale_.all() || changed * kChangedShareMax > rows.feasible_count;
  if (all) {
    CollectAll(rows);
  } else {
    CollectRows(rows);
  }
  stale_.Reset(rows.feasible.size());
  is_valid_ = true;
  Status status = ScoreRows(cycle);
  if (!status.IsSuccess() || KeepUniform(all, moved, status)) return status;

  if (is_uniform()) Spread();
  if (!KeepsRaw()) return Store(nullptr, moved);
  if (all) {
    extent_ = {};
    at_min_ = at_max_ = 0;
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    raw_[rows_[i].index()] = scores_[i];
    Include(scores_[i]);
  }
  if (extent_.count > 0 && (at_min_ == 0 || at_max_ == 0)) Rescan(rows.feasible);
  const Extent extent = OpenExtent(rows);
  const bool by_column = placed_.point->normalizing() == Normalizing::kByColumn;
  if (!all && (!SameBounds(extent, normalized_by_) || (by_column && changed > 0))) CollectAll(rows);
  normalized_by_ = extent;
  return Normalize(cycle, rows, moved);
}

Status ScoreColumn::Normalize(const Cycle& cycle, const Rows& rows, ChangedRows& moved) {
  scores_.resize(rows_.size());
  if (placed_.point->normalizing() == Normalizing::kByColumn) {
    for (std::size_t i = 0; i < rows_.size(); ++i) scores_[i] = raw_[rows_[i].index()];
    const Status status = rows_.empty() ? Status() : placed_.point->NormalizeColumn(cycle, rows_, scores_);
    if (!status.IsSuccess()) {
      return Status::Error(fmt::format("running Normalize on Score plugins: plugin \"{}\" failed with: {}",
                                       placed_.plugin->Name(), status.AsError()));
    }
    return Store(rows.groups, moved);
  }
  // Rows without a score count as 0 and are not shown to the plugin.
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const cluster::NodeRow row = rows_[i];
    const std::int64_t raw = raw_[row.index()];
    if (raw != kNoScore) {
      rows_[count] = row;
      scores_[count++] = raw;
    } else if (normalized_[row.index()] != 0) {
      normalized_[row.index()] = 0;
      moved.Add(row);
    }
  }
  rows_.resize(count);
  scores_.resize(count);
  placed_.point->Normalize(normalized_by_, scores_);
  return Store(rows.groups, moved);
}

Status ScoreColumn::CheckRange(const PlacedScore& placed, std::int64_t score) {
  if (score >= 0 && score <= kScoreMax) return {};
  return Status::Error(
      fmt::format("applying score defaultWeights on Score plugins: plugin \"{}\" returns an invalid score "
                  "{}, it should in the range of [0, {}] after normalizing",
                  placed.plugin->Name(), score, kScoreMax));
}

Status ScoreColumn::Store(const RowGroups* groups, ChangedRows& moved) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::int64_t score = scores_[i] == kNoScore ? 0 : scores_[i];
    if (score < 0 || score > kScoreMax) {
      if (groups == nullptr || groups->IsOpen(rows_[i])) return CheckRange(placed_, score);
      // Outside of the extent of the open rows. When its group opens the extent is another one, and the whole
      // column is normalised again.
      score = std::clamp<std::int64_t>(score, 0, kScoreMax);
    }
    std::uint8_t& kept = normalized_[rows_[i].index()];
    if (kept == score) continue;
    kept = static_cast<std::uint8_t>(score);
    moved.Add(rows_[i]);
  }
  return {};
}

void ScoreColumn::AddTo(std::span<std::int64_t> totals) const {
  const std::int64_t weight = placed_.weight;
  if (is_uniform()) return;
  for (std::size_t row = 0; row < totals.size(); ++row) totals[row] += normalized_[row] * weight;
}

}  // namespace berth::framework
