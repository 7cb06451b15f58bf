#include "framework/view.h"

#include <algorithm>
#include <bit>

#include "fmt/format.h"

#include "base/check.h"
#include "framework/observer.h"

namespace berth::framework {
namespace {

// Beyond this share of the rows, judging all of them in one pass over columns costs less than judging the
// stale ones from a list.
constexpr std::size_t kStaleShareMax = 4;

}  // namespace

Status View::RunFilter(const Placed<FilterPoint>& filter, const Cycle& cycle, NodeSelection& nodes) {
  const FixedReasons fixed = cycle.profile().fixed_reasons(filter.index());
  nodes.BeginPlugin(filter.index(), fixed.first, fixed.count);
  Observed observed(cycle.observer(), ExtensionPoint::kFilter, filter.index());
  filter.point->Filter(cycle, nodes);
  if (nodes.error().IsSuccess()) return {};
  observed.SetCode(nodes.error().code());
  return Status::Error(
      fmt::format("running \"{}\" filter plugin: {}", filter.plugin->Name(), nodes.error().Message()));
}

View::View(const Profile& profile, ScoreScratch& scratch) : profile_(profile), scratch_(scratch) {
  states_.resize(profile.plugins().size());
  state_pointers_.resize(profile.plugins().size());
  columns_.reserve(profile.score().size());
  for (const PlacedScore& score : profile.score()) columns_.emplace_back(score);
}

void View::Reset(std::shared_ptr<PlanSet> plans, Cycle& cycle) {
  plans_ = std::move(plans);
  groups_.reset();
  groups_refused_ = false;
  for (const Placed<StatefulPoint>& stateful : profile_.stateful()) {
    states_[stateful.index()] = stateful.point->MakeState(cycle);
    state_pointers_[stateful.index()] = states_[stateful.index()].get();
  }
  SortFilters();
  for (ScoreColumn& column : columns_) {
    column.Reset(plans_->plans[column.placed().index()], fitting_.size());
  }
  kinds_ = nullptr;
  by_kind_ = false;
  kind_columns_.Reset();
  is_empty_ = true;
  is_restricted_ = false;
  masked_.clear();
  fitting_count_ = 0;
  ClearStale();
  has_scores_ = false;
  totals_stale_ = true;
  ungrouped_.Reset(fitting_.size());
}

void View::PrepareRows(std::size_t row_count) {
  is_masked_.ClearAll();
  fitting_.ClearAll();
  fitting_count_ = 0;
  has_scores_ = false;
  totals_stale_ = true;
  Grow(row_count);
  flips_.Reset(fitting_.size());
  moved_.Reset(fitting_.size());
}

void View::ReleaseRows() {
  is_empty_ = true;
  fitting_ = base::Bitset();
  scored_ = base::Bitset();
  is_masked_ = base::Bitset();
  refusals_ = std::vector<RejectionId>();
  refused_within_.reset();
  index_ = TotalIndex();
  flips_ = ChangedRows();
  moved_ = ChangedRows();
  for (ScoreColumn& column : columns_) column.Release();
  Trim();
}

// An empty list in braces would only clear a vector and keep its memory.
void View::Trim() {
  if (by_kind_ && !refusals_.empty()) {
    ReleaseRows();
    return;
  }
  for (ScoreColumn& column : columns_) column.Trim();
  moved_.Trim();
  flips_.Trim();
  active_ = std::vector<cluster::NodeRow>();
  kind_refusals_ = std::vector<RejectionId>();
  samples_ = KindSamples();
  rows_ = base::Bitset();
}

void View::SortFilters() {
  filters_.clear();
  attempt_filters_.clear();
  position_of_.assign(profile_.plugins().size(), kNowhere);
  first_reader_.fill(kNowhere);
  for (const Placed<FilterPoint>& filter : profile_.filter()) {
    const Plan* const plan = plans_->plans[filter.index()];
    if (plan != nullptr && !plan->filters) continue;
    if (groups_ != nullptr && groups_->HasPlugin(filter.index())) continue;
    if (plan == nullptr || plan->filter_reads.attempt) {
      attempt_filters_.push_back(&filter);
      continue;
    }
    const auto position = static_cast<Position>(filters_.size());
    position_of_[filter.index()] = position;
    filters_.push_back({&filter, plan->filter_reads.facts, plan->filter_reads.alike});
    for (std::size_t bit = 0; bit < first_reader_.size(); ++bit) {
      if (((plan->filter_reads.facts >> bit) & 1u) != 0) {
        first_reader_[bit] = std::min(first_reader_[bit], position);
      }
    }
  }
}

void View::Restrict(const base::Bitset& rows) {
  BERTH_CHECK(is_empty_);
  is_restricted_ = true;
  universe_ = rows;
}

void View::Grow(std::size_t row_count) {
  if (fitting_.size() >= row_count) return;
  fitting_.Resize(row_count);
  scored_.Resize(row_count);
  is_masked_.Resize(row_count);
  refusals_.resize(row_count);
  index_.Grow(row_count);
  flips_.Grow(row_count);
  moved_.Grow(row_count);
  ungrouped_.Grow(row_count);
  for (ScoreColumn& column : columns_) column.Grow(row_count);
}

void View::RefreshStates(Cycle& cycle) {
  const std::size_t row_count = cycle.cluster().nodes().row_count();
  if (!is_empty_) Grow(row_count);
  StateChanges& changes = cycle.state_changes();
  for (const Placed<StatefulPoint>& stateful : profile_.stateful()) {
    State* const state = state_pointers_[stateful.index()];
    if (state == nullptr) continue;
    changes.verdicts.Reset(row_count);
    changes.scores.Reset(row_count);
    if (is_empty_) {
      // Everything is new; nobody needs to list it.
      changes.verdicts.AddAll();
      changes.scores.AddAll();
    }
    stateful.point->Refresh(cycle, *state, changes);

    if (groups_ != nullptr && groups_->HasPlugin(stateful.index())) {
      ungrouped_.Add(changes.verdicts);
      ungrouped_.Add(changes.scores);
      continue;
    }
    const Position position = position_of_[stateful.index()];
    if (position != kNowhere) {
      all_stale_ = all_stale_ || changes.verdicts.all();
      for (const cluster::NodeRow row : changes.verdicts.rows()) MarkStale(row, position);
    }
    if (changes.scores.empty()) continue;
    for (ScoreColumn& column : columns_) {
      if (column.placed().index() == stateful.index()) column.stale().Add(changes.scores);
    }
  }
}

void View::MarkStale(cluster::NodeRow row, Position from) {
  if (all_stale_) return;
  stale_.push_back({row, from});
  // Dry runs may report the same rows over and over.
  if (stale_.size() * kStaleShareMax > fitting_.size()) {
    stale_.clear();
    all_stale_ = true;
  }
}

void View::ClearStale() {
  stale_.clear();
  all_stale_ = false;
}

void View::NoteChange(cluster::NodeRow row, cluster::Facts facts) {
  // Another node in the row is news to everybody, whatever they read.
  const bool is_other = (facts & cluster::kExistsFact) != 0;
  Position from = is_other ? 0 : kNowhere;
  for (cluster::Facts rest = facts; rest != 0 && from != 0; rest &= rest - 1) {
    from = std::min(from, first_reader_[static_cast<std::size_t>(std::countr_zero(rest))]);
  }
  if (from != kNowhere) MarkStale(row, from);
  if (groups_ != nullptr && (facts & groups_->facts()) != 0) ungrouped_.Add(row);
  for (ScoreColumn& column : columns_) {
    if (is_other || (facts & column.facts()) != 0) column.stale().Add(row);
  }
}

void View::CollectChanges(const cluster::Cluster& cluster) {
  Grow(cluster.nodes().row_count());
  const auto& log = cluster.change_log();
  if (!log.Since(version_, [&](cluster::NodeRow row, cluster::Facts facts) { NoteChange(row, facts); })) {
    all_stale_ = true;
    ungrouped_.AddAll();
    for (ScoreColumn& column : columns_) column.Invalidate();
  }
  version_ = log.version();
}

Status View::RefreshVerdicts(Cycle& cycle) {
  BERTH_DCHECK(masked_.empty());
  filtered_as_list_ = false;
  by_kind_ = IsToldByKind(cycle);
  if (by_kind_) return JudgeKinds(cycle);
  SampleKinds();
  if (is_empty_) {
    PrepareRows(cycle.cluster().nodes().row_count());
    version_ = cycle.cluster().change_log().version();
  } else {
    CollectChanges(cycle.cluster());
  }
  Status status = is_empty_ || all_stale_ ? JudgeAll(cycle) : JudgeStale(cycle);
  ClearStale();
  is_empty_ = false;
  if (groups_ == nullptr || !status.IsSuccess()) return status;

  if (ungrouped_.all()) moved_.AddAll();  // nobody needs them listed
  if (!groups_->Place(cycle, ungrouped_, fitting_, moved_)) {
    DropGroups(cycle);
    return RefreshVerdicts(cycle);
  }
  ungrouped_.Reset(fitting_.size());
  groups_->Judge(cycle);
  return {};
}

// A pod that names its node costs what that node costs, however many others there are.
void View::ForgetRefusals() {
  if (!refused_within_) {
    std::ranges::fill(refusals_, kAccepted);
    return;
  }
  refused_within_->ForEach([&](std::size_t row) { refusals_[row] = kAccepted; });
  refused_within_.reset();
}

Status View::JudgeAll(Cycle& cycle) {
  rows_ = cycle.cluster().nodes().existing();
  if (is_restricted_) rows_.And(universe_);
  rows_judged_ = rows_.Count();
  ForgetRefusals();
  if (is_restricted_) refused_within_ = rows_;
  filtered_as_list_ = rows_judged_ <= few_rows_;
  Status status = filtered_as_list_ ? FilterFew(cycle) : FilterMany(cycle);
  if (!status.IsSuccess()) return status;
  if (!has_scores_ && groups_ == nullptr) {
    fitting_ = rows_;
    fitting_count_ = rows_.Count();
    return {};
  }
  const auto before = std::as_const(fitting_).words();
  const auto after = std::as_const(rows_).words();
  for (std::size_t index = 0; index < after.size(); ++index) {
    for (std::uint64_t flipped = before[index] ^ after[index]; flipped != 0; flipped &= flipped - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(flipped));
      SetFitting(NodeSelection::RowOf(index * 64 + bit), ((after[index] >> bit) & 1u) != 0);
    }
  }
  return {};
}

Status View::FilterMany(Cycle& cycle) {
  NodeSelection nodes(rows_, refusals_, cycle.rejections());
  for (std::size_t position = 0; position < filters_.size() && rows_.Any();) {
    if (!samples_.rows.empty() && filters_[position].is_alike) {
      if (Status status = FilterByKind(cycle, position, nodes); !status.IsSuccess()) return status;
      continue;
    }
    const Placed<FilterPoint>& filter = *filters_[position++].placed;
    if (cycle.IsSkipped(filter.index())) continue;
    if (Status status = RunFilter(filter, cycle, nodes); !status.IsSuccess()) return status;
  }
  return {};
}

Status View::FilterFew(Cycle& cycle) {
  active_.clear();
  rows_.ForEach([&](std::size_t bit) { active_.push_back(NodeSelection::RowOf(bit)); });
  NodeSelection nodes(active_, refusals_, cycle.rejections());
  for (const KeptFilter& filter : filters_) {
    if (active_.empty()) break;
    if (cycle.IsSkipped(filter.placed->index())) continue;
    if (Status status = RunFilter(*filter.placed, cycle, nodes); !status.IsSuccess()) return status;
  }
  rows_.ClearAll();
  for (const cluster::NodeRow row : active_) rows_.Set(row.index());
  return {};
}

void View::CollectStale(const Cycle& cycle) {
  pending_.clear();
  std::ranges::sort(stale_);
  for (std::size_t i = 0; i < stale_.size(); ++i) {
    // Of those of a row the first one, whose position is the smallest.
    const auto [row, from] = stale_[i];
    if (i > 0 && stale_[i - 1].row == row) continue;
    RejectionId& refusal = refusals_[row.index()];
    if (!cycle.cluster().nodes().exists(row)) {
      refusal = kAccepted;
      SetFitting(row, false);
      continue;
    }
    // A filter before the first one concerned refused the row, and still does.
    if (refusal.IsRefusal() && position_of_[cycle.rejections().Get(refusal).plugin] < from) continue;
    refusal = kAccepted;
    pending_.push_back({row, from});
  }
  std::ranges::sort(pending_, {}, &Stale::from);
}

Status View::JudgeStale(Cycle& cycle) {
  CollectStale(cycle);
  rows_judged_ = pending_.size();
  active_.clear();
  NodeSelection nodes(active_, refusals_, cycle.rejections());
  std::size_t next = 0;
  const auto filter_count = static_cast<Position>(filters_.size());
  for (Position position = 0; position < filter_count; ++position) {
    if (next < pending_.size() && pending_[next].from == position) {
      for (; next < pending_.size() && pending_[next].from == position; ++next) {
        active_.push_back(pending_[next].row);
      }
      std::ranges::sort(active_);
    }
    const Placed<FilterPoint>& filter = *filters_[position].placed;
    if (active_.empty() || cycle.IsSkipped(filter.index())) continue;
    if (Status status = RunFilter(filter, cycle, nodes); !status.IsSuccess()) return status;
  }
  for (const Stale& stale : pending_) SetFitting(stale.row, !refusals_[stale.row.index()].IsRefusal());
  return {};
}

void View::SetFitting(cluster::NodeRow row, bool fits) {
  if (fitting_.Test(row.index()) == fits) return;
  if (fits) {
    fitting_.Set(row.index());
    ++fitting_count_;
  } else {
    fitting_.Clear(row.index());
    --fitting_count_;
  }
  if (has_scores_) flips_.Add(row);
  if (groups_ != nullptr) groups_->SetFitting(row, fits);
}

void View::Mask(cluster::NodeRow row, RejectionId refusal) {
  if (by_kind_) {
    kind_columns_.Mask(row, refusal);
    return;
  }
  if (!is_masked_.Test(row.index())) {
    masked_.push_back({row, refusals_[row.index()], fitting_.Test(row.index())});
    is_masked_.Set(row.index());
  }
  refusals_[row.index()] = refusal;
  SetFitting(row, false);
}

void View::RowsReaching(const Cycle& cycle, PluginIndex plugin, base::Bitset& rows) const {
  rows = fitting_;
  for (std::size_t bit = 0; bit < refusals_.size(); ++bit) {
    if (!refusals_[bit].IsRefusal() || is_masked_.Test(bit)) continue;
    if (cycle.rejections().Get(refusals_[bit]).plugin > plugin) rows.Set(bit);
  }
}

Status View::ApplyAttemptFilters(Cycle& cycle) {
  if (by_kind_) return {};  // all of them were skipped
  for (const Placed<FilterPoint>* const filter : attempt_filters_) {
    if (cycle.IsSkipped(filter->index())) continue;
    RowsReaching(cycle, filter->index(), rows_);
    base::Bitset& left = cycle.rows();
    left = rows_;
    const std::span<RejectionId> refusals = cycle.refusals();
    NodeSelection nodes(left, refusals, cycle.rejections());
    if (Status status = RunFilter(*filter, cycle, nodes); !status.IsSuccess()) return status;
    rows_.AndNot(left);
    rows_.ForEach([&](std::size_t bit) { Mask(NodeSelection::RowOf(bit), refusals[bit]); });
  }
  return {};
}

bool View::AppendLikeness(const Cycle& cycle, Scope& words) const {
  if (by_kind_) return true;  // all of them were skipped
  return std::ranges::all_of(attempt_filters_, [&](const Placed<FilterPoint>* filter) {
    words.Add(std::uint64_t{filter->index()});
    return cycle.IsSkipped(filter->index()) || filter->point->AppendLikeness(cycle, words);
  });
}

void View::EndAttempt() {
  kinds_ = nullptr;
  if (by_kind_) {
    kind_columns_.EndAttempt();
    merged_ = std::vector<RejectionId>();  // nobody looks at why it did not fit any more
  }
  while (!masked_.empty()) {
    const Masked masked = masked_.back();
    masked_.pop_back();
    is_masked_.Clear(masked.row.index());
    refusals_[masked.row.index()] = masked.kept;
    SetFitting(masked.row, masked.was_feasible);
  }
}

void View::CopyMasks(const View& other) {
  for (const Masked& masked : other.masked_) Mask(masked.row, other.refusals_[masked.row.index()]);
  if (!other.by_kind_) return;
  for (const KindColumns::Masked& masked : other.kind_columns_.masked()) Mask(masked.row, masked.refusal);
}

base::Bitset View::FeasibleRows() const {
  if (by_kind_) {
    base::Bitset feasible(kind_columns_.row_count());
    for (std::size_t bit = 0; bit < feasible.size(); ++bit) {
      if (IsFeasible(NodeSelection::RowOf(bit))) feasible.Set(bit);
    }
    return feasible;
  }
  base::Bitset rows = fitting_;
  if (groups_ != nullptr)
    rows.RemoveIf([&](std::size_t bit) { return !IsFeasible(NodeSelection::RowOf(bit)); });
  return rows;
}

cluster::NodeRow View::FirstFeasible() const {
  if (by_kind_) return kind_columns_.FirstFeasible();
  std::size_t bit = fitting_.FindFirst();
  while (bit < fitting_.size() && !IsFeasible(NodeSelection::RowOf(bit))) bit = fitting_.FindFirst(bit + 1);
  return bit < fitting_.size() ? NodeSelection::RowOf(bit) : cluster::NodeRow();
}

RejectionId View::RefusalOf(const Cycle& cycle, cluster::NodeRow row) const {
  if (by_kind_) return kind_columns_.RefusalOf(row);
  const RejectionId own = refusals_[row.index()];
  return groups_ == nullptr || is_masked_.Test(row.index()) ? own : groups_->FirstRefusal(cycle, row, own);
}

std::span<const RejectionId> View::Refusals(const Cycle& cycle) {
  if (groups_ == nullptr && !by_kind_) return refusals_;
  merged_.resize(cycle.cluster().nodes().row_count());
  for (std::size_t bit = 0; bit < merged_.size(); ++bit) {
    merged_[bit] = RefusalOf(cycle, NodeSelection::RowOf(bit));
  }
  return merged_;
}

std::size_t View::MemoryBytes() const {
  std::size_t bytes = sizeof(*this) + kind_columns_.MemoryBytes() + index_.MemoryBytes() +
                      flips_.MemoryBytes() + moved_.MemoryBytes() + ungrouped_.MemoryBytes() +
                      merged_.capacity() * sizeof(RejectionId);
  bytes +=
      refusals_.capacity() * sizeof(RejectionId) + (stale_.capacity() + pending_.capacity()) * sizeof(Stale) +
      masked_.capacity() * sizeof(Masked) + kind_refusals_.capacity() * sizeof(RejectionId) +
      (active_.capacity() + samples_.rows.capacity() + samples_.kinds.capacity()) * sizeof(cluster::NodeRow);
  for (const base::Bitset* bits : {&fitting_, &scored_, &is_masked_, &universe_, &rows_})
    bytes += bits->size() / 8;
  for (const ScoreColumn& column : columns_) bytes += column.MemoryBytes();
  for (const auto& state : states_) bytes += state == nullptr ? 0 : state->MemoryBytes();
  if (groups_ != nullptr) bytes += groups_->MemoryBytes();
  return bytes;
}

std::string View::DifferenceFrom(const View& fresh, const Cycle& cycle) const {
  const cluster::Cluster& cluster = cycle.cluster();
  for (std::size_t bit = 0; bit < fresh.fitting_.size(); ++bit) {
    const cluster::NodeRow row = NodeSelection::RowOf(bit);
    if (!cluster.nodes().exists(row)) continue;
    const std::string_view name = cluster.nodes().name(row);
    // Of the rows that were not judged nothing is known but that others refuse them.
    const bool is_judged = !is_restricted_ || universe_.Test(bit);
    const RejectionId refusal = is_judged ? RefusalOf(cycle, row) : fresh.RefusalOf(cycle, row);
    if (IsFeasible(row) != fresh.IsFeasible(row) || refusal != fresh.RefusalOf(cycle, row)) {
      return fmt::format("node {}: feasible {} with refusal {}, not {} with refusal {}", name,
                         IsFeasible(row), refusal.value(), fresh.IsFeasible(row),
                         fresh.RefusalOf(cycle, row).value());
    }
    if (!fresh.has_scores_ || !IsFeasible(row)) continue;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const ScoreColumn& kept = columns_[i];
      const ScoreColumn& made = fresh.columns_[i];
      if (kept.counts() == made.counts() &&
          (!kept.counts() ||
           (Raw(kept, row) == fresh.Raw(made, row) && Weighted(kept, row) == fresh.Weighted(made, row)))) {
        continue;
      }
      return fmt::format("node {}, {}: raw score {}, weighted {}, counts {}; not {}, {}, {}", name,
                         kept.placed().plugin->Name(), Raw(kept, row), Weighted(kept, row), kept.counts(),
                         fresh.Raw(made, row), fresh.Weighted(made, row), made.counts());
    }
    if (Total(row) != fresh.Total(row)) {
      return fmt::format("node {}: total {}, not {}", name, Total(row), fresh.Total(row));
    }
  }
  return {};
}

}  // namespace berth::framework
