#include "bench/suite.h"

#include <utility>

#include "base/clock.h"
#include "bench/core_cluster.h"
#include "bench/requirements.h"

namespace berth::bench {
namespace {

void RunOn(const WorkloadFile& file, const TestCase& test_case, const Workload& workload,
           const RunOptions& options, WorkloadReport& report) {
  const auto fail = [&](std::string why) {
    report.outcome = Outcome::kFailed;
    report.reasons.push_back(std::move(why));
  };
  const auto features = FeaturesFor(workload.gates);
  if (!features) return fail(features.error().message);
  CoreClusterOptions cluster_options;
  cluster_options.scheduler.features = *features;
  cluster_options.seed = options.seed;
  cluster_options.processor_time = ThreadProcessorTime;
  cluster_options.reading_cost = ThreadProcessorTimeCost();
  const auto cluster = CoreCluster::Make(cluster_options);
  if (!cluster) return fail(cluster.error().message);
  RunResults results = Runner(file, test_case, workload, **cluster, options).Run();
  report.measurements = std::move(results.measurements);
  report.items = std::move(results.items);
  for (std::string& failure : results.failures) fail(std::move(failure));
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

std::vector<WorkloadReport> RunSuite(const WorkloadFile& file, const SuiteOptions& options) {
  const base::RealClock clock;
  std::vector<WorkloadReport> reports;
  for (const TestCase& test_case : file.test_cases) {
    for (const Workload& workload : test_case.workloads) {
      WorkloadReport report{.test_case = test_case.name,
                            .workload = workload.name,
                            .reasons = {},
                            .measurements = {},
                            .items = {}};
      if (!options.labels.Accepts(workload.labels) || !options.selects(report.name())) continue;
      if (options.run.is_interrupted()) return reports;
      report.reasons = MissingFor(file, test_case, workload);
      if (!report.reasons.empty()) {
        report.outcome = Outcome::kNotSupported;
      } else {
        options.on_start(report.name());
        const base::TimePoint start = clock.Now();
        RunOn(file, test_case, workload, options.run, report);
        report.wall_seconds = std::chrono::duration<double>(clock.Now() - start).count();
      }
      options.on_end(report);
      reports.push_back(std::move(report));
    }
  }
  return reports;
}

}  // namespace berth::bench
