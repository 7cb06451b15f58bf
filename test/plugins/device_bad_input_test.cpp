#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "plugins/device_harness.h"

// Claims, classes and slices that make no sense: the pod is told why in upstream's words, and the work is
// bounded.
namespace berth::plugins {
namespace {

using berth::test::DeviceHarness;
using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::PodBuilder;
using dra::test::MakeClaim;
using dra::test::MakeClass;
using dra::test::MakeDevice;
using dra::test::MakeSlice;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// One node with a pool of one device, and a pod that names the claim c.
class BadDeviceTest : public testing::Test {
 protected:
  BadDeviceTest() {
    harness_.Add(api::Node(MakeNode("n1"))).Add(MakeClass("A", "drvA"));
    harness_.Add(api::ResourceSlice(MakeSlice("s", "pool", {MakeDevice("d").Text("model", "x")})));
  }
  static PodBuilder Pod() {
    PodBuilder pod = MakePod("pod");
    return pod.ResourceClaim("entry", "c");
  }
  std::string SaysAbout(const api::ResourceClaim& claim) {
    harness_.Add(claim);
    return harness_.Schedule(Pod());
  }
  std::string SaysAboutSelector(std::string text) {
    return SaysAbout(MakeClaim("c").Request("r", {.selector = std::move(text)}));
  }

  DeviceHarness harness_;
};

// Case 2: the claim was deliberately not made, and there is nothing to wait for.
TEST_F(BadDeviceTest, EntryWithoutAClaimNeedsNone) {
  PodBuilder pod = MakePod("pod");
  pod.pod().spec.resource_claims.emplace_back().name = "entry";
  pod.pod().spec.resource_claims.back().resource_claim_template_name = "template";
  EXPECT_EQ(harness_.PreEnqueue(pod), "UU pod \"default/pod\": ResourceClaim not created yet");
  pod.pod().status.resource_claim_statuses.emplace_back().name = "entry";
  EXPECT_EQ(harness_.PreEnqueue(pod), "");
  EXPECT_EQ(harness_.Schedule(pod), "n1");
  EXPECT_EQ(harness_.Reserve(pod, "n1"), "");
  EXPECT_EQ(harness_.PreBind(), "");
  EXPECT_THAT(harness_.server().writes, IsEmpty());
}

TEST_F(BadDeviceTest, SelectorThatDoesNotCompile) {
  EXPECT_THAT(
      SaysAboutSelector("device.driver =="),
      StartsWith(
          "running \"DynamicResources\" filter plugin: claim default/c: selector #0: CEL compile error: "
          "compilation failed: ERROR: <input>:1:17: Syntax error: "));
  EXPECT_THAT(
      SaysAboutSelector("device.driver"),
      HasSubstr("selector #0: CEL compile error: must evaluate to bool or the unknown type, not string"));
  EXPECT_THAT(SaysAboutSelector(std::string(300, '(')),
              HasSubstr("expression recursion limit exceeded: 250"));
  // The same in a class concerns every claim of the class.
  api::DeviceClass broken = MakeClass("B", "drvA");
  broken.spec.selectors.front().cel->expression = "device.nope";
  harness_.Add(broken);
  EXPECT_THAT(
      SaysAbout(MakeClaim("c").Request("r", {.device_class = "B"})),
      HasSubstr("class B: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:7: undefined "
                "field 'nope'"));
}

TEST_F(BadDeviceTest, SelectorThatCostsTooMuch) {
  EXPECT_THAT(SaysAboutSelector("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))"),
              AllOf(HasSubstr("claim default/c: selector #0 on device drvA/pool/d: CEL runtime error: "),
                    HasSubstr("operation cancelled: actual cost limit exceeded")));
}

TEST_F(BadDeviceTest, UnknownClass) {
  EXPECT_THAT(SaysAbout(MakeClaim("c").Request("r", {.device_class = "nope"})),
              HasSubstr("request r: device class nope does not exist"));
  EXPECT_EQ(harness_.PostFilter(), "U ");
  EXPECT_THAT(SaysAbout(MakeClaim("c").Request("r", {.device_class = ""})),
              HasSubstr("request r: unsupported request type"));
}

// Case 4.
TEST_F(BadDeviceTest, ClaimThatIsBeingDeleted) {
  api::ResourceClaim claim = MakeClaim("c").Request("r");
  claim.metadata.deletion_timestamp.emplace();
  harness_.Add(claim);
  EXPECT_EQ(harness_.PreEnqueue(Pod()), "UU resourceclaim \"c\" is being deleted");
  EXPECT_THAT(harness_.Schedule(Pod()), HasSubstr("resourceclaim \"c\" is being deleted"));
}

TEST_F(BadDeviceTest, RequestOfNoKind) {
  api::ResourceClaim claim = MakeClaim("c").Request("r");
  claim.spec.devices.requests.front().exactly.reset();
  EXPECT_THAT(SaysAbout(claim), HasSubstr("resource claim default/c, request r: unknown request type"));
}

// A pool whose slices contradict each other offers nothing, and the pod hears that it is the pool's fault.
TEST_F(BadDeviceTest, CountersThatContradict) {
  const std::string invalid = "invalid resource pools were encountered";
  const std::vector<api::Device> consumer = {MakeDevice("d").Consumes("set", "memory", "1Gi")};
  const auto counters = [](const char* slice, const char* value) {
    return MakeSlice(slice, "pool").Counter("set", "memory", value).Generation(1, 3);
  };
  const auto with_set = [&](api::ResourceSlice first, api::ResourceSlice second) {
    harness_.Add(api::ResourceSlice(MakeSlice("s", "pool", consumer).Generation(1, 3)));
    harness_.Add(first).Add(second);
    return SaysAbout(MakeClaim("c").Request("r"));
  };
  EXPECT_THAT(with_set(counters("x", "8Gi"), counters("y", "4Gi")), HasSubstr(invalid));
  EXPECT_THAT(with_set(MakeSlice("x", "pool").Counter("set", "cores", "4").Generation(1, 3),
                       MakeSlice("y", "pool", {MakeDevice("e")}).Generation(1, 3)),
              HasSubstr(invalid));
  EXPECT_THAT(with_set(MakeSlice("x", "pool", {MakeDevice("d")}).Generation(1, 3), counters("y", "8Gi")),
              HasSubstr(invalid));
  EXPECT_EQ(with_set(counters("x", "8Gi"), MakeSlice("y", "pool", {MakeDevice("e")}).Generation(1, 3)), "n1");
}

// Negative and huge amounts do not make devices of nothing.
TEST_F(BadDeviceTest, CountersThatAreNegativeOrHuge) {
  const auto says = [&](const char* offered, const char* consumed) {
    harness_.Add(api::ResourceSlice(
        MakeSlice("s", "pool", {MakeDevice("d").Consumes("set", "memory", consumed)}).Generation(1, 2)));
    harness_.Add(
        api::ResourceSlice(MakeSlice("x", "pool").Counter("set", "memory", offered).Generation(1, 2)));
    return SaysAbout(MakeClaim("c").Request("r"));
  };
  EXPECT_EQ(says("100E", "100E"), "n1");
  EXPECT_THAT(says("99E", "100E"), HasSubstr("cannot allocate all claims"));
  EXPECT_THAT(says("-1", "0"), HasSubstr("cannot allocate all claims"));
  EXPECT_EQ(says("0", "0"), "n1");
}

class ManyClaimsTest : public BadDeviceTest {
 protected:
  static constexpr int kClaims = 1000;

  PodBuilder PodWithMany() {
    PodBuilder pod = MakePod("many");
    for (int i = 0; i < kClaims; ++i) {
      const std::string name = "c" + std::to_string(i);
      pod.ResourceClaim("entry-" + std::to_string(i), name);
      harness_.Add(api::ResourceClaim(MakeClaim(name).Request("r")));
    }
    return pod;
  }
  void AddDevices(int count) {
    std::vector<api::Device> devices;
    for (int i = 0; i < count; ++i) devices.push_back(MakeDevice("d" + std::to_string(i)));
    harness_.Add(api::ResourceSlice(MakeSlice("s", "pool", std::move(devices))));
  }
};

TEST_F(ManyClaimsTest, AreAllocatedTogether) {
  AddDevices(kClaims);
  const PodBuilder pod = PodWithMany();
  ASSERT_EQ(harness_.Schedule(pod), "n1");
  ASSERT_EQ(harness_.Reserve(pod, "n1"), "");
  EXPECT_EQ(harness_.state().claims().in_flight_count(), static_cast<std::size_t>(kClaims));
  ASSERT_EQ(harness_.PreBind(), "");
  EXPECT_EQ(harness_.server().writes.size(), static_cast<std::size_t>(kClaims));
}

// One device too few must not become a search through all ways to give out the others.
TEST_F(ManyClaimsTest, OneDeviceTooFewIsNoticed) {
  AddDevices(kClaims - 1);
  EXPECT_THAT(harness_.Schedule(PodWithMany()), HasSubstr("1 cannot allocate all claims"));
}

}  // namespace
}  // namespace berth::plugins
