#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "core/fake_api.h"
#include "core/hold_profile.h"

// Cases of the queue's specification that are about what the core tells the queue.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using queue::Place;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Rejected by nobody in particular, so that no event can help, but told as what it is.
TEST(QueueCases, Case25WithoutNodesThePodIsUnschedulableAndBacksOffAsAfterAnError) {
  FakeApi api;
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.Condition("web")->reason, "Unschedulable");
  EXPECT_EQ(api.PlaceOf("web"), Place::kErrorBackoff);
}

TEST(QueueCases, Case25AFailedPreBindBacksOffAsAfterAnError) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Step();
  ASSERT_THAT(api.waiting_calls(), SizeIs(1));
  api.Refuse(api.TakeCalls()[0], "no");
  api.Step();
  EXPECT_EQ(api.PlaceOf("web"), Place::kErrorBackoff);
  const auto& pods = api.scheduler().cluster().pods();
  EXPECT_EQ(api.scheduler().queue().Find(pods.Find("default", "web"))->consecutive_errors, 1);
}

std::int64_t AttemptsOf(FakeApi& api, const std::string& name) {
  const auto& pods = api.scheduler().cluster().pods();
  return api.scheduler().queue().Find(pods.Find("default", name))->attempts;
}

// Room for one comes: one gets it, and that there is no more is nothing new to the others.
TEST(QueueCases, PodsThatAreAlikeAreNotAllTriedEarly) {
  FakeApi api;
  api.Create(Node("n1", "1"));
  api.Create(Pod("first", "1").Node("n1"));
  for (const char* name : {"a", "b", "c", "d"}) api.Create(Pod(name, "1"));
  api.Settle();
  for (const char* name : {"a", "b", "c", "d"}) ASSERT_EQ(AttemptsOf(api, name), 1);

  api.DeletePod("first");
  api.Settle();
  EXPECT_EQ(api.node_of("a"), "n1");
  std::int64_t tried_again = 0;
  for (const char* name : {"b", "c", "d"}) tried_again += AttemptsOf(api, name) - 1;
  EXPECT_EQ(tried_again, 0);
  EXPECT_THAT(api.NotesFor("FailedScheduling"), SizeIs(4));
  EXPECT_EQ(api.PlaceOf("d"), Place::kBackoff);

  // Backoff ends as for anybody.
  api.Run(4s);
  EXPECT_EQ(api.PlaceOf("d"), Place::kUnschedulable);
  EXPECT_EQ(AttemptsOf(api, "d"), 2);
}

// What is new is told at once, and to one of them.
TEST(QueueCases, AnEarlyAttemptThatFailsForAnotherReasonIsOne) {
  FakeApi api;
  api.Create(Node("n1", "500m"));
  for (const char* name : {"a", "b"}) api.Create(Pod(name, "1"));
  api.Settle();
  api.Create(Node("n2", "1").Taint("example.com/not-yet", "", "NoSchedule"));
  api.Settle();
  EXPECT_THAT(api.Condition("a")->message, HasSubstr("0/2 nodes are available"));
  EXPECT_EQ(AttemptsOf(api, "a"), 2);
  EXPECT_THAT(api.Condition("b")->message, HasSubstr("0/1 nodes are available"));
  EXPECT_EQ(AttemptsOf(api, "b"), 1);
}

TEST(QueueCases, APodThatIsSmallerIsTriedAlthoughAnotherFailed) {
  FakeApi api;
  api.Create(Node("n1", "1"));
  api.Create(Pod("first", "1").Node("n1"));
  api.Create(Pod("large", "1"));
  api.Create(Pod("small", "500m"));
  api.Settle();
  api.DeletePod("first");
  api.Create(Pod("half", "500m").Node("n1"));
  api.Settle();
  EXPECT_EQ(api.node_of("small"), "n1");
}

TEST(QueueCases, Case37TheSameResourceVersionAgainIsNoUpdate) {
  FakeApi api;
  api.Create(Node("n1", "500m"));
  api.Create(Pod("web"));
  api.Settle();
  ASSERT_EQ(api.PlaceOf("web"), Place::kUnschedulable);
  const auto small = Pod("web", "100m").Record();
  auto again = std::make_shared<api::PodRecord>(api.pod("web"));
  again->spec = small->spec;
  Outputs outputs;
  const std::vector<Input> inputs = {PodSeen{again}};
  api.scheduler().Step(inputs, outputs);
  EXPECT_EQ(api.PlaceOf("web"), Place::kUnschedulable);
  EXPECT_THAT(outputs.calls, IsEmpty());
  // The same with a version of its own is one.
  again = std::make_shared<api::PodRecord>(*again);
  again->resource_version = "4711";
  const std::vector<Input> newer = {PodSeen{again}};
  api.scheduler().Step(newer, outputs);
  ASSERT_THAT(outputs.calls, SizeIs(1));
  EXPECT_EQ(outputs.calls[0].type, dispatch::CallType::kPodBinding);
}

TEST(QueueCases, Case39WhatBecameOfAnEarlierLifeIsNothingToThePodOfTheSameName) {
  FakeApi api;
  api.Create(Node("n1", "2"));
  api.Create(Pod("web").Uid("one"));
  api.Step();
  ASSERT_THAT(api.waiting_calls(), SizeIs(1));
  const ApiCall bind = api.TakeCalls()[0];
  api.DeletePod("web");
  api.Create(Pod("web").Uid("two").Gate("example.com/later"));
  api.Step();
  api.Refuse(bind, "pods \"web\" not found");
  api.Run(30s);
  EXPECT_THAT(api.NotesFor("FailedScheduling"), IsEmpty());
  ASSERT_NE(api.Condition("web"), nullptr);
  EXPECT_EQ(api.Condition("web")->reason, api::kNotReadyForScheduling) << "of its own gate";
  EXPECT_TRUE(api.scheduler().queue().in_flight().empty());
  EXPECT_EQ(api.scheduler().cluster().pods().size(), 1u);
}

// Case 52: the flush after five minutes rescues a pod whatever the hints say.
TEST(QueueCases, Case52AMissedPodIsRescuedByTheFlush) {
  FakeApi api;
  api.Create(Node("n1", "500m"));
  api.Create(Pod("web"));
  api.Run(4min);
  EXPECT_THAT(api.NotesFor("FailedScheduling"), SizeIs(1));
  api.Run(2min);
  EXPECT_THAT(api.NotesFor("FailedScheduling"), SizeIs(2));
}

// A pod that is going while it waits for Permit loses its place, and is not tried again.
TEST(QueueCases, APodThatIsGoingIsNotTriedAgain) {
  FakeApi api(test::WithHold());
  api.Create(Node("n1"));
  api.Create(Pod("going").Annotation(test::kPermitWaitKey, "10m"));
  api.Run(1s);
  api.Create(Pod("next"));
  api.Run(1s);
  ASSERT_EQ(api.node_of("next"), "");
  api.Change("going", [](api::PodRecord& pod) { pod.deletion_timestamp = api::Time{.unix_seconds = 1}; });
  api.Run(15s);
  EXPECT_EQ(api.node_of("next"), "n1");
  EXPECT_EQ(api.node_of("going"), "");
  EXPECT_EQ(api.PlaceOf("going"), Place::kNowhere);
  EXPECT_THAT(api.NotesFor("FailedScheduling"),
              ::testing::Contains("skip schedule deleting pod: default/going"));
}

}  // namespace
}  // namespace berth::core
