#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "core/fake_api.h"
#include "core/scripted_plugin.h"
#include "plugins/all_plugins.h"

// What plugins may do to a pod on its way, case by case; numbers are those of the cycle chapter. Cases about
// single structures are with them: the cluster (1 to 8), the engine (9 to 13, 18, 22, 24), the dispatcher (52
// to 56). What whole decisions come to (17, 19, 25 to 27) is in decision_cases_test.cpp.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using dispatch::CallType;
using framework::Code;
using framework::Status;
using test::FakeApi;
using test::Node;
using test::Pod;
using test::Scripts;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kSort = "PrioritySort";
constexpr std::string_view kBinder = "DefaultBinder";

// Comes back by itself, after a while.
bool IsBackingOff(FakeApi& api, const std::string& name) {
  return api.PlaceOf(name) == queue::Place::kBackoff || api.PlaceOf(name) == queue::Place::kErrorBackoff;
}
framework::PermitResult Wait(base::Duration timeout) {
  return {.status = Status(Code::kWait), .timeout = timeout};
}
std::vector<std::string> Only(const std::vector<std::string>& calls, std::string_view part) {
  std::vector<std::string> kept;
  std::ranges::copy_if(calls, std::back_inserter(kept),
                       [&](const std::string& call) { return call.contains(part); });
  return kept;
}

class CycleCases : public testing::Test {
 protected:
  FakeApi Api(std::vector<std::string_view> plugins = {kSort, "A", "B", "C", kBinder}) {
    return FakeApi(test::Scripted(scripts_, std::move(plugins)));
  }
  test::Script& A() { return scripts_.of["A"]; }
  test::Script& B() { return scripts_.of["B"]; }
  test::Script& C() { return scripts_.of["C"]; }

  Scripts scripts_;
};

TEST_F(CycleCases, Case06AnAssumptionDoesNotExpire) {
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Step();
  ASSERT_THAT(api.waiting_calls(), SizeIs(1));
  for (int hour = 0; hour < 24; ++hour) {
    api.clock().SetTo(api.clock().Now() + 1h);
    api.Step();
  }
  const auto& pods = api.scheduler().cluster().pods();
  EXPECT_EQ(pods.state(pods.Find("default", "web")), cluster::PodState::kAssumed);
}

TEST_F(CycleCases, Case14APreFilterThatIsPendingIsAnError) {
  A().pre_filter = [] { return framework::PreFilterResult{.status = Status(Code::kPending, "not yet")}; };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.ReasonOf("web"), "SchedulerError");
  EXPECT_EQ(api.MessageOf("web"), "running PreFilter plugin \"A\": not yet");
  EXPECT_TRUE(IsBackingOff(api, "web"));
}

TEST_F(CycleCases, Case15ANominatedNodeThatFitsIsTheOnlyOneAsked) {
  FakeApi api = Api();
  for (const char* name : {"n1", "n2", "n3"}) api.Create(Node(name));
  api.Create(Pod("web").NominatedNode("n1"));
  api.Settle();
  EXPECT_EQ(scripts_.Count("Filter A"), 1);
  EXPECT_EQ(api.node_of("web"), "n1");
}

// kube-scheduler asks about it a second time, with the others.
TEST_F(CycleCases, Case15OneThatDoesNotFitIsFollowedByTheOthers) {
  A().filter = [](std::string_view node) { return node == "n1" ? Status::Unschedulable("no") : Status(); };
  FakeApi api = Api();
  for (const char* name : {"n1", "n2", "n3"}) api.Create(Node(name));
  api.Create(Pod("web").NominatedNode("n1"));
  api.Step();
  EXPECT_EQ(scripts_.Count("Filter A"), 3);
  api.Settle();
  EXPECT_TRUE(api.node_of("web") == "n2" || api.node_of("web") == "n3");
}

TEST_F(CycleCases, Case15OneThatDoesNotExistIsPassedOver) {
  FakeApi api = Api();
  for (const char* name : {"n1", "n2", "n3"}) api.Create(Node(name));
  api.Create(Pod("web").NominatedNode("gone"));
  api.Step();
  EXPECT_EQ(scripts_.Count("Filter A"), 3);
}

TEST_F(CycleCases, Case16NominatedPodsOfEqualOrHigherPriorityAreCountedInASecondPass) {
  const auto filters_for = [&](std::int32_t priority) {
    scripts_ = Scripts();
    FakeApi api = Api({kSort, "SchedulingGates", "A", kBinder});
    api.Create(Node("n1", "8"));
    // At a gate, so that it is not tried itself.
    api.Create(Pod("middle", 10).Gate("held").NominatedNode("n1"));
    api.Settle();
    scripts_.calls.clear();
    api.Create(Pod("web", priority));
    api.Step();
    return scripts_.Count("Filter A");
  };
  EXPECT_EQ(filters_for(100), 1);
  EXPECT_EQ(filters_for(10), 2);
  EXPECT_EQ(filters_for(1), 2);
}

TEST_F(CycleCases, Case20WithoutNodesTheNominationGoesAndThePodComesBackByItself) {
  FakeApi api = Api();
  api.Create(Pod("web").NominatedNode("n1"));
  api.Settle();
  EXPECT_EQ(api.ReasonOf("web"), "Unschedulable");
  EXPECT_EQ(api.MessageOf("web"), "no nodes available to schedule pods");
  EXPECT_EQ(api.pod("web").nominated_node_name, "");
  EXPECT_TRUE(IsBackingOff(api, "web"));
}

TEST_F(CycleCases, Case21AFilterErrorFailsTheAttempt) {
  A().filter = [](std::string_view node) { return node == "n2" ? Status::Error("x") : Status(); };
  FakeApi api = Api();
  for (const char* name : {"n1", "n2", "n3"}) api.Create(Node(name));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.ReasonOf("web"), "SchedulerError");
  EXPECT_EQ(api.MessageOf("web"), "running \"A\" filter plugin: x");
  EXPECT_TRUE(IsBackingOff(api, "web"));
}

TEST_F(CycleCases, Case34AReserveThatRefusesIsTakenBackInReverse) {
  B().reserve = [] { return Status::Unschedulable("r"); };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.MessageOf("web"), "0/1 nodes are available: 1 r.");
  EXPECT_EQ(api.ReasonOf("web"), "Unschedulable");
  EXPECT_THAT(Only(scripts_.calls, "eserve"),
              ElementsAre("Reserve A", "Reserve B", "Unreserve C", "Unreserve B", "Unreserve A"));
  EXPECT_EQ(api.PlaceOf("web"), queue::Place::kUnschedulable);
  const auto& pods = api.scheduler().cluster().pods();
  EXPECT_EQ(pods.state(pods.Find("default", "web")), cluster::PodState::kPending);
}

TEST_F(CycleCases, Case34AReserveThatFailsBringsThePodBackByItself) {
  B().reserve = [] { return Status::Error("r"); };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.MessageOf("web"), "running Reserve plugin \"B\": r");
  EXPECT_EQ(api.ReasonOf("web"), "SchedulerError");
  EXPECT_TRUE(IsBackingOff(api, "web"));
}

TEST_F(CycleCases, Case35AWaitEndsAfterFifteenMinutesWithARefusal) {
  A().permit = [] { return Wait(20min); };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(15min - 1s);
  EXPECT_EQ(api.Condition("web"), nullptr);
  api.Run(2s);
  EXPECT_EQ(api.MessageOf("web"),
            "0/1 nodes are available: 1 rejected due to timeout after waiting 15m0s at plugin A.");
  EXPECT_EQ(api.ReasonOf("web"), "Unschedulable");
}

TEST_F(CycleCases, Case36ARefusalBesideAWaitDecidesAtOnce) {
  A().permit = [] { return Wait(1min); };
  B().permit = [] { return framework::PermitResult{.status = Status::Unschedulable("no")}; };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.MessageOf("web"), "0/1 nodes are available: 1 no.");
  EXPECT_EQ(scripts_.Count("Permit C"), 0);
  EXPECT_EQ(api.scheduler().binding_count(), 0);
}

TEST_F(CycleCases, Case36AllowedByOneThePodStillWaitsForTheOther) {
  A().permit = [] { return framework::PermitResult{Status(Code::kWait), 10s, framework::AfterWait::kAllow}; };
  B().permit = [] { return framework::PermitResult{Status(Code::kWait), 20s, framework::AfterWait::kAllow}; };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(15s);
  EXPECT_EQ(api.node_of("web"), "");
  api.Run(6s);
  EXPECT_EQ(api.node_of("web"), "n1");
}

TEST_F(CycleCases, Case38APreFlightMayNotRefuse) {
  A().pre_flight = [] { return framework::PreFlightResult{.status = Status::Unschedulable("no")}; };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.MessageOf("web"),
            "PreBindPreFlight A returned \"Unschedulable\", which is unsupported. It is supposed to return "
            "Success, Skip, or Error status");
  EXPECT_EQ(api.ReasonOf("web"), "SchedulerError");
  EXPECT_TRUE(IsBackingOff(api, "web"));
}

base::Task<Status> Sleep(framework::BindingContext& context, base::Duration duration) {
  co_await context.executor.SleepFor(duration, context.cancelled);
  co_return Status();
}
framework::PreFlightResult Ready(bool parallel) { return {.status = {}, .allow_parallel = parallel}; }

TEST_F(CycleCases, Case38WithTheGateOffPreBindsRunOneByOneAndNothingIsTold) {
  SchedulerOptions options = test::Scripted(scripts_, {kSort, "A", "B", kBinder});
  options.features.nominated_node_name_for_expectation = false;
  for (const char* name : {"A", "B"}) {
    scripts_.of[name].pre_flight = [] { return Ready(true); };
    scripts_.of[name].pre_bind = [](framework::BindingContext& context) { return Sleep(context, 10s); };
  }
  FakeApi api(options);
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(30s);
  EXPECT_THAT(Only(scripts_.calls, "PreB"),
              ElementsAre("PreBind A", "PreBound A", "PreBind B", "PreBound B"));
  EXPECT_EQ(api.pod("web").nominated_node_name, "");
  EXPECT_EQ(api.node_of("web"), "n1");
}

TEST_F(CycleCases, Case39ConsecutivePluginsThatAllowItRunTogether) {
  for (const char* name : {"A", "B", "D"}) {
    scripts_.of[name].pre_flight = [] { return Ready(true); };
    scripts_.of[name].pre_bind = [](framework::BindingContext& context) { return Sleep(context, 10s); };
  }
  // C has nothing to do and does not allow it: it ends the group all the same.
  FakeApi api = Api({kSort, "A", "B", "C", "D", kBinder});
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(30s);
  EXPECT_THAT(Only(scripts_.calls, "PreB"),
              ElementsAre("PreBind A", "PreBind B", "PreBound A", "PreBound B", "PreBind D", "PreBound D"));
}

TEST_F(CycleCases, Case40APreBindThatRefusesBringsThePodBackByItself) {
  A().pre_flight = [] { return Ready(true); };
  A().pre_bind = [](framework::BindingContext&) -> base::Task<Status> {
    co_return Status::Unschedulable("no");
  };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.ReasonOf("web"), "Unschedulable");
  EXPECT_TRUE(IsBackingOff(api, "web"));
}

TEST_F(CycleCases, Case41AConflictIsNotTriedAgainAndThePlaceIsFree) {
  FakeApi api = Api({kSort, "NodeResourcesFit", "A", kBinder});
  api.Create(Node("n1"));
  api.Create(Pod("web", 10));
  api.Create(Pod("other", 1));
  api.Step();
  ASSERT_THAT(api.waiting_calls(), testing::Not(IsEmpty()));
  const auto bind = std::ranges::find(api.waiting_calls(), CallType::kPodBinding, &ApiCall::type);
  ASSERT_NE(bind, api.waiting_calls().end());
  EXPECT_EQ(bind->pod->name, "web");
  const ApiCall conflict = *bind;
  api.waiting_calls().erase(bind);
  api.AnswerAll();
  api.Refuse(conflict, "Operation cannot be fulfilled on pods/binding \"web\"");
  api.Step();
  for (const ApiCall& call : api.waiting_calls()) {
    EXPECT_FALSE(call.type == CallType::kPodBinding && call.pod->name == "web") << "not again at once";
  }
  EXPECT_TRUE(IsBackingOff(api, "web"));
  api.AnswerAll();
  api.Run(200ms);
  EXPECT_EQ(api.node_of("other"), "n1") << "it heard that the place is free";
}

TEST_F(CycleCases, Case42WhenNobodyBindsThePodIsTriedAgainWithoutAWord) {
  FakeApi api = Api({kSort, "A"});
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(scripts_.Count("Bind A"), 1);
  EXPECT_THAT(api.events(), IsEmpty());
  EXPECT_EQ(api.Condition("web"), nullptr);
  EXPECT_TRUE(IsBackingOff(api, "web"));
}

TEST_F(CycleCases, Case45NothingIsSaidOfAPodThatWasMadeAnew) {
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Step();
  ASSERT_THAT(api.waiting_calls(), SizeIs(1));
  const ApiCall call = api.waiting_calls().front();
  api.waiting_calls().clear();
  api.DeletePod("web");
  api.Create(Pod("web").Uid("another").Gate("held"));
  api.Refuse(call, "not found");
  api.Settle();
  EXPECT_EQ(api.Condition("web"), nullptr);
  EXPECT_THAT(api.NotesFor("FailedScheduling"), IsEmpty());
}

TEST_F(CycleCases, Case45APodThatSomebodyBoundDoesNotComeBack) {
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Step();
  const ApiCall call = api.waiting_calls().front();
  api.waiting_calls().clear();
  api.Change("web", [](api::PodRecord& pod) { pod.node_name = "n1"; });
  api.Refuse(call, "timed out");
  api.Settle();
  EXPECT_EQ(api.PlaceOf("web"), queue::Place::kNowhere);
  EXPECT_EQ(api.scheduler().queue().in_flight().pod_count(), 0);
}

TEST_F(CycleCases, Case46ALongMessageIsCutInTheEventOnly) {
  const std::string message(2000, 'x');
  A().filter = [&](std::string_view) { return Status::Error(message); };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  const auto notes = api.NotesFor("FailedScheduling");
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes.front().size(), 1024);
  EXPECT_TRUE(notes.front().ends_with("x ..."));
  EXPECT_EQ(api.MessageOf("web"), "running \"A\" filter plugin: " + message);
}

TEST_F(CycleCases, Case47TheSameConditionIsNotWrittenAgain) {
  A().filter = [](std::string_view) { return Status::Error("x"); };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  api.Change("web", [](api::PodRecord& pod) { ++pod.generation; });
  const std::string version = api.pod("web").resource_version;
  api.Run(30s);
  EXPECT_GT(scripts_.Count("Filter A"), 2);
  EXPECT_EQ(api.pod("web").resource_version, version) << "nothing was written";
}

TEST_F(CycleCases, Case48AnErrorClearsTheNomination) {
  A().filter = [](std::string_view) { return Status::Error("x"); };
  FakeApi api = Api();
  api.Create(Node("n1"));
  api.Create(Pod("web").NominatedNode("n1"));
  api.Step();
  ASSERT_THAT(api.waiting_calls(), SizeIs(1));
  EXPECT_EQ(api.waiting_calls().front().change.nominated_node_name, "");
  api.Settle();
  EXPECT_EQ(api.pod("web").nominated_node_name, "");
}

TEST(StepMetrics, EachStepOfAPodIsMeasured) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Node("n2"));
  api.Create(Pod("web"));
  api.Create(Pod("too-large", "64"));
  api.Run(1s);
  const std::string metrics = api.metrics();
  for (const char* point : {"PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit",
                            "PreBindPreFlight", "PreBind", "Bind", "PostBind"}) {
    EXPECT_TRUE(metrics.contains(std::string("scheduler_framework_extension_point_duration_seconds_count{"
                                             "extension_point=\"") +
                                 point + "\",profile=\"default-scheduler\",status=\"Success\"}"))
        << point;
  }
  EXPECT_TRUE(metrics.contains(
      "extension_point=\"PostFilter\",profile=\"default-scheduler\",status=\"Unschedulable\""));
  for (const char* name :
       {"scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"NodeResourcesFit\"",
        "scheduler_cache_size{type=\"nodes\"} 2", "scheduler_cache_size{type=\"pods\"} 1",
        "scheduler_cache_size{type=\"assumed_pods\"} 0", "scheduler_goroutines{operation=\"binding\"} 0",
        "scheduler_event_handling_duration_seconds_count{event=\"NodeAdd\"} 2",
        "scheduler_event_handling_duration_seconds_count{event=\"UnscheduledPodAdd\"} 2",
        "scheduler_event_handling_duration_seconds_count{event=\"AssignedPodUpdate\"} 1",
        "scheduler_pod_scheduled_after_flush_total 0"}) {
    EXPECT_TRUE(metrics.contains(name)) << name;
  }
}

TEST(StepMetrics, OneAttemptOfTenIsMeasuredPluginByPlugin) {
  FakeApi api;
  api.Create(Node("n1", "64"));
  api.Create(Node("n2", "64"));
  for (int i = 0; i < 25; ++i) api.Create(Pod("web-" + std::to_string(i)));
  api.Run(1s);
  EXPECT_TRUE(
      api.metrics().contains("scheduler_plugin_execution_duration_seconds_count{extension_point=\"Filter\","
                             "plugin=\"NodeResourcesFit\","
                             "status=\"Success\"}"));
}

TEST(StepMetrics, APodThatOnlyTimeBroughtBackIsCounted) {
  Scripts scripts;
  bool fits = false;
  scripts.of["A"].filter = [&](std::string_view) { return fits ? Status() : Status::Unschedulable("no"); };
  FakeApi api(test::Scripted(scripts, {kSort, "A", kBinder}));
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(1min);
  fits = true;
  api.Run(10min);
  EXPECT_EQ(api.node_of("web"), "n1");
  EXPECT_TRUE(api.metrics().contains("scheduler_pod_scheduled_after_flush_total 1"));
}

TEST(NominationCases, Case49AnUpdateWithoutTheNameKeepsTheReservation) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  api.Step();
  // An update from before the nomination was written.
  api.Change("high", [](api::PodRecord& pod) { pod.finalizers = nullptr; });
  api.Step();
  EXPECT_EQ(api.NominationOf("high"), "n1");
}

TEST(NominationCases, Case49APlaceThatIsGivenUpWakesPodsOfNoHigherPriority) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Node("n2", "500m"));
  api.Create(Pod("holder", 10).Gate("held").NominatedNode("n1"));
  api.Create(Pod("web", 5));
  api.Run(1min);
  EXPECT_EQ(api.node_of("web"), "");
  EXPECT_EQ(api.PlaceOf("web"), queue::Place::kUnschedulable);
  api.Change("holder", [](api::PodRecord& pod) { pod.nominated_node_name = "n2"; });
  api.Run(20s);
  EXPECT_EQ(api.node_of("web"), "n1");
}

TEST(NominationCases, Case49AFirstNominationWakesNobody) {
  FakeApi api;
  api.Create(Node("n1", "500m"));
  api.Create(Pod("holder", 10).Gate("held"));
  api.Create(Pod("web", 5));
  api.Run(1min);
  ASSERT_EQ(api.PlaceOf("web"), queue::Place::kUnschedulable);
  api.Change("holder", [](api::PodRecord& pod) { pod.nominated_node_name = "n1"; });
  api.Step();
  EXPECT_EQ(api.PlaceOf("web"), queue::Place::kUnschedulable);
}

}  // namespace
}  // namespace berth::core
