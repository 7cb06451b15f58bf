#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cluster/claim_index.h"
#include "framework/binding_points.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::framework {
class ObjectWriter;
}

namespace berth::plugins {

class CsiNodes;
class PluginMetrics;
class VolumeCaches;
struct PodBinding;
struct ReservedVolumes;

// Finds the volumes of a pod's claims and binds them: bound ones must be usable on the node, others are
// chosen among free volumes or made for the node once it is chosen.
//
// Filter only asks which volumes a node would give, and what it found is kept in the views of pods whose
// claims ask for the same; Reserve promises those of the chosen node, in memory;
// PreBind writes the promise and waits until the controllers have kept it.
class VolumeBinding final : public framework::Plugin,
                            public framework::PreFilterPoint,
                            public framework::FilterPoint,
                            public framework::ScorePoint,
                            public framework::StatefulPoint,
                            public framework::ReservePoint,
                            public framework::PreBindPoint,
                            public framework::EnqueuePoint,
                            public framework::SignPoint {
 public:
  // The bits of VolumeConflicts, in their order.
  enum Reason : framework::ReasonId { kAffinityConflict, kNothingToBind, kNotEnoughSpace, kVolumeMissing };

  static base::Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginSetup& setup);
  explicit VolumeBinding(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "VolumeBinding"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;

  // What the claims ask for, as text.
  void AppendScope(framework::Cycle& cycle, framework::Scope& scope) const override;
  std::unique_ptr<framework::State> MakeState(framework::Cycle& cycle) const override;
  void Refresh(framework::Cycle& cycle, framework::State& state,
               framework::StateChanges& changes) const override;

  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  bool LeaveCandidates(const framework::Cycle& cycle, base::Bitset& rows) const override;
  // While nothing is to be had any more.
  bool ScoresAlike(const framework::Cycle& cycle) const override;
  framework::Status Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores) const override;

  framework::Status Reserve(cluster::Cluster& cluster, framework::Assignment& assignment) const override;
  void Unreserve(cluster::Cluster& cluster, framework::Assignment& assignment) const override;
  framework::PreFlightResult PreBindPreFlight(const cluster::Cluster& cluster,
                                              const framework::Assignment& assignment) const override;
  base::Task<framework::Status> PreBind(framework::BindingContext& context,
                                        framework::Assignment& assignment) const override;

  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  // Of the attempt, prepared by whoever asks first.
  PodBinding& BindingIn(framework::Cycle& cycle) const;
  framework::Status Prepare(const framework::Cycle& cycle, PodBinding& binding) const;
  framework::Status ReserveVolumes(framework::Assignment& assignment) const;
  base::Result<void> Promise(ReservedVolumes& reserved) const;
  void TakeBack(const ReservedVolumes& reserved) const;
  base::Task<framework::Status> WriteAndWait(framework::BindingContext& context,
                                             framework::Assignment& assignment) const;
  base::Task<framework::Status> Write(ReservedVolumes& reserved) const;
  framework::Status GiveUp(const ReservedVolumes& reserved, const base::Error& error) const;
  base::Task<framework::Status> WaitUntilBound(framework::BindingContext& context,
                                               framework::Assignment& assignment,
                                               ReservedVolumes& reserved) const;

  const std::vector<framework::ShapePoint> shape_;  // empty: capacity takes no part in scores
  const base::Duration bind_timeout_;
  framework::ObjectWriter* const writes_;
  const CsiNodes& csi_nodes_;
  VolumeCaches& caches_;
  PluginMetrics& metrics_;
  const cluster::ClaimIndex& waiting_;
};

}  // namespace berth::plugins
