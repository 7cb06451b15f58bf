#include "dra/allocator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dra/device_bed.h"

// Which devices claims get, case by case of the chapter about dynamic resource allocation.
namespace berth::dra::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kAtLeast = "device.capacity[\"drvA\"].memory.compareTo(quantity(\"{}\")) >= 0";

std::string AtLeast(std::string_view amount) { return fmt::format(fmt::runtime(kAtLeast), amount); }

std::vector<api::Device> PlainDevices(int count) {
  std::vector<api::Device> devices;
  for (int i = 1; i <= count; ++i) devices.push_back(MakeDevice("device-" + std::to_string(i)));
  return devices;
}

api::DeviceToleration Tolerate(std::string key, std::string effect) {
  api::DeviceToleration toleration;
  toleration.key = std::move(key);
  toleration.operator_ = "Exists";
  toleration.effect = std::move(effect);
  return toleration;
}

// Cases 26 and 27: the first request gives the big device back when the second needs it.
TEST(Allocator, BacktracksAcrossRequestsAndClaims) {
  DeviceBed bed;
  bed.Add(MakeSlice(
      "s", "pool-1",
      {MakeDevice("big").Capacity("memory", "2Gi"), MakeDevice("small").Capacity("memory", "1Gi")}));
  EXPECT_EQ(bed.Allocate({MakeClaim("c")
                              .Request("r0", {.selector = AtLeast("1Gi")})
                              .Request("r1", {.selector = AtLeast("2Gi")})}),
            "c/r0:drvA/pool-1/small c/r1:drvA/pool-1/big");
  EXPECT_EQ(bed.Allocate({MakeClaim("c").Request("r", {.selector = AtLeast("1Gi")}),
                          MakeClaim("d").Request("r", {.selector = AtLeast("2Gi")})}),
            "c/r:drvA/pool-1/small d/r:drvA/pool-1/big");
}

// Case 37.
TEST(Allocator, AllMeansEveryOneAndAtLeastOne) {
  DeviceBed bed;
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.all = true})), "none");
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(2)));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.all = true})), "pool-1/device-1 pool-1/device-2");
  bed.Add(MakeClaim("other").Has({"pool-1/device-2"}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.all = true})), "none");
}

// Case 38.
TEST(Allocator, AllThatBreaksAConstraintIsAnError) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1",
                    {MakeDevice("device-1").Int("numa", 0), MakeDevice("device-2").Int("numa", 1)}));
  EXPECT_EQ(
      bed.DevicesFor(MakeClaim("c").Request("r", {.all = true}).Match("drvA/numa")),
      "error: claim default/c, request r: cannot add device drvA/pool-1/device-2 because a claim constraint "
      "would not be satisfied");
}

// Case 39.
TEST(Allocator, ClaimsAreLimitedTo32Devices) {
  DeviceBed bed;
  EXPECT_EQ(
      bed.DevicesFor(MakeClaim("c").Request("r0", {.count = 2}).Request("r1", {.count = 500})),
      "error: claim default/c, request r1: adding 500 devices exceeds the claim limit of 32, with 2 already "
      "accounted for");
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.count = 32})), "none");
}

// Case 40: the limit of the claim, not a lack of devices, rules the first alternatives out.
TEST(Allocator, AlternativesBeyondTheLimitArePassedOver) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(64)));
  const auto alternatives =
      std::vector{Alternatively("big", {.count = 32}), Alternatively("small", {.count = 16})};
  bed.Allocate({MakeClaim("c").FirstAvailable("r0", alternatives).FirstAvailable("r1", alternatives)});
  ASSERT_EQ(bed.allocations().size(), 1u);
  const auto& results = bed.allocations().front().devices.results;
  ASSERT_EQ(results.size(), 32u);
  EXPECT_EQ(results.front().request, "r0/small");
  EXPECT_EQ(results.back().request, "r1/small");
  EXPECT_LT(bed.allocator().steps(), 1000u);
}

// Case 41.
TEST(Allocator, AlternativeOfAllDevicesLeavesNothingForOthers) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(31)));
  EXPECT_THAT(bed.Allocate({MakeClaim("c")
                                .FirstAvailable("r0", {Alternatively("all", {.all = true}),
                                                       Alternatively("two", {.count = 2})})
                                .Request("r1", {.count = 2})}),
              StartsWith("c/r0/two:drvA/pool-1/device-1 c/r0/two:drvA/pool-1/device-2 c/r1:"));
}

// Case 43.
TEST(Allocator, AdministratorsMayUseWhatOthersHave) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(2)));
  bed.Add(MakeClaim("other").Has({"pool-1/device-1"}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.admin = true})), "pool-1/device-1");
  EXPECT_TRUE(bed.allocations().front().devices.results.front().admin_access.value_or(false));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.all = true, .admin = true})),
            "pool-1/device-1 pool-1/device-2");
}

// Case 44.
TEST(Allocator, AdministratorsMayNotTakeOneDeviceTwiceInAClaim) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(1)));
  EXPECT_EQ(
      bed.Allocate(
          {MakeClaim("c").Request("one", {.admin = true}).Request("all", {.all = true, .admin = true})}),
      "none");
  EXPECT_EQ(bed.Allocate(
                {MakeClaim("c").Request("r", {.admin = true}), MakeClaim("d").Request("r", {.admin = true})}),
            "c/r:drvA/pool-1/device-1 d/r:drvA/pool-1/device-1");
}

// Case 45.
TEST(Allocator, OrderOfAdministratorAndUserMatters) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(2)));
  EXPECT_EQ(bed.Allocate({MakeClaim("user").Request("r"), MakeClaim("admin").Request("r", {.admin = true})}),
            "user/r:drvA/pool-1/device-1 admin/r:drvA/pool-1/device-1");
  EXPECT_EQ(bed.Allocate({MakeClaim("admin").Request("r", {.admin = true}), MakeClaim("user").Request("r")}),
            "admin/r:drvA/pool-1/device-1 user/r:drvA/pool-1/device-2");
}

// Case 46.
TEST(Allocator, AdministratorsBlockNobody) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(1)));
  auto admin = MakeClaim("admin").Has({"pool-1/device-1"});
  admin.claim().status.allocation->devices.results.front().admin_access = true;
  bed.Add(admin);
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "pool-1/device-1");
}

// Case 47.
TEST(Allocator, TaintsMustBeTolerated) {
  DeviceBed bed;
  bed.Add(MakeSlice(
      "s", "pool-1",
      {MakeDevice("schedule").Taint("k", "NoSchedule"), MakeDevice("execute").Taint("k", "NoExecute")}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "none");
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.admin = true})), "none");
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.tolerations = {Tolerate("k", "NoExecute")}})),
            "pool-1/execute");
  bed.Add(MakeSlice("s", "pool-1", {MakeDevice("noted").Taint("k", "None")}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "pool-1/noted");
}

TEST(Allocator, TaintsDoNotCountWithTheGateOff) {
  DeviceBed bed({.device_taints = false});
  bed.Add(MakeSlice("s", "pool-1", {MakeDevice("d").Taint("k", "NoSchedule")}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "pool-1/d");
}

// Case 48.
TEST(Allocator, TaintRulesApplyToEveryDeviceTheySelect) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(2)));
  api::DeviceTaintRule rule;
  rule.metadata.name = "rule";
  rule.spec.taint = {.key = "k", .value = "", .effect = "NoSchedule", .time_added = {}};
  bed.Add(rule);
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "none");
  rule.spec.device_selector.emplace().device = "device-1";
  bed.Add(rule);
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "pool-1/device-2");
  bed.objects().Of<api::DeviceTaintRule>().Remove("", "rule");
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "pool-1/device-1");
}

// Case 14.
TEST(Allocator, FailingSelectorIsAnErrorWithAHint) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(1)));
  EXPECT_EQ(
      bed.DevicesFor(MakeClaim("c").Request("r", {.selector = "device.attributes[\"drvA\"].healthy"})),
      "error: claim default/c: selector #0 on device drvA/pool-1/device-1: CEL runtime error: no such key: "
      "healthy. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with "
      "has() for optional fields");
  EXPECT_THAT(bed.DevicesFor(MakeClaim("c").Request("r", {.selector = "noSuchVar"})),
              StartsWith("error: claim default/c: selector #0: CEL compile error: "));
}

// A device that is in use is not evaluated: its attributes may be what makes the selector fail.
TEST(Allocator, DevicesInUseAreNotEvaluated) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", {MakeDevice("broken"), MakeDevice("good").Text("model", "x")}));
  bed.Add(MakeClaim("other").Has({"pool-1/broken"}));
  EXPECT_EQ(
      bed.DevicesFor(MakeClaim("c").Request("r", {.selector = "device.attributes[\"drvA\"].model == \"x\""})),
      "pool-1/good");
}

// Case 15: the budget of steps ends the search.
TEST(Allocator, StopsWhenTheStepsAreUsedUp) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(10)));
  bed.steps_max = 0;
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.count = 10})), "timed out");
  bed.steps_max = 5;
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.count = 10})), "timed out");
}

// Upstream tries every subset here; two of a kind need not both be tried.
TEST(Allocator, InterchangeableDevicesAreNotTriedAgain) {
  DeviceBed bed;
  std::vector<api::Device> devices;
  for (int i = 0; i < 40; ++i) devices.push_back(MakeDevice("d" + std::to_string(i)).Int("numa", i % 2));
  bed.Add(MakeSlice("s", "pool-1", devices));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.count = 21}).Match("drvA/numa")), "none");
  EXPECT_LT(bed.allocator().steps(), 100'000u);
}

TEST(Allocator, TooFewDevicesAreNoticedEarly) {
  DeviceBed bed;
  std::vector<api::Device> devices;
  for (int i = 0; i < 31; ++i) devices.push_back(MakeDevice("d" + std::to_string(i)).Int("index", i));
  bed.Add(MakeSlice("s", "pool-1", devices));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.count = 32})), "none");
  EXPECT_LT(bed.allocator().steps(), 10'000u);
}

// A pod may have more claims than a stack has room for.
TEST(Allocator, ThousandClaimsNeedNoStack) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(3000)));
  std::vector<api::ResourceClaim> claims;
  for (int i = 0; i < 1000; ++i)
    claims.push_back(MakeClaim("c" + std::to_string(i)).Request("r", {.count = 3}));
  EXPECT_THAT(bed.Allocate(claims), HasSubstr("c999/r:drvA/pool-1/device-3000"));
}

struct GateCase {
  std::string_view name;
  Gates gates;
  api::ResourceClaim claim;
  std::string_view want;
};

class GateTest : public testing::TestWithParam<GateCase> {};

TEST_P(GateTest, RefusesWhatIsDisabled) {
  DeviceBed bed(GetParam().gates);
  bed.Add(MakeSlice("s", "pool-1", PlainDevices(1)));
  EXPECT_EQ(bed.DevicesFor(GetParam().claim), GetParam().want);
}

api::ResourceClaim WithDerived() {
  auto claim = MakeClaim("c").Request("r");
  claim.claim().spec.devices.requests.front().exactly->derived_attributes.push_back({"drvA/x", "1"});
  return claim;
}
api::ResourceClaim WithEmptySelector() {
  auto claim = MakeClaim("c").Request("r");
  claim.claim().spec.devices.requests.front().exactly->selectors.emplace_back();
  return claim;
}
api::ResourceClaim WithMode(std::string mode) {
  auto claim = MakeClaim("c").Request("r");
  claim.claim().spec.devices.requests.front().exactly->allocation_mode = std::move(mode);
  return claim;
}

INSTANTIATE_TEST_SUITE_P(
    Allocator, GateTest,
    testing::Values(
        GateCase{"Subrequests",
                 {.prioritized_list = false},
                 MakeClaim("c").FirstAvailable("r", {Alternatively("s", {})}),
                 "error: claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is "
                 "disabled"},
        GateCase{"Capacity",
                 {.consumable_capacity = false},
                 MakeClaim("c").Request("r", {.capacity = {{"memory", "1"}}}),
                 "error: claim default/c, request r: has capacity requests, but the DRAConsumableCapacity "
                 "feature is "
                 "disabled"},
        GateCase{"CapacityOfAlternative",
                 {.consumable_capacity = false},
                 MakeClaim("c").FirstAvailable("r", {Alternatively("s", {.capacity = {{"memory", "1"}}})}),
                 "error: claim default/c, subrequest s: has capacity requests, but the DRAConsumableCapacity "
                 "feature "
                 "is disabled"},
        GateCase{"Admin",
                 {.admin_access = false},
                 MakeClaim("c").Request("r", {.admin = true}),
                 "error: claim default/c, request r: admin access is requested, but the feature is disabled"},
        GateCase{"Derived",
                 {},
                 WithDerived(),
                 "error: claim default/c, request r: cannot handle request with derived attributes, the "
                 "feature is "
                 "disabled"},
        GateCase{"EmptySelector",
                 {},
                 WithEmptySelector(),
                 "error: claim default/c, request r, selector #0: CEL expression empty (unsupported selector "
                 "type?)"},
        GateCase{"NoClass",
                 {},
                 MakeClaim("c").Request("r", {.device_class = ""}),
                 "error: claim default/c, request r: missing device class name (unsupported request type?)"},
        GateCase{
            "Mode", {}, WithMode("Some"), "error: claim default/c, request r: unsupported count mode Some"},
        GateCase{"EmptyConstraint", {}, MakeClaim("c").Request("r").Match("drvA/x"), "none"},
        GateCase{"DistinctUnknownToTheOldest",
                 {.consumable_capacity = false, .binding_conditions = false},
                 MakeClaim("c").Request("r").Distinct("drvA/x"),
                 "error: claim default/c, constraint #0: empty constraint (unsupported constraint type?)"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace berth::dra::test
