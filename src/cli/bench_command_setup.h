#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/bench_command.h"

#include "base/error.h"
#include "bench/html_charts.h"
#include "bench/remote_cluster.h"
#include "bench/suite.h"
#include "bench/workload_file.h"

// What the commands under `berth bench` have in common.
namespace berth::cli {

// Ctrl-C, SIGTERM and SIGHUP end a run after its current request from now on, however often they come: what
// was measured is printed, and the processes that were started end.
void WatchForInterrupts();
bool IsInterrupted();

// All files are read before anything runs, so that a mistake in the last one costs no time.
base::Result<std::vector<bench::WorkloadFile>> LoadFiles(const std::vector<std::string>& configs);
// Whether "case/workload" is wanted.
base::Result<std::function<bool(const std::string&)>> SelectorOf(const std::string& pattern);
base::Result<void> CheckFlags(const BenchOptions& options);
// Whether there is such a program, so that hours are not spent on the other side first. Empty: none is
// wanted.
base::Result<void> CheckProgram(std::string_view flag, const std::string& program);
// What all end with: whether what was printed has reached anybody, and a word about interrupts.
int FinishCommand(std::ostream& out, std::ostream& progress, bool failed);

bench::RunOptions RunOptionsOf(const BenchOptions& options);
bench::SchedulerChoice OwnScheduler(const BenchOptions& options);
// Makes a new server with a new scheduler for each workload. `side` tells the folders of the logs apart.
bench::ClusterMaker RemoteClusters(const BenchOptions& options, const bench::SchedulerChoice& scheduler);

// What a page draws over time: a curve of each collection of the run.
void AddCurves(const bench::WorkloadReport& run, std::size_t side, std::vector<bench::RateCurve>& curves);

std::filesystem::path OwnProgram();
// For names of files, as upstream writes it.
std::string LocalTime();
base::Result<void> WriteFile(const std::filesystem::path& path, const std::string& text);

// One line that says what is going on: it moves on a terminal, and is left out elsewhere but for what stays.
class ProgressLine {
 public:
  ProgressLine(std::ostream& out, bool is_terminal) : out_(out), is_terminal_(is_terminal) {}

  // Stays.
  void Say(const std::string& text);
  // Until the next of either.
  void Show(const std::string& text);

 private:
  void Wipe();

  std::ostream& out_;
  const bool is_terminal_;
  std::size_t shown_ = 0;
};

// "passed after 12.3 s; 10000 pods, 31.20 us of CPU each, 2100 pods/s"
std::string OneLine(const bench::WorkloadReport& report);

}  // namespace berth::cli
