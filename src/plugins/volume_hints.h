#pragma once

#include "cluster/claim_index.h"
#include "framework/events.h"

namespace berth::plugins {

// An event about a claim of volumes concerns the pods that name the claim, and no others. The index must
// outlive the function.
framework::PreHintFn PodsNamingTheClaim(const cluster::ClaimIndex& index);

}  // namespace berth::plugins
