#include "config/load.h"

#include <gmock/gmock.h>

#include "config_bed.h"

namespace berth::config {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct LoadCase {
  std::string_view name;
  std::string text;
  std::string want;
};

class LoadErrors : public testing::TestWithParam<LoadCase> {};

TEST_P(LoadErrors, AreKubeSchedulers) { EXPECT_EQ(LoadError(GetParam().text), GetParam().want); }

const std::string kInArgs =
    "strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for "
    "plugin "
    "NodeResourcesFit: strict decoding error: ";

// Cases 2 to 5 of the chapter.
INSTANTIATE_TEST_SUITE_P(
    Config, LoadErrors,
    testing::Values(
        LoadCase{"EmptyFile", "", "Object 'Kind' is missing in ''"},
        LoadCase{"NoApiVersion", "kind: KubeSchedulerConfiguration\n",
                 "Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration\n'"},
        LoadCase{"OldVersion",
                 "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration",
                 "no kind \"KubeSchedulerConfiguration\" is registered for version "
                 "\"kubescheduler.config.k8s.io/v1beta3\" in scheme \"pkg/runtime/scheme.go:111\""},
        LoadCase{"FirstVersion",
                 "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration",
                 "no kind \"KubeSchedulerConfiguration\" is registered for version "
                 "\"kubescheduler.config.k8s.io/v1alpha1\" in scheme \"pkg/runtime/scheme.go:111\""},
        LoadCase{"UnknownVersion",
                 "apiVersion: kubescheduler.config.k8s.io/unknown\nkind: KubeSchedulerConfiguration",
                 "no kind \"KubeSchedulerConfiguration\" is registered for version "
                 "\"kubescheduler.config.k8s.io/unknown\" in scheme \"pkg/runtime/scheme.go:111\""},
        LoadCase{"OldGroup", "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration",
                 "no kind \"KubeSchedulerConfiguration\" is registered for version "
                 "\"componentconfig/v1alpha1\" in scheme \"pkg/runtime/scheme.go:111\""},
        LoadCase{"TwoSlashes", "apiVersion: a/b/c\nkind: K", "unexpected GroupVersion string: a/b/c"},
        LoadCase{"UnknownField", File("foo: bar\n"), "strict decoding error: unknown field \"foo\""},
        LoadCase{"RemovedField", File("healthzBindAddress: x\n"),
                 "strict decoding error: unknown field \"healthzBindAddress\""},
        LoadCase{"TwiceInYaml", File("leaderElection: {leaderElect: true, leaderElect: false}\n"),
                 "strict decoding error: yaml: unmarshal errors:\n  line 3: key \"leaderElect\" already set "
                 "in map"},
        LoadCase{"TwiceInJson",
                 R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",)"
                 R"("leaderElection":{"leaderElect":true,"leaderElect":false}})",
                 "strict decoding error: duplicate field \"leaderElection.leaderElect\""},
        LoadCase{
            "JsonKeepsItsOrder",
            R"({"zz":1,"kind":"KubeSchedulerConfiguration","aa":1,"apiVersion":"kubescheduler.config.k8s.io/v1"})",
            "strict decoding error: unknown field \"zz\", unknown field \"aa\""},
        LoadCase{
            "CapitalisedArgs",
            InProfile(
                "pluginConfig:\n- name: NodeResourcesFit\n  args: {scoringStrategy: {type: LeastAllocated, "
                "resources: [{Name: cpu, Weight: 1}]}}"),
            kInArgs + "unknown field \"scoringStrategy.resources[0].Name\", unknown field "
                      "\"scoringStrategy.resources[0].Weight\""},
        LoadCase{
            "ArgsOfAnotherPlugin",
            InProfile(
                "pluginConfig:\n- name: DefaultPreemption\n  args: {kind: InterPodAffinityArgs, apiVersion: "
                "kubescheduler.config.k8s.io/v1, foo: 1}"),
            "decoding .profiles[0].pluginConfig[0]: args for plugin DefaultPreemption were not of type "
            "DefaultPreemptionArgs.kubescheduler.config.k8s.io, got "
            "InterPodAffinityArgs.kubescheduler.config.k8s.io"},
        LoadCase{"TypeBeforeStrict", File("foo: 1\nparallelism: many\n"),
                 "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism "
                 "of type "
                 "int32"},
        LoadCase{"DurationBeforeType",
                 File("clientConnection: {qps: x}\nleaderElection: {leaseDuration: null}\n"),
                 "time: invalid duration \"\""},
        LoadCase{
            "FractionInJson",
            R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","parallelism":3.0})",
            "json: cannot unmarshal number 3.0 into Go struct field KubeSchedulerConfiguration.parallelism "
            "of type "
            "int32"},
        LoadCase{"BadBase64", File("extenders: [{tlsConfig: {caData: 'YWI*'}}]\n"),
                 "illegal base64 data at input byte 3"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Load, WholeFractionsAreIntegersInYaml) {
  EXPECT_EQ(*MustLoad(File("parallelism: 3.0\n")).parallelism, 3);
}

TEST(Load, OnlyTheFirstDocumentCounts) {
  EXPECT_EQ(*MustLoad(File("parallelism: 3\n---\nparallelism: 4\n")).parallelism, 3);
}

// Case 6: plugins from outside read their own arguments; a plugin without any gets defaults.
TEST(Load, ArgumentsOfUnknownPluginsAreKept) {
  const Configuration configuration = MustLoad(
      InProfile("pluginConfig:\n- name: OutOfTreePlugin\n  args: [1, {a: b}]\n- name: NodeAffinity"));
  EXPECT_EQ(ToJsonText(*configuration.profiles[0].plugin_config[0].args.node), R"([1,{"a":"b"}])");
  EXPECT_TRUE(std::holds_alternative<NodeAffinityArgs>(configuration.profiles[0].plugin_config[1].typed));
}

TEST(Load, ProblemsSayWhereTheyAre) {
  const auto loaded = Load(InProfile("plugins: {filter: {enable: []}}"), UpstreamFeatures());
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.error().problems.size(), 1u);
  EXPECT_EQ(loaded.error().problems[0].path, "profiles[0].plugins.filter.enable");
}

TEST(Load, BrokenTextIsAnError) {
  EXPECT_THAT(LoadError(File("profiles: [\n")), StartsWith("yaml: "));
  EXPECT_THAT(LoadError("{\"apiVersion\":"), StartsWith("couldn't get version/kind; json parse error: "));
  EXPECT_THAT(LoadError(std::string(10'000, '[')), StartsWith("yaml: "));
  EXPECT_THAT(LoadError("{\"a\":" + std::string(10'000, '[')), HasSubstr("json parse error"));
}

}  // namespace
}  // namespace berth::config
