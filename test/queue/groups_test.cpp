#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queue/queue_harness.h"

// Nominations, and pods that are tried together. The numbers of the cases are those of the queue's
// specification.
namespace berth::queue::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

QueueOptions WithGroups() { return {.generic_workload = true}; }

std::vector<PluginSpec> Gate() {
  return {{.name = "gate", .wishes = {{.event = kNodeAdd}}, .gate = RejectsLabel("shut")}, {.name = "fit"}};
}

api::Pod Shut(std::string name, std::string group) {
  api::Pod pod = GroupPod(std::move(name), std::move(group));
  pod.metadata.labels.insert_or_assign("gate", "shut");
  return pod;
}

// Cases 62 and 63 as far as the queue is concerned: who tells the nominator what.
TEST(Nominations, FollowThePodThroughTheQueue) {
  QueueHarness q;
  q.Add(MakePod("a").NominatedNode("n1"));
  const auto node_of = [&](const std::string& name) -> std::string {
    const cluster::NodeNameId node = q.cluster.nominator().NodeOf(q.Slot(name));
    return node.IsValid() ? std::string(q.cluster.nodes().NameText(node)) : std::string();
  };
  EXPECT_EQ(node_of("a"), "n1");
  q.Update(MakePod("a"));
  EXPECT_EQ(node_of("a"), "") << "the status lost it";
  q.cluster.Nominate(q.Slot("a"), "n2");
  q.Update(MakePod("a").Label("x", ""));
  EXPECT_EQ(node_of("a"), "n2") << "neither status names one: berth's own stays";
  q.Pop();
  q.Update(MakePod("a").NominatedNode("n3"));
  EXPECT_EQ(node_of("a"), "n2") << "in flight nothing changes";
  q.Done("a");
  q.queue->Delete(q.Slot("a"));
  EXPECT_TRUE(q.cluster.nominator().empty());
}

// Case 64.
TEST(Groups, MemberGoesWhereItsGroupIs) {
  QueueHarness q(Gate(), WithGroups());
  q.Add(GroupPod("early", "g"));
  EXPECT_EQ(q.Where("early"), Place::kIncomplete);
  q.queue->SetPodGroup(Group("g"));
  EXPECT_THAT(q.List(Place::kActive), ElementsAre("group:g"));
  q.Add(GroupPod("second", "g"));
  EXPECT_THAT(q.List(Place::kActive), ElementsAre("group:g"));
  EXPECT_EQ(q.Gauge("scheduler_pending_pods", {"active"}), 2);

  q.Add(Shut("shut", "g"));
  EXPECT_THAT(q.List(Place::kActive), IsEmpty()) << "one gated member keeps all out";
  EXPECT_EQ(q.Gauge("scheduler_pending_pods", {"gated"}), 3);
  q.pre_enqueue_calls.clear();
  q.Add(GroupPod("fourth", "g"));
  EXPECT_THAT(q.pre_enqueue_calls, IsEmpty());
}

TEST(Groups, MemberOfAGroupThatIsBeingTriedIsPending) {
  QueueHarness q(Gate(), WithGroups());
  q.queue->SetPodGroup(Group("g"));
  q.Add(GroupPod("a", "g"));
  EXPECT_EQ(q.Pop(), "group:g");
  q.Add(GroupPod("b", "g"));
  EXPECT_EQ(q.Where("b"), Place::kPending);
}

class GroupReturn : public testing::Test {
 protected:
  GroupReturn() : q_(Gate(), WithGroups()) {
    q_.queue->SetPodGroup(Group("g"));
    q_.Add(GroupPod("a", "g"));
    EXPECT_EQ(q_.Pop(), "group:g");
    q_.Advance(seconds(3));
  }
  SchedulingQueue::Entry Entity(Place place) {
    const auto entries = q_.queue->List(place);
    EXPECT_EQ(entries.size(), 1u);
    return entries.empty() ? SchedulingQueue::Entry{} : entries.front();
  }
  QueueHarness q_;
};

// Case 65.
TEST_F(GroupReturn, WithoutPendingPodsIsTheEndOfIt) {
  q_.Done("a");
  EXPECT_TRUE(q_.GroupTried("g", GroupOutcome::kSuccess).has_value());
  EXPECT_EQ(q_.Pop(), "");
  EXPECT_EQ(q_.queue->Summary(),
            "activeQ:0; backoffQ:0; unschedulableEntities:0; pendingPodGroupMemberPods:0; "
            "incompletePodGroupPods:0");
}

TEST_F(GroupReturn, AfterAnErrorBacksOff) {
  q_.Fail("a");
  q_.GroupTried("g", GroupOutcome::kError);
  EXPECT_EQ(Entity(Place::kErrorBackoff).params.consecutive_errors, 1);
  EXPECT_EQ(q_.Pop(), "");
}

TEST_F(GroupReturn, AfterARejectionBacksOffAndIsNeverTriedEarly) {
  q_.Reject("a", {"fit"});
  q_.GroupTried("g", GroupOutcome::kUnschedulable);
  const auto entity = Entity(Place::kErrorBackoff);
  EXPECT_EQ(entity.params.unschedulable_count, 1);
  EXPECT_EQ(entity.params.consecutive_errors, 0);
  EXPECT_EQ(entity.params.timestamp, q_.clock.Now());
  EXPECT_EQ(q_.Pop(), "");
}

TEST_F(GroupReturn, AfterSuccessKeepsItsTurnForPodsThatFailed) {
  q_.Reject("a", {"fit"});
  q_.GroupTried("g", GroupOutcome::kSuccess);
  EXPECT_EQ(Entity(Place::kActive).params.timestamp, base::TimePoint());
}

TEST_F(GroupReturn, AfterSuccessNewPodsWaitTheirTurn) {
  q_.Add(GroupPod("b", "g"));
  q_.GroupTried("g", GroupOutcome::kSuccess);
  EXPECT_EQ(Entity(Place::kActive).params.timestamp, q_.clock.Now());
}

TEST_F(GroupReturn, MayEndAtAGate) {
  q_.Add(Shut("b", "g"));
  q_.GroupTried("g", GroupOutcome::kSuccess);
  EXPECT_TRUE(Entity(Place::kUnschedulable).params.gated());
}

TEST_F(GroupReturn, TwiceIsAnError) {
  q_.Reject("a", {"fit"});
  q_.GroupTried("g", GroupOutcome::kSuccess);
  const auto again = q_.GroupTried("g", GroupOutcome::kSuccess);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().message, "pod group default/g is already present in the active queue");
}

// Case 66: a pod on its own that fails meanwhile says nothing about the group.
TEST_F(GroupReturn, StandaloneFailureDoesNotEndTheGroupsCycle) {
  q_.Add(MakePod("alone"));
  EXPECT_EQ(q_.Pop(), "alone");
  q_.Fail("alone");
  q_.Add(GroupPod("b", "g"));
  EXPECT_EQ(q_.Where("b"), Place::kPending);
}

// Case 67.
TEST(Groups, DeletedGroupLeavesItsMembersIncomplete) {
  QueueHarness q(Gate(), WithGroups());
  const GroupKey key{GroupKind::kPodGroup, "default", "g"};
  q.queue->SetPodGroup(Group("g"));
  q.Add(GroupPod("a", "g"));
  q.queue->RemovePodGroup(key);
  EXPECT_EQ(q.Where("a"), Place::kIncomplete);
  q.queue->SetPodGroup(Group("g"));
  EXPECT_EQ(q.Where("a"), Place::kMember);
  EXPECT_EQ(q.Pop(), "group:g");
  q.Add(GroupPod("b", "g"));
  q.queue->RemovePodGroup(key);
  EXPECT_EQ(q.Where("b"), Place::kIncomplete);
  q.Fail("a");
  EXPECT_TRUE(q.GroupTried("g", GroupOutcome::kError).has_value());
  EXPECT_EQ(q.Where("a"), Place::kIncomplete);
}

TEST(Groups, LastGatedMemberTakesItsGateWithIt) {
  QueueHarness q(Gate(), WithGroups());
  q.queue->SetPodGroup(Group("g"));
  q.Add(GroupPod("a", "g"));
  q.Add(Shut("b", "g"));
  ASSERT_THAT(q.List(Place::kUnschedulable), ElementsAre("group:g"));
  q.Delete("b");
  EXPECT_THAT(q.List(Place::kActive), ElementsAre("group:g"));
}

api::CompositePodGroup Composite(std::string name, std::string parent = "") {
  api::CompositePodGroup group;
  group.metadata.namespace_ = "default";
  group.metadata.name = std::move(name);
  if (!parent.empty()) group.spec.parent_composite_pod_group_name = parent;
  return group;
}

TEST(Groups, RingOfGroupsHasNoRoot) {
  QueueHarness q({}, {.generic_workload = true, .composite_pod_group = true});
  api::PodGroup leaf = Group("leaf");
  leaf.spec.parent_composite_pod_group_name = "x";
  q.queue->SetPodGroup(leaf);
  q.queue->SetPodGroup(Composite("x", "y"));
  q.queue->SetPodGroup(Composite("y", "x"));
  q.Add(GroupPod("a", "leaf"));
  EXPECT_EQ(q.Where("a"), Place::kIncomplete);
}

TEST(Groups, TreeIsTriedAsOneFromTheOldestLeaf) {
  QueueHarness q({}, {.generic_workload = true, .composite_pod_group = true});
  for (const auto& [name, created] : {std::pair("young", 20), std::pair("old", 10)}) {
    api::PodGroup leaf = Group(name);
    leaf.metadata.creation_timestamp.unix_seconds = created;
    leaf.spec.parent_composite_pod_group_name = "root";
    q.queue->SetPodGroup(leaf);
    q.Add(GroupPod(std::string("pod-of-") + name, name));
  }
  EXPECT_EQ(q.Where("pod-of-old"), Place::kIncomplete);
  q.queue->SetPodGroup(Composite("root"));
  EXPECT_EQ(q.Pop(), "group:root");
  std::vector<std::string> order;
  for (const PoppedPod& pod : q.popped_groups.at("root").pods)
    order.push_back(q.cluster.pods().record(pod.pod.id).name);
  EXPECT_THAT(order, ElementsAre("pod-of-old", "pod-of-young"));
}

// Case 68.
TEST(Groups, OrderOfMembersDoesNotDependOnTheirArrival) {
  std::vector<std::pair<std::string, std::int32_t>> pods = {{"a", 1}, {"b", 1}, {"c", 7}, {"d", 0}, {"e", 7}};
  do {
    QueueHarness q({}, WithGroups());
    q.queue->SetPodGroup(Group("g"));
    for (const auto& [name, priority] : pods) {
      api::Pod pod = GroupPod(name, "g");
      pod.spec.priority = priority;
      q.Add(pod);
    }
    q.Pop();
    std::string order;
    for (const PoppedPod& pod : q.popped_groups.at("g").pods)
      order += q.cluster.pods().record(pod.pod.id).name;
    ASSERT_EQ(order, "ceabd");
  } while (std::ranges::next_permutation(pods).found);
}

// Case 69.
TEST(IncomingMetrics, CountPodsAtEveryArrivalAndEntitiesAtNews) {
  QueueHarness q({{.name = "fit", .wishes = {{.event = kNodeAdd}}}});
  const auto pods = [&](std::string_view queue, std::string_view event) {
    return q.Counter("scheduler_queue_incoming_pods_total", {queue, event});
  };
  const auto entities = [&](std::string_view queue, std::string_view event) {
    return q.Counter("scheduler_queue_incoming_entities_total", {queue, event, "pod"});
  };
  for (const char* name : {"a", "b", "c"}) q.Add(MakePod(name));
  EXPECT_EQ(pods("active", "UnscheduledPodAdd"), 3);
  EXPECT_EQ(entities("active", "UnscheduledPodAdd"), 3);
  for (const char* name : {"a", "b", "c"}) {
    q.Pop();
    q.Reject(name, {"fit"});
  }
  EXPECT_EQ(pods("unschedulable", "ScheduleAttemptFailure"), 3);
  EXPECT_EQ(entities("unschedulable", "ScheduleAttemptFailure"), 0);
  q.Wildcard();
  EXPECT_EQ(pods("backoff", "UnschedulableTimeout"), 3);

  QueueHarness g({}, WithGroups());
  g.queue->SetPodGroup(Group("g"));
  for (const char* name : {"a", "b", "c"}) g.Add(GroupPod(name, "g"));
  EXPECT_EQ(g.Counter("scheduler_queue_incoming_pods_total", {"active", "UnscheduledPodAdd"}), 6);
  EXPECT_EQ(g.Counter("scheduler_queue_incoming_entities_total", {"active", "UnscheduledPodAdd", "podgroup"}),
            1);
}

}  // namespace
}  // namespace berth::queue::test
