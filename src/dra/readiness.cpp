#include "dra/readiness.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace berth::dra {
namespace {

const api::Condition* FindTrue(const std::vector<api::Condition>& conditions, std::string_view type) {
  const auto found = std::ranges::find_if(conditions, [&](const api::Condition& condition) {
    return condition.type == type && condition.status == "True";
  });
  return found == conditions.end() ? nullptr : &*found;
}

}  // namespace

bool HasBindingConditions(const api::ResourceClaim& claim) {
  return claim.status.allocation &&
         std::ranges::any_of(claim.status.allocation->devices.results,
                             [](const auto& result) { return !result.binding_conditions.empty(); });
}

ClaimReadiness ReadinessOf(const api::ResourceClaim& claim) {
  ClaimReadiness all;
  for (const api::DeviceRequestAllocationResult& result : claim.status.allocation->devices.results) {
    if (result.binding_conditions.empty()) continue;
    const auto device = std::ranges::find_if(claim.status.devices, [&](const auto& status) {
      return status.driver == result.driver && status.pool == result.pool && status.device == result.device;
    });
    if (device == claim.status.devices.end()) {
      all.readiness = Readiness::kNotYet;
      continue;
    }
    for (const std::string& type : result.binding_failure_conditions) {
      if (const api::Condition* const failure = FindTrue(device->conditions, type)) {
        return {Readiness::kFailed, failure};
      }
    }
    for (const std::string& type : result.binding_conditions) {
      if (FindTrue(device->conditions, type) == nullptr) all.readiness = Readiness::kNotYet;
    }
  }
  return all;
}

}  // namespace berth::dra
