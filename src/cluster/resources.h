#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interner.h"
#include "cluster/ids.h"

namespace berth::cluster {

struct ResourceAmount {
  ResourceId resource;
  std::int64_t amount = 0;

  bool operator==(const ResourceAmount&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const ResourceAmount& amount) {
    return H::combine(std::move(h), amount.resource, amount.amount);
  }
};

// What a pod asks of its node once it is there, in the integers that node columns hold.
struct Requests {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  // With defaults for containers that ask for nothing.
  std::int64_t non_zero_milli_cpu = 0;
  std::int64_t non_zero_memory = 0;
  std::vector<ResourceAmount> scalars;  // by resource id, other than the fixed ones

  bool operator==(const Requests&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Requests& r) {
    return H::combine(std::move(h), r.milli_cpu, r.memory, r.ephemeral_storage, r.non_zero_milli_cpu,
                      r.non_zero_memory, r.scalars);
  }
};

// Resource names, and the distinct request vectors of pods.
//
// Invariant: kCpu, kMemory, kEphemeralStorage and kPods are always there. Any other resource is there while a
// node or a request vector names it.
class ResourceTable {
 public:
  ResourceTable();

  ResourceId Intern(std::string_view name);
  void Release(ResourceId resource);
  // Takes over the caller's references to `requests.scalars`; gives one to the id.
  RequestsId InternRequests(Requests requests);
  void AcquireRequests(RequestsId requests);
  void ReleaseRequests(RequestsId requests);

  ResourceId Find(std::string_view name) const;
  std::string_view Name(ResourceId resource) const { return names_.Get(resource); }
  const Requests& requests(RequestsId id) const { return requests_.Get(id); }
  // Resource ids are below this.
  std::size_t slot_count() const { return names_.slot_count(); }
  // Only the fixed resources are left.
  bool empty() const { return names_.size() == 4 && requests_.empty(); }

 private:
  base::Interner<ResourceId> names_;
  base::InternTable<RequestsId, Requests> requests_;
};

}  // namespace berth::cluster
