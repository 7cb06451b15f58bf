#include "api/resource_vector.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource_names.h"

namespace berth::api {
namespace {

std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

void ResourceVector::Add(const ResourceVector& other) {
  milli_cpu = SaturatingAdd(milli_cpu, other.milli_cpu);
  memory = SaturatingAdd(memory, other.memory);
  ephemeral_storage = SaturatingAdd(ephemeral_storage, other.ephemeral_storage);
  for (const auto& [name, amount] : other.scalars) {
    std::int64_t& sum = scalars[name];
    sum = SaturatingAdd(sum, amount);
  }
}

std::int64_t ResourceVector::Scalar(std::string_view name) const {
  const std::int64_t* amount = scalars.find(name);
  return amount == nullptr ? 0 : *amount;
}

ResourceVector ToVector(const ResourceList& list) {
  ResourceVector vector;
  for (const auto& [name, quantity] : list) {
    if (name == kCpu) {
      vector.milli_cpu = quantity.MilliValue();
    } else if (name == kMemory) {
      vector.memory = quantity.Value();
    } else if (name == kEphemeralStorage) {
      vector.ephemeral_storage = quantity.Value();
    } else if (IsScalarResource(name)) {
      vector.scalars.insert_or_assign(name, quantity.Value());
    }
  }
  return vector;
}

NodeAllocatable ToAllocatable(const ResourceList& list) {
  const Quantity* pods = list.find(kPods);
  return {.resources = ToVector(list), .pod_count_max = pods == nullptr ? 0 : pods->Value()};
}

bool Fits(std::int64_t requested, std::int64_t used, std::int64_t capacity) {
  std::int64_t sum = 0;
  if (requested <= 0) return true;
  return !__builtin_add_overflow(requested, used, &sum) && sum <= capacity;
}

std::string InsufficientResource::Reason() const {
  return resource == kPods ? "Too many pods" : "Insufficient " + resource;
}

std::vector<InsufficientResource> MissingResources(const ResourceVector& request, const NodeUse& node,
                                                   const std::function<bool(std::string_view)>& ignored) {
  std::vector<InsufficientResource> missing;
  const NodeAllocatable& allocatable = node.allocatable;
  // Never unresolvable, not even where no pod is allowed at all: upstream tries to evict there too.
  if (node.pod_count + 1 > allocatable.pod_count_max) {
    missing.push_back({.resource = std::string(kPods),
                       .requested = 1,
                       .used = node.pod_count,
                       .capacity = allocatable.pod_count_max});
  }
  const auto check = [&](std::string_view name, std::int64_t requested, std::int64_t used,
                         std::int64_t capacity) {
    if (Fits(requested, used, capacity)) return;
    missing.push_back({.resource = std::string(name),
                       .requested = requested,
                       .used = used,
                       .capacity = capacity,
                       .unresolvable = requested > capacity});
  };
  check(kCpu, request.milli_cpu, node.requested.milli_cpu, allocatable.resources.milli_cpu);
  check(kMemory, request.memory, node.requested.memory, allocatable.resources.memory);
  check(kEphemeralStorage, request.ephemeral_storage, node.requested.ephemeral_storage,
        allocatable.resources.ephemeral_storage);
  for (const auto& [name, requested] : request.scalars) {
    if (ignored && ignored(name)) continue;
    check(name, requested, node.requested.Scalar(name), allocatable.resources.Scalar(name));
  }
  return missing;
}

}  // namespace berth::api
