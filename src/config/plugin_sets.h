#pragma once

#include "config/configuration.h"
#include "framework/features.h"

namespace berth::config {

// The plugins of a profile that says nothing about them: all at multiPoint.
Plugins DefaultPluginSets(const framework::Features& features);

// What a profile asks for, on top of the defaults. Per point: defaults that are not disabled, each replaced
// in its place by the last custom entry of its name; then the other custom entries.
Plugins MergePlugins(const Plugins& defaults, const Plugins& custom);

}  // namespace berth::config
