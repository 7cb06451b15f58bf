#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dra/device_bed.h"

// Constraints, shared counters and consumable capacity.
namespace berth::dra::test {
namespace {

api::ResourceClaim Matching(std::int64_t count) {
  return MakeClaim("c").Request("r", {.count = count}).Match("drvA/numa");
}
api::ResourceClaim Differing(std::int64_t count) {
  return MakeClaim("c").Request("r", {.count = count}).Distinct("drvA/numa");
}

// Case 49.
TEST(Constraints, DomainOfTheDriverMayBeLeftOut) {
  DeviceBed bed;
  bed.Add(MakeSlice(
      "s", "p", {MakeDevice("none"), MakeDevice("d1").Int("numa", 1), MakeDevice("d2").Int("drvA/numa", 1)}));
  EXPECT_EQ(bed.DevicesFor(Matching(2)), "p/d1 p/d2");
  EXPECT_EQ(bed.DevicesFor(Matching(3)), "none");
}

// Case 50.
TEST(Constraints, VersionsAreComparedAsTexts) {
  DeviceBed bed;
  bed.Add(MakeSlice(
      "s", "p", {MakeDevice("d1").Version("numa", "1.0.0"), MakeDevice("d2").Version("numa", "1.0.0+b")}));
  EXPECT_EQ(bed.DevicesFor(Matching(2)), "none");
  EXPECT_EQ(bed.DevicesFor(Differing(2)), "p/d1 p/d2");
}

// Case 51.
TEST(Constraints, DistinctValuesAreAllDifferent) {
  DeviceBed bed;
  bed.Add(MakeSlice(
      "s", "p",
      {MakeDevice("d1").Int("numa", 1), MakeDevice("d2").Int("numa", 2), MakeDevice("d3").Int("numa", 1)}));
  EXPECT_EQ(bed.DevicesFor(Differing(2)), "p/d1 p/d2");
  EXPECT_EQ(bed.DevicesFor(Differing(3)), "none");
  bed.Add(MakeSlice("s", "p", {MakeDevice("d1").Int("numa", 1), MakeDevice("d2").Text("numa", "1")}));
  EXPECT_EQ(bed.DevicesFor(Differing(2)), "p/d1 p/d2");
  EXPECT_EQ(bed.DevicesFor(Matching(2)), "none");
}

// Case 52.
TEST(Constraints, ListsMatchWhileTheyHaveSomethingInCommon) {
  DeviceBed bed({.list_type_attributes = true});
  bed.Add(MakeSlice("s", "p",
                    {MakeDevice("ab").Texts("numa", {"a", "b"}), MakeDevice("bc").Texts("numa", {"b", "c"}),
                     MakeDevice("c").Texts("numa", {"c"})}));
  EXPECT_EQ(bed.DevicesFor(Matching(2)), "p/ab p/bc");
  EXPECT_EQ(bed.DevicesFor(Matching(3)), "none");
  EXPECT_EQ(bed.DevicesFor(Differing(2)), "p/ab p/c");
  // [a,b] with [b,c] leaves b; once [b,c] is given back, [a,b] must be whole again for [a].
  bed.Add(MakeSlice("s", "p",
                    {MakeDevice("ab").Texts("numa", {"a", "b"}), MakeDevice("bc").Texts("numa", {"b", "c"}),
                     MakeDevice("a").Text("numa", "a"), MakeDevice("ax").Texts("numa", {"a", "x"})}));
  EXPECT_EQ(bed.DevicesFor(Matching(3)), "p/ab p/a p/ax");
}

// Case 53.
TEST(Constraints, ListsOfSeveralDevicesAreRefusedWithTheGateOff) {
  DeviceBed bed;
  bed.Add(
      MakeSlice("s", "p", {MakeDevice("d1").Texts("numa", {"a"}), MakeDevice("d2").Texts("numa", {"b"})}));
  EXPECT_EQ(bed.DevicesFor(Matching(1)), "p/d1");
  EXPECT_EQ(bed.DevicesFor(Differing(1)), "p/d1");
  EXPECT_EQ(bed.DevicesFor(Matching(2)), "none");
  EXPECT_EQ(bed.DevicesFor(Differing(2)), "none");
}

TEST(Constraints, ApplyToTheRequestsThatTheyName) {
  DeviceBed bed;
  bed.Add(MakeSlice(
      "s", "p",
      {MakeDevice("d1").Int("numa", 1), MakeDevice("d2").Int("numa", 2), MakeDevice("d3").Int("numa", 1)}));
  EXPECT_EQ(bed.DevicesFor(
                MakeClaim("c").Request("r0").Request("r1").Request("r2").Match("drvA/numa", {"r0", "r2"})),
            "p/d1 p/d2 p/d3");
}

std::string DerivedOutcome(const std::string& expression) {
  DeviceBed bed({.derived_attributes = true});
  bed.Add(MakeSlice("s", "p",
                    {MakeDevice("d1").Int("index", 1), MakeDevice("d2").Int("index", 2),
                     MakeDevice("d3").Int("index", 3)}));
  auto claim = MakeClaim("c").Request("r", {.count = 2}).Match("drvA/parity");
  claim.claim().spec.devices.requests.front().exactly->derived_attributes.push_back(
      {"drvA/parity", expression});
  return bed.DevicesFor(claim);
}

TEST(Constraints, DerivedAttributesAreComputedPerDevice) {
  EXPECT_EQ(DerivedOutcome("device.attributes[\"drvA\"].index % 2"), "p/d1 p/d3");
  EXPECT_TRUE(
      DerivedOutcome("nonsense").starts_with("error: compile derived attribute drvA/parity failed: "));
  EXPECT_EQ(DerivedOutcome("device.attributes[\"drvA\"].nope"),
            "error: evaluate derived attribute drvA/parity on device drvA/p/d1 failed: no such key: nope");
}

api::ResourceSlice CounterSlice() {
  return MakeSlice("counters", "p").Generation(1, 2).Counter("X", "memory", "8Gi");
}

// Case 54.
TEST(Counters, AreSharedByTheDevicesOfThePool) {
  DeviceBed bed;
  bed.Add(CounterSlice());
  bed.Add(MakeSlice("devices", "p",
                    {MakeDevice("d1").Consumes("X", "memory", "4Gi"),
                     MakeDevice("d2").Consumes("X", "memory", "6Gi"),
                     MakeDevice("d3").Consumes("X", "memory", "4Gi")})
              .Generation(1, 2));
  EXPECT_EQ(bed.Allocate({MakeClaim("c").Request("r0").Request("r1")}), "c/r0:drvA/p/d1 c/r1:drvA/p/d3");
  bed.Add(MakeClaim("other").Has({"p/d1"}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "p/d3");
  bed.RemoveClaim("other");
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "p/d1");
}

// Such a claim made kube-scheduler crash once.
TEST(Counters, AllDevicesOfAPoolShareItsCounters) {
  DeviceBed bed;
  bed.Add(CounterSlice());
  const auto devices = [](const char* second) {
    return MakeSlice("devices", "p",
                     {MakeDevice("d1").Consumes("X", "memory", "4Gi"),
                      MakeDevice("d2").Consumes("X", "memory", second)})
        .Generation(1, 2);
  };
  bed.Add(devices("4Gi"));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.all = true})), "p/d1 p/d2");
  bed.Add(devices("5Gi"));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.all = true})), "none");
}

// Case 55.
TEST(Counters, OverCommittedSetBlocksAllConsumersOfThePool) {
  DeviceBed bed;
  bed.Add(MakeSlice("counters", "p")
              .Generation(1, 2)
              .Counter("X", "memory", "8Gi")
              .Counter("Y", "memory", "8Gi"));
  bed.Add(MakeSlice("devices", "p",
                    {MakeDevice("x").Consumes("X", "memory", "9Gi"),
                     MakeDevice("y").Consumes("Y", "memory", "1Gi"), MakeDevice("z")})
              .Generation(1, 2));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "p/y");
  bed.Add(MakeClaim("other").Has({"p/x"}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "p/z");
}

// Case 56.
TEST(Counters, CountDevicesOnOtherNodes) {
  DeviceBed bed;
  bed.AddNode("n2");
  bed.Add(MakeSlice("counters", "p").Generation(1, 3).Counter("X", "memory", "8Gi"));
  bed.Add(
      MakeSlice("s1", "p", {MakeDevice("d1").Consumes("X", "memory", "5Gi")}).OnNode("n1").Generation(1, 3));
  bed.Add(
      MakeSlice("s2", "p", {MakeDevice("d2").Consumes("X", "memory", "5Gi")}).OnNode("n2").Generation(1, 3));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r"), "n1"), "p/d1");
  bed.Add(MakeClaim("other").Has({"p/d2"}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r"), "n1"), "none");
}

// Case 57.
TEST(Counters, ThatAreUnknownOrDoubleMakeThePoolInvalid) {
  for (const auto& device :
       {MakeDevice("d").Consumes("Y", "memory", "1"), MakeDevice("d").Consumes("X", "cores", "1")}) {
    DeviceBed bed;
    bed.Add(CounterSlice());
    bed.Add(MakeSlice("devices", "p", {device}).Generation(1, 2));
    EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "invalid pools");
  }
  DeviceBed bed;
  bed.Add(CounterSlice());
  bed.Add(MakeSlice("again", "p").Generation(1, 2).Counter("X", "memory", "1"));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "invalid pools");
}

// Case 58, and what the groups do with the gate on.
TEST(Counters, CompatibilityGroups) {
  const auto fill = [](DeviceBed& bed) {
    bed.Add(CounterSlice());
    bed.Add(MakeSlice("devices", "p",
                      {MakeDevice("a").Consumes("X", "memory", "1").Groups({"g"}),
                       MakeDevice("b").Consumes("X", "memory", "1").Groups({"h"}),
                       MakeDevice("c").Consumes("X", "memory", "1").Groups({"h", "g"}),
                       MakeDevice("d").Consumes("X", "memory", "1")})
                .Generation(1, 2));
    bed.Add(MakeSlice("other", "q", {MakeDevice("d")}));
  };
  DeviceBed off;
  fill(off);
  EXPECT_EQ(off.DevicesFor(MakeClaim("c").Request("r")), "q/d");
  DeviceBed on({.compatibility_groups = true});
  fill(on);
  EXPECT_EQ(on.DevicesFor(MakeClaim("c").Request("r", {.count = 3})), "p/a p/c q/d");
  on.Add(MakeClaim("other").Has({"p/d"}));
  EXPECT_EQ(on.DevicesFor(MakeClaim("c").Request("r", {.count = 2})), "none");
}

api::ResourceClaim WantingMemory(std::string name, const std::string& amount) {
  return MakeClaim(std::move(name)).Request("r", {.capacity = {{"memory", amount}}});
}
std::string ConsumedText(const api::AllocationResult& allocation) {
  std::string text;
  for (const auto& result : allocation.devices.results) {
    for (const auto& [name, amount] : result.consumed_capacity) text += name + "=" + amount.ToString();
  }
  return text;
}

// Case 59.
TEST(Capacity, IsSharedByClaims) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "p", {MakeDevice("d").Shared().Capacity("memory", "2")}));
  EXPECT_EQ(bed.Allocate({WantingMemory("c", "1"), WantingMemory("d", "1")}), "c/r:drvA/p/d d/r:drvA/p/d");
  const auto& first = bed.allocations()[0];
  const auto& second = bed.allocations()[1];
  EXPECT_EQ(ConsumedText(first), "memory=1");
  EXPECT_EQ(ConsumedText(second), "memory=1");
  EXPECT_NE(first.devices.results[0].share_id, second.devices.results[0].share_id);
  EXPECT_EQ(bed.Allocate({WantingMemory("c", "1"), WantingMemory("d", "2")}), "none");
}

TEST(Capacity, OfClaimsThatHaveAShareCounts) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "p", {MakeDevice("d").Shared().Capacity("memory", "3")}));
  bed.Add(MakeClaim("other").HasShare("p/d", "x", {{"memory", Amount("2")}}));
  EXPECT_EQ(bed.Allocate({WantingMemory("c", "1")}), "c/r:drvA/p/d");
  EXPECT_EQ(bed.Allocate({WantingMemory("c", "2")}), "none");
  bed.RemoveClaim("other");
  EXPECT_EQ(bed.Allocate({WantingMemory("c", "2")}), "c/r:drvA/p/d");
  // Somebody has all of it.
  bed.Add(MakeClaim("owner").Has({"p/d"}));
  EXPECT_EQ(bed.Allocate({WantingMemory("c", "1")}), "none");
}

// Case 60.
TEST(Capacity, ThatNobodyAsksForIsTakenWhole) {
  DeviceBed bed;
  bed.Add(MakeSlice(
      "s", "p",
      {MakeDevice("d1").Shared().Capacity("memory", "2"), MakeDevice("d2").Capacity("memory", "2")}));
  EXPECT_EQ(bed.Allocate({MakeClaim("c").Request("r"), MakeClaim("d").Request("r")}),
            "c/r:drvA/p/d1 d/r:drvA/p/d2");
}

api::CapacityRequestPolicy Range(std::string_view min, std::string_view step, std::string_view max) {
  api::CapacityRequestPolicy policy;
  policy.default_ = Amount(min);
  policy.valid_range = {.min = Amount(min), .max = Amount(max), .step = Amount(step)};
  return policy;
}

std::string ConsumedOf(const api::CapacityRequestPolicy& policy, const std::string& amount,
                       bool fractional = false) {
  DeviceBed bed({.fractional_capacity_range = fractional});
  bed.Add(
      MakeSlice("s", "p", {MakeDevice("d").Shared().Capacity("memory", "100Gi").Policy("memory", policy)}));
  const std::string outcome = bed.DevicesFor(WantingMemory("c", amount));
  return outcome == "p/d" ? ConsumedText(bed.allocations().front()) : outcome;
}

// Case 61.
TEST(Capacity, IsRoundedUpToTheNextStep) {
  const api::CapacityRequestPolicy policy = Range("2", "2", "4");
  EXPECT_EQ(ConsumedOf(policy, "1"), "memory=2");
  EXPECT_EQ(ConsumedOf(policy, "3"), "memory=4");
  EXPECT_EQ(ConsumedOf(policy, "5"), "none");
  EXPECT_EQ(
      ConsumedOf(policy, "18446744073709551616"),
      "error: claim default/c, request r: checking capacity for device drvA/p/d: capacity \"memory\": "
      "capacity "
      "request cannot be represented in the device's range arithmetic: request 18446744073709551616 exceeds "
      "MaxInt64");
  EXPECT_EQ(ConsumedOf(Range("2Gi", "2Gi", "64Gi"), "15Gi"), "memory=16Gi");
}

// Case 62.
TEST(Capacity, IsOneOfTheValidValues) {
  api::CapacityRequestPolicy zero;
  zero.default_ = Amount("0");
  zero.valid_values = {Amount("0")};
  EXPECT_EQ(ConsumedOf(zero, "1"), "none");
  DeviceBed bed;
  bed.Add(MakeSlice("s", "p", {MakeDevice("d").Shared().Capacity("memory", "2").Policy("memory", zero)}));
  EXPECT_EQ(bed.Allocate({MakeClaim("c").Request("r"), MakeClaim("d").Request("r")}),
            "c/r:drvA/p/d d/r:drvA/p/d");
  api::CapacityRequestPolicy values;
  values.default_ = Amount("1");
  values.valid_values = {Amount("1"), Amount("4")};
  EXPECT_EQ(ConsumedOf(values, "3"), "memory=4");
  EXPECT_EQ(ConsumedOf(values, "5"), "none");
}

// Case 63.
TEST(Capacity, ThatIsNegativeIsAnError) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "p", {MakeDevice("d").Capacity("memory", "2")}));
  EXPECT_EQ(bed.DevicesFor(WantingMemory("c", "-5")),
            "error: claim default/c, request r: checking capacity for device drvA/p/d: capacity \"memory\": "
            "capacity "
            "value is negative");
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.all = true, .capacity = {{"memory", "-5"}}})),
            "error: claim default/c, request r: checking capacity for device d: capacity \"memory\": "
            "capacity value "
            "is negative");
}

// Case 64.
TEST(Capacity, NamesAreTakenLiterally) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "p", {MakeDevice("d").Capacity("memory", "2")}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.capacity = {{"drvA/memory", "1"}}})), "none");
}

// Case 65.
TEST(Capacity, SecondShareDoesNotPayTheCountersAgain) {
  DeviceBed bed;
  bed.Add(CounterSlice());
  bed.Add(MakeSlice("devices", "p",
                    {MakeDevice("d").Shared().Capacity("memory", "2").Consumes("X", "memory", "8Gi")})
              .Generation(1, 2));
  EXPECT_EQ(bed.Allocate({WantingMemory("c", "1"), WantingMemory("d", "1")}), "c/r:drvA/p/d d/r:drvA/p/d");
  bed.Add(MakeClaim("other").HasShare("p/d", "x"));
  EXPECT_EQ(bed.Allocate({WantingMemory("c", "1")}), "c/r:drvA/p/d");
}

// Case 66.
TEST(Capacity, OneRequestNeverTakesADeviceTwice) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "p", {MakeDevice("d").Shared().Capacity("memory", "2")}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.count = 2, .capacity = {{"memory", "1"}}})), "none");
}

// Case 67.
TEST(Capacity, PartsOfUnitsNeedTheirGate) {
  EXPECT_EQ(ConsumedOf(Range("200m", "100m", "1"), "200m"), "memory=1");
  EXPECT_EQ(ConsumedOf(Range("200m", "100m", "1"), "250m", true), "memory=300m");
}

TEST(Capacity, DoesNotCountWithTheGateOff) {
  DeviceBed bed({.consumable_capacity = false});
  bed.Add(MakeSlice("s", "p", {MakeDevice("d").Shared().Capacity("memory", "2")}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "p/d");
  EXPECT_FALSE(bed.allocations().front().devices.results.front().share_id);
  bed.Add(MakeClaim("other").HasShare("p/d", "x"));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")), "none");
}

}  // namespace
}  // namespace berth::dra::test
