#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "framework/events.h"
#include "queue/queue_harness.h"

// Cases 27 to 30 of the queue's specification, as it counts them: which event a plugin hears of, what it is
// called, and which events an update of a pod or node comes to. Their rules one by one are tested with the
// framework.
namespace berth::queue::test {
namespace {

using berth::test::MakeNode;
using framework::Actions;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Actions kLabelOrTaint = framework::kUpdatePodLabel | framework::kUpdateNodeTaint;

TEST(EventCases, Case27WhoHearsOfWhat) {
  const auto matches = [](EventResource of, Actions registered, EventResource about, Actions actions) {
    return framework::Matches({of, registered}, {about, actions});
  };
  using enum EventResource;
  EXPECT_TRUE(matches(kPod, kLabelOrTaint, kUnscheduledPod, framework::kUpdatePodLabel));
  EXPECT_FALSE(matches(kWildcard, framework::kUpdatePodLabel, kPod, framework::kUpdate));
  EXPECT_TRUE(matches(kWildcard, framework::kUpdate, kPod, framework::kUpdatePodLabel));
  EXPECT_FALSE(matches(kAssignedPod, framework::kAdd, kPod, framework::kAdd));
  EXPECT_FALSE(matches(kPod, framework::kUpdatePodLabel, kWildcard, framework::kUpdatePodLabel));
  EXPECT_FALSE(matches(kAssignedPod, framework::kUpdate, kTargetPod, framework::kUpdate));
  for (const EventResource about : {kPod, kNode, kCSIDriver, kWildcard}) {
    EXPECT_TRUE(matches(kWildcard, framework::kAllActions, about, framework::kDelete));
  }
}

TEST(EventCases, Case28WhatTheyAreCalled) {
  EXPECT_EQ(kNodeAdd.Label(), "NodeAdd");
  EXPECT_EQ((ClusterEvent{EventResource::kCSINode, framework::kUpdate}.Label()),
            "storage.k8s.io/CSINodeUpdate");
  EXPECT_EQ(
      (ClusterEvent{EventResource::kNode, framework::kUpdateNodeLabel | framework::kUpdateNodeTaint}.Label()),
      "Node");
}

// The labels of the events that the update comes to.
std::vector<std::string> OfPods(const PodBuilder& before, const PodBuilder& after) {
  std::vector<std::string> labels;
  for (const ClusterEvent& event : framework::PodUpdateEvents(*before.Record(), *after.Record(), true, {}))
    labels.push_back(event.Label());
  return labels;
}
std::vector<std::string> OfNodes(const api::Node& before, const api::Node& after) {
  std::vector<std::string> labels;
  for (const ClusterEvent& event : framework::NodeUpdateEvents(before, after))
    labels.push_back(event.Label());
  return labels;
}

TEST(EventCases, Case29UpdatesOfPods) {
  const auto pod = [] { return MakePod("a").Cpu("101m"); };
  EXPECT_THAT(OfPods(pod(), MakePod("a").Cpu("100m").Label("x", "y")),
              ElementsAre("TargetPodUpdatePodLabel", "TargetPodUpdatePodScaleDown"));
  EXPECT_THAT(OfPods(pod(), pod().Annotation("x", "y")), ElementsAre("TargetPodUpdate"));
  EXPECT_THAT(OfPods(pod().Gate("a").Gate("b"), pod().Gate("a")), ElementsAre("TargetPodUpdate"));
  EXPECT_THAT(OfPods(pod().Gate("a"), pod()), ElementsAre("TargetPodUpdatePodSchedulingGatesEliminated"));
  EXPECT_THAT(OfPods(pod(), pod().Node("n1")), ElementsAre("AssignedPodUpdate"));
  const auto claims = [&](std::vector<std::string> names) {
    auto made = pod();
    for (std::string& name : names)
      made.pod().status.resource_claim_statuses.push_back({name, name + "-claim"});
    return made;
  };
  EXPECT_THAT(OfPods(claims({"a", "b"}), claims({"b", "a"})),
              ElementsAre("TargetPodUpdatePodGeneratedResourceClaim"));
}

TEST(EventCases, Case30UpdatesOfNodes) {
  const auto node = [] { return MakeNode("n1").Cpu("4"); };
  EXPECT_THAT(OfNodes(node(), node()), IsEmpty());
  EXPECT_THAT(OfNodes(node().Unschedulable(), node()), ElementsAre("NodeUpdateNodeTaint"));
  EXPECT_THAT(OfNodes(node(), node().Unschedulable()), IsEmpty());
  EXPECT_THAT(OfNodes(node(), node().Label("a", "b").Taint("k", "v", "NoSchedule")),
              ElementsAre("NodeUpdateNodeLabel", "NodeUpdateNodeTaint"));
  EXPECT_THAT(OfNodes(node().Unschedulable(), node().Taint("k", "v", "NoSchedule")),
              ElementsAre("NodeUpdateNodeTaint", "NodeUpdateNodeTaint"));
}

// Heartbeats change the times of conditions, and nothing that a pod waits for.
TEST(EventCases, Case30AHeartbeatIsNoEvent) {
  api::Node before = MakeNode("n1");
  api::NodeCondition ready;
  ready.type = "Ready";
  ready.status = "True";
  before.status.conditions.Edit().push_back(ready);
  api::Node after = before;
  EXPECT_THAT(OfNodes(before, after), IsEmpty());
  after.status.conditions.Edit()[0].status = "False";
  EXPECT_THAT(OfNodes(before, after), ElementsAre("NodeUpdateNodeCondition"));
}

}  // namespace
}  // namespace berth::queue::test
