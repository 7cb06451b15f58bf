#include "dra/extended_requests.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fmt/format.h"

#include "api/container.h"
#include "api/quantity.h"

namespace berth::dra {
namespace {

// Zero: the container asks for none, or for a part of one.
std::int64_t CountOf(const api::Container& container, std::string_view resource) {
  const api::Quantity* const amount = container.resources.requests.find(resource);
  if (amount == nullptr) return 0;
  api::Quantity whole = *amount;
  return whole.RoundUp(0) && whole.ValueFits() ? std::max<std::int64_t>(0, whole.Value()) : 0;
}

std::string RequestName(const api::Container& container, std::size_t index, std::string_view resource) {
  const auto position = std::ranges::find_if(container.resources.requests,
                                             [&](const auto& entry) { return entry.first == resource; });
  return fmt::format("container-{}-request-{}", index, position - container.resources.requests.begin());
}

api::DeviceRequest MakeRequest(std::string name, std::string_view device_class, std::int64_t count) {
  api::DeviceRequest request;
  request.name = std::move(name);
  request.exactly.emplace();
  request.exactly->device_class_name = device_class;
  request.exactly->allocation_mode = "ExactCount";
  request.exactly->count = count;
  return request;
}

// One resource of one pod.
class ResourcePlan {
 public:
  ResourcePlan(const api::PodSpec& pod, const ServedResource& served) : served_(served) {
    for (const api::Container& container : pod.init_containers) containers_.push_back(&container);
    first_regular_ = containers_.size();
    for (const api::Container& container : pod.containers) containers_.push_back(&container);
  }

  void AddTo(ExtendedRequests& made) {
    PlanLongLived();
    PlanInit();
    for (const Request& request : long_lived_) {
      made.requests.push_back(MakeRequest(request.name, served_.device_class, request.count));
    }
    if (extra_.count > 0) {
      made.requests.push_back(MakeRequest(extra_.name, served_.device_class, extra_.count));
    }
    for (const Use& use : uses_) {
      made.mappings.push_back({.container_name = containers_[use.container]->name,
                               .resource_name = std::string(served_.resource),
                               .request_name = use.request.empty() ? extra_.name : use.request});
    }
  }

 private:
  struct Request {
    std::size_t container = 0;
    std::string name;
    std::int64_t count = 0;
  };
  struct Use {
    std::size_t container = 0;
    std::string request;  // empty: the one that init containers share
  };

  bool IsLongLived(std::size_t index) const {
    return index >= first_regular_ || containers_[index]->restart_policy == "Always";
  }

  void PlanLongLived() {
    for (std::size_t i = 0; i < containers_.size(); ++i) {
      const std::int64_t count = CountOf(*containers_[i], served_.resource);
      if (count == 0 || !IsLongLived(i)) continue;
      long_lived_.push_back({i, RequestName(*containers_[i], i, served_.resource), count});
      uses_.push_back({i, long_lived_.back().name});
    }
  }

  void PlanInit() {
    for (std::size_t i = 0; i < first_regular_; ++i) {
      if (IsLongLived(i)) continue;
      std::int64_t missing = CountOf(*containers_[i], served_.resource);
      for (const Request& request : long_lived_) {
        if (missing <= 0) break;
        if (request.container < i) continue;
        uses_.push_back({i, request.name});
        missing -= request.count;
      }
      if (missing <= 0) continue;
      uses_.push_back({i, ""});
      if (missing > extra_.count) extra_ = {i, RequestName(*containers_[i], i, served_.resource), missing};
    }
  }

  const ServedResource& served_;
  std::vector<const api::Container*> containers_;
  std::size_t first_regular_ = 0;
  std::vector<Request> long_lived_;
  Request extra_;
  std::vector<Use> uses_;
};

}  // namespace

ExtendedRequests RequestsFor(const api::PodSpec& pod, std::span<const ServedResource> served) {
  ExtendedRequests made;
  for (const ServedResource& resource : served) ResourcePlan(pod, resource).AddTo(made);
  std::ranges::sort(made.requests, {}, &api::DeviceRequest::name);
  return made;
}

}  // namespace berth::dra
