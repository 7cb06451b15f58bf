#include "plugins/dynamic_resources.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/device_harness.h"
#include "plugins/plugin_harness.h"

// From a pod with claims to devices that are written to them.
namespace berth::plugins {
namespace {

using berth::test::DeviceHarness;
using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::PodBuilder;
using dra::test::Alternatively;
using dra::test::MakeClaim;
using dra::test::MakeClass;
using dra::test::MakeDevice;
using dra::test::MakeSlice;
using framework::EventResource;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

PodBuilder Pod(std::string name = "pod") {
  PodBuilder pod = MakePod(std::move(name));
  return pod.SchedulerName("default-scheduler").ResourceClaim("entry", "c");
}
api::ResourceClaim Claim() { return MakeClaim("c").Request("r"); }
api::ResourceSlice SliceOn(const std::string& node, std::vector<api::Device> devices) {
  return MakeSlice("slice-" + node, "pool-" + node, std::move(devices)).OnNode(node);
}

void AddNodes(DeviceHarness& harness, const std::vector<std::string>& names) {
  for (const std::string& name : names) harness.Add(api::Node(MakeNode(name)));
  harness.Add(MakeClass("A", "drvA"));
}

// As the driver of a device that needs it says that the device is ready, or failed.
api::ResourceClaim WithCondition(api::ResourceClaim claim, std::string type, std::string status) {
  const api::DeviceRequestAllocationResult& result = claim.status.allocation->devices.results.front();
  api::AllocatedDeviceStatus device;
  device.driver = result.driver;
  device.pool = result.pool;
  device.device = result.device;
  api::Condition condition;
  condition.type = std::move(type);
  condition.status = std::move(status);
  condition.reason = "Because";
  condition.message = "it is so";
  device.conditions.push_back(std::move(condition));
  claim.status.devices.push_back(std::move(device));
  claim.metadata.resource_version = "900";
  return claim;
}

// What was found on the node before it declared the feature was taken for what would be found afterwards.
TEST(DynamicResourcesTest, ANodeThatDeclaresAFeatureIsSearchedAgain) {
  framework::Features features = framework::Features::Upstream();
  features.dra_optional_node_operations = true;
  DeviceHarness harness({}, features);
  AddNodes(harness, {"n1"});
  api::ResourceSlice slice = SliceOn("n1", {MakeDevice("d")});
  slice.spec.skip_node_operations = {"NodePrepareResources"};
  harness.Add(slice).Add(Claim());
  for (int i = 0; i < 3; ++i) EXPECT_NE(harness.Schedule(Pod()), "n1");
  api::Node node = MakeNode("n1");
  node.status.declared_features.Edit() = {"DRAOptionalNodeOperations"};
  harness.Add(node);
  EXPECT_EQ(harness.Schedule(Pod()), "n1");
}

// Cases 1 and 3.
TEST(DynamicResourcesTest, PodWithoutItsClaimIsNotTried) {
  DeviceHarness harness;
  EXPECT_EQ(harness.PreEnqueue(Pod()), "UU could not find ResourceClaim \"default/c\"");
  harness.Add(Claim());
  EXPECT_EQ(harness.PreEnqueue(Pod()), "");
  EXPECT_EQ(harness.PreEnqueue(MakePod("plain")), "");
}

// Case 7.
TEST(DynamicResourcesTest, NoDevicesNoNode) {
  DeviceHarness harness;
  AddNodes(harness, {"n1"});
  harness.Add(Claim());
  EXPECT_THAT(harness.Schedule(Pod()), HasSubstr("1 cannot allocate all claims"));
  EXPECT_EQ(harness.PostFilter(), "U ");
  EXPECT_THAT(harness.server().writes, IsEmpty());
}

// Case 8.
TEST(DynamicResourcesTest, AllocationIsReservedAndWritten) {
  DeviceHarness harness;
  AddNodes(harness, {"n1", "n2"});
  harness.Add(Claim()).Add(SliceOn("n2", {MakeDevice("d")}));
  EXPECT_EQ(harness.Schedule(Pod()), "n2");
  EXPECT_EQ(harness.Reserve(Pod(), "n2"), "");
  EXPECT_TRUE(harness.state().claims().IsInFlight("c-uid"));
  harness.clock().Advance(std::chrono::seconds(42));
  EXPECT_EQ(harness.PreBind(), "");
  EXPECT_THAT(harness.server().writes, ElementsAre("bind c"));
  ASSERT_TRUE(harness.server().last_allocation);
  EXPECT_EQ(harness.server().last_allocation->devices.results.front().device, "d");
  EXPECT_EQ(harness.server().last_allocation->allocation_timestamp->unix_seconds, 42);
  EXPECT_FALSE(harness.state().claims().IsInFlight("c-uid"));
  // The watch has not shown it yet, and the device is taken all the same.
  EXPECT_TRUE(harness.state().claims().Find("default", "c")->status.allocation);
  harness.Add(api::ResourceClaim(MakeClaim("d").Request("r")));
  EXPECT_THAT(harness.Schedule(MakePod("other").ResourceClaim("entry", "d")),
              HasSubstr("2 cannot allocate all claims"));
}

// Case 9.
TEST(DynamicResourcesTest, MissingClassIsNamed) {
  DeviceHarness harness;
  AddNodes(harness, {"n1"});
  harness.Add(api::ResourceClaim(MakeClaim("c").Request("req-1", {.device_class = "nope"})));
  EXPECT_THAT(harness.Schedule(Pod()), HasSubstr("request req-1: device class nope does not exist"));
  harness.Add(api::ResourceClaim(
      MakeClaim("c").FirstAvailable("req-1", {Alternatively("subreq-1", {.device_class = "nope"})})));
  EXPECT_THAT(harness.Schedule(Pod()), HasSubstr("request req-1/subreq-1: device class nope does not exist"));
  EXPECT_EQ(harness.PostFilter(), "U ");
}

// Case 10.
TEST(DynamicResourcesTest, ClaimInFlightIsNotAllocatedTwice) {
  DeviceHarness harness;
  AddNodes(harness, {"n1"});
  harness.Add(Claim()).Add(SliceOn("n1", {MakeDevice("d1"), MakeDevice("d2")}));
  ASSERT_EQ(harness.Schedule(Pod()), "n1");
  ASSERT_EQ(harness.Reserve(Pod(), "n1"), "");
  EXPECT_THAT(harness.Schedule(Pod("sharer")),
              HasSubstr("resource claim default/c is in the process of being allocated"));
}

api::ResourceClaim AllocatedOn(const std::string& node) {
  auto claim = MakeClaim("c").Request("r").Has({"pool-x/d"});
  api::NodeSelectorTerm term;
  term.match_fields.push_back({"metadata.name", "In", {node}});
  claim.claim().status.allocation->node_selector.emplace().node_selector_terms.push_back(std::move(term));
  return claim;
}

// Case 11.
TEST(DynamicResourcesTest, IdleClaimOnAnotherNodeIsFreed) {
  DeviceHarness harness;
  AddNodes(harness, {"n1"});
  harness.Add(AllocatedOn("gone"));
  EXPECT_THAT(harness.Schedule(Pod()), HasSubstr("1 resourceclaim not available on the node"));
  EXPECT_EQ(harness.PostFilter(), "U deallocation of ResourceClaim completed");
  EXPECT_THAT(harness.server().writes, ElementsAre("deallocate c"));
}

// Case 12.
TEST(DynamicResourcesTest, ClaimThatOthersUseIsNotFreed) {
  DeviceHarness harness;
  AddNodes(harness, {"n1"});
  api::ResourceClaim claim = AllocatedOn("gone");
  claim.status.reserved_for.push_back(
      {.api_group = "", .resource = "pods", .name = "other", .uid = "other-uid"});
  harness.Add(claim);
  harness.Schedule(Pod());
  EXPECT_EQ(harness.PostFilter(), "U ");
  EXPECT_THAT(harness.server().writes, IsEmpty());
}

// Case 13.
TEST(DynamicResourcesTest, NothingIsFreedThatWouldNotHelp) {
  DeviceHarness harness;
  AddNodes(harness, {"n1"});
  harness.Add(AllocatedOn("gone")).Add(api::ResourceClaim(MakeClaim("d").Request("r")));
  EXPECT_THAT(harness.Schedule(Pod().ResourceClaim("other", "d")), HasSubstr("1 cannot allocate all claims"));
  EXPECT_EQ(harness.PostFilter(), "U ");
}

// Case 14.
TEST(DynamicResourcesTest, ErrorOnOneNodeFailsTheAttempt) {
  DeviceHarness harness;
  AddNodes(harness, {"n1", "n2"});
  harness.Add(SliceOn("n1", {MakeDevice("d")}));
  harness.Add(SliceOn("n2", {MakeDevice("d").Text("model", "x")}));
  harness.Add(api::ResourceClaim(
      MakeClaim("c").Request("r", {.selector = "device.attributes[\"drvA\"].model == \"x\""})));
  EXPECT_THAT(harness.Schedule(Pod()),
              HasSubstr("running \"DynamicResources\" filter plugin: claim default/c: selector #0 on device "
                        "drvA/pool-n1/d: CEL runtime error: no such key: model. consider using"));
}

// Case 15.
TEST(DynamicResourcesTest, TimeoutCountsSteps) {
  DeviceHarness limited({.filter_timeout = std::chrono::nanoseconds(1)});
  DeviceHarness unlimited({.filter_timeout = base::Duration(0)});
  for (DeviceHarness* harness : {&limited, &unlimited}) {
    AddNodes(*harness, {"n1"});
    harness->Add(Claim()).Add(SliceOn("n1", {MakeDevice("d")}));
  }
  EXPECT_THAT(limited.Schedule(Pod()), HasSubstr("node n1: timed out trying to allocate devices"));
  EXPECT_EQ(unlimited.Schedule(Pod()), "n1");
}

// Case 17.
TEST(DynamicResourcesTest, PodThatIsGivenUpLeavesTheAllocation) {
  DeviceHarness harness;
  AddNodes(harness, {"n1"});
  harness.Add(Claim()).Add(SliceOn("n1", {MakeDevice("d")}));
  ASSERT_EQ(harness.Schedule(Pod()), "n1");
  ASSERT_EQ(harness.Reserve(Pod(), "n1"), "");
  ASSERT_EQ(harness.PreBind(), "");
  harness.Unreserve();
  EXPECT_THAT(harness.server().writes, ElementsAre("bind c", "unreserve c"));
  EXPECT_TRUE(harness.state().claims().Find("default", "c")->status.allocation);
}

// Cases 18 and 21: whatever the server's reason, what was only in memory goes, and the claim is left alone.
TEST(DynamicResourcesTest, FailedWriteFreesWhatWasReserved) {
  DeviceHarness harness;
  AddNodes(harness, {"n1"});
  harness.Add(Claim()).Add(SliceOn("n1", {MakeDevice("d")}));
  harness.server().failing = "bind";
  ASSERT_EQ(harness.Schedule(Pod()), "n1");
  ASSERT_EQ(harness.Reserve(Pod(), "n1"), "");
  EXPECT_EQ(harness.PreBind(), "Error the server says no");
  EXPECT_TRUE(harness.state().claims().IsInFlight("c-uid"));
  harness.Unreserve();
  EXPECT_FALSE(harness.state().claims().IsInFlight("c-uid"));
  EXPECT_THAT(harness.server().writes, ElementsAre("bind c"));
  EXPECT_EQ(harness.Schedule(Pod()), "n1");
}

// Case 25.
TEST(DynamicResourcesTest, WithoutClaimsThereIsNothingToDo) {
  DeviceHarness harness;
  AddNodes(harness, {"n1"});
  EXPECT_EQ(harness.Schedule(MakePod("plain")), "n1");
  EXPECT_EQ(harness.Reserve(MakePod("plain"), "n1"), "");
  EXPECT_EQ(harness.PreBind(), "");
  EXPECT_THAT(harness.server().writes, IsEmpty());
}

class BindingConditionsTest : public testing::Test {
 protected:
  BindingConditionsTest() {
    AddNodes(harness, {"n1"});
    api::Device device = MakeDevice("d").BindingCondition("ready");
    device.binding_failure_conditions.push_back("broken");
    harness.Add(Claim()).Add(SliceOn("n1", {device}));
    EXPECT_EQ(harness.Schedule(Pod()), "n1");
    EXPECT_EQ(harness.Reserve(Pod(), "n1"), "");
    EXPECT_EQ(harness.PreBind(), "waits");
    harness.See("c");
  }
  api::ResourceClaim Known() { return *harness.state().claims().Find("default", "c"); }
  // Devices that were waited for with this result, and waits that were observed.
  std::pair<double, std::uint64_t> Waits(std::string_view status) {
    return {harness.Counter("scheduler_dra_bindingconditions_allocations_total",
                            {"default-scheduler", "drvA", status}),
            harness.Observations("scheduler_dra_bindingconditions_wait_duration_seconds",
                                 {"default-scheduler", "drvA", status})};
  }

  DeviceHarness harness{{.binding_timeout = std::chrono::seconds(60)}};
};

TEST_F(BindingConditionsTest, PodIsBoundWhenItsDevicesAreReady) {
  EXPECT_THAT(harness.notes,
              ElementsAre("BindingConditionsPending: waiting for binding conditions for device on node n1"));
  EXPECT_EQ(harness.Continue(std::chrono::seconds(5)), "waits");
  EXPECT_TRUE(harness.state().claims().IsInFlight("c-uid"));
  harness.Add(WithCondition(Known(), "ready", "True"));
  EXPECT_EQ(harness.Continue(std::chrono::seconds(5)), "");
  EXPECT_FALSE(harness.state().claims().IsInFlight("c-uid"));
  EXPECT_EQ(Waits("success"), (std::pair<double, std::uint64_t>(1, 1)));
}

// Case 23.
TEST_F(BindingConditionsTest, FailureEndsTheWaitAndFreesTheClaim) {
  harness.Add(WithCondition(Known(), "broken", "True"));
  EXPECT_EQ(harness.Continue(std::chrono::seconds(5)),
            "Error device binding failed: claim=c, reason=Because, message=\"it is so\"");
  EXPECT_EQ(Waits("failure"), (std::pair<double, std::uint64_t>(1, 1)));
  harness.Unreserve();
  EXPECT_THAT(harness.Schedule(Pod()), HasSubstr("1 resourceclaim not available on the node"));
  EXPECT_EQ(harness.PostFilter(), "U deallocation of ResourceClaim completed");
}

// Cases 22 and 24.
TEST_F(BindingConditionsTest, DriverThatNeverAnswersLosesTheClaim) {
  EXPECT_EQ(harness.Continue(std::chrono::seconds(55)), "waits");
  EXPECT_THAT(harness.Continue(std::chrono::seconds(10)), HasSubstr("Error device binding timeout: "));
  EXPECT_EQ(Waits("timeout"), (std::pair<double, std::uint64_t>(1, 1)));
  EXPECT_TRUE(harness.state().claims().IsInFlight("c-uid"));
  harness.Unreserve();
  EXPECT_THAT(harness.Schedule(Pod()), HasSubstr("1 resourceclaim not available on the node"));
  EXPECT_EQ(harness.PostFilter(), "U deallocation of ResourceClaim completed");
}

// Case 20.
TEST_F(BindingConditionsTest, ClaimThatSomebodyFreesIsAnError) {
  api::ResourceClaim claim = Known();
  claim.status.allocation.reset();
  claim.metadata.resource_version = "900";
  harness.Add(claim);
  EXPECT_EQ(harness.Continue(std::chrono::seconds(5)),
            "Error claim default/c got deallocated elsewhere in the meantime");
  EXPECT_EQ(Waits("error"), (std::pair<double, std::uint64_t>(1, 1)));
}

// Case 72.
TEST(DynamicResourcesTest, EarlierAlternativesScoreHigher) {
  DeviceHarness harness;
  AddNodes(harness, {"n1", "n2"});
  harness.Add(SliceOn("n1", {MakeDevice("d").Int("size", 1)}))
      .Add(SliceOn("n2", {MakeDevice("d").Int("size", 5)}));
  std::vector<api::DeviceSubRequest> alternatives;
  for (int size = 1; size <= 5; ++size) {
    alternatives.push_back(
        Alternatively("s" + std::to_string(size),
                      {.selector = "device.attributes[\"drvA\"].size == " + std::to_string(size)}));
  }
  harness.Add(api::ResourceClaim(MakeClaim("c").FirstAvailable("r", alternatives)));
  EXPECT_THAT(harness.Scores(Pod()), UnorderedElementsAre(Pair("n1", 100), Pair("n2", 50)));
}

api::DeviceClass GpuClass() {
  api::DeviceClass made = MakeClass("A", "drvA");
  made.spec.extended_resource_name = "example.com/gpu";
  return made;
}
PodBuilder GpuPod() { return MakePod("pod").Request("example.com/gpu", "1"); }

constexpr std::string_view kCreates = "dynamic_resource_allocation_resourceclaim_creates_total";

// Case 73.
TEST(DynamicResourcesTest, NodeThatHasTheResourceNeedsNoClaim) {
  DeviceHarness harness;
  harness.Add(api::Node(MakeNode("n1").Allocatable("example.com/gpu", "3"))).Add(GpuClass());
  EXPECT_EQ(harness.Schedule(GpuPod()), "n1");
  EXPECT_EQ(harness.Reserve(GpuPod(), "n1"), "");
  EXPECT_EQ(harness.PreBind(), "");
  EXPECT_THAT(harness.server().writes, IsEmpty());
}

// Case 74.
TEST(DynamicResourcesTest, DevicesServeExtendedResources) {
  DeviceHarness harness;
  harness.Add(api::Node(MakeNode("n1"))).Add(GpuClass()).Add(SliceOn("n1", {MakeDevice("d")}));
  EXPECT_EQ(harness.Schedule(GpuPod()), "n1");
  EXPECT_EQ(harness.Reserve(GpuPod(), "n1"), "");
  EXPECT_EQ(harness.PreBind(), "");
  EXPECT_EQ(harness.Counter(kCreates, {"success", "false", "", "Pod"}), 1);
  EXPECT_THAT(harness.server().writes,
              ElementsAre("create", "bind pod-extended-resources-1", "status pod-extended-resources-1"));
  // The watch has not shown the claim yet, and its device is taken.
  EXPECT_THAT(harness.Schedule(MakePod("other").Request("example.com/gpu", "1")),
              HasSubstr("1 cannot allocate all claims"));
}

// Case 74.
TEST(DynamicResourcesTest, ClaimThatCannotBeMadeStaysInFlightUntilUnreserve) {
  DeviceHarness harness;
  harness.Add(api::Node(MakeNode("n1"))).Add(GpuClass()).Add(SliceOn("n1", {MakeDevice("d")}));
  harness.server().failing = "create";
  ASSERT_EQ(harness.Schedule(GpuPod()), "n1");
  ASSERT_EQ(harness.Reserve(GpuPod(), "n1"), "");
  EXPECT_THAT(harness.PreBind(), HasSubstr("Error create claim for extended resources "));
  EXPECT_EQ(harness.Counter(kCreates, {"failure", "false", "", "Pod"}), 1);
  EXPECT_EQ(harness.Counter(kCreates, {"success", "false", "", "Pod"}), 0);
  EXPECT_EQ(harness.state().claims().in_flight_count(), 1u);
  harness.Unreserve();
  EXPECT_EQ(harness.state().claims().in_flight_count(), 0u);
}

// Case 75.
TEST(DynamicResourcesTest, LeftoverClaimIsDeleted) {
  DeviceHarness harness;
  harness.Add(api::Node(MakeNode("n1"))).Add(GpuClass()).Add(SliceOn("n1", {MakeDevice("d")}));
  api::ResourceClaim leftover = MakeClaim("old").Request("container-0-request-0");
  leftover.metadata.annotations.insert_or_assign(std::string(dra::kExtendedClaimAnnotation),
                                                 std::string("true"));
  leftover.metadata.owner_references.push_back({.api_version = "v1",
                                                .kind = "Pod",
                                                .name = "pod",
                                                .uid = GpuPod().Record()->uid,
                                                .controller = true,
                                                .block_owner_deletion = {}});
  harness.Add(leftover);
  EXPECT_THAT(harness.Schedule(GpuPod()), HasSubstr("1 cannot schedule extended resource claim"));
  EXPECT_EQ(harness.PostFilter(), "U deletion of ResourceClaim completed");
  EXPECT_THAT(harness.server().writes, ElementsAre("delete old"));
}

// Case 78.
TEST(DynamicResourcesTest, HintsAfterClaimChanges) {
  DeviceHarness harness;
  const api::ResourceClaim own = Claim();
  harness.Add(own);
  const api::ResourceClaim other = MakeClaim("other").Request("r");
  const api::ResourceClaim other_allocated = MakeClaim("other").Request("r").Has({"p/d"});
  api::ResourceClaim guarded = own;
  guarded.metadata.finalizers.push_back("x");
  const api::ResourceClaim own_allocated = MakeClaim("c").Request("r").Has({"p/d"});
  const auto hint = [&](const api::ResourceClaim* before, const api::ResourceClaim* after) {
    const auto object = [](const api::ResourceClaim* claim) {
      return claim == nullptr ? framework::EventObject() : framework::EventObject(claim);
    };
    return harness.Hint(Pod(), EventResource::kResourceClaim, object(before), object(after));
  };
  EXPECT_EQ(hint(&own, &guarded), "Skip");
  EXPECT_EQ(hint(nullptr, &other), "Skip");
  EXPECT_EQ(hint(nullptr, &own), "Queue");
  EXPECT_EQ(hint(&own, &own_allocated), "Queue");
  EXPECT_EQ(hint(&other_allocated, &other), "Queue");
  EXPECT_EQ(hint(&other_allocated, nullptr), "Queue");
  EXPECT_EQ(hint(&other, nullptr), "Skip");
}

// Case 79, and 54 of the chapter about the queue.
TEST(DynamicResourcesTest, ClaimEventsConcernThePodsThatNameTheClaim) {
  DeviceHarness harness;
  const api::ResourceClaim claim = Claim();
  const api::ResourceClaim allocated = MakeClaim("c").Request("r").Has({"p/d"});
  const api::ResourceClaim unrelated = MakeClaim("unrelated").Request("r");
  EXPECT_EQ(harness.PreHint(nullptr, &claim), "");
  harness.SlotOf(Pod("a"));
  harness.SlotOf(Pod("b"));
  harness.SlotOf(MakePod("plain"));
  EXPECT_EQ(harness.PreHint(nullptr, &claim), "a b");
  EXPECT_EQ(harness.PreHint(&claim, &allocated), "a b");
  EXPECT_EQ(harness.PreHint(nullptr, &unrelated), "");
  EXPECT_EQ(harness.PreHint(&claim, nullptr), "a b");
  EXPECT_EQ(harness.PreHint(&allocated, &claim), "all");
  EXPECT_EQ(harness.PreHint(&allocated, nullptr), "all");
  EXPECT_EQ(harness.PreHint(nullptr, nullptr), "all");
}

// Case 39 of the chapter about node plugins.
TEST(NodeResourcesFitTest, ResourceOfDevicesIsLeftToThem) {
  berth::test::PluginHarness harness("NodeResourcesFit");
  harness.Add(MakeNode("without")).Add(MakeNode("full").Allocatable("example.com/gpu", "1"));
  harness.Add(MakePod("user").Request("example.com/gpu", "1").Node("full"));
  EXPECT_EQ(harness.Verdict(GpuPod(), "without"), "UU Insufficient example.com/gpu");
  harness.cluster().objects().Of<api::DeviceClass>().Set(
      std::make_shared<const api::DeviceClass>(GpuClass()));
  EXPECT_EQ(harness.Verdict(GpuPod(), "without"), "");
  EXPECT_EQ(harness.Verdict(GpuPod(), "full"), "U Insufficient example.com/gpu");
  harness.cluster().objects().Of<api::DeviceClass>().Remove("", "A");
  EXPECT_EQ(harness.Verdict(GpuPod(), "without"), "UU Insufficient example.com/gpu");
}

// Case 51 of the chapter about node plugins.
TEST(NodeResourcesFitTest, FreeDevicesCountAsCapacity) {
  framework::PluginArgs args;
  args.node_resources_fit.resources = {{"example.com/gpu", 1}};
  berth::test::PluginHarness harness(
      berth::test::PluginHarness::Options{.plugins = {{"NodeResourcesFit", 1}}, .args = args});
  harness.Add(MakeNode("n2")).Add(MakeNode("n3"));
  cluster::ObjectStore& objects = harness.cluster().objects();
  objects.Of<api::DeviceClass>().Set(std::make_shared<const api::DeviceClass>(GpuClass()));
  const auto add_devices = [&](const std::string& node, std::vector<api::Device> devices) {
    objects.Of<api::ResourceSlice>().Set(
        std::make_shared<const api::ResourceSlice>(SliceOn(node, std::move(devices))));
  };
  add_devices("n2", {MakeDevice("a"), MakeDevice("b")});
  add_devices("n3", {MakeDevice("a"), MakeDevice("b"), MakeDevice("c")});
  EXPECT_THAT(harness.RawScores(GpuPod()), UnorderedElementsAre(Pair("n2", 50), Pair("n3", 66)));
  objects.Of<api::ResourceClaim>().Set(
      std::make_shared<const api::ResourceClaim>(MakeClaim("c").Has({"pool-n3/a"})));
  EXPECT_THAT(harness.RawScores(GpuPod()), UnorderedElementsAre(Pair("n2", 50), Pair("n3", 33)));
}

}  // namespace
}  // namespace berth::plugins
