#pragma once

#include <algorithm>
#include <vector>

#include "core/scheduler.h"
#include "framework/profile.h"
#include "plugins/all_plugins.h"

namespace berth::core::test {

// The default profile and ExampleHold, with which a test makes pods wait at the gate, at Permit and in
// PreBind.
inline SchedulerOptions WithHold(const framework::Features& features = {}) {
  const framework::Registry registry = plugins::AllPlugins();
  SchedulerOptions options{.features = features};
  const framework::PluginArgs args;
  cluster::Cluster aside;
  std::vector<framework::EnabledPlugin> enabled = framework::DefaultPlugins(features);
  std::erase_if(enabled, [&](const auto& plugin) { return !registry.Contains(plugin.name); });
  enabled.push_back({"ExampleHold", 0});
  options.profiles.push_back(*framework::ExpandEverywhere(enabled, registry, {features, args, aside}));
  return options;
}

inline constexpr const char* kHoldKey = "berth.dev/hold";
inline constexpr const char* kPermitWaitKey = "berth.dev/permit-wait";
inline constexpr const char* kPreBindWaitKey = "berth.dev/prebind-wait";

}  // namespace berth::core::test
