#include "bench/workload_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/files.h"
#include "bench/field_reader.h"
#include "wire/json_document.h"
#include "wire/yaml.h"

namespace berth::bench {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

// Kubernetes files results under the name of the Go package that runs a file, which is not always that of
// its folder.
std::string TopicOf(const fs::path& path) {
  std::string folders;
  for (const fs::path& part : fs::absolute(path).parent_path()) {
    if (part == "dra") folders.clear();
    folders = folders.empty() ? part.string() : folders + "/" + part.string();
  }
  if (folders == "dra" || folders.starts_with("dra/")) {
    std::ranges::replace(folders, '/', '_');
    return folders;
  }
  std::string last = fs::absolute(path).parent_path().filename().string();
  if (last == "event_handling" || last == "topology_spreading" || last == "workload_preemption") {
    std::erase(last, '_');
  }
  return last;
}

base::Result<MetricSelector> ParseSelector(const json::value& value) {
  MetricSelector selector;
  selector.name.clear();
  selector.data_bucket.clear();
  FieldReader fields(value);
  fields.Read("name", selector.name);
  fields.Read("labels", selector.labels);
  fields.Read("dataBucket", selector.data_bucket);
  fields.Read("expectLower", selector.expect_lower);
  if (auto finished = fields.Finish(); !finished) return std::unexpected(std::move(finished.error()));
  return selector;
}

base::Result<CollectedMetrics> ParseMetrics(const json::value& value) {
  CollectedMetrics metrics;
  FieldReader fields(value);
  json::object by_name;
  fields.Read("metrics", by_name);
  if (auto finished = fields.Finish(); !finished) return std::unexpected(std::move(finished.error()));
  for (const auto& [name, labels] : by_name) {
    LabelValues& values = metrics[name];
    if (labels.is_null()) continue;
    if (!labels.is_array())
      return base::Fail(fmt::format("metric {}: expected a list", std::string_view(name)));
    for (const json::value& entry : labels.as_array()) {
      FieldReader entry_fields(entry);
      std::string label;
      std::vector<std::string> wanted;
      entry_fields.Read("label", label);
      entry_fields.Read("values", wanted);
      if (auto finished = entry_fields.Finish(); !finished) {
        return base::Fail(fmt::format("metric {}: {}", std::string_view(name), finished.error().message));
      }
      values.emplace(std::move(label), std::move(wanted));
    }
  }
  return metrics;
}

// What a test case says for all of its workloads.
struct Shared {
  Gates gates;
  std::vector<std::string> labels;
  MetricSelector selector;
};

base::Result<Workload> ParseWorkload(const json::value& value, const Shared& shared,
                                     const TestCase& test_case, std::string_view topic) {
  Workload workload;
  workload.gates = shared.gates;
  workload.selector = shared.selector;
  FieldReader fields(value);
  fields.Read("name", workload.name);
  const auto fail = [&](const std::string& why) {
    return base::Fail(fmt::format("workload \"{}\": {}", workload.name, why));
  };
  const char* selector_field = "defaultThresholdMetricSelector";
  fields.Read("params", workload.params);
  workload.labels = shared.labels;
  std::vector<std::string> labels;
  fields.Read("labels", labels);
  workload.labels.insert(workload.labels.end(), labels.begin(), labels.end());
  Gates gates;
  fields.Read("featureGates", gates);
  for (const auto& [gate, enabled] : gates) workload.gates[gate] = enabled;
  if (const json::value* const threshold = fields.Take("threshold")) {
    auto parsed = Threshold::Parse(*threshold);
    if (!parsed) {
      fields.Refuse("threshold", parsed.error().message);
    } else if (auto valid = parsed->Validate(topic); !valid) {
      fields.Refuse("threshold", valid.error().message);
    } else {
      workload.threshold = *std::move(parsed);
    }
  }
  if (const json::value* const selector = fields.Take("thresholdMetricSelector")) {
    selector_field = "thresholdMetricSelector";
    auto parsed = ParseSelector(*selector);
    if (parsed) {
      workload.selector = *std::move(parsed);
    } else {
      fields.Refuse("thresholdMetricSelector", parsed.error().message);
    }
  }
  if (auto finished = fields.Finish(); !finished) return fail(finished.error().message);
  if (auto valid = workload.selector.Validate(test_case.metrics); !valid) {
    return fail(FailIn(selector_field, valid.error().message).error().message);
  }
  return workload;
}

base::Result<void> ParseOperations(const json::value& value, TestCase& test_case) {
  if (!value.is_array()) return FailIn("workloadTemplate", "expected a list");
  for (const json::value& one : value.as_array()) {
    auto operation = ParseOperation(one);
    if (!operation) {
      const json::value* const opcode = one.is_object() ? one.as_object().if_contains("opcode") : nullptr;
      return base::Fail(fmt::format("op {} ({}): {}", test_case.operations.size(),
                                    opcode != nullptr ? TextOf(*opcode).value_or("?") : "?",
                                    operation.error().message));
    }
    test_case.operations.push_back(*std::move(operation));
  }
  return {};
}

base::Result<void> ParseWorkloads(const json::value& value, const Shared& shared, std::string_view topic,
                                  TestCase& test_case) {
  if (!value.is_array()) return FailIn("workloads", "expected a list");
  std::set<std::string> names;
  for (const json::value& one : value.as_array()) {
    auto workload = ParseWorkload(one, shared, test_case, topic);
    if (!workload) return std::unexpected(std::move(workload.error()));
    if (!names.insert(workload->name).second) {
      return base::Fail(
          fmt::format("workload \"{0}\": field \"name\": workload name {0} is not unique", workload->name));
    }
    test_case.workloads.push_back(*std::move(workload));
  }
  return {};
}

base::Result<TestCase> ParseTestCase(const json::value& value, std::size_t index, std::string_view topic) {
  TestCase test_case;
  FieldReader fields(value);
  fields.Read("name", test_case.name);
  const auto fail = [&](const std::string& why) {
    const std::string name =
        test_case.name.empty() ? fmt::format("test case {}, which has no name", index) : test_case.name;
    return base::Fail(name + ": " + why);
  };
  const auto fail_in = [&](std::string_view field, std::string_view why) {
    return fail(FailIn(field, why).error().message);
  };
  Shared shared;
  fields.Read("featureGates", shared.gates);
  fields.Read("labels", shared.labels);
  fields.Read("schedulerConfigPath", test_case.scheduler_config_path);
  fields.Read("defaultPodTemplatePath", test_case.pod_template_path);
  test_case.metrics = DefaultMetrics();
  if (const json::value* const metrics = fields.Take("metricsCollectorConfig")) {
    auto parsed = ParseMetrics(*metrics);
    if (!parsed) return fail_in("metricsCollectorConfig", parsed.error().message);
    test_case.metrics = *std::move(parsed);
  }
  if (const json::value* const selector = fields.Take("defaultThresholdMetricSelector")) {
    auto parsed = ParseSelector(*selector);
    if (!parsed) return fail_in("defaultThresholdMetricSelector", parsed.error().message);
    shared.selector = *std::move(parsed);
  }
  const json::value* const operations = fields.Take("workloadTemplate");
  const json::value* const workloads = fields.Take("workloads");
  if (auto finished = fields.Finish(); !finished) return fail(finished.error().message);
  if (operations != nullptr) {
    if (auto parsed = ParseOperations(*operations, test_case); !parsed) return fail(parsed.error().message);
  }
  if (workloads != nullptr) {
    auto parsed = ParseWorkloads(*workloads, shared, topic, test_case);
    if (!parsed) return fail(parsed.error().message);
  }
  if (test_case.workloads.empty()) return fail_in("workloads", "no workloads defined");
  if (test_case.operations.empty()) return fail_in("workloadTemplate", "no ops defined");
  if (std::ranges::none_of(test_case.operations, CollectsMetrics)) {
    return fail_in("workloadTemplate", "no op in the workload template collects metrics");
  }
  return test_case;
}

base::Result<void> ParseTestCases(std::string_view text, WorkloadFile& file) {
  auto document = wire::YamlToJson(text, {.unique_keys = true});
  if (!document) return std::unexpected(std::move(document.error()));
  const auto value = wire::ParseJson(*document);
  if (!value) return std::unexpected(value.error());
  if (!value->is_array() || value->as_array().empty()) return base::Fail("no test cases defined");
  std::set<std::string> names;
  for (const json::value& one : value->as_array()) {
    auto test_case = ParseTestCase(one, file.test_cases.size(), file.topic);
    if (!test_case) return std::unexpected(std::move(test_case.error()));
    if (!names.insert(test_case->name).second) {
      return base::Fail(test_case->name + ": field \"name\": name is not unique");
    }
    file.test_cases.push_back(*std::move(test_case));
  }
  return {};
}

}  // namespace

base::Result<WorkloadFile> ParseWorkloadFile(const fs::path& path, std::string_view text) {
  WorkloadFile file{.path = path, .topic = TopicOf(path), .test_cases = {}};
  if (auto parsed = ParseTestCases(text, file); !parsed) {
    return base::Fail(fmt::format("{}: {}", path.string(), parsed.error().message));
  }
  return file;
}

base::Result<WorkloadFile> LoadWorkloadFile(const fs::path& path) {
  auto text = base::ReadFile(path);
  if (!text) return std::unexpected(std::move(text.error()));
  return ParseWorkloadFile(path, *text);
}

}  // namespace berth::bench
