#pragma once

#include <cstdint>

#include "api/devices.h"

namespace berth::dra {

// What drivers say about the devices of an allocated claim that have to be made ready first.
enum class Readiness : std::uint8_t { kReady, kNotYet, kFailed };

struct ClaimReadiness {
  Readiness readiness = Readiness::kReady;
  const api::Condition* failure = nullptr;  // of kFailed; in the claim
};

// Whether some device has to be made ready at all. Also for claims that are not allocated.
bool HasBindingConditions(const api::ResourceClaim& claim);

// Requires an allocation. A device of which its driver has said nothing is not ready yet.
ClaimReadiness ReadinessOf(const api::ResourceClaim& claim);

}  // namespace berth::dra
