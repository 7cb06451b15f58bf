#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "api/resource_vector.h"
#include "base/error.h"
#include "dra/device_state.h"
#include "framework/features.h"
#include "framework/plugin.h"
#include "framework/plugin_args.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

class DeviceCountsTable;

// Keeps a pod off nodes that have too little left of what it requests, and scores the others by how full they
// are or would be.
//
// The pod's amounts are integers in the plan; a node costs a comparison per resource that the pod asks for.
// Which resources a node lacks is put into words once per combination.
//
// An extended resource of which a node has none and which a DeviceClass offers is left to DynamicResources.
class NodeResourcesFit final : public framework::Plugin,
                               public framework::PreFilterPoint,
                               public framework::FilterPoint,
                               public framework::ScorePoint,
                               public framework::StatefulPoint,
                               public framework::EnqueuePoint,
                               public framework::SignPoint {
 public:
  // Fails if an argument is wrong.
  static base::Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginSetup& setup);

  ~NodeResourcesFit() override;

  std::string_view Name() const override { return "NodeResourcesFit"; }
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  void AppendScope(framework::Cycle& cycle, framework::Scope& scope) const override;
  // For scores by devices; other pods have none.
  std::unique_ptr<framework::State> MakeState(framework::Cycle& cycle) const override;
  void Refresh(framework::Cycle& cycle, framework::State& state,
               framework::StateChanges& changes) const override;
  framework::PreFilterResult PreFilter(framework::Cycle&) const override { return {}; }
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  // Those with enough left of the extended resources that the pod asks for.
  bool LeaveCandidates(const framework::Cycle& cycle, base::Bitset& rows) const override;
  framework::Status Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

  struct Asked {
    cluster::ResourceId resource;
    std::int64_t amount;
  };
  // What Filter compares with what is free, beside the number of pods. False if that is not all that it looks
  // at for the pod of the cycle: devices, a resize, a resource that no node has.
  bool AsksForSums(const framework::Cycle& cycle, std::vector<Asked>& asked) const;

 private:
  explicit NodeResourcesFit(const framework::PluginSetup& setup);

  bool IsIgnored(std::string_view resource) const;
  // Some DeviceClass offers it.
  bool IsOfferedByDevices(std::string_view resource) const;
  // Where a pod that is being resized sits, if its own requests are to be left out there; invalid otherwise.
  cluster::NodeRow ResizedInPlace(const framework::Cycle& cycle) const;

  // Hints; node_resources_fit_hints.cpp.
  bool IsTiedToAnotherNode(const api::PodRecord& waiting, std::string_view node_name) const;
  api::ResourceVector PendingRequests(const api::PodRecord& waiting) const;
  base::Result<framework::Hint> AfterPodDeletion(const framework::HintInput& input) const;
  base::Result<framework::Hint> AfterNodeChange(const framework::HintInput& input) const;
  base::Result<framework::Hint> AfterScaleDown(const framework::HintInput& input) const;
  base::Result<framework::Hint> AfterScaleUp(const framework::HintInput& input) const;

  const framework::NodeResourcesFitArgs args_;
  const framework::Features features_;
  dra::DeviceState& devices_;
  const std::unique_ptr<DeviceCountsTable> device_counts_;
};

}  // namespace berth::plugins
