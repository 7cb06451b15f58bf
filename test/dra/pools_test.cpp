#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dra/device_bed.h"

// Which slices make a pool, and in which order pools are searched.
namespace berth::dra::test {
namespace {

api::ResourceClaim Wanting(std::int64_t count) { return MakeClaim("c").Request("r", {.count = count}); }
api::ResourceClaim WantingAll() { return MakeClaim("c").Request("r", {.all = true}); }

// Case 28.
TEST(Pools, AreSearchedByNameAndSoAreSlices) {
  DeviceBed bed;
  for (const char* name : {"pool-3", "pool-2", "pool-1"}) {
    bed.Add(MakeSlice(std::string("s-") + name, name, {MakeDevice("d")}));
  }
  EXPECT_EQ(bed.DevicesFor(Wanting(2)), "pool-1/d pool-2/d");

  DeviceBed one_pool;
  for (const char* name : {"s3", "s2", "s1"}) {
    one_pool.Add(MakeSlice(name, "p", {MakeDevice(std::string("of-") + name)}).Generation(1, 3));
  }
  EXPECT_EQ(one_pool.DevicesFor(Wanting(2)), "p/of-s1 p/of-s2");
}

// Case 29.
TEST(Pools, WithBindingConditionsComeLast) {
  DeviceBed bed;
  bed.Add(MakeSlice("s1", "pool-1", {MakeDevice("d").BindingCondition("ready")}));
  bed.Add(MakeSlice("s2", "pool-2", {MakeDevice("d")}));
  bed.Add(MakeSlice("s3", "pool-3", {MakeDevice("d")}));
  EXPECT_EQ(bed.DevicesFor(Wanting(2)), "pool-2/d pool-3/d");
  EXPECT_EQ(bed.DevicesFor(Wanting(3)), "pool-2/d pool-3/d pool-1/d");
}

// Case 30.
TEST(Pools, KeepTheOrderOfTheirSlicesWhateverTheConditions) {
  DeviceBed bed;
  bed.Add(MakeSlice("slice-1", "p", {MakeDevice("d1").BindingCondition("ready")}).Generation(1, 2));
  bed.Add(MakeSlice("slice-2", "p", {MakeDevice("d2")}).Generation(1, 2));
  EXPECT_EQ(bed.DevicesFor(Wanting(2)), "p/d1 p/d2");
}

TEST(Pools, DevicesWithConditionsAreOutWithTheGateOff) {
  DeviceBed bed({.binding_conditions = false});
  bed.Add(MakeSlice("s1", "p", {MakeDevice("d1").BindingCondition("ready"), MakeDevice("d2")}));
  EXPECT_EQ(bed.DevicesFor(Wanting(1)), "p/d2");
}

// Case 31.
TEST(Pools, NewGenerationCountsOnlyWhenComplete) {
  DeviceBed bed;
  bed.Add(MakeSlice("old", "p", {MakeDevice("d1")}).Generation(1));
  bed.Add(MakeSlice("new", "p", {MakeDevice("d2")}).Generation(2, 2));
  EXPECT_EQ(bed.DevicesFor(Wanting(1)), "none");
  bed.Add(MakeSlice("newer", "p", {MakeDevice("d3")}).Generation(2, 2));
  EXPECT_EQ(bed.DevicesFor(Wanting(2)), "p/d2 p/d3");
}

// Case 32.
TEST(Pools, CompleteOldGenerationServesItsNode) {
  DeviceBed bed;
  bed.AddNode("n2");
  bed.Add(MakeSlice("old", "p", {MakeDevice("d1")}).OnNode("n1").Generation(1));
  bed.Add(MakeSlice("new", "p", {MakeDevice("d2")}).OnNode("n2").Generation(2));
  EXPECT_EQ(bed.DevicesFor(Wanting(1), "n1"), "p/d1");
  EXPECT_EQ(bed.DevicesFor(Wanting(1), "n2"), "p/d2");
}

// Case 33.
TEST(Pools, IncompleteOldGenerationIsDroppedForANewerOne) {
  DeviceBed bed;
  bed.AddNode("n2");
  bed.Add(MakeSlice("old", "p", {MakeDevice("d1")}).OnNode("n1").Generation(1, 2));
  bed.Add(MakeSlice("new", "p", {MakeDevice("d2")}).OnNode("n2").Generation(2));
  EXPECT_EQ(bed.DevicesFor(Wanting(1), "n1"), "none");
  EXPECT_EQ(bed.DevicesFor(WantingAll(), "n1"), "none");
}

// Case 34.
TEST(Pools, DuplicateDeviceMakesThePoolInvalid) {
  DeviceBed bed;
  bed.Add(MakeSlice("s1", "p", {MakeDevice("d")}).Generation(1, 2));
  bed.Add(MakeSlice("s2", "p", {MakeDevice("d")}).Generation(1, 2));
  EXPECT_EQ(bed.DevicesFor(Wanting(1)), "invalid pools");
  EXPECT_EQ(bed.DevicesFor(WantingAll()),
            "error: claim default/c, request r: asks for all devices, but resource pool drvA/p is currently "
            "invalid");
  bed.Add(MakeSlice("s3", "q", {MakeDevice("d")}));
  EXPECT_EQ(bed.DevicesFor(Wanting(1)), "q/d");
}

// Case 35.
TEST(Pools, TooManySlicesAreIncompleteToo) {
  DeviceBed bed;
  for (const char* name : {"s1", "s2", "s3"}) {
    bed.Add(MakeSlice(name, "p", {MakeDevice(std::string("of-") + name)}).Generation(1, 2));
  }
  EXPECT_EQ(bed.DevicesFor(Wanting(1)), "none");
}

// Cases 36 and 42.
TEST(Pools, AllOfAnIncompletePoolIsAnError) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "pool-1", {MakeDevice("d")}).Generation(1, 2));
  const std::string want =
      "error: claim default/c, request {}: asks for all devices, but resource pool drvA/pool-1 is currently "
      "being "
      "updated";
  EXPECT_EQ(bed.DevicesFor(WantingAll()), fmt::format(fmt::runtime(want), "r"));
  bed.Add(MakeSlice("t", "pool-2", {MakeDevice("d")}));
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").FirstAvailable(
                "r", {Alternatively("all", {.all = true}), Alternatively("one", {})})),
            fmt::format(fmt::runtime(want), "all"));
}

TEST(Pools, FollowTheLabelsOfNodes) {
  DeviceBed bed;
  bed.AddNode("n2", "zone-a");
  bed.Add(MakeSlice("s", "p", {MakeDevice("d")}).NodeLabel("topology.kubernetes.io/zone", "zone-a"));
  EXPECT_EQ(bed.DevicesFor(Wanting(1), "n1"), "none");
  EXPECT_EQ(bed.DevicesFor(Wanting(1), "n2"), "p/d");
  bed.AddNode("n1", "zone-a").AddNode("n2", "zone-b");
  EXPECT_EQ(bed.DevicesFor(Wanting(1), "n1"), "p/d");
  EXPECT_EQ(bed.DevicesFor(Wanting(1), "n2"), "none");
}

TEST(Pools, BadNodeSelectorIsAnError) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "p", {MakeDevice("d")}).NodeLabel("no good key!", "x"));
  EXPECT_TRUE(
      bed.DevicesFor(Wanting(1))
          .starts_with("error: gather pool information: failed to perform node selection for slice s: "));
}

TEST(Pools, DevicesChooseTheirNodesThemselves) {
  DeviceBed bed;
  bed.AddNode("n2");
  bed.Add(
      MakeSlice("s", "p",
                {MakeDevice("d1").OnNode("n1"), MakeDevice("d2").OnNode("n2"), MakeDevice("d3").OnAllNodes()})
          .PerDevice());
  EXPECT_EQ(bed.DevicesFor(Wanting(2), "n1"), "p/d1 p/d3");
  EXPECT_EQ(bed.DevicesFor(Wanting(2), "n2"), "p/d2 p/d3");
  DeviceBed off({.partitionable_devices = false});
  off.Add(MakeSlice("s", "p", {MakeDevice("d1").OnNode("n1")}).PerDevice());
  EXPECT_EQ(off.DevicesFor(Wanting(1), "n1"), "none");
}

// Nodes that the same slices are for must not each have a copy of their devices.
TEST(Pools, NodesShareViewsOfNetworkDevices) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "p", {MakeDevice("d")}));
  for (int i = 2; i < 50; ++i) bed.AddNode("n" + std::to_string(i));
  for (int i = 1; i < 50; ++i) EXPECT_EQ(bed.DevicesFor(Wanting(1), "n" + std::to_string(i)), "p/d");
  EXPECT_EQ(bed.state().pools().view_count(), 1u);
}

TEST(Pools, NothingIsLeftOfSlicesThatAreGone) {
  DeviceBed bed;
  bed.Add(MakeSlice("s", "p", {MakeDevice("d").Text("a", "b")}));
  EXPECT_EQ(bed.DevicesFor(Wanting(1)), "p/d");
  bed.RemoveSlice("s");
  EXPECT_EQ(bed.DevicesFor(Wanting(1)), "none");
  EXPECT_TRUE(bed.state().devices().empty());
  EXPECT_TRUE(bed.state().selectors().empty());
}

}  // namespace
}  // namespace berth::dra::test
