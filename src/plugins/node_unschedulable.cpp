#include "plugins/node_unschedulable.h"

#include <cstddef>
#include <cstdint>

#include "api/tolerations.h"
#include "plugins/hint_objects.h"
#include "plugins/pod_signatures.h"

namespace berth::plugins {
namespace {

enum NodeUnschedulableReason : framework::ReasonId { kUnschedulable };
constexpr framework::ReasonText kNodeUnschedulableReasons[] = {
    {framework::Code::kUnschedulableAndUnresolvable, "node(s) were unschedulable"},
};

base::Result<framework::Hint> AfterNodeChange(const framework::HintInput& input) {
  const auto node = ChangedObjectsOf<api::Node>(input);
  if (!node) return std::unexpected(node.error());
  const bool was_closed = node->before == nullptr || node->before->spec.unschedulable;
  return QueueIf(was_closed && !node->after->spec.unschedulable);
}

}  // namespace

NodeUnschedulable::NodeUnschedulable(const framework::PluginSetup& setup)
    : comparison_operators_(setup.features.taint_toleration_comparison_operators) {}

std::span<const framework::ReasonText> NodeUnschedulable::Reasons() const {
  return kNodeUnschedulableReasons;
}

bool NodeUnschedulable::ToleratesCordon(const api::PodSpec& spec) const {
  static const api::Taint kCordon{
      .key = "node.kubernetes.io/unschedulable", .value = "", .effect = "NoSchedule", .time_added = {}};
  return api::Tolerates(*spec.tolerations, kCordon, comparison_operators_);
}

std::unique_ptr<framework::Plan> NodeUnschedulable::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<framework::Plan>();
  plan->filters = !ToleratesCordon(input.spec);
  plan->filter_reads = framework::Reads::Alike(cluster::kTaintsFact);
  return plan;
}

framework::PreFilterResult NodeUnschedulable::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred()) return {.status = framework::Status::Skip()};
  return {};
}

void NodeUnschedulable::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.resize_deferred() || !cycle.PlanOf<framework::Plan>(*this).filters) return;
  const std::span<const std::uint64_t> cordoned = cycle.cluster().nodes().unschedulable().words();
  nodes.RemoveRuns(kUnschedulable,
                   [&](std::size_t first, std::size_t) { return cordoned[first / 64] >> (first % 64); });
}

std::vector<framework::EventRegistration> NodeUnschedulable::EventsToRegister() const {
  const auto after_toleration = [this](const framework::HintInput& input) -> base::Result<framework::Hint> {
    const auto pod = ChangedObjectsOf<api::PodRecord>(input);
    if (!pod) return std::unexpected(pod.error());
    return QueueIf(ToleratesCordon(pod->after->spec->spec));
  };
  return {{.event = {framework::EventResource::kNode, framework::kAdd | framework::kUpdateNodeTaint},
           .hint = AfterNodeChange,
           .by_template = true},
          {.event = {framework::EventResource::kTargetPod, framework::kUpdatePodToleration},
           .hint = after_toleration}};
}

bool NodeUnschedulable::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  SignTolerations(pod.record().spec->spec, signature);
  return true;
}

}  // namespace berth::plugins
