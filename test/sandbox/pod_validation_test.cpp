#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"

// Pods that are refused, with the words of kube-apiserver v1.37.1 to the same requests.
namespace berth::sandbox::test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kGoodContainers = R"("containers":[{"name":"c","image":"i"}])";
constexpr std::string_view kNameRule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kDnsRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and "
    "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

struct BadSpec {
  std::string_view name;
  std::string spec;
  std::string want;
};

BadSpec OneContainer(std::string_view name, std::string_view more, std::string want) {
  return {name, R"("containers":[{"name":"c","image":"i",)" + std::string(more) + "}]",
          "spec.containers[0]." + std::move(want)};
}

BadSpec OnePod(std::string_view name, std::string_view more, std::string want) {
  return {name, std::string(more) + "," + std::string(kGoodContainers), "spec." + std::move(want)};
}

std::string Affinity(std::string_view which, std::string_view terms) {
  return R"("affinity":{")" + std::string(which) + R"(":{)" + std::string(terms) + "}}";
}

class BadSpecTest : public testing::TestWithParam<BadSpec> {};

TEST_P(BadSpecTest, IsRefusedWithTheServersWords) {
  ApiHarness api;
  const Reply reply = api.Post(kPods, R"({"metadata":{"name":"p"},"spec":{)" + GetParam().spec + "}}");
  EXPECT_EQ(reply.code, 422) << reply.body;
  EXPECT_EQ(reply.message(), "Pod \"p\" is invalid: " + GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Containers, BadSpecTest,
    testing::Values(
        BadSpec{"Name", R"("containers":[{"name":"C","image":"i"}])",
                "spec.containers[0].name: Invalid value: \"C\": " + std::string(kDnsRule)},
        BadSpec{"NameWithDots", R"("containers":[{"name":"a.b","image":"i"}])",
                "spec.containers[0].name: Invalid value: \"a.b\": must not contain dots"},
        OneContainer("LimitNeeded", R"("resources":{"requests":{"example.com/gpu":"1"}})",
                     "resources.limits: Required value: Limit must be set for non overcommitable resources"),
        OneContainer("LimitMustBeEqual",
                     R"("resources":{"requests":{"example.com/gpu":"1"},"limits":{"example.com/gpu":"2"}})",
                     "resources.requests: Invalid value: \"1\": must be equal to example.com/gpu limit of 2"),
        OneContainer(
            "PortNameTooLong", R"("ports":[{"containerPort":80,"name":"abcdefghijklmnop"}])",
            "ports[0].name: Invalid value: \"abcdefghijklmnop\": must be no more than 15 characters"),
        OneContainer("PagesAlone", R"("resources":{"limits":{"hugepages-2Mi":"2Mi"}})",
                     "resources: Forbidden: HugePages require cpu or memory"),
        OneContainer("UnknownClaim", R"("resources":{"claims":[{"name":"nothing"}]})",
                     "resources.claims[0]: Not found: \"nothing\": must be one of the names in "
                     "pod.spec.resourceClaims which is empty"),
        OneContainer("Port", R"("ports":[{"containerPort":70000}])",
                     "ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"),
        OneContainer("NoPort", R"("ports":[{"hostPort":80}])", "ports[0].containerPort: Required value"),
        OneContainer("HostPortTwice",
                     R"("ports":[{"containerPort":80,"hostPort":80},{"containerPort":81,"hostPort":80}])",
                     "ports[1].hostPort: Duplicate value: \"TCP//80\""),
        OneContainer("PortNameWithoutLetters", R"("ports":[{"containerPort":80,"name":"80"}])",
                     "ports[0].name: Invalid value: \"80\": must contain at least one letter (a-z)"),
        OneContainer("PullPolicy", R"("imagePullPolicy":"Sometimes")",
                     "imagePullPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
                     "\"IfNotPresent\", \"Never\"")),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Placement, BadSpecTest,
    testing::Values(
        OnePod("NodeSelector", R"("nodeSelector":{"-bad":"x"})",
               "nodeSelector: Invalid value: \"-bad\": " + std::string(kNameRule)),
        OnePod(
            "TolerationOperator", R"("tolerations":[{"key":"a","operator":"Like"}])",
            "tolerations[0].operator: Unsupported value: \"Like\": supported values: \"Equal\", \"Exists\""),
        OnePod("GateTwice", R"("schedulingGates":[{"name":"a"},{"name":"a"}])",
               "schedulingGates[1]: Duplicate value: \"a\""),
        OnePod("Deadline", R"("activeDeadlineSeconds":0)",
               "activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"),
        OnePod("SpreadTwice",
               R"("topologySpreadConstraints":[
                  {"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"},
                  {"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}])",
               "topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "
               "\"{z, DoNotSchedule}\""),
        OnePod("MinDomains",
               R"("topologySpreadConstraints":[
                  {"maxSkew":1,"minDomains":2,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"}])",
               "topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if "
               "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"),
        OnePod("NoTerms",
               Affinity("nodeAffinity",
                        R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]})"),
               "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: "
               "Required value: must have at least one node selector term"),
        OnePod("InWithoutValues",
               Affinity("nodeAffinity",
                        R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                           {"matchExpressions":[{"key":"a","operator":"In"}]}]})"),
               "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
               "matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
               "'NotIn'"),
        OnePod(
            "NodeWeight",
            Affinity("nodeAffinity",
                     R"("preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,"preference":{}}])"),
            "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid "
            "value: 0: must be in the range 1-100"),
        OnePod("PodWeight", Affinity("podAntiAffinity", R"("preferredDuringSchedulingIgnoredDuringExecution":[
                           {"weight":101,"podAffinityTerm":{"topologyKey":"z"}}])"),
               "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid "
               "value: 101: must be in the range 1-100"),
        OnePod("ExistsWithValues",
               Affinity("podAffinity", R"("requiredDuringSchedulingIgnoredDuringExecution":[
                           {"topologyKey":"z","labelSelector":{"matchExpressions":[
                             {"key":"a","operator":"Exists","values":["b"]}]}}])"),
               "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector."
               "matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or "
               "'DoesNotExist'")),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Rest, BadSpecTest,
    testing::Values(
        OnePod("ClaimName", R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":""}}])",
               "volumes[0].persistentVolumeClaim.claimName: Required value"),
        OnePod("NoClaim", R"("resourceClaims":[{"name":"a"}])",
               "resourceClaims[0]: Invalid value: {\"Name\":\"a\",\"ResourceClaimName\":null,"
               "\"ResourceClaimTemplateName\":null}: must specify one of: `resourceClaimName`, "
               "`resourceClaimTemplateName`"),
        OnePod("TwoClaims",
               R"("resourceClaims":[{"name":"a","resourceClaimName":"x","resourceClaimTemplateName":"y"}])",
               "resourceClaims[0]: Invalid value: {\"Name\":\"a\",\"ResourceClaimName\":\"x\","
               "\"ResourceClaimTemplateName\":\"y\"}: at most one of `resourceClaimName` or "
               "`resourceClaimTemplateName` may be specified"),
        OnePod("Overhead", R"("overhead":{"cpu":"-1"})",
               "overhead.limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0")),
    [](const auto& test) { return std::string(test.param.name); });

class PodValidation : public testing::Test {
 protected:
  Reply Create(std::string_view metadata, std::string_view more = "") {
    return api_.Post(kPods, fmt::format(R"({{"metadata":{{"name":"p"{}}},"spec":{{{}{}}}}})", metadata, more,
                                        kGoodContainers));
  }
  ApiHarness api_;
};

TEST_F(PodValidation, EveryProblemOfATextIsNamed) {
  const std::string want = fmt::format(
      "Pod \"p\" is invalid: [spec.schedulingGates[0]: Invalid value: \"\": name part must be non-empty, "
      "spec.schedulingGates[0]: Invalid value: \"\": {}]",
      kNameRule);
  EXPECT_EQ(Create("", R"("schedulingGates":[{"name":""}],)").message(), want);
}

TEST_F(PodValidation, MetadataIsChecked) {
  EXPECT_THAT(Create(R"(,"annotations":{"":"c"})").message(),
              HasSubstr("metadata.annotations: Invalid value: \"\": name part must be non-empty"));
  EXPECT_EQ(Create(R"(,"finalizers":["x"])").message(),
            "Pod \"p\" is invalid: metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard "
            "finalizer name nor is it fully qualified");
  EXPECT_EQ(Create(R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"","uid":""}])").message(),
            "Pod \"p\" is invalid: [metadata.ownerReferences[0].name: Required value: must not be empty, "
            "metadata.ownerReferences[0].uid: Required value: must not be empty]");
  EXPECT_EQ(Create(R"(,"annotations":{"Upper.Case/Key":"c"},"finalizers":["a.b/c"])").code, 201);
}

TEST_F(PodValidation, NamesHaveALimit) {
  const std::string name(254, 'x');
  EXPECT_EQ(api_.Post(kPods, PodJson(name)).message(),
            fmt::format("Pod \"{0}\" is invalid: metadata.name: Invalid value: \"{0}\": must be no more than "
                        "253 characters",
                        name));
}

TEST_F(PodValidation, TerminatingPodGetsNoNewFinalizers) {
  ASSERT_EQ(Create(R"(,"finalizers":["a.b/c"])").code, 201);
  ASSERT_EQ(api_.Delete(PodPath("p")).code, 200);
  const Reply refused = api_.Patch(PodPath("p"), R"({"metadata":{"finalizers":["x.y/z","a.b/c"]}})",
                                   "application/merge-patch+json");
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message(),
              HasSubstr("metadata.finalizers: Forbidden: no new finalizers can be added if "
                        "the object is being deleted, found new finalizers "
                        "[]string{\"x.y/z\"}"));
}

TEST_F(PodValidation, PreemptionPolicyIsThePriorityClassOwn) {
  const Reply refused = Create("", R"("preemptionPolicy":"Perhaps",)");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.message(),
            "pods \"p\" is forbidden: the string value of PreemptionPolicy (Perhaps) must not be provided in "
            "pod spec; priority admission controller computed PreemptLowerPriority from the given "
            "PriorityClass name");
}

TEST_F(PodValidation, NegativeGraceIsOneSecond) {
  const Reply made = Create("", R"("terminationGracePeriodSeconds":-5,)");
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(NumberAt(made.document(), {"spec", "terminationGracePeriodSeconds"}), 1);
}

TEST_F(PodValidation, HostPortsOfTheHostsNetworkAreTheContainers) {
  const Reply refused = api_.Post(kPods, R"({"metadata":{"name":"p"},"spec":{"hostNetwork":true,"containers":[
      {"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":81}]}]}})");
  EXPECT_EQ(refused.message(),
            "Pod \"p\" is invalid: spec.containers[0].ports[0].hostPort: Invalid value: 81: "
            "must match `containerPort` when `hostNetwork` is true");
}

}  // namespace
}  // namespace berth::sandbox::test
