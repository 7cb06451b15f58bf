#include "plugins/deferred_pod_scheduling.h"

#include <cstdint>
#include <string>

#include "framework/cycle.h"
#include "plugins/hint_objects.h"

namespace berth::plugins {
namespace {

enum DeferredPodSchedulingReason : framework::ReasonId { kOtherNode, kPreemptionDisabled };
constexpr framework::ReasonText kDeferredPodSchedulingReasons[] = {
    {framework::Code::kUnschedulableAndUnresolvable, "pod assigned to different node"},
    {framework::Code::kUnschedulableAndUnresolvable, "node had resize preemption disabled"},
};

bool DisablesPreemption(const api::Node& node) {
  const auto& policy = node.spec.pod_preemption_policy;
  return policy && !policy->disable_resize_preemption.empty();
}

}  // namespace

std::span<const framework::ReasonText> DeferredPodScheduling::Reasons() const {
  return kDeferredPodSchedulingReasons;
}

std::unique_ptr<framework::Plan> DeferredPodScheduling::MakePlan(const framework::PlanInput&) const {
  auto plan = std::make_unique<framework::Plan>();
  plan->filters = enabled_;
  plan->filter_reads = framework::Reads::Row(cluster::kObjectFact);
  return plan;
}

void DeferredPodScheduling::AppendScope(framework::Cycle& cycle, framework::Scope& scope) const {
  if (!cycle.resize_deferred()) return;
  // Pods of one template sit on different nodes, or on one that is gone, or on none.
  const cluster::NodeTable& nodes = cycle.cluster().nodes();
  const std::string& own_node = cycle.record().node_name;
  const cluster::NodeRow row = nodes.Find(own_node);
  scope.Add(std::uint64_t{own_node.empty()});
  scope.Add(row.IsValid() ? nodes.Version(row) : base::Versioned<cluster::NodeRow>());
}

framework::PreFilterResult DeferredPodScheduling::PreFilter(framework::Cycle& cycle) const {
  if (!cycle.resize_deferred()) return {.status = framework::Status::Skip()};
  return {};
}

void DeferredPodScheduling::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (!cycle.resize_deferred()) return;
  const cluster::NodeTable& table = cycle.cluster().nodes();
  const std::string& own_node = cycle.record().node_name;
  if (!own_node.empty()) {
    nodes.RemoveIf(kOtherNode, [&](cluster::NodeRow row) { return table.name(row) != own_node; });
  }
  nodes.RemoveIf(kPreemptionDisabled,
                 [&](cluster::NodeRow row) { return DisablesPreemption(*table.object(row)); });
}

framework::PermitResult DeferredPodScheduling::Permit(const cluster::Cluster&,
                                                      framework::Assignment& assignment) const {
  if (!enabled_ || !framework::IsResizeDeferred(*assignment.record)) return {};
  return {.status = framework::Status::Unresolvable("pod resize fits, waiting for Kubelet actuation")};
}

base::Result<framework::Hint> DeferredPodScheduling::AfterNodeChange(
    const framework::HintInput& input) const {
  if (!enabled_ || !framework::IsResizeDeferred(input.record())) return framework::Hint::kQueueSkip;
  const auto node = ChangedObjectsOf<api::Node>(input);
  if (!node) return std::unexpected(node.error());
  if (node->after->metadata.name != input.record().node_name) return framework::Hint::kQueueSkip;
  const bool was_disabled = node->before == nullptr || DisablesPreemption(*node->before);
  return QueueIf(was_disabled && !DisablesPreemption(*node->after));
}

std::vector<framework::EventRegistration> DeferredPodScheduling::EventsToRegister() const {
  const auto hint = [this](const framework::HintInput& input) { return AfterNodeChange(input); };
  return {{.event = {framework::EventResource::kNode, framework::kUpdateNodePreemptionPolicy}, .hint = hint},
          {.event = {framework::EventResource::kNode, framework::kAdd}, .hint = hint}};
}

}  // namespace berth::plugins
