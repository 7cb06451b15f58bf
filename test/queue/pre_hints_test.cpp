#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queue/queue_harness.h"

// KEP-6132: plugins that know which pods an event concerns. The numbers of the cases are those of the queue's
// specification.
namespace berth::queue::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

PluginSpec Plugin(std::string name, PreHintAnswer pre_hint, HintAnswer hint = SaysQueue()) {
  return {.name = std::move(name),
          .wishes = {{.event = kClaimUpdate, .hint = std::move(hint), .pre_hint = std::move(pre_hint)}}};
}

void ParkThree(QueueHarness& q) {
  for (const char* name : {"pod1", "pod2", "pod3"}) q.Park(name, {"foo"});
}

double Narrowed(QueueHarness& q, std::string_view plugin) {
  return q.Counter("scheduler_pre_queueing_hint_evaluations_total", {plugin, "narrowed"});
}

// Case 47.
TEST(PreHints, NarrowToTheListedPods) {
  QueueHarness q({Plugin("foo", Names({"pod1", "unknown"}))});
  ParkThree(q);
  q.Notify(kClaimUpdate);
  EXPECT_THAT(q.List(Place::kBackoff), ElementsAre("pod1"));
  EXPECT_THAT(q.hint_calls, ElementsAre("foo pod1"));
  EXPECT_EQ(Narrowed(q, "foo"), 1);
}

TEST(PreHints, AreAskedThoughNobodyWaits) {
  QueueHarness q({Plugin("foo", Names({"pod1"}))});
  q.Notify(kClaimUpdate);
  EXPECT_EQ(Narrowed(q, "foo"), 1);
}

TEST(PreHints, AreNotAskedWithTheGateOff) {
  QueueHarness q({Plugin("foo", Names({"pod1"}))}, {.pre_queueing_hints = false});
  ParkThree(q);
  q.Notify(kClaimUpdate);
  EXPECT_EQ(q.List(Place::kBackoff).size(), 3u);
  EXPECT_EQ(Narrowed(q, "foo"), 0);
}

TEST(PreHints, LeaveTheLastWordToTheHint) {
  QueueHarness q({Plugin("foo", Names({"pod1"}), SaysSkip())});
  ParkThree(q);
  q.Notify(kClaimUpdate);
  EXPECT_THAT(q.List(Place::kBackoff), IsEmpty());
}

TEST(PreHints, EmptyListMeansNobody) {
  QueueHarness q({Plugin("foo", Names({}))});
  ParkThree(q);
  q.Notify(kClaimUpdate);
  EXPECT_THAT(q.List(Place::kBackoff), IsEmpty());
  EXPECT_THAT(q.hint_calls, IsEmpty());
  EXPECT_EQ(Narrowed(q, "foo"), 1);
}

// Case 48.
TEST(PreHints, NarrowEachPluginForItself) {
  QueueHarness q({Plugin("A", Names({"pod1"})), Plugin("B", Names({"pod2"}))});
  for (const char* name : {"pod1", "pod2"}) q.Park(name, {"A", "B"});
  q.Notify(kClaimUpdate);
  EXPECT_THAT(q.hint_calls, UnorderedElementsAre("A pod1", "B pod2"));
  EXPECT_THAT(q.List(Place::kBackoff), UnorderedElementsAre("pod1", "pod2"));
}

// Case 49: a plugin that cannot narrow sees all of its pods, whatever others list.
TEST(PreHints, DoNotHidePodsFromPluginsWithoutOne) {
  QueueHarness q({Plugin("A", Names({"pod1"})), Plugin("B", nullptr)});
  q.Park("pod1", {"A"});
  q.Park("pod2", {"B"});
  q.Notify(kClaimUpdate);
  EXPECT_THAT(q.List(Place::kBackoff), UnorderedElementsAre("pod1", "pod2"));
}

// Case 50.
TEST(PreHints, AllPodsOfOnePluginDoesNotWidenAnother) {
  QueueHarness q({Plugin("A", Names({"pod1"})), Plugin("B", AllPods())});
  q.Park("pod2", {"A"});
  q.Park("pod3", {"A", "B"});
  q.Notify(kClaimUpdate);
  EXPECT_EQ(q.Where("pod2"), Place::kUnschedulable);
  EXPECT_THAT(q.hint_calls, ElementsAre("B pod3"));
}

// Case 51.
TEST(PreHints, AFailureShowsThePluginAllPods) {
  QueueHarness q({Plugin("foo", [](const framework::PreHintInput&) -> base::Result<framework::PreHint> {
    return base::Fail("no index");
  })});
  ParkThree(q);
  q.Notify(kClaimUpdate);
  EXPECT_EQ(q.List(Place::kBackoff).size(), 3u);
  EXPECT_EQ(Narrowed(q, "foo"), 0);
}

TEST(PreHints, AreNotAskedWithoutAnObject) {
  QueueHarness q({Plugin("foo", Names({"pod1"}))});
  ParkThree(q);
  q.queue->Notify(kClaimUpdate, {}, {});
  EXPECT_EQ(q.List(Place::kBackoff).size(), 3u);
}

// Case 52.
TEST(PreHints, PodThatWasMissedIsRescuedByTheFlushAndByReplay) {
  QueueHarness q({Plugin("foo", Names({}))});
  q.Park("pod1", {"foo"});
  q.Add(MakePod("flying"));
  q.Pop();
  q.Notify(kClaimUpdate);
  q.Reject("flying", {"foo"});
  EXPECT_EQ(q.Where("flying"), Place::kBackoff) << "what happened in flight is looked at without lists";
  q.Advance(minutes(6));
  q.queue->FlushUnschedulable();
  EXPECT_EQ(q.Where("pod1"), Place::kActive);
  EXPECT_TRUE(q.Params("pod1").was_flushed);
  while (q.Pop() != "pod1") {
  }
  EXPECT_TRUE(q.popped.at("pod1").params.was_flushed);
}

// A pod that no plugin is asked about is woken by any event, listed or not.
TEST(PreHints, SpeakOnlyForPlugins) {
  QueueHarness q({Plugin("foo", Names({}))});
  q.Add(MakePod("a").SchedulerName("somebody-else"));
  q.Pop();
  q.Reject("a", {"foo"});
  q.Notify(kClaimUpdate);
  EXPECT_EQ(q.Where("a"), Place::kBackoff);
}

class GroupPreHints : public testing::Test {
 protected:
  // A group whose members are all shut out by a gate.
  void ParkGroup(QueueHarness& q) {
    q.queue->SetPodGroup(Group("g"));
    for (const char* name : {"m1", "m2"}) {
      api::Pod pod = GroupPod(name, "g");
      pod.spec.priority = name == std::string("m1") ? 1 : 5;
      q.Add(pod);
    }
    // Who joins a group that waits is not asked by itself.
    q.Activate("m1");
    ASSERT_TRUE(q.IsGated("m1") && q.IsGated("m2"));
    ASSERT_THAT(q.List(Place::kUnschedulable), ElementsAre("group:g"));
  }
  bool open_ = false;
  PluginSpec Gate(PreHintAnswer pre_hint) {
    PluginSpec plugin = Plugin("foo", std::move(pre_hint));
    plugin.gate = [this](const api::PodRecord&) {
      return open_ ? framework::Status() : framework::Status::Unresolvable("shut");
    };
    return plugin;
  }
};

// Case 53.
TEST_F(GroupPreHints, ListedMemberMovesItsGroup) {
  QueueHarness q({Gate(Names({"m2"}))}, {.generic_workload = true});
  ParkGroup(q);
  q.Add(MakePod("alone"));
  open_ = true;
  q.Notify(kClaimUpdate);
  EXPECT_THAT(q.List(Place::kActive), ElementsAre("group:g"));
  EXPECT_EQ(q.Where("alone"), Place::kUnschedulable);
  EXPECT_THAT(q.hint_calls, ElementsAre("foo m2"));
}

TEST_F(GroupPreHints, EachListedMemberMayPassTheCheck) {
  QueueHarness q({Gate(Names({"m1", "m2"}))}, {.generic_workload = true});
  ParkGroup(q);
  open_ = true;
  q.Notify(kClaimUpdate, [&](cluster::PodSlot pod) { return q.cluster.pods().priority(pod) >= 5; });
  EXPECT_THAT(q.List(Place::kActive), ElementsAre("group:g"));
}

TEST_F(GroupPreHints, CountButDoNotNarrowWithTreesOfGroups) {
  QueueHarness q({Gate(Names({}))}, {.generic_workload = true, .composite_pod_group = true});
  ParkGroup(q);
  open_ = true;
  q.Notify(kClaimUpdate);
  EXPECT_THAT(q.List(Place::kActive), ElementsAre("group:g"));
  EXPECT_EQ(Narrowed(q, "foo"), 1);
}

}  // namespace
}  // namespace berth::queue::test
