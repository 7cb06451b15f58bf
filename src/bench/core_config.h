#pragma once

#include <filesystem>

#include "base/error.h"
#include "core/scheduler.h"
#include "framework/features.h"

namespace berth::bench {

// What a KubeSchedulerConfiguration comes to for the core: profiles, backoff and the share of nodes to score,
// as upstream's runner uses it; connection and election are of no interest here. An empty path: defaults.
// Errors name the file.
base::Result<core::SchedulerOptions> CoreOptionsFrom(const std::filesystem::path& path,
                                                     const framework::Features& features);

}  // namespace berth::bench
