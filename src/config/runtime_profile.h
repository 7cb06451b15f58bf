#pragma once

#include <string>
#include <vector>

#include "config/compile.h"
#include "framework/plugin_args.h"
#include "framework/profile.h"

namespace berth::config {

// Arguments as plugins read them; defaults where the profile has none.
framework::PluginArgs RuntimeArguments(const Profile& profile);

// A profile as the framework takes it.
//
// What kube-scheduler does at some point, a plugin here may do at another one, or at none. So a plugin that
// the profile enables anywhere takes part at the points that it has here and kube-scheduler's does not, and
// is left out where it has none. Plugins that are not built in are left out altogether and added to
// `missing`, each once.
framework::ProfileConfig RuntimeProfile(const CompiledProfile& compiled, const Profile& profile,
                                        const PluginCatalog& built_in, std::vector<std::string>& missing);

}  // namespace berth::config
