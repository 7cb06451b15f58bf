#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/child_process.h"
#include "bench/workload_file.h"

namespace berth::bench {

// A scheduler that is to be measured: berth, kube-scheduler, or anything that takes kube-scheduler's
// configuration file.
struct SchedulerChoice {
  std::string name;                         // in reports
  std::vector<std::string> command;         // the program first
  std::filesystem::path config = {};        // for test cases that have none of their own; empty: defaults
  std::vector<std::string> arguments = {};  // behind those that every scheduler gets
  // It takes --config alone and has no port of its own.
  bool is_bare = false;
};

// `path` as a command: a program that is called berth is told to be a scheduler.
SchedulerChoice ChooseScheduler(const std::filesystem::path& path, bool is_bare);

// What it says that it is when it is asked with --version; "version unknown" if it says nothing like that.
// Bare ones are not asked: who knows what they would do.
std::string SchedulerVersion(const SchedulerChoice& choice, const std::function<bool()>& is_interrupted);

// What every scheduler of a comparison gets alike.
struct SchedulerSurroundings {
  std::string kubeconfig;
  double requests_per_second = 5000;  // its own limit, and as many at once; not above 0: none
  Gates gates = {};
  std::filesystem::path folder;  // for its configuration and its log
};

// The configuration of a test case, or else the scheduler's own, with the connection filled in and without an
// election.
base::Result<boost::json::object> SchedulerConfig(const SchedulerChoice& choice,
                                                  const std::filesystem::path& of_test_case,
                                                  const SchedulerSurroundings& surroundings);

// The whole command line. `port`: where it is to serve its health and metrics.
std::vector<std::string> SchedulerCommand(const SchedulerChoice& choice, const std::filesystem::path& config,
                                          const Gates& gates, std::uint16_t port);

// "A=true,B=false"
std::string GatesText(const Gates& gates);

struct RunningScheduler {
  std::unique_ptr<ChildProcess> process;
  std::optional<std::uint16_t> port;
};
base::Result<RunningScheduler> LaunchScheduler(const SchedulerChoice& choice,
                                               const std::filesystem::path& config_of_test_case,
                                               const SchedulerSurroundings& surroundings);

// Where a control plane comes from.
struct ControlPlaneChoice {
  // A program that starts one, prints "ready KUBECONFIG [KUBECONFIG of the scheduler]" and ends it when it is
  // told to end; BERTH_BENCH_DIR and BERTH_BENCH_GATES say where its files go and which gates it has. Empty:
  // the sandbox of `berth`.
  std::string program = {};
  std::filesystem::path berth = {};
  std::vector<std::string> faults = {};  // of the sandbox
  bool plain_http = false;               // between the sandbox and everybody
};
struct RunningControlPlane {
  std::unique_ptr<ChildProcess> process;
  std::string kubeconfig;
  std::string scheduler_kubeconfig;
};
base::Result<RunningControlPlane> LaunchControlPlane(const ControlPlaneChoice& choice, const Gates& gates,
                                                     const std::filesystem::path& folder,
                                                     const std::function<bool()>& is_interrupted);

}  // namespace berth::bench
