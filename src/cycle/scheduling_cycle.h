#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "cycle/binding_cycle.h"
#include "cycle/context.h"
#include "cycle/evictions.h"
#include "cycle/extenders.h"
#include "cycle/failure_handler.h"
#include "cycle/pre_binding_pods.h"
#include "cycle/trace_observer.h"
#include "cycle/waiting_pods.h"

namespace berth::cycle {

// One attempt to find a node for a pod, up to the point where its binding begins. It runs to its end before
// anything else happens, so it reads the cluster as it is.
//
// An attempt in which extenders have a say waits for their answers. No other attempt begins meanwhile, but
// the cluster goes on; so every answer is applied to the cluster as it is when it comes (framework/advice.h).
class SchedulingCycle {
 public:
  SchedulingCycle(const CycleContext& context, Extenders extenders)
      : context_(context),
        extenders_(std::move(extenders)),
        failures_(context),
        binding_(context, failures_, pre_binding_, extenders_),
        waiting_(context.executor),
        evictions_(context, waiting_, pre_binding_),
        trace_observer_(context.clock()),
        bindings_(context.executor),
        consulting_(context.executor) {}

  // `profile` is null if no profile has the pod's scheduler name. Not while is_busy().
  void Run(ProfileRuntime* profile, const queue::PoppedPod& popped);
  // An attempt waits for an extender.
  bool is_busy() const { return consulting_.size() > 0; }

  WaitingPods& waiting_pods() { return waiting_; }
  Evictions& evictions() { return evictions_; }
  // Pods on their way to being bound.
  std::size_t binding_count() const { return bindings_.size(); }

 private:
  struct Attempt {
    ProfileRuntime& profile;
    const queue::PoppedPod& popped;
    base::TimePoint started;
  };

  bool IsToBeSkipped(const Attempt& attempt) const;
  // Who watches the attempt: what measures it, behind what traces it if it is to be traced.
  framework::PluginObserver* StartTrace(const Attempt& attempt);
  void EndTrace(const Failure& failure);
  void CollectUnused(ProfileRuntime& profile);
  void Conclude(const Attempt& attempt, framework::Outcome outcome);
  Failure NothingFits(const Attempt& attempt, const framework::Diagnosis& diagnosis);
  framework::PostFilterResult RunPostFilter(const Attempt& attempt,
                                            const framework::Diagnosis& diagnosis) const;
  // What PostFilter came to, into the failure.
  void MakeRoom(const Attempt& attempt, framework::PostFilterResult result, Failure& failure);

  // With extenders.
  base::Task<void> RunAdvised(ProfileRuntime& profile, queue::PoppedPod popped, base::TimePoint started);
  // Nothing: the pod does not wait for a node any more.
  using End = std::optional<std::variant<cluster::NodeRow, Failure>>;
  base::Task<End> Consult(const Attempt& attempt);
  base::Task<End> ConsultAboutAll(const Attempt& attempt);
  base::Task<cluster::NodeRow> ConsultAboutNominated(const Attempt& attempt);
  base::Task<End> NothingFitsAdvised(const Attempt& attempt, const framework::Diagnosis& diagnosis);
  framework::Cycle::Subject SubjectOf(const Attempt& attempt) const;
  std::vector<cluster::NodeRef> NodesOf(const framework::Feasible& feasible) const;
  bool StillWaits(const Attempt& attempt) const;

  void Evict(const Attempt& attempt, const framework::PostFilterResult& result);
  void Place(const Attempt& attempt, cluster::NodeRow row);
  std::optional<Failure> Reserve(const Attempt& attempt, framework::Assignment& assignment) const;
  std::optional<Failure> Permit(const Attempt& attempt, framework::Assignment& assignment,
                                std::vector<PermitWait>& waits) const;
  void ActivateWanted(const Attempt& attempt) const;

  CycleContext context_;
  Extenders extenders_;
  FailureHandler failures_;
  PreBindingPods pre_binding_;
  BindingCycle binding_;
  WaitingPods waiting_;
  Evictions evictions_;
  std::uint64_t step_ = 0;
  TraceObserver trace_observer_;
  base::Random trace_random_{1};         // decides nothing but which attempts are traced
  std::unique_ptr<AttemptTrace> trace_;  // of the current attempt, if it is one of them
  // Last, so that they go first: the tasks refer to the rest.
  base::TaskSet bindings_;
  base::TaskSet consulting_;
};

}  // namespace berth::cycle
