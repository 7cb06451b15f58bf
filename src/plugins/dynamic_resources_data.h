#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "api/node_matching.h"
#include "dra/allocator.h"
#include "dra/claim_plan.h"
#include "dra/extended_requests.h"
#include "framework/plan.h"
#include "plugins/device_searches.h"

namespace berth::plugins {

// The resources of a pod that devices may serve: everything with a domain of its own.
struct DevicePlan final : framework::Plan {
  std::vector<std::string> extended;  // by name, none zero
};

// A claim of the pod.
struct PodClaim {
  dra::ClaimRef claim;
  bool to_allocate = false;
  bool is_extended = false;                          // made by the scheduler
  std::optional<api::NodeMatcher> nodes = {};        // of an allocated claim; nothing: all nodes
  std::unique_ptr<const dra::ClaimPlan> plan = {};   // of one that is to be allocated and not extended
  bool has_failed = false;                           // its devices were not made ready: no node can use it
  bool skips_node_operations = false;                // only nodes that know of that can use it
  bool unavailable_somewhere = false;                // a node was refused for it alone
  std::optional<api::AllocationResult> chosen = {};  // on the reserved node

  bool IsNew() const { return is_extended && claim->metadata.resource_version.empty(); }
};

// What the attempt knows of the pod's claims, until the pod is bound.
struct DeviceClaims final : framework::CycleData {
  // What was found for a node: a range of `taken`.
  struct Solution {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    bool found = false;
    bool is_known = false;     // a search for the same found some; which ones has to be found again
    std::uint64_t served = 0;  // as in `extended_plans`
    std::int64_t score = 0;    // of the alternatives that are taken
  };
  // The claim for extended resources, for one choice of resources that devices serve.
  struct ExtendedPlan {
    std::unique_ptr<const dra::ClaimPlan> plan;
    dra::ExtendedRequests requests;
    std::shared_ptr<DeviceSearch> search = {};
  };

  std::vector<PodClaim> claims;  // those of the spec, then at most one for extended resources
  std::vector<std::pair<std::string, std::string>> served;          // resource and class, by resource
  absl::flat_hash_map<std::uint64_t, ExtendedPlan> extended_plans;  // by bits of `served`
  std::unique_ptr<dra::Allocator> allocator;                        // null: nothing is to be allocated
  std::vector<const dra::ClaimPlan*> plans;                         // of the claims of the spec
  std::shared_ptr<DeviceSearch> search;                             // for these
  std::vector<Solution> solutions;                                  // by row
  std::vector<dra::TakenDevice> taken;
  std::vector<api::ContainerExtendedResourceRequest> mappings;  // on the reserved node
  std::uint64_t attempt = 0;
  std::vector<std::string> in_flight;  // uids that Reserve announced

  bool HasExtended() const { return !claims.empty() && claims.back().is_extended; }
  bool HasOnlyExtended() const { return claims.size() == 1 && HasExtended(); }
  // Null: the node has none.
  const Solution* SolutionFor(std::size_t row) const {
    const bool has_any = row < solutions.size() && (solutions[row].found || solutions[row].is_known);
    return has_any ? &solutions[row] : nullptr;
  }
};

}  // namespace berth::plugins
