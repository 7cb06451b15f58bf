#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"
#include "sandbox/fault_injector.h"

// The sandbox misbehaves on request, the same way for the same seed.
namespace berth::sandbox::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

FaultPlan Plan(std::vector<std::string> settings) {
  const base::Result<FaultPlan> plan = ParseFaults(settings);
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message);
  return plan.value_or(FaultPlan());
}

class Faults : public testing::Test {
 protected:
  std::shared_ptr<Recorded> Start(FaultInjector& faults, std::string method, std::string target,
                                  std::string body = "", net::Headers headers = {}) {
    auto record = std::make_shared<Recorded>();
    net::Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    request.headers = std::move(headers);
    faults.Handle(request, std::make_unique<RecordingExchange>(record), false);
    api_.plane().RunDue();
    return record;
  }
  std::vector<int> Codes(std::vector<std::string> settings, int count) {
    FaultInjector faults(api_.plane(), Plan(std::move(settings)));
    std::vector<int> codes;
    for (int i = 0; i < count; ++i) codes.push_back(Start(faults, "GET", kPods)->code);
    return codes;
  }

  ApiHarness api_;
};

TEST_F(Faults, ErrorsComeAtTheirRateAndRepeatWithTheSeed) {
  const std::vector<int> codes = Codes({"error.list=503:0.25", "seed=7"}, 400);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(codes, 503)), 100.0, 30.0);
  EXPECT_EQ(codes, Codes({"error.list=503:0.25", "seed=7"}, 400));
  EXPECT_NE(codes, Codes({"error.list=503:0.25", "seed=8"}, 400));
  FaultInjector faults(api_.plane(), Plan({"error.create=500:1"}));
  EXPECT_EQ(Start(faults, "GET", kPods)->code, 200);
  EXPECT_EQ(Start(faults, "POST", kPods, PodJson("p"))->code, 500);
  EXPECT_EQ(Start(faults, "GET", "/healthz")->code, 200);
}

TEST_F(Faults, LatencyHoldsTheAnswerBack) {
  FaultInjector faults(api_.plane(), Plan({"latency=200ms", "latency.get=50ms"}));
  const auto list = Start(faults, "GET", kPods);
  const auto get = Start(faults, "GET", PodPath("p"));
  EXPECT_EQ(list->code, 0);
  api_.Advance(std::chrono::milliseconds(60));
  EXPECT_EQ(get->code, 404);
  EXPECT_EQ(list->code, 0);
  api_.Advance(std::chrono::milliseconds(150));
  EXPECT_EQ(list->code, 200);
}

TEST_F(Faults, ConflictsHitUpdatesAndPatchesOnly) {
  ASSERT_EQ(api_.Post(kPods, PodJson("p")).code, 201);
  FaultInjector faults(api_.plane(), Plan({"conflict=1"}));
  const auto patch = Start(faults, "PATCH", PodPath("p"), R"({"metadata":{"labels":{"a":"b"}}})",
                           {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(patch->code, 409);
  EXPECT_THAT(patch->bytes, HasSubstr("the object has been modified"));
  EXPECT_EQ(Start(faults, "GET", PodPath("p"))->code, 200);
}

TEST_F(Faults, WatchesBreakOff) {
  FaultInjector faults(api_.plane(), Plan({"watch-drop=10s"}));
  const auto watch = Start(faults, "GET", std::string(kPods) + "?watch=true");
  EXPECT_TRUE(watch->started);
  EXPECT_FALSE(watch->dropped);
  api_.Advance(std::chrono::seconds(20));
  EXPECT_TRUE(watch->dropped);
  EXPECT_FALSE(watch->finished);
  EXPECT_EQ(api_.plane().api().watch_count(), 0U);
}

TEST_F(Faults, ConnectionsOfWatchesAreCut) {
  FaultInjector faults(api_.plane(), Plan({"watch-drop=1h", "watch-cut=10s"}));
  const auto watch = Start(faults, "GET", std::string(kPods) + "?watch=true");
  EXPECT_FALSE(watch->severed);
  api_.Advance(std::chrono::seconds(20));
  EXPECT_TRUE(watch->severed);
  EXPECT_TRUE(watch->dropped);
  EXPECT_EQ(api_.plane().api().watch_count(), 0U);
  FaultInjector drops(api_.plane(), Plan({"watch-drop=10s", "watch-cut=1h"}));
  const auto dropped = Start(drops, "GET", std::string(kPods) + "?watch=true");
  api_.Advance(std::chrono::seconds(20));
  EXPECT_TRUE(dropped->dropped);
  EXPECT_FALSE(dropped->severed);
}

TEST_F(Faults, StalledWatchFallsSilentAndStaysOpen) {
  FaultInjector faults(api_.plane(), Plan({"watch-stall=1"}));
  const auto watch = Start(faults, "GET", std::string(kPods) + "?watch=true");
  api_.Post(kPods, PodJson("seen"));
  api_.Advance(std::chrono::seconds(10));
  api_.Post(kPods, PodJson("unseen"));
  EXPECT_THAT(watch->story(), ElementsAre("ADDED seen"));
  EXPECT_FALSE(watch->dropped);
}

TEST_F(Faults, CompactionMakesOldVersionsUnreachable) {
  const std::string old = api_.version();
  FaultInjector faults(api_.plane(), Plan({"compact=5s"}));
  ASSERT_EQ(api_.Post(kPods, PodJson("p")).code, 201);
  api_.Advance(std::chrono::seconds(6));
  const auto watch = Start(faults, "GET", std::string(kPods) + "?watch=true&resourceVersion=" + old);
  EXPECT_THAT(watch->bytes, HasSubstr("too old resource version"));
}

struct BadSetting {
  std::string_view setting;
  std::string_view want;
};
class BadSettingTest : public testing::TestWithParam<BadSetting> {};

TEST_P(BadSettingTest, IsRefusedWithWhatIsWrong) {
  const std::string setting(GetParam().setting);
  const base::Result<FaultPlan> plan = ParseFaults({&setting, 1});
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(plan.error().message, HasSubstr(GetParam().want));
  EXPECT_THAT(plan.error().message, HasSubstr(setting));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, BadSettingTest,
    testing::Values(BadSetting{"latency", "KEY=VALUE"}, BadSetting{"latency=soon", "wants a time"},
                    BadSetting{"latency=2s-1s", "before the first"},
                    BadSetting{"latency.fetch=1s", "no such verb"}, BadSetting{"error=503", "CODE:SHARE"},
                    BadSetting{"error=200:1", "CODE:SHARE"}, BadSetting{"error=503:2", "from 0 to 1"},
                    BadSetting{"conflict=nan", "from 0 to 1"}, BadSetting{"colour=blue", "no such key"},
                    BadSetting{"watch-cut=never", "wants a time"}, BadSetting{"seed=x", "wants a number"}));

}  // namespace
}  // namespace berth::sandbox::test
