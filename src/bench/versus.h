#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "bench/compare.h"
#include "bench/suite.h"
#include "bench/workload_file.h"

namespace berth::bench {

// One run of one side in one round.
struct Turn {
  std::size_t round = 0;
  std::size_t side = 0;

  bool operator==(const Turn&) const = default;
};

// Each round has a turn of both sides, and who begins changes from round to round: A B, B A, A B, ... What
// drifts while this runs (a warmer machine, a neighbour) so meets both alike.
std::vector<Turn> TurnsOf(std::size_t rounds);

struct Contender {
  std::string name;
  ClusterMaker make_cluster;
};

struct VersusOptions {
  LabelFilter labels{"performance"};
  std::function<bool(const std::string& name)> selects = [](const std::string&) { return true; };
  RunOptions run;
  std::size_t rounds = 3;
  // Runs of each side before those that count.
  std::size_t warm_ups = 0;
  std::function<void(const std::string& name, const std::string& side, const std::string& round)> on_start;
  std::function<void(const WorkloadReport& report)> on_end;
};

// A workload and all its runs.
struct VersusWorkload {
  std::string name;
  // Why it did not run on either side; empty: it did.
  std::vector<std::string> missing;
  std::array<std::vector<WorkloadReport>, 2> runs;  // by side, in the order of the rounds

  // The items of a side, from rounds that both sides passed: only those are pairs.
  std::vector<DataItem> ItemsOfPairs(std::size_t side) const;
  // "kube-scheduler, round 2: op 3: ..."
  std::vector<std::string> Failures(const SideNames& names) const;
};

// Every selected workload of the file, round by round. Ends early when it is interrupted.
std::vector<VersusWorkload> RunVersus(const WorkloadFile& file, const std::array<Contender, 2>& sides,
                                      const VersusOptions& options);

// All that could be compared.
std::vector<ComparedWorkload> CompareRuns(const std::vector<VersusWorkload>& workloads);

}  // namespace berth::bench
