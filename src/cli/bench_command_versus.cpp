#include <algorithm>
#include <filesystem>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <ostream>
#include <thread>
#include <utility>

#include "cli/bench_command.h"
#include "cli/bench_command_setup.h"

#include "base/files.h"
#include "bench/compare.h"
#include "bench/html_report.h"
#include "bench/report.h"
#include "bench/versus.h"

// `berth bench versus` and `berth bench compare`.
namespace berth::cli {
namespace {

// The value of the first line of a file in /proc that begins so.
std::string ProcLine(const char* file, std::string_view beginning) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(beginning)) continue;
    const std::size_t start = line.find_first_not_of(": \t", beginning.size());
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return "unknown";
}

std::string Machine() {
  return fmt::format("{} processors, {}, {} of memory", std::thread::hardware_concurrency(),
                     ProcLine("/proc/cpuinfo", "model name"), ProcLine("/proc/meminfo", "MemTotal"));
}

std::string Limit(double rate) {
  return rate > 0 ? fmt::format("{:g} requests/s", rate) : std::string("unlimited");
}

std::string ServerText(const BenchOptions& options) {
  if (!options.kubeconfig.empty()) return "the API server of " + options.kubeconfig;
  if (!options.control_plane.empty()) return options.control_plane + ", new for each run";
  std::string text = "berth sandbox as a process of its own, new for each run, ";
  text += options.plain_http ? "plain HTTP" : "TLS";
  if (!options.faults.empty()) text += fmt::format(", faults {}", fmt::join(options.faults, " "));
  return text;
}

std::vector<std::pair<std::string, std::string>> Conditions(const VersusCommandOptions& options,
                                                            const bench::SchedulerChoice& own,
                                                            const bench::SchedulerChoice& peer) {
  const auto about = [](const bench::SchedulerChoice& choice) {
    std::string text = fmt::format("{}", fmt::join(choice.command, " "));
    if (!choice.config.empty()) text += " with " + choice.config.string();
    if (!choice.arguments.empty()) text += fmt::format(" {}", fmt::join(choice.arguments, " "));
    return text;
  };
  const BenchOptions& bench = options.bench;
  return {{own.name, about(own)},
          {peer.name, about(peer)},
          {"server", ServerText(bench)},
          {"schedulers", Limit(bench.scheduler_requests_per_second) + " each"},
          {"workload", Limit(bench.requests_per_second) +
                           (bench.precreate ? ", pods are there before the scheduler starts" : "")},
          {"seed", std::to_string(bench.seed)},
          {"rounds", fmt::format("{}, sides change places from round to round, {} warm-ups", options.rounds,
                                 options.warm_ups)},
          {"machine", Machine()},
          {"time", LocalTime()}};
}

// What the page draws over time: the first collection of each run that counts.
std::vector<bench::RateCurve> CurvesOf(const std::vector<bench::VersusWorkload>& workloads) {
  std::vector<bench::RateCurve> curves;
  for (const bench::VersusWorkload& workload : workloads) {
    for (std::size_t side = 0; side < 2; ++side) {
      for (const bench::WorkloadReport& run : workload.runs[side]) {
        for (const bench::Measurement& measured : run.measurements) {
          curves.push_back({workload.name + "/" + measured.name, side, measured.bound_per_tenth});
        }
      }
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
      notes.push_back(fmt::format("failed: {}: {}", workload.name, failure));
    }
  }
  return notes;
}

// The middle of the shares of the machine that others used in these runs.
std::string ForeignText(const std::vector<bench::VersusWorkload>& workloads) {
  std::vector<double> shares;
  for (const bench::VersusWorkload& workload : workloads) {
    for (const auto& side : workload.runs) {
      for (const bench::WorkloadReport& run : side) {
        if (run.foreign_share >= 0) shares.push_back(run.foreign_share * 100);
      }
    }
  }
  if (shares.empty()) return "unknown";
  const auto [least, most] = std::ranges::minmax(shares);
  return fmt::format("{:.0f} % of the machine (median of runs; {:.0f} to {:.0f})", bench::Median(shares),
                     least, most);
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
  bench::VersusOptions versus;
  versus.labels = bench::LabelFilter(common.label_filter);
  versus.selects = *selects;
  versus.run = RunOptionsOf(common);
  versus.rounds = options.rounds;
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
  auto conditions = Conditions(options, own, peer);
  conditions.emplace_back("others", ForeignText(all));
  for (const auto& [term, about] : conditions) fmt::print(out, "{:<14} {}\n", term + ":", about);
  fmt::print(out, "\n{}", bench::CompareTable(names, compared));
  for (const std::string& note : notes) fmt::print(out, "{}\n", note);
  base::Result<void> written;
  if (!common.out.empty()) {
    written = WriteSides(common.out, names, all);
    if (written) {
      written =
          WriteFile(std::filesystem::path(common.out) / "versus.csv", bench::CompareCsv(names, compared));
    }
  }
  if (written && !options.html.empty()) {
    const auto curves = CurvesOf(all);
    written = WriteFile(options.html, bench::ComparisonHtml({.names = names,
                                                             .conditions = conditions,
                                                             .workloads = compared,
                                                             .curves = curves,
                                                             .notes = notes}));
  }
  if (!written) return refuse(written.error().message);
  if (IsInterrupted()) fmt::print(progress, "interrupted: these are the results so far\n");
  const bool failed =
      std::ranges::any_of(notes, [](const std::string& note) { return note.starts_with("failed"); });
  return failed || IsInterrupted() ? 1 : 0;
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
  base::Result<void> written;
  if (!options.csv.empty()) written = WriteFile(options.csv, bench::CompareCsv(names, compared));
  if (written && !options.html.empty()) {
    written = WriteFile(options.html, bench::ComparisonHtml({.names = names,
                                                             .conditions = {{"A", files[0]}, {"B", files[1]}},
                                                             .workloads = compared}));
  }
  return written ? 0 : refuse(written.error().message);
}

}  // namespace berth::cli
