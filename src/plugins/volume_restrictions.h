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

class DiskHolders;

// Keeps a pod off nodes where another pod has attached its disk in a way that cannot be shared, and off all
// nodes while another pod uses one of its ReadWriteOncePod claims.
class VolumeRestrictions final : public framework::Plugin,
                                 public framework::PreFilterPoint,
                                 public framework::FilterPoint,
                                 public framework::EnqueuePoint,
                                 public framework::SignPoint {
 public:
  enum Reason : framework::ReasonId { kDiskTaken, kClaimInUse };

  explicit VolumeRestrictions(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "VolumeRestrictions"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;

  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;

  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  const DiskHolders& holders_;
  const cluster::ClaimIndex& waiting_;
};

}  // namespace berth::plugins
