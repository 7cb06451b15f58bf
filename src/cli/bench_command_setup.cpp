#include "cli/bench_command_setup.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <memory>
#include <ostream>
#include <re2/re2.h>
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
  std::signal(SIGINT, Interrupt);
  std::signal(SIGTERM, Interrupt);
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

base::Result<void> CheckFlags(const BenchOptions& options) {
  if (options.requests_per_second < 0) return base::Fail("--qps must not be negative");
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
  return {};
}

bench::RunOptions RunOptionsOf(const BenchOptions& options) {
  bench::RunOptions run;
  run.requests_per_second = options.requests_per_second;
  run.seed = options.seed;
  run.precreate = options.precreate;
  run.check_thresholds = options.check_thresholds;
  run.is_interrupted = IsInterrupted;
  return run;
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

std::string LocalTime() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &local);
  return text;
}

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
