#pragma once

#include "base/error.h"
#include "config/configuration.h"

namespace berth::config {

// Checks what extenders need to be reached, and hands the resources that the scheduler
// shall ignore to NodeResourcesFit in every profile.
base::Result<void> PrepareExtenders(Configuration& configuration);

}  // namespace berth::config
