#pragma once

#include <cstdint>
#include <span>

#include "api/container.h"
#include "api/pod.h"
#include "api/pod_record.h"
#include "api/resource_list.h"
#include "api/resource_vector.h"

// What a pod needs of a node, from its containers, init containers, sidecars, pod-level resources, overhead
// and, while it is being resized in place, from what its kubelet reports.
namespace berth::api {

// Feature gates, at their defaults.
struct ResourceGates {
  bool pod_level_resources = true;
  bool in_place_pod_vertical_scaling = true;
  bool in_place_pod_level_resources_vertical_scaling = true;
  bool dra_node_allocatable_resources = false;
};

struct PodRequestOptions {
  // Count what a kubelet has allocated and set up, too: for pods that have a node.
  bool use_status = false;
  // Of that, also what it reports for the pod as a whole.
  bool use_pod_level_status = false;
  // Whether spec.resources replaces the sum over the containers.
  bool use_pod_level = true;
  // Add what claims take of the node's own resources.
  bool use_claims = false;
  // For containers that do not name the resource at all: 100m and 200Mi.
  bool default_cpu = false;
  bool default_memory = false;
};

// The parts of a pod that its requests depend on; points into it.
struct PodResourceView {
  explicit PodResourceView(const Pod& pod);
  explicit PodResourceView(const PodRecord& pod);
  // For requests that look at no status.
  explicit PodResourceView(const PodSpec& pod_spec) : spec(pod_spec) {}

  const PodSpec& spec;
  std::span<const ContainerStatus> init_container_statuses;
  std::span<const ContainerStatus> container_statuses;
  const ResourceList* allocated_resources = nullptr;  // null: none
  const ResourceRequirements* resources = nullptr;    // null: none
  std::span<const NodeAllocatableResourceClaimStatus> claims;
  bool resize_infeasible = false;
};

ResourceList PodRequests(const PodResourceView& pod, const PodRequestOptions& options);
ResourceList PodLimits(const PodResourceView& pod, const PodRequestOptions& options);

// What a pod counts for on its node. The non-zero amounts are for scores: a container without a request still
// takes some.
struct AssignedRequests {
  ResourceVector requests;
  std::int64_t non_zero_milli_cpu = 0;
  std::int64_t non_zero_memory = 0;

  bool operator==(const AssignedRequests&) const = default;
};
AssignedRequests AssignedPodRequests(const PodResourceView& pod, const ResourceGates& gates);
PodRequestOptions AssignedOptions(const ResourceGates& gates);

// What a pod asks of a node before it has one: its status does not count. Claims are left out; whoever
// accounts for them adds them.
ResourceVector PendingPodRequests(const PodResourceView& pod, const ResourceGates& gates);

}  // namespace berth::api
