#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "gtest/gtest.h"

#include "framework/engine_bed.h"
#include "framework/synthetic_plugins.h"
#include "plugins/all_plugins.h"
#include "support/builders.h"

// What a decision costs in allocations. Counted in this whole test program; only differences are looked at.
//
// The thread sanitizer brings operators of its own that cannot be replaced: nothing is counted there.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BERTH_ALLOCATIONS_UNCOUNTED
#endif
#endif

namespace {

std::size_t allocation_count = 0;

#ifndef BERTH_ALLOCATIONS_UNCOUNTED
void* CountedAllocate(std::size_t size) {
  ++allocation_count;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
#endif

}  // namespace

#ifndef BERTH_ALLOCATIONS_UNCOUNTED
void* operator new(std::size_t size) { return CountedAllocate(size); }
void* operator new[](std::size_t size) { return CountedAllocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace berth::framework {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;

class AllocationTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
#ifdef BERTH_ALLOCATIONS_UNCOUNTED
    GTEST_SKIP() << "operator new belongs to the sanitizer";
#endif
  }
  AllocationTest() {
    for (int i = 0; i < GetParam(); ++i) {
      cluster_.SetNode(MakeNode("n" + std::to_string(i)).Cpu("64").Zone("z" + std::to_string(i % 3)).Ref());
    }
  }
  cluster::Cluster cluster_;
};

TEST_P(AllocationTest, WarmDecisionAllocatesAHandfulOfTimesWhateverTheNumberOfNodes) {
  const Registry registry = test::SyntheticPlugins();
  RejectionTable rejections;
  const Features features = Features::Upstream();
  const PluginArgs args;
  const PluginSetup setup{features, args, cluster_};
  const auto config = ExpandEverywhere(test::Enabled({"Room", "Owner"}), registry, setup);
  const auto profile = Profile::Make(*config, registry, setup, rejections);
  // Without verification, which evaluates everything anew.
  Engine engine(cluster_, **profile, rejections, {});
  std::size_t most = 0;
  for (int i = 0; i < 60; ++i) {
    const auto pod = *cluster_.SetPending(MakePod("p" + std::to_string(i)).Cpu("1").Record());
    const std::size_t before = allocation_count;
    const Outcome outcome = engine.SchedulePod({.pod = pod, .step = static_cast<std::uint64_t>(i)});
    const std::size_t cost = allocation_count - before;
    if (i > 30) most = std::max(most, cost);
    const std::string node(cluster_.nodes().name(std::get<Decision>(outcome).row));
    ASSERT_TRUE(cluster_.Assume(pod, node).has_value());
  }
  EXPECT_LE(most, 4u);
}

// With the default plugins, pods that each plugin has something to do for.
TEST_P(AllocationTest, WarmDecisionOfTheDefaultPluginsAllocatesAHandfulOfTimes) {
  const Registry registry = plugins::AllPlugins();
  RejectionTable rejections;
  const Features features = Features::Upstream();
  const PluginArgs args;
  std::vector<EnabledPlugin> enabled = DefaultPlugins(features);
  std::erase_if(enabled, [&](const EnabledPlugin& plugin) { return !registry.Contains(plugin.name); });
  cluster::Cluster cluster;
  const PluginSetup setup{features, args, cluster};
  const auto profile =
      Profile::Make(*ExpandEverywhere(enabled, registry, setup), registry, setup, rejections);
  for (int i = 0; i < GetParam(); ++i) {
    cluster.SetNode(MakeNode("n" + std::to_string(i)).Cpu("64").Zone("z" + std::to_string(i % 3)).Ref());
  }
  Engine engine(cluster, **profile, rejections, {});
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) {
    auto builder = MakePod("p" + std::to_string(i)).Label("app", "a").Cpu("100m");
    api::TopologySpreadConstraint constraint;
    constraint.max_skew = 5;
    constraint.topology_key = berth::test::kZone;
    constraint.when_unsatisfiable = "ScheduleAnyway";
    constraint.label_selector = api::LabelSelector(berth::test::MakeSelector().Label("app", "a"));
    builder.Spread(constraint).PreferAffinity(1, berth::test::MakeTerm(berth::test::kZone).Label("app", "a"));
    const auto pod = *cluster.SetPending(builder.Record());
    const std::size_t before = allocation_count;
    const Outcome outcome = engine.SchedulePod({.pod = pod, .step = static_cast<std::uint64_t>(i)});
    const std::size_t cost = allocation_count - before;
    if (i > 60) most = std::max(most, cost);
    const std::string node(cluster.nodes().name(std::get<Decision>(outcome).row));
    ASSERT_TRUE(cluster.Assume(pod, node).has_value());
  }
  EXPECT_LE(most, 8u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, AllocationTest, testing::Values(10, 1000));

}  // namespace
}  // namespace berth::framework
