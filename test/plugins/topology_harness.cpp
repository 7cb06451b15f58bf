#include "plugins/topology_harness.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "base/check.h"
#include "plugins/inter_pod_affinity.h"
#include "plugins/pod_topology_spread.h"

namespace berth::plugins::test {
namespace {

using cluster::NodeRow;
using framework::ChangedRows;
using framework::Code;

NodeRow RowOf(std::size_t bit) { return NodeRow(static_cast<std::uint32_t>(bit)); }

std::vector<NodeRow> RowsOf(const base::Bitset& rows) {
  std::vector<NodeRow> list;
  rows.ForEach([&](std::size_t bit) { list.push_back(RowOf(bit)); });
  return list;
}

void AddRows(base::Bitset& rows, const ChangedRows& changed) {
  if (changed.all()) rows.SetAll();
  for (const NodeRow row : changed.rows()) rows.Set(row.index());
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  return out << fmt::format("PreFilter {} {}; refused {}; PreScore {} {}; raw {}; scores {}",
                            framework::CodeName(answer.pre_filter.code()), answer.pre_filter.Message(),
                            answer.refused, framework::CodeName(answer.pre_score.code()),
                            answer.pre_score.Message(), answer.raw, answer.scores);
}

// What a view would keep.
struct TopologyHarness::Kept {
  std::unique_ptr<framework::State> state;
  std::uint64_t version = 0;  // of the change log
  bool is_new = true;
  std::vector<framework::RejectionId> refusals;
  base::Bitset stale_verdicts;
  base::Bitset stale_scores;
  base::Bitset scored;
  bool has_scores = false;
  std::vector<std::int64_t> raw;
};

TopologyHarness::TopologyHarness(std::string_view plugin, const Options& options)
    : features_(options.features) {
  framework::Registry registry;
  registry.Add<InterPodAffinity>("InterPodAffinity");
  registry.Add<PodTopologySpread>("PodTopologySpread");
  const framework::PluginSetup setup{features_, options.args, cluster_};
  const framework::EnabledPlugin enabled{std::string(plugin), 1};
  const auto config = framework::ExpandEverywhere({&enabled, 1}, registry, setup);
  BERTH_CHECK(config.has_value());
  auto profile = framework::Profile::Make(*config, registry, setup, rejections_);
  BERTH_CHECK(profile.has_value());
  profile_ = std::move(*profile);
  cycle_ = std::make_unique<framework::Cycle>(*profile_, cluster_, rejections_);
}

TopologyHarness::~TopologyHarness() = default;

cluster::PodSlot TopologyHarness::AddPod(const berth::test::PodBuilder& pod) {
  const auto record = pod.Record();
  if (record->node_name.empty()) return *cluster_.SetPending(record);
  BERTH_CHECK(cluster_.AddPod(record).has_value());
  return cluster_.pods().Find(record->uid);
}

framework::Plan& TopologyHarness::PlanFor(cluster::PodSlot pod) {
  const api::PodTemplateRef& spec = cluster_.pods().record(pod).spec;
  auto& [held, plan] = plans_[spec.get()];
  if (!plan) {
    held = spec;
    plan = plugin().MakePlan({.spec = spec->spec,
                              .requests = cluster_.requests(pod),
                              .template_id = cluster_.pods().facts(pod).template_id,
                              .cluster = cluster_,
                              .features = features_});
  }
  return *plan;
}

void TopologyHarness::Begin(cluster::PodSlot pod, framework::Plan& plan) {
  cycle_->Begin({.pod = pod, .step = ++step_});
  plan_ = &plan;
  cycle_->SetPlans({&plan_, 1});
  plugin().AppendScope(*cycle_, cycle_->scope());
}

Answer TopologyHarness::Ask(cluster::PodSlot pod, const Question& question) {
  const auto plan = plugin().MakePlan({.spec = cluster_.pods().record(pod).spec->spec,
                                       .requests = cluster_.requests(pod),
                                       .template_id = cluster_.pods().facts(pod).template_id,
                                       .cluster = cluster_,
                                       .features = features_});
  Begin(pod, *plan);
  Kept fresh;
  return Evaluate(fresh, *plan, question);
}

Answer TopologyHarness::AskAgain(cluster::PodSlot pod, const Question& question) {
  framework::Plan& plan = PlanFor(pod);
  Begin(pod, plan);
  const auto words = cycle_->scope().words();
  auto& kept = kept_[{&plan, {words.begin(), words.end()}}];
  if (!kept) kept = std::make_unique<Kept>();
  return Evaluate(*kept, plan, question);
}

Answer TopologyHarness::Evaluate(Kept& kept, framework::Plan& plan, const Question& question) {
  verdicts_computed_ = 0;
  scores_computed_ = 0;
  const auto* stateful = dynamic_cast<const framework::StatefulPoint*>(&plugin());
  if (!kept.state) kept.state = stateful->MakeState(*cycle_);
  state_ = kept.state.get();
  cycle_->SetStates({&state_, 1});

  const std::size_t row_count = cluster_.nodes().row_count();
  kept.refusals.resize(row_count);
  kept.raw.resize(row_count);
  for (base::Bitset* rows : {&kept.stale_verdicts, &kept.stale_scores, &kept.scored}) rows->Resize(row_count);
  framework::StateChanges& changes = cycle_->state_changes();
  changes.verdicts.Reset(row_count);
  changes.scores.Reset(row_count);
  stateful->Refresh(*cycle_, *kept.state, changes);
  if (kept.is_new) {
    changes.verdicts.AddAll();
    changes.scores.AddAll();
  }
  kept.is_new = false;
  AddRows(kept.stale_verdicts, changes.verdicts);
  AddRows(kept.stale_scores, changes.scores);
  const bool covered = cluster_.change_log().Since(kept.version, [&](NodeRow row, cluster::Facts facts) {
    if ((facts & (plan.filter_reads.facts | cluster::kExistsFact)) != 0) kept.stale_verdicts.Set(row.index());
    if ((facts & (plan.score_reads.facts | cluster::kExistsFact)) != 0) kept.stale_scores.Set(row.index());
  });
  BERTH_CHECK(covered);
  kept.version = cluster_.change_log().version();

  Answer answer;
  Judge(kept, plan, answer);
  answer.pre_score = framework::Status::Skip();
  const bool decided = answer.pre_filter.IsSuccess() || answer.pre_filter.IsSkip();
  if (question.score && plan.scores && decided) Score(kept, plan, question, answer);
  return answer;
}

void TopologyHarness::Judge(Kept& kept, const framework::Plan& plan, Answer& answer) {
  answer.pre_filter = framework::Status::Skip();
  if (plan.filters) {
    answer.pre_filter = dynamic_cast<const framework::PreFilterPoint&>(plugin()).PreFilter(*cycle_).status;
  }
  if (!answer.pre_filter.IsSuccess() && !answer.pre_filter.IsSkip()) return;
  kept.stale_verdicts.And(cluster_.nodes().existing());
  std::vector<NodeRow> rows = RowsOf(kept.stale_verdicts);
  for (const NodeRow row : rows) kept.refusals[row.index()] = framework::kAccepted;
  if (answer.pre_filter.IsSuccess()) {
    verdicts_computed_ = rows.size();
    framework::NodeSelection selection(rows, kept.refusals, rejections_);
    const framework::FixedReasons fixed = profile_->fixed_reasons(0);
    selection.BeginPlugin(0, fixed.first, fixed.count);
    dynamic_cast<const framework::FilterPoint&>(plugin()).Filter(*cycle_, selection);
  }
  kept.stale_verdicts.ClearAll();
  cluster_.nodes().existing().ForEach([&](std::size_t bit) {
    if (!kept.refusals[bit].IsRefusal()) return;
    const framework::Status status = rejections_.ToStatus(kept.refusals[bit], plugin().Name());
    answer.refused[std::string(cluster_.nodes().name(RowOf(bit)))] =
        fmt::format("{}: {}", framework::CodeName(status.code()), status.Message());
  });
}

void TopologyHarness::Score(Kept& kept, const framework::Plan&, const Question& question, Answer& answer) {
  base::Bitset feasible(cluster_.nodes().row_count());
  cluster_.nodes().existing().ForEach([&](std::size_t bit) {
    const std::string name(cluster_.nodes().name(RowOf(bit)));
    if (!answer.refused.contains(name) && !question.infeasible.contains(name)) feasible.Set(bit);
  });
  if (feasible.None()) return;
  const auto& point = dynamic_cast<const framework::ScorePoint&>(plugin());
  base::Bitset entered = feasible;
  entered.AndNot(kept.scored);
  base::Bitset left = kept.scored;
  left.AndNot(feasible);
  const std::vector<NodeRow> entered_rows = RowsOf(entered);
  const std::vector<NodeRow> left_rows = RowsOf(left);
  ChangedRows changed;
  changed.Reset(feasible.size());
  const framework::FeasibleSet set{feasible, feasible.Count(), !kept.has_scores, entered_rows, left_rows};
  answer.pre_score = point.PreScore(*cycle_, set, changed);
  kept.has_scores = true;
  kept.scored = feasible;
  AddRows(kept.stale_scores, changed);
  kept.stale_scores.Or(entered);
  if (!answer.pre_score.IsSuccess()) return;

  kept.stale_scores.And(feasible);
  const std::vector<NodeRow> stale = RowsOf(kept.stale_scores);
  std::vector<std::int64_t> scores(stale.size());
  scores_computed_ = stale.size();
  BERTH_CHECK(point.Score(*cycle_, stale, scores).IsSuccess());
  for (std::size_t i = 0; i < stale.size(); ++i) kept.raw[stale[i].index()] = scores[i];
  kept.stale_scores.ClearAll();

  framework::Extent extent;
  std::vector<std::int64_t> normalised;
  std::vector<std::string> names;
  feasible.ForEach([&](std::size_t bit) {
    const std::string name(cluster_.nodes().name(RowOf(bit)));
    answer.scores[name] = 0;
    const std::int64_t raw = kept.raw[bit];
    if (raw == framework::kNoScore) return;
    answer.raw[name] = raw;
    extent.min = extent.count == 0 ? raw : std::min(extent.min, raw);
    extent.max = extent.count == 0 ? raw : std::max(extent.max, raw);
    ++extent.count;
    names.push_back(name);
    normalised.push_back(raw);
  });
  point.Normalize(extent, normalised);
  for (std::size_t i = 0; i < names.size(); ++i) answer.scores[names[i]] = normalised[i];
}

}  // namespace berth::plugins::test
