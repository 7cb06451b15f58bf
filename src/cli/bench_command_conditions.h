#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench_command.h"

#include "bench/scheduler_launch.h"
#include "bench/suite.h"

// Under which conditions something was measured: without them a number says nothing.
namespace berth::cli {

// A term and what is said about it.
using Conditions = std::vector<std::pair<std::string, std::string>>;

// The date, the machine, the limits of all clients, the server and the seed.
Conditions SurroundingsOf(const BenchOptions& options);
// "kube-scheduler, Kubernetes v1.37.1, with its configuration and arguments"
std::string AboutScheduler(const bench::SchedulerChoice& choice);
// How much of the machine others used in these runs.
std::string ForeignText(std::span<const bench::WorkloadReport> runs);

// The arguments of this program as one would type them.
std::string CommandText(std::span<const std::string> arguments);

}  // namespace berth::cli
