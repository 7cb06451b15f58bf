#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "sandbox/cluster_harness.h"
#include "sandbox/controllers/job_controller.h"

// ReplicaSets, Deployments, StatefulSets and Jobs as their users see them.
namespace berth::sandbox::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

std::string At(const char* collection, std::string_view name) {
  return std::string(collection) + "/" + std::string(name);
}

TEST(ReplicaSetTest, KeepsTheNumberOfPodsWhenOneIsDeleted) {
  ClusterHarness cluster;
  cluster.Create(kReplicaSets, WorkloadJson("ReplicaSet", "web", "i:1", R"("replicas":3)"));
  cluster.Run(3);
  ASSERT_THAT(cluster.LivePods(), SizeIs(3));
  const json::object pod = cluster.LivePods().front();
  EXPECT_THAT(std::string(TextAt(pod, {"metadata", "name"})), StartsWith("web-"));
  cluster.api().Delete(PodPath(TextAt(pod, {"metadata", "name"})));
  cluster.Run(3);
  EXPECT_THAT(cluster.LivePods(), SizeIs(3));
  const json::object set = cluster.Get(At(kReplicaSets, "web"));
  EXPECT_EQ(NumberAt(set, {"status", "readyReplicas"}), 3);
  EXPECT_EQ(NumberAt(set, {"status", "availableReplicas"}), 3);
  EXPECT_EQ(NumberAt(set, {"status", "observedGeneration"}), 1);
}

TEST(ReplicaSetTest, ScalesDownBeginningWithPodsThatDoNotRun) {
  ClusterHarness cluster;
  cluster.Create(kReplicaSets, WorkloadJson("ReplicaSet", "web", "i:1", R"("replicas":2)"));
  cluster.Run(3);
  std::set<std::string> running;
  for (const std::string& name : cluster.Names(kPods)) running.insert(name);
  cluster.StopScheduling();
  cluster.api().Patch(At(kReplicaSets, "web"), R"({"spec":{"replicas":4}})");
  cluster.Run(1);
  ASSERT_THAT(cluster.LivePods(), SizeIs(4));
  cluster.api().Patch(At(kReplicaSets, "web"), R"({"spec":{"replicas":2}})");
  cluster.Run(1);
  const std::vector<std::string> left = cluster.Names(kPods);
  EXPECT_EQ(std::set<std::string>(left.begin(), left.end()), running);
}

TEST(ReplicaSetTest, TakesOverPodsThatMatchAndLetsGoOfThoseThatNoLongerDo) {
  ClusterHarness cluster;
  ASSERT_EQ(cluster.api()
                .Post(kPods, R"({"metadata":{"name":"lonely","labels":{"app":"web"}},
                                 "spec":{"containers":[{"name":"c","image":"i:1"}]}})")
                .code,
            201);
  cluster.Create(kReplicaSets, WorkloadJson("ReplicaSet", "web", "i:1", R"("replicas":2)"));
  cluster.Run(2);
  ASSERT_THAT(cluster.LivePods(), SizeIs(2));
  EXPECT_NE(cluster.api().Get(PodPath("lonely")).body.find("ownerReferences"), std::string::npos);
  cluster.api().Patch(PodPath("lonely"), R"({"metadata":{"labels":{"app":"other"}}})");
  cluster.Run(2);
  EXPECT_THAT(cluster.LivePods(), SizeIs(3));
  EXPECT_EQ(cluster.api().Get(PodPath("lonely")).body.find("ownerReferences"), std::string::npos);
}

// A hundred pods become ready one after the other; the set is not looked at and written a hundred times.
TEST(ReplicaSetTest, ChangesOfALargeSetAreGathered) {
  ClusterHarness cluster;
  cluster.StopScheduling();
  cluster.Create(kReplicaSets, WorkloadJson("ReplicaSet", "web", "i:1", R"("replicas":100)"));
  cluster.Run(1);
  const auto watch = cluster.api().Watch(std::string(kReplicaSets) +
                                         "?watch=true&resourceVersion=" + cluster.api().version());
  for (const std::string& pod : cluster.Names(kPods)) {
    ASSERT_EQ(cluster.api()
                  .Patch(PodPath(pod) + "/status",
                         R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})")
                  .code,
              200);
  }
  EXPECT_THAT(watch->events(), IsEmpty());
  cluster.Run(1);
  EXPECT_EQ(watch->events().size(), 1U);
  EXPECT_EQ(NumberAt(cluster.Get(At(kReplicaSets, "web")), {"status", "readyReplicas"}), 100);
}

TEST(ReplicaSetTest, RefusedPodsShowAsAConditionAndAnEvent) {
  ClusterHarness cluster;
  std::string set = WorkloadJson("ReplicaSet", "web", "i:1", R"("replicas":1)");
  set.insert(set.find(R"("containers")"), R"("priorityClassName":"none-such",)");
  cluster.Create(kReplicaSets, set);
  cluster.Run(1);
  EXPECT_EQ(ConditionStatus(cluster.Get(At(kReplicaSets, "web")), "ReplicaFailure"), "True FailedCreate");
  EXPECT_THAT(cluster.api().Get("/api/v1/namespaces/default/events").body,
              HasSubstr("no PriorityClass with name"));
}

TEST(DeploymentTest, RollsOutWithinSurgeAndAvailability) {
  ClusterHarness cluster;
  cluster.Create(kDeployments, WorkloadJson("Deployment", "web", "i:1", R"("replicas":4)"));
  cluster.Run(5);
  json::object deployment = cluster.Get(At(kDeployments, "web"));
  EXPECT_EQ(NumberAt(deployment, {"status", "availableReplicas"}), 4);
  EXPECT_EQ(ConditionStatus(deployment, "Available"), "True MinimumReplicasAvailable");
  EXPECT_EQ(ConditionStatus(deployment, "Progressing"), "True NewReplicaSetAvailable");
  EXPECT_EQ(TextAt(deployment, {"metadata", "annotations", "deployment.kubernetes.io/revision"}), "1");

  cluster.api().Patch(At(kDeployments, "web"),
                      R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}})");
  for (int i = 0; i < 20; ++i) {
    cluster.Run(1);
    std::size_t ready = 0;
    for (const json::object& pod : cluster.LivePods())
      ready += ConditionStatus(pod, "Ready") == "True " ? 1 : 0;
    EXPECT_LE(cluster.LivePods().size(), 5U);  // one more than asked for: 25 %
    EXPECT_GE(ready, 3U);
  }
  deployment = cluster.Get(At(kDeployments, "web"));
  EXPECT_EQ(NumberAt(deployment, {"status", "updatedReplicas"}), 4);
  EXPECT_EQ(NumberAt(deployment, {"status", "replicas"}), 4);
  EXPECT_EQ(TextAt(deployment, {"metadata", "annotations", "deployment.kubernetes.io/revision"}), "2");
  ASSERT_THAT(cluster.List(kReplicaSets), SizeIs(2));
  for (const json::object& pod : cluster.LivePods()) {
    EXPECT_NE(TextAt(pod, {"metadata", "labels", "pod-template-hash"}), "");
    EXPECT_EQ(TextAt(FindArray(pod, {"spec", "containers"})->at(0).get_object(), {"image"}), "i:2");
  }
}

TEST(DeploymentTest, RollbackReusesTheOldReplicaSetUnderANewRevision) {
  ClusterHarness cluster;
  cluster.Create(kDeployments, WorkloadJson("Deployment", "web", "i:1", R"("replicas":1)"));
  cluster.Run(4);
  const auto set_image = [&](const char* image) {
    cluster.api().Patch(At(kDeployments, "web"),
                        std::string(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":")") +
                            image + R"("}]}}}})");
    cluster.Run(8);
  };
  set_image("i:2");
  set_image("i:1");
  EXPECT_THAT(cluster.List(kReplicaSets), SizeIs(2));
  EXPECT_EQ(TextAt(cluster.Get(At(kDeployments, "web")),
                   {"metadata", "annotations", "deployment.kubernetes.io/revision"}),
            "3");
  std::vector<std::string> history;
  for (const json::object& set : cluster.List(kReplicaSets)) {
    history.emplace_back(
        TextAt(set, {"metadata", "annotations", "deployment.kubernetes.io/revision-history"}));
  }
  EXPECT_THAT(history, UnorderedElementsAre("1", ""));
}

TEST(DeploymentTest, RecreateWaitsUntilTheLastOldPodIsGone) {
  ClusterHarness cluster;
  cluster.Create(kDeployments,
                 WorkloadJson("Deployment", "web", "i:1", R"("replicas":2,"strategy":{"type":"Recreate"})"));
  cluster.Run(4);
  cluster.api().Patch(At(kDeployments, "web"),
                      R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}})");
  for (int i = 0; i < 8; ++i) {
    std::set<std::string> images;
    for (const json::object& pod : cluster.List(kPods)) {
      images.emplace(TextAt(FindArray(pod, {"spec", "containers"})->at(0).get_object(), {"image"}));
    }
    EXPECT_LE(images.size(), 1U);
    cluster.Run(1);
  }
  EXPECT_EQ(NumberAt(cluster.Get(At(kDeployments, "web")), {"status", "updatedReplicas"}), 2);
}

TEST(DeploymentTest, ARolloutThatDoesNotMoveExceedsItsDeadline) {
  ClusterHarness cluster;
  cluster.StopScheduling();
  cluster.Create(kDeployments,
                 WorkloadJson("Deployment", "web", "i:1", R"("replicas":1,"progressDeadlineSeconds":5)"));
  cluster.Run(3);
  EXPECT_THAT(ConditionStatus(cluster.Get(At(kDeployments, "web")), "Progressing"), StartsWith("True"));
  cluster.Run(6);
  EXPECT_EQ(ConditionStatus(cluster.Get(At(kDeployments, "web")), "Progressing"),
            "False ProgressDeadlineExceeded");
}

TEST(DeploymentTest, PausedOneScalesButKeepsItsTemplate) {
  ClusterHarness cluster;
  cluster.Create(kDeployments, WorkloadJson("Deployment", "web", "i:1", R"("replicas":2)"));
  cluster.Run(4);
  cluster.api().Patch(At(kDeployments, "web"),
                      R"({"spec":{"paused":true,"replicas":3,
                          "template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}})");
  cluster.Run(4);
  EXPECT_THAT(cluster.List(kReplicaSets), SizeIs(1));
  EXPECT_THAT(cluster.LivePods(), SizeIs(3));
  EXPECT_EQ(ConditionStatus(cluster.Get(At(kDeployments, "web")), "Progressing"), "Unknown DeploymentPaused");
  cluster.api().Patch(At(kDeployments, "web"), R"({"spec":{"paused":false}})");
  cluster.Run(12);
  EXPECT_EQ(NumberAt(cluster.Get(At(kDeployments, "web")), {"status", "updatedReplicas"}), 3);
}

TEST(DeploymentTest, OldReplicaSetsAreKeptUpToTheLimit) {
  ClusterHarness cluster;
  cluster.Create(kDeployments,
                 WorkloadJson("Deployment", "web", "i:0", R"("replicas":1,"revisionHistoryLimit":1)"));
  for (int i = 1; i < 5; ++i) {
    cluster.api().Patch(At(kDeployments, "web"),
                        R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:)" +
                            std::to_string(i) + R"("}]}}}})");
    cluster.Run(8);
  }
  EXPECT_THAT(cluster.List(kReplicaSets), SizeIs(2));
}

TEST(StatefulSetTest, PodsComeInOrderEachWithItsClaim) {
  ClusterHarness cluster;
  cluster.Create(
      kStatefulSets,
      WorkloadJson("StatefulSet", "db", "i:1",
                   R"("replicas":2,"serviceName":"db","volumeClaimTemplates":[{"metadata":{"name":"data"},
                                 "spec":{"accessModes":["ReadWriteOnce"],
                                         "resources":{"requests":{"storage":"1Gi"}}}}])"));
  EXPECT_THAT(cluster.Names(kPods), ElementsAre("db-0"));
  cluster.Run(4);
  EXPECT_THAT(cluster.Names(kPods), ElementsAre("db-0", "db-1"));
  EXPECT_THAT(cluster.Names("/api/v1/namespaces/default/persistentvolumeclaims"),
              ElementsAre("data-db-0", "data-db-1"));
  const json::object pod = cluster.Get(PodPath("db-1"));
  EXPECT_EQ(TextAt(pod, {"spec", "hostname"}), "db-1");
  EXPECT_EQ(TextAt(pod, {"spec", "subdomain"}), "db");
  EXPECT_EQ(TextAt(pod, {"metadata", "labels", "apps.kubernetes.io/pod-index"}), "1");
  EXPECT_THAT(cluster.api().Get(PodPath("db-1")).body, HasSubstr(R"("claimName":"data-db-1")"));
}

TEST(StatefulSetTest, NewTemplateReplacesPodsFromTheHighestDownToThePartition) {
  ClusterHarness cluster;
  cluster.Create(kStatefulSets,
                 WorkloadJson("StatefulSet", "db", "i:1", R"("replicas":3,"serviceName":"db")"));
  cluster.Run(6);
  cluster.api().Patch(At(kStatefulSets, "db"),
                      R"({"spec":{"updateStrategy":{"rollingUpdate":{"partition":1}},
                          "template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}})");
  cluster.Run(10);
  const auto image = [&](const char* pod) {
    const json::object document = cluster.Get(PodPath(pod));
    return std::string(TextAt(FindArray(document, {"spec", "containers"})->at(0).get_object(), {"image"}));
  };
  EXPECT_EQ(image("db-0"), "i:1");
  EXPECT_EQ(image("db-1"), "i:2");
  EXPECT_EQ(image("db-2"), "i:2");
  json::object set = cluster.Get(At(kStatefulSets, "db"));
  EXPECT_EQ(NumberAt(set, {"status", "updatedReplicas"}), 2);
  EXPECT_NE(TextAt(set, {"status", "currentRevision"}), TextAt(set, {"status", "updateRevision"}));
  cluster.api().Patch(At(kStatefulSets, "db"),
                      R"({"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}})");
  cluster.Run(6);
  set = cluster.Get(At(kStatefulSets, "db"));
  EXPECT_EQ(image("db-0"), "i:2");
  EXPECT_EQ(TextAt(set, {"status", "currentRevision"}), TextAt(set, {"status", "updateRevision"}));
  EXPECT_THAT(cluster.List("/apis/apps/v1/namespaces/default/controllerrevisions"), SizeIs(2));
}

TEST(StatefulSetTest, ScalesDownFromTheHighestOneAtATime) {
  ClusterHarness cluster;
  cluster.Create(kStatefulSets,
                 WorkloadJson("StatefulSet", "db", "i:1", R"("replicas":3,"serviceName":"db")"));
  cluster.Run(6);
  cluster.api().Patch(At(kStatefulSets, "db"), R"({"spec":{"replicas":1}})");
  EXPECT_THAT(cluster.LivePods(), SizeIs(2));
  cluster.Run(4);
  EXPECT_THAT(cluster.Names(kPods), ElementsAre("db-0"));
}

TEST(JobTest, CompletesAfterAsManySuccessesAsAsked) {
  ClusterHarness cluster;
  cluster.Create(kJobs, JobJson("sum", R"("completions":3,"parallelism":2,)"));
  EXPECT_THAT(cluster.List(kPods), SizeIs(2));
  cluster.Run(12);
  const json::object job = cluster.Get(At(kJobs, "sum"));
  EXPECT_EQ(NumberAt(job, {"status", "succeeded"}), 3);
  EXPECT_EQ(ConditionStatus(job, "Complete"), "True CompletionsReached");
  EXPECT_EQ(ConditionStatus(job, "SuccessCriteriaMet"), "True CompletionsReached");
  EXPECT_NE(TextAt(job, {"status", "completionTime"}), "");
  EXPECT_THAT(cluster.List(kPods), SizeIs(3));
  for (const json::object& pod : cluster.List(kPods)) {
    EXPECT_EQ(FindArray(pod, {"metadata", "finalizers"}), nullptr);
    EXPECT_EQ(TextAt(pod, {"metadata", "labels", "batch.kubernetes.io/job-name"}), "sum");
  }
}

TEST(JobTest, FailsBeyondTheBackoffLimitWithGrowingPauses) {
  ClusterHarness cluster;
  cluster.Create(kJobs, JobJson("sum", R"("backoffLimit":2,)", R"("berth.dev/exit-code":"1")"));
  cluster.Run(8);
  EXPECT_EQ(NumberAt(cluster.Get(At(kJobs, "sum")), {"status", "failed"}),
            1);  // the second waits for 10 seconds
  cluster.Run(60);
  const json::object job = cluster.Get(At(kJobs, "sum"));
  EXPECT_EQ(NumberAt(job, {"status", "failed"}), 3);
  EXPECT_EQ(ConditionStatus(job, "Failed"), "True BackoffLimitExceeded");
}

TEST(JobTest, IndexedPodsAreOnePerIndex) {
  ClusterHarness cluster;
  cluster.Create(kJobs, JobJson("sum", R"("completions":3,"parallelism":3,"completionMode":"Indexed",)"));
  cluster.Run(8);
  EXPECT_EQ(TextAt(cluster.Get(At(kJobs, "sum")), {"status", "completedIndexes"}), "0-2");
  std::set<std::string> hosts;
  for (const json::object& pod : cluster.List(kPods)) hosts.emplace(TextAt(pod, {"spec", "hostname"}));
  EXPECT_EQ(hosts, (std::set<std::string>{"sum-0", "sum-1", "sum-2"}));
}

TEST(JobTest, SuspendedOneHasNoPodsUntilItIsResumed) {
  ClusterHarness cluster;
  cluster.Create(kJobs, JobJson("sum", R"("suspend":true,)"));
  cluster.Run(2);
  EXPECT_THAT(cluster.List(kPods), IsEmpty());
  EXPECT_EQ(ConditionStatus(cluster.Get(At(kJobs, "sum")), "Suspended"), "True JobSuspended");
  cluster.api().Patch(At(kJobs, "sum"), R"({"spec":{"suspend":false}})");
  cluster.Run(6);
  EXPECT_EQ(ConditionStatus(cluster.Get(At(kJobs, "sum")), "Suspended"), "False JobResumed");
  EXPECT_EQ(ConditionStatus(cluster.Get(At(kJobs, "sum")), "Complete"), "True CompletionsReached");
}

TEST(JobTest, FinishedOneGoesAfterItsTimeToLive) {
  ClusterHarness cluster;
  cluster.Create(kJobs, JobJson("sum", R"("ttlSecondsAfterFinished":5,)"));
  cluster.Run(6);
  EXPECT_EQ(cluster.api().Get(At(kJobs, "sum")).code, 200);
  cluster.Run(8);
  EXPECT_EQ(cluster.api().Get(At(kJobs, "sum")).code, 404);
  EXPECT_THAT(cluster.List(kPods), IsEmpty());
}

TEST(JobTest, DeadlineEndsIt) {
  ClusterHarness cluster;
  cluster.Create(kJobs, JobJson("sum", R"("activeDeadlineSeconds":4,)", R"("berth.dev/run-seconds":"100")"));
  cluster.Run(8);
  EXPECT_EQ(ConditionStatus(cluster.Get(At(kJobs, "sum")), "Failed"), "True DeadlineExceeded");
  EXPECT_THAT(cluster.LivePods(), IsEmpty());
}

TEST(JobIndexes, PrintAsRangesAndReadBack) {
  EXPECT_EQ(FormatIndexes({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(FormatIndexes({}), "");
  EXPECT_EQ(ParseIndexes("0-2,5,7-8"), (std::set<std::int64_t>{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(ParseIndexes("x,3"), (std::set<std::int64_t>{3}));
}

}  // namespace
}  // namespace berth::sandbox::test
