#include "dispatch/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/dispatch_harness.h"
#include "dispatch/status_change.h"

// Numbers are those of the cases of the cycle chapter.
namespace berth::dispatch {
namespace {

using test::Harness;
using test::Pod;
using test::Scheduled;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(Dispatcher, Case52ABindingTakesThePlaceOfAPendingPatch) {
  Harness h;
  EXPECT_TRUE(h.Patch("patch", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}}));
  EXPECT_TRUE(h.Bind("bind", Pod("u1"), "n1"));
  EXPECT_THAT(h.ends, ElementsAre(Pair("patch", CallEnd::kOverwritten)));
  const auto started = h.StartAll();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_EQ(started[0].call->type, CallType::kPodBinding);
  EXPECT_EQ(started[0].call->node, "n1");
}

TEST(Dispatcher, Case52APatchIsSkippedBesideABindingPendingOrOnItsWay) {
  Harness h;
  EXPECT_TRUE(h.Bind("bind", Pod("u1"), "n1"));
  EXPECT_FALSE(h.Patch("pending", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}}));
  const auto started = h.StartAll();
  EXPECT_FALSE(h.Patch("on its way", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}}));
  EXPECT_THAT(h.ends, ElementsAre(Pair("pending", CallEnd::kSkipped), Pair("on its way", CallEnd::kSkipped)));
}

TEST(Dispatcher, Case53ABindingWaitsForThePatchThatIsOnItsWay) {
  Harness h;
  h.Patch("patch", Pod("u1"), {.nominated_node_name = "n1"});
  const auto patch = h.StartAll();
  h.Patch("parked", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}});
  h.Bind("bind", Pod("u1"), "n1");
  EXPECT_THAT(h.StartAll(), IsEmpty());
  EXPECT_THAT(h.ends, ElementsAre(Pair("parked", CallEnd::kOverwritten))) << "nobody waits for it in vain";
  h.Succeed(patch[0]);
  const auto bind = h.StartAll();
  ASSERT_THAT(bind, SizeIs(1));
  EXPECT_EQ(bind[0].call->type, CallType::kPodBinding);
}

TEST(Dispatcher, Case53AfterAFailedBindingTheStatusPatchIsAccepted) {
  Harness h;
  h.Bind("bind", Pod("u1"), "n1");
  const auto started = h.StartAll();
  bool accepted = false;
  Call bind{.type = CallType::kPodBinding, .pod = Pod("u2"), .node = "n1", .change = {}};
  bind.on_finish = [&](const CallOutcome& outcome) {
    EXPECT_EQ(outcome.end, CallEnd::kFailed);
    EXPECT_EQ(outcome.message, "refused");
    accepted = h.Patch("why", Pod("u2"), {.conditions = {Scheduled("SchedulerError")}});
  };
  ASSERT_TRUE(h.dispatcher.Add(std::move(bind)));
  for (const auto& next : h.StartAll()) h.Fail(next);
  EXPECT_TRUE(accepted) << "the owner hears of the end after the pod is free";
  h.Succeed(started[0]);
}

TEST(Dispatcher, Case54PatchesOfOnePodBecomeOneRequest) {
  Harness h;
  h.Patch("condition", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}});
  h.Patch("nomination", Pod("u1"), {.nominated_node_name = "n1"});
  const auto started = h.StartAll();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_EQ(started[0].call->change.nominated_node_name, "n1");
  ASSERT_NE(FindCondition(started[0].call->change, api::kPodScheduled), nullptr);
}

TEST(Dispatcher, Case54PatchesThatUndoEachOtherVanish) {
  Harness h;
  h.Patch("set", Pod("u1"), {.nominated_node_name = "n1"});
  EXPECT_THAT(h.Exposition(),
              HasSubstr("scheduler_pending_async_api_calls{call_type=\"pod_status_patch\"} 1"));
  EXPECT_FALSE(h.Patch("clear", Pod("u1"), {.nominated_node_name = ""}));
  EXPECT_THAT(h.ends, ElementsAre(Pair("set", CallEnd::kOverwritten), Pair("clear", CallEnd::kSkipped)));
  EXPECT_THAT(h.StartAll(), IsEmpty());
  EXPECT_THAT(h.Exposition(),
              HasSubstr("scheduler_pending_async_api_calls{call_type=\"pod_status_patch\"} 0"));
  EXPECT_EQ(h.dispatcher.pod_count(), 0);
}

TEST(Dispatcher, Case55APatchThatThePodShowsAlreadyIsNotSent) {
  Harness h;
  h.Patch("patch", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}});
  h.dispatcher.Sync(Pod("u1", "", {Scheduled("Unschedulable")}));
  EXPECT_THAT(h.ends, ElementsAre(Pair("patch", CallEnd::kSkipped)));
  EXPECT_EQ(h.dispatcher.pending_count(), 0);
}

TEST(Dispatcher, Case55CallsStartInTheOrderOfTheirPods) {
  Harness h;
  std::vector<std::string> order;
  for (int pod = 0; pod < 100; ++pod) {
    order.push_back("u" + std::to_string(pod));
    h.Patch("p", Pod(order.back()), {.nominated_node_name = "n1"});
  }
  h.Patch("again", Pod("u7"), {.nominated_node_name = "n2"});
  std::vector<std::string> started;
  for (const auto& next : h.StartAll()) started.push_back(next.call->pod->uid);
  EXPECT_EQ(started, order);
}

TEST(Dispatcher, NoMoreThanTheLimitAreOnTheirWay) {
  Harness h({.in_flight_max = 2});
  for (const char* uid : {"u1", "u2", "u3"}) h.Bind(uid, Pod(uid), "n1");
  const auto first = h.StartAll();
  EXPECT_THAT(first, SizeIs(2));
  h.Succeed(first[0]);
  EXPECT_THAT(h.StartAll(), SizeIs(1));
}

TEST(Dispatcher, AClearIsSentThoughThePodDoesNotShowTheNominationYet) {
  Harness h;
  h.Patch("nominate", Pod("u1"), {.nominated_node_name = "n1"});
  h.Succeed(h.StartAll()[0]);
  // The watch is behind: the pod still looks as if it had no nomination.
  EXPECT_TRUE(h.Patch("clear", Pod("u1"), {.nominated_node_name = ""}));
  const auto clear = h.StartAll();
  ASSERT_THAT(clear, SizeIs(1));
  EXPECT_TRUE(clear[0].needs_request);
  EXPECT_EQ(clear[0].nomination, "n1");
}

TEST(Dispatcher, WhatWasWrittenIsForgottenOnceThePodShowsIt) {
  Harness h;
  h.Patch("nominate", Pod("u1"), {.nominated_node_name = "n1"});
  h.Succeed(h.StartAll()[0]);
  EXPECT_EQ(h.dispatcher.pod_count(), 1);
  h.dispatcher.Sync(Pod("u1", "n1"));
  EXPECT_EQ(h.dispatcher.pod_count(), 0);
}

TEST(Dispatcher, ANominationThatOthersChangedIsWrittenAgain) {
  Harness h;
  h.Patch("nominate", Pod("u1"), {.nominated_node_name = "n1"});
  h.Succeed(h.StartAll()[0]);
  h.dispatcher.Sync(Pod("u1", "n2"));
  EXPECT_TRUE(h.Patch("again", Pod("u1", "n2"), {.nominated_node_name = "n1"}));
}

TEST(Dispatcher, WhatThePodWillSayIsKnownUntilItIsWritten) {
  Harness h;
  EXPECT_EQ(h.dispatcher.NominationOnItsWay("u1"), std::nullopt);
  h.Patch("nominate", Pod("u1"), {.nominated_node_name = "n1"});
  EXPECT_EQ(h.dispatcher.NominationOnItsWay("u1"), "n1");
  const auto first = h.StartAll();
  EXPECT_EQ(h.dispatcher.NominationOnItsWay("u1"), "n1");
  h.Patch("condition", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}});
  EXPECT_EQ(h.dispatcher.NominationOnItsWay("u1"), "n1");
  h.Patch("clear", Pod("u1"), {.nominated_node_name = ""});
  EXPECT_EQ(h.dispatcher.NominationOnItsWay("u1"), "");
  h.Succeed(first[0]);
  EXPECT_EQ(h.dispatcher.NominationOnItsWay("u1"), "");
  h.Succeed(h.StartAll()[0]);
  EXPECT_EQ(h.dispatcher.NominationOnItsWay("u1"), std::nullopt) << "from here on the pod itself says it";
}

TEST(Dispatcher, NothingIsLeftOfAPodThatIsGone) {
  Harness h;
  h.Patch("nominate", Pod("u1"), {.nominated_node_name = "n1"});
  h.Succeed(h.StartAll()[0]);
  h.Patch("condition", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}});
  h.dispatcher.Forget("u1");
  EXPECT_THAT(h.ends,
              ElementsAre(Pair("nominate", CallEnd::kSucceeded), Pair("condition", CallEnd::kCancelled)));
  EXPECT_EQ(h.dispatcher.pod_count(), 0);
  EXPECT_THAT(h.StartAll(), IsEmpty());
}

TEST(Dispatcher, NothingIsLeftOfAPodThatGoesWhileItsCallIsOnItsWay) {
  Harness h;
  h.Patch("nominate", Pod("u1"), {.nominated_node_name = "n1"});
  const auto started = h.StartAll();
  h.dispatcher.Forget("u1");
  h.Succeed(started[0]);
  EXPECT_EQ(h.dispatcher.pod_count(), 0);
}

// What was merged into another patch is that patch's business from then on, and so is its end.
TEST(Dispatcher, TheOwnerOfAMergedPatchHearsHowTheWholeEnds) {
  Harness h;
  h.Patch("condition", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}});
  h.Patch("nomination", Pod("u1"), {.nominated_node_name = "n1"});
  EXPECT_THAT(h.ends, IsEmpty());
  h.Fail(h.StartAll()[0]);
  EXPECT_THAT(h.ends, ElementsAre(Pair("condition", CallEnd::kFailed), Pair("nomination", CallEnd::kFailed)));
}

TEST(Dispatcher, TheOwnerOfAReplacedPatchHearsThatAtOnce) {
  Harness h;
  h.Patch("first", Pod("u1"), {.conditions = {Scheduled("Unschedulable", "a")}});
  h.Patch("second", Pod("u1"), {.conditions = {Scheduled("Unschedulable", "b")}});
  EXPECT_THAT(h.ends, ElementsAre(Pair("first", CallEnd::kOverwritten)));
}

TEST(Dispatcher, OneByOneEveryCallIsARequestOfItsOwn) {
  Harness h({.one_by_one = true});
  h.Patch("patch", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}});
  h.Patch("again", Pod("u1"), {.nominated_node_name = "n1"});
  h.Bind("bind", Pod("u1"), "n1");
  h.Patch("late", Pod("u1"), {.conditions = {Scheduled("SchedulerError")}});
  h.Bind("other", Pod("u2"), "n1");
  EXPECT_EQ(h.dispatcher.pending_count(), 5);
  auto started = h.StartAll();
  ASSERT_THAT(started, SizeIs(2)) << "one of each pod";
  EXPECT_EQ(started[1].call->pod->uid, "u2");
  h.Succeed(started[1]);
  std::vector<CallType> types;
  while (!started.empty()) {
    types.push_back(started[0].call->type);
    h.Succeed(started[0]);
    started = h.StartAll();
  }
  EXPECT_THAT(types, ElementsAre(CallType::kPodStatusPatch, CallType::kPodStatusPatch, CallType::kPodBinding,
                                 CallType::kPodStatusPatch));
  EXPECT_EQ(h.ends.size(), 5u);
  h.dispatcher.Forget("u1");
  EXPECT_EQ(h.dispatcher.pod_count(), 0);
  EXPECT_EQ(h.dispatcher.pending_count(), 0);
}

TEST(Dispatcher, OneByOneAPodThatIsGoneTakesItsCallsWithIt) {
  Harness h({.one_by_one = true});
  h.Patch("patch", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}});
  h.Bind("bind", Pod("u1"), "n1");
  h.dispatcher.Forget("u1");
  EXPECT_THAT(h.ends, ElementsAre(Pair("patch", CallEnd::kCancelled), Pair("bind", CallEnd::kCancelled)));
  EXPECT_EQ(h.dispatcher.pending_count(), 0);
  EXPECT_EQ(h.dispatcher.pod_count(), 0);
}

TEST(Dispatcher, OneByOneWhatThePodShowsAlreadyIsLeftOutAndTheNextGoesOn) {
  Harness h({.one_by_one = true});
  h.Patch("patch", Pod("u1"), {.conditions = {Scheduled("Unschedulable")}});
  h.Bind("bind", Pod("u1"), "n1");
  h.dispatcher.Sync(Pod("u1", "", {Scheduled("Unschedulable")}));
  EXPECT_THAT(h.ends, ElementsAre(Pair("patch", CallEnd::kSkipped)));
  const auto started = h.StartAll();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_EQ(started[0].call->type, CallType::kPodBinding);
}

TEST(Dispatcher, ResultsAreCountedByTypeAndResult) {
  Harness h;
  h.Bind("good", Pod("u1"), "n1");
  h.Bind("bad", Pod("u2"), "n1");
  const auto started = h.StartAll();
  h.Succeed(started[0]);
  h.Fail(started[1]);
  const std::string text = h.Exposition();
  EXPECT_THAT(
      text,
      HasSubstr("scheduler_async_api_call_execution_total{call_type=\"pod_binding\",result=\"success\"} 1"));
  EXPECT_THAT(
      text,
      HasSubstr("scheduler_async_api_call_execution_total{call_type=\"pod_binding\",result=\"error\"} 1"));
}

}  // namespace
}  // namespace berth::dispatch
