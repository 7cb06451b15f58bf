#include "queue/rejection_reports.h"

#include <gtest/gtest.h>

#include "api/pod_status_change.h"
#include "queue/queue_harness.h"

// KEP-5501: why a pod is not even tried, in its status. The numbers of the cases are those of the queue's
// specification.
namespace berth::queue::test {
namespace {

using Kind = RejectionReport::Kind;

class Reports : public testing::Test {
 protected:
  void Start(RejectionReports::Options options = {}) {
    reports_.emplace(std::move(options), cluster_, clock_);
    Set(MakePod("a"));
  }
  void Set(PodBuilder pod) { pod_ = cluster_.pods().Version(*cluster_.SetPending(pod.Record())); }
  // As the API server would answer: the condition is on the pod.
  void Stored(const RejectionReport& report) {
    if (report.kind == Kind::kWrite)
      Set(MakePod("a").Condition(Condition(api::kNotReadyForScheduling, report.message)));
    if (report.kind == Kind::kClear) Set(MakePod("a"));
    reports_->OnResult(report, true);
  }
  static api::PodCondition Condition(std::string reason, std::string message) {
    api::PodCondition condition;
    condition.type = "PodScheduled";
    condition.status = "False";
    condition.reason = std::move(reason);
    condition.message = std::move(message);
    return condition;
  }
  void Reject(const std::string& message, const std::string& result = "") {
    reports_->OnRejected(pod_, framework::Status::Unresolvable(message).WithPlugin("plugin"), result);
  }
  void Pass() { reports_->OnPassed(pod_); }
  std::vector<RejectionReport> At(milliseconds time) {
    clock_.SetTo(base::TimePoint(time));
    return reports_->TakeDue();
  }
  std::vector<RejectionReport> Now() { return reports_->TakeDue(); }

  base::VirtualClock clock_;
  cluster::Cluster cluster_;
  std::optional<RejectionReports> reports_;
  RejectionReports::PodRef pod_;
};

// Case 55.
TEST_F(Reports, AreWrittenAfterFiveQuietSecondsWithAnEvent) {
  Start();
  Reject("M");
  EXPECT_EQ(reports_->NextDeadline(), base::TimePoint(seconds(5)));
  EXPECT_TRUE(At(milliseconds(4999)).empty());
  const auto due = At(seconds(5));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].kind, Kind::kWrite);
  EXPECT_EQ(due[0].message, "M");
  EXPECT_TRUE(due[0].with_event);
  EXPECT_TRUE(At(seconds(60)).empty());
}

TEST_F(Reports, AreNotWrittenIfThePodPassesMeanwhile) {
  Start();
  Reject("M");
  At(seconds(2));
  Pass();
  EXPECT_TRUE(At(seconds(60)).empty());
}

// Case 56.
TEST_F(Reports, SayWhatWasSaidLastAtTheTimeOfTheFirst) {
  Start();
  Reject("M1");
  At(seconds(3));
  Reject("M2");
  EXPECT_TRUE(At(milliseconds(4999)).empty());
  auto due = At(seconds(5));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].message, "M2");
  Stored(due[0]);
  At(seconds(20));
  Reject("M3");
  EXPECT_TRUE(At(milliseconds(24999)).empty());
  due = At(seconds(25));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].message, "M3");
  Stored(due[0]);
  Reject("M3");
  EXPECT_TRUE(At(seconds(60)).empty());
}

// Case 57.
TEST_F(Reports, AreClearedFiveSecondsAfterThePass) {
  Start();
  Reject("M");
  Stored(At(seconds(5))[0]);
  Pass();
  EXPECT_TRUE(At(milliseconds(9999)).empty());
  const auto due = At(seconds(10));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].kind, Kind::kClear);
}

TEST_F(Reports, ConditionOfAnotherReasonIsNotCleared) {
  Start();
  Reject("M");
  Stored(At(seconds(5))[0]);
  Pass();
  Set(MakePod("a").Condition(Condition("Unschedulable", "0/1 nodes are available")));
  EXPECT_TRUE(At(seconds(60)).empty());
}

TEST_F(Reports, StayIfThePodIsRejectedAgainBeforeTheClear) {
  Start();
  Reject("M");
  Stored(At(seconds(5))[0]);
  Pass();
  At(seconds(7));
  Reject("M");
  EXPECT_TRUE(At(seconds(60)).empty());
}

// Case 58.
TEST_F(Reports, WhatTheApiServerSaidAlreadyIsNotRepeated) {
  Start();
  const std::string message = "Scheduling is blocked due to non-empty scheduling gates";
  Set(MakePod("a").Condition(Condition("SchedulingGated", message)));
  Reject(message);
  EXPECT_TRUE(At(seconds(30)).empty());
  Pass();
  EXPECT_TRUE(At(seconds(60)).empty()) << "not ours to remove";
}

// Case 59.
TEST_F(Reports, AnotherPatchOrABindingTakesThePendingOnesPlace) {
  Start();
  Reject("M");
  reports_->OnStatusPatched(pod_);
  EXPECT_TRUE(At(seconds(10)).empty());
  Reject("M2");
  reports_->OnBinding(pod_);
  EXPECT_TRUE(At(seconds(60)).empty());
}

// Case 60.
TEST_F(Reports, LeaveNoTraceWhenSwitchedOff) {
  Start({.enabled = false});
  Reject("M");
  Pass();
  EXPECT_EQ(reports_->pod_count(), 0u);
  EXPECT_FALSE(reports_->NextDeadline().has_value());
}

// Nothing may happen to the pod for hours, so the retry waits for no other rejection. The event was told with
// the first try.
TEST_F(Reports, FailedWriteIsTriedAgainByItself) {
  Start();
  Reject("M");
  const auto due = At(seconds(5));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_TRUE(due[0].with_event);
  reports_->OnResult(due[0], false);
  Reject("M");
  EXPECT_TRUE(At(seconds(9)).empty());
  const auto again = At(seconds(10));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].message, "M");
  EXPECT_FALSE(again[0].with_event);
  Stored(again[0]);
  EXPECT_TRUE(At(seconds(60)).empty());
}

TEST_F(Reports, FailedWriteIsNotTriedAgainAfterThePodPassed) {
  Start();
  Reject("M");
  const auto due = At(seconds(5));
  ASSERT_EQ(due.size(), 1u);
  reports_->OnResult(due[0], false);
  Pass();
  EXPECT_TRUE(At(seconds(60)).empty());
}

TEST_F(Reports, NextOneWaitsForTheOneThatIsBeingWritten) {
  Start();
  Reject("M1");
  const auto first = At(seconds(5));
  ASSERT_EQ(first.size(), 1u);
  Reject("M2");
  EXPECT_TRUE(At(seconds(12)).empty());
  Stored(first[0]);
  const auto second = Now();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].message, "M2");
}

TEST_F(Reports, DeletedPodIsForgotten) {
  Start();
  Reject("M");
  reports_->OnDeleted(pod_);
  EXPECT_TRUE(At(seconds(60)).empty());
  EXPECT_EQ(reports_->pod_count(), 0u);
}

// Case 61.
TEST_F(Reports, ExplicitOnesGoOutAtOnceAndOnlyWithAMessage) {
  Start({.model = ReportModel::ExplicitImmediate()});
  Reject("in the status", "");
  EXPECT_TRUE(At(seconds(10)).empty());
  Reject("in the status", "M");
  const auto due = Now();
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].kind, Kind::kEvent);
  EXPECT_EQ(due[1].kind, Kind::kWrite);
  EXPECT_EQ(due[1].message, "M");
  EXPECT_FALSE(due[1].with_event);
  Stored(due[1]);
  Reject("in the status", "");
  EXPECT_TRUE(Now().empty()) << "silence leaves the old words";
  Pass();
  const auto cleared = Now();
  ASSERT_EQ(cleared.size(), 1u);
  EXPECT_EQ(cleared[0].kind, Kind::kClear);
}

struct ModelCase {
  const char* name;
  ReportModel model;
  std::string status, result;
  milliseconds at;  // when it is written; negative: never
};
class ReportModels : public Reports, public testing::WithParamInterface<ModelCase> {};

// Each plugin may have its own way; the others keep the contract's.
TEST_P(ReportModels, DecideWhetherAndWhen) {
  const ModelCase& c = GetParam();
  Start({.by_plugin = {{"plugin", c.model}}});
  Reject(c.status, c.result);
  if (c.at < milliseconds(0)) {
    EXPECT_TRUE(At(seconds(60)).empty());
    return;
  }
  if (c.at > milliseconds(0)) {
    EXPECT_TRUE(At(c.at - milliseconds(1)).empty());
  }
  EXPECT_EQ(At(c.at).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Queue, ReportModels,
    testing::Values(
        ModelCase{"ExplicitDelayed", ReportModel::ExplicitDelayed(), "S", "R", seconds(5)},
        ModelCase{"ExplicitDelayedSilent", ReportModel::ExplicitDelayed(), "S", "", milliseconds(-1)},
        ModelCase{"OptOut", ReportModel::ImplicitDelayedOptOut(), "", "", milliseconds(-1)},
        ModelCase{"OptOutSpeaking", ReportModel::ImplicitDelayedOptOut(), "S", "", seconds(5)},
        ModelCase{"ImplicitImmediate", ReportModel::ImplicitImmediate(), "S", "", milliseconds(0)},
        ModelCase{"Contract", ReportModel::ImplicitDelayed(), "S", "", seconds(5)}),
    [](const auto& test) { return std::string(test.param.name); });

// The queue is what tells it.
TEST(ReportsOfTheQueue, ComeFromItsGates) {
  struct Heard : PreEnqueueObserver {
    void OnRejected(PodRef, const framework::Status& status) override {
      said.push_back(std::string(status.plugin()) + ": " + status.Message());
    }
    void OnPassed(PodRef) override { said.push_back("passed"); }
    std::vector<std::string> said;
  } heard;
  QueueHarness q({{.name = "gate", .gate = RejectsLabel("shut", "not yet")}}, {}, &heard);
  q.Add(MakePod("a").Label("gate", "shut"));
  q.Add(MakePod("b"));
  EXPECT_EQ(heard.said, (std::vector<std::string>{"gate: not yet", "passed"}));
}

}  // namespace
}  // namespace berth::queue::test
