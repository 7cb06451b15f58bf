#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"
#include "framework/row_classes.h"
#include "plugins/pod_topology_spread_constraints.h"

namespace berth::plugins {

struct SpreadPlan;
class SpreadState;

// Spreads pods over the domains of topology keys. Hard constraints keep the difference between a domain and
// the emptiest one small; soft ones score by how many matching pods a domain has. Pods without constraints of
// their own are spread by the profile's defaults, together with the pods of their Services and owner.
//
// The cluster counts matching pods per domain; a state follows the counts and their minimum, and a verdict
// moves only when a count passes the limit.
class PodTopologySpread final : public framework::Plugin,
                                public framework::PreFilterPoint,
                                public framework::FilterPoint,
                                public framework::StatefulPoint,
                                public framework::ScorePoint,
                                public framework::ClassPoint,
                                public framework::EnqueuePoint,
                                public framework::SignPoint {
 public:
  enum Reason : framework::ReasonId { kMissingLabel, kSkew };

  explicit PodTopologySpread(const framework::PluginSetup& setup);

  std::string_view Name() const override { return "PodTopologySpread"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  void AppendScope(framework::Cycle& cycle, framework::Scope& scope) const override;

  std::unique_ptr<framework::State> MakeState(framework::Cycle& cycle) const override;
  void Refresh(framework::Cycle& cycle, framework::State& state,
               framework::StateChanges& changes) const override;

  framework::PreFilterResult PreFilter(framework::Cycle& cycle) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;

  framework::Status PreScore(framework::Cycle& cycle, const framework::FeasibleSet& feasible,
                             framework::ChangedRows& changed) const override;
  bool reads_feasible() const override { return true; }
  bool ScoresAlike(const framework::Cycle& cycle) const override { return !CheckSoft(cycle).IsSuccess(); }
  framework::Status Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores) const override;
  framework::Normalizing normalizing() const override { return framework::Normalizing::kByExtent; }
  void Normalize(const framework::Extent& extent, std::span<std::int64_t> scores) const override;

  framework::ClassUse Classes(const framework::Cycle& cycle, const framework::State& state) const override;
  void UseClasses(framework::Cycle& cycle, framework::State& state) const override;
  framework::RowClass ClassOf(const framework::Cycle& cycle, cluster::NodeRow row) const override;
  std::optional<framework::ReasonId> JudgeClass(const framework::Cycle& cycle,
                                                const framework::RowClass& row_class) const override;
  framework::Status PreScoreClasses(framework::Cycle& cycle,
                                    std::span<const framework::ClassCount> counts) const override;
  std::int64_t ScoreClass(const framework::Cycle& cycle, const framework::RowClass& row_class) const override;

  std::vector<framework::EventRegistration> EventsToRegister() const override;
  bool Sign(const framework::WaitingPod& pod, framework::Signature& signature) const override;

 private:
  base::Result<std::vector<SpreadConstraint>> Compile(const api::PodSpec& spec,
                                                      std::string_view action) const;
  // The hard constraints of a waiting pod with their final selectors, for hints.
  base::Result<std::vector<SpreadConstraint>> HardConstraintsOf(const framework::HintInput& input) const;
  // The counters of the constraints, hard ones first, in use; none if no constraint applies to the pod.
  std::span<const base::Versioned<cluster::CounterId>> UseCounters(const framework::Cycle& cycle,
                                                                   SpreadPlan& plan) const;
  void Build(framework::Cycle& cycle, SpreadState& state) const;
  // Skip if no soft constraint applies; an error if one does not parse.
  framework::Status CheckSoft(const framework::Cycle& cycle) const;

  const bool system_defaulted_;
  const std::vector<api::TopologySpreadConstraint> defaults_;
  const bool read_match_label_keys_;
  const bool comparison_operators_;
};

}  // namespace berth::plugins
