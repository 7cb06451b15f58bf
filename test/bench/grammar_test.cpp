#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "bench/label_filter.h"
#include "bench/workload_file.h"

// The grammar of workload files: what is accepted, and what the error says.
namespace berth::bench {
namespace {

using testing::HasSubstr;

// A file with one test case, whose parts may be replaced.
std::string FileWith(const std::string& ops, const std::string& workload = "") {
  return "- name: Case\n  workloadTemplate:\n" + ops +
         "\n  workloads:\n  - name: W\n    params: {pods: 3}\n" + workload;
}

const std::string kMeasured = "  - {opcode: createPods, countParam: $pods, collectMetrics: true}\n";

std::string ErrorOf(const std::string& text) {
  const auto file = ParseWorkloadFile("misc/performance-config.yaml", text);
  return file ? "" : file.error().message;
}

struct BadFile {
  const char* name;
  std::string text;
  const char* error;  // how the message ends, behind the file's name
};
void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.name; }

class BadFiles : public testing::TestWithParam<BadFile> {};

// case 2, case 9, case 10
TEST_P(BadFiles, AreRefusedWithThePlace) {
  const std::string error = ErrorOf(GetParam().text);
  EXPECT_THAT(error, testing::StartsWith("misc/performance-config.yaml: "));
  EXPECT_THAT(error, HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, BadFiles,
    testing::Values(
        BadFile{"no cases", "[]", "no test cases defined"},
        BadFile{"no list", "name: x", "no test cases defined"},
        BadFile{"unknown field of an operation", FileWith(kMeasured + "  - {opcode: barrier, nodes: 1}"),
                "Case: op 1 (barrier): unknown field \"nodes\""},
        BadFile{"unknown field of a case", "- {name: Case, color: red}", "Case: unknown field \"color\""},
        BadFile{"unknown field of a workload", FileWith(kMeasured, "    size: 3"),
                "Case: workload \"W\": unknown field \"size\""},
        BadFile{"unknown field of a strategy",
                FileWith(kMeasured + "  - {opcode: createNodes, uniqueNodeLabelStrategy: {key: a}}"),
                "Case: op 1 (createNodes): field \"uniqueNodeLabelStrategy\": unknown field \"key\""},
        BadFile{"key twice", "- name: a\n  name: b\n", "name"},
        BadFile{"unknown opcode", FileWith(kMeasured + "  - {opcode: deleteNodes}"),
                "Case: op 1 (deleteNodes): field \"opcode\": unknown opcode \"deleteNodes\" in "
                "{\"opcode\":\"deleteNodes\"}"},
        BadFile{"workload twice", FileWith(kMeasured, "  - name: W"),
                "Case: workload \"W\": field \"name\": workload name W is not unique"},
        BadFile{"case twice", FileWith(kMeasured) + FileWith(kMeasured),
                "Case: field \"name\": name is not unique"},
        BadFile{"no workloads", "- {name: Case, workloadTemplate: [{opcode: stopCollectingMetrics}]}",
                "Case: field \"workloads\": no workloads defined"},
        BadFile{"no operations", "- {name: Case, workloads: [{name: W}]}",
                "Case: field \"workloadTemplate\": no ops defined"},
        BadFile{"nothing measured", FileWith("  - {opcode: createPods, count: 1}"),
                "Case: field \"workloadTemplate\": no op in the workload template collects metrics"},
        BadFile{"parameter without a dollar",
                FileWith("  - {opcode: createPods, countParam: pods, collectMetrics: true}"),
                "op 0 (createPods): field \"countParam\": invalid Count=0 / CountParam=\"pods\""},
        BadFile{"negative count", FileWith("  - {opcode: createPods, count: -1, collectMetrics: true}"),
                "invalid Count=-1 / CountParam=\"\""},
        BadFile{"text as a count", FileWith("  - {opcode: createPods, count: many, collectMetrics: true}"),
                "field \"count\": expected a whole number, got \"many\""},
        BadFile{"negative batch",
                FileWith("  - {opcode: createPods, signatureBatchSize: -1, collectMetrics: true}"),
                "invalid SignatureBatchSize=-1"},
        BadFile{"measured and not waited for",
                FileWith("  - {opcode: createPods, collectMetrics: true, skipWaitToCompletion: true}"),
                "collectMetrics and skipWaitToCompletion cannot be true at the same time"},
        BadFile{
            "steady and not waited for",
            FileWith(kMeasured + "  - {opcode: createPods, steadyState: true, skipWaitToCompletion: true}"),
            "skipWaitToCompletion and steadyState cannot be true at the same time"},
        BadFile{"churn that never ends", FileWith(kMeasured + "  - {opcode: churn, mode: recreate}"),
                "number cannot be 0 when mode is recreate"},
        BadFile{"churn of nothing", FileWith(kMeasured + "  - {opcode: churn, mode: create}"),
                "at least one template spec file needs to be specified"},
        BadFile{"churn of an unknown mode", FileWith(kMeasured + "  - {opcode: churn, mode: x}"),
                "invalid mode: x. must be one of [recreate create]"},
        BadFile{
            "no pod groups",
            FileWith(kMeasured + "  - {opcode: createPodGroups, namespace: a, templatePath: b, count: 0}"),
            "count must be greater than 0, got 0"},
        BadFile{"pod groups nowhere",
                FileWith(kMeasured + "  - {opcode: createPodGroups, templatePath: b, count: 1}"),
                "field \"namespace\": must be set"},
        BadFile{"barrier at no stage", FileWith(kMeasured + "  - {opcode: barrier, stageRequirement: Bound}"),
                "invalid StageRequirement Bound"},
        BadFile{"metrics of no namespace", FileWith(kMeasured + "  - {opcode: startCollectingMetrics}"),
                "namespaces cannot be empty"},
        BadFile{"threshold of text", FileWith(kMeasured, "    threshold: x"),
                "Case: workload \"W\": field \"threshold\": expected either a number or a map"},
        BadFile{"threshold below zero", FileWith(kMeasured, "    threshold: -1"),
                "invalid Threshold=-1.000000; should be non-negative"},
        BadFile{"selector without a bucket",
                FileWith(kMeasured, "    thresholdMetricSelector: {name: SchedulingThroughput}"),
                "dataBucket should be set for metric SchedulingThroughput"},
        BadFile{"selector of what is not collected",
                FileWith(kMeasured, "    thresholdMetricSelector: {name: x, dataBucket: Average}"),
                "the metric x is targeted, but it's not collected during the test"}));

TEST(Grammar, KeysMatchInAnyCaseAndScalarsBecomeText) {
  const auto file =
      ParseWorkloadFile("a/misc/performance-config.yaml",
                        FileWith("  - {OpCode: createPods, COUNT: 2, CollectMetrics: yes, nameSpace: 12}"));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->topic, "misc");
  const auto& pods = std::get<CreatePods>(file->test_cases[0].operations[0].action);
  EXPECT_EQ(pods.count.number(), 2);
  EXPECT_TRUE(pods.collect_metrics);
  EXPECT_EQ(pods.namespace_name, "12");
}

TEST(Grammar, TopicsAreThoseOfUpstreamsPackages) {
  const auto topic = [](const char* path) { return ParseWorkloadFile(path, FileWith(kMeasured))->topic; };
  EXPECT_EQ(topic("x/event_handling/performance-config.yaml"), "eventhandling");
  EXPECT_EQ(topic("x/default_preemption/performance-config.yaml"), "default_preemption");
  EXPECT_EQ(topic("x/dra/performance-config.yaml"), "dra");
  EXPECT_EQ(topic("x/dra/extendedresource/scoring/performance-config.yaml"), "dra_extendedresource_scoring");
  EXPECT_EQ(topic("x/podgroup/tas/performance-config.yaml"), "tas");
}

// case 13
TEST(Grammar, GatesOfAWorkloadWinOverThoseOfItsCase) {
  const auto file = ParseWorkloadFile("f.yaml",
                                      "- name: Case\n  featureGates: {A: true}\n  labels: [x]\n"
                                      "  workloadTemplate:\n" +
                                          kMeasured +
                                          "  workloads:\n  - name: W\n    labels: [z]\n"
                                          "    featureGates: {A: false, B: true}\n  - name: V\n");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const auto& workloads = file->test_cases[0].workloads;
  EXPECT_EQ(workloads[0].gates, (Gates{{"A", false}, {"B", true}}));
  EXPECT_EQ(workloads[1].gates, (Gates{{"A", true}}));
  EXPECT_THAT(workloads[0].labels, testing::ElementsAre("x", "z"));
}

// case 4
TEST(LabelFilter, WantsAndUnwants) {
  const std::vector<std::string> both = {"performance", "fast"};
  EXPECT_TRUE(LabelFilter("performance").Accepts(both));
  EXPECT_FALSE(LabelFilter("+performance,-fast").Accepts(both));
  EXPECT_TRUE(LabelFilter("-fast").Accepts({}));
  EXPECT_TRUE(LabelFilter("").Accepts(both));
  EXPECT_TRUE(LabelFilter(",,").Accepts({}));
  EXPECT_FALSE(LabelFilter("integration-test,-performance").Accepts({"integration-test", "performance"}));
  EXPECT_FALSE(LabelFilter("performance").Accepts({"short"}));
}

}  // namespace
}  // namespace berth::bench
