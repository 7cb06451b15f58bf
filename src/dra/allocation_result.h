#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/devices.h"
#include "base/error.h"
#include "dra/allocator.h"
#include "dra/claim_plan.h"
#include "dra/gates.h"

namespace berth::dra {

// What a claim's allocation is told apart by: part of every share id, so that no two allocations, even of one
// claim, have a share id in common.
struct ShareSeed {
  std::string_view claim_uid;
  std::string_view pod_uid;
  std::uint64_t attempt = 0;
};

// A UUID that is made of the seed and the position alone: runs can be replayed.
std::string MakeShareId(const ShareSeed& seed, std::size_t position);

// Where the devices can be used: nothing if on every node. Fails if a slice says it in a way that a claim
// cannot repeat.
base::Result<std::optional<api::NodeSelector>> NodesOf(const ClaimPlan& plan,
                                                       std::span<const TakenDevice> taken,
                                                       std::string_view node_name);

// The allocation that goes into the status of the claim. `taken` are the devices of this claim. Requires that
// NodesOf succeeds.
api::AllocationResult MakeAllocation(const ClaimPlan& plan, std::span<const TakenDevice> taken,
                                     std::string_view node_name, const Gates& gates, const ShareSeed& seed);

}  // namespace berth::dra
