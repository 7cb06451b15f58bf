#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cluster_harness.h"

// What keeps a cluster in order: garbage collection, disruption budgets, taints, claims, service accounts.
namespace berth::sandbox::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kWeb = "/apis/apps/v1/namespaces/default/deployments/web";
constexpr const char* kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kClaims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
constexpr const char* kTemplates = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates";

class Collection : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Create(kDeployments, WorkloadJson("Deployment", "web", "i:1", R"("replicas":2)"));
    cluster_.Run(4);
    ASSERT_THAT(cluster_.LivePods(), SizeIs(2));
  }
  std::string OwnedConfigMap(std::string_view name, std::string_view owner_name, std::string_view uid) {
    std::string text = R"({"metadata":{"name":")";
    text.append(name).append(R"(","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":")");
    return text.append(owner_name).append(R"(","uid":")").append(uid).append(R"("}]}})");
  }

  ClusterHarness cluster_;
};

TEST_F(Collection, BackgroundDeletionTakesEverythingBelow) {
  EXPECT_EQ(cluster_.api().Delete(kWeb, R"({"propagationPolicy":"Background"})").code, 200);
  EXPECT_EQ(cluster_.api().Get(kWeb).code, 404);
  EXPECT_THAT(cluster_.List(kReplicaSets), IsEmpty());
  cluster_.Run(3);
  EXPECT_THAT(cluster_.List(kPods), IsEmpty());
}

TEST_F(Collection, ForegroundDeletionEndsWithTheOwner) {
  EXPECT_EQ(cluster_.api().Delete(kWeb, R"({"propagationPolicy":"Foreground"})").code, 200);
  const json::object deployment = cluster_.Get(kWeb);
  EXPECT_EQ(FindArray(deployment, {"metadata", "finalizers"})->at(0), "foregroundDeletion");
  EXPECT_NE(TextAt(deployment, {"metadata", "deletionTimestamp"}), "");
  cluster_.Run(3);
  EXPECT_THAT(cluster_.List(kPods), IsEmpty());
  EXPECT_THAT(cluster_.List(kReplicaSets), IsEmpty());
  EXPECT_EQ(cluster_.api().Get(kWeb).code, 404);
}

TEST_F(Collection, OrphansStayAndAreTakenOverByANamesake) {
  EXPECT_EQ(cluster_.api().Delete(kWeb, R"({"propagationPolicy":"Orphan"})").code, 200);
  EXPECT_EQ(cluster_.api().Get(kWeb).code, 404);
  const std::vector<std::string> sets = cluster_.Names(kReplicaSets);
  ASSERT_THAT(sets, SizeIs(1));
  EXPECT_THAT(cluster_.LivePods(), SizeIs(2));
  cluster_.Create(kDeployments, WorkloadJson("Deployment", "web", "i:1", R"("replicas":2)"));
  cluster_.Run(2);
  EXPECT_EQ(cluster_.Names(kReplicaSets), sets);
  EXPECT_THAT(cluster_.LivePods(), SizeIs(2));
}

TEST_F(Collection, UnknownPolicyIsRefused) {
  const Reply reply = cluster_.api().Delete(kWeb, R"({"propagationPolicy":"Sideways"})");
  EXPECT_EQ(reply.code, 422);
  EXPECT_THAT(reply.message(), HasSubstr("propagationPolicy: Unsupported value: \"Sideways\""));
}

TEST_F(Collection, ObjectOfTwoOwnersStaysAsLongAsOneIsThere) {
  const auto uid = [&](const char* name) {
    return std::string(TextAt(cluster_.Get(std::string(kConfigMaps) + "/" + name), {"metadata", "uid"}));
  };
  for (const char* name : {"a", "b"}) {
    cluster_.Create(kConfigMaps, std::string(R"({"metadata":{"name":")") + name + "\"}}");
  }
  std::string child = OwnedConfigMap("child", "a", uid("a"));
  child.insert(child.rfind(']'),
               R"(,{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":")" + uid("b") + "\"}");
  cluster_.Create(kConfigMaps, child);
  cluster_.api().Delete(std::string(kConfigMaps) + "/a");
  const json::object left = cluster_.Get(std::string(kConfigMaps) + "/child");
  ASSERT_THAT(*FindArray(left, {"metadata", "ownerReferences"}), SizeIs(1));
  cluster_.api().Delete(std::string(kConfigMaps) + "/b");
  EXPECT_EQ(cluster_.api().Get(std::string(kConfigMaps) + "/child").code, 404);
}

TEST_F(Collection, ObjectWhoseOwnerNeverWasIsRemovedButNotOneOfAnUnknownKind) {
  cluster_.api().Post(kConfigMaps, OwnedConfigMap("lost", "nobody", "no-such-uid"));
  EXPECT_EQ(cluster_.api().Get(std::string(kConfigMaps) + "/lost").code, 404);
  cluster_.api().Post(kConfigMaps, R"({"metadata":{"name":"kept","ownerReferences":[
      {"apiVersion":"example.com/v1","kind":"Thing","name":"t","uid":"u"}]}})");
  EXPECT_EQ(cluster_.api().Get(std::string(kConfigMaps) + "/kept").code, 200);
}

TEST_F(Collection, BudgetAllowsWhatIsAboveItsMinimumAndThenNothing) {
  cluster_.Create(kBudgets, R"({"metadata":{"name":"web"},"spec":{"maxUnavailable":1,
      "selector":{"matchLabels":{"app":"web"}}}})");
  json::object budget = cluster_.Get(std::string(kBudgets) + "/web");
  EXPECT_EQ(NumberAt(budget, {"status", "expectedPods"}), 2);
  EXPECT_EQ(NumberAt(budget, {"status", "currentHealthy"}), 2);
  EXPECT_EQ(NumberAt(budget, {"status", "desiredHealthy"}), 1);
  EXPECT_EQ(NumberAt(budget, {"status", "disruptionsAllowed"}), 1);
  EXPECT_EQ(ConditionStatus(budget, "DisruptionAllowed"), "True SufficientPods");
  const std::vector<std::string> pods = cluster_.Names(kPods);
  const auto evict = [&](const std::string& pod) {
    return cluster_.api()
        .Post(PodPath(pod) + "/eviction",
              R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" + pod + "\"}}")
        .code;
  };
  EXPECT_EQ(evict(pods[0]), 201);
  EXPECT_EQ(evict(pods[1]), 429);
  budget = cluster_.Get(std::string(kBudgets) + "/web");
  EXPECT_EQ(ConditionStatus(budget, "DisruptionAllowed"), "False InsufficientPods");
  cluster_.Run(4);
  EXPECT_EQ(NumberAt(cluster_.Get(std::string(kBudgets) + "/web"), {"status", "disruptionsAllowed"}), 1);
}

TEST_F(Collection, PercentagesOfABudgetCountTheReplicasThatShouldBe) {
  cluster_.Create(kBudgets, R"({"metadata":{"name":"web"},"spec":{"minAvailable":"50%",
      "selector":{"matchLabels":{"app":"web"}}}})");
  cluster_.StopScheduling();
  cluster_.api().Patch(kWeb, R"({"spec":{"replicas":6}})");
  cluster_.Run(2);
  const json::object budget = cluster_.Get(std::string(kBudgets) + "/web");
  EXPECT_EQ(NumberAt(budget, {"status", "expectedPods"}), 6);
  EXPECT_EQ(NumberAt(budget, {"status", "desiredHealthy"}), 3);
  EXPECT_EQ(NumberAt(budget, {"status", "disruptionsAllowed"}), 0);
}

TEST_F(Collection, CordonedNodeIsTaintedAndUncordonedIsNot) {
  cluster_.api().Patch("/api/v1/nodes/node-1", R"({"spec":{"unschedulable":true}})");
  EXPECT_THAT(cluster_.api().Get("/api/v1/nodes/node-1").body,
              HasSubstr(R"("key":"node.kubernetes.io/unschedulable","effect":"NoSchedule")"));
  cluster_.api().Patch("/api/v1/nodes/node-1", R"({"spec":{"unschedulable":null}})");
  EXPECT_EQ(cluster_.api().Get("/api/v1/nodes/node-1").body.find("taints"), std::string::npos);
}

TEST_F(Collection, NodeThatIsNotReadyLosesItsPodsAfterTheirToleration) {
  cluster_.api().Patch("/api/v1/nodes/node-1/status",
                       R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})");
  const json::object node = cluster_.Get("/api/v1/nodes/node-1");
  ASSERT_THAT(*FindArray(node, {"spec", "taints"}), SizeIs(2));
  const auto on_node = [&] {
    int count = 0;
    for (const json::object& pod : cluster_.LivePods())
      count += TextAt(pod, {"spec", "nodeName"}) == "node-1" ? 1 : 0;
    return count;
  };
  cluster_.StopScheduling();
  EXPECT_EQ(on_node(), 1);
  cluster_.Run(298);
  EXPECT_EQ(on_node(), 1);
  cluster_.Run(4);
  EXPECT_EQ(on_node(), 0);
}

TEST_F(Collection, NoExecuteTaintDeletesAtOnceWhatDoesNotTolerateIt) {
  cluster_.StopScheduling();
  cluster_.api().Patch("/api/v1/nodes/node-1", R"({"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}})");
  for (const json::object& pod : cluster_.LivePods()) EXPECT_NE(TextAt(pod, {"spec", "nodeName"}), "node-1");
  EXPECT_THAT(cluster_.api().Get("/api/v1/namespaces/default/events").body,
              HasSubstr("TaintManagerEviction"));
}

TEST(ResourceClaims, AreMadeFromTemplatesAndGoWhenThePodIsDone) {
  ClusterHarness cluster;
  const char* pod =
      R"({"metadata":{"name":"p","annotations":{"berth.dev/run-seconds":"3"}},"spec":{"restartPolicy":"Never",
      "containers":[{"name":"c","image":"i:1"}],
      "resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"one-gpu"}]}})";
  cluster.StopScheduling();
  cluster.Create(kPods, pod);
  EXPECT_THAT(cluster.List(kClaims), IsEmpty());
  // The template may come later.
  cluster.Create(kTemplates, R"({"metadata":{"name":"one-gpu"},"spec":{"spec":{"devices":{"requests":[
      {"name":"r","exactly":{"deviceClassName":"gpu"}}]}}}})");
  const std::vector<std::string> claims = cluster.Names(kClaims);
  ASSERT_THAT(claims, SizeIs(1));
  EXPECT_THAT(claims.front(), StartsWith("p-gpu-"));
  EXPECT_THAT(cluster.api().Get(PodPath("p")).body, HasSubstr(R"("resourceClaimName":")" + claims.front()));
  const std::string claim = std::string(kClaims) + "/" + claims.front();
  const std::string uid(TextAt(cluster.Get(PodPath("p")), {"metadata", "uid"}));
  ASSERT_EQ(cluster.api()
                .Patch(claim + "/status", R"({"status":{"allocation":{},"reservedFor":[
                    {"resource":"pods","name":"p","uid":")" +
                                              uid + "\"}]}}")
                .code,
            200);
  cluster.api().Post(PodPath("p") + "/binding", BindingJson("p", "node-1"));
  cluster.Run(8);
  EXPECT_EQ(TextAt(cluster.Get(PodPath("p")), {"status", "phase"}), "Succeeded");
  EXPECT_EQ(cluster.api().Get(claim).code, 404);
}

TEST(ResourceClaims, ASharedClaimLosesItsAllocationWithItsLastUser) {
  ClusterHarness cluster;
  cluster.StopScheduling();
  cluster.Create(kClaims, R"({"metadata":{"name":"shared"},"spec":{}})");
  cluster.Create(kPods, PodJson("p", R"(,"resourceClaims":[{"name":"gpu","resourceClaimName":"shared"}])"));
  const std::string uid(TextAt(cluster.Get(PodPath("p")), {"metadata", "uid"}));
  const std::string claim = std::string(kClaims) + "/shared";
  cluster.api().Patch(claim + "/status", R"({"status":{"allocation":{},"reservedFor":[
      {"resource":"pods","name":"p","uid":")" +
                                             uid + "\"}]}}");
  ASSERT_NE(FindObject(cluster.Get(claim), {"status", "allocation"}), nullptr);
  cluster.api().Delete(PodPath("p"));
  const json::object left = cluster.Get(claim);
  EXPECT_EQ(FindObject(left, {"status", "allocation"}), nullptr);
  EXPECT_EQ(FindArray(left, {"status", "reservedFor"}), nullptr);
}

TEST(ServiceAccountsTest, EveryNamespaceHasADefaultOneAndGetsItBack) {
  ClusterHarness cluster;
  const std::string path = "/api/v1/namespaces/default/serviceaccounts";
  EXPECT_THAT(cluster.Names(path), ElementsAre("default"));
  cluster.api().Delete(path + "/default");
  EXPECT_THAT(cluster.Names(path), ElementsAre("default"));
  EXPECT_THAT(cluster.Names("/api/v1/namespaces/default/services"), ElementsAre("kubernetes"));
}

TEST(ControllersTest, EachCanBeLeftOutByItsName) {
  EXPECT_TRUE(Controllers::Check({.disabled = {"job-controller"}}).has_value());
  EXPECT_THAT(Controllers::Check({.disabled = {"jobs"}}).error().message,
              HasSubstr("no controller \"jobs\""));
  ApiHarness api;
  const Controllers controllers(api.plane(), {.disabled = {"job-controller"}});
  ASSERT_EQ(api.Post(kJobs, JobJson("sum", "")).code, 201);
  ASSERT_EQ(api.Post(kDeployments, WorkloadJson("Deployment", "web", "i:1", R"("replicas":1)")).code, 201);
  const json::object pods = api.Get(kPods).document();
  EXPECT_THAT(*FindArray(pods, {"items"}), SizeIs(1));
}

}  // namespace
}  // namespace berth::sandbox::test
