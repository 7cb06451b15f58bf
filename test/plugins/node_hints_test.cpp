#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "plugins/plugin_harness.h"

// What wakes a pod that one of the node plugins rejected. Numbers are those of the cases of the chapter about
// node plugins.
namespace berth::plugins {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::PluginHarness;
using berth::test::PodBuilder;
using framework::EventResource;

framework::Features ResizePreemption() {
  framework::Features features = framework::Features::Upstream();
  features.in_place_pod_vertical_scaling_scheduler_preemption = true;
  return features;
}

// Asks one plugin about one event. Objects live as long as the call.
class Asker {
 public:
  explicit Asker(std::string plugin, framework::PluginArgs args = {},
                 framework::Features features = framework::Features::Upstream())
      : plugin_(plugin),
        harness_({.plugins = {{std::move(plugin), 1}}, .features = features, .args = std::move(args)}) {}

  std::string NodeAdded(const PodBuilder& waiting, const api::Node& node) {
    return harness_.Hint(plugin_, waiting, {EventResource::kNode, framework::kAdd, {}, &node});
  }
  // Of all kinds of change that the update holds, whether one says Queue.
  std::string NodeUpdated(const PodBuilder& waiting, const api::Node& before, const api::Node& after) {
    std::string answer = "no event";
    for (const framework::ClusterEvent& event : framework::NodeUpdateEvents(before, after)) {
      const std::string here =
          harness_.Hint(plugin_, waiting, {event.resource, event.actions, &before, &after});
      if (here == "Queue" || here == "Error") return here;
      if (here == "Skip") answer = here;
    }
    return answer;
  }
  std::string PodDeleted(const PodBuilder& waiting, const PodBuilder& gone) {
    const auto record = gone.Record();
    return harness_.Hint(plugin_, waiting,
                         {EventResource::kAssignedPod, framework::kDelete, record.get(), {}});
  }
  std::string PodUpdated(const PodBuilder& waiting, const PodBuilder& before, const PodBuilder& after,
                         framework::ClusterEvent event) {
    const auto old_record = before.Record();
    const auto new_record = after.Record();
    return harness_.Hint(plugin_, waiting,
                         {event.resource, event.actions, old_record.get(), new_record.get()});
  }
  std::string OfWrongKind(const PodBuilder& waiting, framework::ClusterEvent event) {
    const api::StorageClass other;
    return harness_.Hint(plugin_, waiting, {event.resource, event.actions, &other, &other});
  }
  PluginHarness& harness() { return harness_; }

 private:
  std::string plugin_;
  PluginHarness harness_;
};

api::Toleration TolerateKey(std::string key) {
  return {.key = std::move(key), .operator_ = "Exists", .value = "", .effect = "", .toleration_seconds = {}};
}

// Case 59.
TEST(NodeUnschedulableHintTest, AnOpenNodeHelps) {
  Asker ask("NodeUnschedulable");
  EXPECT_EQ(ask.NodeAdded(MakePod("p"), MakeNode("n1")), "Queue");
  EXPECT_EQ(ask.NodeAdded(MakePod("p"), MakeNode("n1").Unschedulable()), "Skip");
  EXPECT_EQ(ask.NodeUpdated(MakePod("p"), MakeNode("n1").Unschedulable(), MakeNode("n1")), "Queue");
  EXPECT_EQ(ask.NodeUpdated(MakePod("p"), MakeNode("n1"), MakeNode("n1").Unschedulable()), "no event");
  EXPECT_EQ(ask.NodeUpdated(MakePod("p"), MakeNode("n1"), MakeNode("n1").Taint("k", "", "NoSchedule")),
            "Skip");
}

TEST(NodeUnschedulableHintTest, ATolerationOfTheCordonHelps) {
  Asker ask("NodeUnschedulable");
  const framework::ClusterEvent event{EventResource::kTargetPod, framework::kUpdatePodToleration};
  const PodBuilder before = MakePod("p");
  EXPECT_EQ(ask.PodUpdated(before, before, MakePod("p").Tolerate(TolerateKey("other")), event), "Skip");
  EXPECT_EQ(ask.PodUpdated(before, before,
                           MakePod("p").Tolerate(TolerateKey("node.kubernetes.io/unschedulable")), event),
            "Queue");
}

// Case 60.
TEST(TaintTolerationHintTest, TheLastUntoleratedTaintMustGo) {
  Asker ask("TaintToleration");
  const PodBuilder pod = MakePod("p").Tolerate(TolerateKey("ok"));
  const auto tainted = [](std::vector<std::string> keys) {
    auto node = MakeNode("n1");
    for (std::string& key : keys) node.Taint(std::move(key), "", "NoSchedule");
    return node.Build();
  };
  EXPECT_EQ(ask.NodeAdded(pod, tainted({"ok"})), "Queue");
  EXPECT_EQ(ask.NodeAdded(pod, tainted({"a"})), "Skip");
  EXPECT_EQ(ask.NodeUpdated(pod, tainted({"a", "b"}), tainted({"a"})), "Skip");
  EXPECT_EQ(ask.NodeUpdated(pod, tainted({"a", "ok"}), tainted({"ok"})), "Queue");
  EXPECT_EQ(ask.NodeUpdated(pod, tainted({"ok"}), tainted({})), "Skip");
  const framework::ClusterEvent event{EventResource::kTargetPod, framework::kUpdatePodToleration};
  EXPECT_EQ(ask.PodUpdated(pod, pod, pod, event), "Queue");
}

// Case 61.
TEST(NodeAffinityHintTest, LabelsMustBeginToMatch) {
  Asker ask("NodeAffinity");
  const PodBuilder pod = MakePod("p").NodeSelector("a", "1");
  const api::Node plain = MakeNode("n1");
  const api::Node labelled = MakeNode("n1").Label("a", "1");
  EXPECT_EQ(ask.NodeAdded(pod, labelled), "Queue");
  EXPECT_EQ(ask.NodeAdded(pod, plain), "Skip");
  EXPECT_EQ(ask.NodeUpdated(pod, plain, labelled), "Queue");
  EXPECT_EQ(ask.NodeUpdated(pod, labelled, plain), "Skip");
  EXPECT_EQ(ask.NodeUpdated(pod, labelled, MakeNode("n1").Label("a", "1").Label("b", "2")), "Skip");
}

TEST(NodeAffinityHintTest, WrongTermsAreAnErrorUnlessOneMatches) {
  Asker ask("NodeAffinity");
  const PodBuilder pod = MakePod("p")
                             .NodeAffinity({.match_expressions = {{"k", "In", {}}}, .match_fields = {}})
                             .NodeAffinity({.match_expressions = {{"a", "Exists", {}}}, .match_fields = {}});
  EXPECT_EQ(ask.NodeAdded(pod, MakeNode("n1")), "Error");
  EXPECT_EQ(ask.NodeAdded(pod, MakeNode("n1").Label("a", "")), "Queue");
}

// Case 61. The last line is a gap that upstream has, too.
TEST(NodeAffinityHintTest, TheAddedAffinityMustMatchToo) {
  framework::PluginArgs args;
  args.node_affinity.added_affinity.emplace()
      .required_during_scheduling_ignored_during_execution.emplace()
      .node_selector_terms = {{.match_expressions = {{"pool", "Exists", {}}}, .match_fields = {}}};
  Asker ask("NodeAffinity", args);
  const PodBuilder pod = MakePod("p").NodeSelector("a", "1");
  EXPECT_EQ(ask.NodeAdded(pod, MakeNode("n1").Label("a", "1")), "Skip");
  EXPECT_EQ(ask.NodeAdded(pod, MakeNode("n1").Label("a", "1").Label("pool", "x")), "Queue");
  EXPECT_EQ(
      ask.NodeUpdated(pod, MakeNode("n1").Label("a", "1"), MakeNode("n1").Label("a", "1").Label("pool", "x")),
      "Skip");
}

// Case 62.
TEST(NodePortsHintTest, APodThatHeldAWantedPortMustGo) {
  Asker ask("NodePorts");
  const PodBuilder pod = MakePod("p").HostPort(80);
  EXPECT_EQ(ask.PodDeleted(pod, MakePod("x").HostPort(80).Node("n1")), "Queue");
  EXPECT_EQ(ask.PodDeleted(pod, MakePod("x").HostPort(80).NominatedNode("n1")), "Queue");
  EXPECT_EQ(ask.PodDeleted(pod, MakePod("x").HostPort(80)), "Skip");
  EXPECT_EQ(ask.PodDeleted(pod, MakePod("x").HostPort(81).Node("n1")), "Skip");
  EXPECT_EQ(ask.PodDeleted(pod, MakePod("x").Node("n1")), "Skip");
  EXPECT_EQ(ask.NodeAdded(pod, MakeNode("n1")), "Queue");
}

TEST(NodeDeclaredFeaturesHintTest, ListsMustDiffer) {
  Asker ask("NodeDeclaredFeatures");
  const api::Node plain = MakeNode("n1");
  const api::Node declaring = MakeNode("n1").Feature("VolumeBindMountOptions");
  EXPECT_EQ(ask.NodeAdded(MakePod("p"), plain), "Queue");
  EXPECT_EQ(ask.NodeUpdated(MakePod("p"), plain, declaring), "Queue");

  PodBuilder needy = MakePod("p");
  needy.pod().spec.host_network = true;
  needy.pod().spec.host_users = false;
  const framework::ClusterEvent update{EventResource::kTargetPod, framework::kUpdatePodLabel};
  EXPECT_EQ(ask.PodUpdated(MakePod("p"), needy, MakePod("p"), update), "Queue");
  EXPECT_EQ(ask.PodUpdated(MakePod("p"), needy, PodBuilder(needy).Label("a", "b"), update), "Skip");
}

// Case 62.
TEST(NodeResourcesFitHintTest, APodThatHadAPlaceMustGo) {
  Asker ask("NodeResourcesFit");
  EXPECT_EQ(ask.PodDeleted(MakePod("p"), MakePod("x")), "Skip");
  EXPECT_EQ(ask.PodDeleted(MakePod("p"), MakePod("x").Node("n1")), "Queue");
  EXPECT_EQ(ask.PodDeleted(MakePod("p"), MakePod("x").NominatedNode("n1")), "Queue");
}

// Case 63.
TEST(NodeResourcesFitHintTest, TheNodeMustGrowInWhatThePodAsksFor) {
  Asker ask("NodeResourcesFit");
  const PodBuilder pod = MakePod("p").Cpu("2");
  const auto node = [](std::string_view cpu, std::string_view memory, std::string_view pods = "110") {
    return MakeNode("n1").Cpu(cpu).Memory(memory).Pods(pods).Build();
  };
  EXPECT_EQ(ask.NodeAdded(pod, node("4", "1Gi")), "Queue");
  EXPECT_EQ(ask.NodeAdded(pod, node("1", "1Gi")), "Skip");
  EXPECT_EQ(ask.NodeUpdated(pod, node("4", "1Gi"), node("4", "2Gi")), "Skip");
  EXPECT_EQ(ask.NodeUpdated(pod, node("4", "1Gi"), node("5", "1Gi")), "Queue");
  EXPECT_EQ(ask.NodeUpdated(pod, node("4", "1Gi"), node("4", "1Gi", "111")), "Queue");
  EXPECT_EQ(ask.NodeUpdated(pod, node("1", "1Gi"), node("1500m", "1Gi")), "Skip");
  const PodBuilder nothing = MakePod("q");
  EXPECT_EQ(ask.NodeUpdated(nothing, node("4", "1Gi"), node("8", "2Gi")), "Skip");
  EXPECT_EQ(ask.NodeUpdated(nothing, node("4", "1Gi"), node("4", "1Gi", "111")), "Queue");
}

// A gap that upstream has, too.
// Case 64.
TEST(NodeResourcesFitHintTest, IgnoredResourcesCountAgainstANode) {
  framework::PluginArgs args;
  args.node_resources_fit.ignored_resources = {"example.com/foo"};
  Asker ask("NodeResourcesFit", args);
  EXPECT_EQ(ask.NodeAdded(MakePod("p").Request("example.com/foo", "1"), MakeNode("n1")), "Skip");
}

// Case 65.
TEST(NodeResourcesFitHintTest, AnotherPodMustGiveBackWhatThePodAsksFor) {
  Asker ask("NodeResourcesFit");
  const framework::ClusterEvent event{EventResource::kAssignedPod, framework::kUpdatePodScaleDown};
  const PodBuilder large = MakePod("x").Cpu("4").Node("n1");
  const PodBuilder small = MakePod("x").Cpu("2").Node("n1");
  EXPECT_EQ(ask.PodUpdated(MakePod("p").Memory("1Gi"), large, small, event), "Skip");
  EXPECT_EQ(ask.PodUpdated(MakePod("q").Cpu("1"), large, small, event), "Queue");
  EXPECT_EQ(ask.PodUpdated(MakePod("q").Cpu("1"), MakePod("x").Cpu("4"), MakePod("x").Cpu("2"), event),
            "Skip");
  EXPECT_EQ(ask.PodUpdated(MakePod("r").Request("example.com/gpu", "1"),
                           MakePod("x").Request("example.com/gpu", "2").Node("n1"),
                           MakePod("x").Request("example.com/gpu", "1").Node("n1"), event),
            "Queue");
  const framework::ClusterEvent target{EventResource::kTargetPod, framework::kUpdatePodScaleDown};
  EXPECT_EQ(ask.PodUpdated(MakePod("s"), MakePod("s").Cpu("2"), MakePod("s").Cpu("1"), target), "Queue");
}

TEST(NodeResourcesFitHintTest, ADeviceClassMustOfferWhatThePodAsksFor) {
  Asker ask("NodeResourcesFit");
  const PodBuilder pod = MakePod("p").Request("example.com/gpu", "1");
  const auto offering = [](std::string name, std::optional<std::string> resource) {
    api::DeviceClass device_class;
    device_class.metadata.name = std::move(name);
    device_class.spec.extended_resource_name = std::move(resource);
    return device_class;
  };
  const auto hint = [&](const PodBuilder& waiting, const api::DeviceClass* before,
                        const api::DeviceClass& after) {
    PluginHarness::Event event{
        EventResource::kDeviceClass, before ? framework::kUpdate : framework::kAdd, {}, &after};
    if (before != nullptr) event.old_object = before;
    return ask.harness().Hint("NodeResourcesFit", waiting, event);
  };
  const api::DeviceClass gpu = offering("gpu", "example.com/gpu");
  const api::DeviceClass other = offering("gpu", "example.com/other");
  const api::DeviceClass none = offering("gpu", {});
  EXPECT_EQ(hint(pod, nullptr, gpu), "Queue");
  EXPECT_EQ(hint(pod, nullptr, other), "Skip");
  EXPECT_EQ(hint(pod, nullptr, none), "Skip");
  EXPECT_EQ(hint(pod, &other, gpu), "Queue");
  EXPECT_EQ(hint(pod, &gpu, gpu), "Skip");
  EXPECT_EQ(hint(pod, &gpu, none), "Skip");
  const PodBuilder implicit = MakePod("q").Request("deviceclass.resource.kubernetes.io/gpu", "1");
  EXPECT_EQ(hint(implicit, nullptr, none), "Queue");
  EXPECT_EQ(hint(implicit, &none, other), "Skip");
}

PodBuilder Deferred(std::string name) {
  api::PodCondition condition;
  condition.type = "PodResizePending";
  condition.reason = "Deferred";
  return MakePod(std::move(name)).Cpu("1").Node("n1").Condition(std::move(condition));
}

// A pod whose resize was put off stays on its node: events elsewhere do not help it.
TEST(DeferredResizeHintTest, OnlyItsOwnNodeMatters) {
  Asker ask("NodeResourcesFit", {}, ResizePreemption());
  const PodBuilder pod = Deferred("p");
  EXPECT_EQ(ask.PodDeleted(pod, MakePod("x").Node("n1")), "Queue");
  EXPECT_EQ(ask.PodDeleted(pod, MakePod("x").Node("n2")), "Skip");
  EXPECT_EQ(ask.NodeAdded(pod, MakeNode("n1").Cpu("4")), "Queue");
  EXPECT_EQ(ask.NodeAdded(pod, MakeNode("n2").Cpu("4")), "Skip");
  const framework::ClusterEvent up{EventResource::kAssignedPod, framework::kUpdatePodScaleUp};
  const auto sized = [](std::string_view cpu, std::string node) {
    return MakePod("x").Cpu(cpu).Node(std::move(node));
  };
  EXPECT_EQ(ask.PodUpdated(pod, sized("1", "n1"), sized("2", "n1"), up), "Queue");
  EXPECT_EQ(ask.PodUpdated(pod, sized("1", "n2"), sized("2", "n2"), up), "Skip");
  EXPECT_EQ(ask.PodUpdated(MakePod("q"), sized("1", "n1"), sized("2", "n1"), up), "Skip");
  const framework::ClusterEvent down{EventResource::kAssignedPod, framework::kUpdatePodScaleDown};
  EXPECT_EQ(ask.PodUpdated(pod, sized("2", "n2"), sized("1", "n2"), down), "Skip");
  const framework::ClusterEvent own{EventResource::kTargetPod, framework::kUpdatePodScaleUp};
  EXPECT_EQ(ask.PodUpdated(pod, pod, pod, own), "Queue");
  EXPECT_EQ(ask.PodUpdated(MakePod("q"), pod, pod, own), "Skip");
}

TEST(DeferredResizeHintTest, ScaleUpsAreNotRegisteredWithoutTheGate) {
  Asker ask("NodeResourcesFit");
  const framework::ClusterEvent up{EventResource::kAssignedPod, framework::kUpdatePodScaleUp};
  EXPECT_EQ(ask.PodUpdated(Deferred("p"), Deferred("x"), Deferred("x"), up), "not registered");
}

TEST(DeferredResizeHintTest, TheNodeMustAllowPreemption) {
  Asker ask("DeferredPodScheduling", {}, ResizePreemption());
  const auto node = [](std::string name, bool disabled) {
    api::Node made = MakeNode(std::move(name));
    if (disabled) made.spec.pod_preemption_policy.emplace().disable_resize_preemption = {"all"};
    return made;
  };
  const PodBuilder pod = Deferred("p");
  EXPECT_EQ(ask.NodeAdded(pod, node("n1", false)), "Queue");
  EXPECT_EQ(ask.NodeAdded(pod, node("n1", true)), "Skip");
  EXPECT_EQ(ask.NodeAdded(pod, node("n2", false)), "Skip");
  EXPECT_EQ(ask.NodeAdded(MakePod("q"), node("n1", false)), "Skip");
  EXPECT_EQ(ask.NodeUpdated(pod, node("n1", true), node("n1", false)), "Queue");
  EXPECT_EQ(ask.NodeUpdated(pod, node("n1", false), node("n1", true)), "Skip");
  EXPECT_EQ(ask.NodeUpdated(pod, node("n2", true), node("n2", false)), "Skip");
}

// Case 68.
TEST(SchedulingGatesHintTest, TheLastGateMustGo) {
  Asker ask("SchedulingGates");
  const framework::ClusterEvent event{EventResource::kTargetPod,
                                      framework::kUpdatePodSchedulingGatesEliminated};
  EXPECT_EQ(ask.PodUpdated(MakePod("p"), MakePod("p").Gate("a"), MakePod("p"), event), "Queue");
}

// Such an event is a bug of ours; the queue answers an error by trying the pod.
// Case 66.
TEST(HintOfAnotherKindTest, IsAnError) {
  const framework::ClusterEvent node{EventResource::kNode, framework::kAdd};
  const framework::ClusterEvent deleted{EventResource::kAssignedPod, framework::kDelete};
  for (const char* plugin :
       {"NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeResourcesFit", "NodeDeclaredFeatures"}) {
    EXPECT_EQ(Asker(plugin).OfWrongKind(MakePod("p"), node), "Error") << plugin;
  }
  for (const char* plugin : {"NodePorts", "NodeResourcesFit"}) {
    EXPECT_EQ(Asker(plugin).OfWrongKind(MakePod("p"), deleted), "Error") << plugin;
  }
}

}  // namespace
}  // namespace berth::plugins
