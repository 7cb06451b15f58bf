#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"
#include "sandbox/controllers/event_expiry.h"

// What may be written, and with which words it is refused.
namespace berth::sandbox::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";

class Validation : public testing::Test {
 protected:
  void CreatePod(std::string_view name, std::string_view more = "") {
    const Reply reply = api_.Post(kPods, PodJson(name, more));
    ASSERT_EQ(reply.code, 201) << reply.body;
  }
  Reply PatchPod(std::string_view name, std::string patch, std::string_view subresource = "") {
    return api_.Patch(PodPath(name) + std::string(subresource), std::move(patch));
  }

  ApiHarness api_;
};

struct BadPod {
  std::string_view name;
  std::string_view spec;
  std::string_view want;
};

class BadPodTest : public testing::TestWithParam<BadPod> {};

TEST_P(BadPodTest, IsRefusedWithTheServersWords) {
  ApiHarness api;
  const Reply reply =
      api.Post(kPods, R"({"metadata":{"name":"p"},"spec":{)" + std::string(GetParam().spec) + "}}");
  EXPECT_EQ(reply.code, 422);
  EXPECT_EQ(reply.message(), "Pod \"p\" is invalid: " + std::string(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Pods, BadPodTest,
    testing::Values(
        BadPod{"NoContainers", R"("nodeName":"n")", "spec.containers: Required value"},
        BadPod{"NoImage", R"("containers":[{"name":"c"}])", "spec.containers[0].image: Required value"},
        BadPod{"NameTwice", R"("containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}])",
               "spec.containers[1].name: Duplicate value: \"c\""},
        BadPod{
            "RequestAboveLimit",
            R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}])",
            "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu "
            "limit "
            "of 1"},
        BadPod{"NegativeRequest",
               R"("containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"-1"}}}])",
               "spec.containers[0].resources.requests[memory]: Invalid value: \"-1\": must be greater than "
               "or equal "
               "to 0"},
        BadPod{"RestartPolicy", R"("restartPolicy":"Sometimes","containers":[{"name":"c","image":"i"}])",
               "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
               "\"OnFailure\", "
               "\"Never\""},
        BadPod{"MountOfNothing",
               R"("containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}])",
               "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
        BadPod{"SkewOfZero",
               R"("containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[
                  {"maxSkew":0,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}])",
               "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"},
        BadPod{"TolerationSecondsWithoutNoExecute",
               R"("containers":[{"name":"c","image":"i"}],"tolerations":[
                  {"key":"k","operator":"Exists","effect":"NoSchedule","tolerationSeconds":5}])",
               "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when "
               "`tolerationSeconds` is set"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Validation, ImageOfAPodMayChangeAndItsNodeSelectorMayNot) {
  CreatePod("p");
  EXPECT_EQ(PatchPod("p", R"({"spec":{"containers":[{"name":"c","image":"i:2"}]}})").code, 200);
  const Reply refused = PatchPod("p", R"({"spec":{"nodeSelector":{"a":"b"}}})");
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(
      refused.message(),
      HasSubstr("spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"));
  EXPECT_THAT(PatchPod("p", R"({"spec":{"containers":[{"name":"d","image":"i"}]}})").message(),
              HasSubstr("spec.containers: Forbidden: pod updates may not add or remove containers"));
}

TEST_F(Validation, GatedPodMayBeToldToGoToFewerPlaces) {
  CreatePod("p", R"(,"schedulingGates":[{"name":"g"}],"nodeSelector":{"a":"b"})");
  EXPECT_EQ(PatchPod("p", R"({"spec":{"nodeSelector":{"c":"d"}}})").code, 200);
  EXPECT_THAT(PatchPod("p", R"({"spec":{"nodeSelector":{"a":"x"}}})").message(),
              HasSubstr("only additions are allowed (no mutations or deletions)"));
}

TEST_F(Validation, TolerationsMayBeAddedAndNotTaken) {
  CreatePod("p", R"(,"tolerations":[{"key":"k","operator":"Exists"}])");
  json::object pod = api_.Get(PodPath("p")).document();
  json::array& tolerations = ArrayAt(pod, {"spec", "tolerations"});
  tolerations.push_back(json::object({{"key", "more"}, {"operator", "Exists"}}));
  EXPECT_EQ(api_.Put(PodPath("p"), json::serialize(pod)).code, 200);
  pod = api_.Get(PodPath("p")).document();
  ArrayAt(pod, {"spec", "tolerations"}).erase(ArrayAt(pod, {"spec", "tolerations"}).begin());
  const Reply refused = api_.Put(PodPath("p"), json::serialize(pod));
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message(),
              HasSubstr("existing toleration can not be modified except its tolerationSeconds"));
}

TEST_F(Validation, DeadlineMayOnlyGetShorter) {
  CreatePod("p", R"(,"activeDeadlineSeconds":100)");
  EXPECT_EQ(PatchPod("p", R"({"spec":{"activeDeadlineSeconds":50}})").code, 200);
  EXPECT_THAT(PatchPod("p", R"({"spec":{"activeDeadlineSeconds":60}})").message(),
              HasSubstr("must be less than or equal to previous value"));
}

TEST_F(Validation, ResizeChangesResourcesAndNothingElse) {
  ASSERT_EQ(api_.Post(kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",
                 "resources":{"requests":{"cpu":"1"}}}]}})")
                .code,
            201);
  const Reply resized = PatchPod(
      "p", R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})", "/resize");
  ASSERT_EQ(resized.code, 200) << resized.body;
  EXPECT_EQ(NumberAt(resized.document(), {"metadata", "generation"}), 2);
  EXPECT_THAT(PatchPod("p", R"({"spec":{"containers":[{"name":"c","image":"x"}]}})", "/resize").message(),
              HasSubstr("only cpu and memory resources are mutable"));
  EXPECT_EQ(
      PatchPod("p", R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}})").code,
      422);
}

TEST_F(Validation, Case50MatchLabelKeysOfAffinityBecomeRequirements) {
  const Reply created = api_.Post(kPods, R"({"metadata":{"name":"p","labels":{"app":"x"}},"spec":{
      "containers":[{"name":"c","image":"i"}],"affinity":{"podAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":[
          {"topologyKey":"z","labelSelector":{},"matchLabelKeys":["app","missing"]}]}}}})");
  ASSERT_EQ(created.code, 201) << created.body;
  const json::object pod = created.document();
  const json::array& terms =
      *FindArray(pod, {"spec", "affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  const json::array* folded = FindArray(terms.at(0).get_object(), {"labelSelector", "matchExpressions"});
  ASSERT_NE(folded, nullptr);
  ASSERT_THAT(*folded, SizeIs(1));
  EXPECT_EQ(folded->at(0), Parse(R"({"key":"app","operator":"In","values":["x"]})"));
}

TEST_F(Validation, Case50MatchLabelKeysMakeNoSelectorOfTheirOwn) {
  const Reply refused = api_.Post(kPods, R"({"metadata":{"name":"p","labels":{"app":"x"}},"spec":{
      "containers":[{"name":"c","image":"i"}],"affinity":{"podAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","matchLabelKeys":["app"]}]}}}})");
  EXPECT_EQ(refused.code, 422);
  EXPECT_EQ(refused.message(),
            "Pod \"p\" is invalid: "
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: "
            "Forbidden: must not be specified when labelSelector is not set");
}

TEST_F(Validation, MatchLabelKeysOfSpreadConstraintsBecomeRequirements) {
  const Reply created = api_.Post(kPods, R"({"metadata":{"name":"p","labels":{"app":"x"}},"spec":{
      "containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z",
        "whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":["app"]}]}})");
  EXPECT_THAT(created.body,
              HasSubstr(R"("matchExpressions":[{"key":"app","operator":"In","values":["x"]}])"));
}

TEST_F(Validation, PodCreatedOnANodeGetsItsZone) {
  ASSERT_EQ(
      api_.Post("/api/v1/nodes", R"({"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z1"}}})")
          .code,
      201);
  CreatePod("p", R"(,"nodeName":"n")");
  EXPECT_EQ(api_.Get(PodPath("p")).text({"metadata", "labels", "topology.kubernetes.io/zone"}), "z1");
}

TEST_F(Validation, VolumeOfANameAloneIsAnEmptyDirectory) {
  CreatePod("p", R"(,"volumes":[{"name":"v"}])");
  EXPECT_THAT(api_.Get(PodPath("p")).body, HasSubstr(R"({"name":"v","emptyDir":{}})"));
}

TEST_F(Validation, DeploymentMustFindItsPodsAndKeepItsSelector) {
  const Reply refused = api_.Post(kDeployments, R"({"metadata":{"name":"d"},"spec":{
      "selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(refused.code, 422);
  EXPECT_EQ(
      refused.message(),
      "Deployment.apps \"d\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: "
      "`selector` does not match template `labels`");
  ASSERT_EQ(api_.Post(kDeployments, R"({"metadata":{"name":"d"},"spec":{
      "selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a","b":"c"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})")
                .code,
            201);
  EXPECT_THAT(
      api_.Patch(std::string(kDeployments) + "/d", R"({"spec":{"selector":{"matchLabels":{"b":"c"}}}})")
          .message(),
      HasSubstr("spec.selector: Invalid value: "));
  EXPECT_EQ(api_.Patch(std::string(kDeployments) + "/d/scale", R"({"spec":{"replicas":-1}})",
                       "application/merge-patch+json")
                .code,
            422);
}

TEST_F(Validation, StatefulSetMayMountWhatItsClaimTemplatesMake) {
  const Reply created =
      api_.Post("/apis/apps/v1/namespaces/default/statefulsets", R"({"metadata":{"name":"db"},"spec":{
      "serviceName":"db","selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},
      "spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/data"}]}]}},
      "volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],
      "resources":{"requests":{"storage":"1Gi"}}}}]}})");
  EXPECT_EQ(created.code, 201) << created.body;
}

TEST_F(Validation, JobsEnd) {
  const Reply refused =
      api_.Post("/apis/batch/v1/namespaces/default/jobs", R"({"metadata":{"name":"j"},"spec":{
      "template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(refused.message(),
            "Job.batch \"j\" is invalid: spec.template.spec.restartPolicy: Required value: valid "
            "values: \"OnFailure\", \"Never\"");
}

TEST_F(Validation, PriorityOfAClassStays) {
  const char* classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  ASSERT_EQ(api_.Post(classes, R"({"metadata":{"name":"high"},"value":10})").code, 201);
  EXPECT_EQ(api_.Patch(std::string(classes) + "/high", R"({"value":11})").message(),
            "PriorityClass.scheduling.k8s.io \"high\" is invalid: value: Forbidden: may not be changed in an "
            "update.");
  EXPECT_EQ(api_.Post(classes, R"({"metadata":{"name":"huge"},"value":2000000000})").code, 422);
}

TEST_F(Validation, LargeListIsPackedForThoseWhoCanUnpackIt) {
  for (int i = 0; i < 200; ++i) CreatePod("p-" + std::to_string(i));
  const Reply plain = api_.Get(kPods);
  EXPECT_EQ(plain.header("Content-Encoding"), "");
  const Reply packed = api_.Send("GET", kPods, "", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(packed.header("Content-Encoding"), "gzip");
  EXPECT_LT(packed.body.size(), plain.body.size() / 4);
  EXPECT_EQ(api_.Send("GET", PodPath("p-0"), "", {{"Accept-Encoding", "gzip"}}).header("Content-Encoding"),
            "");
}

TEST_F(Validation, EventsGoAnHourAfterTheyWereLastWritten) {
  const EventExpiry expiry(api_.plane());
  const std::string events = "/api/v1/namespaces/default/events";
  for (const char* name : {"once", "again"}) {
    ASSERT_EQ(
        api_.Post(events, std::string(R"({"metadata":{"name":")") + name + R"("},"involvedObject":{}})").code,
        201);
  }
  api_.Advance(std::chrono::minutes(40));
  ASSERT_EQ(api_.Patch(events + "/again", R"({"count":2})").code, 200);
  api_.Advance(std::chrono::minutes(30));
  EXPECT_EQ(api_.Get(events + "/once").code, 404);
  EXPECT_EQ(api_.Get(events + "/again").code, 200);
  api_.Advance(std::chrono::minutes(40));
  EXPECT_EQ(api_.Get(events + "/again").code, 404);
}

}  // namespace
}  // namespace berth::sandbox::test
