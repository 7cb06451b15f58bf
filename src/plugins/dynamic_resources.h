#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "base/clock.h"
#include "base/task.h"
#include "cluster/claim_index.h"
#include "dra/allocator.h"
#include "dra/device_state.h"
#include "framework/binding_points.h"
#include "framework/features.h"
#include "framework/object_writes.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"
#include "plugins/plugin_metrics.h"

namespace berth::plugins {

struct DeviceClaims;
class DeviceSearch;
class DeviceSearches;
struct PodClaim;

// Gives the claims of a pod devices on the node that is chosen for it.
//
// Devices follow claims: one that is allocated ties its pods to the nodes of its devices, one that is not is
// allocated together with the pod's others, node by node, by the search in dra. Which nodes can serve them is
// kept in the views of pods that ask for the same, and follows the devices. Reserve finds the devices of the
// chosen node again and keeps them in memory, so that no other pod takes them, and PreBind writes them to the
// claims. Pods without claims and extended resources cost nothing.
class DynamicResources final : public framework::Plugin,
                               public framework::PreEnqueuePoint,
                               public framework::PreFilterPoint,
                               public framework::FilterPoint,
                               public framework::PostFilterPoint,
                               public framework::ScorePoint,
                               public framework::StatefulPoint,
                               public framework::ReservePoint,
                               public framework::PreBindPoint,
                               public framework::EnqueuePoint,
                               public framework::SignPoint {
 public:
  enum Reason : framework::ReasonId {
    kUnavailable,
    kCannotAllocate,
    kInvalidPools,
    kLeftoverClaim,
    kCannotFit,
  };

  explicit DynamicResources(const framework::PluginSetup& setup);
  ~DynamicResources() override;

  std::string_view Name() const override { return "DynamicResources"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;

  // Which claims are to be allocated, and what they ask for; which are allocated, by address.
  void AppendScope(framework::Cycle& cycle, framework::Scope& scope) const override;
  std::unique_ptr<framework::State> MakeState(framework::Cycle& cycle) const override;
  void Refresh(framework::Cycle& cycle, framework::State& state,
               framework::StateChanges& changes) const override;

  framework::Status PreEnqueue(const framework::WaitingPod& pod) const override;
  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  bool LeaveCandidates(const framework::Cycle& cycle, base::Bitset& rows) const override;
  framework::PostFilterResult PostFilter(framework::Cycle& cycle,
                                         const framework::Diagnosis& diagnosis) const override;
  framework::Status Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores) const override;
  bool ScoresAlike(const framework::Cycle& cycle) const override;
  framework::Normalizing normalizing() const override { return framework::Normalizing::kByExtent; }
  void Normalize(const framework::Extent& extent, std::span<std::int64_t> scores) const override {
    framework::NormalizeByMax(extent, framework::Direction::kHigherIsBetter, scores);
  }
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

  // dynamic_resources_binding.cpp
  framework::Status Reserve(cluster::Cluster& cluster, framework::Assignment& assignment) const override;
  void Unreserve(cluster::Cluster& cluster, framework::Assignment& assignment) const override;
  framework::PreFlightResult PreBindPreFlight(const cluster::Cluster& cluster,
                                              const framework::Assignment& assignment) const override;
  base::Task<framework::Status> PreBind(framework::BindingContext& context,
                                        framework::Assignment& assignment) const override;

  // dynamic_resources_hints.cpp
  std::vector<framework::EventRegistration> EventsToRegister() const override;

 private:
  // The claims of the attempt, prepared by whoever asks first.
  DeviceClaims& ClaimsIn(framework::Cycle& cycle) const;
  // Success leaves the claims of the attempt in `claims`; none at all is a success, too.
  framework::Status PrepareClaims(const framework::Cycle& cycle, DeviceClaims& claims) const;
  framework::Status CheckClasses(const api::ResourceClaim& claim) const;
  framework::Status CheckClass(std::string_view request, const std::string& device_class) const;
  void PrepareExtended(const framework::Cycle& cycle, DeviceClaims& claims) const;
  bool IsUnavailable(const PodClaim& claim, cluster::NodeRow row) const;
  // Some node was refused for this claim alone.
  bool IsUnavailableSomewhere(const framework::Cycle& cycle, const framework::Diagnosis& diagnosis,
                              const PodClaim& claim) const;
  // The devices of an allocated claim were not made ready, and will not be.
  bool HasFailed(const api::ResourceClaim& claim) const;
  framework::RejectionId JudgeRow(const framework::Cycle& cycle, DeviceClaims& claims, cluster::NodeRow row,
                                  framework::NodeSelection& nodes) const;
  // Which resources devices must serve on the node, as bits; nothing: the node cannot serve some at all.
  std::optional<std::uint64_t> ServedByDevices(const DeviceClaims& claims, cluster::NodeRow row) const;
  // What is searched for on a node of which devices serve these resources.
  struct Wish {
    absl::InlinedVector<const dra::ClaimPlan*, 8> plans;
    DeviceSearch* search = nullptr;
  };
  Wish WishFor(const api::PodSpec& spec, DeviceClaims& claims, std::uint64_t served) const;
  // kFound leaves the devices in the allocator.
  dra::Outcome SearchOn(std::span<const dra::ClaimPlan* const> plans, dra::Allocator& allocator,
                        cluster::NodeRow row) const;
  framework::RejectionId AllocateOn(const framework::Cycle& cycle, DeviceClaims& claims, std::uint64_t served,
                                    cluster::NodeRow row, framework::NodeSelection& nodes) const;

  base::Task<framework::Status> BindClaims(framework::BindingContext& context,
                                           framework::Assignment& assignment, DeviceClaims& claims) const;
  base::Task<framework::Status> BindOne(framework::BindingContext& context, framework::Assignment& assignment,
                                        DeviceClaims& claims, std::size_t index) const;
  base::Task<framework::Status> CreateExtended(framework::Assignment& assignment, DeviceClaims& claims,
                                               std::size_t index) const;
  base::Task<framework::Status> WaitForDevices(framework::BindingContext& context,
                                               framework::Assignment& assignment, DeviceClaims& claims) const;
  // `result` says how it ended.
  base::Task<framework::Status> PollDevices(framework::BindingContext& context, DeviceClaims& claims,
                                            DeviceWait& result) const;
  // Success, an error, or nothing: not yet.
  std::optional<framework::Status> CheckDevices(const DeviceClaims& claims, base::WallPoint now,
                                                DeviceWait& result) const;

  base::Result<framework::PreHint> PodsConcerned(const framework::PreHintInput& input) const;
  base::Result<framework::Hint> AfterClaimChange(const framework::HintInput& input) const;
  base::Result<framework::Hint> AfterOwnClaims(const framework::HintInput& input) const;

  const framework::Features features_;
  const std::uint64_t steps_max_;
  const base::Duration binding_timeout_;
  dra::DeviceState& state_;
  const std::unique_ptr<DeviceSearches> searches_;
  PluginMetrics& metrics_;
  const cluster::ClaimIndex& waiting_;
  framework::ObjectWriter* const writes_;
};

// The gates that allocation reads.
dra::Gates DeviceGates(const framework::Features& features);

}  // namespace berth::plugins
