#pragma once

#include <string_view>
#include <vector>

#include "framework/binding_points.h"
#include "framework/plugin.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// An example of a plugin from outside, and the one that docs/writing-a-plugin.md walks through. Users hold a
// pod up with annotations, one for each place at which a pod can wait:
//
//   berth.dev/hold: MESSAGE        it is not tried, and the message says why, until the annotation goes
//   berth.dev/permit-wait: 30s     it has a node and waits that long before it may be bound
//   berth.dev/prebind-wait: 30s    as if there were that much work to do before it is bound
//
// A pod with a bad duration is not tried until the annotation is mended or goes.
//
// Not in the default list; a configuration enables it by its name.
class ExampleHold final : public framework::Plugin,
                          public framework::PreEnqueuePoint,
                          public framework::PermitPoint,
                          public framework::PreBindPoint,
                          public framework::EnqueuePoint {
 public:
  explicit ExampleHold(const framework::PluginSetup&) {}

  static constexpr std::string_view kHold = "berth.dev/hold";
  static constexpr std::string_view kPermitWait = "berth.dev/permit-wait";
  static constexpr std::string_view kPreBindWait = "berth.dev/prebind-wait";

  std::string_view Name() const override { return "ExampleHold"; }
  framework::Status PreEnqueue(const framework::WaitingPod& pod) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;
  framework::PermitResult Permit(const cluster::Cluster& cluster,
                                 framework::Assignment& assignment) const override;
  framework::PreFlightResult PreBindPreFlight(const cluster::Cluster& cluster,
                                              const framework::Assignment& assignment) const override;
  base::Task<framework::Status> PreBind(framework::BindingContext& context,
                                        framework::Assignment& assignment) const override;
};

}  // namespace berth::plugins
