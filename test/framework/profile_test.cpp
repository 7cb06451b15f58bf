#include "framework/profile.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "framework/synthetic_plugins.h"

namespace berth::framework {
namespace {

using testing::ElementsAre;

class ProfileTest : public testing::Test {
 protected:
  base::Result<ProfileConfig> Expanded(std::vector<EnabledPlugin> plugins) {
    return ExpandEverywhere(plugins, registry_, setup_);
  }
  std::vector<EnabledPlugin>& At(ProfileConfig& config, ExtensionPoint point) {
    return config.enabled[static_cast<std::size_t>(point)];
  }
  std::string ErrorOf(const ProfileConfig& config) {
    RejectionTable table;
    const auto profile = Profile::Make(config, registry_, setup_, table);
    return profile ? "" : profile.error().message;
  }

  const Features features_ = Features::Upstream();
  const PluginArgs args_;
  cluster::Cluster cluster_;
  const PluginSetup setup_{features_, args_, cluster_};
  Registry registry_ = test::SyntheticPlugins();
  RejectionTable table_;
};

TEST_F(ProfileTest, NumbersFollowFilterOrderFirst) {
  ProfileConfig config = *Expanded({{"Share", 4}, {"Zones", 0}, {"Room", 0}, {"Owner", 0}});
  At(config, ExtensionPoint::kFilter) = {{"Owner", 0}, {"Room", 0}, {"Zones", 0}};
  const auto profile = Profile::Make(config, registry_, setup_, table_);
  ASSERT_TRUE(profile.has_value());
  const auto names = (*profile)->plugin_names();
  EXPECT_THAT(std::vector(names.begin(), names.end()),
              ElementsAre("Owner", "Room", "Zones", "Share", "Extender"));
  for (std::size_t i = 0; i < (*profile)->plugins().size(); ++i) {
    EXPECT_EQ((*profile)->plugins()[i]->index(), i);
  }
  EXPECT_EQ((*profile)->extender_index(), 4);
}

TEST_F(ProfileTest, WeightsDefaultToOneAndReasonsGetIds) {
  const auto profile =
      Profile::Make(*Expanded({{"Room", 0}, {"Zones", 0}, {"Share", 4}}), registry_, setup_, table_);
  ASSERT_TRUE(profile.has_value());
  ASSERT_EQ((*profile)->score().size(), 2u);
  EXPECT_EQ((*profile)->score()[0].weight, 1);
  EXPECT_EQ((*profile)->score()[1].weight, 4);
  EXPECT_EQ((*profile)->fixed_reasons(0).count, 1u);
  EXPECT_EQ(table_.Get((*profile)->fixed_reasons(0).first).reasons[0].Text(), "no room");
  EXPECT_EQ((*profile)->fixed_reasons(1).count, 0u);
}

TEST_F(ProfileTest, PluginWithoutPreScoreIsStillScored) {
  ProfileConfig config = *Expanded({{"Share", 0}});
  At(config, ExtensionPoint::kPreScore).clear();
  const auto profile = Profile::Make(config, registry_, setup_, table_);
  ASSERT_TRUE(profile.has_value());
  EXPECT_FALSE((*profile)->score()[0].pre_score);
}

TEST_F(ProfileTest, MistakesAreNamedInUpstreamsWords) {
  EXPECT_EQ(Expanded({{"Nobody", 0}}).error().message, "plugin \"Nobody\" does not exist");
  ProfileConfig config = *Expanded({{"Room", 0}});
  At(config, ExtensionPoint::kScore).push_back({"Room", 0});
  EXPECT_EQ(ErrorOf(config), "plugin \"Room\" does not extend ScorePlugin plugin");
  At(config, ExtensionPoint::kScore).clear();
  At(config, ExtensionPoint::kFilter).push_back({"Room", 0});
  EXPECT_EQ(ErrorOf(config), "plugin \"Room\" already registered as \"FilterPlugin\"");
  At(config, ExtensionPoint::kFilter) = {{"Nobody", 0}};
  EXPECT_EQ(ErrorOf(config), "plugin \"Nobody\" does not exist");
  config = *Expanded({{"Share", std::int64_t{1} << 60}, {"Zones", std::int64_t{1} << 60}});
  EXPECT_EQ(ErrorOf(config), "score plugins: total score of Score plugins could overflow");
}

TEST_F(ProfileTest, FactoryErrorNamesThePlugin) {
  registry_.Add("Bad", [](const PluginSetup&) -> base::Result<std::unique_ptr<Plugin>> {
    return base::Fail("bad arguments");
  });
  ProfileConfig config;
  At(config, ExtensionPoint::kFilter).push_back({"Bad", 0});
  EXPECT_EQ(ErrorOf(config), "initializing plugin \"Bad\": bad arguments");
}

TEST_F(ProfileTest, ProfileThatOnlyAnswersQuestionsIsNotRunnable) {
  const auto profile = Profile::Make(*Expanded({{"Room", 0}}), registry_, setup_, table_);
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(
      (*profile)->CheckRunnable().error().message,
      "only one queue sort plugin required for profile with scheduler name \"default-scheduler\", but got 0");
}

TEST_F(ProfileTest, OnePluginThatCannotSignTurnsSignaturesOff) {
  const auto profile = Profile::Make(*Expanded({{"Room", 0}}), registry_, setup_, table_);
  ASSERT_TRUE(profile.has_value());
  EXPECT_TRUE((*profile)->sign().empty());
}

}  // namespace
}  // namespace berth::framework
