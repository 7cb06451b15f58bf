#include <algorithm>
#include <string>

#include "api/pod_requests.h"
#include "api/resource_names.h"
#include "plugins/hint_objects.h"
#include "plugins/node_resources_fit.h"

namespace berth::plugins {
namespace {

using framework::Hint;
using framework::HintInput;

bool FitsOnEmpty(const api::ResourceVector& wanted, const api::NodeAllocatable& node) {
  const api::ResourceVector nothing;
  return api::MissingResources(wanted, {.allocatable = node, .requested = nothing}).empty();
}

// Whether the node has more than before of something that the pod asks for.
bool GrewFor(const api::ResourceVector& wanted, const api::NodeAllocatable& before,
             const api::NodeAllocatable& after) {
  if (after.pod_count_max > before.pod_count_max) return true;
  const api::ResourceVector& had = before.resources;
  const api::ResourceVector& has = after.resources;
  return (wanted.milli_cpu > 0 && has.milli_cpu > had.milli_cpu) ||
         (wanted.memory > 0 && has.memory > had.memory) ||
         (wanted.ephemeral_storage > 0 && has.ephemeral_storage > had.ephemeral_storage) ||
         std::ranges::any_of(wanted.scalars, [&](const auto& scalar) {
           return scalar.second != 0 && has.Scalar(scalar.first) > had.Scalar(scalar.first);
         });
}

// Whether the other pod gives back something of what `wanted` asks for.
bool ShrankFor(const api::ResourceList& wanted, const api::ResourceVector& before,
               const api::ResourceVector& after) {
  return std::ranges::any_of(wanted, [&](const auto& entry) {
    const auto& [name, amount] = entry;
    if (amount.IsZero()) return false;
    if (name == api::kCpu) return before.milli_cpu > after.milli_cpu;
    if (name == api::kMemory) return before.memory > after.memory;
    if (name == api::kEphemeralStorage) return before.ephemeral_storage > after.ephemeral_storage;
    return before.Scalar(name) > after.Scalar(name);
  });
}

base::Result<Hint> Always(const HintInput&) { return Hint::kQueue; }

base::Result<Hint> AfterDeviceClassChange(const HintInput& input) {
  const auto device_class = ChangedObjectsOf<api::DeviceClass>(input);
  if (!device_class) return std::unexpected(device_class.error());
  const api::DeviceClass& after = *device_class->after;
  const std::string name = after.spec.extended_resource_name.value_or("");
  const api::ResourceList wanted = api::PodRequests(api::PodResourceView(input.record().spec->spec), {});
  if (device_class->before == nullptr) {
    if (wanted.contains(std::string(dra::kImplicitResourcePrefix) + after.metadata.name)) return Hint::kQueue;
  } else if (device_class->before->spec.extended_resource_name.value_or("") == name) {
    return Hint::kQueueSkip;
  }
  return QueueIf(after.spec.extended_resource_name && wanted.contains(name));
}

}  // namespace

// A pod whose resize was put off stays where it is: what happens on other nodes does not help it.
bool NodeResourcesFit::IsTiedToAnotherNode(const api::PodRecord& waiting, std::string_view node_name) const {
  return features_.in_place_pod_vertical_scaling_scheduler_preemption &&
         framework::IsResizeDeferred(waiting) && waiting.node_name != node_name;
}

api::ResourceVector NodeResourcesFit::PendingRequests(const api::PodRecord& waiting) const {
  return api::PendingPodRequests(api::PodResourceView(waiting), features_.ForResources());
}

base::Result<Hint> NodeResourcesFit::AfterPodDeletion(const HintInput& input) const {
  const auto deleted = DeletedObjectOf<api::PodRecord>(input);
  if (!deleted) return std::unexpected(deleted.error());
  const api::PodRecord& gone = **deleted;
  const bool had_place = !gone.node_name.empty() || !gone.nominated_node_name.empty();
  return QueueIf(had_place && !IsTiedToAnotherNode(input.record(), gone.node_name));
}

base::Result<Hint> NodeResourcesFit::AfterNodeChange(const HintInput& input) const {
  const auto node = ChangedObjectsOf<api::Node>(input);
  if (!node) return std::unexpected(node.error());
  if (IsTiedToAnotherNode(input.record(), node->after->metadata.name)) return Hint::kQueueSkip;

  // Resources that the configuration ignores count here, as upstream: a pod that asks for one that the node
  // lacks is not woken.
  api::ResourceVector wanted = PendingRequests(input.record());
  const api::NodeAllocatable after = api::ToAllocatable(*node->after->status.allocatable);
  bool asks_devices = false;
  for (auto& [name, amount] : wanted.scalars) {
    if (amount == 0 || after.resources.Scalar(name) > 0 || !IsOfferedByDevices(name)) continue;
    asks_devices = true;
    amount = 0;
  }
  if (!FitsOnEmpty(wanted, after)) return Hint::kQueueSkip;
  if (node->before == nullptr || asks_devices) return Hint::kQueue;
  return QueueIf(GrewFor(wanted, api::ToAllocatable(*node->before->status.allocatable), after));
}

base::Result<Hint> NodeResourcesFit::AfterScaleDown(const HintInput& input) const {
  const auto pod = ChangedObjectsOf<api::PodRecord>(input);
  if (!pod) return std::unexpected(pod.error());
  if (pod->before == nullptr) return base::Fail("the event has no old object");
  const std::string& node_name = pod->after->node_name;
  if (node_name.empty() || IsTiedToAnotherNode(input.record(), node_name)) return Hint::kQueueSkip;

  const api::PodRequestOptions options{
      .use_status = features_.in_place_pod_vertical_scaling,
      .use_pod_level_status = features_.in_place_pod_level_resources_vertical_scaling};
  const auto requests_of = [&](const api::PodRecord& record) {
    return api::PodRequests(api::PodResourceView(record), options);
  };
  return QueueIf(ShrankFor(requests_of(input.record()), api::ToVector(requests_of(*pod->before)),
                           api::ToVector(requests_of(*pod->after))));
}

base::Result<Hint> NodeResourcesFit::AfterScaleUp(const HintInput& input) const {
  if (!framework::IsResizeDeferred(input.record())) return Hint::kQueueSkip;
  const auto pod = ChangedObjectsOf<api::PodRecord>(input);
  if (!pod) return std::unexpected(pod.error());
  return QueueIf(pod->after->node_name == input.record().node_name);
}

std::vector<framework::EventRegistration> NodeResourcesFit::EventsToRegister() const {
  using framework::EventResource;
  const auto hint = [this](base::Result<Hint> (NodeResourcesFit::*answer)(const HintInput&) const) {
    return [this, answer](const HintInput& input) { return (this->*answer)(input); };
  };
  // With the gate a condition of the pod counts, too.
  const bool by_template = !features_.in_place_pod_vertical_scaling_scheduler_preemption;
  std::vector<framework::EventRegistration> events = {
      {.event = {EventResource::kAssignedPod, framework::kDelete},
       .hint = hint(&NodeResourcesFit::AfterPodDeletion),
       .by_template = by_template},
      {.event = {EventResource::kNode, framework::kAdd | framework::kUpdateNodeAllocatable},
       .hint = hint(&NodeResourcesFit::AfterNodeChange),
       .by_template = by_template}};
  if (features_.dra_extended_resource) {
    events.push_back({.event = {EventResource::kDeviceClass, framework::kAdd | framework::kUpdate},
                      .hint = AfterDeviceClassChange,
                      .by_template = true});
  }
  if (features_.in_place_pod_vertical_scaling) {
    events.push_back({.event = {EventResource::kAssignedPod, framework::kUpdatePodScaleDown},
                      .hint = hint(&NodeResourcesFit::AfterScaleDown)});
    events.push_back({.event = {EventResource::kTargetPod, framework::kUpdatePodScaleDown}, .hint = Always});
  }
  if (features_.in_place_pod_vertical_scaling_scheduler_preemption) {
    events.push_back({.event = {EventResource::kAssignedPod, framework::kUpdatePodScaleUp},
                      .hint = hint(&NodeResourcesFit::AfterScaleUp)});
    events.push_back({.event = {EventResource::kTargetPod, framework::kUpdatePodScaleUp},
                      .hint = [](const HintInput& input) -> base::Result<Hint> {
                        return QueueIf(framework::IsResizeDeferred(input.record()));
                      }});
  }
  return events;
}

}  // namespace berth::plugins
