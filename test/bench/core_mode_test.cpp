#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "bench/child_process.h"
#include "bench/core_cluster.h"
#include "bench/report.h"
#include "bench/requirements.h"
#include "bench/suite.h"
#include "sandbox/document.h"

// What the core needs of a control plane beyond pods and nodes: devices, volumes, configuration files.
namespace berth::bench {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CoreModeTest : public testing::Test {
 protected:
  CoreModeTest() : folder_(*TemporaryFolder::Make()) {
    Write("pod.yaml", "metadata: {generateName: p-}\nspec: {containers: [{name: c, image: i}]}\n");
    Write("device-class.yaml",
          "apiVersion: resource.k8s.io/v1beta2\nkind: DeviceClass\nmetadata: {name: gpu}\n"
          "spec: {selectors: [{cel: {expression: device.driver == \"d\"}}]}\n");
    Write("claim.yaml",
          "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: mine}\n"
          "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n");
    Write("claiming-pod.yaml",
          "metadata: {name: user}\nspec: {resourceClaims: [{name: c, resourceClaimName: mine}], "
          "containers: [{name: c, image: i, resources: {claims: [{name: c}]}}]}\n");
    Write("node.yaml", "metadata: {name: node-1}\nstatus: {capacity: {cpu: 8, pods: 50}}\n");
    Write("slice.yaml",
          "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
          "spec: {driver: d, nodeName: node-1, pool: {name: node-1, generation: 1, resourceSliceCount: 1}, "
          "devices: [{name: card}]}\n");
  }

  void Write(const char* name, const char* text) { std::ofstream(folder_.path() / name) << text; }

  WorkloadFile FileOf(const std::string& operations, const std::string& more = "") {
    auto file = ParseWorkloadFile(
        folder_.path() / "performance-config.yaml",
        "- name: Case\n" + more + "  workloadTemplate:\n" + operations + "\n  workloads:\n  - name: W\n");
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return *std::move(file);
  }

  // The claim "mine" of the namespace x when all operations are done.
  static std::optional<json::object> ClaimAfter(const WorkloadFile& file) {
    const TestCase& test_case = file.test_cases[0];
    EXPECT_THAT(MissingFor(file, test_case, test_case.workloads[0]), IsEmpty());
    const auto cluster = MakeCoreCluster(file, test_case, test_case.workloads[0], {});
    if (!cluster.has_value()) {
      ADD_FAILURE() << cluster.error().message;
      return std::nullopt;
    }
    const RunResults results = Runner(file, test_case, test_case.workloads[0], **cluster, {}).Run();
    EXPECT_THAT(results.failures, IsEmpty());
    return (*cluster)->Get({.resource = &sandbox::ResourceOf("resource.k8s.io/v1", "ResourceClaim"),
                            .namespace_name = "x",
                            .name = "mine"});
  }

  TemporaryFolder folder_;
};

TEST_F(CoreModeTest, AClaimIsAllocatedByARequest) {
  const WorkloadFile file = FileOf(
      "  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createAny, templatePath: device-class.yaml}\n"
      "  - {opcode: createAny, templatePath: slice.yaml}\n"
      "  - {opcode: allocResourceClaims, namespace: x}\n"
      "  - {opcode: createAny, templatePath: claim.yaml, namespace: x}\n"
      "  - {opcode: createPods, count: 1, namespace: x, podTemplatePath: claiming-pod.yaml, collectMetrics: "
      "true}");
  const auto claim = ClaimAfter(file);
  ASSERT_TRUE(claim.has_value());
  EXPECT_NE(sandbox::FindObject(*claim, {"status", "allocation"}), nullptr);
  const json::array* const users = sandbox::FindArray(*claim, {"status", "reservedFor"});
  ASSERT_NE(users, nullptr);
  EXPECT_EQ(sandbox::TextAt(users->at(0).as_object(), {"name"}), "user");
}

TEST_F(CoreModeTest, TheWorkloadAllocatesClaimsItself) {
  const WorkloadFile file = FileOf(
      "  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createAny, templatePath: device-class.yaml}\n"
      "  - {opcode: createAny, templatePath: slice.yaml}\n"
      "  - {opcode: createAny, templatePath: claim.yaml, namespace: x}\n"
      "  - {opcode: allocResourceClaims, namespace: x}\n"
      "  - {opcode: createPods, count: 1, podTemplatePath: pod.yaml, collectMetrics: true}");
  const auto claim = ClaimAfter(file);
  ASSERT_TRUE(claim.has_value());
  EXPECT_NE(sandbox::FindObject(*claim, {"status", "allocation"}), nullptr);
  EXPECT_EQ(sandbox::FindArray(*claim, {"status", "reservedFor"}), nullptr);
}

// Devices that only a feature of the workload makes visible.
TEST_F(CoreModeTest, ClaimsAreAllocatedWithTheGatesOfTheWorkload) {
  Write("counters.yaml",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: counters}\n"
        "spec: {driver: d, nodeName: node-1, pool: {name: node-1, generation: 1, resourceSliceCount: 2}, "
        "sharedCounters: [{name: set, counters: {slots: {value: \"1\"}}}]}\n");
  Write("grouped.yaml",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: grouped}\n"
        "spec: {driver: d, nodeName: node-1, pool: {name: node-1, generation: 1, resourceSliceCount: 2}, "
        "devices: [{name: card, consumesCounters: [{counterSet: set, counters: {slots: {value: \"1\"}}, "
        "compatibilityGroups: [mig]}]}]}\n");
  const WorkloadFile file = FileOf(
      "  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createAny, templatePath: device-class.yaml}\n"
      "  - {opcode: createAny, templatePath: counters.yaml}\n"
      "  - {opcode: createAny, templatePath: grouped.yaml}\n"
      "  - {opcode: createAny, templatePath: claim.yaml, namespace: x}\n"
      "  - {opcode: allocResourceClaims, namespace: x}\n"
      "  - {opcode: createPods, count: 1, podTemplatePath: pod.yaml, collectMetrics: true}",
      "  featureGates: {DRAPartitionableDevices: true, DRADeviceCompatibilityGroups: true}\n");
  const auto claim = ClaimAfter(file);
  ASSERT_TRUE(claim.has_value());
  EXPECT_NE(sandbox::FindObject(*claim, {"status", "allocation"}), nullptr);
}

TEST_F(CoreModeTest, AConfigurationFileIsObeyed) {
  Write("config.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: other}]\n");
  const std::string operations =
      "  - {opcode: createNodes, count: 1}\n"
      "  - {opcode: createPods, count: 1, podTemplatePath: pod.yaml, skipWaitToCompletion: true}\n"
      "  - {opcode: sleep, duration: 1s}\n"
      "  - {opcode: startCollectingMetrics, namespaces: [namespace-1]}\n"
      "  - {opcode: stopCollectingMetrics}";
  const auto bound_with = [&](const std::string& more) {
    const WorkloadFile file = FileOf(operations, more);
    const TestCase& test_case = file.test_cases[0];
    EXPECT_THAT(MissingFor(file, test_case, test_case.workloads[0]), IsEmpty());
    const auto cluster = MakeCoreCluster(file, test_case, test_case.workloads[0], {});
    EXPECT_TRUE(cluster.has_value()) << cluster.error().message;
    Runner runner(file, test_case, test_case.workloads[0], **cluster, {});
    EXPECT_THAT(runner.Run().failures, IsEmpty());
    return runner.ledger().CountBound("namespace-1", {});
  };
  EXPECT_EQ(bound_with(""), 1);
  // The pod asks for default-scheduler, which is not there any more.
  EXPECT_EQ(bound_with("  schedulerConfigPath: config.yaml\n"), 0);
}

// A workload of upstream's nodedeclaredfeatures, which is told by its folder.
TEST_F(CoreModeTest, FeaturesThatNoReleaseKnowsAreMadeUp) {
  std::filesystem::create_directory(folder_.path() / "nodedeclaredfeatures");
  Write("nodedeclaredfeatures/pod.yaml",
        "metadata: {generateName: p-}\n"
        "spec: {resources: {requests: {cpu: 1m}}, containers: [{name: c, image: i}]}\n");
  const auto parse = [&](const std::string& features) {
    auto file = ParseWorkloadFile(
        folder_.path() / "nodedeclaredfeatures" / "performance-config.yaml",
        "- name: Case\n  workloadTemplate:\n  - {opcode: createNodes, count: 2}\n"
        "  - {opcode: createPods, count: 3, podTemplatePath: pod.yaml, collectMetrics: true}\n  workloads:\n"
        "  - {name: W, featureGates: {NodeDeclaredFeatures: true}, params: {numNodeDeclaredFeatures: " +
            features + "}}\n");
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return *std::move(file);
  };
  const WorkloadFile file = parse("11");
  const TestCase& test_case = file.test_cases[0];
  const Workload& workload = test_case.workloads[0];
  EXPECT_THAT(MissingFor(file, test_case, workload), IsEmpty());
  EXPECT_THAT(MissingFor(file, test_case, workload, {.makes_up_node_features = false}),
              ElementsAre(HasSubstr("no release knows")));
  const auto cluster = MakeCoreCluster(file, test_case, workload, {});
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  Runner runner(file, test_case, workload, **cluster, {});
  EXPECT_THAT(runner.Run().failures, IsEmpty());
  EXPECT_EQ(runner.ledger().CountBound("namespace-1", {}), 3);
  const auto node = (*cluster)->Get(
      {.resource = &sandbox::ResourceOf("v1", "Node"), .name = (*cluster)->NodeNames().front()});
  const json::array* const declared = sandbox::FindArray(*node, {"status", "declaredFeatures"});
  ASSERT_NE(declared, nullptr);
  EXPECT_EQ(declared->size(), 11);
  EXPECT_EQ((*declared)[1], "Feature10");
  EXPECT_EQ((*declared)[3], "Feature2");

  const WorkloadFile too_many = parse("1000");
  const auto refused =
      MakeCoreCluster(too_many, too_many.test_cases[0], too_many.test_cases[0].workloads[0], {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("numNodeDeclaredFeatures is 1000"));
}

TEST_F(CoreModeTest, EachRoundIsALine) {
  const WorkloadFile file =
      FileOf("  - {opcode: createNodes, count: 1}\n  - {opcode: createPods, count: 3, collectMetrics: true}");
  SuiteOptions options;
  options.labels = LabelFilter("");
  options.rounds = 2;
  auto reports = RunSuite(file, options);
  ASSERT_EQ(reports.size(), 2);
  EXPECT_EQ(reports[1].round, 2);
  EXPECT_THAT(TableText(reports), HasSubstr(reports[0].name() + " (round 2)"));
  // One that measured nothing has as many fields as the others.
  reports[0].measurements.clear();
  std::istringstream lines(CsvText(reports));
  std::string head;
  std::getline(lines, head);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(head, ',')) << line;
  }
}

// Three pods of one attempt each are measured. The two that no node has room for were tried before that.
TEST_F(CoreModeTest, AttemptsAreThoseOfTheMeasuredPart) {
  Write("large-pod.yaml",
        "metadata: {generateName: l-}\n"
        "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100}}}]}\n");
  const WorkloadFile file = FileOf(
      "  - {opcode: createNodes, count: 1}\n"
      "  - {opcode: createPods, count: 2, podTemplatePath: large-pod.yaml, skipWaitToCompletion: true}\n"
      "  - {opcode: sleep, duration: 1s}\n"
      "  - {opcode: startCollectingMetrics, namespaces: [x]}\n"
      "  - {opcode: createPods, count: 3, namespace: x, podTemplatePath: pod.yaml}\n"
      "  - {opcode: stopCollectingMetrics}");
  SuiteOptions options;
  options.labels = LabelFilter("");
  const auto reports = RunSuite(file, options);
  ASSERT_EQ(reports.size(), 1);
  ASSERT_EQ(reports[0].measurements.size(), 1);
  EXPECT_EQ(reports[0].measurements[0].pods, 3);
  EXPECT_EQ(reports[0].measurements[0].attempts_per_pod, 1);
  const auto item = std::ranges::find_if(reports[0].items, [](const DataItem& each) {
    const auto metric = each.labels.find("Metric");
    return metric != each.labels.end() && metric->second == kAttemptsMetric;
  });
  ASSERT_NE(item, reports[0].items.end());
  EXPECT_EQ(item->unit, "attempts");
  EXPECT_THAT(item->data, ElementsAre(testing::Pair("PerPod", 1), testing::Pair("Total", 3)));
}

TEST_F(CoreModeTest, ABadConfigurationFileIsNamed) {
  Write("config.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: -1\n");
  const WorkloadFile file = FileOf("  - {opcode: createPods, count: 1, collectMetrics: true}",
                                   "  schedulerConfigPath: config.yaml\n");
  const WorkloadReport report =
      RunWorkload(file, file.test_cases[0], file.test_cases[0].workloads[0], MakeCoreCluster, {});
  EXPECT_EQ(report.outcome, Outcome::kFailed);
  EXPECT_THAT(report.reasons,
              ElementsAre(testing::AllOf(HasSubstr("config.yaml: "), HasSubstr("parallelism"))));
}

}  // namespace
}  // namespace berth::bench
