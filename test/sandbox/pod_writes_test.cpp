#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"

// The rules for writing pods that schedulers and kubectl rely on: bindings, deletions, status, conflicts.
namespace berth::sandbox::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class PodWrites : public testing::Test {
 protected:
  Reply Bind(std::string_view pod, std::string_view node) {
    return api_.Post(PodPath(pod) + "/binding", BindingJson(pod, node));
  }
  void CreatePod(std::string_view name, std::string_view more = "") {
    const Reply reply = api_.Post(kPods, PodJson(name, more));
    ASSERT_EQ(reply.code, 201) << reply.body;
  }

  ApiHarness api_;
};

TEST_F(PodWrites, Case44SecondBindingIsAConflictThatNamesTheNode) {
  CreatePod("p");
  EXPECT_EQ(Bind("p", "n").code, 201);
  const Reply again = Bind("p", "m");
  EXPECT_EQ(again.code, 409);
  EXPECT_EQ(again.message(),
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n\"");
  EXPECT_EQ(again.text({"details", "kind"}), "pods/binding");
  EXPECT_EQ(again.text({"reason"}), "Conflict");
}

TEST_F(PodWrites, Case45BindingIsRefusedForEachReasonWithItsCode) {
  CreatePod("gated", R"(,"schedulingGates":[{"name":"g"}])");
  EXPECT_EQ(Bind("gated", "n").code, 409);
  EXPECT_THAT(Bind("gated", "n").message(), HasSubstr("has non-empty .spec.schedulingGates"));

  CreatePod("leaving");
  EXPECT_EQ(api_.Patch(PodPath("leaving"), R"({"metadata":{"finalizers":["a/b"]}})").code, 200);
  EXPECT_EQ(api_.Delete(PodPath("leaving")).code, 200);
  EXPECT_EQ(Bind("leaving", "n").code, 409);
  EXPECT_THAT(Bind("leaving", "n").message(), HasSubstr("is being deleted, cannot be assigned to a host"));

  CreatePod("p");
  const Reply wrong_uid =
      api_.Post(PodPath("p") + "/binding",
                R"({"metadata":{"name":"p","uid":"other"},"target":{"kind":"Node","name":"n"}})");
  EXPECT_EQ(wrong_uid.code, 409);
  EXPECT_EQ(wrong_uid.text({"details", "kind"}), "pods");
  EXPECT_EQ(Bind("missing", "n").code, 404);
  const Reply no_target = api_.Post(PodPath("p") + "/binding", R"({"metadata":{"name":"p"},"target":{}})");
  EXPECT_EQ(no_target.code, 500);
  EXPECT_EQ(no_target.text({"reason"}), "");
  const Reply other_name = api_.Post(PodPath("p") + "/binding", BindingJson("q", "n"));
  EXPECT_EQ(other_name.code, 400);
  EXPECT_EQ(other_name.message(), "name in URL does not match name in Binding object");

  EXPECT_EQ(Bind("p", "a-node-that-nobody-knows").code, 201);
}

TEST_F(PodWrites, Case46BindingSetsNodeAndConditionAndTopologyInOneEvent) {
  ASSERT_EQ(api_.Post("/api/v1/nodes", R"({"metadata":{"name":"n","labels":{
      "topology.kubernetes.io/zone":"z1","topology.kubernetes.io/region":"r1"}}})")
                .code,
            201);
  CreatePod("p");
  ASSERT_EQ(api_.Patch(PodPath("p") + "/status", R"({"status":{"nominatedNodeName":"n","conditions":[
      {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no"}]}})")
                .code,
            200);
  const auto watch = api_.Watch(std::string(kPods) + "?watch=true&resourceVersion=" + api_.version());
  ASSERT_EQ(Bind("p", "n").code, 201);

  EXPECT_THAT(watch->story(), ElementsAre("MODIFIED p"));
  const json::object pod = api_.Get(PodPath("p")).document();
  EXPECT_EQ(TextAt(pod, {"spec", "nodeName"}), "n");
  EXPECT_EQ(FindValue(pod, {"status", "nominatedNodeName"}), nullptr);
  EXPECT_EQ(TextAt(pod, {"metadata", "labels", "topology.kubernetes.io/zone"}), "z1");
  EXPECT_EQ(TextAt(pod, {"metadata", "labels", "topology.kubernetes.io/region"}), "r1");
  EXPECT_EQ(NumberAt(pod, {"metadata", "generation"}), 1);
  const json::object& condition = FindArray(pod, {"status", "conditions"})->at(0).as_object();
  EXPECT_EQ(TextAt(condition, {"status"}), "True");
  EXPECT_EQ(condition.if_contains("reason"), nullptr);
  EXPECT_EQ(condition.if_contains("message"), nullptr);
}

TEST_F(PodWrites, OlderBindingsEndpointBindsToo) {
  CreatePod("p");
  EXPECT_EQ(api_.Post("/api/v1/namespaces/default/bindings", BindingJson("p", "n")).code, 201);
  EXPECT_EQ(api_.Get(PodPath("p")).text({"spec", "nodeName"}), "n");
}

TEST_F(PodWrites, Case47GatesBecomeAConditionThatOutlivesThem) {
  CreatePod("p", R"(,"schedulingGates":[{"name":"a"},{"name":"b"}])");
  const json::object gated = api_.Get(PodPath("p")).document();
  const json::object& condition = FindArray(gated, {"status", "conditions"})->at(0).as_object();
  EXPECT_EQ(TextAt(condition, {"reason"}), "SchedulingGated");
  EXPECT_EQ(TextAt(condition, {"message"}), "Scheduling is blocked due to non-empty scheduling gates");

  ASSERT_EQ(api_.Patch(PodPath("p"), R"({"spec":{"schedulingGates":null}})").code, 200);
  const json::object free = api_.Get(PodPath("p")).document();
  EXPECT_EQ(NumberAt(free, {"metadata", "generation"}), 2);
  EXPECT_EQ(*FindArray(free, {"status", "conditions"}), *FindArray(gated, {"status", "conditions"}));
}

TEST_F(PodWrites, Case47GatesCanOnlyGo) {
  CreatePod("p", R"(,"schedulingGates":[{"name":"a"}])");
  const Reply added = api_.Patch(PodPath("p"), R"({"spec":{"schedulingGates":[{"name":"z"}]}})");
  EXPECT_EQ(added.code, 422);
  EXPECT_THAT(added.message(), HasSubstr("only deletion is allowed, but found new scheduling gate 'z'"));
  const Reply placed = api_.Post(kPods, PodJson("q", R"(,"nodeName":"n","schedulingGates":[{"name":"a"}])"));
  EXPECT_EQ(placed.code, 422);
  EXPECT_EQ(
      placed.message(),
      "Pod \"q\" is invalid: spec.nodeName: Forbidden: cannot be set until all schedulingGates have been "
      "cleared");
  const json::object status = placed.document();
  const json::object& cause = FindArray(status, {"details", "causes"})->at(0).as_object();
  EXPECT_EQ(TextAt(cause, {"reason"}), "FieldValueForbidden");
  EXPECT_EQ(TextAt(cause, {"field"}), "spec.nodeName");
}

TEST_F(PodWrites, Case53BoundPodCannotBeNominated) {
  CreatePod("p");
  ASSERT_EQ(Bind("p", "n").code, 201);
  const std::string status = PodPath("p") + "/status";
  const Reply nominated = api_.Patch(status, R"({"status":{"nominatedNodeName":"m"}})");
  EXPECT_EQ(nominated.code, 422);
  EXPECT_THAT(
      nominated.message(),
      HasSubstr(
          "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"));
  EXPECT_EQ(api_.Patch(status, R"({"status":{"nominatedNodeName":""}})").code, 200);
}

TEST_F(PodWrites, Case48PriorityComesFromTheClass) {
  CreatePod("plain");
  EXPECT_EQ(NumberAt(api_.Get(PodPath("plain")).document(), {"spec", "priority"}), 0);
  const auto add_class = [&](std::string_view name, int value) {
    return api_.Post("/apis/scheduling.k8s.io/v1/priorityclasses",
                     R"({"metadata":{"name":")" + std::string(name) + R"("},"globalDefault":true,"value":)" +
                         std::to_string(value) + "}");
  };
  ASSERT_EQ(add_class("high", 20).code, 201);
  ASSERT_EQ(add_class("low", 10).code, 201);
  CreatePod("defaulted");
  const json::object pod = api_.Get(PodPath("defaulted")).document();
  EXPECT_EQ(NumberAt(pod, {"spec", "priority"}), 10);
  EXPECT_EQ(TextAt(pod, {"spec", "priorityClassName"}), "low");

  const Reply unknown = api_.Post(kPods, PodJson("q", R"(,"priorityClassName":"nope")"));
  EXPECT_EQ(unknown.code, 403);
  EXPECT_EQ(unknown.message(), "pods \"q\" is forbidden: no PriorityClass with name nope was found");
  const Reply preset = api_.Post(kPods, PodJson("q", R"(,"priority":5)"));
  EXPECT_EQ(preset.code, 403);
  EXPECT_THAT(preset.message(),
              HasSubstr("the integer value of priority (5) must not be provided in pod spec"));
}

TEST_F(PodWrites, Case49TolerationsForUnreadyNodesAreAddedUnlessThePodSaysSo) {
  CreatePod("plain");
  const json::object plain = api_.Get(PodPath("plain")).document();
  const json::array& added = *FindArray(plain, {"spec", "tolerations"});
  ASSERT_EQ(added.size(), 2U);
  EXPECT_EQ(TextAt(added[0].as_object(), {"key"}), "node.kubernetes.io/not-ready");
  EXPECT_EQ(TextAt(added[1].as_object(), {"key"}), "node.kubernetes.io/unreachable");

  CreatePod("all", R"(,"tolerations":[{"operator":"Exists"}])");
  const json::object all = api_.Get(PodPath("all")).document();
  EXPECT_EQ(FindArray(all, {"spec", "tolerations"})->size(), 1U);

  CreatePod("other", R"(,"tolerations":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}])");
  const json::object other = api_.Get(PodPath("other")).document();
  EXPECT_EQ(FindArray(other, {"spec", "tolerations"})->size(), 3U);
}

TEST_F(PodWrites, Case51UnboundPodGoesAtOnceAndBoundPodIsGivenItsGrace) {
  CreatePod("unbound");
  CreatePod("bound");
  ASSERT_EQ(Bind("bound", "n").code, 201);
  const auto watch = api_.Watch(std::string(kPods) + "?watch=true&resourceVersion=" + api_.version());

  EXPECT_EQ(api_.Delete(PodPath("unbound")).code, 200);
  EXPECT_THAT(watch->story(), ElementsAre("MODIFIED unbound", "DELETED unbound"));
  EXPECT_EQ(NumberAt(watch->events()[0].object, {"metadata", "generation"}), 2);

  const Reply marked = api_.Delete(PodPath("bound"));
  EXPECT_EQ(NumberAt(marked.document(), {"metadata", "deletionGracePeriodSeconds"}), 30);
  EXPECT_EQ(marked.text({"metadata", "deletionTimestamp"}), "2023-11-14T22:13:50Z");
  EXPECT_EQ(api_.Get(PodPath("bound")).code, 200);
  EXPECT_EQ(api_.Delete(PodPath("bound"), R"({"gracePeriodSeconds":0})").code, 200);
  EXPECT_EQ(api_.Get(PodPath("bound")).code, 404);
  EXPECT_EQ(watch->story().back(), "DELETED bound");
}

TEST_F(PodWrites, Case51FinalizerHoldsThePodUntilItIsRemoved) {
  CreatePod("held");
  ASSERT_EQ(api_.Patch(PodPath("held"), R"({"metadata":{"finalizers":["a/b"]}})").code, 200);
  EXPECT_EQ(api_.Delete(PodPath("held")).code, 200);
  EXPECT_EQ(api_.Get(PodPath("held")).code, 200);
  EXPECT_EQ(api_.Patch(PodPath("held"), R"({"metadata":{"finalizers":null}})").code, 200);
  EXPECT_EQ(api_.Get(PodPath("held")).code, 404);
}

TEST_F(PodWrites, LaterDeleteCanOnlyShortenTheGrace) {
  CreatePod("p");
  ASSERT_EQ(Bind("p", "n").code, 201);
  EXPECT_EQ(api_.Delete(PodPath("p"), R"({"gracePeriodSeconds":10})").code, 200);
  EXPECT_EQ(api_.Delete(PodPath("p"), R"({"gracePeriodSeconds":60})").code, 200);
  EXPECT_EQ(NumberAt(api_.Get(PodPath("p")).document(), {"metadata", "deletionGracePeriodSeconds"}), 10);
}

TEST_F(PodWrites, DeletePreconditionsAreChecked) {
  CreatePod("p");
  const Reply wrong = api_.Delete(PodPath("p"), R"({"preconditions":{"uid":"x"}})");
  EXPECT_EQ(wrong.code, 409);
  EXPECT_THAT(wrong.message(),
              HasSubstr("the UID in the precondition (x) does not match the UID in record ("));
}

TEST_F(PodWrites, Case52PatchThatChangesNothingIsNoWrite) {
  CreatePod("p");
  const std::string before = api_.version();
  const auto watch = api_.Watch(std::string(kPods) + "?watch=true&resourceVersion=" + before);
  const Reply patched = api_.Patch(PodPath("p"), R"({"spec":{"schedulerName":"default-scheduler"}})");
  EXPECT_EQ(patched.code, 200);
  EXPECT_EQ(patched.version(), before);
  EXPECT_EQ(api_.version(), before);
  EXPECT_TRUE(watch->bytes.empty());
}

TEST_F(PodWrites, Case52StalePutIsAConflict) {
  CreatePod("p");
  const Reply first = api_.Get(PodPath("p"));
  ASSERT_EQ(api_.Patch(PodPath("p"), R"({"metadata":{"labels":{"a":"b"}}})").code, 200);
  const Reply stale = api_.Put(PodPath("p"), first.body);
  EXPECT_EQ(stale.code, 409);
  EXPECT_EQ(
      stale.message(),
      "Operation cannot be fulfilled on pods \"p\": the object has been modified; please apply your changes "
      "to the latest version and try again");
  const Reply patched =
      api_.Patch(PodPath("p"), R"({"metadata":{"resourceVersion":"1","labels":{"a":"c"}}})");
  EXPECT_EQ(patched.code, 409);
}

TEST_F(PodWrites, Case52NodeKeepsItsStatusOnPostAndOnPut) {
  const Reply made =
      api_.Post("/api/v1/nodes", R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"}}})");
  ASSERT_EQ(made.code, 201);
  EXPECT_EQ(made.text({"status", "capacity", "cpu"}), "4");
  EXPECT_EQ(made.text({"status", "allocatable", "cpu"}), "4");
  const Reply put = api_.Put(
      "/api/v1/nodes/n", R"({"metadata":{"name":"n","labels":{"a":"b"}},"status":{"capacity":{"cpu":"8"}}})");
  EXPECT_EQ(put.code, 200);
  EXPECT_EQ(put.text({"status", "capacity", "cpu"}), "4");
  EXPECT_EQ(put.text({"metadata", "labels", "a"}), "b");
}

TEST_F(PodWrites, Case53StatusAndSpecHaveTheirOwnEndpoints) {
  CreatePod("p");
  EXPECT_EQ(
      api_.Patch(PodPath("p") + "/status", R"({"spec":{"nodeName":"n"},"status":{"phase":"Running"}})").code,
      200);
  json::object pod = api_.Get(PodPath("p")).document();
  EXPECT_EQ(TextAt(pod, {"spec", "nodeName"}), "");
  EXPECT_EQ(TextAt(pod, {"status", "phase"}), "Running");
  ObjectAt(pod, {"status"})["phase"] = "Failed";
  EXPECT_EQ(api_.Put(PodPath("p"), wire::WriteJson(pod)).code, 200);
  EXPECT_EQ(api_.Get(PodPath("p")).text({"status", "phase"}), "Running");
}

TEST_F(PodWrites, Case58GeneratedNamesAreCutAndCompleted) {
  const std::string base(70, 'x');
  const Reply made = api_.Post(kPods, R"({"metadata":{"generateName":")" + base +
                                          R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  ASSERT_EQ(made.code, 201);
  const std::string name = made.text({"metadata", "name"});
  EXPECT_EQ(name.size(), 63U);
  EXPECT_THAT(name, StartsWith(std::string(58, 'x')));
  EXPECT_EQ(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 58), std::string::npos);
}

TEST_F(PodWrites, Case58PostRefusesAVersionAndATakenName) {
  const Reply versioned = api_.Post(kPods, R"({"metadata":{"name":"p","resourceVersion":"3"}})");
  EXPECT_EQ(versioned.code, 500);
  EXPECT_THAT(versioned.message(), HasSubstr("resourceVersion should not be set on objects to be created"));
  CreatePod("p");
  const Reply twice = api_.Post(kPods, PodJson("p"));
  EXPECT_EQ(twice.code, 409);
  EXPECT_EQ(twice.text({"reason"}), "AlreadyExists");
  EXPECT_EQ(twice.message(), "pods \"p\" already exists");
}

TEST_F(PodWrites, DryRunAnswersWithoutStoring) {
  const Reply dry = api_.Post(std::string(kPods) + "?dryRun=All", PodJson("p"));
  EXPECT_EQ(dry.code, 201);
  EXPECT_EQ(dry.text({"spec", "schedulerName"}), "default-scheduler");
  EXPECT_EQ(api_.Get(PodPath("p")).code, 404);
}

TEST_F(PodWrites, NamespaceMustExistAndAgree) {
  const Reply missing = api_.Post("/api/v1/namespaces/nowhere/pods", PodJson("p"));
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(missing.message(), "namespaces \"nowhere\" not found");
  const Reply other = api_.Post(kPods, R"({"metadata":{"name":"p","namespace":"kube-system"}})");
  EXPECT_EQ(other.code, 400);
  EXPECT_EQ(other.message(),
            "the namespace of the provided object does not match the namespace sent on the request");
}

TEST_F(PodWrites, EvictionObeysTheDisruptionBudget) {
  ASSERT_EQ(api_.Post(kPods, R"({"metadata":{"name":"p","labels":{"app":"a"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}})")
                .code,
            201);
  ASSERT_EQ(api_.Patch(PodPath("p") + "/status", R"({"status":{"phase":"Running"}})").code, 200);
  ASSERT_EQ(api_.Post("/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                      R"({"metadata":{"name":"b"},"spec":{"selector":{"matchLabels":{"app":"a"}}}})")
                .code,
            201);
  const std::string eviction = R"({"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"p"}})";
  const Reply refused = api_.Post(PodPath("p") + "/eviction", eviction);
  EXPECT_EQ(refused.code, 429);
  EXPECT_EQ(refused.message(), "Cannot evict pod as it would violate the pod's disruption budget.");
  ASSERT_EQ(api_.Patch("/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status",
                       R"({"status":{"observedGeneration":1,"disruptionsAllowed":1}})")
                .code,
            200);
  EXPECT_EQ(api_.Post(PodPath("p") + "/eviction", eviction).code, 201);
  EXPECT_EQ(api_.Get(PodPath("p")).code, 404);
}

}  // namespace
}  // namespace berth::sandbox::test
