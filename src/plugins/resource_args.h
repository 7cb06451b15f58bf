#pragma once

#include <string>

#include "base/error.h"
#include "framework/plugin_args.h"

// Whether the arguments of the plugins that look at resources make sense. Fails with everything that is
// wrong, in upstream's words.
namespace berth::plugins {

base::Result<void> Validate(const framework::NodeResourcesFitArgs& args);
base::Result<void> Validate(const framework::NodeResourcesBalancedAllocationArgs& args);
// Without capacity in scores a shape other than the default one was asked for in vain.
base::Result<void> Validate(const framework::VolumeBindingArgs& args, bool counts_capacity);

}  // namespace berth::plugins
