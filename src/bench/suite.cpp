#include "bench/suite.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "base/clock.h"
#include "bench/core_cluster.h"
#include "bench/core_config.h"
#include "bench/field_reader.h"
#include "bench/process_stats.h"
#include "bench/remote_cluster.h"
#include "bench/requirements.h"

namespace berth::bench {
namespace {

double InSeconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

// How much of the machine others use while something runs.
class ForeignLoad {
 public:
  ForeignLoad() : machine_(ReadMachineTime()), own_(ProcessorTimeOf(::getpid())) {}

  // `children`: what processes have used that this one started since, and that still run.
  double Share(base::Duration children) const {
    const MachineTime now = ReadMachineTime();
    const base::Duration total = now.total - machine_.total;
    if (total.count() <= 0) return -1;
    const base::Duration own = ProcessorTimeOf(::getpid()) - own_ + children;
    return std::clamp(InSeconds(now.busy - machine_.busy - own) / InSeconds(total), 0.0, 1.0);
  }

 private:
  const MachineTime machine_;
  const base::Duration own_;
};

void RunOn(const WorkloadFile& file, const TestCase& test_case, const Workload& workload,
           const ClusterMaker& make_cluster, const RunOptions& options, WorkloadReport& report) {
  const auto fail = [&](const std::string& why) {
    report.outcome = Outcome::kFailed;
    report.reasons.push_back(
        fmt::format("{}: {}: workload \"{}\": {}", file.path.string(), test_case.name, workload.name, why));
  };
  const ForeignLoad load;
  const auto cluster = make_cluster(file, test_case, workload, options);
  if (!cluster) return fail(cluster.error().message);
  RunResults results = Runner(file, test_case, workload, **cluster, options).Run();
  const auto* const remote = dynamic_cast<const RemoteCluster*>(cluster->get());
  report.foreign_share = load.Share(remote != nullptr ? remote->ProcessorTimeOfAll() : base::Duration());
  report.measurements = std::move(results.measurements);
  report.items = std::move(results.items);
  for (const std::string& failure : results.failures) fail(failure);
}

std::string NameOf(const TestCase& test_case, const Workload& workload) {
  return test_case.name + "/" + workload.name;
}

bool IsSelected(const TestCase& test_case, const Workload& workload, const SuiteOptions& options) {
  return options.labels.Accepts(workload.labels) && options.selects(NameOf(test_case, workload));
}

}  // namespace

std::string_view OutcomeText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kNotSupported:
      return "not supported";
  }
  std::unreachable();
}

base::Result<std::unique_ptr<TestCluster>> MakeCoreCluster(const WorkloadFile& file,
                                                           const TestCase& test_case,
                                                           const Workload& workload,
                                                           const RunOptions& options) {
  const auto features = FeaturesFor(workload.gates);
  if (!features) return std::unexpected(features.error());
  const std::string& config = test_case.scheduler_config_path;
  auto scheduler =
      CoreOptionsFrom(config.empty() ? std::filesystem::path() : file.folder() / config, *features);
  if (!scheduler) return FailIn("schedulerConfigPath", scheduler.error().message);
  Params params(workload.params);
  const auto made_up = MadeUpNodeFeatures(file, workload, params);
  if (!made_up) return std::unexpected(made_up.error());
  scheduler->made_up_node_features = *made_up;
  CoreClusterOptions cluster_options;
  cluster_options.scheduler = *std::move(scheduler);
  cluster_options.seed = options.seed;
  cluster_options.processor_time = ThreadProcessorTime;
  cluster_options.reading_cost = ThreadProcessorTimeCost();
  return CoreCluster::Make(cluster_options);
}

WorkloadReport RunWorkload(const WorkloadFile& file, const TestCase& test_case, const Workload& workload,
                           const ClusterMaker& make_cluster, const RunOptions& options) {
  const base::RealClock clock;
  WorkloadReport report{.test_case = test_case.name,
                        .workload = workload.name,
                        .reasons = MissingFor(file, test_case, workload, options.abilities),
                        .measurements = {},
                        .items = {}};
  if (!report.reasons.empty()) {
    report.outcome = Outcome::kNotSupported;
    return report;
  }
  const base::TimePoint start = clock.Now();
  RunOn(file, test_case, workload, make_cluster, options, report);
  report.wall_seconds = InSeconds(clock.Now() - start);
  return report;
}

std::vector<ListedWorkload> ListSuite(const WorkloadFile& file, const SuiteOptions& options) {
  std::vector<ListedWorkload> listed;
  for (const TestCase& test_case : file.test_cases) {
    for (const Workload& workload : test_case.workloads) {
      if (!IsSelected(test_case, workload, options)) continue;
      listed.push_back({.name = NameOf(test_case, workload),
                        .labels = workload.labels,
                        .missing = MissingFor(file, test_case, workload, options.run.abilities)});
    }
  }
  return listed;
}

std::vector<WorkloadReport> RunSuite(const WorkloadFile& file, const SuiteOptions& options) {
  std::vector<WorkloadReport> reports;
  for (const TestCase& test_case : file.test_cases) {
    for (const Workload& workload : test_case.workloads) {
      if (!IsSelected(test_case, workload, options)) continue;
      for (std::size_t round = 1; round <= options.rounds; ++round) {
        if (options.run.is_interrupted()) return reports;
        options.on_start(NameOf(test_case, workload));
        reports.push_back(RunWorkload(file, test_case, workload, options.make_cluster, options.run));
        reports.back().round = round;
        options.on_end(reports.back());
        // That will not change.
        if (reports.back().outcome == Outcome::kNotSupported) break;
      }
    }
  }
  return reports;
}

}  // namespace berth::bench
