#include "bench/versus.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "bench/requirements.h"

namespace berth::bench {
namespace {

VersusWorkload RunRounds(const WorkloadFile& file, const TestCase& test_case, const Workload& workload,
                         const std::array<Contender, 2>& sides, const VersusOptions& options) {
  VersusWorkload result{.name = test_case.name + "/" + workload.name,
                        .missing = MissingFor(file, test_case, workload, options.run.abilities),
                        .runs = {}};
  if (!result.missing.empty()) return result;
  const auto run = [&](std::size_t side, const std::string& round) {
    options.on_start(result.name, sides[side].name, round);
    WorkloadReport report = RunWorkload(file, test_case, workload, sides[side].make_cluster, options.run);
    options.on_end(report);
    return report;
  };
  for (std::size_t i = 0; i < options.warm_ups; ++i) {
    for (std::size_t side = 0; side < 2 && !options.run.is_interrupted(); ++side) run(side, "warm-up");
  }
  for (const Turn turn : TurnsOf(options.rounds)) {
    if (options.run.is_interrupted()) break;
    result.runs[turn.side].push_back(
        run(turn.side, fmt::format("round {} of {}", turn.round + 1, options.rounds)));
  }
  return result;
}

}  // namespace

std::vector<Turn> TurnsOf(std::size_t rounds) {
  std::vector<Turn> turns;
  for (std::size_t round = 0; round < rounds; ++round) {
    turns.push_back({round, round % 2});
    turns.push_back({round, 1 - round % 2});
  }
  return turns;
}

std::vector<DataItem> VersusWorkload::ItemsOfPairs(std::size_t side) const {
  std::vector<DataItem> items;
  for (std::size_t round = 0; round < std::min(runs[0].size(), runs[1].size()); ++round) {
    if (runs[0][round].outcome != Outcome::kPassed || runs[1][round].outcome != Outcome::kPassed) continue;
    std::ranges::copy(runs[side][round].items, std::back_inserter(items));
  }
  return items;
}

std::vector<std::string> VersusWorkload::Failures(const SideNames& names) const {
  std::vector<std::string> failures;
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t round = 0; round < runs[side].size(); ++round) {
      for (const std::string& reason : runs[side][round].reasons) {
        failures.push_back(fmt::format("{}, round {}: {}", names[side], round + 1, reason));
      }
    }
  }
  return failures;
}

std::vector<VersusWorkload> RunVersus(const WorkloadFile& file, const std::array<Contender, 2>& sides,
                                      const VersusOptions& options) {
  std::vector<VersusWorkload> results;
  for (const TestCase& test_case : file.test_cases) {
    for (const Workload& workload : test_case.workloads) {
      if (!options.labels.Accepts(workload.labels)) continue;
      if (!options.selects(test_case.name + "/" + workload.name)) continue;
      if (options.run.is_interrupted()) return results;
      results.push_back(RunRounds(file, test_case, workload, sides, options));
    }
  }
  return results;
}

std::vector<ComparedWorkload> CompareRuns(const std::vector<VersusWorkload>& workloads) {
  std::vector<ComparedWorkload> compared;
  for (const VersusWorkload& workload : workloads) {
    auto one = CompareItems(workload.ItemsOfPairs(0), workload.ItemsOfPairs(1));
    std::ranges::move(one, std::back_inserter(compared));
  }
  return compared;
}

}  // namespace berth::bench
