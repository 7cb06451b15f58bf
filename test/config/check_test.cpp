#include "config/check.h"

#include <gmock/gmock.h>

#include "config_bed.h"

namespace berth::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<LocatedProblem> Check(std::string_view text) {
  return CheckFile(text, PluginCatalog::InTree(), UpstreamFeatures());
}

// A user mends a file in one go: unknown fields, wrong types and values that cannot be, all at once.
TEST(CheckFile, FindsMistakesOfEveryKind) {
  EXPECT_THAT(
      Check(File("foo: 1\n"
                 "parallelism: 0\n"
                 "clientConnection:\n"
                 "  qps: many\n"
                 "leaderElection:\n"
                 "  leaseDuration: 5\n"
                 "  renewDeadline: x\n")),
      ElementsAre(LocatedProblem{3, "unknown field \"foo\""},
                  LocatedProblem{4,
                                 "parallelism: Invalid value: 0: should be an integer value greater than "
                                 "zero"},
                  LocatedProblem{6,
                                 "json: cannot unmarshal string into Go struct field "
                                 "ClientConnectionConfiguration.clientConnection.qps of type float32"},
                  LocatedProblem{8,
                                 "json: cannot unmarshal number into Go struct field "
                                 "LeaderElectionConfiguration.leaderElection.leaseDuration of type string"},
                  LocatedProblem{9, "time: invalid duration \"x\""}));
}

TEST(CheckFile, KnowsLinesInsideArguments) {
  EXPECT_THAT(
      Check(InProfile("pluginConfig:\n"
                      "- name: InterPodAffinity\n"
                      "  args:\n"
                      "    hardPodAffinityWeight: 101\n"
                      "    wait: 1\n")),
      ElementsAre(LocatedProblem{8,
                                 "profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: "
                                 "101: not in valid range [0, 100]"},
                  LocatedProblem{9, "unknown field \"wait\""}));
}

TEST(CheckFile, PluginsThatDoNotExist) {
  const auto problems = Check(InProfile("plugins: {filter: {enabled: [{name: Mine}]}}"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].message, HasSubstr("FilterPlugin \"Mine\" does not exist"));
}

// One at a time, a file with three of them would have to be checked four times.
TEST(CheckFile, PluginsAndArgumentsBesideOtherMistakes) {
  EXPECT_THAT(
      Check(File("parallelism: 0\n"
                 "profiles:\n"
                 "- plugins:\n"
                 "    filter:\n"
                 "      enabled:\n"
                 "      - name: Mine\n"
                 "      - name: ImageLocality\n"
                 "    multiPoint:\n"
                 "      enabled: [{name: Yours}]\n"
                 "  pluginConfig:\n"
                 "  - name: NodeResourcesFit\n"
                 "    args:\n"
                 "      scoringStrategy:\n"
                 "        type: Best\n")),
      ElementsAre(
          LocatedProblem{3, "parallelism: Invalid value: 0: should be an integer value greater than zero"},
          LocatedProblem{8, "FilterPlugin \"Mine\" does not exist"},
          LocatedProblem{9, "plugin \"ImageLocality\" does not extend FilterPlugin plugin"},
          LocatedProblem{11, "PreFilterPlugin \"Yours\" does not exist"},
          LocatedProblem{
              16,
              "profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: \"Best\": "
              "supported values: \"LeastAllocated\", \"MostAllocated\", "
              "\"RequestedToCapacityRatio\""}));
}

TEST(CheckFile, APluginThatWasRemovedIsToldOnce) {
  EXPECT_EQ(Check(InProfile("plugins: {filter: {enabled: [{name: EBSLimits}]}}")).size(), 1u);
}

TEST(CheckFile, WhatIsMissingInAProfile) {
  EXPECT_THAT(Check(InProfile("plugins:\n  bind: {disabled: [{name: '*'}]}")),
              ElementsAre(LocatedProblem{5,
                                         "at least one bind plugin is needed for profile with scheduler name "
                                         "\"default-scheduler\""}));
}

TEST(CheckFile, RepeatedKeysAreNamedOneByOne) {
  EXPECT_THAT(Check(File("parallelism: 1\nparallelism: 2\nleaderElection:\n  leaderElect: true\n"
                         "  leaderElect: false\n")),
              ElementsAre(LocatedProblem{4, "key \"parallelism\" already set in map"},
                          LocatedProblem{7, "key \"leaderElect\" already set in map"}));
}

TEST(CheckFile, WhatCannotBeReadHasALineToo) {
  const auto line = [](std::string_view text) {
    const auto problems = Check(text);
    return problems.size() == 1 ? problems[0].line : 0;
  };
  EXPECT_EQ(line(File("parallelism: 3\n  foo: 1\n")), 4u);
  EXPECT_EQ(line("{\"kind\": \"KubeSchedulerConfiguration\",\n \"parallelism\": 1,\n \"foo\": }\n"), 3u);
  EXPECT_EQ(
      line("# old\nkind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1beta3\n"), 3u);
  EXPECT_EQ(line(""), 0u);
}

TEST(CheckFile, NothingIsWrongWithAGoodOne) { EXPECT_THAT(Check(File("parallelism: 3\n")), ElementsAre()); }

TEST(DescribeFile, SaysWhereSettingsComeFrom) {
  const std::string text = File("parallelism: 3\n");
  const std::string described = DescribeFile(text, *CompileText(text), *CompileText(File("")));
  EXPECT_THAT(described, HasSubstr("parallelism: 3  # line 3, default 16\n"));
  EXPECT_THAT(described, HasSubstr("percentageOfNodesToScore: 0  # default: all nodes are looked at\n"));
  EXPECT_THAT(described, HasSubstr("podMaxBackoffSeconds: 10  # default\n"));
  EXPECT_THAT(described, HasSubstr("\nprofile default-scheduler\n"));
  EXPECT_THAT(described, HasSubstr("  queueSort: PrioritySort\n"));
}

TEST(DescribeFile, ShowsTheDefaultBelowWhatTheFileChanges) {
  const std::string text = InProfile(
      "plugins: {score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 7}]}}\n"
      "pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 3}}]\n"
      "percentageOfNodesToScore: 5");
  const std::string described = DescribeFile(text, *CompileText(text), *CompileText(File("")));
  EXPECT_THAT(described, HasSubstr("  percentageOfNodesToScore: 5\n"));
  EXPECT_THAT(described,
              HasSubstr("  score: ImageLocality 7\n    # default: TaintToleration 3, NodeAffinity 2, "));
  EXPECT_THAT(described, HasSubstr("  permit:\n  preEnqueue: "));
  EXPECT_THAT(described,
              HasSubstr("  arguments of InterPodAffinity: "
                        "{\"hardPodAffinityWeight\":3,\"ignorePreferredTermsOfExistingPods\":false}\n"
                        "    # default: {\"hardPodAffinityWeight\":1,"));
}

TEST(DiffConfigurations, ShowsWhatIsDifferent) {
  const auto plain = CompileText(File(""));
  const auto other = CompileText(
      InProfile("plugins: {bind: {enabled: [{name: DefaultBinder}]}}\npercentageOfNodesToScore: 5"));
  EXPECT_EQ(DiffConfigurations(*plain, *plain), "");
  EXPECT_EQ(DiffConfigurations(*plain, *other),
            "+ profiles[default-scheduler].percentageOfNodesToScore: 5\n");
}

}  // namespace
}  // namespace berth::config
