#include "cli/config_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "base/log.h"
#include "config/load.h"
#include "config/validation.h"

// A file that changes under a running scheduler.
namespace berth::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class FollowerTest : public testing::Test, private base::LogSink {
 protected:
  FollowerTest() {
    base::LogOptions options;
    options.sink = this;
    options.clock = &clock;
    previous_ = base::ConfigureLogging(options);
    follower.emplace(
        "f.yaml", *Load(),
        ConfigFollower::Hooks{.read = [this]() -> base::Result<std::string> {
                                if (!body) return base::Fail("open f.yaml: no such file or directory");
                                return *body;
                              },
                              .load = [this] { return Load(); },
                              .apply = [this](const LoadedConfiguration& loaded) -> base::Result<void> {
                                if (!apply_error.empty()) return base::Fail(apply_error);
                                applied.push_back(*loaded.compiled.configuration.pod_max_backoff_seconds);
                                return {};
                              }},
        metrics, clock);
  }
  ~FollowerTest() override { base::ConfigureLogging(previous_); }
  void Write(base::Severity /*severity*/, std::string_view line) override { log += line; }

  base::Result<LoadedConfiguration> Load() {
    if (!load_error.empty()) return base::Fail(load_error);
    const framework::Features features;
    const std::string text =
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + body.value_or("");
    auto loaded = config::Load(text, features);
    if (!loaded) return base::Fail(loaded.error().message);
    if (const auto problems = config::Validate(*loaded, features); !problems.empty()) {
      return base::Fail(config::Aggregate(problems));
    }
    auto compiled = config::Compile(*std::move(loaded), config::PluginCatalog::InTree(), features);
    if (!compiled) return std::unexpected(compiled.error());
    return LoadedConfiguration{*std::move(compiled),
                               body.value_or("").find("percentage") != std::string::npos};
  }
  void LookTwice() {
    follower->Look();
    follower->Look();
  }

  base::VirtualClock clock;
  std::string log;
  std::optional<std::string> body = "podMaxBackoffSeconds: 10\n";
  std::string load_error;
  std::string apply_error;
  std::vector<std::int64_t> applied;
  base::MetricRegistry metrics;
  std::optional<ConfigFollower> follower;

 private:
  base::LogOptions previous_;
};

TEST_F(FollowerTest, AFileThatStaysIsReadOnce) {
  LookTwice();
  LookTwice();
  EXPECT_THAT(applied, IsEmpty());
  EXPECT_EQ(log, "");
}

TEST_F(FollowerTest, AChangeCountsWhenItHasSettled) {
  body = "podMaxBackoffSeconds: 20\n";
  follower->Look();
  EXPECT_THAT(applied, IsEmpty());
  follower->Look();
  EXPECT_THAT(applied, ElementsAre(20));
  LookTwice();
  EXPECT_THAT(applied, ElementsAre(20));
  EXPECT_EQ(follower->running().compiled.configuration.pod_max_backoff_seconds, 20);
  EXPECT_THAT(log, HasSubstr("- podMaxBackoffSeconds: 10\n\t+ podMaxBackoffSeconds: 20"));
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_config_reloads_total{result=\"applied\"} 1\n"));
}

TEST_F(FollowerTest, AWrongFileChangesNothingAndIsTriedOnce) {
  body = "podMaxBackoffSeconds: -1\n";
  LookTwice();
  LookTwice();
  EXPECT_THAT(applied, IsEmpty());
  EXPECT_EQ(follower->running().compiled.configuration.pod_max_backoff_seconds, 10);
  EXPECT_THAT(log, HasSubstr("must be greater than or equal to PodInitialBackoffSeconds"));
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_config_reloads_total{result=\"refused\"} 1\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_config_last_reload_successful 0\n"));
  body = "podMaxBackoffSeconds: 30\n";
  LookTwice();
  EXPECT_THAT(applied, ElementsAre(30));
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_config_last_reload_successful 1\n"));
}

TEST_F(FollowerTest, AFileThatIsGoneForAMomentIsNoChange) {
  body.reset();
  LookTwice();
  body = "podMaxBackoffSeconds: 10\n";
  LookTwice();
  EXPECT_THAT(applied, IsEmpty());
  EXPECT_EQ(log, "");
}

TEST_F(FollowerTest, ASignalTriesAtOnceAndAgain) {
  body = "podMaxBackoffSeconds: 20\n";
  apply_error = "no plugin";
  follower->Reload();
  EXPECT_THAT(log, HasSubstr("no plugin"));
  EXPECT_EQ(follower->running().compiled.configuration.pod_max_backoff_seconds, 10);
  apply_error.clear();
  follower->Reload();
  EXPECT_THAT(applied, ElementsAre(20));
  follower->Reload();
  EXPECT_THAT(applied, ElementsAre(20));
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_config_reloads_total{result=\"unchanged\"} 1\n"));
}

// The alert on the metric went on for ever.
TEST_F(FollowerTest, AFileThatIsBackAfterASignalIsInForceAgain) {
  const std::string before = *body;
  body.reset();
  load_error = "open f.yaml: no such file or directory";
  follower->Reload();
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_config_last_reload_successful 0\n"));
  LookTwice();
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_config_last_reload_successful 0\n"));
  body = before;
  load_error.clear();
  LookTwice();
  EXPECT_THAT(applied, IsEmpty());
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_config_last_reload_successful 1\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_config_reloads_total{result=\"unchanged\"} 1\n"));
}

TEST_F(FollowerTest, WhatNeedsARestartIsNamed) {
  body = "podMaxBackoffSeconds: 10\nleaderElection: {leaseDuration: 99s}\n";
  LookTwice();
  EXPECT_THAT(applied, IsEmpty());
  EXPECT_THAT(log, HasSubstr("leaderElection.leaseDuration"));
}

// 0 is the default, but to say so limits how many nodes are looked at.
TEST_F(FollowerTest, AskingForASampleOfTheNodesIsAChange) {
  body = "podMaxBackoffSeconds: 10\npercentageOfNodesToScore: 0\n";
  LookTwice();
  EXPECT_EQ(applied.size(), 1u);
  EXPECT_TRUE(follower->running().samples_nodes);
}

}  // namespace
}  // namespace berth::cli
