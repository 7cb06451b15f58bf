#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "plugins/volume_bed.h"

namespace berth::plugins::test {
namespace {

using framework::EventResource;

constexpr const char* kGce = "pd.csi.storage.gke.io";
const std::string kTooMany = "U node(s) exceed max volume count";

class LimitsTest : public testing::Test {
 protected:
  LimitsTest() { bed_.Add(MakeNode("n1").Build()); }

  // A claim that is bound to a volume of a CSI driver.
  void Bound(const std::string& claim, const char* driver = kEbs) {
    bed_.Set(MakeVolume("pv-" + claim).Csi(driver, "handle-" + claim));
    bed_.Set(MakeClaim(claim).BoundTo("pv-" + claim));
  }
  void Running(const char* name, std::vector<std::string> claims) {
    PodBuilder pod = MakePod(name).Node("n1");
    for (std::string& claim : claims) pod.VolumeClaim(std::move(claim));
    bed_.Add(pod);
  }
  std::string Says(const std::string& claim) {
    return bed_.Verdict(MakePod("wants-" + claim).VolumeClaim(claim), "n1");
  }

  VolumeBed bed_{"NodeVolumeLimits"};
};

TEST_F(LimitsTest, Case67WhoIsSkipped) {
  EXPECT_EQ(bed_.PreFilter(MakePod("a")), "Skip");
  api::Volume csi;
  csi.name = "v";
  csi.volume_source.csi = {kEbs};
  EXPECT_EQ(bed_.PreFilter(MakePod("b").Volume(csi)), "Skip");
  api::Volume azure;
  azure.name = "v";
  azure.volume_source.azure_file.emplace();
  bed_.Set(MakeCsiNode("n1", {{"file.csi.azure.com", 0}}));
  EXPECT_EQ(bed_.PreFilter(MakePod("c").Volume(azure)), "");
  EXPECT_EQ(bed_.Verdict(MakePod("c").Volume(azure), "n1"), "");
}

TEST_F(LimitsTest, Case68LimitOfADriver) {
  for (const char* const claim : {"a", "b", "c"}) Bound(claim);
  Running("r1", {"a"});
  Running("r2", {"b", "b"});
  const auto with_limit = [&](int limit, const char* claim) {
    bed_.Set(MakeCsiNode("n1", {{kEbs, limit}}));
    return Says(claim);
  };
  EXPECT_EQ(with_limit(2, "c"), kTooMany);
  EXPECT_EQ(with_limit(3, "c"), "");
  EXPECT_EQ(with_limit(4, "c"), "");
  EXPECT_EQ(with_limit(2, "a"), "");
  EXPECT_EQ(with_limit(-1, "c"), "");
  EXPECT_EQ(with_limit(0, "c"), kTooMany);
  EXPECT_EQ(with_limit(0, "a"), "");
}

TEST_F(LimitsTest, Case69And75Attachments) {
  for (const char* const claim : {"a", "b", "c"}) Bound(claim);
  bed_.Set(MakeVolume("nfs"));
  bed_.Set(MakeCsiNode("n1", {{kEbs, 2}}));
  bed_.Set(MakeAttachment("x", "n1", kEbs, "pv-a"));
  EXPECT_EQ(Says("c"), "");
  // None of these counts.
  bed_.Set(MakeAttachment("s", "n1", "", "pv-b")).Set(MakeAttachment("t", "n1", kEbs, ""));
  bed_.Set(MakeAttachment("u", "n1", kEbs, "nfs")).Set(MakeAttachment("v", "n1", kEbs, "gone"));
  bed_.Set(MakeAttachment("w", "n2", kEbs, "pv-b")).Set(MakeAttachment("x2", "n1", kEbs, "pv-a"));
  EXPECT_EQ(Says("c"), "");
  bed_.Set(MakeAttachment("y", "n1", kEbs, "pv-b"));
  EXPECT_EQ(Says("c"), kTooMany);
  // A pod that uses an attached volume adds nothing to it.
  Running("r", {"b"});
  bed_.Set(MakeCsiNode("n1", {{kEbs, 3}}));
  EXPECT_EQ(Says("c"), "");
  bed_.Remove<api::VolumeAttachment>("y").Remove<api::VolumeAttachment>("x");
  bed_.Remove<api::VolumeAttachment>("x2").Set(MakeCsiNode("n1", {{kEbs, 2}}));
  EXPECT_EQ(Says("c"), "");
}

// For whom a failed attempt speaks.
TEST_F(LimitsTest, PodsWithAsManyNewVolumesAreAlike) {
  for (const char* const claim : {"a", "b", "c", "d", "shared"}) Bound(claim);
  Running("r1", {"a"});
  Running("r2", {"shared"});
  bed_.Set(MakeCsiNode("n1", {{kEbs, 1}}));
  const auto wants = [&](const char* name, std::vector<std::string> claims) {
    PodBuilder pod = MakePod(name);
    for (std::string& claim : claims) pod.VolumeClaim(std::move(claim));
    return bed_.Likeness(pod);
  };
  const std::uint64_t one = wants("one", {"b"});
  EXPECT_NE(one, 0U);
  EXPECT_EQ(wants("other", {"c"}), one);
  EXPECT_NE(wants("two", {"b", "c"}), one);
  EXPECT_EQ(wants("twin", {"c", "d"}), wants("two", {"b", "c"}));
  EXPECT_EQ(wants("user", {"shared", "d"}), 0U) << "whether a volume is there already is its own matter";

  Bound("e", kGce);
  bed_.Set(MakeCsiNode("n1", {{kEbs, 1}, {kGce, 0}}));
  EXPECT_NE(wants("of-another-driver", {"e"}), one);
}

TEST_F(LimitsTest, Case69AttachmentOfTheVeryVolumeCountsTwice) {
  Bound("a");
  bed_.Set(MakeCsiNode("n1", {{kEbs, 1}})).Set(MakeAttachment("x", "n1", kEbs, "pv-a"));
  EXPECT_EQ(Says("a"), kTooMany);
}

TEST_F(LimitsTest, Case70ClaimsWithoutAVolumeCountByTheirClass) {
  Bound("new");
  bed_.Set(MakeClass("made", kEbs)).Set(MakeCsiNode("n1", {{kEbs, 2}}));
  bed_.Set(MakeClaim("open").Class("made")).Set(MakeClaim("classless"));
  Running("r1", {"open", "classless"});
  Running("r2", {"open"});
  EXPECT_EQ(Says("new"), "");
  bed_.Set(MakeClaim("lost").Class("made").BoundTo("gone"));
  Running("r3", {"lost"});
  EXPECT_EQ(Says("new"), kTooMany);
  // The class goes, and with it what is known.
  bed_.Remove<api::StorageClass>("made");
  EXPECT_EQ(Says("new"), "");
}

TEST_F(LimitsTest, Case71BuiltInVolumesCountWhereADriverIs) {
  for (const char* const name : {"a", "b"}) {
    bed_.Set(MakeVolume(std::string("pv-") + name).Ebs(std::string("aws://zone/vol-") + name));
    bed_.Set(MakeClaim(name).BoundTo(std::string("pv-") + name));
  }
  Running("r", {"a"});
  EXPECT_EQ(Says("b"), "");
  bed_.Set(MakeCsiNode("n1", {{kEbs, 1}}));
  EXPECT_EQ(Says("b"), kTooMany);
  // The same disk under its other name.
  bed_.Set(MakeVolume("csi").Csi(kEbs, "vol-a")).Set(MakeClaim("c").BoundTo("csi"));
  EXPECT_EQ(Says("c"), "");
  bed_.Remove<api::CSINode>("n1");
  EXPECT_EQ(Says("b"), "");
}

TEST_F(LimitsTest, Case72ClaimsThatCannotBeRead) {
  Bound("a");
  bed_.Set(MakeCsiNode("n1", {{kEbs, 5}}));
  EXPECT_EQ(bed_.Verdict(MakePod("p").Namespace("test").VolumeClaim("abc-xyz"), "n1"),
            "UU looking up PVC test/abc-xyz: persistentvolumeclaim \"abc-xyz\" not found");
  Running("r1", {"gone"});
  EXPECT_EQ(Says("a"), "");
  bed_.Add(MakePod("r2").Uid("u2").Node("n1").Volume(EphemeralVolume("v")));
  bed_.Set(MakeClaim("r2-v").Owner("another"));
  EXPECT_EQ(bed_.Error(MakePod("q").VolumeClaim("a")),
            "running \"NodeVolumeLimits\" filter plugin: PVC default/r2-v was not created for pod default/r2 "
            "(pod is not owner)");
  bed_.Set(MakeClaim("r2-v").Owner("u2"));
  EXPECT_EQ(Says("a"), "");
}

TEST_F(LimitsTest, Case73DriverMustBeThere) {
  Bound("a");
  const std::string missing = "U ebs.csi.aws.com CSI driver is not installed on the node";
  EXPECT_EQ(Says("a"), "");
  bed_.Set(MakeDriver(kEbs, false, false));
  EXPECT_EQ(Says("a"), "");
  bed_.Set(MakeDriver(kEbs, false, true));
  EXPECT_EQ(Says("a"), missing);
  bed_.Set(MakeCsiNode("n1", {{kGce, 1}}));
  EXPECT_EQ(Says("a"), missing);
  bed_.Set(MakeCsiNode("n1", {{kEbs, -1}}));
  EXPECT_EQ(Says("a"), "");
  PluginHarness::Options options{.plugins = {{"NodeVolumeLimits", 1}}};
  options.features.volume_limit_scaling = false;
  VolumeBed off(options);
  off.Add(MakeNode("n1").Build()).Set(MakeDriver(kEbs, false, true));
  off.Set(MakeVolume("pv").Csi(kEbs, "h")).Set(MakeClaim("a").BoundTo("pv"));
  EXPECT_EQ(off.Verdict(MakePod("p").VolumeClaim("a"), "n1"), "");
}

TEST_F(LimitsTest, Case74DriversHaveLimitsOfTheirOwn) {
  Bound("e1");
  Bound("e2");
  Bound("g1", kGce);
  bed_.Set(MakeCsiNode("n1", {{kEbs, 1}, {kGce, 1}}));
  Running("r", {"e1", "e2"});
  EXPECT_EQ(Says("g1"), "");
  EXPECT_EQ(Says("e1"), "");
}

TEST_F(LimitsTest, Case76HintsOfNodesAndPods) {
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  using Limits = std::vector<std::pair<std::string, int>>;
  const auto node = [&](const Limits& before, const Limits& after) {
    const api::CSINode old_node = MakeCsiNode("n1", before);
    const api::CSINode new_node = MakeCsiNode("n1", after);
    return bed_.Hint("NodeVolumeLimits", pod,
                     {.resource = EventResource::kCSINode,
                      .actions = framework::kUpdate,
                      .old_object = &old_node,
                      .new_object = &new_node});
  };
  EXPECT_EQ(node({{kEbs, 1}}, {{kEbs, 2}}), "Queue");
  EXPECT_EQ(node({{kEbs, 2}}, {{kEbs, 1}}), "Skip");
  EXPECT_EQ(node({{kEbs, 1}}, {{kEbs, 1}}), "Skip");
  EXPECT_EQ(node({}, {{kEbs, -1}}), "Skip");
  EXPECT_EQ(node({{kEbs, 1}}, {{kEbs, -1}}), "Skip");
  const auto gone = [&](const PodBuilder& other) {
    const auto record = other.Record();
    return bed_.Hint(
        "NodeVolumeLimits", pod,
        {.resource = EventResource::kAssignedPod, .actions = framework::kDelete, .old_object = record.get()});
  };
  EXPECT_EQ(gone(MakePod("x").VolumeClaim("d")), "Skip");
  EXPECT_EQ(gone(MakePod("x").Node("n1").VolumeClaim("d")), "Queue");
  EXPECT_EQ(gone(MakePod("x").NominatedNode("n1").VolumeClaim("d")), "Queue");
  EXPECT_EQ(gone(MakePod("x").Node("n1")), "Skip");
}

TEST_F(LimitsTest, Case76HintsOfDetachments) {
  const auto detached = [&](const PodBuilder& pod, const char* attacher) {
    const api::VolumeAttachment gone = MakeAttachment("x", "n1", attacher, "pv");
    return bed_.Hint(
        "NodeVolumeLimits", pod,
        {.resource = EventResource::kVolumeAttachment, .actions = framework::kDelete, .old_object = &gone});
  };
  EXPECT_EQ(detached(MakePod("a").VolumeClaim("c"), kGce), "Queue");
  EXPECT_EQ(detached(MakePod("b").Volume(EbsDisk("x")), kEbs), "Queue");
  EXPECT_EQ(detached(MakePod("b").Volume(EbsDisk("x")), kGce), "Skip");
  EXPECT_EQ(detached(MakePod("c").Volume(EphemeralVolume("v")), kEbs), "Skip");
  api::Volume vsphere;
  vsphere.name = "v";
  vsphere.volume_source.vsphere_volume.emplace().storage_policy_name = "gold";
  EXPECT_EQ(detached(MakePod("d").Volume(vsphere), "csi.vsphere.vmware.com"), "Queue");
  EXPECT_EQ(detached(MakePod("d").Volume(vsphere), kEbs), "Skip");
  api::Volume shared;
  shared.name = "v";
  shared.volume_source.azure_disk.emplace().kind = "Shared";
  EXPECT_EQ(detached(MakePod("e").Volume(shared), kEbs), "Error");
}

}  // namespace
}  // namespace berth::plugins::test
