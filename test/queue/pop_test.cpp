#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queue/queue_harness.h"

// What Pop takes, and what becomes of a pod that comes back. The numbers of the cases are those of the
// queue's specification.
namespace berth::queue::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<PluginSpec> Plugins() {
  return {{.name = "fit", .wishes = {{.event = kNodeAdd}, {.event = kPvAdd}, {.event = kAssignedPodAdd}}}};
}

// Case 11.
class PopEarly : public testing::TestWithParam<bool> {};

TEST_P(PopEarly, TakesRejectedPodsFromBackoffButNeverFailedOnes) {
  QueueHarness q(Plugins(), {.pop_from_backoff = GetParam()});
  for (const char* name : {"high", "failed", "parked"}) q.Add(MakePod(name).Priority(10));
  for (int i = 0; i < 3; ++i) q.Pop();
  q.Reject("high", {"fit"});
  q.Wildcard();
  q.Fail("failed");
  q.Add(MakePod("mid").Priority(5));
  q.Done("parked");
  EXPECT_EQ(q.Pop(), "mid");
  EXPECT_EQ(q.Pop(), GetParam() ? "high" : "");
  EXPECT_EQ(q.Pop(), "");
  EXPECT_THAT(q.List(Place::kErrorBackoff), ElementsAre("failed"));
}

INSTANTIATE_TEST_SUITE_P(Queue, PopEarly, testing::Bool(),
                         [](const auto& test) { return test.param ? "GateOn" : "GateOff"; });

// Case 12.
TEST(Pop, TakesFromBackoffHoweverMuchIsLeft) {
  QueueHarness q(Plugins(), {.pod_initial_backoff = seconds(1000), .pod_max_backoff = seconds(1000)});
  q.Add(MakePod("a"));
  q.Pop();
  q.Reject("a", {"fit"});
  q.Notify(kNodeAdd);
  ASSERT_EQ(q.Where("a"), Place::kBackoff);
  EXPECT_TRUE(q.queue->CanPop());
  EXPECT_EQ(q.Pop(), "a");
  EXPECT_EQ(q.popped.at("a").params.attempts, 2);
}

// Three pods that are alike, each of which was rejected once and waits for its backoff to end.
class PopAlike : public testing::Test {
 protected:
  static constexpr std::uint64_t kAlike = 4711;

  PopAlike() {
    for (const char* name : {"a", "b", "c"}) q.Add(MakePod(name));
    for (int i = 0; i < 3; ++i) RejectNext();
    q.Notify(kNodeAdd);
  }
  std::string RejectNext() {
    std::string name = q.Pop();
    if (!name.empty()) q.Reject(name, {"fit"}, {}, kAlike);
    return name;
  }

  QueueHarness q{Plugins()};
};

TEST_F(PopAlike, OneThatFailsEarlySparesTheOthersTheAttempt) {
  EXPECT_EQ(RejectNext(), "a");
  EXPECT_FALSE(q.queue->CanPop());
  EXPECT_EQ(q.Pop(), "");
  EXPECT_THAT(q.List(Place::kBackoff), ElementsAre("b", "c"));
  EXPECT_EQ(q.Params("b").attempts, 1);
}

TEST_F(PopAlike, OneThatFitsSparesNobody) {
  EXPECT_EQ(q.Pop(), "a");
  q.Done("a");
  EXPECT_EQ(q.Pop(), "b");
}

TEST_F(PopAlike, AnyEventGivesThemATry) {
  RejectNext();
  q.Notify(kNodeUpdate);  // nobody asked to hear of it
  EXPECT_EQ(q.Pop(), "b");
}

TEST_F(PopAlike, BackoffEndsWhenItWouldHave) {
  RejectNext();
  q.Advance(seconds(3));
  q.queue->FlushBackoff();
  EXPECT_THAT(q.List(Place::kActive), ElementsAre("b", "c"));
}

TEST_F(PopAlike, OthersAreTriedEarlyAllTheSame) {
  q.Add(MakePod("other"));
  EXPECT_EQ(q.Pop(), "other");
  q.Reject("other", {"fit"}, {}, kAlike + 1);
  q.Notify(kNodeAdd);
  EXPECT_EQ(RejectNext(), "a");
  EXPECT_EQ(q.Pop(), "other");
  EXPECT_EQ(q.Pop(), "");
}

TEST_F(PopAlike, OneThatChangesIsLikeNobody) {
  RejectNext();
  q.Update(MakePod("b"));
  EXPECT_EQ(q.Pop(), "") << "nothing changed that matters";
  q.Update(MakePod("b").Label("app", "web"));
  EXPECT_EQ(q.Pop(), "b");
  EXPECT_EQ(q.Pop(), "");
}

TEST_F(PopAlike, ForcedOnesAreTried) {
  RejectNext();
  q.Activate("c");
  EXPECT_EQ(q.Pop(), "c");
}

TEST_F(PopAlike, WhatComesWhileOneIsTriedWakesTheOthers) {
  EXPECT_EQ(q.Pop(), "a");
  q.Notify(kNodeAdd);
  q.Reject("a", {"fit"}, {}, kAlike);
  EXPECT_EQ(q.Where("a"), Place::kBackoff);
  EXPECT_TRUE(q.queue->CanPop());
}

TEST_F(PopAlike, OneThatIsPutBackWasNotTaken) {
  const auto expiry = q.Params("a").expiry;
  ASSERT_EQ(q.Pop(), "a");
  EXPECT_TRUE(q.queue->PutBack(q.popped.at("a"), kAlike));
  EXPECT_THAT(q.List(Place::kBackoff), ElementsAre("a", "b", "c"));
  EXPECT_EQ(q.Params("a").attempts, 1);
  EXPECT_EQ(q.Params("a").unschedulable_count, 1);
  EXPECT_EQ(q.Params("a").expiry, expiry);
  EXPECT_TRUE(q.queue->in_flight().empty());
  EXPECT_EQ(q.Pop(), "") << "it speaks for the others, and for itself";
  q.Notify(kNodeUpdate);
  EXPECT_EQ(q.Pop(), "a");
}

TEST_F(PopAlike, OnlyWhoWasTakenEarlyAndForWhomNothingHappenedIsPutBack) {
  ASSERT_EQ(q.Pop(), "a");
  EXPECT_FALSE(q.queue->PutBack(q.popped.at("a"), 0)) << "like nobody";
  q.Notify(kNodeAdd);
  EXPECT_FALSE(q.queue->PutBack(q.popped.at("a"), kAlike)) << "it may fit now";
  EXPECT_TRUE(q.queue->in_flight().Contains(q.popped.at("a").pod));
  q.Advance(seconds(3));
  q.queue->FlushBackoff();
  ASSERT_EQ(q.Pop(), "b");
  EXPECT_FALSE(q.queue->PutBack(q.popped.at("b"), kAlike)) << "its backoff is over";
}

// Case 13.
TEST(Close, EmptiesWhatIsInFlightAndStillHandsOutWhatWaits) {
  QueueHarness q(Plugins());
  q.Add(MakePod("a"));
  q.Add(MakePod("b"));
  q.Pop();
  q.Pop();
  q.Notify(kNodeAdd);
  q.Notify(kPvAdd);
  q.Add(MakePod("c"));
  q.queue->Close();
  EXPECT_TRUE(q.queue->in_flight().empty());
  EXPECT_EQ(q.queue->in_flight().event_count(), 0u);
  EXPECT_EQ(q.Pop(), "c");
  EXPECT_EQ(q.Pop(), "");
}

// Case 14.
TEST(InFlightEvents, AreKeptFromTheFirstPopAndOnlyIfSomebodyListens) {
  QueueHarness q(Plugins());
  q.Add(MakePod("p1"));
  q.Notify(kPvAdd);
  q.Pop();
  q.Notify(kPvAdd);
  q.Notify({EventResource::kPersistentVolume, framework::kUpdate});
  EXPECT_THAT(q.queue->in_flight().Listing(), ElementsAre("@uid-p1", "PersistentVolumeAdd"));
}

// Cases 15 and 16.
TEST(InFlightEvents, GoWithTheOldestPodThatNeedsThem) {
  QueueHarness q(Plugins());
  for (const char* name : {"p1", "p2", "p3"}) q.Add(MakePod(name));
  q.Pop();
  q.Notify(kPvAdd);
  q.Pop();
  q.Notify(kNodeAdd);
  q.Pop();
  q.Notify(kAssignedPodAdd);
  q.Fail("p2");
  EXPECT_THAT(q.queue->in_flight().Listing(),
              ElementsAre("@uid-p1", "PersistentVolumeAdd", "NodeAdd", "@uid-p3", "AssignedPodAdd"));
  q.Fail("p1");
  EXPECT_EQ(q.Where("p1"), Place::kErrorBackoff);
  EXPECT_THAT(q.queue->in_flight().Listing(), ElementsAre("@uid-p3", "AssignedPodAdd"));
  q.Done("p3");
  EXPECT_THAT(q.queue->in_flight().Listing(), IsEmpty());
}

// Case 17.
TEST(Replay, IgnoresWhatHappenedBeforeThePop) {
  QueueHarness q({{.name = "fit", .wishes = {{.event = kAssignedPodAdd, .hint = SaysSkip()}}}});
  q.Add(MakePod("other"));
  q.Add(MakePod("a"));
  q.Pop();
  q.Wildcard();
  q.Pop();
  q.Notify(kAssignedPodAdd);
  q.Reject("a", {"fit"});
  EXPECT_EQ(q.Where("a"), Place::kUnschedulable);
}

std::vector<PluginSpec> ThreePlugins(Hint f1, Hint f2, Hint f3) {
  const auto plugin = [](std::string name, Hint hint) {
    return PluginSpec{.name = std::move(name), .wishes = {{.event = kAssignedPodAdd, .hint = Says(hint)}}};
  };
  return {plugin("f1", f1), plugin("f2", f2), plugin("f3", f3)};
}

// Case 18.
TEST(Replay, PendingPluginBringsThePodStraightBack) {
  QueueHarness q(ThreePlugins(Hint::kQueue, Hint::kQueue, Hint::kQueueSkip));
  q.Add(MakePod("a"));
  q.Pop();
  q.Notify(kAssignedPodAdd);
  q.Reject("a", {"f2", "f3"}, {"f1"});
  EXPECT_EQ(q.Where("a"), Place::kActive);

  QueueHarness other(ThreePlugins(Hint::kQueue, Hint::kQueueSkip, Hint::kQueueSkip));
  other.Add(MakePod("a"));
  other.Pop();
  other.Notify(kAssignedPodAdd);
  other.Reject("a", {"f1", "f2"});
  EXPECT_EQ(other.Where("a"), Place::kBackoff);
}

// Case 19.
TEST(Replay, StopsAtTheFirstPendingPluginThatSaysQueue) {
  std::vector<PluginSpec> plugins = ThreePlugins(Hint::kQueue, Hint::kQueue, Hint::kQueue);
  plugins.push_back({.name = "f4", .wishes = {{.event = kAssignedPodAdd, .hint = SaysQueue()}}});
  QueueHarness q(std::move(plugins));
  q.Add(MakePod("a"));
  q.Pop();
  q.Notify(kAssignedPodAdd);
  q.Reject("a", {"f1", "f3", "f4"}, {"f2"});
  EXPECT_EQ(q.Where("a"), Place::kActive);
  EXPECT_EQ(q.hint_calls.size(), 2u);
}

// Case 20.
TEST(Pop, DropsAPodThatIsInFlightAlready) {
  QueueHarness q(Plugins());
  q.Add(MakePod("a").Priority(9));
  q.Pop();
  q.queue->Add(q.Slot("a"));
  q.Add(MakePod("p3"));
  EXPECT_EQ(q.Pop(), "p3");
  EXPECT_EQ(q.Where("a"), Place::kNowhere);
  q.Done("a");
  q.Done("p3");
  EXPECT_TRUE(q.queue->in_flight().empty());
}

// Case 21.
TEST(Replay, SeesAnUpdateOfThePodItself) {
  QueueHarness q({{.name = "taints", .wishes = {{.event = kTargetPodUpdate, .hint = SaysQueue()}}}});
  q.Add(MakePod("a"));
  q.Pop();
  api::Toleration toleration;
  toleration.key = "k";
  q.Update(MakePod("a").Tolerate(toleration));
  q.Reject("a", {"taints"});
  EXPECT_EQ(q.Where("a"), Place::kBackoff);
}

// Case 22.
TEST(Activate, OfAPodInFlightIsForThatPodAlone) {
  QueueHarness q(Plugins());
  q.Add(MakePod("a"));
  q.Add(MakePod("b"));
  q.Pop();
  q.Pop();
  q.Activate("a");
  q.Reject("a", {"fit"});
  q.Reject("b", {"fit"});
  EXPECT_EQ(q.Where("a"), Place::kBackoff);
  EXPECT_EQ(q.Where("b"), Place::kUnschedulable);
}

// Case 23.
TEST(Activate, BringsWhoWaitsToTheActiveQueue) {
  const auto only_rejected = [](const framework::HintInput& input) -> base::Result<Hint> {
    return input.record().name == "rejected" ? Hint::kQueue : Hint::kQueueSkip;
  };
  QueueHarness q({{.name = "fit", .wishes = {{.event = kNodeAdd, .hint = only_rejected}}},
                  {.name = "gate", .gate = RejectsLabel("shut")}},
                 {.generic_workload = true});
  for (const char* name : {"parked", "rejected", "failed"}) q.Add(MakePod(name));
  for (int i = 0; i < 3; ++i) q.Pop();
  q.Reject("parked", {"fit"});
  q.Reject("rejected", {"fit"});
  q.Notify(kNodeAdd);
  q.Fail("failed");
  ASSERT_EQ(q.Where("parked"), Place::kUnschedulable);
  ASSERT_EQ(q.Where("rejected"), Place::kBackoff);
  ASSERT_EQ(q.Where("failed"), Place::kErrorBackoff);
  q.Add(MakePod("gated").Label("gate", "shut"));
  q.Add(MakePod("active"));
  q.Add(GroupPod("incomplete", "nowhere"));
  for (const char* name : {"parked", "rejected", "failed", "gated", "active", "incomplete"}) q.Activate(name);
  EXPECT_THAT(q.List(Place::kActive),
              testing::UnorderedElementsAre("parked", "rejected", "failed", "active"));
  EXPECT_TRUE(q.IsGated("gated"));
  EXPECT_EQ(q.Where("incomplete"), Place::kIncomplete);
}

// Case 24.
TEST(LeftoverFlush, IsReplayedToPodsInFlight) {
  QueueHarness q(Plugins());
  q.Add(MakePod("old"));
  q.Add(MakePod("a"));
  q.Pop();
  q.Reject("old", {"fit"});
  q.Advance(minutes(6));
  q.Pop();
  q.queue->FlushUnschedulable();
  EXPECT_EQ(q.Where("old"), Place::kActive);
  EXPECT_TRUE(q.Params("old").was_flushed);
  q.Reject("a", {"fit"});
  EXPECT_EQ(q.Where("a"), Place::kBackoff);
}

// Case 25: a failure after Done has no plugin and no marker.
TEST(Return, AfterDoneIsAnError) {
  QueueHarness q(Plugins());
  q.Add(MakePod("a"));
  q.Pop();
  q.Done("a");
  q.Fail("a");
  EXPECT_EQ(q.Where("a"), Place::kErrorBackoff);
  EXPECT_EQ(q.Params("a").consecutive_errors, 1);
}

// Case 26.
TEST(Return, OfAPodThatIsQueuedAlreadyFailsAndEndsItsFlight) {
  QueueHarness q(Plugins());
  q.Add(MakePod("a"));
  q.Pop();
  q.queue->Add(q.Slot("a"));
  q.Fail("a");
  EXPECT_EQ(q.error, "Pod default/a is already present in the active queue");
  EXPECT_TRUE(q.queue->in_flight().empty());
}

}  // namespace
}  // namespace berth::queue::test
