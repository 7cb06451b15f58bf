#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/task.h"
#include "cluster/object_store.h"
#include "framework/binding_points.h"
#include "framework/queue_points.h"
#include "plugins/all_plugins.h"
#include "plugins/plugin_harness.h"

// The plugins before and after a decision: who goes first, who may enter, how a pod is bound; and signatures.
// Numbers are those of the cases of the chapter about node plugins.
namespace berth::plugins {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::PluginHarness;
using berth::test::PodBuilder;

struct OrderCase {
  std::string name;
  std::int32_t priority_a, priority_b;
  int time_a, time_b;
  bool want_less, want_greater;
};
class PrioritySortTest : public testing::TestWithParam<OrderCase> {};
void PrintTo(const OrderCase& test, std::ostream* out) { *out << test.name; }

// Case 69.
TEST_P(PrioritySortTest, OrdersByPriorityThenTime) {
  PluginHarness harness("PrioritySort");
  const auto at = [](int seconds) { return base::TimePoint() + std::chrono::seconds(seconds); };
  const framework::QueueOrderKey a{GetParam().priority_a, at(GetParam().time_a)};
  const framework::QueueOrderKey b{GetParam().priority_b, at(GetParam().time_b)};
  EXPECT_EQ(harness.profile().queue_sort().Less(a, b), GetParam().want_less);
  EXPECT_EQ(harness.profile().queue_sort().Less(b, a), GetParam().want_greater);
}

INSTANTIATE_TEST_SUITE_P(Plugins, PrioritySortTest,
                         testing::Values(OrderCase{"OlderFirst", 10, 10, 1, 2, true, false},
                                         OrderCase{"HigherFirst", 11, 10, 9, 1, true, false},
                                         OrderCase{"NegativeLast", -1, 0, 1, 2, false, true},
                                         OrderCase{"EqualsAreNeither", 10, 10, 1, 1, false, false}),
                         [](const auto& test) { return test.param.name; });

TEST(SchedulingGatesTest, SpeaksAsTheApiServerWhereRejectionsAreReported) {
  PluginHarness harness(PluginHarness::Options{.plugins = {{"SchedulingGates", 1}}, .features = {}});
  const framework::WaitingPod waiting{harness.cluster(), harness.SlotOf(MakePod("q").Gate("foo"))};
  EXPECT_EQ(berth::test::ShortText(harness.profile().pre_enqueue().front().point->PreEnqueue(waiting)),
            "UU Scheduling is blocked due to non-empty scheduling gates");
}

// Case 68.
TEST(SchedulingGatesTest, HoldsPodsUntilTheLastGateIsGone) {
  PluginHarness harness("SchedulingGates");
  const auto pre_enqueue = [&](const PodBuilder& pod) {
    const framework::WaitingPod waiting{harness.cluster(), harness.SlotOf(pod)};
    return berth::test::ShortText(harness.profile().pre_enqueue().front().point->PreEnqueue(waiting));
  };
  EXPECT_EQ(pre_enqueue(MakePod("p")), "");
  EXPECT_EQ(pre_enqueue(MakePod("q").Gate("foo")), "UU waiting for scheduling gates: [foo]");
  EXPECT_EQ(pre_enqueue(MakePod("r").Gate("foo").Gate("bar")), "UU waiting for scheduling gates: [foo bar]");
}

// ---------------------------------------------------------------------------------------------------------

class RecordingWriter final : public framework::ApiWriter {
 public:
  base::Task<base::Result<void>> Bind(api::Binding binding) override {
    bindings.push_back(std::move(binding));
    if (fails) co_return base::Fail("the server said no");
    co_return base::Result<void>();
  }

  bool fails = false;
  std::vector<api::Binding> bindings;
};

base::Task<void> RunBind(const framework::BindPoint& bind, framework::BindingContext& context,
                         framework::Assignment& assignment, framework::Status& status) {
  status = co_await bind.Bind(context, assignment);
}

class DefaultBinderTest : public testing::Test {
 protected:
  framework::Status Bind() {
    framework::Assignment assignment;
    assignment.record = MakePod("web").Namespace("shop").Uid("u1").Record();
    assignment.node_name = "n1";
    base::CancellationSource never;
    base::Executor executor(clock_);
    framework::BindingContext context{harness_.cluster(), writer_, executor, never.token()};
    framework::Status status(framework::Code::kWait);
    executor.Spawn(RunBind(*harness_.profile().bind().front().point, context, assignment, status));
    executor.RunReady();
    return status;
  }

  PluginHarness harness_{"DefaultBinder"};
  RecordingWriter writer_;
  base::VirtualClock clock_;
};

TEST_F(DefaultBinderTest, BindsThePodByNameAndUid) {
  EXPECT_TRUE(Bind().IsSuccess());
  ASSERT_EQ(writer_.bindings.size(), 1u);
  const api::Binding& binding = writer_.bindings.front();
  EXPECT_EQ(binding.metadata.namespace_, "shop");
  EXPECT_EQ(binding.metadata.name, "web");
  EXPECT_EQ(binding.metadata.uid, "u1");
  EXPECT_EQ(binding.target.kind, "Node");
  EXPECT_EQ(binding.target.name, "n1");
}

TEST_F(DefaultBinderTest, HandsTheServersWordsOn) {
  writer_.fails = true;
  const framework::Status status = Bind();
  EXPECT_EQ(status.code(), framework::Code::kError);
  EXPECT_EQ(status.Message(), "the server said no");
}

// ---------------------------------------------------------------------------------------------------------

// Whether each plugin that signs does so.
bool IsSigned(PluginHarness& harness, const PodBuilder& pod) {
  framework::Signature signature;
  const framework::WaitingPod waiting{harness.cluster(), harness.SlotOf(pod)};
  return std::ranges::all_of(harness.profile().sign(),
                             [&](const auto& placed) { return placed.point->Sign(waiting, signature); });
}

TEST(DefaultSignatureTest, Case70NoPodIsSignedAsLongAsAllAreSpread) {
  const auto harness = [](framework::SpreadDefaulting defaulting) {
    PluginHarness::Options options{.plugins = framework::DefaultPlugins(framework::Features::Upstream())};
    std::erase_if(options.plugins, [](const auto& plugin) { return !AllPlugins().Contains(plugin.name); });
    options.args.pod_topology_spread.defaulting = defaulting;
    return PluginHarness(std::move(options));
  };
  PluginHarness spread = harness(framework::SpreadDefaulting::kSystem);
  EXPECT_FALSE(IsSigned(spread, MakePod("plain").Cpu("1")));
  PluginHarness listed = harness(framework::SpreadDefaulting::kList);
  EXPECT_TRUE(IsSigned(listed, MakePod("plain").Cpu("1")));
  EXPECT_FALSE(IsSigned(listed, MakePod("affine").Affinity(berth::test::MakeTerm("zone").Label("a", "b"))));
  EXPECT_FALSE(
      IsSigned(listed, MakePod("averse").AntiAffinity(berth::test::MakeTerm("zone").Label("a", "b"))));
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = 1;
  constraint.topology_key = "zone";
  constraint.when_unsatisfiable = "ScheduleAnyway";
  EXPECT_FALSE(IsSigned(listed, MakePod("spread").Spread(constraint)));
  const PodBuilder gpu = MakePod("gpu").Request("example.com/gpu", "1");
  EXPECT_TRUE(IsSigned(listed, gpu));
  api::DeviceClass offers;
  offers.metadata.name = "gpu";
  offers.spec.extended_resource_name = "example.com/gpu";
  listed.cluster().objects().Of<api::DeviceClass>().Set(std::make_shared<const api::DeviceClass>(offers));
  EXPECT_FALSE(IsSigned(listed, gpu));
}

// Pods with one signature must be interchangeable for every plugin: what one of them reads must be in it.
class SignatureTest : public testing::Test {
 protected:
  framework::Signature Sign(const PodBuilder& pod) {
    framework::Signature signature;
    const framework::WaitingPod waiting{harness_.cluster(), harness_.SlotOf(pod)};
    for (const auto& placed : harness_.profile().sign()) {
      EXPECT_TRUE(placed.point->Sign(waiting, signature)) << placed.plugin->Name();
    }
    return signature;
  }

  PluginHarness harness_{{.plugins = {{"NodeUnschedulable", 1},
                                      {"TaintToleration", 1},
                                      {"NodeAffinity", 1},
                                      {"NodePorts", 1},
                                      {"NodeResourcesFit", 1},
                                      {"NodeResourcesBalancedAllocation", 1},
                                      {"ImageLocality", 1},
                                      {"NodeDeclaredFeatures", 1}}}};
};

TEST_F(SignatureTest, EqualPodsHaveEqualSignatures) {
  const auto make = [](std::string name) {
    return MakePod(std::move(name)).Cpu("1").HostPort(80).NodeSelector("a", "1").Label("app", "web");
  };
  EXPECT_EQ(Sign(make("a")), Sign(make("b")));
  EXPECT_EQ(Sign(make("a")), Sign(make("c").Label("other", "x")));  // no plugin here reads labels
  EXPECT_EQ(Sign(make("d")).fragments().size(), 7u);
}

TEST_F(SignatureTest, WhateverAPluginReadsTellsPodsApart) {
  PodBuilder features = MakePod("features").Container("x");
  features.pod().spec.host_network = true;
  features.pod().spec.host_users = false;
  api::Toleration toleration;
  toleration.key = "k";
  const api::NodeSelectorTerm term{.match_expressions = {{"a", "Exists", {}}}, .match_fields = {}};
  const api::NodeSelectorTerm other{.match_expressions = {}, .match_fields = {{"a", "Exists", {}}}};
  const std::vector<PodBuilder> pods = {
      MakePod("plain").Container("x"),
      MakePod("image").Container("y"),
      MakePod("cpu").Container("x").Cpu("1"),
      MakePod("memory").Container("x").Memory("1"),
      MakePod("scalar").Container("x").Request("example.com/gpu", "1"),
      MakePod("containers").Container("x").Container("x"),  // more defaults for scoring
      MakePod("port").Container("x").HostPort(80),
      MakePod("protocol").Container("x").HostPort(80, "UDP"),
      MakePod("address").Container("x").HostPort(80, "TCP", "127.0.0.1"),
      MakePod("selector").Container("x").NodeSelector("a", "1"),
      MakePod("affinity").Container("x").NodeAffinity(term),
      MakePod("fields").Container("x").NodeAffinity(other),
      MakePod("preferred").Container("x").PreferNodes(1, term),
      MakePod("weight").Container("x").PreferNodes(2, term),
      MakePod("toleration").Container("x").Tolerate(toleration),
      features,
  };
  for (std::size_t i = 0; i < pods.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(Sign(pods[i]), Sign(pods[j])) << pods[i].Record()->name << " and " << pods[j].Record()->name;
    }
  }
}

}  // namespace
}  // namespace berth::plugins
