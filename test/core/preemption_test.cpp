#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "core/fake_api.h"
#include "framework/ongoing_preemptions.h"

// Making room, from the pod that fits nowhere to the node that it gets. Numbers are those of the cases of the
// cycle chapter; a test with another name keeps a scheduler from a fault that others had.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using dispatch::CallType;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> NamesOf(const std::vector<ApiCall>& calls) {
  std::vector<std::string> names;
  for (const ApiCall& call : calls) names.push_back(call.pod->name);
  return names;
}
TEST(Preemption, EvictsTheVictimAndTakesItsPlace) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  auto deletions = api.TakeCalls(CallType::kPodDeletion);
  ASSERT_THAT(NamesOf(deletions), ElementsAre("low"));
  ASSERT_THAT(deletions[0].change.conditions, SizeIs(1));
  const api::PodCondition& target = deletions[0].change.conditions[0];
  EXPECT_EQ(target.type, "DisruptionTarget");
  EXPECT_EQ(target.status, "True");
  EXPECT_EQ(target.reason, "PreemptionByScheduler");
  EXPECT_EQ(target.message, "default-scheduler: preempting to accommodate a higher priority pod");
  EXPECT_EQ(api.NominationOf("high"), "n1");

  api.AnswerPatches();
  EXPECT_EQ(api.pod("high").nominated_node_name, "n1");
  EXPECT_EQ(api.Condition("high")->message,
            "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on "
            "node n1, preempting 1 victims");
  EXPECT_THAT(api.NotesFor("Preempted"), IsEmpty()) << "not before it happened";
  api.Answer(deletions[0]);
  api.Run(2s);
  EXPECT_EQ(api.node_of("high"), "n1");
  EXPECT_FALSE(api.exists("low"));

  EXPECT_THAT(api.NotesFor("Preempted"), ElementsAre("Preempted by pod uid-high on node n1"));
  const auto told = std::ranges::find(api.events(), "Preempted", &cycle::PodEvent::reason);
  EXPECT_EQ(told->pod->name, "low");
  EXPECT_EQ(told->type, "Normal");
  EXPECT_EQ(told->action, "Preempting");
  ASSERT_NE(told->related, nullptr);
  EXPECT_EQ(told->related->name, "high");
}

TEST(Preemption, IsCounted) {
  FakeApi api;
  api.Create(Node("n1", "2"));
  api.Create(Pod("a", 1).Node("n1"));
  api.Create(Pod("b", 1).Node("n1"));
  api.Create(Pod("high", 10, "2"));
  api.Run(2s);
  EXPECT_EQ(api.node_of("high"), "n1");
  EXPECT_THAT(api.metrics(), HasSubstr("scheduler_preemption_attempts_total 1\n"));
  EXPECT_THAT(api.metrics(), HasSubstr("scheduler_preemption_victims_sum 2\n"));
  EXPECT_THAT(api.metrics(), HasSubstr("scheduler_preemption_victims_count 1\n"));
  EXPECT_THAT(api.metrics(),
              HasSubstr("scheduler_preemption_goroutines_execution_total{result=\"success\"} 1\n"));
}

TEST(Preemption, AttemptsThatFindNobodyCountToo) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("equal", 10).Node("n1"));
  api.Create(Pod("high", 10));
  api.Settle();
  EXPECT_EQ(api.Condition("high")->message,
            "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No "
            "preemption victims found for incoming pod.");
  EXPECT_THAT(api.metrics(), HasSubstr("scheduler_preemption_attempts_total 1\n"));
  EXPECT_THAT(api.metrics(), HasSubstr("scheduler_preemption_victims_count 0\n"));
}

TEST(Preemption, ABudgetDecidesWhoGoes) {
  FakeApi api;
  api::PodDisruptionBudget budget;
  budget.metadata.namespace_ = "default";
  budget.metadata.name = "keep";
  budget.spec.selector = berth::test::MakeSelector().Label("app", "db");
  api.Create(budget);
  api.Create(Node("n1", "2"));
  api.Create(Pod("low", 1).Label("app", "db").Node("n1"));
  api.Create(Pod("mid", 5).Node("n1"));
  api.Create(Pod("high", 10));
  api.Run(2s);
  EXPECT_EQ(api.node_of("high"), "n1");
  EXPECT_TRUE(api.exists("low"));
  EXPECT_FALSE(api.exists("mid"));
}

// ---------------------------------------------------------------------------------------------------------

// Case 64.
TEST(Preemption, Case64AfterAFailureTheLastVictimIsSparedAndThePodTriedAgain) {
  FakeApi api;
  api.Create(Node("n1", "3"));
  for (const char* name : {"a", "b", "c"}) api.Create(Pod(name, 1).Node("n1"));
  api.Create(Pod("high", 10, "3"));
  api.Step();
  auto deletions = api.TakeCalls(CallType::kPodDeletion);
  ASSERT_THAT(NamesOf(deletions), ElementsAre("a", "b")) << "the last one goes alone";
  api.AnswerPatches();
  api.Answer(deletions[0]);
  api.Refuse(deletions[1], "forbidden");
  api.Step();
  api.Step();
  // Tried again at once: it evicts those who are left.
  deletions = api.TakeCalls(CallType::kPodDeletion);
  EXPECT_THAT(NamesOf(deletions), ElementsAre("b"));
  EXPECT_TRUE(api.exists("c"));
  EXPECT_THAT(api.metrics(),
              HasSubstr("scheduler_preemption_goroutines_execution_total{result=\"error\"} 1\n"));
  for (const ApiCall& call : deletions) api.Answer(call);
  api.Run(5s);
  EXPECT_EQ(api.node_of("high"), "n1");
}

// Case 65.
TEST(Preemption, Case65VictimsThatAreGoingAreLeftAlone) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("going", 1).Node("n1").Terminating());
  api.Create(Pod("high", 10));
  api.Step();
  EXPECT_THAT(api.TakeCalls(CallType::kPodDeletion), IsEmpty());
  EXPECT_EQ(api.NominationOf("high"), "n1");
  const auto& cluster = api.scheduler().cluster();
  EXPECT_EQ(api.PlaceOf("high"), queue::Place::kUnschedulable);
  api.AnswerPatches();
  api.DeletePod("going");
  api.Run(2s);
  EXPECT_EQ(api.node_of("high"), "n1");
  EXPECT_EQ(cluster.nominator().node_count(), 0u);
}

TEST(Preemption, Case65AVictimThatIsGoneAlreadyIsNobodysEvent) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  const auto deletions = api.TakeCalls(CallType::kPodDeletion);
  ASSERT_THAT(deletions, SizeIs(1));
  api.AnswerPatches();
  api.DeletePod("low");  // somebody else was faster
  api.Answer(deletions[0]);
  api.Run(2s);
  EXPECT_THAT(api.NotesFor("Preempted"), IsEmpty());
  EXPECT_EQ(api.node_of("high"), "n1");
}

// Case 66.
TEST(Preemption, Case66WhileItsVictimsAreEvictedThePodIsNotTried) {
  FakeApi api;
  api.Create(Node("n1", "2"));
  api.Create(Pod("a", 1).Node("n1"));
  api.Create(Pod("b", 1).Node("n1"));
  api.Create(Pod("high", 10, "2"));
  api.Step();
  auto deletions = api.TakeCalls(CallType::kPodDeletion);
  api.AnswerPatches();
  // What would wake it does not: a node that is big enough.
  api.Create(Node("n2", "2"));
  for (int i = 0; i < 20; ++i) {
    api.clock().Advance(1s);
    api.Step();
  }
  EXPECT_EQ(api.PlaceOf("high"), queue::Place::kUnschedulable);
  EXPECT_THAT(api.TakeCalls(CallType::kPodDeletion), IsEmpty());
  api.Answer(deletions[0]);
  api.Run(2s);
  EXPECT_EQ(api.node_of("high"), "n1");
}

TEST(Preemption, Case66ThePodIsFreeWhenTheLastVictimIsGoneThoughTheAnswerIsMissing) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  const auto deletions = api.TakeCalls(CallType::kPodDeletion);
  api.AnswerPatches();
  api.DeletePod("low");
  api.Run(3s);
  EXPECT_EQ(api.node_of("high"), "n1");
  api.Answer(deletions[0]);
  api.Run(1s);
  EXPECT_EQ(api.scheduler().dispatcher().pod_count(), 0u);
}

// ---------------------------------------------------------------------------------------------------------

// A slow API server must not be asked for the same evictions again and again.
TEST(Preemption, AServerThatDoesNotAnswerIsNotAskedAgain) {
  FakeApi api;
  api.Create(Node("n1", "2"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("noise", 20).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  const auto deletions = api.TakeCalls(CallType::kPodDeletion);
  ASSERT_THAT(deletions, SizeIs(1));
  api.AnswerPatches();
  // Twenty minutes of events, with every flush of the queue.
  for (int i = 0; i < 240; ++i) {
    api.clock().Advance(5s);
    api.Change("noise", [&](api::PodRecord& pod) { pod.generation = i; });
    api.Create(Node("n1", i % 2 == 0 ? "2" : "2100m"));
    api.Step();
    EXPECT_THAT(api.TakeCalls(CallType::kPodDeletion), IsEmpty());
    api.AnswerPatches();
  }
  EXPECT_THAT(api.metrics(), HasSubstr("scheduler_preemption_attempts_total 1\n"));
  api.Answer(deletions[0]);
  api.Run(2s);
  EXPECT_EQ(api.node_of("high"), "n1");
}

// A pod that was held back while its victims went must hear of what happens later, and of flushes.
// An answer that overtakes the watch must not make the pod choose others in the place of those that are
// going.
TEST(Preemption, AVictimThatIsDeletedAndStillSeenIsWaitedFor) {
  FakeApi api;
  for (const char* const number : {"1", "2", "3"}) {
    api.Create(Node(std::string("n") + number));
    api.Create(Pod(std::string("low-") + number, 1).Node(std::string("n") + number));
  }
  api.Create(Pod("high", 10));
  api.Step();
  const auto deletions = api.TakeCalls(CallType::kPodDeletion);
  ASSERT_THAT(deletions, SizeIs(1));
  api.AnswerPatches();
  api.AnswerOnly(deletions[0]);
  // Others come and go, which is worth a try each time.
  for (int i = 0; i < 50; ++i) {
    api.clock().Advance(5s);
    api.Create(Node("n1", i % 2 == 0 ? "1100m" : "1"));
    api.Step();
    EXPECT_THAT(api.TakeCalls(CallType::kPodDeletion), IsEmpty());
    api.AnswerPatches();
  }
  const std::string node = api.NominationOf("high");
  EXPECT_NE(node, "");
  api.DeletePod(deletions[0].pod->name);
  api.Run(2s);
  EXPECT_EQ(api.node_of("high"), node);
  EXPECT_THAT(api.metrics(), HasSubstr("scheduler_preemption_attempts_total 1\n"));
}

TEST(Preemption, AVictimThatIsSeenToGoInItsOwnTimeFreesThePod) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  const auto deletions = api.TakeCalls(CallType::kPodDeletion);
  ASSERT_THAT(deletions, SizeIs(1));
  api.AnswerPatches();
  api.AnswerOnly(deletions[0]);
  api.Run(30s);
  EXPECT_EQ(api.node_of("high"), "");
  api.Change("low", [](api::PodRecord& pod) { pod.deletion_timestamp = api::Time(); });
  api.Create(Node("n2"));  // worth a try now, though not before
  api.Run(2s);
  EXPECT_EQ(api.node_of("high"), "n2");
}

TEST(Preemption, APodThatWasHeldBackIsTriedWhenItIsFree) {
  FakeApi api;
  api.SetGraceful(true);
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  const auto deletions = api.TakeCalls(CallType::kPodDeletion);
  api.AnswerPatches();
  api.Create(Node("n2").Unschedulable());  // by its size it might do: the pod is looked at, and held back
  api.Step();
  api.Answer(deletions[0]);
  api.Run(1s);
  EXPECT_EQ(api.node_of("high"), "");
  EXPECT_THAT(api.TakeCalls(CallType::kPodDeletion), IsEmpty());
  api.Create(Node("n3"));
  api.Run(15s);
  EXPECT_EQ(api.node_of("high"), "n3") << "it need not wait for its victim to go";
}

// It chose no other victims while one was going, and when that was gone nothing that it waited for had
// happened: it kept the node from others, on which it cannot be itself.
TEST(Preemption, AVictimsEndWakesWhoeverCountsOnItsNode) {
  FakeApi api;
  api.SetGraceful(true);
  api.Create(Node("n1", "2"));
  api.Create(Pod("low", 1, "2").Node("n1"));
  api.Create(Pod("high", 10, "2").HostPort(8080));
  api.Run(1s);
  ASSERT_EQ(api.pod("high").nominated_node_name, "n1");
  ASSERT_TRUE(api.pod("low").deletion_timestamp);
  api.Create(Pod("other", 10, "0").HostPort(8080).Node("n1"));
  api.Create(Node("n2", "4").Unschedulable());  // by its size it might do: the pod is tried
  api.Run(15s);
  ASSERT_THAT(api.MessageOf("high"), HasSubstr("not eligible due to a terminating pod"));
  ASSERT_THAT(api.MessageOf("high"), HasSubstr("free ports"));
  api.Create(Pod("small", 1, "1"));
  api.Run(15s);
  api.DeletePod("low");
  api.Run(30s);
  EXPECT_EQ(api.pod("high").nominated_node_name, "");
  EXPECT_EQ(api.node_of("small"), "n1");
}

TEST(Preemption, AFlushReachesAPodThatWasHeldBack) {
  FakeApi api;
  api.SetGraceful(true);
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  const auto deletions = api.TakeCalls(CallType::kPodDeletion);
  api.AnswerPatches();
  api.Create(Node("n2").Unschedulable());
  api.Step();
  api.Answer(deletions[0]);
  api.Run(1s);
  const auto attempts = [&] { return api.NotesFor("FailedScheduling").size(); };
  const std::size_t before = attempts();
  api.Run(11min);
  EXPECT_GT(attempts(), before) << "unschedulable for too long: it gets a try";
  EXPECT_EQ(
      api.Condition("high")->message,
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: not eligible "
      "due to a terminating pod on the nominated node.");
  EXPECT_EQ(api.pod("high").nominated_node_name, "n1") << "and keeps its nomination";
}

// The victim went while its eviction was under way, and the pod was looked at in between: nobody is left to
// wake it.
TEST(Preemption, APodIsNotForgottenWhenTheEventCameBeforeItWasFree) {
  FakeApi api;
  api.Create(Node("n1", "2"));
  api.Create(Pod("a", 1).Node("n1"));
  api.Create(Pod("b", 1).Node("n1"));
  api.Create(Pod("high", 10, "2"));
  api.Step();
  auto deletions = api.TakeCalls(CallType::kPodDeletion);
  ASSERT_THAT(NamesOf(deletions), ElementsAre("a"));
  api.AnswerPatches();
  // Both go by other hands; the one that berth has not come to yet first. The pod is still held back.
  api.DeletePod("b");
  api.Step();
  api.DeletePod("a");
  api.Step();
  EXPECT_EQ(api.node_of("high"), "");
  api.Answer(deletions[0]);
  api.Run(2s);
  EXPECT_EQ(api.node_of("high"), "n1");
}

// Two pods that want the same victim gone make one request.
TEST(Preemption, AVictimOfTwoIsDeletedOnce) {
  FakeApi api;
  api.Create(Node("n1", "2"));
  api.Create(Pod("low", 1, "2").Node("n1"));
  api.Create(Pod("first", 10));
  api.Create(Pod("second", 9));
  api.Step();
  const auto deletions = api.TakeCalls(CallType::kPodDeletion);
  EXPECT_THAT(NamesOf(deletions), ElementsAre("low"));
  api.AnswerPatches();
  for (const ApiCall& call : deletions) api.Answer(call);
  api.Run(5s);
  EXPECT_EQ(api.node_of("first"), "n1");
  EXPECT_EQ(api.node_of("second"), "n1");
  EXPECT_THAT(api.NotesFor("Preempted"),
              ::testing::UnorderedElementsAre("Preempted by pod uid-first on node n1",
                                              "Preempted by pod uid-second on node n1"));
}

// A victim that is just being bound is deleted after that, whichever the watch shows first.
TEST(Preemption, AVictimWhoseBindingIsOnItsWayIsDeletedAfterIt) {
  for (const bool seen_first : {false, true}) {
    FakeApi api;
    api.Create(Node("n1"));
    api.Create(Pod("low", 1));
    api.Step();
    const auto bindings = api.TakeCalls(CallType::kPodBinding);
    ASSERT_THAT(bindings, SizeIs(1));
    api.Create(Pod("high", 10));
    api.Step();
    EXPECT_THAT(api.TakeCalls(CallType::kPodDeletion), IsEmpty()) << "one request of a pod at a time";
    api.AnswerPatches();
    if (seen_first) {
      api.Change("low", [](api::PodRecord& pod) { pod.node_name = "n1"; });
      api.Step();
      api.Refuse(bindings[0], "the reply was lost");
    } else {
      api.Answer(bindings[0]);
    }
    api.Step();
    api.Run(5s);
    EXPECT_FALSE(api.exists("low")) << seen_first;
    EXPECT_EQ(api.node_of("high"), "n1") << seen_first;
  }
}

TEST(Preemption, APodThatIsDeletedWhileItsVictimsGoLeavesNothingBehind) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  api.DeletePod("high");
  api.Settle();
  EXPECT_FALSE(api.exists("low"));
  EXPECT_EQ(api.scheduler().dispatcher().pod_count(), 0u);
  EXPECT_EQ(api.scheduler().cluster().pods().size(), 0u);
  EXPECT_TRUE(api.scheduler().cluster().nominator().empty());
}

// ---------------------------------------------------------------------------------------------------------

TEST(Nomination, PodsOfLowerPriorityLoseTheNodeThatAHigherOneTakes) {
  FakeApi api;
  api.SetGraceful(true);
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("mid", 5));
  api.Settle();
  EXPECT_EQ(api.pod("mid").nominated_node_name, "n1");
  // The node is full of a pod that goes; the higher one makes the room its own.
  api.Create(Pod("high", 10));
  api.Settle();
  EXPECT_EQ(api.pod("high").nominated_node_name, "n1");
  api.DeletePod("low");
  api.Run(3s);
  EXPECT_EQ(api.node_of("high"), "n1");
  EXPECT_EQ(api.node_of("mid"), "");
  EXPECT_EQ(api.pod("mid").nominated_node_name, "");
  EXPECT_EQ(api.NominationOf("mid"), "");
}

TEST(Nomination, AHigherPodThatEvictsOthersClearsLowerNominations) {
  FakeApi api;
  api.Create(Node("n1", "2"));
  api.Create(Pod("old", 2).Node("n1"));
  api.Create(Pod("older", 2).Node("n1"));
  api.Create(Pod("mid", 5).NominatedNode("n1").Gate("example.com/later"));
  api.Create(Pod("high", 10, "2"));
  api.Step();
  EXPECT_EQ(api.NominationOf("high"), "n1");
  EXPECT_EQ(api.NominationOf("mid"), "") << "at once, not only when the server has heard of it";
  api.AnswerPatches();
  EXPECT_EQ(api.pod("mid").nominated_node_name, "");
}

// Case 48 and 51.
TEST(Nomination, Case51ANameThatDoesNotHelpIsClearedAfterTheAttempt) {
  FakeApi api;
  api.Create(Node("small", "500m"));
  api.Create(Pod("web", 1).NominatedNode("small"));
  api.Create(Pod("tiny", 0, "500m"));
  api.Run(3s);
  EXPECT_EQ(api.pod("web").nominated_node_name, "");
  EXPECT_EQ(api.node_of("tiny"), "small");
}

TEST(Nomination, Case51AHigherPodIgnoresALowerOnesNomination) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("waiting", 1).NominatedNode("n1").Gate("example.com/later"));
  api.Create(Pod("high", 10));
  api.Settle();
  EXPECT_EQ(api.node_of("high"), "n1");
}

// Case 50: a pod that is held at the gate keeps the place that it was promised.
TEST(Nomination, Case50AGatedPodReserves) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("waiting", 5).NominatedNode("n1").Gate("example.com/later"));
  api.Create(Pod("web", 5));
  api.Run(1s);
  EXPECT_EQ(api.node_of("web"), "");
}

TEST(Nomination, Case50AfterARestartEachPodGetsTheNodeThatItWasPromised) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Node("n2"));
  api.Create(Pod("b", 5).Created(1));
  api.Create(Pod("a", 5).NominatedNode("n1").Created(2));
  api.Run(3s);
  EXPECT_EQ(api.node_of("a"), "n1");
  EXPECT_EQ(api.node_of("b"), "n2");
}

// Clearing a nomination must not leave the pod nominated to a node without a name.
TEST(Nomination, AClearedNominationLeavesNothingBehind) {
  FakeApi api;
  api.Create(Node("n1", "500m"));
  api.Create(Pod("web", 1).NominatedNode("n1"));
  api.Settle();
  EXPECT_TRUE(api.scheduler().cluster().nominator().empty());
  api.DeletePod("web");
  api.DeleteNode("n1");
  api.Settle();
  EXPECT_TRUE(api.scheduler().cluster().IsEmpty());
}

}  // namespace
}  // namespace berth::core
