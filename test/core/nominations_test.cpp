#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "core/fake_api.h"
#include "core/hold_profile.h"

// KEP-5278: a pod's status tells where it is going. The numbers are those of the cases of the cycle chapter,
// unless the queue's are said.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ApiCall TakeOnly(FakeApi& api) {
  EXPECT_THAT(api.waiting_calls(), SizeIs(1));
  return api.TakeCalls().at(0);
}

TEST(Nominations, Case48AnErrorClearsTheName) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("web").NominatedNode("n1"));
  api.Step();
  api.Refuse(TakeOnly(api), "the server is on fire");
  api.Settle();
  EXPECT_EQ(api.Condition("web")->reason, "SchedulerError");
  EXPECT_EQ(api.pod("web").nominated_node_name, "");
}

// The watch showed the name while the pod was being bound. What berth knows of the pod must not be older than
// that, or the clear looks needless and the name stays for ever.
TEST(Nominations, ANameThatWasSeenDuringTheBindingIsClearedWhenTheBindingFails) {
  FakeApi api(test::WithHold());
  api.Create(Node("n1"));
  api.Create(Pod("web").Annotation(test::kPreBindWaitKey, "10s"));
  api.Run(5s);
  ASSERT_EQ(api.pod("web").nominated_node_name, "n1");
  api.Run(4s);
  api.clock().Advance(1s);
  api.Step();
  const ApiCall bind = TakeOnly(api);
  ASSERT_EQ(bind.type, dispatch::CallType::kPodBinding);
  api.Refuse(bind, "no");
  api.Settle();
  EXPECT_EQ(api.Condition("web")->reason, "SchedulerError");
  EXPECT_EQ(api.pod("web").nominated_node_name, "");
}

// The same for everything else that a pod says: it waits again as it is, not as it was.
TEST(Nominations, APodThatChangedDuringItsBindingWaitsAsItIsNow) {
  FakeApi api(test::WithHold());
  api.Create(Node("n1"));
  api.Create(Node("n2").Label("disk", "fast"));
  api.Create(
      Pod("web").NodeSelector("kubernetes.io/hostname", "n1").Annotation(test::kPreBindWaitKey, "10s"));
  api.Run(5s);
  const auto fast = Pod("web").NodeSelector("disk", "fast").Record();
  api.Change("web", [&](api::PodRecord& pod) {
    pod.spec = fast->spec;
    pod.annotations = {};
  });
  api.Run(4s);
  api.clock().Advance(1s);
  api.Step();
  api.Refuse(TakeOnly(api), "no");
  api.Run(5s);
  EXPECT_EQ(api.node_of("web"), "n2");
}

// Race of section 9.3: the watch is behind when the attempt fails.
TEST(Nominations, ANameThatIsNotSeenYetIsClearedToo) {
  FakeApi api(test::WithHold());
  api.Create(Node("n1"));
  api.Create(Pod("web").Annotation(test::kPermitWaitKey, "10m"));
  api.Step();
  const ApiCall nominate = TakeOnly(api);
  ASSERT_EQ(nominate.change.nominated_node_name, "n1");
  // Written, and not seen.
  api.AnswerUnseen(nominate);
  api.Step();
  api.Create(Pod("high", 10));
  api.Step();
  bool cleared = false;
  for (int i = 0; i < 5; ++i) {
    for (const ApiCall& call : api.TakeCalls()) {
      if (call.pod->name == "web" && call.change.nominated_node_name == "") {
        cleared = true;
        EXPECT_EQ(call.nomination, "n1") << "the patch starts from what was written";
      }
      api.Answer(call);
    }
    api.Step();
  }
  EXPECT_TRUE(cleared);
}

TEST(Nominations, Case49AnUpdateRightAfterTheNominationKeepsTheReservation) {
  FakeApi api;
  api.SetGraceful(true);
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  // The attempt nominated it; the status does not say so yet, and the pod changes otherwise.
  const auto& nominator = api.scheduler().cluster().nominator();
  ASSERT_FALSE(nominator.empty());
  api.waiting_calls().clear();
  api.Change("high", [](api::PodRecord& pod) { pod.generation = 7; });
  api.Step();
  EXPECT_FALSE(nominator.empty());
}

// Its status said n2 once, and what the watch tells is from then; that it goes to n1 is being written.
TEST(Nominations, AnOldStatusDoesNotTakeAwayThePlaceThatIsBeingWritten) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Node("n2").Unschedulable());
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10).NominatedNode("n2"));
  api.Step();
  ASSERT_EQ(api.NominationOf("high"), "n1");
  api.Change("high", [](api::PodRecord& pod) { pod.finalizers = nullptr; });
  api.Step();
  EXPECT_EQ(api.NominationOf("high"), "n1");
  api.Change("high", [](api::PodRecord& pod) { pod.nominated_node_name = ""; });
  api.Step();
  EXPECT_EQ(api.NominationOf("high"), "n1");
  api.DeletePod("low");
  api.Create(Pod("equal", 10));
  api.Run(20s);
  EXPECT_EQ(api.node_of("high"), "n1");
  EXPECT_EQ(api.node_of("equal"), "");
}

// It is tried again while half of its victims are still going: that is no reason to give its place away.
TEST(Nominations, AnAttemptWithNothingToSayLeavesThePlaceThatIsBeingWritten) {
  FakeApi api;
  api.SetGraceful(true);
  api.Create(Node("n1"));
  api.Create(Pod("first", 1, "500m").Node("n1"));
  api.Create(Pod("second", 1, "500m").Node("n1"));
  api.Create(Pod("high", 10));
  for (int i = 0; i < 3; ++i) {
    api.Step();
    for (const ApiCall& call : api.TakeCalls(dispatch::CallType::kPodDeletion)) api.Answer(call);
  }
  ASSERT_EQ(api.NominationOf("high"), "n1");
  api.clock().Advance(10s);
  api.DeletePod("first");
  api.Step();
  api.Step();
  const auto& scheduler = api.scheduler();
  const auto* const params = scheduler.queue().Find(scheduler.cluster().pods().Find("default", "high"));
  ASSERT_NE(params, nullptr);
  EXPECT_EQ(params->attempts, 2);
  EXPECT_EQ(api.NominationOf("high"), "n1");
  api.Create(Pod("equal", 10, "500m"));
  api.Step();
  EXPECT_EQ(api.TakeCalls(dispatch::CallType::kPodBinding).size(), 0U);
}

// Case 49, and case 34 of the queue: who loses a place makes room for pods of at most its priority; who gets
// one for nobody.
TEST(Nominations, Case49AChangedNameWakesPodsOfAtMostItsPriority) {
  for (const char* to : {"n2", ""}) {
    FakeApi api;
    api.Create(Node("n1"));
    api.Create(Pod("holder", 100).NominatedNode("n1").Gate("example.com/later"));
    api.Create(Pod("equal", 100));
    api.Run(1s);
    ASSERT_EQ(api.node_of("equal"), "") << "the place is reserved";
    api.Change("holder", [&](api::PodRecord& pod) { pod.nominated_node_name = to; });
    api.Run(3s);
    EXPECT_EQ(api.node_of("equal"), "n1") << "to '" << to << "'";
  }
}

TEST(Nominations, Case49DeletionOfTheHolderWakesThemToo) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("holder", 100).NominatedNode("n1").Gate("example.com/later"));
  api.Create(Pod("equal", 100));
  api.Run(1s);
  ASSERT_EQ(api.node_of("equal"), "");
  api.DeletePod("holder");
  api.Run(3s);
  EXPECT_EQ(api.node_of("equal"), "n1");
}

TEST(Nominations, Case49GainingANameWakesNobody) {
  FakeApi api;
  api.Create(Node("n1", "500m"));
  api.Create(Pod("waits", 100));
  api.Create(Pod("holder", 100).Gate("example.com/later"));
  api.Run(3s);
  const std::size_t attempts = api.NotesFor("FailedScheduling").size();
  ASSERT_EQ(attempts, 1u);
  api.Change("holder", [](api::PodRecord& pod) { pod.nominated_node_name = "n1"; });
  api.Run(30s);
  EXPECT_EQ(api.NotesFor("FailedScheduling").size(), attempts);
}

// Section 10: a restart between the nomination and the binding. Others compete for the node, and have been
// waiting longer.
TEST(Nominations, Case50AfterARestartThePodThatWasOnItsWayGetsItsNode) {
  FakeApi before(test::WithHold());
  before.Create(Node("n1"));
  before.Create(Pod("going", 5).Annotation(test::kPreBindWaitKey, "10m"));
  before.Run(3s);
  ASSERT_EQ(before.pod("going").nominated_node_name, "n1");

  FakeApi after(test::WithHold());
  after.Create(Node("n1"));
  after.scheduler().SetDeciding(false);
  for (int i = 0; i < 5; ++i) after.Create(Pod("rival" + std::to_string(i), 5));
  after.CreateRecord(before.pod("going"));
  after.Step();
  after.scheduler().SetDeciding(true);
  after.Run(11min);
  EXPECT_EQ(after.node_of("going"), "n1");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(after.node_of("rival" + std::to_string(i)), "");
}

TEST(Nominations, ANodeThatNeverComesLeavesNothingBehind) {
  FakeApi api;
  api.Create(Node("n1", "500m"));
  api.Create(Pod("web").NominatedNode("nowhere"));
  api.Settle();
  EXPECT_EQ(api.pod("web").nominated_node_name, "") << "cleared by the attempt that failed";
  api.Create(Pod("gated").NominatedNode("nowhere").Gate("example.com/later"));
  api.Settle();
  EXPECT_FALSE(api.scheduler().cluster().nominator().empty());
  api.DeletePod("gated");
  api.Settle();
  EXPECT_TRUE(api.scheduler().cluster().nominator().empty());
}

// Section 10: written again when the pod goes elsewhere after all.
TEST(Nominations, ANameFromOutsideIsReplacedByThePlan) {
  FakeApi api(test::WithHold());
  api.Create(Node("n1", "500m"));
  api.Create(Node("n2"));
  api.Create(Pod("web").NominatedNode("n1").Annotation(test::kPreBindWaitKey, "30s"));
  api.Run(5s);
  EXPECT_EQ(api.pod("web").nominated_node_name, "n2");
}

TEST(Nominations, NoRequestIfTheNameIsRightAlready) {
  FakeApi api(test::WithHold());
  api.Create(Node("n1"));
  api.Create(Pod("web").NominatedNode("n1").Annotation(test::kPreBindWaitKey, "30s"));
  api.Step();
  EXPECT_THAT(api.waiting_calls(), IsEmpty());
}

}  // namespace
}  // namespace berth::core
