#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck.h"

#include "plugins/plugin_harness.h"

// A hint that says Skip wrongly lets a pod wait for ever. So for any cluster and any event: if a plugin that
// keeps the pod off some node lets it onto a node after the event, one of its hints for the event says Queue.
//
// A plugin joins by a line in Subjects(); what its verdicts depend on must be among what the worlds vary.
namespace berth::plugins {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::NodeBuilder;
using berth::test::PluginHarness;
using berth::test::PodBuilder;
using framework::ClusterEvent;
using framework::EventResource;

struct Subject {
  std::string plugin;
  framework::Features features = framework::Features::Upstream();
};
void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.plugin; }

std::vector<Subject> Subjects() {
  framework::Features comparing = framework::Features::Upstream();
  comparing.taint_toleration_comparison_operators = true;
  return {{"NodeUnschedulable"}, {"TaintToleration", comparing}, {"NodeAffinity"},
          {"NodePorts"},         {"NodeResourcesFit"},           {"NodeDeclaredFeatures"}};
}

int Pick(int count) { return *rc::gen::inRange(0, count); }
bool Flip() { return Pick(2) == 1; }
std::string OneOf(const std::vector<std::string>& texts) {
  return texts[static_cast<std::size_t>(Pick(static_cast<int>(texts.size())))];
}

// One small cluster with a waiting pod, and things that happen to it.
class HintWorld {
 public:
  explicit HintWorld(const Subject& subject)
      : plugin_(subject.plugin),
        harness_({.plugins = {{subject.plugin, 1}}, .features = subject.features}),
        waiting_(AnyWaitingPod()) {
    for (int i = Pick(3); i >= 0; --i) SetNode(AnyNode(NewName("n")));
    for (int i = Pick(4); i >= 0; --i) AddRunning();
    harness_.Add(waiting_);
  }

  // Lets one thing happen; true if it lets the pod onto a node. Fails if the hints did not foresee that.
  bool Step() {
    const auto before = harness_.Verdicts(waiting_);
    const bool was_rejected =
        std::ranges::any_of(before, [](const auto& verdict) { return !verdict.second.empty(); });
    const bool foreseen = Happen();
    if (!was_rejected) return false;
    const auto after = harness_.Verdicts(waiting_);
    const bool helped = std::ranges::any_of(after, [&](const auto& verdict) {
      const auto old = before.find(verdict.first);
      return verdict.second.empty() && (old == before.end() || !old->second.empty());
    });
    if (helped) RC_ASSERT(foreseen);
    return helped;
  }

 private:
  // Returns whether some hint says Queue for some of the events that this is.
  bool Happen() {
    switch (Pick(5)) {
      case 0:
        return AddNode();
      case 1:
        return UpdateNode();
      case 2:
        return DeleteRunning();
      case 3:
        return ResizeRunning();
      default:
        return UpdateWaiting();
    }
  }

  bool AddNode() {
    const api::Node node = AnyNode(NewName("n"));
    SetNode(node);
    return Queues({EventResource::kNode, framework::kAdd}, {}, &nodes_.at(node.metadata.name));
  }

  bool UpdateNode() {
    const auto chosen = std::next(nodes_.begin(), Pick(static_cast<int>(nodes_.size())));
    const api::Node old = chosen->second;
    api::Node fresh = AnyNode(old.metadata.name);
    // Mostly one thing at a time: hints are asked about each kind of change alone.
    if (Flip()) fresh.metadata.labels = old.metadata.labels;
    if (Flip()) fresh.spec = old.spec;
    if (Flip()) fresh.status.allocatable = old.status.allocatable;
    if (Flip()) fresh.status.declared_features = old.status.declared_features;
    SetNode(fresh);
    bool queues = false;
    for (const ClusterEvent& event : framework::NodeUpdateEvents(old, fresh)) {
      queues |= Queues(event, &old, &fresh);
    }
    return queues;
  }

  bool DeleteRunning() {
    if (running_.empty()) return false;
    const auto chosen = std::next(running_.begin(), Pick(static_cast<int>(running_.size())));
    const auto record = chosen->second.Record();
    running_.erase(chosen);
    RC_ASSERT(harness_.cluster().RemovePod(*record).has_value());
    return Queues({EventResource::kAssignedPod, framework::kDelete}, record.get(), {});
  }

  bool ResizeRunning() {
    if (running_.empty()) return false;
    const auto chosen = std::next(running_.begin(), Pick(static_cast<int>(running_.size())));
    const auto old = chosen->second.Record();
    chosen->second.Cpu(OneOf({"0", "1", "2", "3"})).Request("example.com/gpu", OneOf({"0", "1", "2"}));
    const auto fresh = chosen->second.Record();
    RC_ASSERT(harness_.cluster().UpdatePod(fresh).has_value());
    return QueuesAny(framework::PodUpdateEvents(*old, *fresh, false, {}), *old, *fresh);
  }

  bool UpdateWaiting() {
    const auto old = waiting_.Record();
    if (Flip()) waiting_.Tolerate(AnyToleration());
    if (Flip()) waiting_.Cpu(OneOf({"0", "1", "2"}));
    if (Flip()) waiting_.Label("app", OneOf({"a", "b"}));
    harness_.Add(waiting_);
    const auto fresh = waiting_.Record();
    return QueuesAny(framework::PodUpdateEvents(*old, *fresh, true, {}), *old, *fresh);
  }

  bool QueuesAny(const std::vector<ClusterEvent>& events, const api::PodRecord& old,
                 const api::PodRecord& fresh) {
    return std::ranges::any_of(events,
                               [&](const ClusterEvent& event) { return Queues(event, &old, &fresh); });
  }
  bool Queues(const ClusterEvent& event, framework::EventObject old, framework::EventObject fresh) {
    const std::string answer = harness_.Hint(plugin_, waiting_, {event.resource, event.actions, old, fresh});
    return answer == "Queue" || answer == "Error";
  }

  std::string NewName(std::string_view prefix) { return std::string(prefix) + std::to_string(++names_); }

  void SetNode(const api::Node& node) {
    nodes_[node.metadata.name] = node;
    harness_.Add(node);
  }

  void AddRunning() {
    const auto node = std::next(nodes_.begin(), Pick(static_cast<int>(nodes_.size())));
    PodBuilder pod = MakePod(NewName("r")).Node(node->first).Label("app", OneOf({"a", "b"}));
    pod.Cpu(OneOf({"0", "1", "2"})).Request("example.com/gpu", OneOf({"0", "1", "2"}));
    if (Pick(4) != 0) pod.HostPort(80, OneOf({"TCP", "TCP", "UDP"}), OneOf({"", "10.0.0.1"}));
    harness_.Add(pod);
    running_.emplace(pod.Record()->name, pod);
  }

  static api::Node AnyNode(std::string name) {
    NodeBuilder node = MakeNode(std::move(name));
    node.Cpu(OneOf({"1", "2", "3", "4"})).Memory(OneOf({"1Gi", "2Gi"})).Pods(OneOf({"1", "2", "10"}));
    if (Flip()) node.Allocatable("example.com/gpu", OneOf({"1", "2", "4"}));
    if (Flip()) node.Label("disk", OneOf({"ssd", "hdd"}));
    if (Flip()) node.Label("size", OneOf({"1", "5", "x"}));
    if (Flip()) node.Zone(OneOf({"z1", "z2"}));
    for (int i = Pick(3); i > 0; --i) {
      node.Taint(OneOf({"a", "b"}), OneOf({"1", "7"}),
                 OneOf({"NoSchedule", "NoExecute", "PreferNoSchedule"}));
    }
    if (Pick(3) == 0) node.Unschedulable();
    if (Flip()) node.Feature("RestartAllContainersOnContainerExits");
    if (Flip()) node.Feature("UserNamespacesHostNetworkSupport");
    return node;
  }

  static api::Toleration AnyToleration() {
    return {.key = OneOf({"a", "b", "node.kubernetes.io/unschedulable", ""}),
            .operator_ = OneOf({"Exists", "Equal", "Gt", "Lt"}),
            .value = OneOf({"1", "5", ""}),
            .effect = OneOf({"", "NoSchedule", "NoExecute"}),
            .toleration_seconds = {}};
  }

  static PodBuilder AnyWaitingPod() {
    PodBuilder pod = MakePod("waiting").Label("app", OneOf({"a", "b"}));
    pod.Cpu(OneOf({"0", "1", "2"})).Memory(OneOf({"0", "1Gi"}));
    if (Flip()) pod.Request("example.com/gpu", OneOf({"0", "1"}));
    pod.HostPort(80, OneOf({"TCP", "TCP", "UDP"}), OneOf({"", "10.0.0.1"}));
    if (Flip()) pod.Tolerate(AnyToleration());
    if (Pick(3) == 0) pod.NodeSelector("disk", OneOf({"ssd", "hdd"}));
    if (Pick(3) == 0) {
      pod.NodeAffinity({.match_expressions = {{"size", OneOf({"Gt", "Lt"}), {"3"}}}, .match_fields = {}});
    }
    if (Pick(3) == 0) {
      pod.NodeAffinity(
          {.match_expressions = {{"size", OneOf({"Exists", "DoesNotExist"}), {}}}, .match_fields = {}});
    }
    if (Flip()) {
      pod.pod().spec.host_network = true;
      pod.pod().spec.host_users = false;
    }
    return pod;
  }

  const std::string plugin_;
  PluginHarness harness_;
  PodBuilder waiting_;
  std::map<std::string, api::Node> nodes_;
  std::map<std::string, PodBuilder> running_;
  int names_ = 0;
};

class HintSoundnessTest : public testing::TestWithParam<Subject> {};

TEST_P(HintSoundnessTest, WhateverLetsAPodFitWakesIt) {
  std::uint64_t helped = 0;
  EXPECT_TRUE(rc::check("an event after which the pod fits is answered by Queue", [&] {
    HintWorld world(GetParam());
    for (int i = 0; i < 8; ++i) helped += world.Step() ? 1 : 0;
  }));
  // Else the property said nothing.
  EXPECT_GT(helped, 10u);
}

INSTANTIATE_TEST_SUITE_P(Plugins, HintSoundnessTest, testing::ValuesIn(Subjects()),
                         [](const auto& test) { return test.param.plugin; });

}  // namespace
}  // namespace berth::plugins
