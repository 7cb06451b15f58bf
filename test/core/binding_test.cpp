#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "core/fake_api.h"
#include "core/hold_profile.h"
#include "framework/profile.h"
#include "plugins/all_plugins.h"

// Pods that wait on the way to their node, with the plugin that is made for that. Numbers are those of the
// cases of the cycle chapter.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using berth::test::MakePod;
using dispatch::CallType;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WaitingOnTheWay : public testing::Test {
 protected:
  FakeApi api_{test::WithHold()};
};

TEST_F(WaitingOnTheWay, AHeldPodIsTriedWhenItsAnnotationGoes) {
  api_.Create(Node("n1"));
  api_.Create(Pod("web").Annotation("berth.dev/hold", "the database is being moved"));
  api_.Run(60s);
  EXPECT_EQ(api_.node_of("web"), "");
  ASSERT_NE(api_.Condition("web"), nullptr);
  EXPECT_EQ(api_.Condition("web")->message, "the database is being moved");
  EXPECT_EQ(api_.Condition("web")->reason, "NotReadyForScheduling");
  api_.Change("web", [](api::PodRecord& pod) { pod.annotations = {}; });
  api_.Run(1s);
  EXPECT_EQ(api_.node_of("web"), "n1");
}

TEST_F(WaitingOnTheWay, PermitLetsThePodGoAfterItsTime) {
  api_.Create(Node("n1"));
  api_.Create(Pod("web").Annotation("berth.dev/permit-wait", "30s"));
  api_.Run(29s);
  EXPECT_EQ(api_.node_of("web"), "");
  EXPECT_EQ(api_.pod("web").nominated_node_name, "n1") << "case 37: the plan is told";
  api_.Run(2s);
  EXPECT_EQ(api_.node_of("web"), "n1");
}

// Case 35: longer than a quarter of an hour nobody waits, also one that would be allowed then.
TEST_F(WaitingOnTheWay, Case35NobodyWaitsLongerThanFifteenMinutes) {
  api_.Create(Node("n1"));
  api_.Create(Pod("web").Annotation("berth.dev/permit-wait", "20m"));
  api_.Run(14min);
  EXPECT_EQ(api_.node_of("web"), "");
  api_.Run(2min);
  EXPECT_EQ(api_.node_of("web"), "n1");
}

TEST_F(WaitingOnTheWay, Case37WithWorkToDoTheNodeIsToldBeforePreBind) {
  api_.Create(Node("n1"));
  api_.Create(Pod("web").Annotation("berth.dev/prebind-wait", "30s"));
  api_.Run(29s);
  EXPECT_EQ(api_.node_of("web"), "");
  EXPECT_EQ(api_.pod("web").nominated_node_name, "n1");
  api_.Run(2s);
  EXPECT_EQ(api_.node_of("web"), "n1");
}

TEST_F(WaitingOnTheWay, Case37WithoutWorkNothingIsTold) {
  api_.Create(Node("n1"));
  api_.Create(Pod("web"));
  api_.Step();
  ASSERT_EQ(api_.waiting_calls().size(), 1u);
  EXPECT_EQ(api_.waiting_calls()[0].type, CallType::kPodBinding);
}

// Case 43.
TEST_F(WaitingOnTheWay, Case43APodThatIsDeletedWhileItWaitsLeavesItsPlace) {
  for (const char* annotation : {"berth.dev/permit-wait", "berth.dev/prebind-wait"}) {
    FakeApi api(test::WithHold());
    api.Create(Node("n1"));
    api.Create(Pod("first").Annotation(annotation, "10m"));
    api.Run(1s);
    api.Create(Pod("second"));
    api.Run(1s);
    EXPECT_EQ(api.node_of("second"), "");
    api.DeletePod("first");
    api.Run(15s);
    EXPECT_EQ(api.node_of("second"), "n1") << annotation;
    EXPECT_EQ(api.scheduler().cluster().pods().size(), 1u) << "and does not come back: " << annotation;
  }
}

// Case 64: a victim that is not bound yet costs no request.
TEST_F(WaitingOnTheWay, Case64AVictimThatWaitsAtPermitGivesWayWithoutARequest) {
  api_.Create(Node("n1"));
  api_.Create(Pod("low", 1).Annotation("berth.dev/permit-wait", "10m"));
  api_.Run(1s);
  EXPECT_EQ(api_.pod("low").nominated_node_name, "n1");
  api_.Create(Pod("high", 10));
  api_.Run(1s);
  EXPECT_EQ(api_.node_of("high"), "n1");
  EXPECT_TRUE(api_.exists("low"));
  EXPECT_EQ(api_.pod("low").nominated_node_name, "");
  EXPECT_THAT(api_.NotesFor("Preempted"),
              ElementsAre("Preempted by pod uid-high on node n1 (in kube-scheduler memory)."));
  EXPECT_THAT(api_.NotesFor("FailedScheduling"), ::testing::Contains("waiting on permit for pod: preempted"));
}

// Case 44.
TEST_F(WaitingOnTheWay, Case44AVictimInPreBindIsStoppedAndSaysWhy) {
  api_.Create(Node("n1"));
  api_.Create(Pod("low", 1).Annotation("berth.dev/prebind-wait", "10m"));
  api_.Run(1s);
  EXPECT_EQ(api_.pod("low").nominated_node_name, "n1");
  api_.Create(Pod("high", 10));
  api_.Run(1s);
  EXPECT_EQ(api_.node_of("high"), "n1");
  EXPECT_TRUE(api_.exists("low"));
  EXPECT_EQ(api_.pod("low").nominated_node_name, "");
  EXPECT_THAT(api_.NotesFor("FailedScheduling"),
              ::testing::Contains("running PreBind plugin \"ExampleHold\": preempted by DefaultPreemption"));
  EXPECT_THAT(api_.NotesFor("Preempted"),
              ElementsAre("Preempted by pod uid-high on node n1 (in kube-scheduler memory)."));
}

// A victim that gives way without a request wakes nobody by being deleted: the pod that it gave way to must
// be free by then, and must be tried.
TEST_F(WaitingOnTheWay, APodIsTriedAtOnceWhenItsLastVictimGaveWay) {
  api_.Create(Node("n1", "2"));
  api_.Create(Pod("bound", 2).Node("n1"));
  api_.Create(Pod("waits", 1).Annotation("berth.dev/permit-wait", "10m"));
  api_.Run(1s);
  auto high = MakePod("high").SchedulerName("default-scheduler").Priority(10).Cpu("2");
  api_.Create(high);
  api_.Settle();
  EXPECT_EQ(api_.node_of("high"), "n1") << "without any time passing";
}

TEST_F(WaitingOnTheWay, ABadDurationIsTold) {
  api_.Create(Node("n1"));
  api_.Create(Pod("web").Annotation("berth.dev/permit-wait", "soon"));
  api_.Run(10s);
  EXPECT_EQ(api_.node_of("web"), "");
  ASSERT_NE(api_.Condition("web"), nullptr);
  EXPECT_EQ(api_.Condition("web")->message,
            "annotation berth.dev/permit-wait: time: invalid duration \"soon\"");
}

}  // namespace
}  // namespace berth::core
