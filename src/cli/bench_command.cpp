#include "cli/bench_command.h"

#include <algorithm>
#include <filesystem>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <iterator>
#include <ostream>
#include <utility>

#include "cli/bench_command_conditions.h"
#include "cli/bench_command_setup.h"

#include "base/error.h"
#include "bench/compare.h"
#include "bench/html_report.h"
#include "bench/report.h"
#include "bench/suite.h"
#include "bench/workload_file.h"

namespace berth::cli {
namespace {

base::Result<void> WriteResults(const std::string& folder, const bench::WorkloadFile& file,
                                const std::string& time, const std::vector<bench::WorkloadReport>& reports) {
  if (folder.empty()) return {};
  const std::filesystem::path json =
      std::filesystem::path(folder) / bench::DataItemsFileName(file.topic, time);
  if (auto written = WriteFile(json, bench::DataItemsJson(reports)); !written) return written;
  std::filesystem::path csv = json;
  return WriteFile(csv.replace_extension(".csv"), bench::CsvText(reports));
}

// The page about one scheduler: what passed, and beside it what did not.
base::Result<void> WritePage(const BenchOptions& options, const std::vector<bench::WorkloadReport>& reports) {
  if (options.html.empty()) return {};
  std::vector<bench::DataItem> items;
  std::vector<bench::RateCurve> curves;
  std::vector<std::string> notes;
  for (const bench::WorkloadReport& report : reports) {
    std::ranges::copy(report.items, std::back_inserter(items));
    AddCurves(report, 0, curves);
    if (report.outcome == bench::Outcome::kNotSupported) {
      notes.push_back(fmt::format("not supported: {}: {}", report.name(), fmt::join(report.reasons, "; ")));
    } else {
      for (const std::string& reason : report.reasons) notes.push_back("failed: " + reason);
    }
  }
  const bench::SchedulerChoice scheduler = OwnScheduler(options);
  Conditions conditions = SurroundingsOf(options);
  conditions.emplace_back(scheduler.name, AboutScheduler(scheduler));
  conditions.emplace_back("rounds", std::to_string(options.rounds));
  conditions.emplace_back("others", ForeignText(reports));
  const auto workloads = bench::WorkloadsOf(items);
  return WriteFile(options.html, bench::ComparisonHtml(
                                     {.names = {fmt::format("{}, mode {}", scheduler.name, options.mode), ""},
                                      .command = options.command,
                                      .conditions = conditions,
                                      .workloads = workloads,
                                      .curves = curves,
                                      .notes = notes}));
}

// A line for each workload, and how many there are. False: there is none.
bool PrintList(const std::vector<bench::WorkloadFile>& files, const bench::SuiteOptions& suite,
               std::ostream& out) {
  std::size_t all = 0;
  std::size_t missing = 0;
  for (const bench::WorkloadFile& file : files) {
    for (const bench::ListedWorkload& workload : bench::ListSuite(file, suite)) {
      ++all;
      if (!workload.missing.empty()) ++missing;
      const std::string verdict = workload.missing.empty()
                                      ? "runs"
                                      : fmt::format("not supported: {}", fmt::join(workload.missing, "; "));
      fmt::print(out, "{} [{}]: {}\n", workload.name, fmt::join(workload.labels, ", "), verdict);
    }
  }
  if (all > 0) fmt::print(out, "{} workloads: {} run, {} are not supported\n", all, all - missing, missing);
  return all > 0;
}

}  // namespace

int RunBench(const BenchOptions& options, std::ostream& out, std::ostream& progress) {
  const auto refuse = [&](const std::string& why) {
    fmt::print(progress, "berth bench: {}\n", why);
    return 2;
  };
  if (auto good = CheckFlags(options); !good) return refuse(good.error().message);
  const auto selects = SelectorOf(options.name);
  if (!selects) return refuse(selects.error().message);
  const auto files = LoadFiles(options.configs);
  if (!files) return refuse(files.error().message);

  WatchForInterrupts();
  ProgressLine line(progress, options.is_terminal);
  bench::SuiteOptions suite;
  suite.labels = bench::LabelFilter(options.label_filter);
  suite.selects = *selects;
  suite.run = RunOptionsOf(options);
  if (options.lists_only) {
    return PrintList(*files, suite, out) ? 0 : refuse("no workload has these labels and this name");
  }
  std::string current;
  suite.run.on_progress = [&](std::size_t bound) {
    line.Show(fmt::format("  {}: {} pods have a node", current, bound));
  };
  suite.rounds = options.rounds;
  if (options.mode != "core") suite.make_cluster = RemoteClusters(options, OwnScheduler(options));
  suite.on_start = [&](const std::string& name) {
    current = name;
    line.Say("running " + name);
  };
  suite.on_end = [&](const bench::WorkloadReport& report) { line.Say("  " + OneLine(report)); };
  const std::string time = LocalTime();
  std::vector<bench::WorkloadReport> all;
  for (const bench::WorkloadFile& file : *files) {
    std::vector<bench::WorkloadReport> reports = bench::RunSuite(file, suite);
    if (auto written = WriteResults(options.out, file, time, reports); !written) {
      return refuse(written.error().message);
    }
    std::ranges::move(reports, std::back_inserter(all));
  }
  if (all.empty() && !IsInterrupted()) return refuse("no workload has these labels and this name");
  fmt::print(out, "{}", bench::TableText(all));
  if (auto written = WritePage(options, all); !written) return refuse(written.error().message);
  const bool failed = std::ranges::any_of(
      all, [](const bench::WorkloadReport& report) { return report.outcome == bench::Outcome::kFailed; });
  return FinishCommand(out, progress, failed);
}

}  // namespace berth::cli
