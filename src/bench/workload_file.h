#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/operations.h"
#include "bench/threshold.h"

namespace berth::bench {

using Gates = std::map<std::string, bool>;

struct Workload {
  std::string name;
  boost::json::object params;
  std::vector<std::string> labels;  // with those of the test case
  Gates gates;                      // over those of the test case
  Threshold threshold;
  MetricSelector selector;
};

struct TestCase {
  std::string name;
  CollectedMetrics metrics;
  std::vector<Operation> operations;
  std::vector<Workload> workloads;
  std::string scheduler_config_path;
  std::string pod_template_path;  // of pods that name none
};

// A file of scheduler_perf: test cases with operations, each to be run with the parameters of every workload.
struct WorkloadFile {
  std::filesystem::path path;
  std::string topic;  // what its results are filed under
  std::vector<TestCase> test_cases;

  // Where the paths in it begin.
  std::filesystem::path folder() const { return path.parent_path(); }
};

// Errors name the file, and the test case, workload or operation, and field.
base::Result<WorkloadFile> ParseWorkloadFile(const std::filesystem::path& path, std::string_view text);
base::Result<WorkloadFile> LoadWorkloadFile(const std::filesystem::path& path);

}  // namespace berth::bench
