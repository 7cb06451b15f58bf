#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "cycle/binding_cycle.h"
#include "cycle/context.h"
#include "cycle/evictions.h"
#include "cycle/failure_handler.h"
#include "cycle/pre_binding_pods.h"
#include "cycle/trace_observer.h"
#include "cycle/waiting_pods.h"

namespace berth::cycle {

// One attempt to find a node for a pod, up to the point where its binding begins. It runs to its end before
// anything else happens, so it reads the cluster as it is.
class SchedulingCycle {
 public:
  explicit SchedulingCycle(const CycleContext& context)
      : context_(context),
        failures_(context),
        binding_(context, failures_, pre_binding_),
        waiting_(context.executor),
        evictions_(context, waiting_, pre_binding_),
        trace_observer_(context.clock()),
        bindings_(context.executor) {}

  // `profile` is null if no profile has the pod's scheduler name.
  void Run(ProfileRuntime* profile, const queue::PoppedPod& popped);

  WaitingPods& waiting_pods() { return waiting_; }
  // Pods on their way to being bound.
  std::size_t binding_count() const { return bindings_.size(); }

 private:
  struct Attempt {
    ProfileRuntime& profile;
    const queue::PoppedPod& popped;
    base::TimePoint started;
  };

  bool IsToBeSkipped(const Attempt& attempt) const;
  // Null: it is not traced.
  framework::PluginObserver* StartTrace(const Attempt& attempt);
  void EndTrace(const Failure& failure);
  Failure NothingFits(const Attempt& attempt, framework::Diagnosis diagnosis);
  void Evict(const Attempt& attempt, const framework::PostFilterResult& result);
  void Place(const Attempt& attempt, cluster::NodeRow row);
  std::optional<Failure> Reserve(const Attempt& attempt, framework::Assignment& assignment) const;
  std::optional<Failure> Permit(const Attempt& attempt, framework::Assignment& assignment,
                                std::vector<PermitWait>& waits) const;
  void ActivateWanted(const Attempt& attempt) const;

  CycleContext context_;
  FailureHandler failures_;
  PreBindingPods pre_binding_;
  BindingCycle binding_;
  WaitingPods waiting_;
  Evictions evictions_;
  std::uint64_t step_ = 0;
  TraceObserver trace_observer_;
  base::Random trace_random_{1};         // decides nothing but which attempts are traced
  std::unique_ptr<AttemptTrace> trace_;  // of the current attempt, if it is one of them
  // Last, so that it goes first: the tasks refer to the rest.
  base::TaskSet bindings_;
};

}  // namespace berth::cycle
