#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/scheduler_settings.h"

#include "base/error.h"
#include "core/scheduler.h"
#include "shell/scheduler_process.h"

// From what an operator says to what the rooms take.
namespace berth::cli {

std::string UserAgent(std::string_view program, std::string_view purpose);

// What the scheduler itself runs with; another file may change it while the process runs. Plugins that the
// file asks for and this version does not have are named in a warning.
core::SchedulerOptions CoreOptionsOf(const SchedulerSettings& settings, const LoadedConfiguration& loaded);

// A kubeconfig that is named must be there; kube-scheduler's words if it is not.
base::Result<void> CheckKubeconfig(const std::string& path);

std::string Hostname();
std::uint64_t Entropy();

// Reads the kubeconfig. The settings outlive the options.
base::Result<shell::ProcessOptions> ProcessOptionsOf(const SchedulerSettings& settings,
                                                     std::string_view program);

}  // namespace berth::cli
