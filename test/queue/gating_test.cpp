#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queue/queue_harness.h"

// Who may not be tried at all. The numbers of the cases are those of the queue's specification.
namespace berth::queue::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A plugin whose gate the test opens.
struct Door {
  bool open = false;
  PluginSpec Plugin(std::string name, std::vector<Wish> wishes = {}) {
    return {.name = std::move(name), .wishes = std::move(wishes), .gate = [this](const api::PodRecord&) {
              return open ? framework::Status() : framework::Status::Unresolvable("shut");
            }};
  }
};

// Case 40.
TEST(Gating, FirstAttemptCountsFromTheOpening) {
  Door door;
  QueueHarness q({door.Plugin("door", {{.event = kNodeAdd}})});
  q.Add(MakePod("a"));
  EXPECT_EQ(q.Gauge("scheduler_pending_pods", {"gated"}), 1);
  EXPECT_EQ(q.Gauge("scheduler_pending_pods", {"unschedulable"}), 0);
  EXPECT_FALSE(q.Params("a").initial_attempt.has_value());
  q.Advance(minutes(1));
  door.open = true;
  q.Notify(kNodeAdd);
  EXPECT_EQ(q.Params("a").initial_attempt, base::TimePoint(minutes(1)));
  EXPECT_EQ(q.Params("a").timestamp, base::TimePoint()) << "its place among equals is that of its arrival";
  ASSERT_EQ(q.Pop(), "a");
  EXPECT_EQ(q.popped.at("a").params.attempts, 1);
}

// Case 41.
TEST(Gating, HappensOnTheWayIntoBackoffIfPodsCanBePoppedFromThere) {
  for (const bool gate_on : {true, false}) {
    Door door{.open = true};
    QueueHarness q({door.Plugin("door"), {.name = "fit", .wishes = {{.event = kNodeAdd}}}},
                   {.pop_from_backoff = gate_on});
    q.Add(MakePod("a"));
    q.Pop();
    q.Reject("a", {"fit"});
    door.open = false;
    q.Notify(kNodeAdd);
    EXPECT_EQ(q.Where("a"), gate_on ? Place::kUnschedulable : Place::kBackoff);
    q.Advance(seconds(3));
    q.queue->FlushBackoff();
    EXPECT_TRUE(q.IsGated("a"));
  }
}

TEST(Gating, IsNotAskedAgainOnTheWayOutOfBackoff) {
  Door door{.open = true};
  QueueHarness q({door.Plugin("door"), {.name = "fit", .wishes = {{.event = kNodeAdd}}}});
  for (const char* name : {"a", "b"}) q.Add(MakePod(name));
  for (const char* name : {"a", "b"}) {
    q.Pop();
    q.Reject(name, {"fit"});
  }
  q.Notify(kNodeAdd);
  door.open = false;
  q.pre_enqueue_calls.clear();
  q.Activate("a");
  q.Advance(seconds(3));
  q.queue->FlushBackoff();
  EXPECT_THAT(q.List(Place::kActive), testing::UnorderedElementsAre("a", "b"));
  EXPECT_THAT(q.pre_enqueue_calls, IsEmpty());
}

// Case 42.
TEST(Gating, OnlyEventsOfTheGatingPluginAreLookedAt) {
  Door gates, foo{.open = true};
  QueueHarness q({gates.Plugin("gates"), foo.Plugin("foo", {{.event = kNodeAdd, .hint = SaysQueue()}})});
  q.Add(MakePod("a"));
  q.Notify(kNodeAdd);
  EXPECT_TRUE(q.IsGated("a"));
  EXPECT_THAT(q.hint_calls, IsEmpty());

  Door door;
  QueueHarness other({door.Plugin("foo", {{.event = kNodeAdd, .hint = SaysQueue()}})});
  other.Add(MakePod("a"));
  door.open = true;
  other.Notify(kNodeAdd);
  EXPECT_THAT(other.hint_calls, ElementsAre("foo a"));
  EXPECT_EQ(other.Where("a"), Place::kActive);
}

// Case 43 and 44.
TEST(Gating, LongWaitAsksAgainOncePerFiveMinutes) {
  Door door;
  QueueHarness q({door.Plugin("door")});
  q.Add(MakePod("a"));
  const auto asked = [&](base::Duration at) {
    q.clock.SetTo(base::TimePoint(at));
    q.pre_enqueue_calls.clear();
    q.queue->FlushUnschedulable();
    return !q.pre_enqueue_calls.empty();
  };
  EXPECT_FALSE(asked(minutes(5)));
  EXPECT_TRUE(asked(seconds(301)));
  EXPECT_FALSE(q.Params("a").was_flushed) << "it stayed";
  EXPECT_FALSE(asked(seconds(541)));
  EXPECT_TRUE(asked(seconds(602)));
  door.open = true;
  EXPECT_TRUE(asked(seconds(903)));
  EXPECT_EQ(q.Where("a"), Place::kActive);
  EXPECT_TRUE(q.Params("a").was_flushed);
}

// Case 45.
TEST(Gating, ReasonIsCountedOncePerPlugin) {
  Door one, two{.open = true};
  QueueHarness q({one.Plugin("p1", {{.event = kNodeAdd}}), two.Plugin("p2", {{.event = kNodeAdd}})});
  const auto counted = [&](std::string_view plugin) {
    return q.Gauge("scheduler_unschedulable_pods", {plugin, "default-scheduler"});
  };
  q.Add(MakePod("a"));
  q.Notify(kNodeAdd);
  EXPECT_EQ(counted("p1"), 1);
  one.open = true;
  two.open = false;
  q.Notify(kNodeAdd);
  EXPECT_EQ(counted("p1"), 1);
  EXPECT_EQ(counted("p2"), 1);
  two.open = true;
  q.Notify(kNodeAdd);
  q.Pop();
  EXPECT_EQ(counted("p1"), 0);
  EXPECT_EQ(counted("p2"), 0);
}

// Case 46.
TEST(Gating, AnErrorGatesTooAndAGatedPodKeepsItsNomination) {
  QueueHarness q(
      {{.name = "broken", .gate = [](const api::PodRecord&) { return framework::Status::Error("oops"); }}});
  q.Add(MakePod("a").NominatedNode("n1"));
  EXPECT_TRUE(q.IsGated("a"));
  EXPECT_TRUE(q.cluster.nominator().NodeOf(q.Slot("a")).IsValid());
}

// The plugin that said no last is asked first, and nobody after the first no.
TEST(Gating, AsksTheLastRejectorFirst) {
  Door one{.open = true}, two;
  QueueHarness q({one.Plugin("p1"), two.Plugin("p2", {{.event = kNodeAdd}})});
  q.Add(MakePod("a"));
  EXPECT_THAT(q.pre_enqueue_calls, ElementsAre("p1 a", "p2 a"));
  q.pre_enqueue_calls.clear();
  q.Notify(kNodeAdd);
  EXPECT_THAT(q.pre_enqueue_calls, ElementsAre("p2 a"));
  two.open = true;
  q.Notify(kNodeAdd);
  EXPECT_THAT(q.pre_enqueue_calls, ElementsAre("p2 a", "p2 a", "p1 a"));
}

}  // namespace
}  // namespace berth::queue::test
