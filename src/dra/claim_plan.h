#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "api/devices.h"
#include "dra/capacity.h"
#include "dra/claim_cache.h"
#include "dra/device_state.h"
#include "dra/pool.h"

namespace berth::dra {

// What one claim, and one alternative of a request, may take at most.
inline constexpr std::int64_t kDevicesPerClaimMax = 32;

// A selector of the class or of the request, with its place there for messages.
struct PlannedSelector {
  SelectorId id;
  bool of_class = false;
  std::size_t index = 0;
};

struct DerivedAttribute {
  std::string_view name;
  SelectorId id;
};

// A request, or one of the alternatives of a prioritized one. Points into the claim.
struct Alternative {
  std::string_view name;  // of the request or subrequest
  std::string full_name;  // "request" or "request/subrequest"
  std::shared_ptr<const api::DeviceClass> device_class;
  std::vector<PlannedSelector> selectors;  // the class's first
  std::vector<DerivedAttribute> derived;
  const std::vector<api::DeviceToleration>* tolerations = nullptr;
  const api::ResourceList* capacity = nullptr;  // null: none asked for
  bool all = false;
  bool admin = false;
  std::int64_t count = 0;
  std::vector<std::uint32_t> constraints;  // those of the claim that apply
  // Why it cannot be planned.
  std::optional<std::string> error;

  // Remembered from node to node: neither depends on the node.
  mutable std::vector<Match> selected;  // by ShapeId
  mutable absl::flat_hash_map<KindId, ConsumedCapacity> consumed;
};

struct PlannedRequest {
  std::string_view name;
  bool prioritized = false;
  std::vector<Alternative> alternatives;  // exactly one unless prioritized
  std::optional<std::string> error;       // of the request itself, before its alternatives
};

// A claim that is to be allocated, with everything that does not depend on a node. Good for one attempt.
struct ClaimPlan {
  ClaimRef claim;
  std::string name;
  std::vector<PlannedRequest> requests;
  std::optional<std::string> constraint_error;

  const std::vector<api::DeviceConstraint>& constraints() const { return claim->spec.devices.constraints; }
};

// After state.selectors().BeginAttempt(). What is wrong with the claim is in the plan, where the search meets
// it: upstream's order of errors depends on the node's pools.
ClaimPlan PlanClaim(ClaimRef claim, DeviceState& state);

}  // namespace berth::dra
