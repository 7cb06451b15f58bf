#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/terms.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"
#include "framework/row_classes.h"

namespace berth::plugins {

struct AffinityPlan;
class AffinityState;
class HintTermCache;

// Keeps pods together or apart: by the pod's own affinity and anti-affinity, and by the anti-affinity of the
// pods that run. Scores by preferred terms of both sides.
//
// The cluster counts, per term and domain, the pods that match it or carry it. A state follows the counts of
// the terms that concern its pods; a verdict is a look-up per topology key, a raw score a sum over them.
class InterPodAffinity final : public framework::Plugin,
                               public framework::PreFilterPoint,
                               public framework::FilterPoint,
                               public framework::StatefulPoint,
                               public framework::ScorePoint,
                               public framework::ClassPoint,
                               public framework::EnqueuePoint,
                               public framework::SignPoint {
 public:
  enum Reason : framework::ReasonId { kAffinity, kAntiAffinity, kExistingAntiAffinity };

  explicit InterPodAffinity(const framework::PluginSetup& setup);
  ~InterPodAffinity() override;

  std::string_view Name() const override { return "InterPodAffinity"; }
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
  bool ScoresAlike(const framework::Cycle& cycle) const override { return !CheckScore(cycle).IsSuccess(); }
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
  // The terms of running pods that can move an answer for pods like this one: visit(id, term).
  template <class F>
  void ForEachConcerning(const framework::Cycle& cycle, const AffinityPlan& plan, F&& visit) const;
  // What a pod that carries this term adds to the score of its domain; 0 if the term does not score.
  std::int64_t WeightOf(const cluster::Term& term) const;
  // The counters of the pod's own terms, in use.
  std::span<const base::Versioned<cluster::CounterId>> UseCounters(const framework::Cycle& cycle,
                                                                   AffinityPlan& plan) const;
  bool MatchesItself(const framework::Cycle& cycle, const AffinityPlan& plan) const;
  void Build(framework::Cycle& cycle, AffinityState& state) const;
  // Skip while no pod is counted; an error if a term does not parse.
  framework::Status CheckScore(const framework::Cycle& cycle) const;

  base::Result<framework::Hint> AfterAssignedPod(const framework::HintInput& input) const;
  base::Result<framework::Hint> AfterNode(const framework::HintInput& input) const;

  const std::unique_ptr<HintTermCache> hint_terms_;  // for speed alone
  const std::int64_t hard_weight_;
  const bool ignore_preferred_;
  const bool hostname_fast_path_;
};

}  // namespace berth::plugins
