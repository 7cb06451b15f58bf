#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fmt/format.h"

#include "base/check.h"
#include "framework/decide.h"
#include "framework/nominations.h"
#include "framework/observer.h"

// The parts of a decision that look at single rows: nominations, dry runs. And the check of a view against a
// fresh one.
namespace berth::framework {

bool Engine::HasNominated(cluster::NodeRow row) const {
  return std::ranges::any_of(cluster_.NominatedTo(row),
                             [&](cluster::PodSlot pod) { return IsExpected(cycle_, pod); });
}

void Engine::PlaceNominated(cluster::Speculation& trial, cluster::NodeRow row) const {
  for (const cluster::PodSlot pod : cluster_.NominatedTo(row)) {
    if (IsExpected(cycle_, pod)) trial.Place(pod, row);
  }
}

RowVerdict Engine::RunFilters(cluster::NodeRow row) {
  std::vector<cluster::NodeRow>& rows = cycle_.row_list();
  rows.assign(1, row);
  NodeSelection nodes(rows, cycle_.refusals(), rejections_);
  for (const Placed<FilterPoint>& filter : profile_.filter()) {
    const Plan* const plan = cycle_.plan(filter.index());
    if ((plan != nullptr && !plan->filters) || cycle_.IsSkipped(filter.index())) continue;
    const FixedReasons fixed = profile_.fixed_reasons(filter.index());
    nodes.BeginPlugin(filter.index(), fixed.first, fixed.count);
    Observed observed(cycle_.observer(), ExtensionPoint::kFilter, filter.index());
    filter.point->Filter(cycle_, nodes);
    if (!nodes.error().IsSuccess()) {
      observed.SetCode(nodes.error().code());
      return {kAccepted, Status::Error(fmt::format("running \"{}\" filter plugin: {}", filter.plugin->Name(),
                                                   nodes.error().Message()))};
    }
    if (rows.empty()) return {cycle_.refusals()[row.index()], {}};
  }
  return {};
}

RowVerdict Engine::JudgeRow(cluster::NodeRow row, Nominations nominations) {
  BERTH_CHECK(view_ != nullptr);
  if (nominations == Nominations::kCount && HasNominated(row)) {
    cluster::Speculation trial(cluster_);
    PlaceNominated(trial, row);
    view_->RefreshStates(cycle_);
    const RowVerdict crowded = RunFilters(row);
    trial.RollBack();
    if (!crowded.fits()) {
      view_->RefreshStates(cycle_);
      return crowded;
    }
  }
  view_->RefreshStates(cycle_);
  return RunFilters(row);
}

Status Engine::FilterRow(cluster::NodeRow row, Nominations nominations) {
  const RowVerdict verdict = JudgeRow(row, nominations);
  if (!verdict.error.IsSuccess() || !verdict.refusal.IsRefusal()) return verdict.error;
  const PluginIndex plugin = rejections_.Get(verdict.refusal).plugin;
  return rejections_.ToStatus(verdict.refusal, profile_.plugin_names()[plugin]);
}

bool Engine::Fits(cluster::NodeRow row, Nominations nominations) { return JudgeRow(row, nominations).fits(); }

cluster::NodeRow Engine::TryNominatedNode() {
  const std::string& name = cycle_.record().nominated_node_name;
  if (name.empty()) return {};
  const cluster::NodeRow row = cluster_.nodes().Find(name);
  if (!row.IsValid() || !cluster_.nodes().exists(row)) return {};
  const RowVerdict verdict = JudgeRow(row, Nominations::kCount);
  if (verdict.fits()) return row;
  // Stays on record even if PreFilter left the node out. An error is met again by the search, or by nobody.
  if (verdict.refusal.IsRefusal()) nominated_refusals_.emplace_back(row, verdict.refusal);
  return {};
}

RowVerdict Engine::JudgeCrowded(cluster::NodeRow row) {
  cluster::Speculation trial(cluster_);
  PlaceNominated(trial, row);
  view_->RefreshStates(cycle_);
  return RunFilters(row);
}

Scope Engine::LikenessOfCrowd(cluster::NodeRow row) const {
  Scope likeness;
  likeness.Add(std::uint64_t{kinds_.kind_of()[row.index()]});
  for (const cluster::PodSlot pod : cluster_.NominatedTo(row)) {
    if (!IsExpected(cycle_, pod)) continue;
    const cluster::PodFacts& facts = cluster_.pods().facts(pod);
    likeness.Add(facts.template_id);
    likeness.Add(facts.requests);
  }
  return likeness;
}

Status Engine::JudgeNominated(const Narrowing& narrowing) {
  crowds_.clear();
  // Rows of one kind are of one kind with pods of one template more, too.
  const bool by_kind = view_->IsToldByKind(cycle_);
  crowds_tried_ = 0;
  Status error;
  cluster_.nominator().ForEachNode([&](cluster::NodeNameId name, std::span<const cluster::PodSlot>) {
    const cluster::NodeRow row = cluster_.nodes().Find(name);
    if (!error.IsSuccess() || !row.IsValid() || !cluster_.nodes().exists(row) || !HasNominated(row)) return;
    if (!narrowing.Has(row)) return;
    RejectionId* known = nullptr;
    if (by_kind) {
      const auto [crowd, is_new] = crowds_.try_emplace(LikenessOfCrowd(row));
      known = &crowd->second;
      if (!is_new) {
        if (known->IsRefusal()) nominated_refusals_.emplace_back(row, *known);
        return;
      }
    }
    ++crowds_tried_;
    RowVerdict verdict = JudgeCrowded(row);
    if (known != nullptr) *known = verdict.refusal;
    if (verdict.refusal.IsRefusal()) nominated_refusals_.emplace_back(row, verdict.refusal);
    error = std::move(verdict.error);
  });
  if (crowds_tried_ > 0) view_->RefreshStates(cycle_);
  return error;
}

namespace {

[[noreturn]] void ViewIsWrong(const Cycle& cycle, const std::string& difference) {
  fmt::print(stderr, "pod {}: the view differs from a full evaluation: {}\n",
             cluster::PodName(cycle.record()), difference);
  std::abort();
}

}  // namespace

// What was said of a row by its likeness is what it comes to itself.
void Engine::VerifyCrowds() {
  cluster_.nominator().ForEachNode([&](cluster::NodeNameId name, std::span<const cluster::PodSlot>) {
    const cluster::NodeRow row = cluster_.nodes().Find(name);
    if (!row.IsValid() || !cluster_.nodes().exists(row) || !HasNominated(row)) return;
    const RejectionId refusal = JudgeCrowded(row).refusal;
    const auto known =
        std::ranges::find(nominated_refusals_, row, [](const auto& entry) { return entry.first; });
    if (refusal == (known == nominated_refusals_.end() ? kAccepted : known->second)) return;
    ViewIsWrong(cycle_, fmt::format("node {} with what is nominated to it: refusal {}",
                                    cluster_.nodes().name(row), refusal.value()));
  });
  view_->RefreshStates(cycle_);
}

void Engine::VerifyView() {
  if (!crowds_.empty()) VerifyCrowds();
  fresh_plans_ = plans_.MakeAnew(cycle_);
  cycle_.SetPlans(fresh_plans_->plans);
  if (fresh_view_ == nullptr) fresh_view_ = std::make_unique<View>(profile_, score_scratch_);
  fresh_view_->Reset(fresh_plans_, cycle_);
  fresh_view_->FilterAsSet();
  cycle_.SetStates(fresh_view_->states());
  fresh_view_->RefreshStates(cycle_);

  for (std::size_t i = 0; i < profile_.pre_filter().size(); ++i) {
    const Placed<PreFilterPoint>& placed = profile_.pre_filter()[i];
    const Plan* const plan = cycle_.plan(placed.index());
    if (cycle_.state(placed.index()) == nullptr || (plan != nullptr && !plan->filters)) continue;
    const Code code = placed.point->PreFilter(cycle_).status.code();
    if (code != pre_filter_codes_[i]) {
      ViewIsWrong(cycle_, fmt::format("PreFilter of {} says {}, not {}", placed.plugin->Name(),
                                      CodeName(pre_filter_codes_[i]), CodeName(code)));
    }
  }
  if (const Status status = fresh_view_->RefreshVerdicts(cycle_); !status.IsSuccess()) {
    ViewIsWrong(cycle_, status.Message());
  }
  fresh_view_->CopyMasks(*view_);
  if (view_->feasible_count() > 1) {
    if (const Status status = fresh_view_->RefreshScores(cycle_); !status.IsSuccess()) {
      ViewIsWrong(cycle_, status.Message());
    }
  }
  const std::string difference = view_->DifferenceFrom(*fresh_view_, cycle_);
  if (!difference.empty()) ViewIsWrong(cycle_, difference);

  cycle_.SetPlans(plan_set_->plans);
  cycle_.SetStates(view_->states());
}

}  // namespace berth::framework
