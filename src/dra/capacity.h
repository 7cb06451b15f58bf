#pragma once

#include <optional>
#include <string>

#include "api/devices.h"
#include "api/resource_list.h"

namespace berth::dra {

// What a request would take of a device's capacity.
struct ConsumedCapacity {
  // The request makes no sense for the device, and that ends the attempt.
  std::optional<std::string> error;
  // The device itself, empty, can serve the request.
  bool fits = true;
  api::ResourceList amounts;  // of every capacity that the device has
};

// `requests` may be null. A capacity that is not asked for is taken as its policy says, or whole.
ConsumedCapacity ConsumedBy(const api::ResourceList* requests, const api::Device& device, bool fractional);

}  // namespace berth::dra
