#include "api/pod_requests.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/resource_names.h"

namespace berth::api {
namespace {

constexpr std::int64_t kDefaultMilliCpu = 100;
constexpr std::int64_t kDefaultMemory = 200 * 1024 * 1024;

bool IsInfeasible(std::span<const PodCondition> conditions) {
  const auto resize = std::ranges::find(conditions, "PodResizePending", &PodCondition::type);
  return resize != conditions.end() && resize->reason == "Infeasible";
}

// The first amount of a resource is copied, not added to zero: a sum keeps the format of its first operand,
// zero or not.
void AddAll(ResourceList& sum, const ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    if (Quantity* amount = sum.find(name)) {
      amount->Add(quantity);
    } else {
      sum.insert_or_assign(name, quantity);
    }
  }
}

void Raise(ResourceList& peak, const ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    Quantity* amount = peak.find(name);
    if (amount == nullptr) {
      peak.insert_or_assign(name, quantity);
    } else if (quantity.Compare(*amount) > 0) {
      *amount = quantity;
    }
  }
}

void AddTo(ResourceList& sum, const std::string& name, const Quantity& quantity) { sum[name].Add(quantity); }

const ContainerStatus* FindStatus(const PodResourceView& pod, std::string_view name) {
  for (const auto statuses : {pod.container_statuses, pod.init_container_statuses}) {
    const auto found = std::ranges::find(statuses, name, &ContainerStatus::name);
    if (found != statuses.end()) return &*found;
  }
  return nullptr;
}

// Which list of a container is summed up. An empty list in a status is an absent one: protobuf cannot tell
// them apart.
enum class Source { kSpecRequests, kAllocatedRequests, kActuatedRequests, kSpecLimits, kActuatedLimits };

const ResourceList& ListOf(const PodResourceView& pod, const Container& container, Source source) {
  const bool limits = source == Source::kSpecLimits || source == Source::kActuatedLimits;
  const ResourceList& spec = limits ? container.resources.limits : container.resources.requests;
  if (source == Source::kSpecRequests || source == Source::kSpecLimits) return spec;

  if (const ContainerStatus* status = FindStatus(pod, container.name)) {
    if (source != Source::kAllocatedRequests && status->resources) {
      const ResourceList& actuated = limits ? status->resources->limits : status->resources->requests;
      if (!actuated.empty()) return actuated;
    }
    if (!limits && !status->allocated_resources.empty()) return status->allocated_resources;
  }
  static const ResourceList nothing;
  return pod.resize_infeasible ? nothing : spec;
}

ResourceList WithDefaults(const ResourceList& list, const PodRequestOptions& options) {
  ResourceList complete = list;
  if (options.default_cpu && !list.contains(kCpu)) {
    complete.insert_or_assign(std::string(kCpu), Quantity::FromMilli(kDefaultMilliCpu));
  }
  if (options.default_memory && !list.contains(kMemory)) {
    complete.insert_or_assign(std::string(kMemory), Quantity::FromInt(kDefaultMemory));
  }
  return complete;
}

bool IsSidecar(const Container& init_container) { return init_container.restart_policy == "Always"; }

// The most that the containers need at any one time: all of them at once, or one init container beside the
// sidecars that were started before it.
ResourceList SumContainers(const PodResourceView& pod, const PodRequestOptions& options, Source source) {
  const auto list_of = [&](const Container& container) {
    return WithDefaults(ListOf(pod, container, source), options);
  };
  ResourceList running;
  for (const Container& container : pod.spec.containers) AddAll(running, list_of(container));
  ResourceList sidecars;
  ResourceList peak;
  for (const Container& container : pod.spec.init_containers) {
    ResourceList starting = list_of(container);
    if (IsSidecar(container)) {
      AddAll(running, starting);
      AddAll(sidecars, starting);
      Raise(peak, sidecars);
    } else {
      AddAll(starting, sidecars);
      Raise(peak, starting);
    }
  }
  Raise(running, peak);
  return running;
}

void AddClaims(ResourceList& sum, const PodResourceView& pod, const PodRequestOptions& options) {
  if (!options.use_claims) return;
  for (const NodeAllocatableResourceClaimStatus& claim : pod.claims) {
    for (const NodeAllocatableMappedResources& mapped : claim.mapping) {
      if (mapped.quantity) AddTo(sum, mapped.name, *mapped.quantity);
    }
    for (const NodeAllocatableOverheadResources& overhead : claim.overhead) {
      Quantity amount;
      if (overhead.per_pod) amount.Add(*overhead.per_pod);
      if (overhead.per_container) {
        Quantity per_container = *overhead.per_container;
        per_container.Multiply(static_cast<std::int64_t>(claim.containers.size()));
        amount.Add(per_container);
      }
      AddTo(sum, overhead.name, amount);
    }
  }
}

// A limit stays open unless the containers set one, or the resource cannot be overcommitted at all.
void AddClaimLimits(ResourceList& limits, const PodResourceView& pod, const PodRequestOptions& options) {
  ResourceList claims;
  AddClaims(claims, pod, options);
  for (const auto& [name, quantity] : claims) {
    if (limits.contains(name) || IsHugePageResource(name)) AddTo(limits, name, quantity);
  }
}

// The largest of what is asked for, what the kubelet has set aside and what the containers run with: sums are
// compared, not containers.
ResourceList ContainerRequests(const PodResourceView& pod, const PodRequestOptions& options) {
  ResourceList asked = SumContainers(pod, options, Source::kSpecRequests);
  AddClaims(asked, pod, options);
  if (!options.use_status) return asked;

  ResourceList requests = pod.resize_infeasible ? ResourceList() : std::move(asked);
  if (options.use_pod_level_status && pod.allocated_resources != nullptr && pod.resources != nullptr &&
      !pod.resources->requests.empty()) {
    // What a kubelet reports for the pod has the claims in it.
    Raise(requests, pod.resources->requests);
    Raise(requests, *pod.allocated_resources);
    return requests;
  }
  Raise(requests, SumContainers(pod, options, Source::kActuatedRequests));
  ResourceList allocated = SumContainers(pod, options, Source::kAllocatedRequests);
  AddClaims(allocated, pod, options);
  Raise(requests, allocated);
  return requests;
}

ResourceList ContainerLimits(const PodResourceView& pod, PodRequestOptions options) {
  options.default_cpu = options.default_memory = false;
  ResourceList asked = SumContainers(pod, options, Source::kSpecLimits);
  AddClaimLimits(asked, pod, options);
  if (!options.use_status) return asked;

  ResourceList limits = pod.resize_infeasible ? ResourceList() : std::move(asked);
  const bool reported =
      options.use_pod_level_status && pod.resources != nullptr && !pod.resources->limits.empty();
  Raise(limits, reported ? pod.resources->limits : SumContainers(pod, options, Source::kActuatedLimits));
  return limits;
}

bool HasPodLevel(const ResourceList& list) {
  return std::ranges::any_of(list, [](const auto& entry) { return IsPodLevelResource(entry.first); });
}

bool HasPodLevelRequests(const PodResourceView& pod) {
  return pod.spec.resources && HasPodLevel(pod.spec.resources->requests);
}

void ReplaceByPodLevel(ResourceList& sum, const ResourceList& pod_level) {
  for (const auto& [name, quantity] : pod_level) {
    if (IsPodLevelResource(name)) sum.insert_or_assign(name, quantity);
  }
}

}  // namespace

PodResourceView::PodResourceView(const Pod& pod)
    : spec(pod.spec),
      init_container_statuses(pod.status.init_container_statuses),
      container_statuses(pod.status.container_statuses),
      allocated_resources(pod.status.allocated_resources.empty() ? nullptr : &pod.status.allocated_resources),
      resources(pod.status.resources ? &*pod.status.resources : nullptr),
      claims(pod.status.node_allocatable_resource_claim_statuses),
      resize_infeasible(IsInfeasible(pod.status.conditions)) {}

PodResourceView::PodResourceView(const PodRecord& pod)
    : spec(pod.spec->spec), resize_infeasible(IsInfeasible(pod.conditions())) {
  if (const PodResourceStatus* status = pod.resource_status.get()) {
    init_container_statuses = status->init_container_statuses;
    container_statuses = status->container_statuses;
    if (!status->allocated_resources.empty()) allocated_resources = &status->allocated_resources;
    if (status->resources) resources = &*status->resources;
  }
  claims = pod.claims().node_allocatable_resource_claim_statuses;
}

ResourceList PodRequests(const PodResourceView& pod, const PodRequestOptions& options) {
  ResourceList requests = ContainerRequests(pod, options);
  if (options.use_pod_level && HasPodLevelRequests(pod)) {
    ResourceList pod_level = pod.spec.resources->requests;
    if (options.use_status && options.use_pod_level_status && pod.resources != nullptr) {
      if (pod.resize_infeasible) pod_level.clear();
      Raise(pod_level, pod.resources->requests);
      if (pod.allocated_resources != nullptr) Raise(pod_level, *pod.allocated_resources);
    }
    ReplaceByPodLevel(requests, pod_level);
  }
  AddAll(requests, pod.spec.overhead);
  return requests;
}

ResourceList PodLimits(const PodResourceView& pod, const PodRequestOptions& options) {
  ResourceList limits = ContainerLimits(pod, options);
  const bool has_pod_level =
      HasPodLevelRequests(pod) || (pod.spec.resources && HasPodLevel(pod.spec.resources->limits));
  if (options.use_pod_level && has_pod_level) {
    ResourceList pod_level = pod.spec.resources->limits;
    if (options.use_status && options.use_pod_level_status && pod.resources != nullptr) {
      if (pod.resize_infeasible) pod_level.clear();
      Raise(pod_level, pod.resources->limits);
    }
    ReplaceByPodLevel(limits, pod_level);
  }
  // Overhead makes no limit where there is none.
  for (const auto& [name, quantity] : pod.spec.overhead) {
    Quantity* limit = limits.find(name);
    if (limit != nullptr && !limit->IsZero()) limit->Add(quantity);
  }
  return limits;
}

PodRequestOptions AssignedOptions(const ResourceGates& gates) {
  return {.use_status = gates.in_place_pod_vertical_scaling,
          .use_pod_level_status = gates.in_place_pod_level_resources_vertical_scaling,
          .use_pod_level = gates.pod_level_resources,
          .use_claims = gates.dra_node_allocatable_resources};
}

AssignedRequests AssignedPodRequests(const PodResourceView& pod, const ResourceGates& gates) {
  PodRequestOptions options = AssignedOptions(gates);
  ResourceList requests = PodRequests(pod, options);
  AssignedRequests assigned{.requests = ToVector(requests)};

  // A pod that speaks for itself needs the defaults only for what it leaves open.
  const bool pod_level = gates.pod_level_resources && HasPodLevelRequests(pod);
  options.default_cpu = !pod_level || !requests.contains(kCpu);
  options.default_memory = !pod_level || !requests.contains(kMemory);
  if (options.default_cpu || options.default_memory) requests = PodRequests(pod, options);
  const ResourceVector non_zero = ToVector(requests);
  assigned.non_zero_milli_cpu = non_zero.milli_cpu;
  assigned.non_zero_memory = non_zero.memory;
  return assigned;
}

ResourceVector PendingPodRequests(const PodResourceView& pod, const ResourceGates& gates) {
  return ToVector(PodRequests(pod, {.use_pod_level = gates.pod_level_resources}));
}

}  // namespace berth::api
