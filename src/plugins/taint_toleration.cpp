#include "plugins/taint_toleration.h"

#include <cstddef>

#include "api/tolerations.h"
#include "base/memo.h"
#include "plugins/hint_objects.h"
#include "plugins/pod_signatures.h"

namespace berth::plugins {
namespace {

enum TaintTolerationReason : framework::ReasonId { kUntoleratedTaint };
constexpr framework::ReasonText kTaintTolerationReasons[] = {
    {framework::Code::kUnschedulableAndUnresolvable, "node(s) had untolerated taint(s)"},
};

struct TaintPlan final : framework::Plan {
  std::span<const api::Toleration> tolerations;
  base::GenerationalMemo<cluster::TaintSetId, bool> keeps_off;
  base::GenerationalMemo<cluster::TaintSetId, std::int64_t> disliked;
};

}  // namespace

TaintToleration::TaintToleration(const framework::PluginSetup& setup)
    : comparison_operators_(setup.features.taint_toleration_comparison_operators) {}

std::span<const framework::ReasonText> TaintToleration::Reasons() const { return kTaintTolerationReasons; }

bool TaintToleration::KeepsOff(std::span<const api::Toleration> tolerations,
                               std::span<const api::Taint> taints) const {
  return api::FindUntolerated(tolerations, taints, api::kHardEffects, comparison_operators_) != nullptr;
}

std::unique_ptr<framework::Plan> TaintToleration::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<TaintPlan>();
  plan->tolerations = *input.spec.tolerations;
  plan->filter_reads = framework::Reads::Alike(cluster::kTaintsFact);
  plan->score_reads = framework::Reads::Alike(cluster::kTaintsFact);
  return plan;
}

framework::PreFilterResult TaintToleration::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred()) return {.status = framework::Status::Skip()};
  return {};
}

void TaintToleration::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.resize_deferred()) return;
  auto& plan = cycle.PlanOf<TaintPlan>(*this);
  const cluster::TaintSetTable& taints = cycle.cluster().taints();
  const std::span<const cluster::TaintSetId> set_of = cycle.cluster().nodes().taint_set();
  // Most rows have the set of the row before.
  cluster::TaintSetId last;
  bool last_keeps_off = false;
  nodes.RemoveIf(kUntoleratedTaint, [&](cluster::NodeRow row) {
    if (const cluster::TaintSetId id = set_of[row.index()]; id != last || !last.IsValid()) {
      last = id;
      last_keeps_off = plan.keeps_off.Get(taints.Version(id), [&](cluster::TaintSetId set) {
        return KeepsOff(plan.tolerations, taints.Taints(set));
      });
    }
    return last_keeps_off;
  });
}

framework::Status TaintToleration::Score(const framework::Cycle& cycle,
                                         std::span<const cluster::NodeRow> rows,
                                         std::span<std::int64_t> scores) const {
  auto& plan = cycle.PlanOf<TaintPlan>(*this);
  const cluster::TaintSetTable& taints = cycle.cluster().taints();
  const std::span<const cluster::TaintSetId> set_of = cycle.cluster().nodes().taint_set();
  cluster::TaintSetId last;
  std::int64_t last_disliked = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (const cluster::TaintSetId id = set_of[rows[i].index()]; id != last || !last.IsValid()) {
      last = id;
      last_disliked = plan.disliked.Get(taints.Version(id), [&](cluster::TaintSetId set) {
        return static_cast<std::int64_t>(api::CountIntolerablePreferNoSchedule(
            plan.tolerations, taints.Taints(set), comparison_operators_));
      });
    }
    scores[i] = last_disliked;
  }
  return {};
}

void TaintToleration::Normalize(const framework::Extent& extent, std::span<std::int64_t> scores) const {
  framework::NormalizeByMax(extent, framework::Direction::kLowerIsBetter, scores);
}

std::vector<framework::EventRegistration> TaintToleration::EventsToRegister() const {
  const auto after_node = [this](const framework::HintInput& input) -> base::Result<framework::Hint> {
    const auto node = ChangedObjectsOf<api::Node>(input);
    if (!node) return std::unexpected(node.error());
    const std::span<const api::Toleration> tolerations = *input.record().spec->spec.tolerations;
    const bool was_closed = node->before == nullptr || KeepsOff(tolerations, node->before->spec.taints);
    return QueueIf(was_closed && !KeepsOff(tolerations, node->after->spec.taints));
  };
  const auto always = [](const framework::HintInput&) -> base::Result<framework::Hint> {
    return framework::Hint::kQueue;
  };
  return {{.event = {framework::EventResource::kNode, framework::kAdd | framework::kUpdateNodeTaint},
           .hint = after_node,
           .by_template = true},
          {.event = {framework::EventResource::kTargetPod, framework::kUpdatePodToleration}, .hint = always}};
}

bool TaintToleration::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  SignTolerations(pod.record().spec->spec, signature);
  return true;
}

}  // namespace berth::plugins
