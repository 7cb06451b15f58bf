#include "cli/bench_command_setup.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <memory>
#include <ostream>
#include <re2/re2.h>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace berth::cli {
namespace {

std::atomic<bool> interrupted = false;

void Interrupt(int) { interrupted = true; }

// A name for a folder, of anything.
std::string FolderName(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.'; },
      '_');
  return text;
}

}  // namespace

void WatchForInterrupts() {
  // What is closed would be given to the next file that is opened, and from there to the processes as theirs.
  for (int stream = 0; stream <= 2; ++stream) {
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, Interrupt);
  // A reader that went away is no reason to leave processes and files behind.
  std::signal(SIGPIPE, SIG_IGN);
}

bool IsInterrupted() { return interrupted; }

base::Result<std::vector<bench::WorkloadFile>> LoadFiles(const std::vector<std::string>& configs) {
  std::vector<bench::WorkloadFile> files;
  for (const std::string& config : configs) {
    auto file = bench::LoadWorkloadFile(config);
    if (!file) return std::unexpected(std::move(file.error()));
    files.push_back(*std::move(file));
  }
  return files;
}

base::Result<std::function<bool(const std::string&)>> SelectorOf(const std::string& pattern) {
  auto wanted = std::make_shared<RE2>(pattern, RE2::Quiet);
  if (!wanted->ok()) return base::Fail("--name: " + wanted->error());
  return [wanted](const std::string& name) { return RE2::PartialMatch(name, *wanted); };
}

base::Result<void> CheckProgram(std::string_view flag, const std::string& program) {
  if (program.empty()) return {};
  std::vector<std::string> folders = {""};
  if (program.find('/') == std::string::npos) {
    const char* const path = std::getenv("PATH");
    folders.clear();
    std::istringstream parts(path != nullptr ? path : "");
    for (std::string folder; std::getline(parts, folder, ':');) folders.push_back(folder + "/");
  }
  const bool exists = std::ranges::any_of(folders, [&](const std::string& folder) {
    std::error_code error;
    const std::filesystem::path file = folder + program;
    return ::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, error);
  });
  if (!exists) return base::Fail(fmt::format("{}: there is no program {}", flag, program));
  return {};
}

base::Result<void> CheckFlags(const BenchOptions& options) {
  if (options.requests_per_second < 0) return base::Fail("--qps must not be negative");
  if (options.rounds == 0) return base::Fail("--rounds must be at least 1");
  if (options.mode != "core" && options.mode != "sandbox" && options.mode != "external") {
    return base::Fail("mode \"" + options.mode + "\" does not exist; there are: core, sandbox, external");
  }
  if (options.mode == "external" && options.scheduler.empty()) {
    return base::Fail("--mode external wants --scheduler PATH");
  }
  if (options.mode == "core" &&
      (!options.scheduler.empty() || !options.kubeconfig.empty() || !options.control_plane.empty())) {
    return base::Fail("--scheduler, --kubeconfig and --control-plane are for --mode sandbox and external");
  }
  if (!options.kubeconfig.empty() && !options.control_plane.empty()) {
    return base::Fail("--kubeconfig and --control-plane exclude each other");
  }
  if (auto there = CheckProgram("--scheduler", options.scheduler); !there) return there;
  if (auto there = CheckProgram("--control-plane", options.control_plane); !there) return there;
  return {};
}

bench::RunOptions RunOptionsOf(const BenchOptions& options) {
  bench::RunOptions run;
  run.requests_per_second = options.requests_per_second;
  run.seed = options.seed;
  run.precreate = options.precreate;
  run.abilities.makes_up_node_features = options.mode == "core";
  run.check_thresholds = options.check_thresholds;
  run.is_interrupted = IsInterrupted;
  return run;
}

int FinishCommand(std::ostream& out, std::ostream& progress, bool failed) {
  if (IsInterrupted()) progress << "interrupted: these are the results so far\n";
  const bool written = static_cast<bool>(out.flush());
  if (!written) progress << "berth bench: the table could not be written\n";
  return failed || !written || IsInterrupted() ? 1 : 0;
}

void AddCurves(const bench::WorkloadReport& run, std::size_t side, std::vector<bench::RateCurve>& curves) {
  for (const bench::Measurement& measured : run.measurements) {
    curves.push_back({run.name() + "/" + measured.name, side, measured.bound_per_tenth});
  }
}

std::filesystem::path OwnProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

bench::SchedulerChoice OwnScheduler(const BenchOptions& options) {
  bench::SchedulerChoice choice{.name = "berth", .command = {OwnProgram().string(), "scheduler"}};
  if (!options.scheduler.empty())
    choice = bench::ChooseScheduler(options.scheduler, options.is_scheduler_bare);
  choice.config = options.scheduler_config;
  choice.arguments = options.scheduler_arguments;
  return choice;
}

bench::ClusterMaker RemoteClusters(const BenchOptions& options, const bench::SchedulerChoice& scheduler) {
  return
      [=, runs = std::make_shared<int>(0)](
          const bench::WorkloadFile& file, const bench::TestCase& test_case, const bench::Workload& workload,
          const bench::RunOptions&) -> base::Result<std::unique_ptr<bench::TestCluster>> {
        bench::RemoteClusterOptions remote;
        remote.kubeconfig = options.kubeconfig;
        remote.scheduler_kubeconfig = options.scheduler_kubeconfig;
        remote.control_plane = {.program = options.control_plane,
                                .berth = OwnProgram(),
                                .faults = options.faults,
                                .plain_http = options.plain_http};
        remote.scheduler = scheduler;
        if (!test_case.scheduler_config_path.empty()) {
          remote.scheduler_config = file.folder() / test_case.scheduler_config_path;
        }
        remote.requests_per_second = options.scheduler_requests_per_second;
        remote.gates = workload.gates;
        remote.is_interrupted = IsInterrupted;
        if (!options.logs.empty()) {
          const std::string name =
              fmt::format("{}-{}-{}-{}", test_case.name, workload.name, scheduler.name, ++*runs);
          remote.logs = std::filesystem::absolute(options.logs) / FolderName(name);
          std::error_code error;
          std::filesystem::create_directories(remote.logs, error);
          if (error)
            return base::Fail(fmt::format("cannot create {}: {}", remote.logs.string(), error.message()));
        }
        auto cluster = bench::RemoteCluster::Make(std::move(remote));
        if (!cluster) return std::unexpected(std::move(cluster.error()));
        return *std::move(cluster);
      };
}

std::string LocalTime() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::localtime(std::time(nullptr))); }

base::Result<void> WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) return base::Fail("cannot create " + path.parent_path().string() + ": " + error.message());
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return base::Fail("cannot write " + path.string());
  return {};
}

void ProgressLine::Wipe() {
  if (shown_ > 0) out_ << '\r' << std::string(shown_, ' ') << '\r';
  shown_ = 0;
}

void ProgressLine::Say(const std::string& text) {
  Wipe();
  out_ << text << std::endl;
}

void ProgressLine::Show(const std::string& text) {
  if (!is_terminal_) return;
  Wipe();
  out_ << text << std::flush;
  shown_ = text.size();
}

std::string OneLine(const bench::WorkloadReport& report) {
  if (report.outcome == bench::Outcome::kNotSupported) {
    return fmt::format("not supported: {}", fmt::join(report.reasons, "; "));
  }
  std::string text =
      fmt::format("{} after {:.1f} s", bench::OutcomeText(report.outcome), report.wall_seconds);
  for (const bench::Measurement& measured : report.measurements) {
    text += fmt::format("; {} pods, {:.2f} us of CPU each, {:.0f} pods/s", measured.pods,
                        measured.cpu_microseconds_per_pod, measured.exact_rate);
  }
  if (report.outcome == bench::Outcome::kFailed) text += fmt::format(": {}", fmt::join(report.reasons, "; "));
  return text;
}

}  // namespace berth::cli
