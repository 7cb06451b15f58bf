#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/claim_index.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

class AttachedVolumes;
class CsiNodes;

// Keeps a pod off nodes whose CSI drivers cannot attach all of its volumes: the driver is not there, or its
// limit is reached.
class NodeVolumeLimits final : public framework::Plugin,
                               public framework::PreFilterPoint,
                               public framework::FilterPoint,
                               public framework::EnqueuePoint,
                               public framework::SignPoint {
 public:
  enum Reason : framework::ReasonId { kTooManyVolumes };

  explicit NodeVolumeLimits(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "NodeVolumeLimits"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;

  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  bool AppendLikeness(const framework::Cycle& cycle, framework::Scope& words) const override;

  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  bool FitsEverywhere(const framework::Cycle& cycle) const;

  const bool check_installed_;
  const CsiNodes& csi_nodes_;
  const AttachedVolumes& attached_;
  const cluster::ClaimIndex& waiting_;
};

}  // namespace berth::plugins
