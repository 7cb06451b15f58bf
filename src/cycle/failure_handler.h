#pragma once

#include <optional>
#include <string>

#include "cycle/context.h"
#include "framework/fit_error.h"
#include "framework/status.h"

namespace berth::cycle {

// Why an attempt failed, and what is to be remembered of it.
struct Failure {
  framework::Status status;
  std::string message;  // what users read
  framework::PluginNames unschedulable_plugins = {};
  framework::PluginNames pending_plugins = {};
  // Nothing: the pod keeps its nomination. Empty: it loses it.
  std::optional<std::string> nominated_node = std::string();
  std::uint64_t likeness = 0;  // queue::Rejection
};

// A failure that no plugin is recorded for: the pod comes back after its backoff.
Failure FailWith(framework::Status status);
// No node fits, for the reasons in the diagnosis.
Failure UnfitFor(const framework::Diagnosis& diagnosis);
// A plugin refused the one node that was chosen.
Failure RefusedOnNode(const framework::Status& status);

// Puts a pod whose attempt failed back into the queue, and tells the user why: by an event and in the pod's
// status.
class FailureHandler {
 public:
  explicit FailureHandler(const CycleContext& context) : context_(context) {}

  void Handle(const ProfileRuntime& profile, const queue::PoppedPod& popped, const Failure& failure,
              base::TimePoint started) const;
  // The pod was tried although its backoff was not over, and the failure says what its status says already:
  // it was put back, and nobody hears of it. False: the failure is to be handled.
  bool PassOver(const queue::PoppedPod& popped, const Failure& failure) const;

 private:
  queue::Rejection RejectionOf(const Failure& failure) const;
  void Tell(const ProfileRuntime& profile, base::Versioned<cluster::PodSlot> slot,
            const Failure& failure) const;

  CycleContext context_;
};

}  // namespace berth::cycle
