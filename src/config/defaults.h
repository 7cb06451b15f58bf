#pragma once

#include "config/configuration.h"
#include "framework/features.h"

namespace berth::config {

// Fills in what the file does not say: default values, the default plugins merged with the file's, and
// default arguments for every enabled plugin that takes some.
void ApplyDefaults(Configuration& configuration, const framework::Features& features);

// What kube-scheduler runs with if it is given no file.
Configuration DefaultConfiguration(const framework::Features& features);

}  // namespace berth::config
