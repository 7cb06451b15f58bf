#include <algorithm>
#include <filesystem>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <iterator>
#include <ostream>
#include <utility>

#include "cli/bench_command.h"
#include "cli/bench_command_conditions.h"
#include "cli/bench_command_setup.h"

#include "base/files.h"
#include "bench/compare.h"
#include "bench/html_report.h"
#include "bench/markdown_report.h"
#include "bench/report.h"
#include "bench/versus.h"

// `berth bench versus` and `berth bench compare`.
namespace berth::cli {
namespace {

// Every run of either side.
std::vector<bench::WorkloadReport> AllRuns(const std::vector<bench::VersusWorkload>& workloads) {
  std::vector<bench::WorkloadReport> runs;
  for (const bench::VersusWorkload& workload : workloads) {
    for (const auto& side : workload.runs) std::ranges::copy(side, std::back_inserter(runs));
  }
  return runs;
}

std::vector<bench::RateCurve> CurvesOf(const std::vector<bench::VersusWorkload>& workloads) {
  std::vector<bench::RateCurve> curves;
  for (const bench::VersusWorkload& workload : workloads) {
    for (std::size_t side = 0; side < 2; ++side) {
      for (const bench::WorkloadReport& run : workload.runs[side]) AddCurves(run, side, curves);
    }
  }
  return curves;
}

base::Result<void> WriteSides(const std::string& folder, const bench::SideNames& names,
                              const std::vector<bench::VersusWorkload>& workloads) {
  const std::string time = LocalTime();
  for (std::size_t side = 0; side < 2; ++side) {
    // Runs that have no partner are no part of what a later comparison may pair.
    std::vector<bench::WorkloadReport> reports;
    for (const bench::VersusWorkload& workload : workloads) {
      reports.emplace_back().items = workload.ItemsOfPairs(side);
    }
    const std::string name =
        bench::DataItemsFileName(fmt::format("versus_{}_{}", side + 1, names[side]), time);
    auto written = WriteFile(std::filesystem::path(folder) / name, bench::DataItemsJson(reports));
    if (!written) return written;
  }
  return {};
}

std::vector<std::string> NotesOf(const bench::SideNames& names,
                                 const std::vector<bench::VersusWorkload>& workloads) {
  std::vector<std::string> notes;
  for (const bench::VersusWorkload& workload : workloads) {
    if (!workload.missing.empty()) {
      notes.push_back(fmt::format("not supported: {}: {}", workload.name, fmt::join(workload.missing, "; ")));
    }
    for (const std::string& failure : workload.Failures(names)) {
      notes.push_back("failed: " + failure);
    }
  }
  return notes;
}

}  // namespace

int RunBenchVersus(const VersusCommandOptions& options, std::ostream& out, std::ostream& progress) {
  const auto refuse = [&](const std::string& why) {
    fmt::print(progress, "berth bench versus: {}\n", why);
    return 2;
  };
  BenchOptions common = options.bench;
  common.mode = "sandbox";
  if (auto good = CheckFlags(common); !good) return refuse(good.error().message);
  if (auto there = CheckProgram("--peer", options.peer); !there) return refuse(there.error().message);
  if (!common.kubeconfig.empty()) {
    return refuse("every run wants a new cluster: give --control-plane instead of --kubeconfig");
  }
  const auto selects = SelectorOf(common.name);
  if (!selects) return refuse(selects.error().message);
  const auto files = LoadFiles(common.configs);
  if (!files) return refuse(files.error().message);

  WatchForInterrupts();
  ProgressLine line(progress, common.is_terminal);
  bench::SchedulerChoice own = OwnScheduler(common);
  bench::SchedulerChoice peer = bench::ChooseScheduler(options.peer, options.is_peer_bare);
  peer.config = options.peer_config;
  peer.arguments = options.peer_arguments;
  if (peer.name == own.name) peer.name += " (peer)";
  const bench::SideNames names = {own.name, peer.name};
  const std::array<bench::Contender, 2> sides = {bench::Contender{own.name, RemoteClusters(common, own)},
                                                 bench::Contender{peer.name, RemoteClusters(common, peer)}};
  const std::string about_own = AboutScheduler(own);
  const std::string about_peer = AboutScheduler(peer);
  bench::VersusOptions versus;
  versus.labels = bench::LabelFilter(common.label_filter);
  versus.selects = *selects;
  versus.run = RunOptionsOf(common);
  versus.rounds = common.rounds;
  versus.warm_ups = options.warm_ups;
  std::string current;
  versus.on_start = [&](const std::string& name, const std::string& side, const std::string& round) {
    current = fmt::format("{}, {}: {}", name, round, side);
    line.Show(current);
  };
  versus.run.on_progress = [&](std::size_t bound) {
    line.Show(fmt::format("{}: {} pods have a node", current, bound));
  };
  versus.on_end = [&](const bench::WorkloadReport& report) { line.Say(current + ": " + OneLine(report)); };
  std::vector<bench::VersusWorkload> all;
  for (const bench::WorkloadFile& file : *files) {
    auto results = bench::RunVersus(file, sides, versus);
    std::ranges::move(results, std::back_inserter(all));
  }
  if (all.empty() && !IsInterrupted()) return refuse("no workload has these labels and this name");

  const std::vector<bench::ComparedWorkload> compared = bench::CompareRuns(all);
  const std::vector<std::string> notes = NotesOf(names, all);
  Conditions conditions = SurroundingsOf(common);
  conditions.emplace_back(own.name, about_own);
  conditions.emplace_back(peer.name, about_peer);
  conditions.emplace_back("rounds", fmt::format("{}, sides change places from round to round, {} warm-ups",
                                                common.rounds, options.warm_ups));
  conditions.emplace_back("others", ForeignText(AllRuns(all)));
  for (const auto& [term, about] : conditions) fmt::print(out, "{:<14} {}\n", term + ":", about);
  fmt::print(out, "\n{}", bench::CompareTable(names, compared));
  if (options.wide) fmt::print(out, "\n{}", bench::CompareDetails(names, compared));
  for (const std::string& note : notes) fmt::print(out, "{}\n", note);
  base::Result<void> written;
  if (!common.out.empty()) {
    written = WriteSides(common.out, names, all);
    if (written) {
      written =
          WriteFile(std::filesystem::path(common.out) / "versus.csv", bench::CompareCsv(names, compared));
    }
  }
  const auto curves = CurvesOf(all);
  const bench::ComparisonPage page = {.names = names,
                                      .command = options.bench.command,
                                      .conditions = conditions,
                                      .workloads = compared,
                                      .curves = curves,
                                      .notes = notes};
  if (written && !common.html.empty()) written = WriteFile(common.html, bench::ComparisonHtml(page));
  if (written && !options.markdown.empty()) {
    written = WriteFile(options.markdown, bench::ComparisonMarkdown(page));
  }
  if (!written) return refuse(written.error().message);
  const bool failed =
      std::ranges::any_of(notes, [](const std::string& note) { return note.starts_with("failed"); });
  return FinishCommand(out, progress, failed);
}

int RunBenchCompare(const CompareCommandOptions& options, std::ostream& out, std::ostream& errors) {
  const auto refuse = [&](const std::string& why) {
    fmt::print(errors, "berth bench compare: {}\n", why);
    return 2;
  };
  std::array<std::vector<bench::DataItem>, 2> sides;
  const bench::SideNames files = {options.first, options.second};
  for (std::size_t side = 0; side < 2; ++side) {
    const auto text = base::ReadFile(files[side]);
    if (!text) return refuse(text.error().message);
    auto items = bench::ParseDataItems(*text, files[side]);
    if (!items) return refuse(items.error().message);
    sides[side] = *std::move(items);
  }
  const auto compared = bench::CompareItems(sides[0], sides[1]);
  if (compared.empty()) return refuse("the files have no workload in common");
  const bench::SideNames names = {"A", "B"};
  fmt::print(out, "A: {}\nB: {}\n\n{}", files[0], files[1], bench::CompareTable(names, compared));
  if (options.wide) fmt::print(out, "\n{}", bench::CompareDetails(names, compared));
  base::Result<void> written;
  if (!options.csv.empty()) written = WriteFile(options.csv, bench::CompareCsv(names, compared));
  const bench::ComparisonPage page = {.names = names,
                                      .command = options.command,
                                      .conditions = {{"A", files[0]}, {"B", files[1]}},
                                      .workloads = compared};
  if (written && !options.html.empty()) written = WriteFile(options.html, bench::ComparisonHtml(page));
  if (written && !options.markdown.empty()) {
    written = WriteFile(options.markdown, bench::ComparisonMarkdown(page));
  }
  return written ? 0 : refuse(written.error().message);
}

}  // namespace berth::cli
