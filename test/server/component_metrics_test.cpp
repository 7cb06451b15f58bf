#include "server/component_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace berth::server {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ComponentMetrics, GatesShowTheirStageAndWhetherTheyAreOn) {  // case 38
  base::MetricRegistry registry;
  const std::vector<GateState> gates = {{"SchedulerPopFromBackoffQ", "BETA", true},
                                        {"NodeDeclaredFeatures", "", true},
                                        {"GenericWorkload", "BETA", false}};
  AddComponentMetrics(registry, gates,
                      {.git_version = "v1.37.1", .emulation = "1.37", .min_compatibility = "1.36"});
  const std::string text = registry.Text();
  EXPECT_THAT(text, HasSubstr("# HELP kubernetes_feature_enabled [BETA] "));
  EXPECT_THAT(text,
              HasSubstr("kubernetes_feature_enabled{name=\"SchedulerPopFromBackoffQ\",stage=\"BETA\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"NodeDeclaredFeatures\",stage=\"\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"GenericWorkload\",stage=\"BETA\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("git_version=\"v1.37.1\""));
  EXPECT_THAT(
      text,
      HasSubstr(
          "version_info{binary=\"1.37\",component=\"kube\",emulation=\"1.37\",min_compat=\"1.36\"} 1\n"));
}

class ElectionMetricsTest : public testing::Test {
 protected:
  ElectionMetricsTest() {
    AddElectionMetrics(registry,
                       {.is_leader = [this] { return leads; }, .slow_path_count = [this] { return slow; }});
  }

  bool leads = false;
  std::uint64_t slow = 0;
  base::MetricRegistry registry;
};

// The name is that of the program, as kube-scheduler has it, however the lease is called.
TEST_F(ElectionMetricsTest, StatusFollowsTheLease) {  // case 55
  EXPECT_THAT(registry.Text(), HasSubstr("leader_election_master_status{name=\"kube-scheduler\"} 0\n"));
  leads = true;
  EXPECT_THAT(registry.Text(), HasSubstr("leader_election_master_status{name=\"kube-scheduler\"} 1\n"));
  leads = false;
  EXPECT_THAT(registry.Text(), HasSubstr("leader_election_master_status{name=\"kube-scheduler\"} 0\n"));
}

TEST_F(ElectionMetricsTest, SlowPathsAreShownFromTheFirstOneOn) {  // case 53
  EXPECT_THAT(registry.Text(), Not(HasSubstr("leader_election_slowpath_total{")));
  slow = 1;
  EXPECT_THAT(registry.Text(), HasSubstr("leader_election_slowpath_total{name=\"kube-scheduler\"} 1\n"));
  EXPECT_THAT(registry.Text(), HasSubstr("leader_election_slowpath_total{name=\"kube-scheduler\"} 1\n"));
  slow = 3;
  EXPECT_THAT(registry.Text(), HasSubstr("leader_election_slowpath_total{name=\"kube-scheduler\"} 3\n"));
}

}  // namespace
}  // namespace berth::server
