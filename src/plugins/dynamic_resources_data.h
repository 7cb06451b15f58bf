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
#include "dra/device_state.h"
#include "dra/extended_requests.h"
#include "framework/plan.h"
#include "framework/status.h"
#include "plugins/device_searches.h"
#include "plugins/row_scores.h"

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
  std::optional<api::AllocationResult> chosen = {};  // on the reserved node

  bool IsNew() const { return is_extended && claim->metadata.resource_version.empty(); }
};

// What the attempt knows of the pod's claims, until the pod is bound.
struct DeviceClaims final : framework::CycleData {
  // The claim for extended resources, for one choice of resources that devices serve.
  struct ExtendedPlan {
    std::unique_ptr<const dra::ClaimPlan> plan;
    dra::ExtendedRequests requests;
    std::shared_ptr<DeviceSearch> search = {};
  };

  framework::Status status;      // of preparing what follows
  std::vector<PodClaim> claims;  // those of the spec, then at most one for extended resources
  std::vector<std::pair<std::string, std::string>> served;          // resource and class, by resource
  absl::flat_hash_map<std::uint64_t, ExtendedPlan> extended_plans;  // by bits of `served`
  std::unique_ptr<dra::Allocator> allocator;                        // null: nothing is to be allocated
  std::vector<const dra::ClaimPlan*> plans;                         // of the claims of the spec
  std::shared_ptr<DeviceSearch> search;                             // for these
  std::vector<api::ContainerExtendedResourceRequest> mappings;      // on the reserved node
  std::uint64_t attempt = 0;
  std::vector<std::string> in_flight;  // uids that Reserve announced

  bool HasExtended() const { return !claims.empty() && claims.back().is_extended; }
  bool HasOnlyExtended() const { return claims.size() == 1 && HasExtended(); }
};

// What a view keeps of the devices: which it is up to date with, and what its rows score.
struct DeviceView final : framework::State, RowScores<std::int64_t> {
  dra::DeviceState::Version version;
  // What the scope names by address, so that nothing else can get there while the view lives.
  std::vector<std::shared_ptr<const void>> named;

  std::size_t MemoryBytes() const override {
    return sizeof(*this) + ScoresBytes() + named.capacity() * sizeof(named[0]);
  }
};

}  // namespace berth::plugins
