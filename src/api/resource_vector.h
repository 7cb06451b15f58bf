#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource_list.h"
#include "base/flat_map.h"

namespace berth::api {

// Amounts as a scheduler counts them: whole units, cpu in thousandths, each rounded up once, at the end.
// Resources that no node can run out of are not in it.
struct ResourceVector {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  base::FlatMap<std::string, std::int64_t> scalars;

  bool IsZero() const { return milli_cpu == 0 && memory == 0 && ephemeral_storage == 0 && scalars.empty(); }
  // Saturates: a node that is asked for more than int64 holds stays full (upstream wraps and finds it empty).
  void Add(const ResourceVector& other);
  std::int64_t Scalar(std::string_view name) const;

  bool operator==(const ResourceVector&) const = default;
};

ResourceVector ToVector(const ResourceList& list);

struct NodeAllocatable {
  ResourceVector resources;
  std::int64_t pod_count_max = 0;

  bool operator==(const NodeAllocatable&) const = default;
};

// From status.allocatable, never from capacity. Without "pods" no pod is allowed.
NodeAllocatable ToAllocatable(const ResourceList& list);

// Whether `requested` more fits beside `used`. A request of nothing always does, even on a node that is over
// its capacity.
bool Fits(std::int64_t requested, std::int64_t used, std::int64_t capacity);

struct InsufficientResource {
  std::string resource;
  std::int64_t requested = 0;
  std::int64_t used = 0;
  std::int64_t capacity = 0;
  bool unresolvable = false;  // more than the whole node: no eviction helps

  // "Too many pods", "Insufficient cpu".
  std::string Reason() const;

  bool operator==(const InsufficientResource&) const = default;
};

struct NodeUse {
  const NodeAllocatable& allocatable;
  const ResourceVector& requested;
  std::int64_t pod_count = 0;
};

// Everything the node lacks for one more pod: pods, cpu, memory, ephemeral-storage, then scalars by name.
// Scalars for which `ignored` is true are not looked at (ignored by configuration, or left to devices); null
// ignores none.
std::vector<InsufficientResource> MissingResources(
    const ResourceVector& request, const NodeUse& node,
    const std::function<bool(std::string_view)>& ignored = nullptr);

}  // namespace berth::api
