#include <algorithm>
#include <string>
#include <vector>

#include "plugins/hint_objects.h"
#include "plugins/pod_topology_spread.h"

// What may wake a pod that PodTopologySpread rejected.
namespace berth::plugins {
namespace {

using framework::Hint;
using framework::HintInput;
using SpreadConstraints = std::vector<SpreadConstraint>;

// A pod that counts, or did, among those that the waiting pod is spread with.
bool IsInvolved(const api::PodRecord& pod, const api::PodRecord& waiting) {
  return (!pod.node_name.empty() || !pod.nominated_node_name.empty()) && pod.namespace_ == waiting.namespace_;
}

bool MatchesAny(const SpreadConstraints& constraints, const api::PodRecord& pod) {
  return std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return constraint.selector.Matches(pod.labels);
  });
}

Hint AfterLabels(const SpreadConstraints& constraints, const api::PodRecord& before,
                 const api::PodRecord& after) {
  if (before.labels == after.labels) return Hint::kQueueSkip;
  return QueueIf(std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return constraint.selector.Matches(before.labels) != constraint.selector.Matches(after.labels);
  }));
}

Hint AfterAssignedPod(const HintObjects<api::PodRecord>& objects, const SpreadConstraints& constraints) {
  const auto [before, after] = objects;
  if (before != nullptr && after != nullptr) return AfterLabels(constraints, *before, *after);
  return QueueIf(MatchesAny(constraints, after != nullptr ? *after : *before));
}

Hint AfterTargetPod(const HintObjects<api::PodRecord>& objects, const SpreadConstraints& constraints) {
  const auto [before, after] = objects;
  if (after->spec->spec.tolerations != before->spec->spec.tolerations &&
      std::ranges::any_of(constraints, &SpreadConstraint::honors_taints)) {
    return Hint::kQueue;
  }
  return AfterLabels(constraints, *before, *after);
}

Hint AfterNode(const HintObjects<api::Node>& objects, const SpreadConstraints& constraints) {
  const auto has_keys = [&](const api::Node& node) {
    return std::ranges::all_of(constraints, [&](const SpreadConstraint& constraint) {
      return node.metadata.labels.find(constraint.topology_key) != nullptr;
    });
  };
  const auto [before, after] = objects;
  if (before == nullptr || after == nullptr) return QueueIf(has_keys(after != nullptr ? *after : *before));
  if (has_keys(*before) != has_keys(*after)) return Hint::kQueue;
  if (!has_keys(*after)) return Hint::kQueueSkip;
  const bool moved = std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return *before->metadata.labels.find(constraint.topology_key) !=
           *after->metadata.labels.find(constraint.topology_key);
  });
  return QueueIf(moved || before->spec.taints != after->spec.taints);
}

}  // namespace

std::vector<framework::EventRegistration> PodTopologySpread::EventsToRegister() const {
  using framework::EventResource;
  // Each: read the objects, then the constraints, either of which may fail, then decide.
  const auto decide = [this](const HintInput& input, const auto& objects,
                             auto&& decision) -> base::Result<Hint> {
    const auto constraints = HardConstraintsOf(input);
    if (!constraints) return std::unexpected(constraints.error());
    return decision(objects, *constraints);
  };
  const auto assigned_pod = [decide](const HintInput& input) -> base::Result<Hint> {
    const auto objects = ObjectsOf<api::PodRecord>(input);
    if (!objects) return std::unexpected(objects.error());
    for (const api::PodRecord* pod : {objects->before, objects->after}) {
      if (pod != nullptr && !IsInvolved(*pod, input.record())) return Hint::kQueueSkip;
    }
    return decide(input, *objects, AfterAssignedPod);
  };
  const auto target_pod = [decide](const HintInput& input) -> base::Result<Hint> {
    const auto objects = ChangedObjectsOf<api::PodRecord>(input);
    if (!objects) return std::unexpected(objects.error());
    if (objects->before == nullptr) return base::Fail("the event has no old object");
    return decide(input, *objects, AfterTargetPod);
  };
  const auto node = [decide](const HintInput& input) -> base::Result<Hint> {
    const auto objects = ObjectsOf<api::Node>(input);
    if (!objects) return std::unexpected(objects.error());
    return decide(input, *objects, AfterNode);
  };
  return {
      {{EventResource::kAssignedPod, framework::kAdd | framework::kUpdatePodLabel | framework::kDelete},
       assigned_pod},
      {{EventResource::kTargetPod, framework::kUpdatePodToleration | framework::kUpdatePodLabel}, target_pod},
      {{EventResource::kNode,
        framework::kAdd | framework::kDelete | framework::kUpdateNodeLabel | framework::kUpdateNodeTaint},
       node},
  };
}

}  // namespace berth::plugins
