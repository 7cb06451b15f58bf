#include "plugins/resource_allocation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "api/resource_names.h"
#include "framework/points.h"
#include "plugins/resource_args.h"

namespace berth::plugins {
namespace {

std::int64_t Percentage(std::int64_t part, std::int64_t whole) { return WrappingMultiply(part, 100) / whole; }

// The weighted mean of score_of(resource), cut to an integer.
template <class F>
std::int64_t MeanScore(std::span<const ScoredResource> resources, cluster::NodeRow row, F&& score_of) {
  std::int64_t score = 0;
  std::int64_t weights = 0;
  for (const ScoredResource& resource : resources) {
    const std::int64_t capacity = resource.capacity(row);
    if (capacity <= 0) continue;
    score = WrappingAdd(score, WrappingMultiply(score_of(resource.after(row), capacity), resource.weight));
    weights += resource.weight;
  }
  return weights == 0 ? 0 : score / weights;
}

std::int64_t AmountOf(const api::ResourceList& requests, std::string_view resource) {
  const api::Quantity* const amount = requests.find(resource);
  if (amount == nullptr) return 0;
  return resource == api::kCpu ? amount->MilliValue() : amount->Value();
}

cluster::AmountColumn UsedColumn(const cluster::NodeTable& nodes, cluster::ResourceId resource, Usage usage) {
  if (usage == Usage::kNonZero && resource == cluster::kCpu) return nodes.non_zero_milli_cpu();
  if (usage == Usage::kNonZero && resource == cluster::kMemory) return nodes.non_zero_memory();
  return nodes.requested(resource);
}

using Shares = absl::InlinedVector<double, 4>;

// 100 for shares that are all equal; the less so the lower.
std::int64_t BalanceOf(const Shares& shares) {
  double deviation = 0;
  if (shares.size() == 2) {
    deviation = std::abs((shares[0] - shares[1]) / 2);
  } else if (shares.size() > 2) {
    double sum = 0;
    for (const double share : shares) sum += share;
    const auto count = static_cast<double>(shares.size());
    const double mean = sum / count;
    double squares = 0;
    for (const double share : shares) squares += (share - mean) * (share - mean);
    deviation = std::sqrt(squares / count);
  }
  return Truncated((1 - deviation) * static_cast<double>(framework::kScoreMax));
}

constexpr std::int64_t kHalf = framework::kScoreMax / 2;

}  // namespace

api::ResourceList FitScoreRequests(const api::PodResourceView& pod) {
  return api::PodRequests(pod, {.use_pod_level = false, .default_cpu = true, .default_memory = true});
}

api::ResourceList BalanceScoreRequests(const api::PodResourceView& pod, const api::ResourceGates& gates) {
  api::PodRequestOptions options = api::AssignedOptions(gates);
  options.use_claims = false;
  return api::PodRequests(pod, options);
}

std::vector<std::int64_t> AmountsOf(const api::ResourceList& requests,
                                    std::span<const framework::ResourceWeight> resources) {
  std::vector<std::int64_t> amounts;
  for (const framework::ResourceWeight& resource : resources) {
    amounts.push_back(AmountOf(requests, resource.name));
  }
  return amounts;
}

ScoredResources ResourcesToScore(const cluster::Cluster& cluster,
                                 std::span<const framework::ResourceWeight> resources,
                                 std::span<const std::int64_t> wanted, Usage usage,
                                 const DevicesOfResources& devices) {
  ScoredResources scored;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const std::string& name = resources[i].name;
    if (wanted[i] == 0 && api::IsScalarResource(name)) continue;
    ScoredResource made;
    made.wanted = wanted[i];
    made.weight = resources[i].weight;
    if (devices.state != nullptr && dra::MayBeServedByDevices(name)) {
      if (const std::string* const device_class = devices.state->extended_names().Find(name)) {
        made.devices = &devices.counts->Of(*device_class);
      }
    }
    // Ids of scalar resources come and go with the nodes and pods that name them.
    const cluster::ResourceId id = cluster.resources().Find(name);
    if (id == cluster::kPods || (!id.IsValid() && made.devices == nullptr)) continue;
    if (id.IsValid()) {
      made.allocatable = cluster.nodes().allocatable(id);
      made.used = UsedColumn(cluster.nodes(), id, usage);
    }
    scored.push_back(made);
  }
  return scored;
}

std::int64_t LeastAllocatedScore(std::span<const ScoredResource> resources, cluster::NodeRow row) {
  return MeanScore(resources, row, [](std::int64_t requested, std::int64_t capacity) {
    return requested > capacity ? 0 : Percentage(WrappingSubtract(capacity, requested), capacity);
  });
}

std::int64_t MostAllocatedScore(std::span<const ScoredResource> resources, cluster::NodeRow row) {
  return MeanScore(resources, row, [](std::int64_t requested, std::int64_t capacity) {
    return Percentage(std::min(requested, capacity), capacity);
  });
}

std::int64_t ShapeScore(std::span<const framework::ShapePoint> shape, std::int64_t utilization) {
  const auto score_at = [](const framework::ShapePoint& point) {
    return point.score * (framework::kScoreMax / kShapeScoreMax);
  };
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (utilization > shape[i].utilization) continue;
    if (i == 0) return score_at(shape[0]);
    const std::int64_t from = score_at(shape[i - 1]);
    const std::int64_t rise = score_at(shape[i]) - from;
    const std::int64_t width = shape[i].utilization - shape[i - 1].utilization;
    return from + rise * (utilization - shape[i - 1].utilization) / width;
  }
  return score_at(shape.back());
}

std::int64_t RequestedToCapacityRatioScore(std::span<const ScoredResource> resources,
                                           std::span<const framework::ShapePoint> shape,
                                           cluster::NodeRow row) {
  std::int64_t score = 0;
  std::int64_t weights = 0;
  for (const ScoredResource& resource : resources) {
    const std::int64_t capacity = resource.capacity(row);
    if (capacity <= 0) continue;
    const std::int64_t requested = resource.after(row);
    const std::int64_t here = ShapeScore(shape, requested > capacity ? 100 : Percentage(requested, capacity));
    // A resource that scores nothing does not pull the others down.
    if (here <= 0) continue;
    score = WrappingAdd(score, WrappingMultiply(here, resource.weight));
    weights += resource.weight;
  }
  if (weights == 0) return 0;
  return static_cast<std::int64_t>(std::round(static_cast<double>(score) / static_cast<double>(weights)));
}

std::int64_t BalanceScore(std::span<const ScoredResource> resources, cluster::NodeRow row) {
  Shares before;
  Shares after;
  for (const ScoredResource& resource : resources) {
    if (resource.capacity(row) <= 0) continue;
    const auto capacity = static_cast<double>(resource.capacity(row));
    before.push_back(std::min(1.0, static_cast<double>(resource.before(row)) / capacity));
    after.push_back(std::min(1.0, static_cast<double>(resource.after(row)) / capacity));
  }
  return kHalf + WrappingSubtract(WrappingAdd(kHalf, BalanceOf(after)), BalanceOf(before)) / 2;
}

}  // namespace berth::plugins
