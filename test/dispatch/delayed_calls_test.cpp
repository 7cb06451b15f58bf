#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/dispatch_harness.h"
#include "dispatch/status_change.h"

// Calls that wait for a while before they are made: how a rejection before scheduling is reported. Numbers
// are those of the cases of the cycle chapter.
namespace berth::dispatch {
namespace {

using namespace std::chrono_literals;
using test::Harness;
using test::Pod;
using test::Scheduled;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr base::Duration kDelay = 5s;

api::PodStatusChange NotReady(std::string_view message) {
  return {.conditions = {Scheduled(api::kNotReadyForScheduling, message)}};
}

bool Reject(Harness& h, std::string name, std::string_view message, cluster::PodRecordRef pod = Pod("u1")) {
  return h.Add(std::move(name),
               {.pod = std::move(pod),
                .change = NotReady(message),
                .event = CallEvent{.type = "Warning",
                                   .reason = api::kNotReadyForScheduling,
                                   .action = "Scheduling",
                                   .note = std::string(message)}},
               kDelay);
}

bool Pass(Harness& h, std::string name, cluster::PodRecordRef pod = Pod("u1")) {
  return h.Patch(std::move(name), std::move(pod), {.remove_not_ready = true}, kDelay);
}

TEST(DelayedCalls, Case56TheSecondMessageGoesAtTheTimeOfTheFirst) {
  Harness h;
  Reject(h, "first", "waits for a");
  h.clock.Advance(3s);
  Reject(h, "second", "waits for b");
  h.clock.Advance(1999ms);
  EXPECT_THAT(h.StartAll(), IsEmpty());
  h.clock.Advance(1ms);
  const auto started = h.StartAll();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_EQ(FindCondition(started[0].call->change, api::kPodScheduled)->message, "waits for b");
  EXPECT_EQ(started[0].call->event->note, "waits for b");
}

TEST(DelayedCalls, Case56APodThatPassesInTimeIsNotReported) {
  Harness h;
  Reject(h, "reject", "waits");
  h.clock.Advance(2s);
  EXPECT_FALSE(Pass(h, "pass"));
  h.clock.Advance(10s);
  EXPECT_THAT(h.StartAll(), IsEmpty());
  EXPECT_EQ(h.dispatcher.NextDeadline(), std::nullopt);
  EXPECT_THAT(h.ends, ElementsAre(Pair("reject", CallEnd::kOverwritten), Pair("pass", CallEnd::kSkipped)));
}

TEST(DelayedCalls, AReportedRejectionIsTakenBack) {
  Harness h;
  const auto reported = Pod("u1", "", {Scheduled(api::kNotReadyForScheduling, "waits")});
  EXPECT_TRUE(Pass(h, "pass", reported));
  h.clock.Advance(kDelay);
  const auto started = h.StartAll();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_TRUE(started[0].call->change.remove_not_ready);
  EXPECT_THAT(started[0].call->change.conditions, IsEmpty());
}

TEST(DelayedCalls, OtherReasonsAreNeverTakenBack) {
  Harness h;
  EXPECT_FALSE(Pass(h, "pass", Pod("u1", "", {Scheduled("Unschedulable")})));
  EXPECT_FALSE(Pass(h, "gated", Pod("u2", "", {Scheduled("SchedulingGated")})));
}

TEST(DelayedCalls, Case56AnAttemptThatFailedIsReportedAtOnce) {
  Harness h;
  Reject(h, "reject", "waits");
  h.clock.Advance(1s);
  h.Patch("failed", Pod("u1"), {.conditions = {Scheduled("Unschedulable", "0/3 nodes")}});
  const auto started = h.StartAll();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_EQ(FindCondition(started[0].call->change, api::kPodScheduled)->reason, "Unschedulable");
  EXPECT_FALSE(started[0].call->event) << "the event told of a condition that is not written";
}

TEST(DelayedCalls, ANominationThatComesAlongTakesTheReportWithIt) {
  Harness h;
  Reject(h, "reject", "waits");
  h.Patch("nominate", Pod("u1"), {.nominated_node_name = "n1"});
  const auto started = h.StartAll();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_EQ(started[0].call->event->note, "waits");
}

TEST(DelayedCalls, Case56ABindingTakesThePlaceOfADelayedCall) {
  Harness h;
  Reject(h, "reject", "waits");
  h.clock.Advance(1s);
  h.Bind("bind", Pod("u1"), "n1");
  ASSERT_THAT(h.StartAll(), SizeIs(1));
  EXPECT_EQ(h.dispatcher.NextDeadline(), std::nullopt);
  EXPECT_THAT(h.ends, ElementsAre(Pair("reject", CallEnd::kOverwritten)));
}

TEST(DelayedCalls, Case56APodThatIsDeletedIsNotReported) {
  Harness h;
  Reject(h, "reject", "waits");
  h.dispatcher.Forget("u1");
  h.clock.Advance(10s);
  EXPECT_THAT(h.StartAll(), IsEmpty());
  EXPECT_THAT(h.ends, ElementsAre(Pair("reject", CallEnd::kCancelled)));
}

TEST(DelayedCalls, ACallBehindAnotherOnItsWayKeepsItsTime) {
  Harness h;
  h.Patch("nominate", Pod("u1"), {.nominated_node_name = "n1"});
  const auto first = h.StartAll();
  Reject(h, "reject", "waits");
  h.Succeed(first[0]);
  EXPECT_THAT(h.StartAll(), IsEmpty());
  EXPECT_EQ(h.dispatcher.NextDeadline(), h.clock.Now() + kDelay);
}

TEST(DelayedCalls, AnExplicitConditionBeatsTheRemoval) {
  api::PodStatusChange newer{.conditions = {Scheduled("Unschedulable")}};
  AddOlder(newer, {.remove_not_ready = true});
  EXPECT_FALSE(newer.remove_not_ready);
  api::PodStatusChange removal{.remove_not_ready = true};
  AddOlder(removal, {.conditions = {Scheduled("Unschedulable")}});
  EXPECT_FALSE(removal.remove_not_ready);
  EXPECT_THAT(removal.conditions, SizeIs(1));
}

}  // namespace
}  // namespace berth::dispatch
