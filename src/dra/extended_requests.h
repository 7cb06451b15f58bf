#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "api/pod.h"

namespace berth::dra {

// An extended resource that devices of a class serve.
struct ServedResource {
  std::string_view resource;
  std::string_view device_class;
};

// What a claim asks for so that the containers of a pod get their extended resources, and which container
// finds which resource in which request.
struct ExtendedRequests {
  std::vector<api::DeviceRequest> requests;                     // by name
  std::vector<api::ContainerExtendedResourceRequest> mappings;  // resource by resource
};

// `served`: by resource name. An init container runs before the others, so it uses what those that come after
// it will get, and a request of its own only for the rest; of those only the largest is made.
ExtendedRequests RequestsFor(const api::PodSpec& pod, std::span<const ServedResource> served);

}  // namespace berth::dra
