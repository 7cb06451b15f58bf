#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"
#include "wire/transcode.h"

// What clients find at the door: discovery, media types, credentials, tables, the two forms of events.
namespace berth::sandbox::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Cells(const json::object& table, std::size_t row) {
  std::vector<std::string> cells;
  for (const json::value& cell : FindArray(table, {"rows"})->at(row).at("cells").as_array()) {
    cells.push_back(cell.is_string() ? std::string(ViewOf(cell.get_string())) : wire::WriteJson(cell));
  }
  return cells;
}

const net::Headers kTable = {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}};

TEST(Discovery, AggregatedFormRepeatsItsParameters) {
  ApiHarness api;
  const std::string accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const Reply reply = api.Send("GET", "/apis", "", {{"Accept", accept}});
  EXPECT_EQ(reply.code, 200);
  EXPECT_EQ(reply.header("Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(reply.text({"kind"}), "APIGroupDiscoveryList");
  EXPECT_THAT(reply.body, HasSubstr(R"("resource":"deployments")"));
  EXPECT_THAT(reply.body, HasSubstr(R"("shortNames":["deploy"])"));
}

TEST(Discovery, OlderClientsGetTheOlderForm) {
  ApiHarness api;
  EXPECT_EQ(api.Get("/api").text({"kind"}), "APIVersions");
  EXPECT_EQ(api.Get("/apis").text({"kind"}), "APIGroupList");
  EXPECT_EQ(api.Get("/apis/apps").text({"preferredVersion", "groupVersion"}), "apps/v1");
  const Reply core = api.Get("/api/v1");
  EXPECT_EQ(core.text({"groupVersion"}), "v1");
  EXPECT_THAT(core.body, HasSubstr(R"("name":"pods/binding")"));
  EXPECT_EQ(api.Get("/apis/events.k8s.io/v1").code, 200);
  EXPECT_EQ(api.Get("/apis/nothing.example/v1").code, 404);
}

TEST(Discovery, EveryWatchedResourceIsServed) {
  ApiHarness api;
  for (const char* path : {"/api/v1/pods",
                           "/api/v1/nodes",
                           "/api/v1/namespaces",
                           "/api/v1/services",
                           "/api/v1/replicationcontrollers",
                           "/api/v1/persistentvolumes",
                           "/api/v1/persistentvolumeclaims",
                           "/apis/apps/v1/replicasets",
                           "/apis/apps/v1/statefulsets",
                           "/apis/policy/v1/poddisruptionbudgets",
                           "/apis/storage.k8s.io/v1/storageclasses",
                           "/apis/storage.k8s.io/v1/csinodes",
                           "/apis/storage.k8s.io/v1/csidrivers",
                           "/apis/storage.k8s.io/v1/csistoragecapacities",
                           "/apis/storage.k8s.io/v1/volumeattachments",
                           "/apis/resource.k8s.io/v1/resourceclaims",
                           "/apis/resource.k8s.io/v1/resourceslices",
                           "/apis/resource.k8s.io/v1/deviceclasses",
                           "/apis/resource.k8s.io/v1/devicetaintrules",
                           "/apis/scheduling.k8s.io/v1beta1/podgroups",
                           "/apis/scheduling.k8s.io/v1alpha3/compositepodgroups"}) {
    for (const char* accept : {"application/json", "application/vnd.kubernetes.protobuf"}) {
      const Reply list =
          api.Send("GET", std::string(path) + "?limit=500&resourceVersion=0", "", {{"Accept", accept}});
      EXPECT_EQ(list.code, 200) << path;
      EXPECT_EQ(list.header("Content-Type"), accept) << path;
    }
  }
}

TEST(Door, HealthAndVersionNeedNoCredentials) {
  ControlPlane::Options options;
  options.api.users.Add("secret", Administrator());
  ApiHarness api(std::move(options));
  for (const char* path : {"/healthz", "/livez", "/readyz"}) {
    EXPECT_EQ(api.Get(path).code, 200);
    EXPECT_EQ(api.Get(path).body, "ok");
  }
  EXPECT_EQ(api.Get("/version").text({"gitVersion"}), "v1.37.0");
  const Reply refused = api.Get(kPods);
  EXPECT_EQ(refused.code, 401);
  EXPECT_EQ(refused.text({"reason"}), "Unauthorized");
  EXPECT_EQ(api.Send("GET", kPods, "", {{"Authorization", "Bearer wrong"}}).code, 401);
  EXPECT_EQ(api.Send("GET", kPods, "", {{"Authorization", "Bearer secret"}}).code, 200);
}

TEST(Door, MediaTypesThatAreNotServedAreNamed) {
  ApiHarness api;
  const Reply unknown = api.Send("GET", kPods, "", {{"Accept", "application/cbor"}});
  EXPECT_EQ(unknown.code, 406);
  EXPECT_THAT(unknown.message(), HasSubstr("Available representations: application/json, application/yaml"));
  const Reply body = api.Send("POST", kPods, "x", {{"Content-Type", "text/plain"}});
  EXPECT_EQ(body.code, 415);
  EXPECT_THAT(body.message(), HasSubstr("the body of the request was in an unknown format"));
  EXPECT_EQ(api.Send("PATCH", PodPath("p"), "{}", {{"Content-Type", "application/json"}}).code, 415);
}

TEST(Door, WrongPathsAndMethodsAreRefused) {
  ApiHarness api;
  EXPECT_EQ(api.Get("/api/v1/unicorns").code, 404);
  EXPECT_EQ(api.Get("/api/v1/namespaces/default/nodes").code, 404);
  EXPECT_EQ(api.Post("/api/v1/pods", PodJson("p")).code, 405);
  EXPECT_EQ(api.Get(PodPath("p") + "/binding").code, 405);
  EXPECT_EQ(api.Get(PodPath("p")).message(), "pods \"p\" not found");
  EXPECT_EQ(api.Get("/apis/coordination.k8s.io/v1/namespaces/default/leases/x").message(),
            "leases.coordination.k8s.io \"x\" not found");
}

TEST(Door, ProtobufAndYamlBodiesAreRead) {
  ApiHarness api;
  const auto envelope = wire::DocumentToEnvelope(Parse(PodJson("proto")));
  ASSERT_TRUE(envelope.has_value());
  const net::Headers protobuf = {{"Content-Type", "application/vnd.kubernetes.protobuf"},
                                 {"Accept", "application/vnd.kubernetes.protobuf"}};
  const Reply made = api.Send("POST", kPods, *envelope, protobuf);
  EXPECT_EQ(made.code, 201);
  const auto answered = wire::EnvelopeToDocument(made.body);
  ASSERT_TRUE(answered.has_value());
  EXPECT_EQ(TextAt(*answered, {"spec", "schedulerName"}), "default-scheduler");
  const Reply yaml =
      api.Send("POST", kPods, "metadata: {name: from-yaml}\nspec: {containers: [{name: c, image: i}]}\n",
               {{"Content-Type", "application/yaml"}});
  EXPECT_EQ(yaml.code, 201) << yaml.body;
}

TEST(FieldValidationRule, StrictRefusesWarnWarnsAndIgnoreIgnores) {
  ApiHarness api;
  const std::string pod = PodJson("p", R"(,"flavour":"sweet")");
  const Reply strict = api.Post(std::string(kPods) + "?fieldValidation=Strict", pod);
  EXPECT_EQ(strict.code, 400);
  EXPECT_EQ(strict.message(),
            "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
            "\"spec.flavour\"");
  const Reply warned = api.Post(kPods, pod);
  EXPECT_EQ(warned.code, 201);
  EXPECT_EQ(warned.header("Warning"), "299 - \"unknown field \\\"spec.flavour\\\"\"");
  const Reply ignored =
      api.Post(std::string(kPods) + "?fieldValidation=Ignore", PodJson("q", R"(,"flavour":1)"));
  EXPECT_EQ(ignored.code, 201);
  EXPECT_EQ(ignored.header("Warning"), "");
}

TEST(Tables, PodRowShowsWhatKubectlPrints) {
  ApiHarness api;
  ASSERT_EQ(api.Post(kPods, PodJson("p")).code, 201);
  ASSERT_EQ(api.Post(kPods, PodJson("g", R"(,"schedulingGates":[{"name":"a"}])")).code, 201);
  api.Advance(std::chrono::seconds(200));
  const json::object table = api.Send("GET", kPods, "", kTable).document();
  EXPECT_EQ(TextAt(table, {"kind"}), "Table");
  EXPECT_THAT(Cells(table, 1),
              ElementsAre("p", "0/1", "Pending", "0", "3m20s", "<none>", "<none>", "<none>", "<none>"));
  EXPECT_THAT(Cells(table, 0), Contains("SchedulingGated"));
  const json::object& row = FindArray(table, {"rows"})->at(1).as_object();
  EXPECT_EQ(TextAt(row, {"object", "kind"}), "PartialObjectMetadata");
  EXPECT_EQ(TextAt(row, {"object", "metadata", "name"}), "p");
}

TEST(Tables, NodeRowShowsConditionAndCordon) {
  ApiHarness api;
  ASSERT_EQ(
      api.Post("/api/v1/nodes", R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/edge":""}},
      "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],
      "nodeInfo":{"kubeletVersion":"v1"}}})")
          .code,
      201);
  const json::object table = api.Send("GET", "/api/v1/nodes", "", kTable).document();
  const std::vector<std::string> cells = Cells(table, 0);
  EXPECT_EQ(cells[1], "Ready,SchedulingDisabled");
  EXPECT_EQ(cells[2], "edge");
}

TEST(Tables, WatchSendsItsColumnsOnce) {
  ApiHarness api;
  const auto watch =
      api.Start("GET", std::string(kPods) + "?watch=true&resourceVersion=" + api.version(), "", kTable);
  ASSERT_EQ(api.Post(kPods, PodJson("a")).code, 201);
  ASSERT_EQ(api.Post(kPods, PodJson("b")).code, 201);
  const std::vector<Recorded::Event> events = watch->events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_FALSE(FindArray(events[0].object, {"columnDefinitions"})->empty());
  EXPECT_TRUE(FindArray(events[1].object, {"columnDefinitions"})->empty());
  EXPECT_EQ(Cells(events[1].object, 0)[0], "b");
}

TEST(EventForms, Case61GroupedEventIsListedAsCoreEvent) {
  ApiHarness api;
  const Reply made = api.Post("/apis/events.k8s.io/v1/namespaces/default/events",
                              R"({"metadata":{"name":"e"},"eventTime":"2026-01-02T03:04:05.000006Z",
      "regarding":{"kind":"Pod","name":"p","uid":"u-1"},"note":"no room","reason":"FailedScheduling",
      "reportingController":"berth","reportingInstance":"i","action":"Scheduling","type":"Warning"})");
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.text({"apiVersion"}), "events.k8s.io/v1");
  EXPECT_EQ(made.text({"note"}), "no room");
  const json::object list =
      api.Get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid%3Du-1").document();
  ASSERT_EQ(FindArray(list, {"items"})->size(), 1U);
  const json::object& event = FindArray(list, {"items"})->at(0).as_object();
  EXPECT_EQ(TextAt(event, {"message"}), "no room");
  EXPECT_EQ(TextAt(event, {"reportingComponent"}), "berth");
  const json::object grouped =
      api.Get("/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=regarding.uid%3Du-1")
          .document();
  EXPECT_EQ(FindArray(grouped, {"items"})->size(), 1U);
  const Reply patched =
      api.Patch("/apis/events.k8s.io/v1/namespaces/default/events/e",
                R"({"series":{"count":2,"lastObservedTime":"2026-01-02T03:04:06.000000Z"}})");
  EXPECT_EQ(patched.code, 200);
  EXPECT_EQ(NumberAt(api.Get("/api/v1/namespaces/default/events/e").document(), {"series", "count"}), 2);
}

TEST(Leases, UpdateNeedsAVersion) {
  ApiHarness api;
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  ASSERT_EQ(api.Post(leases, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}})").code, 201);
  const Reply blind = api.Put(leases + "/l", R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}})");
  EXPECT_EQ(blind.code, 422);
  EXPECT_THAT(blind.message(),
              HasSubstr("metadata.resourceVersion: Invalid value: 0: must be specified for an update"));
}

TEST(Scale, ReadsAndWritesReplicas) {
  ApiHarness api;
  const std::string path = "/apis/apps/v1/namespaces/default/deployments";
  ASSERT_EQ(api.Post(path,
                     R"({"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})")
                .code,
            201);
  const Reply scale = api.Get(path + "/d/scale");
  EXPECT_EQ(scale.text({"kind"}), "Scale");
  EXPECT_EQ(NumberAt(scale.document(), {"spec", "replicas"}), 2);
  EXPECT_EQ(scale.text({"status", "selector"}), "a=b");
  EXPECT_EQ(api.Patch(path + "/d/scale", R"({"spec":{"replicas":5}})", "application/merge-patch+json").code,
            200);
  const json::object deployment = api.Get(path + "/d").document();
  EXPECT_EQ(NumberAt(deployment, {"spec", "replicas"}), 5);
  EXPECT_EQ(NumberAt(deployment, {"metadata", "generation"}), 2);
}

TEST(Reviews, WhoeverIsInMayDoEverything) {
  ApiHarness api;
  const Reply access = api.Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                R"({"spec":{"resourceAttributes":{"verb":"create","resource":"pods"}}})");
  EXPECT_EQ(access.code, 201);
  EXPECT_TRUE(FlagAt(access.document(), {"status", "allowed"}));
}

TEST(Collections, DeletingByLabelLeavesTheRest) {
  ApiHarness api;
  const std::string path = "/api/v1/namespaces/default/configmaps";
  ASSERT_EQ(api.Post(path, R"({"metadata":{"name":"a","labels":{"x":"1"}}})").code, 201);
  ASSERT_EQ(api.Post(path, R"({"metadata":{"name":"b"}})").code, 201);
  EXPECT_EQ(api.Delete(path + "?labelSelector=x%3D1").code, 200);
  EXPECT_EQ(api.Get(path + "/a").code, 404);
  EXPECT_EQ(api.Get(path + "/b").code, 200);
}

// Seen on a real server: test/e2e compares hundreds of such requests with it.
TEST(RealServer, PatchesOfUnknownTypesAreRefusedInOtherWords) {
  ApiHarness api;
  const Reply reply = api.Send("PATCH", "/api/v1/namespaces/default", "{}", {{"Content-Type", "text/plain"}});
  EXPECT_EQ(reply.code, 415);
  EXPECT_EQ(reply.text({"message"}), "415: Unsupported Media Type");
  EXPECT_THAT(reply.body, HasSubstr(R"("details":{})"));
}

TEST(RealServer, AWrongDryRunNamesTheOptionsOfItsVerb) {
  ApiHarness api;
  const Reply reply =
      api.Send("PATCH", "/api/v1/namespaces/default?dryRun=Some", "{}", {{"Content-Type", "text/plain"}});
  EXPECT_EQ(
      reply.text({"message"}),
      R"(PatchOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All")");
}

TEST(RealServer, ANamespaceKeepsTheLabelWithItsName) {
  ApiHarness api;
  const Reply reply = api.Send("PATCH", "/api/v1/namespaces/default", R"({"metadata":{"labels":null}})",
                               {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(reply.text({"metadata", "labels", "kubernetes.io/metadata.name"}), "default");
}

TEST(RealServer, KubectlLearnsThatAKindIsUnknown) {
  ApiHarness api;
  const Reply reply = api.Send("GET", "/openapi/v2", "",
                               {{"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}});
  EXPECT_EQ(reply.code, 200);
  EXPECT_EQ(reply.body,
            "\x0a\x03"
            "2.0");
}

}  // namespace
}  // namespace berth::sandbox::test
