#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

#include "bench/suite.h"
#include "bench/workload_file.h"

// One workload file for each thing that can be wrong with one, and all that is said about it: the file, the
// test case, the workload, the operation and the field, and then what is wrong.
namespace berth::bench {
namespace {

namespace fs = std::filesystem;

struct WrongFile {
  const char* name;
  std::string text;
  std::string error;  // DIR stands for the folder of the file
};
void PrintTo(const WrongFile& wrong, std::ostream* out) { *out << wrong.name; }

// A test case with these operations, and then one that measures.
WrongFile WithOps(const char* name, const std::string& ops, const std::string& error,
                  const std::string& params = "{}") {
  return {name,
          "- name: Case\n  workloadTemplate:\n" + ops +
              "  - {opcode: createPods, count: 0, collectMetrics: true}\n"
              "  workloads:\n  - {name: W, params: " +
              params + "}\n",
          error};
}
// A whole test case of these fields, beside operations that are right.
WrongFile WithFields(const char* name, const std::string& fields, const std::string& error) {
  return {
      name,
      "- name: Case\n  workloadTemplate: [{opcode: createPods, count: 0, collectMetrics: true}]\n" + fields,
      error};
}

class WrongFiles : public testing::TestWithParam<WrongFile> {
 protected:
  WrongFiles() : folder_(fs::temp_directory_path() / fmt::format("berth-{}", getpid()) / "berth-bad-files") {
    fs::create_directories(folder_);
    Write("pod.yaml", "metadata: {generateName: p-}\nspec: {containers: [{name: c, image: i}]}");
    Write("pod-without-containers.yaml", "metadata: {generateName: p-}\nspec: {}");
    Write("no-yaml.yaml", "metadata: {name: [}\n");
    Write("no-object.yaml", "[1, 2]\n");
    Write("no-template.yaml", "metadata: {name: '{{.Index'}\n");
    Write("cannot-render.yaml", "metadata: {name: 'p-{{DivideInt 1 0}}'}\n");
    Write("renders-no-yaml.yaml", "metadata: {name: '{{.Index}}]'\n");
    Write("unknown-kind.yaml", "apiVersion: v1\nkind: Unicorn\nmetadata: {name: u}\n");
    Write("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}");
    Write("bad-service.yaml",
          "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 0}]}");
    Write("node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n");
    Write("claim.yaml", "metadata: {name: c}\nspec: {}\n");
    Write("no-config.yaml",
          "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
          "parallelism: -1\n");
  }
  ~WrongFiles() override { fs::remove_all(folder_.parent_path()); }

  void Write(const char* name, const char* text) { std::ofstream(folder_ / name) << text; }

  // What reading it or, if that is fine, running its first workload says.
  std::string ErrorOf(const std::string& text) {
    const auto file = ParseWorkloadFile(folder_ / "performance-config.yaml", text);
    if (!file) return file.error().message;
    const TestCase& test_case = file->test_cases[0];
    const WorkloadReport report = RunWorkload(*file, test_case, test_case.workloads[0], MakeCoreCluster, {});
    EXPECT_EQ(report.outcome, Outcome::kFailed);
    return fmt::format("{}", fmt::join(report.reasons, "\n"));
  }

  fs::path folder_;
};

TEST_P(WrongFiles, AreToldByFileCaseWorkloadOperationAndField) {
  std::string error = ErrorOf(GetParam().text);
  const std::string folder = folder_.string() + "/";
  for (std::size_t at; (at = error.find(folder)) != std::string::npos;)
    error.replace(at, folder.size(), "DIR/");
  EXPECT_EQ(error, "DIR/performance-config.yaml: " + GetParam().error);
}

const std::string kRun = "Case: workload \"W\": ";

INSTANTIATE_TEST_SUITE_P(
    OfAFile, WrongFiles,
    testing::Values(
        WrongFile{"broken YAML", "- name: [\n", "yaml: line 2, column 1: end of sequence flow not found"},
        WrongFile{"nothing in it", "", "no test cases defined"},
        WrongFile{"a key twice", "- name: a\n  name: b\n",
                  "yaml: unmarshal errors:\n  line 2: key \"name\" already set in map"},
        WrongFile{"a case that is none", "- 3\n", "test case 0, which has no name: expected an object"},
        WrongFile{"a case without a name", "- {labels: [a]}\n",
                  "test case 0, which has no name: field \"workloads\": no workloads defined"},
        WithFields("an unknown field", "  color: red\n", "Case: unknown field \"color\""),
        WithFields("gates that are none", "  featureGates: {A: maybe}\n",
                   "Case: field \"featureGates\": expected a map to true or false, got {\"A\":\"maybe\"}"),
        WithFields("metrics that are none", "  metricsCollectorConfig: {metrics: {m: 3}}\n",
                   "Case: field \"metricsCollectorConfig\": metric m: expected a list"),
        WithFields("metrics with an unknown field",
                   "  metricsCollectorConfig: {metrics: {m: [{lable: a}]}}\n",
                   "Case: field \"metricsCollectorConfig\": metric m: unknown field \"lable\""),
        WithFields("no workloads", "", "Case: field \"workloads\": no workloads defined"),
        WithFields("workloads that are no list", "  workloads: 3\n",
                   "Case: field \"workloads\": expected a list"),
        WithFields("an unknown field of a workload", "  workloads: [{name: W, size: 3}]\n",
                   kRun + "unknown field \"size\""),
        WithFields("params that are none", "  workloads: [{name: W, params: [1]}]\n",
                   kRun + "field \"params\": expected a map"),
        WithFields("labels that are none", "  workloads: [{name: W, labels: fast}]\n",
                   kRun + "field \"labels\": expected a list of texts, got \"fast\""),
        WithFields("one name for two", "  workloads: [{name: W}, {name: W}]\n",
                   kRun + "field \"name\": workload name W is not unique"),
        WithFields("a threshold below zero", "  workloads: [{name: W, threshold: -1}]\n",
                   kRun + "field \"threshold\": invalid Threshold=-1.000000; should be non-negative"),
        WithFields("a threshold of a topic below zero",
                   "  workloads: [{name: W, threshold: {berth-bad-files: -1}}]\n",
                   kRun + "field \"threshold\": invalid Threshold=-1.000000 for topic \"berth-bad-files\"; "
                          "should be non-negative"),
        WithFields("a threshold of text", "  workloads: [{name: W, threshold: x}]\n",
                   kRun + "field \"threshold\": expected either a number or a map from topic to number"),
        WithFields("a selector of what nobody collects",
                   "  workloads: [{name: W, thresholdMetricSelector: {name: x, dataBucket: Average}}]\n",
                   kRun +
                       "field \"thresholdMetricSelector\": the metric x is targeted, but it's not collected "
                       "during the test. Make sure the MetricsCollectorConfig is valid"),
        WithFields(
            "a selector without a bucket",
            "  defaultThresholdMetricSelector: {name: SchedulingThroughput}\n  workloads: [{name: W}]\n",
            kRun + "field \"defaultThresholdMetricSelector\": dataBucket should be set for metric "
                   "SchedulingThroughput"),
        WithFields("a selector with an unknown field",
                   "  workloads: [{name: W, thresholdMetricSelector: {bucket: Average}}]\n",
                   kRun + "field \"thresholdMetricSelector\": unknown field \"bucket\""),
        WithFields("a missing configuration", "  schedulerConfigPath: none.yaml\n  workloads: [{name: W}]\n",
                   kRun + "field \"schedulerConfigPath\": open DIR/none.yaml: no such file or directory"),
        WithFields("a wrong configuration",
                   "  schedulerConfigPath: no-config.yaml\n  workloads: [{name: W}]\n",
                   kRun + "field \"schedulerConfigPath\": DIR/no-config.yaml: parallelism: Invalid value: "
                          "-1: should be an integer value greater than zero")));

INSTANTIATE_TEST_SUITE_P(
    OfAnOperation, WrongFiles,
    testing::Values(
        WithOps("no object", "  - 3\n", "Case: op 0 (?): expected an object"),
        WithOps("an unknown opcode", "  - {opcode: fly}\n",
                "Case: op 0 (fly): field \"opcode\": unknown opcode \"fly\" in {\"opcode\":\"fly\"}"),
        WithOps("an unknown field", "  - {opcode: barrier, nodes: 1}\n",
                "Case: op 0 (barrier): unknown field \"nodes\""),
        WithOps("a wrong type", "  - {opcode: createPods, count: many}\n",
                "Case: op 0 (createPods): field \"count\": expected a whole number, got \"many\""),
        WithOps("half a node", "  - {opcode: createNodes, count: 1.5}\n",
                "Case: op 0 (createNodes): field \"count\": expected a whole number, got 1.5"),
        WithOps("a negative count", "  - {opcode: createNodes, count: -5}\n",
                "Case: op 0 (createNodes): field \"count\": invalid Count=-5 / CountParam=\"\""),
        WithOps("a negative parameter", "  - {opcode: createNodes, countParam: $size}\n",
                kRun + "op 0 (createNodes): field \"countParam\": invalid Count=-5 / CountParam=\"$size\"",
                "{size: -5}"),
        WithOps("an undefined parameter", "  - {opcode: createNodes, countParam: $size}\n",
                kRun + "op 0 (createNodes): field \"countParam\": parameter size is undefined"),
        WithOps("a parameter of a wrong type", "  - {opcode: createNodes, countParam: $size}\n",
                kRun + "op 0 (createNodes): field \"countParam\": parameter size has the wrong type string",
                "{size: three}"),
        WithOps("a parameter without a dollar", "  - {opcode: createNodes, countParam: size}\n",
                "Case: op 0 (createNodes): field \"countParam\": invalid Count=0 / CountParam=\"size\"",
                "{size: 3}"),
        WithOps("an unused parameter", "",
                kRun + "field \"params\": the parameters [size] are defined on workload W, but "
                       "unused.\nPlease make sure there are no typos",
                "{size: 3}"),
        WithOps("too many pods", "  - {opcode: createPods, countParam: $size, countMultiplierParam: $size}\n",
                kRun + "op 0 (createPods): field \"countMultiplierParam\": 1000000000000 times 1000000000000 "
                       "pods are too many",
                "{size: 1000000000000}"),
        WithOps("a factor below zero", "  - {opcode: createPods, count: 2, countMultiplierParam: $size}\n",
                kRun +
                    "op 0 (createPods): field \"countMultiplierParam\": invalid Count=-6 / CountParam=\"\"",
                "{size: -3}"),
        WithOps("a batch below zero", "  - {opcode: createPods, signatureBatchSizeParam: $size}\n",
                kRun + "op 0 (createPods): field \"signatureBatchSizeParam\": invalid SignatureBatchSize=-1 "
                       "/ SignatureBatchSizeParam=\"$size\"",
                "{size: -1}"),
        WithOps("a template parameter that is not there",
                "  - {opcode: createPods, count: 1, templateParams: {zone: $z}}\n",
                kRun + "op 0 (createPods): field \"templateParams.zone\": parameter \"z\" not found"),
        WithOps("a default that is no YAML",
                "  - {opcode: createPods, count: 1, templateParams: {zone: '$z|['}}\n",
                kRun + "op 0 (createPods): field \"templateParams.zone\": decoding parameter \"z\" default "
                       "\"[\" as YAML: yaml: line 1, column 1: end of sequence flow not found"),
        WithOps("a duration that is none", "  - {opcode: sleep, duration: soon}\n",
                "Case: op 0 (sleep): field \"duration\": time: invalid duration \"soon\""),
        WithOps("a duration parameter that is none", "  - {opcode: sleep, durationParam: $d}\n",
                kRun + "op 0 (sleep): field \"durationParam\": parsing duration parameter d: time: invalid "
                       "duration \"soon\"",
                "{d: soon}"),
        WithOps("a steady state without a time", "  - {opcode: createPods, steadyState: true}\n",
                kRun + "op 0 (createPods): field \"duration\": when creating pods in a steady state, the "
                       "test duration must be > 0"),
        WithOps("a steady state that nobody waits for",
                "  - {opcode: createPods, steadyStateParam: $s, duration: 1s, skipWaitToCompletion: true}\n",
                kRun + "op 0 (createPods): field \"skipWaitToCompletion\": skipWaitToCompletion and "
                       "steadyState cannot be true at the same time",
                "{s: true}"),
        WithOps("inside a set",
                "  - {opcode: createPodSets, count: 2, namespacePrefix: a, "
                "createPodsOp: {countParam: $size}}\n",
                kRun + "op 0 (createPodSets): field \"createPodsOp.countParam\": invalid Count=-1 / "
                       "CountParam=\"$size\"",
                "{size: -1}"),
        WithOps("a field inside a set", "  - {opcode: createPodSets, count: 2, createPodsOp: {cuont: 1}}\n",
                "Case: op 0 (createPodSets): field \"createPodsOp\": unknown field \"cuont\""),
        WithOps(
            "a template inside a set",
            "  - {opcode: createNodes, count: 1}\n  - {opcode: createPodSets, count: 2, namespacePrefix: a, "
            "createPodsOp: {count: 1, podTemplatePath: none.yaml}}\n",
            kRun + "op 1 (createPodSets), set 0: field \"podTemplatePath\": open DIR/none.yaml: no such file "
                   "or directory"),
        WithOps("a namespace that nobody made", "  - {opcode: barrier, namespaces: [z]}\n",
                kRun + "op 0 (barrier): field \"namespaces\": unknown namespace z"),
        WithOps("a namespace that is there", "  - {opcode: createPods, count: 1, namespace: default}\n",
                kRun + "op 0 (createPods): field \"namespace\": failed to create namespace for Pod: default: "
                       "namespaces \"default\" already exists"),
        WithOps("a namespace that cannot be", "  - {opcode: createNamespaces, prefix: A_b, count: 1}\n",
                kRun + "op 0 (createNamespaces): field \"prefix\": creating namespace A_b-0: Namespace "
                       "\"A_b-0\" is invalid: metadata.name: Invalid value: \"A_b-0\": a lowercase RFC 1123 "
                       "label must consist of lower case alphanumeric characters or '-', and must start and "
                       "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
                       "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"),
        WithOps("measured twice", "  - {opcode: startCollectingMetrics, namespaces: [a]}\n",
                kRun + "op 1 (createPods): field \"collectMetrics\": metrics collection is overlapping. "
                       "Probably second collector was started before stopping a previous one"),
        WithOps("never started", "  - {opcode: stopCollectingMetrics}\n",
                kRun +
                    "op 0 (stopCollectingMetrics): missing startCollectingMetrics operation before stopping"),
        WithOps("a label that cannot be",
                "  - {opcode: createNodes, count: 1, uniqueNodeLabelStrategy: {labelKey: 'a b'}}\n",
                kRun + "op 0 (createNodes): field \"uniqueNodeLabelStrategy\": patching node node-0-xstnx: "
                       "Node \"node-0-xstnx\" is invalid: metadata.labels: Invalid value: \"a b\": name part "
                       "must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
                       "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
                       "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
        WithOps(
            "labels without values",
            "  - {opcode: createNodes, count: 1, labelNodePrepareStrategy: {labelKey: z}}\n",
            "Case: op 0 (createNodes): field \"labelNodePrepareStrategy\": field \"labelValues\": must not "
            "be empty"),
        WithOps(
            "limits with an unknown field",
            "  - {opcode: createNodes, count: 1, nodeAllocatableStrategy: {csiNodeAllocatable: {d: {number: "
            "1}}}}\n",
            "Case: op 0 (createNodes): field \"nodeAllocatableStrategy\": field \"csiNodeAllocatable.d\": "
            "unknown field \"number\"")));

INSTANTIATE_TEST_SUITE_P(
    OfATemplate, WrongFiles,
    testing::Values(
        WithOps("of nodes, missing", "  - {opcode: createNodes, count: 1, nodeTemplatePath: none.yaml}\n",
                kRun + "op 0 (createNodes): field \"nodeTemplatePath\": failed to get node template: open "
                       "DIR/none.yaml: no such file or directory"),
        WithOps("of nodes, for pods", "  - {opcode: createNodes, count: 1, nodeTemplatePath: pod.yaml}\n",
                kRun + "op 0 (createNodes): field \"nodeTemplatePath\": failed to get node template: "
                       "DIR/pod.yaml: spec: unknown field \"containers\""),
        WithOps("that is no YAML", "  - {opcode: createPods, count: 1, podTemplatePath: no-yaml.yaml}\n",
                kRun + "op 0 (createPods): field \"podTemplatePath\": DIR/no-yaml.yaml: yaml: line 1, column "
                       "19: illegal flow end"),
        WithOps("that is no object", "  - {opcode: createPods, count: 1, podTemplatePath: no-object.yaml}\n",
                kRun +
                    "op 0 (createPods): field \"podTemplatePath\": DIR/no-object.yaml: expected an object"),
        WithOps("that is no template",
                "  - {opcode: createPods, count: 1, podTemplatePath: no-template.yaml}\n",
                kRun + "op 0 (createPods): field \"podTemplatePath\": DIR/no-template.yaml: template: line "
                       "1: unclosed action"),
        WithOps("that does not render",
                "  - {opcode: createPods, count: 1, podTemplatePath: cannot-render.yaml}\n",
                kRun + "op 0 (createPods): field \"podTemplatePath\": DIR/cannot-render.yaml: template: "
                       "error calling DivideInt: division by zero"),
        WithOps("that renders to no YAML",
                "  - {opcode: createNodes, count: 1, nodeTemplatePath: renders-no-yaml.yaml}\n",
                kRun + "op 0 (createNodes): field \"nodeTemplatePath\": DIR/renders-no-yaml.yaml: yaml: line "
                       "2, column 1: end of map flow not found"),
        WithOps("that the server refuses",
                "  - {opcode: createPods, count: 1, namespace: a, podTemplatePath: "
                "pod-without-containers.yaml}\n",
                kRun + "op 0 (createPods): field \"podTemplatePath\": creating a pod: Pod \"p-ccqrv\" is "
                       "invalid: spec.containers: Required value"),
        WithOps("of a namespace, missing",
                "  - {opcode: createNamespaces, prefix: a, count: 1, namespaceTemplatePath: none.yaml}\n",
                kRun + "op 0 (createNamespaces): field \"namespaceTemplatePath\": open DIR/none.yaml: no "
                       "such file or directory"),
        WithOps("of a volume, missing",
                "  - {opcode: createPods, count: 1, persistentVolumeClaimTemplatePath: claim.yaml}\n",
                kRun + "op 0 (createPods): field \"persistentVolumeTemplatePath\": a claim template needs a "
                       "volume template"),
        WithOps("of a claim, missing",
                "  - {opcode: createPods, count: 1, persistentVolumeClaimTemplatePath: none.yaml}\n",
                kRun + "op 0 (createPods): field \"persistentVolumeClaimTemplatePath\": open DIR/none.yaml: "
                       "no such file or directory"),
        WithOps("of anything, of no known kind",
                "  - {opcode: createAny, count: 1, templatePath: unknown-kind.yaml}\n",
                kRun + "op 0 (createAny): field \"templatePath\": unknown-kind.yaml: no matches for kind "
                       "\"Unicorn\" in version \"v1\""),
        WithOps("of anything, without a namespace", "  - {opcode: createAny, templatePath: service.yaml}\n",
                kRun + "op 0 (createAny): field \"namespace\": namespace not set for \"service.yaml\", but "
                       "\"v1, Kind=Service\" has scope \"namespace\""),
        WithOps("of anything, with a namespace too many",
                "  - {opcode: createAny, templatePath: node.yaml, namespace: a}\n",
                kRun + "op 0 (createAny): field \"namespace\": namespace \"a\" set for \"node.yaml\", but "
                       "\"v1, Kind=Node\" has scope \"root\""),
        WithOps(
            "of an update, missing", "  - {opcode: updateAny, templatePath: none.yaml}\n",
            kRun + "op 0 (updateAny): field \"templatePath\": open DIR/none.yaml: no such file or directory"),
        WithOps("of an update to what is not there", "  - {opcode: updateAny, templatePath: node.yaml}\n",
                kRun + "op 0 (updateAny): field \"templatePath\": failed to update object: nodes \"node\" "
                       "not found"),
        WithOps("of a claim for devices, missing",
                "  - {opcode: createResourceClaims, namespace: a, templatePath: none.yaml, count: 1}\n",
                kRun + "op 0 (createResourceClaims): field \"templatePath\": open DIR/none.yaml: no such "
                       "file or directory"),
        WithOps(
            "of churn, missing", "  - {opcode: churn, mode: create, templatePaths: [node.yaml, none.yaml]}\n",
            kRun + "op 0 (churn): field \"templatePaths[1]\": open DIR/none.yaml: no such file or directory"),
        WithFields("of all pods, missing", "  defaultPodTemplatePath: none.yaml\n  workloads: [{name: W}]\n",
                   kRun + "op 0 (createPods): field \"defaultPodTemplatePath\": open DIR/none.yaml: no such "
                          "file or directory")));

}  // namespace
}  // namespace berth::bench
