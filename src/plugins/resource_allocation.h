#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "api/pod_requests.h"
#include "api/resource_list.h"
#include "cluster/cluster.h"
#include "dra/device_state.h"
#include "framework/plugin_args.h"
#include "plugins/device_counts.h"
#include "plugins/go_arithmetic.h"

// What plugins that score by the use of resources share: which resources count on a node, what a pod adds to
// them, and the three strategies of NodeResourcesFit.
namespace berth::plugins {

// What a pod that is to be scored asks for. NodeResourcesFit takes a default for containers that ask for
// nothing and never looks at pod-level resources; NodeResourcesBalancedAllocation does neither of that.
api::ResourceList FitScoreRequests(const api::PodResourceView& pod);
api::ResourceList BalanceScoreRequests(const api::PodResourceView& pod, const api::ResourceGates& gates);

// Of each resource in the list: whole units, cpu in thousandths.
std::vector<std::int64_t> AmountsOf(const api::ResourceList& requests,
                                    std::span<const framework::ResourceWeight> resources);

// A resource that counts for the pod at hand: columns of the node table, by row.
struct ScoredResource {
  cluster::AmountColumn allocatable;
  cluster::AmountColumn used;
  std::int64_t wanted = 0;
  std::int64_t weight = 1;
  // Count on nodes that have none of the resource themselves; null: nothing does.
  const DeviceCounts* devices = nullptr;

  std::int64_t capacity(cluster::NodeRow row) const {
    return AsksDevices(row) ? devices->At(row).total : allocatable[row.index()];
  }
  std::int64_t before(cluster::NodeRow row) const {
    return AsksDevices(row) ? devices->At(row).used : used[row.index()];
  }
  std::int64_t after(cluster::NodeRow row) const { return WrappingAdd(before(row), wanted); }

 private:
  bool AsksDevices(cluster::NodeRow row) const { return devices != nullptr && allocatable[row.index()] == 0; }
};
using ScoredResources = absl::InlinedVector<ScoredResource, 4>;

// Requests as they are, or with a default for containers that ask for nothing (cpu and memory only).
enum class Usage : std::uint8_t { kRequested, kNonZero };

// Where devices may stand for a resource; nothing: they may not.
struct DevicesOfResources {
  dra::DeviceState* state = nullptr;
  DeviceCountsTable* counts = nullptr;
};

// In the order of the list, without resources that no node has, and without those that the pod does not ask
// for, unless every pod is taken to use them (cpu, memory, ephemeral-storage). Valid until the cluster
// changes. On a row without any capacity a resource does not count either: scorers leave it out. With
// `devices` those of a class count where a node has none of a resource itself.
ScoredResources ResourcesToScore(const cluster::Cluster& cluster,
                                 std::span<const framework::ResourceWeight> resources,
                                 std::span<const std::int64_t> wanted, Usage usage,
                                 const DevicesOfResources& devices = {});

// The strategies: 0 to 100.
std::int64_t LeastAllocatedScore(std::span<const ScoredResource> resources, cluster::NodeRow row);
std::int64_t MostAllocatedScore(std::span<const ScoredResource> resources, cluster::NodeRow row);
std::int64_t RequestedToCapacityRatioScore(std::span<const ScoredResource> resources,
                                           std::span<const framework::ShapePoint> shape,
                                           cluster::NodeRow row);

// How much better balanced the resources of the row would be with the pod, as
// NodeResourcesBalancedAllocation has it: 0 to 100, 75 for no difference.
std::int64_t BalanceScore(std::span<const ScoredResource> resources, cluster::NodeRow row);

// The score that the shape, a broken line, has at this utilization: points ascend by utilization, and their
// scores, 0 to 10, are stretched to 0 to 100.
std::int64_t ShapeScore(std::span<const framework::ShapePoint> shape, std::int64_t utilization);

}  // namespace berth::plugins
