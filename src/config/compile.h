#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/configuration.h"
#include "config/plugin_catalog.h"
#include "config/problem.h"
#include "framework/features.h"

namespace berth::config {

struct CompiledProfile {
  std::string scheduler_name;
  // Per point, in the order in which they run; empty at kMultiPoint. Weights are those in force at kScore and
  // kPlacementScore, and 0 elsewhere.
  std::array<std::vector<PluginEntry>, kPointCount> plugins;

  const std::vector<PluginEntry>& at(Point point) const { return plugins[Index(point)]; }
};

struct Compiled {
  // As --write-config-to writes it: with the extenders' resources, and arguments of enabled plugins only.
  Configuration configuration;
  std::vector<CompiledProfile> profiles;
};

// What a scheduler runs, from a configuration that Validate accepted. The first mistake ends it, in
// kube-scheduler's words: plugins that do not exist or do not belong where they are named, no way to bind,
// ... Reads the certificates that extenders name.
base::Result<Compiled> Compile(Configuration configuration, const PluginCatalog& catalog,
                               const framework::Features& features);

// All such mistakes that can be told apart, with their places, for those who want to mend them in one go.
// Messages are without the words about the profile.
Problems CompileProblems(const Configuration& configuration, const PluginCatalog& catalog,
                         const framework::Features& features);

}  // namespace berth::config
