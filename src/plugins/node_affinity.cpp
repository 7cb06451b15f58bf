#include "plugins/node_affinity.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/memo.h"
#include "plugins/hint_objects.h"
#include "plugins/node_term_judge.h"
#include "plugins/pod_signatures.h"

namespace berth::plugins {
namespace {

enum NodeAffinityReason : framework::ReasonId { kAddedAffinity, kPodAffinity };
constexpr framework::ReasonText kNodeAffinityReasons[] = {
    {framework::Code::kUnschedulableAndUnresolvable, "node(s) didn't match scheduler-enforced node affinity"},
    {framework::Code::kUnschedulableAndUnresolvable, "node(s) didn't match Pod's node affinity/selector"},
};
constexpr std::string_view kConflict = "pod affinity terms conflict";

struct AffinityPlan final : framework::Plan {
  explicit AffinityPlan(const api::PodSpec& spec) : required(spec.node_selector, spec.affinity) {}

  api::RequiredNodeAffinity required;
  std::optional<framework::NodeNames> pinned;  // empty: the terms contradict each other
  std::optional<base::Error> preferred_error;
  api::PreferredNodeTerms preferred;

  base::GenerationalMemo<cluster::LabelSetId, bool> selected;  // by nodeSelector
  NodeTermJudge required_terms;
  NodeTermJudge added_terms;
  NodeTermJudge preferred_terms;
  NodeTermJudge added_preferred_terms;
};

const api::NodeAffinity* AffinityOf(const api::PodSpec& spec) {
  return spec.affinity && spec.affinity->node_affinity ? &*spec.affinity->node_affinity : nullptr;
}

const api::StringMap& LabelsOf(const api::Node& node) { return node.metadata.labels; }

void SignTerm(const api::NodeSelectorTerm& term, std::string& text) {
  for (const auto* const requirements : {&term.match_expressions, &term.match_fields}) {
    std::vector<std::string> parts;
    for (const api::NodeSelectorRequirement& requirement : *requirements) {
      std::string& part = parts.emplace_back();
      AppendField(part, requirement.key);
      AppendField(part, requirement.operator_);
      std::vector<std::string> values = requirement.values;
      std::ranges::sort(values);
      for (const std::string& value : values) AppendField(part, value);
    }
    std::ranges::sort(parts);
    text += '[';
    for (const std::string& part : parts) AppendField(text, part);
    text += ']';
  }
}

void AppendSorted(std::vector<std::string>& parts, std::string& text) {
  std::ranges::sort(parts);
  text += '{';
  for (const std::string& part : parts) AppendField(text, part);
  text += '}';
}

std::string SignAffinity(const api::NodeAffinity* affinity) {
  std::string text;
  if (affinity == nullptr) return text;
  std::vector<std::string> terms;
  if (const auto& required = affinity->required_during_scheduling_ignored_during_execution) {
    text += "required";
    for (const api::NodeSelectorTerm& term : required->node_selector_terms) {
      SignTerm(term, terms.emplace_back());
    }
  }
  AppendSorted(terms, text);
  terms.clear();
  for (const api::PreferredSchedulingTerm& term :
       affinity->preferred_during_scheduling_ignored_during_execution) {
    SignTerm(term.preference, terms.emplace_back(std::to_string(term.weight)));
  }
  AppendSorted(terms, text);
  return text;
}

}  // namespace

base::Result<std::unique_ptr<framework::Plugin>> NodeAffinity::Make(const framework::PluginSetup& setup) {
  std::unique_ptr<NodeAffinity> plugin(new NodeAffinity);
  const std::optional<api::NodeAffinity>& added = setup.args.node_affinity.added_affinity;
  if (!added) return plugin;

  const api::FieldPath path("addedAffinity");
  std::vector<std::string> problems;
  if (const auto& required = added->required_during_scheduling_ignored_during_execution) {
    auto compiled = api::NodeMatcher::CompileStrict(
        *required, path.Child("requiredDuringSchedulingIgnoredDuringExecution"));
    if (compiled) {
      plugin->added_required_ = std::move(*compiled);
    } else {
      problems.push_back(compiled.error().message);
    }
  }
  const auto& preferred = added->preferred_during_scheduling_ignored_during_execution;
  if (!preferred.empty()) {
    auto compiled = api::PreferredNodeTerms::Compile(
        preferred, path.Child("preferredDuringSchedulingIgnoredDuringExecution"));
    if (compiled) {
      plugin->added_preferred_ = std::move(*compiled);
    } else {
      problems.push_back(compiled.error().message);
    }
  }
  if (!problems.empty()) return base::Fail(api::AggregateErrors(problems));
  return plugin;
}

std::span<const framework::ReasonText> NodeAffinity::Reasons() const { return kNodeAffinityReasons; }

std::unique_ptr<framework::Plan> NodeAffinity::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<AffinityPlan>(input.spec);
  const api::NodeAffinity* const affinity = AffinityOf(input.spec);

  plan->filters = !plan->required.matches_everything() || added_required_;
  plan->filter_reads = framework::Reads::Row(cluster::kLabelsFact);
  if (plan->required.affinity()) {
    plan->required_terms = NodeTermJudge(plan->required.affinity()->terms());
    plan->pinned = api::PinnedNodeNames(*affinity->required_during_scheduling_ignored_during_execution);
  }
  if (added_required_) plan->added_terms = NodeTermJudge(added_required_->terms());

  plan->scores = added_preferred_.has_value();
  plan->score_reads = framework::Reads::Row(cluster::kLabelsFact);
  if (added_preferred_) plan->added_preferred_terms = NodeTermJudge(added_preferred_->terms());
  if (affinity != nullptr && !affinity->preferred_during_scheduling_ignored_during_execution.empty()) {
    plan->scores = true;
    auto compiled =
        api::PreferredNodeTerms::Compile(affinity->preferred_during_scheduling_ignored_during_execution);
    if (compiled) {
      plan->preferred = std::move(*compiled);
      plan->preferred_terms = NodeTermJudge(plan->preferred.terms());
    } else {
      plan->preferred_error = compiled.error();
    }
  }
  return plan;
}

framework::PreFilterResult NodeAffinity::PreFilter(framework::Cycle& cycle) const {
  const auto& plan = cycle.PlanOf<AffinityPlan>(*this);
  if (cycle.resize_deferred() || !plan.filters) return {.status = framework::Status::Skip()};
  if (!plan.pinned) return {};
  if (plan.pinned->empty()) return {.status = framework::Status::Unresolvable(std::string(kConflict))};
  return {.status = {}, .nodes = &*plan.pinned};
}

void NodeAffinity::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.resize_deferred()) return;
  auto& plan = cycle.PlanOf<AffinityPlan>(*this);
  const cluster::LabelTable& labels = cycle.cluster().labels();
  const cluster::NodeTable& table = cycle.cluster().nodes();
  const std::span<const cluster::LabelSetId> set_of = table.label_set();

  if (added_required_) {
    nodes.RemoveIf(kAddedAffinity, [&](cluster::NodeRow row) {
      return !plan.added_terms.MatchesAny(labels, set_of[row.index()], table.name(row));
    });
  }
  if (!plan.required.node_selector().matches_everything()) {
    nodes.RemoveIf(kPodAffinity, [&](cluster::NodeRow row) {
      return !plan.selected.Get(labels.Version(set_of[row.index()]), [&](cluster::LabelSetId set) {
        return plan.required.node_selector().Matches(labels.View(set));
      });
    });
  }
  if (plan.required.affinity()) {
    nodes.RemoveIf(kPodAffinity, [&](cluster::NodeRow row) {
      return !plan.required_terms.MatchesAny(labels, set_of[row.index()], table.name(row));
    });
  }
}

framework::Status NodeAffinity::PreScore(framework::Cycle& cycle, const framework::FeasibleSet&,
                                         framework::ChangedRows&) const {
  const auto& plan = cycle.PlanOf<AffinityPlan>(*this);
  if (plan.preferred_error) return framework::Status::Error(plan.preferred_error->message);
  return plan.scores ? framework::Status() : framework::Status::Skip();
}

framework::Status NodeAffinity::Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                                      std::span<std::int64_t> scores) const {
  auto& plan = cycle.PlanOf<AffinityPlan>(*this);
  // PreScore may be disabled.
  if (plan.preferred_error) return framework::Status::Error(plan.preferred_error->message);
  const cluster::LabelTable& labels = cycle.cluster().labels();
  const cluster::NodeTable& table = cycle.cluster().nodes();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const cluster::LabelSetId set = table.label_set()[rows[i].index()];
    const std::string_view name = table.name(rows[i]);
    scores[i] =
        plan.added_preferred_terms.Weight(labels, set, name) + plan.preferred_terms.Weight(labels, set, name);
  }
  return {};
}

void NodeAffinity::Normalize(const framework::Extent& extent, std::span<std::int64_t> scores) const {
  framework::NormalizeByMax(extent, framework::Direction::kHigherIsBetter, scores);
}

base::Result<framework::Hint> NodeAffinity::AfterNodeChange(const framework::HintInput& input) const {
  const auto node = ChangedObjectsOf<api::Node>(input);
  if (!node) return std::unexpected(node.error());
  const api::Node& after = *node->after;
  if (added_required_ && !added_required_->Matches(after.metadata.name, LabelsOf(after))) {
    return framework::Hint::kQueueSkip;
  }
  const api::PodSpec& spec = input.record().spec->spec;
  const api::RequiredNodeAffinity required(spec.node_selector, spec.affinity);
  const base::Result<bool> matches = required.Match(after.metadata.name, LabelsOf(after));
  if (!matches) return std::unexpected(matches.error());
  if (!*matches) return framework::Hint::kQueueSkip;
  if (node->before == nullptr) return framework::Hint::kQueue;
  // As upstream: a change that lets only the added affinity match, where the pod's own matched before, is
  // passed over.
  const base::Result<bool> matched = required.Match(node->before->metadata.name, LabelsOf(*node->before));
  if (!matched) return std::unexpected(matched.error());
  return QueueIf(!*matched);
}

std::vector<framework::EventRegistration> NodeAffinity::EventsToRegister() const {
  return {{.event = {framework::EventResource::kNode, framework::kAdd | framework::kUpdateNodeLabel},
           .hint = [this](const framework::HintInput& input) { return AfterNodeChange(input); },
           .by_template = true}};
}

bool NodeAffinity::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  const api::PodSpec& spec = pod.record().spec->spec;
  signature.Add("v1.Pod.Spec.Affinity.NodeAffinity", SignAffinity(AffinityOf(spec)));
  std::string selector;
  for (const auto& [key, value] : spec.node_selector) {
    AppendField(selector, key);
    AppendField(selector, value);
  }
  signature.Add("v1.Pod.Spec.Affinity.NodeSelector", std::move(selector));
  return true;
}

}  // namespace berth::plugins
