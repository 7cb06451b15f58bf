#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "framework/plugin_args.h"

// Whether the arguments of the plugins that look at resources make sense. Fails with everything that is
// wrong, in upstream's words.
namespace berth::plugins {

// The scores in a shape go from 0 to this, and are stretched to the framework's.
inline constexpr std::int32_t kShapeScoreMax = 10;

base::Result<void> Validate(const framework::NodeResourcesFitArgs& args);
base::Result<void> Validate(const framework::NodeResourcesBalancedAllocationArgs& args);
// Without capacity in scores a shape other than the default one was asked for in vain.
base::Result<void> Validate(const framework::VolumeBindingArgs& args, bool counts_capacity);

}  // namespace berth::plugins
