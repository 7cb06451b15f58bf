#include "config/feature_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::config {
namespace {

using testing::HasSubstr;

std::string Error(const std::vector<std::string>& values, Versions versions = {}) {
  FeatureGates gates(versions);
  const auto set = gates.Set(values);
  return set ? "" : set.error().message;
}

FeatureGates With(const std::vector<std::string>& values, Versions versions = {}) {
  FeatureGates gates(versions);
  const auto set = gates.Set(values);
  EXPECT_TRUE(set) << (set ? "" : set.error().message);
  return gates;
}

TEST(FeatureGates, TableAndFrameworkAgree) {
  EXPECT_EQ(FeatureGates().ToFeatures(), framework::Features());
  for (const framework::FeatureGate& gate : framework::FeatureGates()) {
    EXPECT_NE(FindGate(gate.name), nullptr) << gate.name;
  }
}

// What upstream enforces when gates are registered.
TEST(FeatureGates, DefaultsKeepTheirNeeds) {
  EXPECT_EQ(Error({}), "");
  for (const Gate& gate : KnownGates()) {
    for (const std::string_view need : gate.needs) {
      ASSERT_NE(FindGate(need), nullptr) << need;
      EXPECT_TRUE(!gate.enabled || FindGate(need)->enabled) << gate.name;
      EXPECT_TRUE(!(gate.locked && gate.enabled) || FindGate(need)->locked) << gate.name;
    }
  }
}

TEST(FeatureGates, UnknownOnes) {  // case 32
  EXPECT_EQ(Error({"Foo=true"}), "unrecognized feature gate: Foo");
  EXPECT_EQ(Error({"SchedulerQueueingHints=true"}), "unrecognized feature gate: SchedulerQueueingHints");
}

TEST(FeatureGates, OfOtherComponentsAndLockedOnes) {  // case 33
  EXPECT_EQ(Error({"KubeletPSI=true"}), "");
  EXPECT_EQ(Error({"DynamicResourceAllocation=false"}),
            "cannot set feature gate DynamicResourceAllocation to false, feature is locked to true");
  EXPECT_EQ(Error({"DynamicResourceAllocation=true"}), "");
}

TEST(FeatureGates, Needs) {  // case 34
  EXPECT_THAT(Error({"AllAlpha=true"}),
              HasSubstr("depends on features that are disabled: [GenericWorkload]"));
  EXPECT_EQ(Error({"AllAlpha=true,GenericWorkload=true"}), "");
  EXPECT_EQ(Error({"TopologyAwareWorkloadScheduling=true"}),
            "TopologyAwareWorkloadScheduling is enabled, but depends on features that are disabled: "
            "[GenericWorkload]");
  EXPECT_THAT(Error({"PodLevelResources=false"}),
              HasSubstr("PodLevelResourcesFixDefaulting is enabled, but"));
}

TEST(FeatureGates, WhatIsSaidOfOneWinsOverAll) {  // case 35
  const std::vector<std::string> orders = {"AllBeta=false,SchedulerPopFromBackoffQ=true",
                                           "SchedulerPopFromBackoffQ=true,AllBeta=false"};
  for (const std::string& value : orders) {
    const framework::Features features = With({value}).ToFeatures();
    EXPECT_TRUE(features.scheduler_pop_from_backoff_q);
    EXPECT_FALSE(features.opportunistic_batching);
    EXPECT_TRUE(features.dynamic_resource_allocation);
  }
}

TEST(FeatureGates, Syntax) {  // case 36
  EXPECT_EQ(Error({"X"}), "missing bool value for X");
  EXPECT_EQ(Error({"X=maybe"}),
            "invalid value of X=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax");
  EXPECT_EQ(Error({"kube:OpportunisticBatching=true,SchedulerAsyncPreemption=true"}),
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use");
  EXPECT_EQ(Error({"other:X=true"}), "component not registered: other");
  const framework::Features features =
      With({" , OpportunisticBatching = F ", "SchedulerAsyncPreemption=0"}).ToFeatures();
  EXPECT_FALSE(features.opportunistic_batching);
  EXPECT_FALSE(features.scheduler_async_preemption);
}

TEST(FeatureGates, EmulatedVersions) {  // case 37
  const auto wrong = ResolveVersions({{"1.28"}, {}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(
      wrong.error().message,
      "[emulation version 1.28 is not between [1.34, 1.37.0], minCompatibilityVersion version 1.34 is not "
      "between [1.34, 1.28]]");
  EXPECT_EQ(ResolveVersions({{"1.36.1"}, {}}).error().message, "patch version not allowed, got: kube=1.36.1");
  const auto versions = ResolveVersions({{"kube=1.36"}, {}});
  ASSERT_TRUE(versions);
  EXPECT_EQ(versions->min_compatibility, (MinorVersion{1, 35}));
  EXPECT_FALSE(With({}, *versions).ToFeatures().volume_limit_scaling);
  EXPECT_EQ(
      Error({"SchedulerPreQueueingHints=true"}, *versions),
      "cannot set feature gate SchedulerPreQueueingHints to true, feature is PreAlpha at emulated version "
      "1.36, min compatibility version 1.35");
}

TEST(FeatureGates, PodStatusNeedsAsyncCalls) {  // case 39
  EXPECT_EQ(Error({"SchedulerPreEnqueuePodStatus=true,SchedulerAsyncAPICalls=false"}),
            "SchedulerPreEnqueuePodStatus is enabled, but depends on features that are disabled: "
            "[SchedulerAsyncAPICalls]");
  // A command line that is right for kube-scheduler, which does not know the one.
  EXPECT_FALSE(With({"SchedulerAsyncAPICalls=false"}).ToFeatures().scheduler_pre_enqueue_pod_status);
}

}  // namespace
}  // namespace berth::config
