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

TEST(CheckFile, NothingIsWrongWithAGoodOne) { EXPECT_THAT(Check(File("parallelism: 3\n")), ElementsAre()); }

TEST(DescribeFile, SaysWhereSettingsComeFrom) {
  const std::string text = File("parallelism: 3\n");
  const std::string described = DescribeFile(text, *CompileText(text));
  EXPECT_THAT(described, HasSubstr("parallelism: 3  # line 3\n"));
  EXPECT_THAT(described, HasSubstr("podMaxBackoffSeconds: 10  # default\n"));
  EXPECT_THAT(described, HasSubstr("\nprofile default-scheduler\n"));
  EXPECT_THAT(described, HasSubstr("  queueSort: PrioritySort\n"));
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
