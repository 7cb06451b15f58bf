#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "core/fake_api.h"
#include "core/hold_profile.h"

// Each proposal can be switched off, and then everything is as it was before it. Each test shows both sides,
// so that it cannot pass because nothing happens at all.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using dispatch::CallType;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// The value of a series as it is exposed; empty: there is no such series.
std::string Value(const FakeApi& api, std::string_view series) {
  const std::string text = api.metrics();
  const std::size_t at = text.find(fmt::format("\n{} ", series));
  if (at == std::string::npos) return {};
  const std::size_t begin = at + series.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

class Gates : public testing::TestWithParam<bool> {
 protected:
  bool on() const { return GetParam(); }
  // The default profile and ExampleHold, with one gate as the test says.
  SchedulerOptions With(bool framework::Features::* gate) const {
    framework::Features features;
    features.*gate = on();
    return test::WithHold(features);
  }
};
INSTANTIATE_TEST_SUITE_P(Core, Gates, testing::Bool(),
                         [](const auto& test) { return test.param ? "On" : "Off"; });

// KEP-5142.
TEST_P(Gates, SchedulerPopFromBackoffQ) {
  SchedulerOptions options = With(&framework::Features::scheduler_pop_from_backoff_q);
  options.pod_initial_backoff = options.pod_max_backoff = 60s;
  FakeApi api(options);
  api.Create(Node("small", "500m"));
  api.Create(Pod("web"));
  api.Run(1s);
  ASSERT_EQ(api.Condition("web")->reason, "Unschedulable");
  api.Create(Node("big", "4"));
  api.Run(1s);
  EXPECT_EQ(api.node_of("web"), on() ? "big" : "");
  EXPECT_EQ(Value(api, "scheduler_queue_incoming_pods_total{event=\"PopFromBackoffQ\",queue=\"active\"}"),
            on() ? "1" : "");
  if (!on()) {
    api.Run(57s);
    EXPECT_EQ(api.node_of("web"), "") << "the backoff is served in full";
    api.Run(3s);
    EXPECT_EQ(api.node_of("web"), "big");
  }
}

// Backoff after an error protects the server, whatever the gate says.
TEST_P(Gates, SchedulerPopFromBackoffQLeavesErrorsAlone) {
  SchedulerOptions options = With(&framework::Features::scheduler_pop_from_backoff_q);
  options.pod_initial_backoff = options.pod_max_backoff = 60s;
  FakeApi api(options);
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Step();
  ASSERT_THAT(api.waiting_calls(), SizeIs(1));
  api.Refuse(api.waiting_calls()[0], "no");
  api.waiting_calls().clear();
  api.Create(Node("n2"));
  api.Run(59s);
  EXPECT_EQ(api.node_of("web"), "");
  api.Run(3s);
  EXPECT_NE(api.node_of("web"), "");
}

// KEP-5501.
TEST_P(Gates, SchedulerPreEnqueuePodStatus) {
  FakeApi api(With(&framework::Features::scheduler_pre_enqueue_pod_status));
  api.Create(Node("n1"));
  api.Create(Pod("web").Annotation(test::kHoldKey, "not today"));
  api.Run(60s);
  EXPECT_EQ(api.node_of("web"), "");
  EXPECT_EQ(api.Condition("web") != nullptr, on());
  EXPECT_EQ(api.NotesFor("NotReadyForScheduling").size(), on() ? 1u : 0u);
  EXPECT_EQ(api.scheduler().reports().pod_count(), on() ? 1u : 0u) << "no state is kept";
  api.Change("web", [](api::PodRecord& pod) { pod.annotations = {}; });
  api.Run(2s);
  EXPECT_EQ(api.node_of("web"), "n1");
}

// Conditions from before stay until something else is said.
TEST_P(Gates, SchedulerPreEnqueuePodStatusOfAnEarlierProcess) {
  api::PodCondition told;
  told.type = api::kPodScheduled;
  told.status = "False";
  told.reason = api::kNotReadyForScheduling;
  told.message = "yesterday";
  FakeApi api(With(&framework::Features::scheduler_pre_enqueue_pod_status));
  api.Create(Pod("web").Annotation(test::kHoldKey, "today").Condition(told));
  api.Run(60s);
  EXPECT_EQ(api.Condition("web")->message, on() ? "today" : "yesterday");
}

// KEP-5278.
TEST_P(Gates, NominatedNodeNameForExpectation) {
  FakeApi api(With(&framework::Features::nominated_node_name_for_expectation));
  api.Create(Node("n1", "2"));
  api.Create(Pod("prepared").Annotation(test::kPreBindWaitKey, "30s"));
  api.Create(Pod("permitted").Annotation(test::kPermitWaitKey, "30s"));
  api.Run(10s);
  for (const char* name : {"prepared", "permitted"}) {
    EXPECT_EQ(api.node_of(name), "") << name;
    EXPECT_EQ(api.pod(name).nominated_node_name, on() ? "n1" : "") << name;
  }
  api.Run(25s);
  EXPECT_EQ(api.node_of("prepared"), "n1") << "PreBind runs all the same";
  EXPECT_EQ(api.node_of("permitted"), "n1");
}

std::shared_ptr<const api::PersistentVolumeClaim> VolumeClaimOf(std::string name) {
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->metadata.namespace_ = "default";
  claim->metadata.name = std::move(name);
  return claim;
}

// KEP-6132: an event about a claim asks about the pods that name it, or about all that VolumeBinding
// rejected.
TEST_P(Gates, SchedulerPreQueueingHints) {
  FakeApi api(With(&framework::Features::scheduler_pre_queueing_hints));
  api.Create(Node("n1", "100"));
  for (int i = 0; i < 50; ++i) {
    const std::string number = std::to_string(i);
    api.Create(Pod("p" + number).VolumeClaim("claim" + number));
  }
  api.Run(1s);
  ASSERT_EQ(api.Condition("p7")->reason, "Unschedulable");
  const auto asked = [&](std::string_view hint) {
    return Value(api, fmt::format("scheduler_queueing_hint_execution_duration_seconds_count{{event=\""
                                  "PersistentVolumeClaimAdd\",hint=\"{}\",plugin=\"VolumeRestrictions\"}}",
                                  hint));
  };
  ASSERT_EQ(asked("Queue"), "");
  api.See(*VolumeClaimOf("claim7"));
  api.Step();
  EXPECT_EQ(asked("Queue"), "1") << "the pod that names it is looked at in any case";
  EXPECT_EQ(asked("QueueSkip"), on() ? "" : "49");
  EXPECT_EQ(Value(api,
                  "scheduler_pre_queueing_hint_evaluations_total{plugin=\"VolumeRestrictions\","
                  "result=\"narrowed\"}"),
            on() ? "1" : "");
}

// Without it every write is a request of its own, in its order, and nobody counts them as asynchronous.
TEST_P(Gates, SchedulerAsyncAPICalls) {
  FakeApi api(With(&framework::Features::scheduler_async_api_calls));
  api.Create(Node("n1"));
  api.Create(Pod("web").Annotation(test::kPreBindWaitKey, "1s"));
  api.Step();
  // The node that it is going to is told first. On: nobody waits for the answer.
  ASSERT_THAT(api.waiting_calls(), SizeIs(1));
  EXPECT_EQ(api.waiting_calls()[0].type, CallType::kPodStatusPatch);
  EXPECT_EQ(api.waiting_calls()[0].change.nominated_node_name, "n1");
  const ApiCall patch = api.TakeCalls()[0];
  api.clock().Advance(5s);
  api.Step();
  const auto listed = api.scheduler().dispatcher().List();
  ASSERT_THAT(listed, SizeIs(1));
  EXPECT_EQ(listed[0].call->type, on() ? CallType::kPodBinding : CallType::kPodStatusPatch)
      << "what comes next, behind the call that is on its way";
  api.Answer(patch);
  api.Run(2s);
  EXPECT_EQ(api.node_of("web"), "n1");
  EXPECT_EQ(api.metrics().find("scheduler_async_api_call_execution_total") != std::string::npos, on());
  EXPECT_EQ(api.metrics().find("scheduler_pending_async_api_calls") != std::string::npos, on());
}

// The report of a held pod needs it.
TEST_P(Gates, SchedulerAsyncAPICallsCarryReports) {
  FakeApi api(With(&framework::Features::scheduler_async_api_calls));
  api.Create(Pod("web").Annotation(test::kHoldKey, "not today"));
  api.Run(60s);
  EXPECT_EQ(api.Condition("web") != nullptr, on());
  EXPECT_EQ(api.scheduler().reports().pod_count(), on() ? 1u : 0u);
}

// While the patch of a failed attempt waits for its turn, a binding takes its place; without the gate both go
// out.
TEST_P(Gates, SchedulerAsyncAPICallsMergeWhatWaits) {
  SchedulerOptions options = With(&framework::Features::scheduler_async_api_calls);
  options.calls_in_flight_max = 1;
  FakeApi api(options);
  api.Create(Node("small", "500m"));
  api.Create(Pod("blocker", "500m"));
  api.Step();
  ASSERT_THAT(api.waiting_calls(), SizeIs(1)) << "the binding of the blocker keeps the others waiting";
  api.Create(Pod("web"));
  api.Step();
  api.Create(Node("big", "4"));
  api.Step();
  std::vector<CallType> types;
  for (int i = 0; i < 10; ++i) {
    for (const ApiCall& call : api.TakeCalls()) {
      if (call.pod->name == "web") types.push_back(call.type);
      api.Answer(call);
    }
    api.Step();
  }
  EXPECT_EQ(api.node_of("web"), "big");
  if (on()) {
    EXPECT_THAT(types, ElementsAre(CallType::kPodBinding));
  } else {
    EXPECT_THAT(types, ElementsAre(CallType::kPodStatusPatch, CallType::kPodBinding));
  }
}

// Held back for its victims in the gate, or not: it does not choose others meanwhile in either case.
TEST_P(Gates, SchedulerAsyncPreemption) {
  FakeApi api(With(&framework::Features::scheduler_async_preemption));
  api.SetGraceful(true);
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Run(10s);
  EXPECT_EQ(api.pod("high").nominated_node_name, "n1");
  EXPECT_TRUE(api.pod("low").deletion_timestamp.has_value());
  api.DeletePod("low");
  api.Run(5s);
  EXPECT_EQ(api.node_of("high"), "n1");
}

}  // namespace
}  // namespace berth::core
