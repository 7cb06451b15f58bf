#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gtest/gtest.h"

#include "cluster/cluster.h"
#include "framework/decide.h"
#include "framework/profile.h"
#include "framework/registry.h"
#include "support/builders.h"

namespace berth::framework::test {

// A profile of some plugins at every point that they have, and an engine for it. Views are always verified.
class EngineBed {
 public:
  EngineBed(cluster::Cluster& cluster, const Registry& registry, std::vector<EnabledPlugin> plugins,
            EngineOptions options = {})
      : cluster_(cluster) {
    const PluginSetup setup{features_, args_, cluster};
    const auto config = ExpandEverywhere(plugins, registry, setup);
    EXPECT_TRUE(config.has_value()) << (config ? "" : config.error().message);
    auto profile = Profile::Make(*config, registry, setup, rejections_);
    EXPECT_TRUE(profile.has_value()) << (profile ? "" : profile.error().message);
    profile_ = *std::move(profile);
    options.verify_views = true;
    engine_ = std::make_unique<Engine>(cluster, *profile_, rejections_, options);
  }

  Engine& engine() { return *engine_; }
  const Profile& profile() const { return *profile_; }
  RejectionTable& rejections() { return rejections_; }

  Outcome Schedule(cluster::PodSlot pod) { return engine_->SchedulePod({.pod = pod, .step = ++step_}); }

  // The outcome in words: the node's name, the message of a misfit, or the error.
  std::string Answer(cluster::PodSlot pod) {
    const Outcome outcome = Schedule(pod);
    if (const auto* decision = std::get_if<Decision>(&outcome)) {
      return std::string(cluster_.nodes().name(decision->row));
    }
    if (const auto* diagnosis = std::get_if<Diagnosis>(&outcome)) return FitErrorMessage(*diagnosis);
    return std::get<Status>(outcome).Message();
  }

 private:
  cluster::Cluster& cluster_;
  const Features features_ = Features::Upstream();
  const PluginArgs args_;
  RejectionTable rejections_;
  std::unique_ptr<const Profile> profile_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t step_ = 0;
};

inline std::vector<EnabledPlugin> Enabled(std::initializer_list<std::string_view> names) {
  std::vector<EnabledPlugin> plugins;
  for (const std::string_view name : names) plugins.push_back({std::string(name), 0});
  return plugins;
}

}  // namespace berth::framework::test
