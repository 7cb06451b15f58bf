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
  is_alike_ = is_kept_ && plan->score_reads.alike;
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

// An empty list in braces would only clear a vector and keep its memory.
void ScoreColumn::Trim() {
  stale_.Trim();
  if (!is_uniform()) return;
  normalized_ = std::vector<std::uint8_t>();
  raw_ = std::vector<std::int64_t>();
}

void ScoreColumn::Release() {
  BecomeUniform(0, 0);
  is_valid_ = false;
  stale_ = ChangedRows();
  Trim();
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
  std::vector<cluster::NodeRow>& list = rows.scratch.all;
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

Status ScoreColumn::Ask(const PlacedScore& placed, const Cycle& cycle, std::span<const cluster::NodeRow> rows,
                        std::span<std::int64_t> scores) {
  const Status status = placed.point->Score(cycle, rows, scores);
  if (status.IsSuccess()) return {};
  return Status::Error(fmt::format("running Score plugins: plugin \"{}\" failed with: {}",
                                   placed.plugin->Name(), status.AsError()));
}

Status ScoreColumn::ScoreRows(const Cycle& cycle, const KindSamples* kinds) {
  rows_scored_ = 0;
  scores_.resize(rows_.size());
  if (rows_.empty()) return {};
  if (kinds == nullptr || !is_alike_) {
    rows_scored_ = rows_.size();
    return Ask(placed_, cycle, rows_, scores_);
  }
  // There may be more kinds than rows that the pod fits on.
  rows_scored_ = kinds->rows.size();
  scores_.resize(rows_scored_);
  if (Status status = Ask(placed_, cycle, kinds->rows, scores_); !status.IsSuccess()) return status;
  by_kind_.assign(*std::ranges::max_element(kinds->kinds) + std::size_t{1}, 0);
  for (std::size_t i = 0; i < rows_scored_; ++i) by_kind_[kinds->kinds[i]] = scores_[i];
  scores_.resize(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) scores_[i] = by_kind_[kinds->kind_of[rows_[i].index()]];
  return {};
}

bool ScoreColumn::UpdateAlike(const Cycle& cycle, const Rows& rows, ChangedRows& moved, Status& status) {
  if (is_kept_ || rows.feasible_count == 0 || !placed_.point->ScoresAlike(cycle)) return false;
  if (placed_.point->normalizing() == Normalizing::kByColumn) return false;
  const cluster::NodeRow some(static_cast<std::uint32_t>(rows.feasible.FindFirst()));
  scores_.resize(1);
  rows_scored_ = 1;
  status = Ask(placed_, cycle, {&some, 1}, scores_);
  if (status.IsSuccess()) status = SetUniform(scores_.front(), rows.feasible_count, moved);
  return true;
}

bool ScoreColumn::UpdateByKind(const Cycle& cycle, const Rows& rows, ChangedRows& moved, Status& status) {
  const KindSamples* const kinds = rows.kinds;
  if (kinds == nullptr || !is_alike_ || rows.feasible_count == 0) return false;
  if (placed_.point->normalizing() == Normalizing::kByColumn) return false;
  scores_.resize(kinds->rows.size());
  rows_scored_ = kinds->rows.size();
  status = Ask(placed_, cycle, kinds->rows, scores_);
  if (!status.IsSuccess()) return true;
  const std::int64_t first = scores_.front();
  if (std::ranges::all_of(scores_, [&](std::int64_t score) { return score == first; })) {
    status = SetUniform(first, rows.feasible_count, moved);
    return true;
  }
  const auto is_odd = [](std::int64_t score) { return score < 0 || score > kScoreMax; };
  // Of a kind without feasible rows this would be nobody's business.
  if (KeepsRaw() || std::ranges::any_of(scores_, is_odd)) return false;
  by_kind_.assign(*std::ranges::max_element(kinds->kinds) + std::size_t{1}, 0);
  for (std::size_t i = 0; i < scores_.size(); ++i) by_kind_[kinds->kinds[i]] = scores_[i];
  normalized_.resize(row_count_);
  const KindId* const kind_of = kinds->kind_of.data();
  const std::size_t count = std::min(row_count_, kinds->kind_of.size());
  for (std::size_t row = 0; row < count; ++row) {
    const KindId kind = kind_of[row];
    normalized_[row] = kind == RowKinds::kNone ? std::uint8_t{0} : static_cast<std::uint8_t>(by_kind_[kind]);
  }
  moved.AddAll();
  return true;
}

bool ScoreColumn::KeepAll(const Rows& rows) {
  if (rows.groups != nullptr || placed_.point->normalizing() != Normalizing::kByExtent) return false;
  std::int64_t min = kNoScore;
  std::int64_t max = kNoScore;
  bool has_gap = scores_.empty();
  if (!has_gap) min = max = scores_.front();
  for (const std::int64_t score : scores_) {
    min = std::min(min, score);
    max = std::max(max, score);
  }
  has_gap = has_gap || min == kNoScore;
  if (has_gap) return false;
  at_min_ = at_max_ = 0;
  std::int64_t* const raw = raw_.data();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::int64_t score = scores_[i];
    raw[rows_[i].index()] = score;
    at_min_ += score == min ? 1u : 0u;
    at_max_ += score == max ? 1u : 0u;
  }
  extent_ = normalized_by_ = {min, max, rows_.size()};
  placed_.point->Normalize(extent_, scores_);
  return true;
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
  status = SetUniform(raw, rows_.size(), moved);
  return true;
}

Status ScoreColumn::SetUniform(std::int64_t raw, std::size_t count, ChangedRows& moved) {
  extent_ = raw == kNoScore ? Extent() : Extent{raw, raw, count};
  at_min_ = at_max_ = extent_.count;
  std::int64_t normalized = raw == kNoScore ? 0 : raw;
  if (raw != kNoScore && KeepsRaw()) placed_.point->Normalize(extent_, {&normalized, 1});
  if (Status status = CheckRange(placed_, normalized); !status.IsSuccess()) return status;
  if (!is_uniform() || normalized_uniform_ != normalized) moved.AddAll();
  BecomeUniform(raw, normalized);
  normalized_by_ = extent_;
  return {};
}

void ScoreColumn::Borrow(ScoreScratch& scratch) {
  rows_.swap(scratch.rows);
  scores_.swap(scratch.scores);
  by_kind_.swap(scratch.by_kind);
}

Status ScoreColumn::Update(const Cycle& cycle, const Rows& rows, ChangedRows& moved) {
  Borrow(rows.scratch);
  Status status = UpdateBorrowed(cycle, rows, moved);
  Borrow(rows.scratch);
  return status;
}

Status ScoreColumn::UpdateBorrowed(const Cycle& cycle, const Rows& rows, ChangedRows& moved) {
  const std::size_t changed = stale_.rows().size() + rows.entered.size() + rows.left.size();
  const bool all =
      !is_valid_ || !is_kept_ || stale_.all() || changed * kChangedShareMax > rows.feasible_count;
  Status status;
  if (all && (UpdateAlike(cycle, rows, moved, status) || UpdateByKind(cycle, rows, moved, status))) {
    stale_.Reset(rows.feasible.size());
    is_valid_ = true;
    return status;
  }
  if (all) {
    CollectAll(rows);
  } else {
    CollectRows(rows);
  }
  stale_.Reset(rows.feasible.size());
  is_valid_ = true;
  // A few rows are as well asked themselves.
  status = ScoreRows(cycle, all ? rows.kinds : nullptr);
  if (!status.IsSuccess() || KeepUniform(all, moved, status)) return status;

  if (is_uniform()) Spread();
  if (!KeepsRaw() || (all && KeepAll(rows))) return Store(nullptr, moved);
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
  if (moved.all() && std::ranges::all_of(scores_, [](std::int64_t s) { return s >= 0 && s <= kScoreMax; })) {
    std::uint8_t* const normalized = normalized_.data();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      normalized[rows_[i].index()] = static_cast<std::uint8_t>(scores_[i]);
    }
    return {};
  }
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
  std::int64_t* const total = totals.data();
  const std::uint8_t* const score = normalized_.data();
  const std::size_t count = std::min(totals.size(), normalized_.size());
  for (std::size_t row = 0; row < count; ++row) total[row] += score[row] * weight;
}

}  // namespace berth::framework
