#include "config/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_bed.h"

// What a running scheduler makes of another file.
namespace berth::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

ReloadPlan Plan(std::string_view from, std::string_view to) {
  const auto running = CompileText(File(from));
  auto wanted = CompileText(File(to));
  EXPECT_TRUE(running && wanted);
  return PlanReload(*running, *std::move(wanted));
}

TEST(Reload, TheSameMeaningIsNoChange) {
  const ReloadPlan plan = Plan("", "parallelism: 16\npodInitialBackoffSeconds: 1\n");
  EXPECT_THAT(plan.difference, IsEmpty());
  EXPECT_FALSE(plan.changes_scheduler);
  EXPECT_THAT(plan.needs_restart, IsEmpty());
}

TEST(Reload, ProfilesAndBackoffsChangeAtOnce) {
  const ReloadPlan plan = Plan("", "podMaxBackoffSeconds: 60\nprofiles: [{schedulerName: other}]\n");
  EXPECT_TRUE(plan.changes_scheduler);
  EXPECT_THAT(plan.needs_restart, IsEmpty());
  EXPECT_THAT(plan.difference, Contains("- podMaxBackoffSeconds: 10"));
  EXPECT_THAT(plan.difference, Contains("+ podMaxBackoffSeconds: 60"));
  EXPECT_EQ(plan.result.configuration.pod_max_backoff_seconds, 60);
  EXPECT_EQ(plan.result.profiles.at(0).scheduler_name, "other");
}

TEST(Reload, ArgumentsOfPluginsChangeAtOnce) {
  const ReloadPlan plan =
      Plan("", "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 7}}]}]\n");
  EXPECT_TRUE(plan.changes_scheduler);
  EXPECT_THAT(
      plan.difference,
      Contains("+ profiles[default-scheduler].pluginConfig[InterPodAffinity].hardPodAffinityWeight: 7"));
}

TEST(Reload, WhatIsSetUpOnceKeepsItsValueUntilARestart) {
  const ReloadPlan plan = Plan("leaderElection: {leaseDuration: 20s}\n",
                               "leaderElection: {leaseDuration: 30s}\nclientConnection: {qps: 7}\n"
                               "enableProfiling: false\npodMaxBackoffSeconds: 60\n");
  EXPECT_TRUE(plan.changes_scheduler);
  EXPECT_THAT(plan.needs_restart, ElementsAre("clientConnection.qps", "enableContentionProfiling",
                                              "enableProfiling", "leaderElection.leaseDuration"));
  EXPECT_EQ(plan.result.configuration.leader_election.lease_duration, std::chrono::seconds(20));
  EXPECT_EQ(plan.result.configuration.client_connection.qps, 50);
  EXPECT_EQ(plan.result.configuration.enable_profiling, true);
  EXPECT_EQ(plan.result.configuration.pod_max_backoff_seconds, 60);
}

TEST(Reload, OnlyWhatNeedsARestartChangesNothingNow) {
  const ReloadPlan plan = Plan("", "leaderElection: {resourceName: mine}\n");
  EXPECT_FALSE(plan.changes_scheduler);
  EXPECT_THAT(plan.needs_restart, ElementsAre("leaderElection.resourceName"));
}

// Arguments of NodeResourcesFit follow from the extenders: half of such a file would be a third
// configuration.
TEST(Reload, AFileWithOtherExtendersWaitsAsAWhole) {
  const ReloadPlan plan =
      Plan("", "extenders: [{urlPrefix: 'http://e', filterVerb: f}]\npodMaxBackoffSeconds: 60\n");
  EXPECT_FALSE(plan.changes_scheduler);
  EXPECT_EQ(plan.result.configuration.pod_max_backoff_seconds, 10);
  EXPECT_THAT(plan.result.configuration.extenders, IsEmpty());
  EXPECT_FALSE(plan.needs_restart.empty());
}

TEST(Reload, ADifferenceShowsNoSecret) {
  Compiled running = *CompileText(File(""));
  Compiled wanted = running;
  Extender& extender = wanted.configuration.extenders.emplace_back();
  extender.url_prefix = "https://user:hunter2@extender.example/x@y";
  extender.tls_config.emplace().key_data.bytes = "hunter2";
  const ReloadPlan plan = PlanReload(running, std::move(wanted));
  for (const std::string& line : plan.difference) {
    EXPECT_EQ(line.find("hunter2"), std::string::npos) << line;
    EXPECT_EQ(line.find("aHVudGVyMg"), std::string::npos) << line;
  }
  EXPECT_THAT(plan.difference, Contains("+ extenders[0].urlPrefix: \"https://extender.example/x@y\""));
}

}  // namespace
}  // namespace berth::config
