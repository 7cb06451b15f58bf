#include "framework/decide.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "fmt/format.h"

#include "base/check.h"
#include "framework/observer.h"

namespace berth::framework {
namespace {

// Upstream's: below this many nodes all are looked at, and never fewer than this.
constexpr std::size_t kNodesToFindMin = 100;
constexpr std::int64_t kAdaptivePercentageMin = 5;

// Some plugin answers alike for rows of one kind, so that it is worth to know the kinds.
bool AnyAlike(std::span<Plan* const> plans) {
  return std::ranges::any_of(plans, [](const Plan* plan) {
    return plan != nullptr &&
           ((plan->filters && plan->filter_reads.alike) || (plan->scores && plan->score_reads.alike));
  });
}

}  // namespace

std::size_t NodesToFind(std::size_t node_count, std::int32_t percentage) {
  if (node_count < kNodesToFindMin) return node_count;
  const auto all = static_cast<std::int64_t>(node_count);
  std::int64_t share = percentage;
  if (share == 0) share = std::max(kAdaptivePercentageMin, 50 - all / 125);
  return std::max(kNodesToFindMin, static_cast<std::size_t>(all * share / 100));
}

Engine::Engine(cluster::Cluster& cluster, const Profile& profile, RejectionTable& rejections,
               const EngineOptions& options)
    : cluster_(cluster),
      profile_(profile),
      rejections_(rejections),
      options_(options),
      random_(options.seed),
      plans_(profile),
      views_(options.views),
      cycle_(profile, cluster, rejections) {
  cycle_.SetJudge(*this);
}

Engine::~Engine() = default;

void Engine::EndAttempt() {
  if (view_ != nullptr) view_->EndAttempt();
  view_ = nullptr;
  is_kept_ = false;
  nominated_refusals_.clear();
}

void Engine::DropKept() {
  EndAttempt();
  views_.clear();
  plans_.clear();
  scratch_.reset();
  plan_set_.reset();
  rejections_.Reset();
}

void Engine::MakeKey() {
  key_.plans = plan_set_->key;
  key_.resize_deferred = cycle_.resize_deferred();
  Scope& scope = cycle_.scope();
  for (const auto& plugin : profile_.plugins()) {
    const std::size_t before = scope.words().size();
    plugin->AppendScope(cycle_, scope);
    const std::size_t count = scope.words().size() - before;
    // Says whose the words are, so that two plugins' cannot be taken for each other.
    if (count > 0) scope.Add((std::uint64_t{plugin->index()} << 32) | count);
  }
  key_.scope = scope;
}

void Engine::TellLikeness(const Narrowing& narrowing) {
  Scope words;
  if (!narrowing.all || options_.has_advisers || !view_->AppendLikeness(cycle_, words)) return;
  likeness_ = absl::HashOf(key_, words, profile_.scheduler_name()) | 1;
}

void Engine::BeginAttempt(const Cycle::Subject& subject, Views views) {
  EndAttempt();
  likeness_ = 0;
  if (rejections_.IsCrowded()) DropKept();
  cycle_.Begin(subject);
  plan_set_ = plans_.Use(cycle_);
  cycle_.SetPlans(plan_set_->plans);
  MakeKey();
  if (views == Views::kUse) view_ = views_.Find(key_, *plan_set_);
  is_kept_ = view_ != nullptr;
  if (!is_kept_) {
    if (scratch_ == nullptr) scratch_ = std::make_unique<View>(profile_, score_scratch_);
    scratch_->Reset(plan_set_, cycle_);
    view_ = scratch_.get();
  }
  cycle_.SetStates(view_->states());
  // A search that may end early needs to know each row.
  if (is_kept_ && !percentage()) view_->FormGroups(cycle_);
  view_->RefreshStates(cycle_);
}

void Engine::Narrow(Narrowing& narrowing, const NodeNames& names, std::string_view plugin) {
  AddName(narrowing.plugins, plugin);
  if (narrowing.all) {
    narrowing.names = names;
  } else {
    std::erase_if(narrowing.names,
                  [&](const std::string& name) { return !std::ranges::binary_search(names, name); });
  }
  narrowing.all = false;
}

Status Engine::CallPreFilters(Narrowing& narrowing) {
  pre_filter_codes_.assign(profile_.pre_filter().size(), Code::kSkip);
  Status rejected;
  for (std::size_t i = 0; i < profile_.pre_filter().size(); ++i) {
    const Placed<PreFilterPoint>& placed = profile_.pre_filter()[i];
    const Plan* const plan = cycle_.plan(placed.index());
    if (plan != nullptr && !plan->filters) continue;
    Observed observed(cycle_.observer(), ExtensionPoint::kPreFilter, placed.index());
    PreFilterResult result = placed.point->PreFilter(cycle_);
    const Code code = result.status.code();
    observed.SetCode(code);
    pre_filter_codes_[i] = code;
    const std::string_view name = placed.plugin->Name();
    switch (code) {
      case Code::kSkip:
        cycle_.MarkSkipped(placed.index());
        break;
      case Code::kSuccess:
        if (result.nodes == nullptr) break;
        Narrow(narrowing, *result.nodes, name);
        if (narrowing.names.empty()) return Status::Unresolvable(NothingLeftMessage(narrowing.plugins));
        break;
      case Code::kUnschedulable:
        // The others go on: preemption needs what they prepare.
        rejected = std::move(result.status).WithPlugin(name);
        break;
      case Code::kUnschedulableAndUnresolvable:
        narrowing = Narrowing();
        return std::move(result.status).WithPlugin(name);
      default:
        return Status::Error(
            fmt::format("running PreFilter plugin \"{}\": {}", name, result.status.Message()));
    }
  }
  return rejected;
}

Status Engine::RunPreFilter(Narrowing& narrowing) {
  ObservedPoint observed(cycle_.observer(), ExtensionPoint::kPreFilter);
  Status status = CallPreFilters(narrowing);
  observed.SetCode(status.code());
  if (!status.IsSuccess() || narrowing.all) return status;
  narrowing.rows.Resize(cluster_.nodes().row_count());
  for (const std::string& name : narrowing.names) {
    const cluster::NodeRow row = cluster_.nodes().Find(name);
    if (row.IsValid() && cluster_.nodes().exists(row)) narrowing.rows.Set(row.index());
  }
  return status;
}

Diagnosis Engine::NewDiagnosis() const {
  Diagnosis diagnosis;
  diagnosis.node_count = cluster_.nodes().existing_count();
  diagnosis.table = &rejections_;
  diagnosis.plugin_names = profile_.plugin_names();
  return diagnosis;
}

Diagnosis Engine::RejectedBefore(const Status& status, const Narrowing& narrowing) const {
  Diagnosis diagnosis = NewDiagnosis();
  diagnosis.absent = status;
  diagnosis.pre_filter_message = status.Message();
  diagnosis.unschedulable_plugins = narrowing.plugins;
  diagnosis.AddPluginOf(status);
  return diagnosis;
}

Diagnosis Engine::NothingFits(const Narrowing& narrowing) const {
  Diagnosis diagnosis = NewDiagnosis();
  diagnosis.refusals = view_->Refusals(cycle_);
  if (!narrowing.all) {
    diagnosis.absent = Status::Unresolvable(OutsideNarrowedMessage(narrowing.plugins));
    diagnosis.unschedulable_plugins = narrowing.plugins;
  }
  diagnosis.AddPluginsOfRefusals();
  return diagnosis;
}

Status Engine::Judge(const Narrowing& narrowing, const base::Bitset* candidates) {
  // What is left out by name, or by a search that ends early, is left out row by row. And a pod that is on a
  // node knows it from its like.
  if (narrowing.all && candidates == nullptr && !percentage() && cycle_.record().node_name.empty() &&
      AnyAlike(plan_set_->plans) && kinds_.Refresh(cluster_)) {
    view_->UseKinds(kinds_);
  }
  if (Status status = JudgeNominated(narrowing); !status.IsSuccess()) return status;
  if (!narrowing.all && !is_kept_) view_->Restrict(narrowing.rows);
  if (candidates != nullptr) view_->Restrict(*candidates);
  if (Status status = view_->RefreshVerdicts(cycle_); !status.IsSuccess()) return status;
  if (!narrowing.all && is_kept_) {
    cluster_.nodes().existing().ForEach([&](std::size_t bit) {
      const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
      if (!narrowing.Has(row)) view_->Mask(row, kAccepted);
    });
  }
  for (const auto& [row, refusal] : nominated_refusals_) view_->Mask(row, refusal);
  return view_->ApplyAttemptFilters(cycle_);
}

std::optional<std::int32_t> Engine::percentage() const {
  const auto& own = profile_.config().percentage_of_nodes_to_score;
  return own ? own : options_.percentage_of_nodes_to_score;
}

std::size_t Engine::Sample(const Narrowing& narrowing) {
  const std::span<const cluster::NodeRow> all = cluster_.NodeOrder();
  std::vector<cluster::NodeRow> order(all.begin(), all.end());
  std::erase_if(order, [&](cluster::NodeRow row) { return !narrowing.Has(row); });
  const auto at = [&](std::size_t i) { return order[(next_start_ + i) % order.size()]; };
  // Without scores any node is as good as another.
  const std::size_t quota =
      profile_.score().empty() && !options_.has_advisers ? 1 : NodesToFind(order.size(), *percentage());
  std::size_t found = 0;
  std::size_t judged = 0;
  for (; judged < order.size(); ++judged) {
    if (!view_->IsFeasible(at(judged))) continue;
    // The one beyond the quota ends the search and is not counted.
    if (found == quota) break;
    ++found;
  }
  for (std::size_t i = judged; i < order.size(); ++i) view_->Mask(at(i), kAccepted);
  next_start_ = (next_start_ + judged) % all.size();
  return judged;
}

Status Engine::Fail(Status error) {
  if (is_kept_) {
    views_.Drop(key_);
  } else {
    scratch_.reset();
  }
  view_ = nullptr;
  is_kept_ = false;
  return error;
}

const base::Bitset* Engine::FindCandidates(const Narrowing& narrowing) {
  // Beyond this share of the rows it is as well to judge all.
  constexpr std::size_t kShareMax = 8;
  if (is_kept_ || is_wanted_ || !narrowing.all || percentage()) return nullptr;
  candidates_ = cluster_.nodes().existing();
  bool is_found = false;
  for (const Placed<FilterPoint>& filter : profile_.filter()) {
    const Plan* const plan = cycle_.plan(filter.index());
    if (plan == nullptr || !plan->filters || cycle_.IsSkipped(filter.index())) continue;
    is_found = filter.point->LeaveCandidates(cycle_, candidates_) || is_found;
  }
  if (!is_found) return nullptr;
  const std::size_t count = candidates_.Count();
  return count > 0 && count * kShareMax < cluster_.nodes().existing_count() ? &candidates_ : nullptr;
}

void Engine::StartOver() {
  scratch_->Reset(plan_set_, cycle_);
  cycle_.SetStates(view_->states());
  view_->RefreshStates(cycle_);
}

std::optional<std::variant<Diagnosis, Status>> Engine::Enter(const Cycle::Subject& subject,
                                                             Narrowing& narrowing) {
  is_wanted_ = false;
  if (cluster_.nodes().existing_count() == 0) {
    return Status::Unresolvable("no nodes available to schedule pods");
  }
  BeginAttempt(subject, Views::kUse);
  Status status = RunPreFilter(narrowing);
  if (status.IsSuccess()) {
    is_wanted_ = !is_kept_ && narrowing.all && options_.views.memory_bytes_max != 0 && views_.WasSeen(key_);
    return std::nullopt;
  }
  if (status.IsRejected()) return RejectedBefore(status, narrowing);
  return status;
}

Status Engine::RunFilter(const Narrowing& narrowing, const base::Bitset* candidates) {
  ObservedPoint observed(cycle_.observer(), ExtensionPoint::kFilter);
  Status status = Judge(narrowing, candidates);
  if (status.IsSuccess() && candidates != nullptr && view_->feasible_count() == 0) {
    StartOver();
    status = Judge(narrowing, nullptr);
  }
  if (!status.IsSuccess()) {
    observed.SetCode(status.code());
  } else if (view_->feasible_count() == 0) {
    observed.SetCode(Code::kUnschedulable);
  }
  return status;
}

std::optional<std::variant<Diagnosis, Status>> Engine::Search(const Narrowing& narrowing,
                                                              const Advice* advice) {
  // What is advised may leave nothing of some candidates, and then the reasons of all nodes are wanted.
  const base::Bitset* const candidates = advice == nullptr ? FindCandidates(narrowing) : nullptr;
  if (Status status = RunFilter(narrowing, candidates); !status.IsSuccess()) return Fail(std::move(status));
  judged_ = narrowing.all ? cluster_.nodes().existing_count() : narrowing.rows.Count();
  if (advice != nullptr) {
    Apply(*advice);
  } else if (percentage()) {
    judged_ = Sample(narrowing);
  }
  if (view_->feasible_count() > 0) return std::nullopt;
  TellLikeness(narrowing);
  Diagnosis diagnosis = NothingFits(narrowing);
  if (advice != nullptr && advice->has_refused) {
    AddName(diagnosis.unschedulable_plugins, profile_.plugin_names()[profile_.extender_index()]);
  }
  return diagnosis;
}

Outcome Engine::Decide(const Narrowing& narrowing, const Advice* advice) {
  if (auto ended = Search(narrowing, advice)) {
    return std::visit([](auto& end) { return Outcome(std::move(end)); }, *ended);
  }
  Decision decision{{}, judged_, view_->feasible_count()};
  if (decision.feasible == 1) {
    decision.row = view_->FirstFeasible();
    return decision;
  }
  if (Status status = view_->RefreshScores(cycle_); !status.IsSuccess()) return Fail(std::move(status));
  decision.row = advice != nullptr && !advice->scores.empty() ? PickBest(*advice) : view_->PickBest(random_);
  return decision;
}

Outcome Engine::SchedulePod(const Cycle::Subject& subject) {
  Narrowing narrowing;
  if (auto ended = Enter(subject, narrowing)) {
    return std::visit([](auto& end) { return Outcome(std::move(end)); }, *ended);
  }
  if (const cluster::NodeRow row = TryNominatedNode(); row.IsValid()) return Decision{row, 1, 1};
  Outcome outcome = Decide(narrowing, nullptr);
  if (view_ == nullptr) return outcome;
  const bool is_short_cut = view_->is_restricted() || view_->filtered_as_list();
  if (options_.verify_views && (is_kept_ || view_->by_kind() || (narrowing.all && is_short_cut)))
    VerifyView();
  if (is_wanted_) KeepView();
  return outcome;
}

void Engine::KeepView() {
  scratch_->Trim();
  views_.Insert(key_, std::move(scratch_), cluster_.nodes().existing_count());
  is_kept_ = true;
}

void Engine::Collect(std::uint64_t step) {
  EndAttempt();
  plans_.Collect(cluster_, step);
}

}  // namespace berth::framework
