#include "framework/kind_columns.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "framework/observer.h"

namespace berth::framework {

void KindColumns::Reset() {
  entries_.clear();
  columns_.clear();
  counted_ = 0;
  births_ = 0;
  refused_.clear();
  unscored_.clear();
  best_.clear();
  is_best_known_ = false;
  hidden_.clear();
  varied_.clear();
  masked_.clear();
  feasible_count_ = 0;
  kinds_ = nullptr;
}

// A kind that was not judged yet.
void KindColumns::Meet(KindId kind) {
  Entry& entry = entries_[kind];
  const bool is_listed = entry.is_listed;
  entry = {};
  entry.born = kinds_->sizes()[kind].born;
  entry.is_listed = is_listed;
  samples_.push_back({kinds_->Sample(kind), kind});
}

std::span<const cluster::NodeRow> KindColumns::Begin(const RowKinds& kinds) {
  kinds_ = &kinds;
  const std::span<const RowKinds::Size> sizes = kinds.sizes();
  if (entries_.size() < sizes.size()) entries_.resize(sizes.size());
  samples_.clear();
  if (kinds.births() - births_ > RowKinds::kBirthsKept) {
    for (KindId kind = 0; kind < sizes.size(); ++kind) {
      if (sizes[kind].rows > 0 && !IsCurrent(kind)) Meet(kind);
    }
  } else {
    for (std::uint64_t born = births_ + 1; born <= kinds.births(); ++born) {
      const KindId kind = kinds.MadeAs(born);
      if (kind < sizes.size() && sizes[kind].rows > 0 && sizes[kind].born == born) Meet(kind);
    }
  }
  births_ = kinds.births();
  std::ranges::sort(samples_);
  rows_.clear();
  for (const Sample& sample : samples_) rows_.push_back(sample.row);
  rows_scored_ = 0;
  return rows_;
}

void KindColumns::SetVerdicts(std::span<const RejectionId> refusals) {
  for (const Sample& sample : samples_) {
    Entry& entry = entries_[sample.kind];
    entry.refusal = refusals[sample.row.index()];
    if (!entry.refusal.IsRefusal()) {
      unscored_.push_back(sample.kind);
    } else if (!entry.is_listed) {
      entry.is_listed = true;
      refused_.push_back(sample.kind);
    }
  }
  if (unscored_.size() > entries_.size()) PruneUnscored();
  feasible_count_ = kinds_->row_count() - CountRefused();
}

// Attempts that find one row score nothing, however many there are.
void KindColumns::PruneUnscored() {
  std::erase_if(unscored_, [&](KindId kind) { return !IsOpen(kind) || entries_[kind].sums == sums_; });
  std::ranges::sort(unscored_);
  const auto twice = std::ranges::unique(unscored_);
  unscored_.erase(twice.begin(), twice.end());
}

std::size_t KindColumns::CountRefused() {
  std::size_t rows = 0;
  std::erase_if(refused_, [&](KindId kind) {
    const bool is_refused = IsCurrent(kind) && entries_[kind].refusal.IsRefusal();
    if (is_refused) rows += kinds_->sizes()[kind].rows;
    entries_[kind].is_listed = is_refused;
    return !is_refused;
  });
  return rows;
}

void KindColumns::CollectOpen() {
  open_.clear();
  for (KindId kind = 0; kind < kinds_->sizes().size(); ++kind) {
    if (IsOpen(kind)) open_.push_back(kind);
  }
}

const KindColumns::Masked* KindColumns::FindMask(cluster::NodeRow row) const {
  const auto found = std::ranges::lower_bound(masked_, row, {}, &Masked::row);
  return found != masked_.end() && found->row == row ? &*found : nullptr;
}

void KindColumns::Mask(cluster::NodeRow row, RejectionId refusal) {
  const auto at = std::ranges::lower_bound(masked_, row, {}, &Masked::row);
  if (at != masked_.end() && at->row == row) {
    at->refusal = refusal;
    return;
  }
  const bool was_feasible = IsFeasible(row);
  masked_.insert(at, {row, refusal});
  if (!was_feasible) return;
  hidden_.resize(entries_.size());
  ++hidden_[KindOf(row)];
  --feasible_count_;
}

void KindColumns::EndAttempt() {
  masked_.clear();
  hidden_.clear();
}

void KindColumns::CollectUnscored() {
  samples_.clear();
  rows_.clear();
  for (const KindId kind : unscored_) {
    if (IsOpen(kind) && entries_[kind].sums != sums_) samples_.push_back({kinds_->Sample(kind), kind});
  }
  unscored_.clear();
  std::ranges::sort(samples_);
  // A kind that was made again under the same id may be there twice.
  const auto twice = std::ranges::unique(samples_);
  samples_.erase(twice.begin(), twice.end());
  for (const Sample& sample : samples_) rows_.push_back(sample.row);
}

Status KindColumns::AddFixed(std::span<const ScoreColumn> columns, KindId kind) {
  Entry& entry = entries_[kind];
  entry.fixed = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const PlacedScore& placed = columns[i].placed();
    if (!columns[i].counts() || placed.point->normalizing() != Normalizing::kNone) continue;
    const std::int64_t score = columns_[i].raw[kind];
    if (score == kNoScore) continue;
    if (Status status = ScoreColumn::CheckRange(placed, score); !status.IsSuccess()) return status;
    entry.fixed += score * placed.weight;
  }
  return {};
}

Status KindColumns::ScoreNew(const Cycle& cycle, std::span<const ScoreColumn> columns) {
  CollectUnscored();
  if (rows_.empty()) return {};
  scores_.resize(rows_.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].counts()) continue;
    const PlacedScore& placed = columns[i].placed();
    Observed observed(cycle.observer(), ExtensionPoint::kScore, placed.index());
    if (Status status = ScoreColumn::Ask(placed, cycle, rows_, scores_); !status.IsSuccess()) {
      observed.SetCode(status.code());
      return status;
    }
    rows_scored_ += rows_.size();
    Column& column = columns_[i];
    if (column.raw.empty()) column.extent = {scores_.front(), scores_.front(), 0};
    column.raw.resize(entries_.size());
    for (std::size_t at = 0; at < samples_.size(); ++at) {
      column.raw[samples_[at].kind] = scores_[at];
      column.is_uniform = column.is_uniform && scores_[at] == column.extent.min && scores_[at] != kNoScore;
    }
  }
  for (const Sample& sample : samples_) {
    entries_[sample.kind].sums = sums_;
    if (Status status = AddFixed(columns, sample.kind); !status.IsSuccess()) return status;
  }
  return {};
}

Status KindColumns::AddCommon(const ScoreColumn& placed, Column& column) {
  column.extent.count = feasible_count_;
  std::int64_t score = column.extent.min;
  placed.placed().point->Normalize(column.extent, {&score, 1});
  common_ += score * placed.placed().weight;
  return ScoreColumn::CheckRange(placed.placed(), score);
}

Status KindColumns::AddVaried(const ScoreColumn& placed, Column& column) {
  Extent& extent = column.extent;
  extent = {};
  scores_.clear();
  for (const KindId kind : open_) {
    const std::int64_t score = column.raw[kind];
    if (score == kNoScore || Shown(kind) == 0) continue;
    extent.min = extent.count == 0 ? score : std::min(extent.min, score);
    extent.max = extent.count == 0 ? score : std::max(extent.max, score);
    extent.count += Shown(kind);
    scores_.push_back(score);
  }
  placed.placed().point->Normalize(extent, scores_);
  std::size_t next = 0;
  for (const KindId kind : open_) {
    if (column.raw[kind] == kNoScore || Shown(kind) == 0) continue;
    const std::int64_t score = scores_[next++];
    if (Status status = ScoreColumn::CheckRange(placed.placed(), score); !status.IsSuccess()) return status;
    varied_[kind] += score * placed.placed().weight;
  }
  return {};
}

Status KindColumns::Score(const Cycle& cycle, std::span<const ScoreColumn> columns) {
  columns_.resize(columns.size());
  std::uint64_t counted = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].counts()) counted |= std::uint64_t{1} << i;
  }
  // What is fixed is of other columns than before: everything is summed up again.
  if (std::exchange(counted_, counted) != counted || sums_ == 0) {
    ++sums_;
    CollectOpen();
    unscored_ = open_;
    is_best_known_ = false;
  }
  if (Status status = ScoreNew(cycle, columns); !status.IsSuccess()) return status;
  common_ = 0;
  varied_.clear();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].counts() || columns[i].placed().point->normalizing() == Normalizing::kNone) continue;
    if (!columns_[i].is_uniform && varied_.empty()) {
      varied_.resize(entries_.size());
      CollectOpen();
    }
    Status status =
        columns_[i].is_uniform ? AddCommon(columns[i], columns_[i]) : AddVaried(columns[i], columns_[i]);
    if (!status.IsSuccess()) return status;
  }
  if (is_best_known_ && varied_.empty() && masked_.empty()) UpdateBest();
  // Nothing is left of them, or they are others this time.
  if (!is_best_known_ || !varied_.empty() || !masked_.empty()) FindBest();
  return {};
}

// Among those that were best, and those that were scored just now.
void KindColumns::UpdateBest() {
  std::erase_if(best_, [&](KindId kind) {
    return !IsOpen(kind) || entries_[kind].sums != sums_ || entries_[kind].fixed != best_fixed_;
  });
  is_best_known_ = !best_.empty();
  if (!is_best_known_) return;
  std::size_t known = best_.size();
  for (const Sample& sample : samples_) {
    const std::int64_t fixed = entries_[sample.kind].fixed;
    if (fixed < best_fixed_) continue;
    if (fixed > best_fixed_) {
      best_.clear();
      known = 0;
    }
    best_fixed_ = fixed;
    best_.push_back(sample.kind);
  }
  if (best_.size() != known) {
    const auto added = best_.begin() + static_cast<std::ptrdiff_t>(known);
    std::sort(added, best_.end());
    std::inplace_merge(best_.begin(), added, best_.end());
    const auto twice = std::ranges::unique(best_);
    best_.erase(twice.begin(), twice.end());
  }
  best_count_ = 0;
  for (const KindId kind : best_) best_count_ += kinds_->sizes()[kind].rows;
}

void KindColumns::FindBest() {
  CollectOpen();
  is_best_known_ = varied_.empty() && masked_.empty();
  best_.clear();
  best_count_ = 0;
  std::int64_t best = 0;
  for (const KindId kind : open_) {
    const std::size_t shown = Shown(kind);
    if (shown == 0) continue;
    const std::int64_t total = entries_[kind].fixed + Varied(kind);
    if (best_.empty() || total > best) {
      best_.clear();
      best_count_ = 0;
      best = total;
    }
    if (total != best) continue;
    best_.push_back(kind);
    best_count_ += shown;
  }
  best_fixed_ = best;
}

std::vector<cluster::NodeRow> KindColumns::MaskedAmong(std::span<const KindId> kinds) const {
  std::vector<cluster::NodeRow> rows;
  for (const Masked& masked : masked_) {
    if (std::ranges::binary_search(kinds, KindOf(masked.row))) rows.push_back(masked.row);
  }
  return rows;
}

cluster::NodeRow KindColumns::PickBest(base::Random& random) const {
  BERTH_CHECK(best_count_ > 0);
  return kinds_->Nth(best_, random.Uniform(best_count_), MaskedAmong(best_));
}

cluster::NodeRow KindColumns::FirstFeasible() const {
  std::vector<KindId> kinds;
  for (KindId kind = 0; kind < kinds_->sizes().size(); ++kind) {
    if (IsOpen(kind) && Shown(kind) > 0) kinds.push_back(kind);
  }
  return kinds.empty() ? cluster::NodeRow() : kinds_->Nth(kinds, 0, MaskedAmong(kinds));
}

bool KindColumns::IsFeasible(cluster::NodeRow row) const {
  const KindId kind = KindOf(row);
  return kind != RowKinds::kNone && !entries_[kind].refusal.IsRefusal() && FindMask(row) == nullptr;
}

RejectionId KindColumns::RefusalOf(cluster::NodeRow row) const {
  if (const Masked* const masked = FindMask(row)) return masked->refusal;
  const KindId kind = KindOf(row);
  return kind == RowKinds::kNone ? kAccepted : entries_[kind].refusal;
}

std::int64_t KindColumns::raw(std::size_t column, cluster::NodeRow row) const {
  const std::int64_t raw = columns_[column].raw[KindOf(row)];
  return raw == kNoScore ? 0 : raw;
}

std::int64_t KindColumns::normalized(const ScoreColumn& placed, std::size_t column,
                                     cluster::NodeRow row) const {
  std::int64_t score = columns_[column].raw[KindOf(row)];
  if (score == kNoScore) return 0;
  const ScorePoint& point = *placed.placed().point;
  if (point.normalizing() != Normalizing::kNone) point.Normalize(columns_[column].extent, {&score, 1});
  return score;
}

std::int64_t KindColumns::total(cluster::NodeRow row) const {
  const KindId kind = KindOf(row);
  return entries_[kind].fixed + Varied(kind) + common_;
}

std::size_t KindColumns::MemoryBytes() const {
  std::size_t bytes =
      entries_.capacity() * sizeof(Entry) +
      (open_.capacity() + refused_.capacity() + unscored_.capacity() + best_.capacity()) * sizeof(KindId) +
      hidden_.capacity() * sizeof(std::uint32_t) + varied_.capacity() * sizeof(std::int64_t);
  for (const Column& column : columns_) bytes += column.raw.capacity() * sizeof(std::int64_t);
  return bytes + (samples_.capacity() + scores_.capacity()) * sizeof(Sample) +
         rows_.capacity() * sizeof(cluster::NodeRow);
}

}  // namespace berth::framework
