#include "cluster/resources.h"

#include "base/check.h"

namespace berth::cluster {

ResourceTable::ResourceTable() {
  BERTH_CHECK(names_.Intern(std::string_view("cpu")) == kCpu);
  BERTH_CHECK(names_.Intern(std::string_view("memory")) == kMemory);
  BERTH_CHECK(names_.Intern(std::string_view("ephemeral-storage")) == kEphemeralStorage);
  BERTH_CHECK(names_.Intern(std::string_view("pods")) == kPods);
}

RequestsId ResourceTable::InternRequests(Requests requests) {
  const RequestsId id = requests_.Intern(requests);
  if (requests_.References(id) > 1) {
    for (const ResourceAmount& scalar : requests.scalars) names_.Release(scalar.resource);
  }
  return id;
}

void ResourceTable::ReleaseRequests(RequestsId id) {
  if (requests_.References(id) == 1) {
    for (const ResourceAmount& scalar : requests_.Get(id).scalars) names_.Release(scalar.resource);
  }
  requests_.Release(id);
}

ResourceId ResourceTable::Intern(std::string_view name) { return names_.Intern(name); }

void ResourceTable::Release(ResourceId resource) { names_.Release(resource); }

void ResourceTable::AcquireRequests(RequestsId requests) { requests_.Acquire(requests); }

ResourceId ResourceTable::Find(std::string_view name) const { return names_.Find(name); }

}  // namespace berth::cluster
