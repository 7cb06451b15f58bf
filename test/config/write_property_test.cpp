#include <chrono>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "config/write.h"
#include "config_bed.h"

namespace berth::config {
namespace {

// Case 23: what --write-config-to writes is read back as the same configuration.
TEST(WriteConfig, ReadsBackAsItself) {
  const auto compiled = CompileText(InProfile(
      "percentageOfNodesToScore: 0\n"
      "plugins: {score: {enabled: [{name: ImageLocality, weight: 7}], disabled: [{name: NodeAffinity}]}}\n"
      "pluginConfig:\n- name: NodeAffinity\n  args: {addedAffinity: "
      "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}"));
  ASSERT_TRUE(compiled) << compiled.error().message;
  const std::string written = WriteYaml(compiled->configuration);
  // The default plugins are in there now, under multiPoint, so reading it merges them with themselves.
  const auto again = CompileText(written);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(WriteYaml(again->configuration), written);
}

TEST(WriteConfig, AnyScalarsSurvive) {
  EXPECT_TRUE(rc::check("scalars survive writing and reading", [] {
    Configuration configuration = MustLoad(File(""));
    configuration.parallelism = *rc::gen::inRange(1, 1 << 30);
    configuration.client_connection.qps = static_cast<float>(*rc::gen::inRange(1, 1 << 20)) / 16;
    configuration.client_connection.burst = *rc::gen::inRange(1, 1 << 30);
    configuration.client_connection.kubeconfig = *rc::gen::container<std::string>(rc::gen::inRange(' ', '~'));
    configuration.leader_election.lease_duration =
        std::chrono::nanoseconds(*rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 60));
    configuration.percentage_of_nodes_to_score = *rc::gen::inRange(0, 101);
    configuration.pod_max_backoff_seconds = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 60);
    const auto again = Load(WriteYaml(configuration), UpstreamFeatures());
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->client_connection == configuration.client_connection);
    RC_ASSERT(again->leader_election == configuration.leader_election);
    RC_ASSERT(again->parallelism == configuration.parallelism);
    RC_ASSERT(again->pod_max_backoff_seconds == configuration.pod_max_backoff_seconds);
  }));
}

}  // namespace
}  // namespace berth::config
