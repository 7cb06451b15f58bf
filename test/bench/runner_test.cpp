#include "bench/runner.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "bench/core_cluster.h"
#include "bench/requirements.h"
#include "bench/suite.h"
#include "sandbox/document.h"

// Whole workloads on a small cluster. Every step of the scheduler takes a millisecond here, so that each run
// is the same.
namespace berth::bench {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSmallPod = R"(
metadata: {generateName: small-}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]})";
constexpr const char* kHugePod = R"(
apiVersion: v1
kind: Pod
metadata: {generateName: huge-}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 9}}}]})";

// What a watch of another process is like: changes of pods are heard of some time after they were made.
class LateCluster final : public TestCluster, PodObserver {
 public:
  explicit LateCluster(TestCluster& inner) : inner_(inner) {}
  ~LateCluster() override { inner_.SetPodObserver(nullptr); }

  const base::Clock& clock() const override { return inner_.clock(); }
  void StartScheduler() override {
    written_at_start = written_;
    inner_.StartScheduler();
  }
  void RunUntil(base::TimePoint end) override {
    inner_.RunUntil(end);
    for (const Change& change : std::exchange(late_, {})) {
      observer_->OnPod({.namespace_name = change.namespace_name,
                        .name = change.name,
                        .labels = change.labels,
                        .is_gone = change.is_gone,
                        .is_bound = change.is_bound});
    }
  }
  sandbox::ApiResult<std::string> Create(const sandbox::Target& target, json::object document) override {
    return inner_.Create(target, std::move(document));
  }
  sandbox::ApiResult<void> Update(const sandbox::Target& target, json::object document) override {
    return inner_.Update(target, std::move(document));
  }
  sandbox::ApiResult<void> MergePatch(const sandbox::Target& target, const json::object& patch) override {
    return inner_.MergePatch(target, patch);
  }
  sandbox::ApiResult<void> Delete(const sandbox::Target& target, std::optional<std::int64_t> grace) override {
    return inner_.Delete(target, grace);
  }
  std::optional<json::object> Get(const sandbox::Target& target) override { return inner_.Get(target); }
  std::vector<std::string> NodeNames() override { return inner_.NodeNames(); }
  void WriteSoon(std::vector<bench::Write> writes, WriteCallback done) override {
    written_ += writes.size();
    inner_.WriteSoon(std::move(writes), std::move(done));
  }
  bool IsAttempted(const std::string& namespace_name, const std::string& name) override {
    return inner_.IsAttempted(namespace_name, name);
  }
  void SetPodObserver(PodObserver* observer) override {
    observer_ = observer;
    inner_.SetPodObserver(observer == nullptr ? nullptr : this);
  }
  Usage usage() const override { return inner_.usage(); }
  std::int64_t PeakMemory() const override { return inner_.PeakMemory(); }
  void ResetPeakMemory() override { inner_.ResetPeakMemory(); }

  std::size_t written_at_start = 0;  // pods that were there when the scheduler started

 private:
  struct Change {
    std::string namespace_name;
    std::string name;
    api::StringMap labels;
    bool is_gone;
    bool is_bound;
  };
  void OnPod(const PodChange& change) override {
    late_.push_back({std::string(change.namespace_name), std::string(change.name), change.labels,
                     change.is_gone, change.is_bound});
  }

  TestCluster& inner_;
  PodObserver* observer_ = nullptr;
  std::vector<Change> late_;
  std::size_t written_ = 0;
};

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() : folder_(fs::temp_directory_path() / fmt::format("berth-bench-{}", getpid())) {
    fs::create_directories(folder_);
    Write("small.yaml", kSmallPod);
    Write("huge.yaml", kHugePod);
    Write("gated.yaml", R"(
metadata: {generateName: gated-}
spec: {schedulingGates: [{name: a/b}], containers: [{name: c, image: i}]})");
    Write("node.yaml", R"({metadata: {name: fixed}, status: {capacity: {cpu: 1, pods: 5}}})");
  }
  ~RunnerTest() override { fs::remove_all(folder_); }

  void Write(const char* name, const char* text) { std::ofstream(folder_ / name) << text; }

  RunResults Run(const std::string& operations, const std::string& params = "{}") {
    std::string text = "- name: Case\n  workloadTemplate:\n" + operations +
                       "\n  workloads:\n  - name: W\n    params: " + params + "\n";
    auto file = ParseWorkloadFile(folder_ / "performance-config.yaml", text);
    EXPECT_TRUE(file.has_value()) << file.error().message;
    CoreClusterOptions options;
    options.processor_time = [this] { return processor_time_ += std::chrono::microseconds(500); };
    cluster_ = *CoreCluster::Make(options);
    if (hears_late_) {
      LateCluster late(*cluster_);
      RunResults results =
          Runner(*file, file->test_cases[0], file->test_cases[0].workloads[0], late, options_).Run();
      written_at_start_ = late.written_at_start;
      return results;
    }
    return Runner(*file, file->test_cases[0], file->test_cases[0].workloads[0], *cluster_, options_).Run();
  }

  std::optional<json::object> Get(const char* kind, const std::string& namespace_name,
                                  const std::string& name) {
    return cluster_->Get(
        {.resource = &sandbox::ResourceOf("v1", kind), .namespace_name = namespace_name, .name = name});
  }

  fs::path folder_;
  RunOptions options_;
  bool hears_late_ = false;
  std::size_t written_at_start_ = 0;
  base::Duration processor_time_{};
  std::unique_ptr<CoreCluster> cluster_;
};

// case 14
TEST_F(RunnerTest, PlainNodesArePlain) {
  const RunResults results =
      Run("  - {opcode: createNodes, count: 5}\n"
          "  - {opcode: createPods, count: 3, collectMetrics: true}");
  EXPECT_THAT(results.failures, IsEmpty());
  const auto names = cluster_->NodeNames();
  ASSERT_EQ(names.size(), 5);
  EXPECT_THAT(names[0], testing::MatchesRegex("node-0-[a-z0-9]{5}"));
  const auto node = Get("Node", "", names[0]);
  EXPECT_EQ(sandbox::TextAt(*node, {"metadata", "labels", "kubernetes.io/hostname"}), names[0]);
  EXPECT_EQ(sandbox::TextAt(*node, {"status", "allocatable", "memory"}), "32Gi");
  ASSERT_EQ(results.measurements.size(), 1);
  EXPECT_EQ(results.measurements[0].name, "namespace-1");
  EXPECT_EQ(results.measurements[0].pods, 3);
  EXPECT_GT(results.measurements[0].cpu_microseconds_per_pod, 0);
}

// case 15
TEST_F(RunnerTest, ANameCanBeTakenOnce) {
  const RunResults results =
      Run("  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createPods, count: 1, collectMetrics: true}");
  EXPECT_THAT(
      results.failures,
      ElementsAre(HasSubstr("op 0 (createNodes): field \"nodeTemplatePath\": creating node: nodes \"fixed\" "
                            "already exists")));
  EXPECT_THAT(Run("  - {opcode: createNodes, count: 2, nodeTemplatePath: none.yaml}\n"
                  "  - {opcode: createPods, count: 1, collectMetrics: true}")
                  .failures,
              ElementsAre(HasSubstr("none.yaml")));
}

// case 16, case 17
TEST_F(RunnerTest, LabelsGoRoundByPlaceInTheList) {
  const RunResults results = Run(
      "  - {opcode: createNodes, count: 5, labelNodePrepareStrategy: {labelKey: z, labelValues: [a, b, c]}}\n"
      "  - {opcode: createPods, count: 1, collectMetrics: true}");
  EXPECT_THAT(results.failures, IsEmpty());
  std::string zones;
  for (const std::string& name : cluster_->NodeNames()) {
    zones += sandbox::TextAt(*Get("Node", "", name), {"metadata", "labels", "z"});
  }
  EXPECT_EQ(zones, "abcab");
}

// case 7
TEST_F(RunnerTest, AnUnusedParameterFails) {
  const RunResults results =
      Run("  - {opcode: createNodes, count: 1}\n  - {opcode: createPods, countParam: $pods, collectMetrics: "
          "true}",
          "{pods: 1, m: 2}");
  EXPECT_THAT(
      results.failures,
      ElementsAre("field \"params\": the parameters [m] are defined on workload W, but unused.\nPlease "
                  "make sure there are no typos"));
  EXPECT_EQ(results.measurements.size(), 1);
}

// case 8
TEST_F(RunnerTest, SignaturesComeInBatches) {
  const RunResults results =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 3, podTemplatePath: named.yaml, signatureBatchSize: 2, "
          "namespace: x, collectMetrics: true}",
          "{}");
  EXPECT_THAT(results.failures, ElementsAre(HasSubstr("named.yaml")));
  Write("named.yaml", "metadata: {name: 'p-{{.Index}}'}\nspec: {containers: [{name: c, image: i}]}");
  EXPECT_THAT(Run("  - {opcode: createNodes, count: 1}\n"
                  "  - {opcode: createPods, count: 3, podTemplatePath: named.yaml, signatureBatchSize: 2, "
                  "namespace: x, collectMetrics: true}")
                  .failures,
              IsEmpty());
  for (const auto& [name, signature] :
       {std::pair("p-0", "signature-label-0"), {"p-1", "signature-label-0"}, {"p-2", "signature-label-1"}}) {
    EXPECT_EQ(sandbox::TextAt(*Get("Pod", "x", name), {"metadata", "labels", "signature"}), signature);
  }
}

// case 19
TEST_F(RunnerTest, NamespacesMayBeThereAlreadyExceptForPods) {
  const std::string twice = "  - {opcode: createNamespaces, prefix: x, count: 2}\n";
  EXPECT_THAT(Run(twice + twice +
                  "  - {opcode: createNodes, count: 1}\n"
                  "  - {opcode: createPods, count: 1, namespace: x-1, collectMetrics: true}")
                  .failures,
              IsEmpty());
  EXPECT_THAT(Run("  - {opcode: createPods, count: 1, namespace: default, collectMetrics: true}").failures,
              ElementsAre(HasSubstr("failed to create namespace for Pod: default")));
}

// case 20
TEST_F(RunnerTest, ABarrierForgetsItsNamespaces) {
  const std::string pods = "  - {opcode: createPods, count: 1, namespace: x, skipWaitToCompletion: true}\n";
  const std::string measured = "  - {opcode: createPods, count: 1, collectMetrics: true}";
  const std::string nodes = "  - {opcode: createNodes, count: 1}\n";
  EXPECT_THAT(Run(nodes + pods + "  - {opcode: barrier}\n" + pods + measured).failures,
              ElementsAre(HasSubstr(
                  "op 3 (createPods): field \"namespace\": failed to create namespace for Pod: x")));
  EXPECT_THAT(
      Run(nodes + pods + "  - {opcode: barrier, stageRequirement: Attempted}\n" + pods + measured).failures,
      IsEmpty());
  EXPECT_THAT(Run(nodes + "  - {opcode: barrier, namespaces: [z]}\n" + measured).failures,
              ElementsAre("op 1 (barrier): field \"namespaces\": unknown namespace z"));
}

// case 21
TEST_F(RunnerTest, PodsOfAnEarlierOperationCount) {
  // The second operation's pods fit nowhere, and nobody waits for them.
  EXPECT_THAT(Run("  - {opcode: createNodes, count: 1}\n"
                  "  - {opcode: createPods, count: 2, namespace: x, podTemplatePath: small.yaml}\n"
                  "  - {opcode: createPods, count: 2, namespace: x, podTemplatePath: huge.yaml, "
                  "collectMetrics: true}")
                  .failures,
              IsEmpty());
}

// case 22
TEST_F(RunnerTest, GatedPodsAreAttempted) {
  EXPECT_THAT(
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 2, podTemplatePath: gated.yaml, skipWaitToCompletion: true}\n"
          "  - {opcode: barrier, stageRequirement: Attempted}\n"
          "  - {opcode: createPods, count: 1, collectMetrics: true}")
          .failures,
      IsEmpty());
}

// case 25
TEST_F(RunnerTest, ChurnCreatesAndDeletesInTurn) {
  // Nodes, because they can be listed.
  Write("churned.yaml", "apiVersion: v1\nkind: Node\nmetadata: {generateName: churned-}");
  const auto live_after = [&](const char* mode, const char* time) {
    const RunResults results = Run(
        fmt::format("  - {{opcode: churn, {}, templatePaths: [churned.yaml], intervalMilliseconds: 100}}\n"
                    "  - {{opcode: sleep, duration: {}}}\n"
                    "  - {{opcode: createPods, count: 0, collectMetrics: true}}",
                    mode, time));
    EXPECT_THAT(results.failures, IsEmpty());
    return cluster_->NodeNames().size();
  };
  EXPECT_EQ(live_after("mode: recreate, number: 1", "150ms"), 1);
  EXPECT_EQ(live_after("mode: recreate, number: 1", "250ms"), 0);
  EXPECT_EQ(live_after("mode: recreate, number: 3", "350ms"), 3);
  EXPECT_EQ(live_after("mode: recreate, number: 3", "450ms"), 2);
  EXPECT_EQ(live_after("mode: create, number: 2", "550ms"), 2);
  EXPECT_EQ(live_after("mode: create", "550ms"), 5);
}

// case 26
TEST_F(RunnerTest, DeletesComeAtTheirRate) {
  Write("named.yaml", "metadata: {name: 'p-{{.Index}}'}\nspec: {containers: [{name: c, image: i}]}");
  const std::string begin =
      "  - {opcode: createNodes, count: 1}\n"
      "  - {opcode: createPods, count: 5, podTemplatePath: named.yaml, namespace: x}\n";
  const std::string end = "\n  - {opcode: createPods, count: 1, collectMetrics: true}";
  const auto is_going = [&](int i) {
    const auto pod = Get("Pod", "x", fmt::format("p-{}", i));
    return !pod || !sandbox::TextAt(*pod, {"metadata", "deletionTimestamp"}).empty();
  };
  EXPECT_THAT(Run(begin + "  - {opcode: deletePods, namespace: x, deletePodsPerSecond: 50, "
                          "skipWaitToCompletion: true}\n  - {opcode: sleep, duration: 50ms}\n"
                          "  - {opcode: createPods, count: 0, collectMetrics: true}")
                  .failures,
              IsEmpty());
  // 20 and 40 ms after the start.
  EXPECT_TRUE(is_going(0) && is_going(1));
  EXPECT_FALSE(is_going(2));
  EXPECT_THAT(Run(begin + "  - {opcode: deletePods, namespace: x}" + end).failures, IsEmpty());
  // case 27: without a kubelet, a bound pod with a grace period stays.
  EXPECT_TRUE(is_going(4));
  EXPECT_TRUE(Get("Pod", "x", "p-4").has_value());
}

// case 29
TEST_F(RunnerTest, SteadyStateReplacesWhatWasBound) {
  const std::string op =
      "  - {{opcode: createPods, count: 3, podTemplatePath: {}, steadyState: true, duration: 1s, "
      "collectMetrics: true}}";
  const RunResults results =
      Run("  - {opcode: createNodes, count: 1}\n" + fmt::format(fmt::runtime(op), "small.yaml"));
  EXPECT_THAT(results.failures, IsEmpty());
  // Each round takes the scheduler a few steps; a node of 4 CPUs has place for forty at once.
  EXPECT_GT(results.measurements[0].pods, 50);
  EXPECT_THAT(
      Run("  - {opcode: createNodes, count: 1}\n" + fmt::format(fmt::runtime(op), "huge.yaml")).failures,
      ElementsAre(HasSubstr("no pod at all got scheduled")));
}

// case 43
TEST_F(RunnerTest, OneCollectionAtATime) {
  const std::string start = "  - {opcode: startCollectingMetrics, namespaces: [x]}\n";
  const std::string stop = "  - {opcode: stopCollectingMetrics}\n";
  EXPECT_THAT(Run(start + start + stop).failures,
              ElementsAre(HasSubstr("metrics collection is overlapping")));
  EXPECT_THAT(Run(stop).failures, ElementsAre(HasSubstr("missing startCollectingMetrics operation")));
  const RunResults results = Run(start + stop);
  EXPECT_EQ(results.items[0].labels.at("Name"), "BenchmarkPerfScheduling/Case/W/");
  EXPECT_TRUE(results.items[0].data.empty());
}

// case 57
TEST_F(RunnerTest, AWaitEndsAfterTenMinutes) {
  const RunResults results =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 1, namespace: x, podTemplatePath: huge.yaml, "
          "collectMetrics: true}");
  EXPECT_THAT(results.failures,
              ElementsAre(testing::MatchesRegex(
                  "op 1 .createPods.: error in waiting for pods to get scheduled: at least pod x/huge-.* is "
                  "not scheduled: context deadline exceeded")));
  EXPECT_GE(cluster_->clock().Now().time_since_epoch(), std::chrono::minutes(10));
}

TEST_F(RunnerTest, AnInterruptedRunHasWhatItMeasuredUntilThen) {
  options_.requests_per_second = 100;
  // The pods come within ten seconds; somebody has enough after five.
  options_.is_interrupted = [this] {
    return cluster_->clock().Now().time_since_epoch() > std::chrono::seconds(5);
  };
  const std::string nodes = "  - {opcode: createNodes, count: 20}\n";
  const RunResults results = Run(nodes +
                                     "  - {opcode: createPods, count: 1000, podTemplatePath: small.yaml, "
                                     "collectMetrics: true}",
                                 "{}\n    threshold: 1000000");
  // The threshold is of a whole run.
  EXPECT_THAT(results.failures, ElementsAre("op 1 (createPods): interrupted"));
  ASSERT_EQ(results.measurements.size(), 1);
  EXPECT_GT(results.measurements[0].pods, 100);
  EXPECT_LT(results.measurements[0].pods, 600);
  EXPECT_FALSE(results.items.empty());
}

TEST_F(RunnerTest, ASleepCanBeInterrupted) {
  options_.is_interrupted = [this] {
    return cluster_->clock().Now().time_since_epoch() > std::chrono::seconds(5);
  };
  const RunResults results =
      Run("  - {opcode: sleep, duration: 10m}\n  - {opcode: createPods, count: 0, collectMetrics: true}");
  EXPECT_THAT(results.failures, ElementsAre("op 0 (sleep): interrupted"));
  EXPECT_LT(cluster_->clock().Now().time_since_epoch(), std::chrono::seconds(10));
}

// case 55
TEST_F(RunnerTest, TheSameSeedGivesTheSamePlaces) {
  Write("named.yaml", "metadata: {name: 'p-{{.Index}}'}\nspec: {containers: [{name: c, image: i}]}");
  const auto places = [&] {
    processor_time_ = {};
    Run("  - {opcode: createNodes, count: 9}\n"
        "  - {opcode: createPods, count: 20, podTemplatePath: named.yaml, namespace: x, collectMetrics: "
        "true}");
    std::string text;
    for (int i = 0; i < 20; ++i) {
      text += sandbox::TextAt(*Get("Pod", "x", fmt::format("p-{}", i)), {"spec", "nodeName"});
    }
    return text;
  };
  EXPECT_EQ(places(), places());
}

TEST_F(RunnerTest, ObjectsOfAnyKindGoWhereTheirScopeSays) {
  Write("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}");
  const std::string end = "\n  - {opcode: createPods, count: 0, collectMetrics: true}";
  EXPECT_THAT(Run("  - {opcode: createAny, templatePath: service.yaml, namespace: x}" + end).failures,
              IsEmpty());
  EXPECT_TRUE(Get("Service", "x", "s").has_value());
  EXPECT_THAT(Run("  - {opcode: createAny, templatePath: service.yaml}" + end).failures,
              ElementsAre(HasSubstr("namespace not set for \"service.yaml\", but")));
  Write("free-node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n");
  EXPECT_THAT(Run("  - {opcode: createAny, templatePath: free-node.yaml, namespace: x}" + end).failures,
              ElementsAre(HasSubstr("namespace \"x\" set for \"free-node.yaml\", but")));
}

// case 28
TEST_F(RunnerTest, AnUpdateReplacesTheNodeAndItsStatus) {
  Write("new-node.yaml",
        "apiVersion: v1\nkind: Node\nmetadata: {name: fixed}\nstatus: {allocatable: {cpu: 3, pods: 5}}");
  EXPECT_THAT(Run("  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"
                  "  - {opcode: updateAny, templatePath: new-node.yaml, updatePerSecond: 10}\n"
                  "  - {opcode: createPods, count: 0, collectMetrics: true}")
                  .failures,
              IsEmpty());
  const auto node = Get("Node", "", "fixed");
  EXPECT_EQ(sandbox::TextAt(*node, {"status", "allocatable", "cpu"}), "3");
  EXPECT_EQ(sandbox::TextAt(*node, {"metadata", "labels", "kubernetes.io/hostname"}), "");
}

TEST_F(RunnerTest, ASchedulerMayStartWhenAllPodsAreThere) {
  options_.precreate = true;
  const RunResults results =
      Run("  - {opcode: createNodes, count: 1}\n"
          "  - {opcode: createPods, count: 5, podTemplatePath: small.yaml, collectMetrics: true}");
  EXPECT_THAT(results.failures, IsEmpty());
  // One step reads the state and decides about all five; they are bound at one time.
  EXPECT_EQ(results.measurements[0].pods, 5);
  EXPECT_EQ(results.measurements[0].exact_rate, 0);
  EXPECT_EQ(results.measurements[0].cpu_microseconds_per_pod, 100);
}

// All that the scheduler uses from its start on is measured, also where it takes a while to hear of the pods
// that were there before.
TEST_F(RunnerTest, AStartIsMeasuredWhole) {
  Write("bound.yaml", R"(
metadata: {generateName: bound-}
spec: {nodeName: fixed, containers: [{name: c, image: i}]})");
  options_.precreate = true;
  hears_late_ = true;
  const RunResults results =
      Run("  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createPods, count: 3, podTemplatePath: bound.yaml}\n"
          "  - {opcode: createPods, count: 1, podTemplatePath: small.yaml, collectMetrics: true}");
  ASSERT_THAT(results.failures, IsEmpty());
  EXPECT_EQ(results.measurements[0].pods, 1);
  EXPECT_EQ(written_at_start_, 4);
}

// case 11: a workload that is too slow fails, and is measured all the same.
TEST_F(RunnerTest, AMissedThresholdFailsTheWorkload) {
  const std::string operations =
      "  - {opcode: createNodes, count: 20}\n"
      "  - {opcode: createPods, count: 700, podTemplatePath: small.yaml, collectMetrics: true}";
  options_.requests_per_second = 200;
  const RunResults fast = Run(operations, "{}\n    threshold: 10");
  EXPECT_THAT(fast.failures, testing::Not(testing::Contains(HasSubstr("to be higher"))));
  const RunResults slow = Run(operations, "{}\n    threshold: 1000000");
  EXPECT_THAT(slow.failures, testing::Contains(HasSubstr("to be higher")));
  EXPECT_EQ(slow.measurements.size(), 1);
  options_.check_thresholds = false;
  EXPECT_THAT(Run(operations, "{}\n    threshold: 1000000").failures, IsEmpty());
}

TEST_F(RunnerTest, WorkloadsSayWhatTheyNeed) {
  const auto missing = [&](const std::string& operations, const std::string& gates = "{}") {
    const auto file = ParseWorkloadFile(
        folder_ / "performance-config.yaml",
        "- name: Case\n  workloadTemplate:\n" + operations +
            "\n  - {opcode: createPods, count: 1, collectMetrics: true}\n  workloads:\n  - name: W\n"
            "    featureGates: " +
            gates + "\n");
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return MissingFor(*file, file->test_cases[0], file->test_cases[0].workloads[0]);
  };
  EXPECT_THAT(missing("  - {opcode: createNodes, count: 1}"), IsEmpty());
  EXPECT_THAT(missing("  - {opcode: createNodes, count: 1}", "{NoSuchGate: true}"),
              ElementsAre("unknown feature gate NoSuchGate"));
  // There are none.
  EXPECT_THAT(missing("  - {opcode: allocResourceClaims}"), IsEmpty());
}

TEST(Suite, ListsWhatWouldRunAndWhatIsMissing) {
  const auto file =
      ParseWorkloadFile("performance-config.yaml",
                        "- name: Case\n"
                        "  workloadTemplate:\n"
                        "  - {opcode: createNodes, count: 1}\n"
                        "  - {opcode: createPods, count: 1, collectMetrics: true}\n"
                        "  workloads:\n"
                        "  - {name: Runs, labels: [performance, short]}\n"
                        "  - {name: Cannot, labels: [performance], featureGates: {NoSuchGate: true}}\n"
                        "  - {name: Other, labels: [integration-test]}\n");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const auto listed = ListSuite(*file, {});
  ASSERT_EQ(listed.size(), 2);
  EXPECT_EQ(listed[0].name, "Case/Runs");
  EXPECT_THAT(listed[0].labels, ElementsAre("performance", "short"));
  EXPECT_THAT(listed[0].missing, IsEmpty());
  EXPECT_EQ(listed[1].name, "Case/Cannot");
  EXPECT_THAT(listed[1].missing, ElementsAre("unknown feature gate NoSuchGate"));
}

}  // namespace
}  // namespace berth::bench
