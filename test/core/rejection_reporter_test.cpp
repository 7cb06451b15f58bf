#include "core/rejection_reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/fake_api.h"
#include "core/hold_profile.h"

// KEP-5501: why a pod is not even tried, in its status, from what a PreEnqueue plugin says to the request.
// The numbers of the cases are those of the queue's specification.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using berth::test::MakePod;
using framework::ReportModel;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// One pod, with everything between the plugin and the API server; what the scheduler does around it is left
// out.
class Told : public testing::Test {
 protected:
  void SetUp() override { Set(MakePod("a")); }
  void Set(const berth::test::PodBuilder& pod) {
    pod_ = cluster_.pods().Version(*cluster_.SetPending(pod.Record()));
    dispatcher_.Sync(cluster_.pods().facts(pod_.id).record);
  }
  static api::PodCondition Condition(std::string reason, std::string message) {
    api::PodCondition condition;
    condition.type = api::kPodScheduled;
    condition.status = "False";
    condition.reason = std::move(reason);
    condition.message = std::move(message);
    return condition;
  }
  void Reject(const std::string& message, const ReportModel& model = {}, const std::string& result = "") {
    const framework::Status status = framework::Status::Unresolvable(message).WithPlugin("plugin");
    reports_.OnRejected(pod_, {.status = status, .model = model, .result_message = result});
    reporter_.TellAll();
  }
  void Pass() {
    reports_.OnPassed(pod_);
    reporter_.TellAll();
  }
  // Another part of the scheduler writes.
  void Patch(api::PodStatusChange change) {
    dispatch::Call call{.type = dispatch::CallType::kPodStatusPatch,
                        .pod = cluster_.pods().facts(pod_.id).record,
                        .change = std::move(change)};
    static_cast<void>(dispatcher_.Add(std::move(call)));
  }
  // What is requested at that time: "reason: message", "removed", "node n1", "bound".
  std::vector<std::string> At(base::Duration time) {
    clock_.SetTo(base::TimePoint(time));
    std::vector<std::string> requests;
    while (const auto started = dispatcher_.Start()) {
      if (!started->needs_request) {
        dispatcher_.Finish(started->id, {});
        continue;
      }
      const dispatch::Call& call = *started->call;
      if (call.event) events_.push_back(call.event->reason + ": " + call.event->note);
      for (const auto& condition : call.change.conditions)
        requests.push_back(condition.reason + ": " + condition.message);
      if (call.change.remove_not_ready) requests.push_back("removed");
      if (call.change.nominated_node_name) requests.push_back("node " + *call.change.nominated_node_name);
      if (call.type == dispatch::CallType::kPodBinding) requests.push_back("bound");
      started_ = started->id;
      change_ = call.change;
    }
    return requests;
  }
  // As an API server answers: the pod shows it, and then the answer comes.
  void Accept() {
    auto pod = MakePod("a");
    for (const auto& condition : change_.conditions) pod.Condition(condition);
    Set(pod);
    dispatcher_.Finish(started_, {});
    reporter_.TellAll();
  }
  void Refuse() {
    dispatcher_.Finish(started_, base::Fail("500"));
    reporter_.TellAll();
  }

  base::VirtualClock clock_{base::TimePoint()};
  base::MetricRegistry registry_;
  dispatch::DispatchMetrics metrics_{registry_};
  cluster::Cluster cluster_;
  dispatch::Dispatcher dispatcher_{{}, {.clock = clock_, .metrics = metrics_}};
  queue::RejectionReports reports_{true, cluster_};
  std::vector<std::string> events_;
  RejectionReporter reporter_{
      {reports_, cluster_, dispatcher_},
      [this](const auto&, const dispatch::CallEvent& event) { events_.push_back("now: " + event.note); }};
  queue::RejectionReports::PodRef pod_;
  dispatch::CallId started_;
  api::PodStatusChange change_;
};

TEST_F(Told, Case55OneRequestAndOneEventAfterFiveQuietSeconds) {
  Reject("M");
  EXPECT_EQ(dispatcher_.NextDeadline(), base::TimePoint(5s));
  EXPECT_THAT(At(4999ms), IsEmpty());
  EXPECT_THAT(At(5s), ElementsAre("NotReadyForScheduling: M"));
  EXPECT_THAT(events_, ElementsAre("NotReadyForScheduling: M"));
  Accept();
  EXPECT_THAT(At(60s), IsEmpty());
}

TEST_F(Told, Case55NothingIfThePodPassesMeanwhile) {
  Reject("M");
  At(2s);
  Pass();
  EXPECT_THAT(At(60s), IsEmpty());
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(Told, Case56WhatWasSaidLastAtTheTimeOfTheFirst) {
  Reject("M1");
  At(3s);
  Reject("M2");
  EXPECT_THAT(At(4999ms), IsEmpty());
  EXPECT_THAT(At(5s), ElementsAre("NotReadyForScheduling: M2"));
  EXPECT_THAT(events_, ElementsAre("NotReadyForScheduling: M2"));
  Accept();
  At(20s);
  Reject("M3");
  EXPECT_THAT(At(24999ms), IsEmpty());
  EXPECT_THAT(At(25s), ElementsAre("NotReadyForScheduling: M3"));
  Accept();
  Reject("M3");
  EXPECT_THAT(At(60s), IsEmpty());
}

TEST_F(Told, Case57TakenBackFiveSecondsAfterThePass) {
  Reject("M");
  At(5s);
  Accept();
  Pass();
  EXPECT_THAT(At(9999ms), IsEmpty());
  EXPECT_THAT(At(10s), ElementsAre("removed"));
}

TEST_F(Told, Case57NotTakenBackIfThePodSaysSomethingElseByThen) {
  Reject("M");
  At(5s);
  Accept();
  Pass();
  Set(MakePod("a").Condition(Condition("Unschedulable", "0/1 nodes are available")));
  EXPECT_THAT(At(60s), IsEmpty());
}

TEST_F(Told, Case57StaysIfThePodIsRejectedAgainInTime) {
  Reject("M");
  At(5s);
  Accept();
  Pass();
  At(7s);
  Reject("M");
  EXPECT_THAT(At(60s), IsEmpty());
  EXPECT_THAT(events_, SizeIs(1));
}

TEST_F(Told, Case58WhatTheApiServerSaidIsNeitherRepeatedNorRemoved) {
  const std::string message = "Scheduling is blocked due to non-empty scheduling gates";
  Set(MakePod("a").Condition(Condition("SchedulingGated", message)));
  Reject(message);
  EXPECT_THAT(At(30s), IsEmpty());
  Pass();
  EXPECT_THAT(At(60s), IsEmpty());
}

TEST_F(Told, Case59AFailedAttemptTakesThePlaceOfAReportThatWaits) {
  Reject("M");
  At(1s);
  Patch({.conditions = {Condition("Unschedulable", "0/1")}, .nominated_node_name = "n1"});
  EXPECT_THAT(At(1s), ElementsAre("Unschedulable: 0/1", "node n1"));
  Accept();
  EXPECT_THAT(At(60s), IsEmpty());
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(Told, Case59ABindingTakesThePlaceOfAReportThatWaits) {
  Reject("M");
  dispatch::Call bind{.type = dispatch::CallType::kPodBinding,
                      .pod = cluster_.pods().facts(pod_.id).record,
                      .node = "n1",
                      .change = {}};
  ASSERT_TRUE(dispatcher_.Add(std::move(bind)).has_value());
  EXPECT_THAT(At(60s), ElementsAre("bound"));
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(Told, Case60ARefusedReportIsToldAgainUntilItIsStored) {
  Reject("M");
  At(5s);
  Refuse();
  Reject("M");
  EXPECT_THAT(At(9s), IsEmpty());
  EXPECT_THAT(At(10s), ElementsAre("NotReadyForScheduling: M"));
  Refuse();
  EXPECT_THAT(At(15s), ElementsAre("NotReadyForScheduling: M"));
  Accept();
  EXPECT_THAT(At(600s), IsEmpty());
  EXPECT_THAT(events_, ElementsAre("NotReadyForScheduling: M")) << "once";
}

TEST_F(Told, Case60ARefusedReportIsForgottenOnceThePodPassed) {
  Reject("M");
  At(5s);
  Refuse();
  Pass();
  EXPECT_THAT(At(60s), IsEmpty());
}

TEST_F(Told, ARefusedRemovalIsTriedAgain) {
  Reject("M");
  At(5s);
  Accept();
  Pass();
  EXPECT_THAT(At(10s), ElementsAre("removed"));
  Refuse();
  EXPECT_THAT(At(15s), ElementsAre("removed"));
}

// The report went along with a patch of somebody else, whose failure is the report's, too.
TEST_F(Told, AReportThatWentAlongWithAnotherPatchIsToldAgainIfThatFails) {
  Reject("M");
  Patch({.nominated_node_name = ""});
  Set(MakePod("a").NominatedNode("n1"));
  Patch({.nominated_node_name = ""});
  EXPECT_THAT(At(1s), ElementsAre("NotReadyForScheduling: M", "node "));
  Refuse();
  EXPECT_THAT(At(6s), ElementsAre("NotReadyForScheduling: M"));
}

TEST_F(Told, TheNextReportWaitsForTheOneOnItsWayAndForItsOwnTime) {
  Reject("M1");
  ASSERT_THAT(At(5s), SizeIs(1));
  Reject("M2");
  EXPECT_THAT(At(12s), IsEmpty());
  Accept();
  EXPECT_THAT(At(12s), ElementsAre("NotReadyForScheduling: M2"));
  EXPECT_THAT(events_, ElementsAre("NotReadyForScheduling: M1", "NotReadyForScheduling: M2"));
}

TEST_F(Told, AnotherPatchWhileAReportIsOnItsWayDoesNotRepeatItsEvent) {
  Reject("M");
  ASSERT_THAT(At(5s), SizeIs(1));
  Patch({.nominated_node_name = "n1"});
  Accept();
  EXPECT_THAT(At(6s), ::testing::Contains("node n1"));
  EXPECT_THAT(events_, SizeIs(1));
}

TEST_F(Told, ADeletedPodIsNotReported) {
  Reject("M");
  dispatcher_.Forget(cluster_.pods().record(pod_.id).uid);
  reports_.OnDeleted(pod_);
  EXPECT_THAT(At(60s), IsEmpty());
  EXPECT_EQ(dispatcher_.pod_count(), 0u);
}

TEST_F(Told, Case61ExplicitReportsGoOutAtOnceAndOnlyWithAMessage) {
  const ReportModel model = ReportModel::ExplicitImmediate();
  Reject("in the status", model, "");
  EXPECT_THAT(At(10s), IsEmpty());
  Reject("in the status", model, "M");
  EXPECT_THAT(events_, ElementsAre("now: M"));
  EXPECT_THAT(At(10s), ElementsAre("NotReadyForScheduling: M"));
  Accept();
  Reject("in the status", model, "");
  EXPECT_THAT(At(60s), IsEmpty()) << "silence leaves the old words";
  Pass();
  EXPECT_THAT(At(60s), ElementsAre("removed"));
  EXPECT_THAT(events_, SizeIs(1));
}

TEST_F(Told, AnImmediateReportTakesADelayedOneWithIt) {
  Reject("slow");
  At(1s);
  Reject("fast", ReportModel::ImplicitImmediate());
  EXPECT_THAT(At(1s), ElementsAre("NotReadyForScheduling: fast"));
  Accept();
  EXPECT_THAT(At(60s), IsEmpty());
}

// The whole scheduler, as a user sees it.
class HeldPods : public testing::Test {
 protected:
  std::string Shown() {
    const api::PodCondition* condition = api_.Condition("web");
    return condition == nullptr ? "" : condition->reason + ": " + condition->message;
  }
  void Release() {
    api_.Change("web", [](api::PodRecord& pod) { pod.annotations = {}; });
  }
  FakeApi api_{test::WithHold()};
};

TEST_F(HeldPods, ShowWhyAfterFiveSecondsAndNoLongerOnceTheyPass) {
  api_.Create(Pod("web").Annotation(test::kHoldKey, "not today"));
  api_.Run(4900ms);
  EXPECT_EQ(Shown(), "");
  api_.Run(200ms);
  EXPECT_EQ(Shown(), "NotReadyForScheduling: not today");
  EXPECT_THAT(api_.NotesFor("NotReadyForScheduling"), ElementsAre("not today"));
  // No node is there, so that it is told why the attempt failed.
  Release();
  api_.Run(1s);
  EXPECT_EQ(Shown(), "Unschedulable: no nodes available to schedule pods");
  api_.Run(60s);
  EXPECT_THAT(api_.NotesFor("NotReadyForScheduling"), SizeIs(1));
}

TEST_F(HeldPods, ShowNothingIfTheyPassInTime) {
  api_.Create(Node("n1"));
  api_.Create(Pod("web").Annotation(test::kHoldKey, "not today"));
  api_.Run(3s);
  Release();
  api_.Run(60s);
  EXPECT_EQ(api_.node_of("web"), "n1");
  EXPECT_EQ(Shown(), "");
  EXPECT_THAT(api_.NotesFor("NotReadyForScheduling"), IsEmpty());
}

TEST_F(HeldPods, AServerThatAnswers500ForTenSecondsDoesNotLoseTheReport) {
  api_.Create(Pod("web").Annotation(test::kHoldKey, "not today"));
  int refused = 0;
  for (int second = 0; second < 30; ++second) {
    api_.clock().Advance(1s);
    api_.Step();
    for (const ApiCall& call : api_.TakeCalls()) {
      if (second < 15) {
        ++refused;
        api_.Refuse(call, "the server is on fire");
      } else {
        api_.Answer(call);
      }
    }
    api_.Step();
  }
  EXPECT_GE(refused, 2);
  EXPECT_EQ(Shown(), "NotReadyForScheduling: not today");
  EXPECT_THAT(api_.NotesFor("NotReadyForScheduling"), SizeIs(1));
}

// Why the last attempt failed is told at once; that the pod is held since then, after its five seconds.
TEST_F(HeldPods, AreFirstToldWhyTheLastAttemptFailed) {
  api_.Create(Node("n1"));
  api_.Create(Pod("web").Annotation(test::kPreBindWaitKey, "10s"));
  api_.Run(1s);
  const auto held = Pod("web").Annotation(test::kHoldKey, "not today").Record();
  api_.Change("web", [&](api::PodRecord& pod) { pod.annotations = held->annotations; });
  api_.Run(8s);
  api_.clock().Advance(1s);
  api_.Step();
  ASSERT_THAT(api_.waiting_calls(), SizeIs(1));
  ASSERT_EQ(api_.waiting_calls()[0].type, dispatch::CallType::kPodBinding);
  api_.Refuse(api_.waiting_calls()[0], "no");
  api_.waiting_calls().clear();
  api_.Settle();
  EXPECT_EQ(Shown(), "SchedulerError: running Bind plugin \"DefaultBinder\": no");
  api_.Run(4s);
  EXPECT_EQ(Shown(), "SchedulerError: running Bind plugin \"DefaultBinder\": no");
  api_.Run(2s);
  EXPECT_EQ(Shown(), "NotReadyForScheduling: not today");
}

// A process that waits for its turn neither writes nor records what the leader tells already.
TEST_F(HeldPods, AreToldByTheLeaderAlone) {
  api_.scheduler().SetDeciding(false);
  api_.Create(Pod("web").Annotation(test::kHoldKey, "not today"));
  api_.Run(60s);
  EXPECT_EQ(Shown(), "");
  EXPECT_THAT(api_.events(), IsEmpty());
  api_.scheduler().SetDeciding(true);
  api_.Run(6s);
  EXPECT_EQ(Shown(), "NotReadyForScheduling: not today");
}

TEST_F(HeldPods, AreNotToldAgainByTheNextProcess) {
  api_.Create(Pod("web").Annotation(test::kHoldKey, "not today"));
  api_.Run(10s);
  ASSERT_EQ(Shown(), "NotReadyForScheduling: not today");
  FakeApi next(test::WithHold());
  next.CreateRecord(api_.pod("web"));
  next.Run(60s);
  EXPECT_THAT(next.events(), IsEmpty());
  EXPECT_EQ(next.Condition("web")->message, "not today");
}

}  // namespace
}  // namespace berth::core
