#include "framework/score_column.h"

#include <algorithm>

#include "fmt/format.h"

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
  if (!takes_part_) return;
  normalized_.resize(row_count);
  if (KeepsRaw()) raw_.resize(row_count);
}

void ScoreColumn::CollectAll(const Rows& rows) {
  rows_.clear();
  rows.feasible.ForEach(
      [&](std::size_t bit) { rows_.push_back(cluster::NodeRow(static_cast<std::uint32_t>(bit))); });
  extent_ = {};
  at_min_ = at_max_ = 0;
}

void ScoreColumn::CollectRows(const Rows& rows) {
  rows_.assign(rows.entered.begin(), rows.entered.end());
  for (const cluster::NodeRow row : stale_.rows()) {
    // One that was not scored before is among those that entered, if it is feasible.
    if (rows.before.Test(row.index()) && rows.feasible.Test(row.index())) rows_.push_back(row);
  }
  std::ranges::sort(rows_);
  if (!KeepsRaw()) return;
  for (const cluster::NodeRow row : rows.left) Exclude(raw_[row.index()]);
  for (const cluster::NodeRow row : rows_) {
    if (rows.before.Test(row.index())) Exclude(raw_[row.index()]);
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

Status ScoreColumn::ScoreRows(const Cycle& cycle) {
  scores_.resize(rows_.size());
  if (rows_.empty()) return {};
  const Status status = placed_.point->Score(cycle, rows_, scores_);
  if (!status.IsSuccess()) {
    return Status::Error(fmt::format("running Score plugins: plugin \"{}\" failed with: {}",
                                     placed_.plugin->Name(), status.AsError()));
  }
  if (!KeepsRaw()) return {};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    raw_[rows_[i].index()] = scores_[i];
    Include(scores_[i]);
  }
  return {};
}

Status ScoreColumn::Update(const Cycle& cycle, const Rows& rows, ChangedRows& moved) {
  const std::size_t changed = stale_.rows().size() + rows.entered.size() + rows.left.size();
  const bool all =
      !is_valid_ || !is_kept_ || stale_.all() || changed * kChangedShareMax > rows.feasible_count;
  const Extent before = extent_;
  if (all) {
    CollectAll(rows);
  } else {
    CollectRows(rows);
  }
  stale_.Reset(rows.feasible.size());
  is_valid_ = true;
  if (Status status = ScoreRows(cycle); !status.IsSuccess()) return status;
  if (!KeepsRaw()) return Store(moved);

  if (extent_.count > 0 && (at_min_ == 0 || at_max_ == 0)) Rescan(rows.feasible);
  const bool by_column = placed_.point->normalizing() == Normalizing::kByColumn;
  if (!all && (!SameBounds(extent_, before) || (by_column && changed > 0))) {
    rows_.clear();
    rows.feasible.ForEach(
        [&](std::size_t bit) { rows_.push_back(cluster::NodeRow(static_cast<std::uint32_t>(bit))); });
  }
  return Normalize(cycle, moved);
}

Status ScoreColumn::Normalize(const Cycle& cycle, ChangedRows& moved) {
  scores_.resize(rows_.size());
  if (placed_.point->normalizing() == Normalizing::kByColumn) {
    for (std::size_t i = 0; i < rows_.size(); ++i) scores_[i] = raw_[rows_[i].index()];
    const Status status = rows_.empty() ? Status() : placed_.point->NormalizeColumn(cycle, rows_, scores_);
    if (!status.IsSuccess()) {
      return Status::Error(fmt::format("running Normalize on Score plugins: plugin \"{}\" failed with: {}",
                                       placed_.plugin->Name(), status.AsError()));
    }
    return Store(moved);
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
  placed_.point->Normalize(extent_, scores_);
  return Store(moved);
}

Status ScoreColumn::Store(ChangedRows& moved) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::int64_t score = scores_[i] == kNoScore ? 0 : scores_[i];
    if (score < 0 || score > kScoreMax) {
      return Status::Error(fmt::format(
          "applying score defaultWeights on Score plugins: plugin \"{}\" returns an invalid score "
          "{}, it should in the range of [0, {}] after normalizing",
          placed_.plugin->Name(), score, kScoreMax));
    }
    std::uint8_t& kept = normalized_[rows_[i].index()];
    if (kept == score) continue;
    kept = static_cast<std::uint8_t>(score);
    moved.Add(rows_[i]);
  }
  return {};
}

}  // namespace berth::framework
