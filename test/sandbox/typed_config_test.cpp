#include "sandbox/typed_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"
#include "sandbox/kinds.h"

// Configurations that cannot be applied, in the words of the real server (each line was asked of one).
namespace berth::sandbox::test {
namespace {

using testing::HasSubstr;

std::string ProblemOf(std::string_view kind, std::string_view document) {
  return TypedProblem(*ResourceOf(kind == "Deployment" ? "apps/v1" : "v1", kind).message, Parse(document));
}

struct Case {
  std::string_view pod_spec;
  std::string_view problem;
};

TEST(TypedConfig, SaysWhatIsWrongAndWhere) {
  constexpr Case kCases[] = {
      {R"({"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]}]})", ""},
      {R"({"containers":[{"image":"i"}]})", ""},
      {R"({"containers":[{"name":"c","image":null}]})", ""},
      {R"({"containers":[{"foo":80}]})", R"(.spec.containers[name=""].foo: field not declared in schema)"},
      {R"({"containers":[{"name":"c","foo":1}]})",
       R"(.spec.containers[name="c"].foo: field not declared in schema)"},
      {R"({"containers":[{"name":"c"},{"name":"c","image":"j"}]})",
       R"(.spec.containers: duplicate entries for key [name="c"])"},
      {R"({"containers":[{"name":"c","ports":[{"containerPort":80},{"containerPort":80,"protocol":"TCP"}]}]})",
       R"(.spec.containers[name="c"].ports: duplicate entries for key [containerPort=80,protocol="TCP"])"},
      {R"({"topologySpreadConstraints":[{"maxSkew":1},{"maxSkew":2}]})",
       R"(.spec.topologySpreadConstraints: duplicate entries for key [topologyKey="",whenUnsatisfiable=""])"},
      {R"({"containers":[1]})",
       ".spec.containers: element 0: associative list with keys may not have non-map elements"},
      {R"({"containers":[null]})",
       ".spec.containers: element 0: associative list with keys may not have a null element"},
      {R"({"containers":{"name":"c"}})", ".spec.containers: expected list, got &{map[name:c]}"},
      {R"({"containers":[{"name":7}]})",
       ".spec.containers[name=7].name: expected string, got &value.valueUnstructured{Value:7}"},
      {R"({"containers":[{"name":"c","image":{"a":[1,"b",null],"c":1.5}}]})",
       R"(.spec.containers[name="c"].image: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{1, "b", interface {}(nil)}, "c":1.5}})"},
      {R"({"hostNetwork":"yes"})", ".spec.hostNetwork: expected boolean, got &{yes}"},
      {R"({"priority":"two"})", ".spec.priority: expected numeric (int or float), got string"},
      {R"({"containers":[{"name":"c","resources":{"requests":{"cpu":["1"]}}}]})",
       R"(.spec.containers[name="c"].resources.requests.cpu: expected any scalar, got &{[1]})"},
      {R"({"nodeSelector":{"a":1000000}})",
       ".spec.nodeSelector.a: expected string, got &value.valueUnstructured{Value:1000000}"},
      {R"({"tolerations":[{"key":"a","foo":1}]})", ".spec.tolerations[0].foo: field not declared in schema"},
      {R"({"containers":[{"name":"c","command":[1]}]})",
       R"(.spec.containers[name="c"].command[0]: expected string, got &value.valueUnstructured{Value:1})"},
      {R"("no")", ".spec: expected map, got &{no}"},
      {R"({"hostPID":1,"hostIPC":2})",
       "errors:\n  .spec.hostPID: expected boolean, got &{1}\n  .spec.hostIPC: expected boolean, got &{2}"},
  };
  for (const Case& one : kCases) {
    std::string pod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":)";
    EXPECT_EQ(ProblemOf("Pod", pod.append(one.pod_spec).append("}")), one.problem) << one.pod_spec;
  }
}

TEST(TypedConfig, SetsHoldEachValueOnce) {
  const auto finalizers = [](std::string_view list) {
    std::string pod = R"({"metadata":{"finalizers":)";
    return ProblemOf("Pod", pod.append(list).append("}}"));
  };
  EXPECT_EQ(finalizers(R"(["a/b","a/c"])"), "");
  EXPECT_EQ(finalizers(R"(["a/b","a/b"])"), R"(.metadata.finalizers: duplicate entries for key [="a/b"])");
  EXPECT_EQ(
      finalizers("[{}]"),
      ".metadata.finalizers: element 0: associative list without keys has an element that's a map type");
  EXPECT_EQ(finalizers("[[]]"),
            ".metadata.finalizers: element 0: not supported: associative list with lists as elements");
  EXPECT_EQ(
      finalizers("[null]"),
      ".metadata.finalizers: element 0: associative list without keys has an element that's an explicit "
      "null");
}

TEST(TypedConfig, AnElementNeedsAKeyIfTheSchemaHasNoneForIt) {
  EXPECT_EQ(ProblemOf("ServiceAccount", R"({"secrets":[{"namespace":"a"}]})"),
            ".secrets: element 0: associative list with keys has an element that omits all key fields "
            "[\"name\"] (and doesn't have default values for any key fields)");
  EXPECT_EQ(ProblemOf("ServiceAccount", R"({"imagePullSecrets":[{}]})"), "");
}

class BrokenConfig : public testing::Test {
 protected:
  Reply Apply(std::string body, std::string_view more = "") {
    std::string path = "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=one";
    return api_.Patch(path.append(more), std::move(body), "application/apply-patch+yaml");
  }

  ApiHarness api_;
};

TEST_F(BrokenConfig, IsAnswered500AsTheRealServerDoes) {
  const Reply refused =
      Apply(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicaz":3}})",
            "&fieldValidation=Ignore");
  EXPECT_EQ(refused.code, 500);
  EXPECT_EQ(refused.message(),
            "failed to create typed patch object (/web; apps/v1, Kind=Deployment): .spec.replicaz: field not "
            "declared in schema");
  EXPECT_EQ(refused.text({"reason"}), "");
}

TEST_F(BrokenConfig, OfAnotherTypeIsNamed) {
  EXPECT_EQ(
      Apply("[1]").message(),
      "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array "
      "into Go value of type map[string]interface {}");
  EXPECT_EQ(Apply("").message(), "invalid object type: /, Kind=");
  EXPECT_EQ(Apply(R"({"apiVersion":7,"kind":"Deployment"})").message(),
            "invalid object type: /, Kind=Deployment");
  EXPECT_EQ(Apply(R"({"apiVersion":"v1","kind":"Pod"})").message(), "invalid object type: /v1, Kind=Pod");
  EXPECT_THAT(Apply("{").message(), HasSubstr("error decoding patch: error converting YAML to JSON: yaml: "));
}

TEST_F(BrokenConfig, OfAnotherNameCreatesNothing) {
  const Reply refused = Apply(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"other"}})");
  EXPECT_EQ(refused.code, 400);
  EXPECT_EQ(refused.message(), "the name of the object (other) does not match the name on the URL (web)");
}

TEST_F(BrokenConfig, RepeatedKeysWarnOrRefuseAsAsked) {
  constexpr const char* kPath = "/api/v1/namespaces/default/configmaps/dup?fieldManager=one";
  const std::string body =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dup}\ndata:\n  a: \"1\"\n  a: \"2\"\n";
  const Reply strict =
      api_.Patch(std::string(kPath) + "&fieldValidation=Strict", body, "application/apply-patch+yaml");
  EXPECT_EQ(strict.code, 400);
  EXPECT_EQ(strict.message(),
            "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n"
            "  line 6: key \"a\" already set in map");
  const Reply warned = api_.Patch(kPath, body, "application/apply-patch+yaml");
  EXPECT_EQ(warned.code, 201);
  EXPECT_EQ(warned.header("Warning"), "299 - \"line 6: key \\\"a\\\" already set in map\"");
  EXPECT_EQ(api_.Patch(std::string(kPath) + "&fieldValidation=Ignore", body, "application/apply-patch+yaml")
                .header("Warning"),
            "");
}

}  // namespace
}  // namespace berth::sandbox::test
