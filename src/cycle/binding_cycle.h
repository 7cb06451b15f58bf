#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "base/future.h"
#include "base/task.h"
#include "cycle/context.h"
#include "cycle/dispatched_writer.h"
#include "cycle/extenders.h"
#include "cycle/failure_handler.h"
#include "cycle/pre_binding_pods.h"
#include "framework/binding_points.h"

namespace berth::cycle {

// A pod with a node, on its way to being bound.
struct Binding {
  const ProfileRuntime* profile;
  queue::PoppedPod popped;
  framework::Assignment assignment;
  std::optional<base::Future<framework::Status>> permit;  // nothing: no plugin lets it wait
  base::TimePoint started;
  std::unique_ptr<AttemptTrace> trace = {};  // null: it is not traced
};

// Everything after a node was chosen: waits for Permit, runs PreBind and Bind, tells the user. Many of them
// run beside each other, each a task on the core's executor; whatever they look at may have changed at every
// wait.
class BindingCycle {
 public:
  BindingCycle(const CycleContext& context, const FailureHandler& failures, PreBindingPods& pre_binding,
               Extenders& extenders)
      : context_(context),
        failures_(failures),
        pre_binding_(pre_binding),
        extenders_(extenders),
        writer_(context) {}

  base::Task<void> Run(Binding binding);
  // Takes back Reserve, in reverse order, of every plugin of the point.
  void Unreserve(const ProfileRuntime& profile, framework::Assignment& assignment) const;

 private:
  struct PreBindStep {
    const framework::Placed<framework::PreBindPoint>* placed;
    bool skip = false;
    bool parallel = false;
  };
  using PreBindSteps = std::vector<PreBindStep>;

  base::Task<std::optional<Failure>> Bind(Binding& binding);
  void EndTrace(Binding& binding, const std::optional<Failure>& failure) const;
  framework::Status PreFlight(const Binding& binding, PreBindSteps& steps, bool& has_work) const;
  base::Task<void> NominateInStatus(const Binding& binding) const;
  base::Task<std::optional<Failure>> WaitOnPermit(Binding& binding);
  base::Task<framework::Status> RunPreBind(Binding& binding, PreBindSteps steps);
  base::Task<framework::Status> RunSteps(Binding& binding, const PreBindSteps& steps,
                                         const PreBindingPods::Entry& entry);
  // Consecutive steps that may run beside each other.
  struct Group {
    const PreBindingPods::Entry& entry;
    base::CancellationSource cancel;
    framework::Status first_failure = {};
  };
  base::Task<void> RunOne(Binding& binding, const PreBindStep& step, Group& group);
  base::Task<framework::Status> RunBind(Binding& binding);
  void Succeed(Binding& binding) const;
  void GiveUp(Binding& binding, const Failure& failure) const;

  CycleContext context_;
  const FailureHandler& failures_;
  PreBindingPods& pre_binding_;
  Extenders& extenders_;
  DispatchedWriter writer_;
};

}  // namespace berth::cycle
