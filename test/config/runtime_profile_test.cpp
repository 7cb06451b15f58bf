#include "config/runtime_profile.h"

#include <gmock/gmock.h>

#include "config_bed.h"

namespace berth::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PluginCatalog::Points At(std::initializer_list<Point> points) {
  PluginCatalog::Points set;
  for (const Point point : points) set.set(Index(point));
  return set;
}

class RuntimeProfileTest : public testing::Test {
 protected:
  framework::ProfileConfig Make(std::string_view text) {
    const auto compiled = CompileText(text);
    EXPECT_TRUE(compiled) << compiled.error().message;
    return RuntimeProfile(compiled->profiles[0], compiled->configuration.profiles[0], built_in, missing);
  }
  static std::vector<std::string> Names(const framework::ProfileConfig& profile, Point point) {
    std::vector<std::string> names;
    for (const framework::EnabledPlugin& plugin : profile.enabled[Index(point)]) names.push_back(plugin.name);
    return names;
  }

  PluginCatalog built_in;
  std::vector<std::string> missing;
};

TEST_F(RuntimeProfileTest, KeepsOrderAndWeights) {
  built_in.Add("NodeAffinity", At({Point::kPreFilter, Point::kFilter, Point::kPreScore, Point::kScore}));
  built_in.Add("NodeName", At({Point::kPreFilter, Point::kFilter}));
  const auto profile =
      Make(InProfile("plugins: {filter: {enabled: [{name: NodeAffinity}]}}\npercentageOfNodesToScore: 7"));
  EXPECT_THAT(Names(profile, Point::kPreFilter), ElementsAre("NodeName", "NodeAffinity"));
  EXPECT_THAT(Names(profile, Point::kFilter), ElementsAre("NodeAffinity", "NodeName"));
  ASSERT_EQ(profile.enabled[Index(Point::kScore)].size(), 1u);
  EXPECT_EQ(profile.enabled[Index(Point::kScore)][0].weight, 2);
  EXPECT_EQ(profile.percentage_of_nodes_to_score, 7);
  EXPECT_THAT(missing, testing::Contains("VolumeBinding"));
  EXPECT_THAT(missing, testing::Not(testing::Contains("NodeName")));
}

// ImageLocality prepares its scores here and not in kube-scheduler; DefaultBinder is made up to have no point
// at all.
TEST_F(RuntimeProfileTest, PointsOfTheBuiltInPluginCount) {
  built_in.Add("ImageLocality", At({Point::kPreScore, Point::kScore}));
  built_in.Add("DefaultBinder", At({}));
  const auto profile = Make(File(""));
  EXPECT_THAT(Names(profile, Point::kPreScore), ElementsAre("ImageLocality"));
  EXPECT_THAT(Names(profile, Point::kBind), IsEmpty());
}

TEST_F(RuntimeProfileTest, WhatIsDisabledGetsNoPointOfItsOwn) {
  built_in.Add("ImageLocality", At({Point::kPreScore, Point::kScore}));
  const auto profile = Make(InProfile("plugins: {multiPoint: {disabled: [{name: ImageLocality}]}}"));
  EXPECT_THAT(Names(profile, Point::kPreScore), IsEmpty());
  EXPECT_THAT(Names(profile, Point::kScore), IsEmpty());
}

}  // namespace
}  // namespace berth::config
