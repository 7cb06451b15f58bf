#include "plugins/example_hold.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "gtest/gtest.h"

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/task.h"
#include "framework/profile.h"
#include "plugins/plugin_harness.h"

namespace berth::plugins {
namespace {

using namespace std::chrono_literals;
using berth::test::MakePod;
using berth::test::PluginHarness;
using berth::test::PodBuilder;

const std::string kHold(ExampleHold::kHold);
const std::string kPermitWait(ExampleHold::kPermitWait);
const std::string kPreBindWait(ExampleHold::kPreBindWait);

class NoWriter final : public framework::ApiWriter {
 public:
  base::Task<base::Result<void>> Bind(api::Binding) override { co_return base::Result<void>(); }
};

base::Task<void> RunPreBind(const framework::PreBindPoint& point, framework::BindingContext& context,
                            framework::Assignment& assignment, framework::Status& status) {
  status = co_await point.PreBind(context, assignment);
}

class ExampleHoldTest : public testing::Test {
 protected:
  static framework::Assignment AssignmentOf(const PodBuilder& pod) {
    framework::Assignment assignment;
    assignment.record = pod.Record();
    assignment.node_name = "n1";
    return assignment;
  }
  std::string PreEnqueue(const PodBuilder& pod) {
    const framework::WaitingPod waiting{harness_.cluster(), harness_.SlotOf(pod)};
    return berth::test::ShortText(harness_.profile().pre_enqueue().front().point->PreEnqueue(waiting));
  }
  framework::PermitResult Permit(const PodBuilder& pod) {
    framework::Assignment assignment = AssignmentOf(pod);
    return harness_.profile().permit().front().point->Permit(harness_.cluster(), assignment);
  }
  framework::PreFlightResult PreFlight(const PodBuilder& pod) {
    return pre_bind().PreBindPreFlight(harness_.cluster(), AssignmentOf(pod));
  }
  const framework::PreBindPoint& pre_bind() { return *harness_.profile().pre_bind().front().point; }
  // What waking by an update of the pod itself would say.
  std::string HintAfter(const PodBuilder& before, const PodBuilder& after) {
    const auto old_pod = before.Record();
    const auto new_pod = after.Record();
    return harness_.Hint("ExampleHold", before,
                         {.resource = framework::EventResource::kTargetPod,
                          .actions = framework::kUpdate,
                          .old_object = old_pod.get(),
                          .new_object = new_pod.get()});
  }

  PluginHarness harness_{"ExampleHold"};
};

TEST_F(ExampleHoldTest, IsInNoDefaultProfile) {
  for (const framework::EnabledPlugin& plugin : framework::DefaultPlugins({})) {
    EXPECT_NE(plugin.name, "ExampleHold");
  }
}

TEST_F(ExampleHoldTest, HoldsAPodWithTheMessageOfTheAnnotation) {
  EXPECT_EQ(PreEnqueue(MakePod("free")), "");
  EXPECT_EQ(PreEnqueue(MakePod("held").Annotation(kHold, "the database is being moved")),
            "UU the database is being moved");
  EXPECT_EQ(PreEnqueue(MakePod("mute").Annotation(kHold, "")), "UU held by the annotation berth.dev/hold");
}

TEST_F(ExampleHoldTest, APodWithABadDurationIsNotTriedAndSaysSo) {
  EXPECT_EQ(PreEnqueue(MakePod("p").Annotation(kPermitWait, "soon")),
            "UU annotation berth.dev/permit-wait: time: invalid duration \"soon\"");
  EXPECT_EQ(PreEnqueue(MakePod("q").Annotation(kPreBindWait, "10")),
            "UU annotation berth.dev/prebind-wait: time: missing unit in duration \"10\"");
  EXPECT_EQ(PreEnqueue(MakePod("r").Annotation(kPermitWait, "-1s")),
            "UU annotation berth.dev/permit-wait: -1s is negative");
  EXPECT_EQ(PreEnqueue(MakePod("s").Annotation(kPermitWait, "1s").Annotation(kPreBindWait, "1m")), "");
}

TEST_F(ExampleHoldTest, OnlyAnUpdateThatFreesThePodOrChangesTheReasonWakesIt) {
  const auto held = [] { return MakePod("p").Annotation(kHold, "wait"); };
  EXPECT_EQ(HintAfter(held(), MakePod("p")), "Queue");
  EXPECT_EQ(HintAfter(held(), MakePod("p").Annotation(kHold, "wait longer")), "Queue");
  EXPECT_EQ(HintAfter(held(), held().Annotation("other", "x")), "Skip");
  EXPECT_EQ(HintAfter(MakePod("p").Annotation(kPermitWait, "x"), MakePod("p").Annotation(kPermitWait, "1s")),
            "Queue");
  EXPECT_EQ(harness_.Hint("ExampleHold", held(), {.resource = framework::EventResource::kNode}),
            "not registered");
}

TEST_F(ExampleHoldTest, PermitWaitsThatLongAndThenAllows) {
  const framework::PermitResult result = Permit(MakePod("p").Annotation(kPermitWait, "30s"));
  EXPECT_TRUE(result.status.IsWait());
  EXPECT_EQ(result.timeout, 30s);
  EXPECT_EQ(result.after_wait, framework::AfterWait::kAllow);
  EXPECT_TRUE(Permit(MakePod("p")).status.IsSuccess());
  EXPECT_TRUE(Permit(MakePod("p").Annotation(kPermitWait, "0s")).status.IsSuccess());
  EXPECT_EQ(berth::test::ShortText(Permit(MakePod("p").Annotation(kPermitWait, "x")).status),
            "UU annotation berth.dev/permit-wait: time: invalid duration \"x\"");
}

TEST_F(ExampleHoldTest, PreBindHasWorkOnlyWithTheAnnotation) {
  EXPECT_TRUE(PreFlight(MakePod("p")).status.IsSkip());
  EXPECT_TRUE(PreFlight(MakePod("p").Annotation(kPreBindWait, "1s")).status.IsSuccess());
  EXPECT_EQ(berth::test::ShortText(PreFlight(MakePod("p").Annotation(kPreBindWait, "x")).status),
            "Error annotation berth.dev/prebind-wait: time: invalid duration \"x\"");
}

TEST_F(ExampleHoldTest, PreBindTakesItsTimeAndCanBeCancelled) {
  base::VirtualClock clock;
  base::Executor executor(clock);
  NoWriter writer;
  for (const bool cancel : {false, true}) {
    framework::Assignment assignment = AssignmentOf(MakePod("p").Annotation(kPreBindWait, "30s"));
    base::CancellationSource source;
    framework::BindingContext context{harness_.cluster(), writer, executor, source.token()};
    framework::Status status(framework::Code::kWait);
    executor.Spawn(RunPreBind(pre_bind(), context, assignment, status));
    clock.Advance(29s);
    executor.RunReady();
    EXPECT_TRUE(status.IsWait());
    if (cancel) {
      source.Cancel();
    } else {
      clock.Advance(30s);
    }
    executor.RunReady();
    EXPECT_EQ(berth::test::ShortText(status), cancel ? "Error the wait was cancelled" : "");
  }
}

}  // namespace
}  // namespace berth::plugins
