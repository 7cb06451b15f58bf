#pragma once

#include "config/configuration.h"
#include "config/problem.h"
#include "framework/features.h"

namespace berth::config {

// What is wrong with a defaulted configuration, all of it, in kube-scheduler's order and words. Which plugins
// exist is not looked at here: compile.h does that.
Problems Validate(const Configuration& configuration, const framework::Features& features);

}  // namespace berth::config
