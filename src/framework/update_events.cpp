#include <algorithm>
#include <memory>

#include "api/pod_requests.h"
#include "base/flat_map.h"
#include "framework/events.h"

namespace berth::framework {
namespace {

using Statuses = base::FlatMap<std::string, std::string>;

// When a condition was seen last does not count, nor does its order.
Statuses ConditionStatuses(const api::Node& node) {
  Statuses statuses;
  for (const api::NodeCondition& condition : *node.status.conditions) {
    statuses.insert_or_assign(condition.type, condition.status);
  }
  return statuses;
}

// Whether `less` asks for less of something than `more` does, or no longer asks for it at all.
bool AsksForLess(const api::ResourceList& less, const api::ResourceList& more) {
  return std::ranges::any_of(more, [&](const auto& entry) {
    const api::Quantity* const amount = less.find(entry.first);
    return amount == nullptr || amount->MilliValue() < entry.second.MilliValue();
  });
}

Actions PodActions(const api::PodRecord& old_pod, const api::PodRecord& new_pod,
                   const api::ResourceGates& gates) {
  Actions actions = 0;
  if (old_pod.labels != new_pod.labels) actions |= kUpdatePodLabel;

  const bool same_requests = old_pod.spec == new_pod.spec &&
                             old_pod.resource_status == new_pod.resource_status &&
                             old_pod.conditions() == new_pod.conditions();
  if (!same_requests) {
    const api::PodRequestOptions options{
        .use_status = gates.in_place_pod_vertical_scaling,
        .use_pod_level_status = gates.in_place_pod_level_resources_vertical_scaling};
    const api::ResourceList old_requests = api::PodRequests(api::PodResourceView(old_pod), options);
    const api::ResourceList new_requests = api::PodRequests(api::PodResourceView(new_pod), options);
    if (AsksForLess(new_requests, old_requests)) actions |= kUpdatePodScaleDown;
    if (AsksForLess(old_requests, new_requests)) actions |= kUpdatePodScaleUp;
  }
  const api::PodSpec& old_spec = old_pod.spec->spec;
  const api::PodSpec& new_spec = new_pod.spec->spec;
  if (!old_spec.scheduling_gates.empty() && new_spec.scheduling_gates.empty()) {
    actions |= kUpdatePodSchedulingGatesEliminated;
  }
  // The API server only lets tolerations be added, so their number says it all.
  if (old_spec.tolerations->size() != new_spec.tolerations->size()) actions |= kUpdatePodToleration;
  const api::PodClaims& old_claims = old_pod.claims();
  const api::PodClaims& new_claims = new_pod.claims();
  if (old_claims.resource_claim_statuses != new_claims.resource_claim_statuses ||
      old_claims.extended_resource_claim_status != new_claims.extended_resource_claim_status) {
    actions |= kUpdatePodGeneratedResourceClaim;
  }
  return actions;
}

}  // namespace

std::vector<ClusterEvent> NodeUpdateEvents(const api::Node& old_node, const api::Node& new_node) {
  std::vector<ClusterEvent> events;
  const auto add_if = [&](bool changed, Actions action) {
    if (changed) events.push_back({EventResource::kNode, action});
  };
  const api::NodeSpec& old_spec = old_node.spec;
  const api::NodeSpec& new_spec = new_node.spec;
  add_if(old_spec.unschedulable && !new_spec.unschedulable, kUpdateNodeTaint);
  add_if(old_node.status.allocatable != new_node.status.allocatable, kUpdateNodeAllocatable);
  add_if(old_node.metadata.labels != new_node.metadata.labels, kUpdateNodeLabel);
  add_if(old_spec.taints != new_spec.taints, kUpdateNodeTaint);
  add_if(old_node.status.conditions != new_node.status.conditions &&
             ConditionStatuses(old_node) != ConditionStatuses(new_node),
         kUpdateNodeCondition);
  add_if(old_node.metadata.annotations != new_node.metadata.annotations, kUpdateNodeAnnotation);
  add_if(old_spec.pod_preemption_policy != new_spec.pod_preemption_policy, kUpdateNodePreemptionPolicy);
  add_if(old_node.status.declared_features != new_node.status.declared_features, kUpdateNodeDeclaredFeature);
  return events;
}

std::vector<ClusterEvent> PodUpdateEvents(const api::PodRecord& old_pod, const api::PodRecord& new_pod,
                                          bool is_target, const api::ResourceGates& gates) {
  EventResource resource = is_target ? EventResource::kTargetPod : EventResource::kUnscheduledPod;
  if (!new_pod.node_name.empty()) resource = EventResource::kAssignedPod;

  const Actions actions = PodActions(old_pod, new_pod, gates);
  std::vector<ClusterEvent> events;
  // In upstream's order, which is not that of the bits.
  for (const Actions action :
       {kUpdatePodLabel, kUpdatePodScaleDown, kUpdatePodScaleUp, kUpdatePodSchedulingGatesEliminated,
        kUpdatePodToleration, kUpdatePodGeneratedResourceClaim}) {
    if ((actions & action) != 0) events.push_back({resource, action});
  }
  if (events.empty()) events.push_back({resource, kUpdate});
  return events;
}

}  // namespace berth::framework
