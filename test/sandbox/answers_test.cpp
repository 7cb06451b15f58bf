#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"
#include "sandbox/go_json.h"
#include "wire/schema.h"

// What is answered to requests that are wrong in themselves, and to removals: as kube-apiserver v1.37.1 does.
namespace berth::sandbox::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct BadText {
  std::string_view text;
  std::string_view want;
};

TEST(GoJson, SyntaxProblemsHaveGosWords) {
  const BadText cases[] = {
      {R"({"a":1})", ""},
      {R"( [1, -2.5e+3, "x\n\u00e9", true, null, {}] )", ""},
      {"", "unexpected end of JSON input"},
      {R"({"a":1)", "unexpected end of JSON input"},
      {R"({"a)", "unexpected end of JSON input"},
      {"x", "invalid character 'x' looking for beginning of value"},
      {"\x9e", "invalid character '\\u009e' looking for beginning of value"},
      {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
      {R"({"a" 1})", "invalid character '1' after object key"},
      {R"({"a":1 "b"})", "invalid character '\"' after object key:value pair"},
      {R"({"a":1,})", "invalid character '}' looking for beginning of object key string"},
      {"[1 2]", "invalid character '2' after array element"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{} x", "invalid character 'x' after top-level value"},
      {"01", "invalid character '1' after top-level value"},
      {"-x", "invalid character 'x' in numeric literal"},
      {"1.x", "invalid character 'x' after decimal point in numeric literal"},
      {"1ex", "invalid character 'x' in exponent of numeric literal"},
      {"trux", "invalid character 'x' in literal true (expecting 'e')"},
      {R"("\x")", "invalid character 'x' in string escape code"},
      {R"("\u00x")", "invalid character 'x' in \\u hexadecimal character escape"},
      {"\"a\nb\"", "invalid character '\\n' in string literal"},
      {"'", "invalid character '\\'' looking for beginning of value"},
  };
  for (const BadText& one : cases) EXPECT_EQ(JsonSyntaxProblem(one.text), one.want) << one.text;
}

TEST(GoJson, TypeProblemsNameTheFieldAndItsType) {
  const wire::Message& pod = *wire::Schema::Get().FindKind("v1", "Pod")->message;
  const std::string begin = "json: cannot unmarshal ";
  const BadText cases[] = {
      {R"({"spec":{"containers":[{"name":"c"}],"nodeName":null}})", ""},
      {R"({"spec":{"containers":"none"}})",
       "string into Go struct field PodSpec.spec.containers of type []v1.Container"},
      {R"({"spec":7})", "number into Go struct field Pod.spec of type v1.PodSpec"},
      {R"({"spec":{"priority":"high"}})", "string into Go struct field PodSpec.spec.priority of type int32"},
      {R"({"spec":{"priority":1.5}})", "number 1.5 into Go struct field PodSpec.spec.priority of type int32"},
      {R"({"spec":{"nodeSelector":{"a":true}}})",
       "bool into Go struct field PodSpec.spec.nodeSelector of type string"},
      {R"({"spec":{"nodeSelector":[]}})",
       "array into Go struct field PodSpec.spec.nodeSelector of type map[string]string"},
      {R"({"spec":{"containers":[{"resources":{"limits":"all"}}]}})",
       "string into Go struct field ResourceRequirements.spec.containers.resources.limits of type "
       "v1.ResourceList"},
  };
  for (const BadText& one : cases) {
    EXPECT_EQ(JsonTypeProblem(pod, Parse(one.text)), one.want.empty() ? "" : begin + std::string(one.want));
  }
}

TEST(BadRequests, BodiesThatAreNoPod) {
  ApiHarness api;
  const auto message = [&](std::string body) {
    const Reply reply = api.Post(kPods, std::move(body));
    EXPECT_EQ(reply.code, 400) << reply.body;
    return reply.message();
  };
  EXPECT_EQ(
      message(R"({"apiVersion":"v1","kind":"Pod")"),
      "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse "
      "error: unexpected end of JSON input ({\"apiVersion\":\"v1\",\"kind\":\"Pod ...)");
  EXPECT_EQ(
      message("[1,2"),
      "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse "
      "error: unexpected end of JSON input (5b312c32)");
  EXPECT_EQ(message(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"x"}})"),
            "Node in version \"v1\" cannot be handled as a Pod: converting (v1.Node) to (core.Pod): unknown "
            "conversion");
  EXPECT_THAT(
      message(R"({"apiVersion":"v2","kind":"Pod","metadata":{"name":"x"}})"),
      StartsWith("Pod in version \"v2\" cannot be handled as a Pod: no kind \"Pod\" is registered for "
                 "version \"v2\" in scheme "));
  EXPECT_EQ(message(R"({"metadata":{"name":"x"},"spec":{"containers":"none"}})"),
            "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal string into Go struct "
            "field PodSpec.spec.containers of type []v1.Container");
  EXPECT_EQ(message(R"({"metadata":{"name":"x"},"spec":{"containers":[
                {"name":"c","image":"i","resources":{"requests":{"cpu":"many"}}}]}})"),
            "Pod in version \"v1\" cannot be handled as a Pod: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

TEST(BadRequests, PathsOutsideOfTheApiAreAnsweredInPlainText) {
  ApiHarness api;
  for (const std::string path : {"/apis/nothing/v1", "/nothing"}) {
    const Reply reply = api.Get(std::string(path));
    EXPECT_EQ(reply.code, 404) << path;
    EXPECT_EQ(reply.body, "404 page not found\n") << path;
  }
  for (const std::string_view path : {"/api/v1/nothing", "/api/v2/pods", "/apis/apps/v7/deployments"}) {
    EXPECT_EQ(api.Get(std::string(path)).message(), "the server could not find the requested resource")
        << path;
  }
}

TEST(BadRequests, QueriesThatMakeNoSense) {
  ApiHarness api;
  EXPECT_EQ(api.Get(std::string(kPods) + "?continue=nonsense").message(),
            "invalid continue token: continue key is not valid: invalid character '\\u009e' looking for "
            "beginning of value");
  EXPECT_THAT(api.Get(std::string(kPods) + "?resourceVersion=1&resourceVersionMatch=Perhaps").message(),
              HasSubstr("supported values: \"Exact\", \"NotOlderThan\", \"\""));
  EXPECT_EQ(api.Get("/apis/batch/v1/namespaces/default/jobs?fieldSelector=spec.nothing%3Da").message(),
            "field label \"spec.nothing\" not supported for Job");
  const Reply refused = api.Send("GET", kPods, "", {{"Accept", "text/csv"}});
  EXPECT_EQ(refused.code, 406);
  EXPECT_THAT(refused.message(), StartsWith("406: Not Acceptable\n\nAvailable representations: "));
}

TEST(Removals, DryRunAnswersTheTerminatingObject) {
  ApiHarness api;
  ASSERT_EQ(api.Post(kPods, PodJson("p")).code, 201);
  const Reply answer = api.Delete(PodPath("p") + "?dryRun=All");
  EXPECT_FALSE(answer.text({"metadata", "deletionTimestamp"}).empty()) << answer.body;
  EXPECT_EQ(NumberAt(answer.document(), {"metadata", "generation"}), 2);
  const Reply after = api.Get(PodPath("p"));
  EXPECT_EQ(after.code, 200);
  EXPECT_EQ(after.text({"metadata", "deletionTimestamp"}), "");
}

TEST(Removals, GenerationCountsTheBeginningOfTheEndOnce) {
  ApiHarness api;
  ASSERT_EQ(api.Post(kPods, PodJson("p", R"(,"nodeName":"n")")).code, 201);
  const auto generation = [](const Reply& reply) {
    return NumberAt(reply.document(), {"metadata", "generation"});
  };
  EXPECT_EQ(generation(api.Delete(PodPath("p"))), 2);
  EXPECT_EQ(generation(api.Delete(PodPath("p") + "?gracePeriodSeconds=0")), 2);
}

TEST(Removals, NamespaceIsTerminatingWithoutAGrace) {
  ApiHarness api;
  const std::string path = "/api/v1/namespaces/ns";
  ASSERT_EQ(api.Post("/api/v1/namespaces", R"({"metadata":{"name":"ns"}})").code, 201);
  const Reply refused = api.Delete(path, R"({"preconditions":{"uid":"other"}})");
  EXPECT_EQ(refused.code, 409);
  EXPECT_THAT(refused.message(), HasSubstr("Precondition failed: UID in precondition: other, UID in object "
                                           "meta: "));
  const json::object answer = api.Delete(path + "?dryRun=All").document();
  EXPECT_EQ(TextAt(answer, {"status", "phase"}), "Terminating");
  EXPECT_EQ(FindValue(answer, {"metadata", "deletionGracePeriodSeconds"}), nullptr);
}

TEST(Evictions, BudgetThatNobodyLookedAtYetAsksForPatience) {
  ApiHarness api;
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  ASSERT_EQ(api.Post(kPods, R"({"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"nodeName":"n",
                 "containers":[{"name":"c","image":"i"}]}})")
                .code,
            201);
  ASSERT_EQ(api.Patch(PodPath("p") + "/status", R"({"status":{"phase":"Running"}})").code, 200);
  ASSERT_EQ(api.Post(budgets, R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,
                 "selector":{"matchLabels":{"a":"b"}}}})")
                .code,
            201);
  const auto evict = [&] { return api.Post(PodPath("p") + "/eviction", R"({"metadata":{"name":"p"}})"); };
  Reply refused = evict();
  EXPECT_EQ(refused.code, 429);
  EXPECT_EQ(NumberAt(refused.document(), {"details", "retryAfterSeconds"}), 10);
  EXPECT_THAT(refused.body, HasSubstr("The disruption budget b is still being processed by the server."));
  ASSERT_EQ(api.Patch(budgets + "/b/status", R"({"status":{"observedGeneration":1,"desiredHealthy":1,
                 "currentHealthy":1,"disruptionsAllowed":0,"expectedPods":1}})")
                .code,
            200);
  refused = evict();
  EXPECT_EQ(refused.code, 429);
  EXPECT_THAT(refused.body, HasSubstr("The disruption budget b needs 1 healthy pods and has 1 currently"));
}

TEST(Resizes, PodMustStillFitOnItsNode) {
  ApiHarness api;
  ASSERT_EQ(api.Post("/api/v1/nodes", R"({"metadata":{"name":"n"},"status":{
                 "allocatable":{"cpu":"2","memory":"1Gi"}}})")
                .code,
            201);
  ASSERT_EQ(api.Post(kPods, R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[
                 {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}})")
                .code,
            201);
  const auto resize = [&](std::string_view cpu) {
    return api.Patch(PodPath("p") + "/resize",
                     R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" +
                         std::string(cpu) + R"("}}}]}})");
  };
  EXPECT_EQ(resize("2").code, 200);
  const Reply refused = resize("3");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.message(),
            "pods \"p\" is forbidden: node didn't have enough allocatable resources: cpu, "
            "requested: 3000, allocatable: 2000");
}

TEST(Resizes, ClassOfThePodAndItsOtherResourcesStay) {
  ApiHarness api;
  ASSERT_EQ(api.Post(kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",
                 "resources":{"requests":{"cpu":"1","ephemeral-storage":"1Gi"}}}]}})")
                .code,
            201);
  const auto refusal = [&](std::string_view resources) {
    const Reply reply =
        api.Patch(PodPath("p") + "/resize",
                  R"({"spec":{"containers":[{"name":"c","resources":)" + std::string(resources) + "}]}}");
    EXPECT_EQ(reply.code, 422) << reply.body;
    return reply.message();
  };
  EXPECT_EQ(refusal(R"({"requests":{"ephemeral-storage":"2Gi"}})"),
            "Pod \"p\" is invalid: spec: Forbidden: only cpu and memory resources are mutable");
  EXPECT_EQ(
      refusal(R"({"requests":{"cpu":null,"memory":"1Gi"}})"),
      "Pod \"p\" is invalid: spec.containers[0].resources.requests: Forbidden: resource requests cannot "
      "be removed");
  EXPECT_EQ(
      refusal(R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}})"),
      "Pod \"p\" is invalid: spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result "
      "of resizing");
}

TEST(StrategicOrder, WhatIsNewComesBeforeWhatThePatchDoesNotName) {
  ApiHarness api;
  ASSERT_EQ(api.Post(kPods, PodJson("p", R"(,"schedulingGates":[{"name":"g"}])")).code, 201);
  const Reply patched =
      api.Patch(PodPath("p") + "/status", R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  std::vector<std::string> types;
  const json::object pod = patched.document();
  for (const json::value& condition : *FindArray(pod, {"status", "conditions"})) {
    types.emplace_back(TextAt(condition.get_object(), {"type"}));
  }
  EXPECT_THAT(types, ElementsAre("Ready", "PodScheduled"));
}

TEST(Pages, LimitedListSaysThatThereMayBeMore) {
  ApiHarness api;
  for (const std::string_view name : {"a", "b"}) ASSERT_EQ(api.Post(kPods, PodJson(name)).code, 201);
  ASSERT_EQ(api.Patch(PodPath("a"), R"({"metadata":{"labels":{"l":"1"}}})").code, 200);
  const Reply page = api.Get(std::string(kPods) + "?labelSelector=l%3D1&limit=1");
  const std::string token = page.text({"metadata", "continue"});
  EXPECT_FALSE(token.empty());
  const Reply rest = api.Get(std::string(kPods) + "?labelSelector=l%3D1&limit=1&continue=" + token);
  EXPECT_THAT(*FindArray(rest.document(), {"items"}), testing::IsEmpty());
  EXPECT_EQ(rest.text({"metadata", "continue"}), "");
}

}  // namespace
}  // namespace berth::sandbox::test
