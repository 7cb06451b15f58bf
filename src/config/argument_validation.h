#pragma once

#include "api/validation.h"
#include "config/field_problems.h"
#include "config/plugin_arguments.h"
#include "framework/features.h"

namespace berth::config {

// What is wrong with the arguments, which are defaulted; `path` is where they are. Arguments of unknown kinds
// are the plugin's own to judge.
void ValidateArguments(const PluginArguments& arguments, const api::FieldPath& path,
                       const framework::Features& features, FieldProblems& problems);

}  // namespace berth::config
