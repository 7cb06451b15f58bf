#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/label_filter.h"
#include "bench/runner.h"
#include "bench/workload_file.h"

namespace berth::bench {

enum class Outcome : std::uint8_t { kPassed, kFailed, kNotSupported };

std::string_view OutcomeText(Outcome outcome);

struct WorkloadReport {
  std::string test_case;
  std::string workload;
  Outcome outcome = Outcome::kPassed;
  // What is missing, or why it failed: file, test case, workload, operation, field and what is wrong.
  std::vector<std::string> reasons;
  std::vector<Measurement> measurements;
  std::vector<DataItem> items;
  std::size_t round = 1;
  double wall_seconds = 0;  // of the whole run, everything included
  // The share of the machine that others used meanwhile, 0 to 1; below 0: unknown.
  double foreign_share = -1;

  std::string name() const { return test_case + "/" + workload; }
};

// A new cluster for a workload.
using ClusterMaker = std::function<base::Result<std::unique_ptr<TestCluster>>(
    const WorkloadFile& file, const TestCase& test_case, const Workload& workload,
    const RunOptions& options)>;

// The core alone, in this process.
base::Result<std::unique_ptr<TestCluster>> MakeCoreCluster(const WorkloadFile& file,
                                                           const TestCase& test_case,
                                                           const Workload& workload,
                                                           const RunOptions& options);

struct SuiteOptions {
  ClusterMaker make_cluster = MakeCoreCluster;
  LabelFilter labels{"performance"};
  // Whether to run the workload of this name: "case/workload".
  std::function<bool(const std::string& name)> selects = [](const std::string&) { return true; };
  RunOptions run;
  std::size_t rounds = 1;  // how often each runs
  // Called before and after each workload that is run.
  std::function<void(const std::string& name)> on_start = [](const std::string&) {};
  std::function<void(const WorkloadReport& report)> on_end = [](const WorkloadReport&) {};
};

// One workload on a new cluster, or why it cannot run.
WorkloadReport RunWorkload(const WorkloadFile& file, const TestCase& test_case, const Workload& workload,
                           const ClusterMaker& make_cluster, const RunOptions& options);

// What RunSuite would run, and what it would say is missing, without running anything.
struct ListedWorkload {
  std::string name;  // "case/workload"
  std::vector<std::string> labels;
  std::vector<std::string> missing;  // empty: it can run
};
std::vector<ListedWorkload> ListSuite(const WorkloadFile& file, const SuiteOptions& options);

// The workloads of a file that are selected, one after another, each on a new cluster.
std::vector<WorkloadReport> RunSuite(const WorkloadFile& file, const SuiteOptions& options);

}  // namespace berth::bench
