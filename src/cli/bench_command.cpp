#include "cli/bench_command.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fmt/ostream.h>
#include <fstream>
#include <memory>
#include <ostream>
#include <re2/re2.h>
#include <utility>

#include "base/error.h"
#include "bench/report.h"
#include "bench/suite.h"
#include "bench/workload_file.h"

namespace berth::cli {
namespace {

// What Ctrl-C leaves behind: the run ends after its current request, and what was measured is printed.
std::atomic<bool> interrupted = false;

void Interrupt(int) { interrupted = true; }

// A long run is read while it runs.
void PrintProgress(std::ostream& progress, const bench::WorkloadReport& report) {
  if (report.outcome == bench::Outcome::kNotSupported) return;
  fmt::print(progress, "  {} after {:.1f} s", bench::OutcomeText(report.outcome), report.wall_seconds);
  for (const bench::Measurement& measured : report.measurements) {
    fmt::print(progress, "; {} pods, {:.2f} us of CPU each", measured.pods,
               measured.cpu_microseconds_per_pod);
  }
  fmt::print(progress, "\n");
  progress.flush();
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
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return base::Fail("cannot write " + path.string());
  return {};
}

base::Result<void> WriteResults(const std::string& folder, const bench::WorkloadFile& file,
                                const std::string& time, const std::vector<bench::WorkloadReport>& reports) {
  if (folder.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return base::Fail("cannot create " + folder + ": " + error.message());
  const std::filesystem::path json =
      std::filesystem::path(folder) / bench::DataItemsFileName(file.topic, time);
  if (auto written = WriteFile(json, bench::DataItemsJson(reports)); !written) return written;
  std::filesystem::path csv = json;
  return WriteFile(csv.replace_extension(".csv"), bench::CsvText(reports));
}

}  // namespace

int RunBench(const BenchOptions& options, std::ostream& out, std::ostream& progress) {
  const auto refuse = [&](const std::string& why) {
    fmt::print(progress, "berth bench: {}\n", why);
    return 2;
  };
  if (options.mode != "core") return refuse("mode \"" + options.mode + "\" is not supported; there is: core");
  if (options.requests_per_second < 0) return refuse("--qps must not be negative");
  const RE2 wanted(options.name, RE2::Quiet);
  if (!wanted.ok()) return refuse("--name: " + wanted.error());
  // All files are read before anything runs, so that a mistake in the last one costs no time.
  std::vector<bench::WorkloadFile> files;
  for (const std::string& config : options.configs) {
    auto file = bench::LoadWorkloadFile(config);
    if (!file) return refuse(file.error().message);
    files.push_back(*std::move(file));
  }

  std::signal(SIGINT, Interrupt);
  bench::SuiteOptions suite;
  suite.labels = bench::LabelFilter(options.label_filter);
  suite.selects = [&](const std::string& name) { return RE2::PartialMatch(name, wanted); };
  suite.run.requests_per_second = options.requests_per_second;
  suite.run.seed = options.seed;
  suite.run.precreate = options.precreate;
  suite.run.check_thresholds = options.check_thresholds;
  suite.run.is_interrupted = [] { return interrupted.load(); };
  suite.on_start = [&](const std::string& name) { fmt::print(progress, "running {}\n", name); };
  suite.on_end = [&](const bench::WorkloadReport& report) { PrintProgress(progress, report); };
  const std::string time = LocalTime();
  std::vector<bench::WorkloadReport> all;
  for (const bench::WorkloadFile& file : files) {
    std::vector<bench::WorkloadReport> reports = bench::RunSuite(file, suite);
    if (auto written = WriteResults(options.out, file, time, reports); !written) {
      return refuse(written.error().message);
    }
    std::ranges::move(reports, std::back_inserter(all));
  }
  if (all.empty()) return refuse("no workload has these labels and this name");
  fmt::print(out, "{}", bench::TableText(all));
  if (interrupted) fmt::print(progress, "interrupted: these are the results so far\n");
  const bool failed = std::ranges::any_of(
      all, [](const bench::WorkloadReport& report) { return report.outcome == bench::Outcome::kFailed; });
  return failed || interrupted ? 1 : 0;
}

}  // namespace berth::cli
