#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queue/queue_harness.h"

// What wakes a rejected pod. The numbers of the cases are those of the queue's specification; 27 to 30, the
// events themselves, are tested where they are made.
namespace berth::queue::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Case 31.
TEST(Hints, AnErrorCountsAsQueue) {
  QueueHarness q({{.name = "broken", .wishes = {{.event = kNodeAdd, .hint = Fails()}}}});
  q.Park("a", {"broken"});
  q.Notify(kNodeAdd);
  EXPECT_EQ(q.Where("a"), Place::kBackoff);
  EXPECT_NE(
      q.registry.Text().find("scheduler_queueing_hint_execution_duration_seconds_count{event=\"NodeAdd\","
                             "hint=\"Error\",plugin=\"broken\"} 1"),
      std::string::npos);
}

TEST(Hints, OnlyThoseOfRejectorsAreAsked) {
  QueueHarness q(
      {{.name = "silent"}, {.name = "other", .wishes = {{.event = kNodeAdd, .hint = SaysQueue()}}}});
  q.Park("a", {"silent"});
  q.Notify(kNodeAdd);
  EXPECT_EQ(q.Where("a"), Place::kUnschedulable);
  EXPECT_THAT(q.hint_calls, IsEmpty());
}

TEST(Hints, PodOfAnUnknownProfileIsWokenByEverythingOfInterest) {
  QueueHarness q({{.name = "fit", .wishes = {{.event = kNodeAdd, .hint = SaysSkip()}}}});
  q.Add(MakePod("a").SchedulerName("somebody-else"));
  q.Pop();
  q.Reject("a", {"fit"});
  q.Notify(kPvAdd);
  EXPECT_EQ(q.Where("a"), Place::kUnschedulable) << "nobody listens to that event";
  q.Notify(kNodeAdd);
  EXPECT_EQ(q.Where("a"), Place::kBackoff);
  EXPECT_THAT(q.hint_calls, IsEmpty());
}

// Case 32.
TEST(Wildcards, ThatNameAnotherPodPassBy) {
  QueueHarness q({{.name = "fit", .wishes = {{.event = kNodeAdd, .hint = SaysQueue()}}}});
  q.Park("a", {"fit"});
  q.Park("b", {"fit"});
  q.queue->Notify(framework::kForceActivate, {}, q.cluster.pods().facts(q.Slot("b")).record);
  EXPECT_EQ(q.Where("a"), Place::kUnschedulable);
  EXPECT_EQ(q.Where("b"), Place::kBackoff);
  EXPECT_THAT(q.hint_calls, IsEmpty());
}

// Case 33.
TEST(PreCheck, IsNotAskedAboutEventsOfNoInterest) {
  QueueHarness q({{.name = "fit", .wishes = {{.event = kNodeAdd}}}});
  q.Park("a", {"fit"});
  q.Notify(kPvAdd, [](cluster::PodSlot) -> bool {
    ADD_FAILURE() << "asked";
    return true;
  });
}

TEST(PreCheck, LimitsWhomAnEventWakes) {
  QueueHarness q({{.name = "fit", .wishes = {{.event = kNodeAdd}}}});
  for (int i = 0; i < 5; ++i) {
    const std::string name = "p" + std::to_string(i);
    q.Add(MakePod(name).Priority(i));
    q.Pop();
    q.Reject(name, {"fit"});
  }
  q.queue->Notify(framework::kUnschedulableTimeout, {}, {},
                  [&](cluster::PodSlot pod) { return q.cluster.pods().priority(pod) >= 2; });
  EXPECT_THAT(q.List(Place::kUnschedulable), UnorderedElementsAre("p0", "p1"));
  EXPECT_THAT(q.List(Place::kBackoff), UnorderedElementsAre("p2", "p3", "p4"));
}

// Case 34: the owner tells of a lost nomination as of a deleted pod, to nobody above it.
TEST(PreCheck, LostNominationWakesOnlyPodsOfAtMostItsPriority) {
  QueueHarness q({{.name = "fit", .wishes = {{.event = kAssignedPodDelete, .hint = SaysQueue()}}}});
  for (const int priority : {100, 1000}) {
    const std::string name = "p" + std::to_string(priority);
    q.Add(MakePod(name).Priority(priority));
    q.Pop();
    q.Reject(name, {"fit"});
  }
  q.Notify(kAssignedPodDelete, [&](cluster::PodSlot pod) { return q.cluster.pods().priority(pod) <= 100; });
  EXPECT_EQ(q.Where("p100"), Place::kBackoff);
  EXPECT_EQ(q.Where("p1000"), Place::kUnschedulable);
}

// Case 35.
TEST(Registration, WithoutWishesOfItsOwnAPluginStillDoesNotHearOfEverything) {
  PluginSpec plugin{.name = "deaf"};
  for (const ClusterEvent& event : framework::AllEvents(false)) plugin.wishes.push_back({.event = event});
  QueueHarness q({plugin});
  q.Park("a", {"deaf"});
  q.Notify({EventResource::kVolumeAttachment, framework::kDelete});
  q.Notify({EventResource::kResourceSlice, framework::kAdd});
  EXPECT_EQ(q.Where("a"), Place::kUnschedulable);
  q.Notify({EventResource::kCSIDriver, framework::kAdd});
  EXPECT_EQ(q.Where("a"), Place::kBackoff);
}

// Case 37.
TEST(Update, OfAPodThatIsNowhereAddsIt) {
  QueueHarness q({{.name = "gate", .gate = RejectsLabel("shut")}});
  q.Add(MakePod("a"));
  q.Pop();
  q.Done("a");
  q.Update(MakePod("a").NominatedNode("n1"));
  EXPECT_EQ(q.Where("a"), Place::kActive);
  EXPECT_TRUE(q.cluster.nominator().NodeOf(q.Slot("a")).IsValid());

  q.Add(MakePod("b"));
  q.Pop();
  q.Pop();
  q.Done("b");
  q.Update(MakePod("b").Label("gate", "shut").NominatedNode("n1"));
  EXPECT_TRUE(q.IsGated("b"));
  EXPECT_TRUE(q.cluster.nominator().NodeOf(q.Slot("b")).IsValid());
}

// Case 38.
TEST(Update, InTheUnschedulableSetFollowsTheHints) {
  const auto wants_green = [](const framework::HintInput& input) -> base::Result<Hint> {
    return input.record().labels.find("green") ? Hint::kQueue : Hint::kQueueSkip;
  };
  QueueHarness q({{.name = "fit", .wishes = {{.event = kTargetPodUpdate, .hint = wants_green}}}});
  q.Park("a", {"fit"});
  q.Update(MakePod("a").Priority(1000).Label("red", ""));
  EXPECT_EQ(q.Where("a"), Place::kUnschedulable);
  q.Update(MakePod("a").Priority(1000).Label("green", ""));
  EXPECT_EQ(q.Where("a"), Place::kBackoff);

  q.Park("b", {"fit"});
  q.Advance(seconds(5));
  q.Update(MakePod("b").Priority(1000).Label("green", ""));
  EXPECT_EQ(q.Where("b"), Place::kActive);
}

TEST(Update, WithTwoEventsStopsAtTheFirstThatMovesThePod) {
  const auto by_label = [](const framework::HintInput& input) -> base::Result<Hint> {
    const auto* pod = std::get<const api::PodRecord*>(input.new_object);
    return !pod->labels.empty() ? Hint::kQueue : Hint::kQueueSkip;
  };
  QueueHarness q(
      {{.name = "fit",
        .wishes = {{.event = {EventResource::kTargetPod, framework::kUpdatePodLabel}, .hint = by_label},
                   {.event = {EventResource::kTargetPod, framework::kUpdatePodToleration},
                    .hint = SaysSkip()}}}},
      {.pop_from_backoff = false});
  q.Park("a", {"fit"});
  api::Toleration toleration;
  toleration.key = "k";
  q.Update(MakePod("a").Priority(1000).Label("x", "").Tolerate(toleration));
  EXPECT_THAT(q.List(Place::kBackoff), ElementsAre("a"));
  EXPECT_THAT(q.List(Place::kUnschedulable), IsEmpty());
}

// Case 39.
TEST(Update, WithAnotherUidReplacesTheOldPodWhereverItWaits) {
  QueueHarness q(
      {{.name = "fit", .wishes = {{.event = kNodeAdd}}}, {.name = "gate", .gate = RejectsLabel("shut")}});
  q.Add(MakePod("a").Uid("one"));
  q.Update(MakePod("a").Uid("two"));
  EXPECT_THAT(q.List(Place::kActive), ElementsAre("a"));
  EXPECT_EQ(q.Where("a"), Place::kActive);
  EXPECT_EQ(q.Pop(), "a");
  q.Reject("a", {"fit"});
  q.Notify(kNodeAdd);
  ASSERT_EQ(q.Where("a"), Place::kBackoff);
  q.Update(MakePod("a").Uid("three").Label("gate", "shut"));
  EXPECT_THAT(q.List(Place::kBackoff), IsEmpty());
  EXPECT_TRUE(q.IsGated("a"));
  EXPECT_EQ(q.Gauge("scheduler_pending_pods", {"gated"}), 1);
  EXPECT_EQ(q.Gauge("scheduler_pending_pods", {"backoff"}), 0);
  EXPECT_EQ(q.Gauge("scheduler_unschedulable_pods", {"fit", "default-scheduler"}), 0);
}

// A hint that looks at the template alone is asked once per template, not once per pod.
TEST(Hints, ByTemplateServeAllPodsOfIt) {
  const auto small_fits = [](const framework::HintInput& input) -> base::Result<Hint> {
    return input.cluster.pods().priority(input.pod) == 1 ? Hint::kQueue : Hint::kQueueSkip;
  };
  QueueHarness q({{.name = "fit", .wishes = {{.event = kNodeAdd, .hint = small_fits, .by_template = true}}}});
  for (int i = 0; i < 20; ++i) {
    const std::string name = "p" + std::to_string(i);
    q.Add(MakePod(name).Priority(i % 2));
    q.Pop();
    q.Reject(name, {"fit"});
  }
  q.Notify(kNodeAdd);
  EXPECT_EQ(q.HintCalls("fit"), 2);
  EXPECT_EQ(q.List(Place::kBackoff).size(), 10u);
  EXPECT_EQ(q.List(Place::kUnschedulable).size(), 10u);
}

}  // namespace
}  // namespace berth::queue::test
