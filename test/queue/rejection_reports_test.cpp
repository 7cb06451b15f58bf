#include "queue/rejection_reports.h"

#include <gtest/gtest.h>

#include "api/pod_status_change.h"
#include "queue/queue_harness.h"

// KEP-5501: what of that which keeps a pod out is news. When it is written, and what becomes of it, is tested
// with the dispatcher where the two meet, in the core.
namespace berth::queue::test {
namespace {

using End = RejectionReports::End;
using Kind = RejectionReport::Kind;
using framework::ReportModel;

class Reports : public testing::Test {
 protected:
  void SetUp() override { Set(MakePod("a")); }
  void Set(PodBuilder pod) { pod_ = cluster_.pods().Version(*cluster_.SetPending(pod.Record())); }
  void Shows(std::string reason, std::string message) {
    api::PodCondition condition;
    condition.type = "PodScheduled";
    condition.status = "False";
    condition.reason = std::move(reason);
    condition.message = std::move(message);
    Set(MakePod("a").Condition(condition));
  }
  void Reject(const std::string& message, const ReportModel& model = {}, const std::string& result = "") {
    const framework::Status status = framework::Status::Unresolvable(message).WithPlugin("plugin");
    reports_.OnRejected(pod_, {.status = status, .model = model, .result_message = result});
  }
  void Pass() { reports_.OnPassed(pod_); }
  // What comes out, in short: "write M", "clear", "event M".
  std::vector<std::string> Taken() {
    std::vector<std::string> texts;
    for (RejectionReport& report : reports_.Take()) {
      texts.push_back(report.kind == Kind::kClear   ? "clear"
                      : report.kind == Kind::kWrite ? "write " + report.message
                                                    : "event " + report.message);
      last_ = std::move(report);
    }
    return texts;
  }
  using Texts = std::vector<std::string>;

  cluster::Cluster cluster_;
  RejectionReports reports_{true, cluster_};
  RejectionReports::PodRef pod_;
  RejectionReport last_{};
};

TEST_F(Reports, SayEachThingOnce) {
  Reject("M1");
  Reject("M1");
  EXPECT_EQ(Taken(), Texts{"write M1"});
  EXPECT_EQ(last_.delay, seconds(5));
  EXPECT_TRUE(last_.with_event);
  Reject("M2");
  Reject("M1");
  EXPECT_EQ(Taken(), (Texts{"write M2", "write M1"}));
  Pass();
  Pass();
  EXPECT_EQ(Taken(), Texts{"clear"});
  EXPECT_EQ(last_.delay, seconds(5));
  Pass();
  EXPECT_EQ(Taken(), Texts{});
}

TEST_F(Reports, SayNothingOfAPodThatWasNeverRejected) {
  Pass();
  EXPECT_EQ(Taken(), Texts{});
  EXPECT_EQ(reports_.pod_count(), 0u);
}

// Case 58.
TEST_F(Reports, WhatThePodShowsAtFirstSightIsNoNews) {
  Shows("SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates");
  Reject("Scheduling is blocked due to non-empty scheduling gates");
  EXPECT_EQ(Taken(), Texts{});
}

// Otherwise a clear that waits would take away what should stay.
TEST_F(Reports, AfterAPassTheOldWordsAreNewsAlthoughThePodStillShowsThem) {
  Shows(api::kNotReadyForScheduling, "M");
  Reject("M");
  EXPECT_EQ(Taken(), Texts{});
  Pass();
  Reject("M");
  EXPECT_EQ(Taken(), (Texts{"clear", "write M"}));
}

// After a restart nobody remembers the rejection, but the pod does.
TEST_F(Reports, APassTakesBackWhatAnEarlierProcessSaid) {
  Shows(api::kNotReadyForScheduling, "M");
  Pass();
  Pass();
  EXPECT_EQ(Taken(), Texts{"clear"});
}

TEST_F(Reports, APassLeavesAloneWhatOthersSaid) {
  for (const char* reason : {"Unschedulable", "SchedulingGated", "SchedulerError"}) {
    Shows(reason, "M");
    Pass();
    EXPECT_EQ(Taken(), Texts{}) << reason;
  }
}

// Case 60.
TEST_F(Reports, LeaveNoTraceWhenSwitchedOff) {
  RejectionReports off(false, cluster_);
  const framework::Status status = framework::Status::Unresolvable("M");
  off.OnRejected(pod_, {.status = status, .model = {}});
  Shows(api::kNotReadyForScheduling, "M");
  off.OnPassed(pod_);
  EXPECT_TRUE(off.Take().empty());
  EXPECT_EQ(off.pod_count(), 0u);
}

TEST_F(Reports, AFailureIsToldAgainWithoutItsEvent) {
  Reject("M");
  ASSERT_EQ(Taken(), Texts{"write M"});
  reports_.OnEnd(last_, End::kFailed);
  ASSERT_EQ(Taken(), Texts{"write M"});
  EXPECT_FALSE(last_.with_event);
  EXPECT_EQ(last_.delay, seconds(5));
  reports_.OnEnd(last_, End::kTold);
  Reject("M");
  EXPECT_EQ(Taken(), Texts{});
}

TEST_F(Reports, AFailureOfWhatIsNoLongerTrueIsNot) {
  Reject("M");
  ASSERT_EQ(Taken(), Texts{"write M"});
  const RejectionReport first = last_;
  Pass();
  Reject("M");
  ASSERT_EQ(Taken(), (Texts{"clear", "write M"}));
  reports_.OnEnd(first, End::kFailed);
  EXPECT_EQ(Taken(), Texts{}) << "a newer report of the same words is under way";
}

TEST_F(Reports, WhatWasSupersededIsNewsAgain) {
  Reject("M");
  ASSERT_EQ(Taken(), Texts{"write M"});
  reports_.OnEnd(last_, End::kSuperseded);
  Reject("M");
  EXPECT_EQ(Taken(), Texts{"write M"});
}

TEST_F(Reports, ADeletedPodIsForgotten) {
  Reject("M");
  Taken();
  reports_.OnDeleted(pod_);
  EXPECT_EQ(reports_.pod_count(), 0u);
  reports_.OnEnd(last_, End::kFailed);
  EXPECT_EQ(Taken(), Texts{});
}

// A process that waits for its turn sees the same pods as the leader, which is the one that tells.
TEST_F(Reports, ASilentProcessTellsWhenItsTurnComes) {
  reports_.SetSilent(true);
  Reject("M1");
  Reject("M2");
  EXPECT_EQ(Taken(), Texts{});
  reports_.SetSilent(false);
  EXPECT_EQ(Taken(), Texts{"write M2"});
  reports_.SetSilent(true);
  reports_.OnEnd(last_, End::kFailed);
  EXPECT_EQ(Taken(), Texts{});
  reports_.SetSilent(false);
  EXPECT_EQ(Taken(), Texts{"write M2"});
  reports_.SetSilent(true);
  Pass();
  reports_.SetSilent(false);
  EXPECT_EQ(Taken(), Texts{"clear"});
  reports_.SetSilent(false);
  EXPECT_EQ(Taken(), Texts{}) << "once";
}

TEST_F(Reports, ASilentProcessDoesNotRepeatWhatThePodShowedAtFirstSight) {
  Shows("SchedulingGated", "M");
  reports_.SetSilent(true);
  Reject("M");
  reports_.SetSilent(false);
  EXPECT_EQ(Taken(), Texts{});
}

struct ModelCase {
  const char* name;
  ReportModel model;
  std::string status, result;
  std::vector<std::string> want;
  seconds delay = seconds(0);
};
class ReportModels : public Reports, public testing::WithParamInterface<ModelCase> {};

// Case 61 and its siblings: each plugin may have its own way.
TEST_P(ReportModels, DecideWhatAndWhetherAndWhen) {
  const ModelCase& c = GetParam();
  Reject(c.status, c.model, c.result);
  EXPECT_EQ(Taken(), c.want);
  if (!c.want.empty()) {
    EXPECT_EQ(last_.delay, c.delay);
    Pass();
    EXPECT_EQ(Taken(), Texts{"clear"});
    EXPECT_EQ(last_.delay, c.delay) << "taken back as it was told";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Queue, ReportModels,
    testing::Values(
        ModelCase{"ExplicitImmediate", ReportModel::ExplicitImmediate(), "S", "R", {"event R", "write R"}},
        ModelCase{"ExplicitImmediateSilent", ReportModel::ExplicitImmediate(), "S", "", {}},
        ModelCase{"ExplicitDelayed", ReportModel::ExplicitDelayed(), "S", "R", {"write R"}, seconds(5)},
        ModelCase{"ExplicitDelayedSilent", ReportModel::ExplicitDelayed(), "S", "", {}},
        ModelCase{"OptOut", ReportModel::ImplicitDelayedOptOut(), "", "", {}},
        ModelCase{"OptOutSpeaking", ReportModel::ImplicitDelayedOptOut(), "S", "R", {"write S"}, seconds(5)},
        ModelCase{"ImplicitImmediate", ReportModel::ImplicitImmediate(), "S", "R", {"write S"}},
        ModelCase{"Contract", ReportModel::ImplicitDelayed(), "S", "R", {"write S"}, seconds(5)}),
    [](const auto& test) { return std::string(test.param.name); });

struct Heard : PreEnqueueObserver {
  void OnRejected(PodRef, const GateVerdict& verdict) override {
    said.push_back(std::string(verdict.status.plugin()) + ": " + verdict.status.Message() + "/" +
                   verdict.result_message);
    models.push_back(verdict.model);
  }
  void OnPassed(PodRef) override { said.push_back("passed"); }
  std::vector<std::string> said;
  std::vector<ReportModel> models;
};

// The queue is what tells it.
TEST(ReportsOfTheQueue, ComeFromItsGates) {
  Heard heard;
  QueueHarness q({{.name = "gate", .gate = RejectsLabel("shut", "not yet")}}, {}, &heard);
  q.Add(MakePod("a").Label("gate", "shut"));
  q.Add(MakePod("b"));
  EXPECT_EQ(heard.said, (std::vector<std::string>{"gate: not yet/", "passed"}));
  EXPECT_EQ(heard.models.front().delay, seconds(5));
}

// A plugin that speaks for itself does so by one more base.
TEST(ReportsOfTheQueue, TakeTheWayThatThePluginAsksFor) {
  struct Outspoken final : framework::PreEnqueuePoint, framework::ReportPoint {
    framework::Status PreEnqueue(const framework::WaitingPod&) const override {
      return framework::Status::Unresolvable("for the log");
    }
    ReportModel HowToReport() const override { return ReportModel::ExplicitImmediate(); }
    std::string MessageFor(const framework::WaitingPod& pod) const override {
      return pod.record().name + " must wait";
    }
  } const plugin;
  const QueueProfile::PreEnqueue made = MakePreEnqueue("Outspoken", plugin);
  EXPECT_EQ(made.point, &plugin);
  ASSERT_EQ(made.report, &plugin);
  EXPECT_EQ(made.model.source, ReportModel::Source::kResult);

  Heard heard;
  QueueHarness q({}, {}, &heard, {made});
  q.Add(MakePod("a"));
  EXPECT_EQ(heard.said, std::vector<std::string>{"Outspoken: for the log/a must wait"});
}

}  // namespace
}  // namespace berth::queue::test
