#include <cstdio>
#include <cstdlib>

#include "fmt/format.h"

#include "base/check.h"
#include "framework/decide.h"
#include "framework/observer.h"

// The parts of a decision that look at single rows: nominations, dry runs. And the check of a view against a
// fresh one.
namespace berth::framework {

// Of equal or higher priority; and a pod that somebody is trying elsewhere just now is not expected here.
bool Engine::CountsHere(cluster::PodSlot nominated) const {
  const cluster::PodTable& pods = cluster_.pods();
  return nominated != cycle_.pod() && pods.priority(nominated) >= cycle_.priority() &&
         !pods.row(nominated).IsValid();
}

bool Engine::HasNominated(cluster::NodeRow row) const {
  for (const cluster::PodSlot pod : cluster_.NominatedTo(row)) {
    if (CountsHere(pod)) return true;
  }
  return false;
}

void Engine::PlaceNominated(cluster::Speculation& trial, cluster::NodeRow row) const {
  for (const cluster::PodSlot pod : cluster_.NominatedTo(row)) {
    if (CountsHere(pod)) trial.Place(pod, row);
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

Status Engine::JudgeNominated(const Narrowing& narrowing) {
  bool tried = false;
  Status error;
  cluster_.nominator().ForEachNode([&](cluster::NodeNameId name, std::span<const cluster::PodSlot>) {
    const cluster::NodeRow row = cluster_.nodes().Find(name);
    if (!error.IsSuccess() || !row.IsValid() || !cluster_.nodes().exists(row) || !HasNominated(row)) return;
    if (!narrowing.Has(row)) return;
    tried = true;
    cluster::Speculation trial(cluster_);
    PlaceNominated(trial, row);
    view_->RefreshStates(cycle_);
    RowVerdict verdict = RunFilters(row);
    if (verdict.refusal.IsRefusal()) nominated_refusals_.emplace_back(row, verdict.refusal);
    error = std::move(verdict.error);
  });
  if (tried) view_->RefreshStates(cycle_);
  return error;
}

namespace {

[[noreturn]] void ViewIsWrong(const Cycle& cycle, const std::string& difference) {
  fmt::print(stderr, "pod {}: the view differs from a full evaluation: {}\n",
             cluster::PodName(cycle.record()), difference);
  std::abort();
}

}  // namespace

void Engine::VerifyView() {
  fresh_plans_ = plans_.MakeAnew(cycle_);
  cycle_.SetPlans(fresh_plans_->plans);
  if (fresh_view_ == nullptr) fresh_view_ = std::make_unique<View>(profile_, score_scratch_);
  fresh_view_->Reset(fresh_plans_, cycle_);
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
