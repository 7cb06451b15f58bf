#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "cluster/speculation.h"
#include "framework/decide.h"
#include "plugins/volume_bed.h"

namespace berth::plugins::test {
namespace {

using framework::EventResource;

const std::string kDisk = "U node(s) had no available disk";
const std::string kInUse =
    "U node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
    "another pod";

api::Volume Iscsi(std::string iqn, bool read_only = false) {
  api::Volume volume;
  volume.name = "iscsi";
  volume.volume_source.iscsi = {std::move(iqn), read_only};
  return volume;
}
api::Volume Rbd(std::vector<std::string> monitors, std::string pool, bool read_only = false) {
  api::Volume volume;
  volume.name = "rbd";
  volume.volume_source.rbd = {std::move(monitors), "image", std::move(pool), read_only};
  return volume;
}
ClaimBuilder Exclusive(std::string name) { return MakeClaim(std::move(name)).Modes({"ReadWriteOncePod"}); }

struct DiskCase {
  std::string name;
  api::Volume held;
  api::Volume wanted;
  bool want_conflict;
};
void PrintTo(const DiskCase& test, std::ostream* out) { *out << test.name; }
class DiskTest : public testing::TestWithParam<DiskCase> {};

TEST_P(DiskTest, Case55And56) {
  VolumeBed bed("VolumeRestrictions");
  bed.Add(MakeNode("n1").Build()).Add(MakeNode("n2").Build());
  bed.Add(MakePod("holder").Namespace("other").Node("n1").Volume(GetParam().held));
  const PodBuilder pod = MakePod("p").Volume(GetParam().wanted);
  EXPECT_EQ(bed.Verdict(pod, "n1"), GetParam().want_conflict ? kDisk : "");
  EXPECT_EQ(bed.Verdict(pod, "n2"), "");
}

INSTANTIATE_TEST_SUITE_P(
    Volumes, DiskTest,
    testing::Values(DiskCase{"GceBothWrite", GceDisk("foo"), GceDisk("foo"), true},
                    DiskCase{"GceOneWrites", GceDisk("foo", true), GceDisk("foo"), true},
                    DiskCase{"GceBothRead", GceDisk("foo", true), GceDisk("foo", true), false},
                    DiskCase{"GceOther", GceDisk("bar"), GceDisk("foo"), false},
                    DiskCase{"EbsEvenIfBothRead", EbsDisk("x", true), EbsDisk("x", true), true},
                    DiskCase{"KindsDoNotMix", EbsDisk("x"), GceDisk("x"), false},
                    DiskCase{"IscsiBothWrite", Iscsi("i"), Iscsi("i"), true},
                    DiskCase{"IscsiBothRead", Iscsi("i", true), Iscsi("i", true), false},
                    DiskCase{"RbdSharedMonitor", Rbd({"a", "b"}, "p"), Rbd({"b", "c"}, "p"), true},
                    DiskCase{"RbdNoSharedMonitor", Rbd({"a", "b"}, "p"), Rbd({"c", "d"}, "p"), false},
                    DiskCase{"RbdOtherPool", Rbd({"a"}, "p"), Rbd({"a"}, "q"), false}),
    [](const auto& test) { return test.param.name; });

TEST(VolumeRestrictionsTest, Case55NothingToRestrictIsSkipped) {
  VolumeBed bed("VolumeRestrictions");
  bed.Add(MakeNode("n1").Build()).Set(MakeClaim("c"));
  EXPECT_EQ(bed.PreFilter(MakePod("p")), "Skip");
  EXPECT_EQ(bed.PreFilter(MakePod("q").VolumeClaim("c")), "Skip");
  EXPECT_EQ(bed.PreFilter(MakePod("r").VolumeClaim("d")), "UU persistentvolumeclaim \"d\" not found");
}

TEST(VolumeRestrictionsTest, Case57And60ExclusiveClaimIsTakenEverywhere) {
  VolumeBed bed("VolumeRestrictions");
  bed.Add(MakeNode("n1").Build()).Add(MakeNode("n2").Build()).Set(Exclusive("c"));
  EXPECT_EQ(bed.PreFilter(MakePod("p").VolumeClaim("c")), "Skip");
  bed.Add(MakePod("holder").Node("n1").VolumeClaim("c").Volume(GceDisk("d")));
  const PodBuilder second = MakePod("q").VolumeClaim("c");
  EXPECT_EQ(bed.Verdict(second, "n1"), kInUse);
  EXPECT_EQ(bed.Verdict(second, "n2"), kInUse);
  // The disk is told first, where it conflicts.
  const PodBuilder both = MakePod("r").VolumeClaim("c").Volume(GceDisk("d"));
  EXPECT_EQ(bed.Verdict(both, "n1"), kDisk);
  EXPECT_EQ(bed.Verdict(both, "n2"), kInUse);
  // A claim that an ephemeral volume stands for is nobody else's.
  bed.Set(Exclusive("e-v"));
  bed.Add(MakePod("other").Node("n1").VolumeClaim("e-v"));
  EXPECT_EQ(bed.PreFilter(MakePod("e").Volume(EphemeralVolume("v"))), "Skip");
}

// They may run there: nobody has said that they stopped.
TEST(VolumeRestrictionsTest, PodsOnNodesThatDoNotExistHoldTheirClaims) {
  VolumeBed bed("VolumeRestrictions");
  bed.Add(MakeNode("n1").Build()).Set(Exclusive("c"));
  bed.Add(MakePod("holder").Node("gone").VolumeClaim("c"));
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  EXPECT_EQ(bed.Verdict(pod, "n1"), kInUse);
  bed.Add(MakeNode("gone").Build());
  EXPECT_EQ(bed.Verdict(pod, "n1"), kInUse);
  ASSERT_TRUE(bed.cluster().RemoveNode(MakeNode("gone").Build()).has_value());
  EXPECT_EQ(bed.Verdict(pod, "n1"), kInUse);
}

// What a preemption would see: the verdict with some pods taken away for a while.
class TrialTest : public testing::Test {
 protected:
  TrialTest() {
    bed_.Add(MakeNode("n1").Build()).Add(MakeNode("n2").Build());
    bed_.Set(Exclusive("c")).Set(Exclusive("d"));
  }
  // Whether the pod fits on the node without the other one, which was there when its attempt began.
  bool FitsWithout(const PodBuilder& victim, const PodBuilder& pod, const char* node) {
    framework::RejectionTable rejections;
    const auto& profile = bed_.profile();
    framework::Cycle cycle(profile, bed_.cluster(), rejections);
    cycle.Begin({.pod = bed_.SlotOf(pod), .step = 1});
    const auto& plugin = *profile.plugins().front();
    const auto plan = plugin.MakePlan(
        {cycle.spec(), cycle.requests(), cycle.facts().template_id, bed_.cluster(), cycle.features()});
    framework::Plan* const plans[] = {plan.get()};
    cycle.SetPlans(plans);
    EXPECT_TRUE(profile.pre_filter().front().point->PreFilter(cycle).status.IsSuccess());
    cluster::Speculation trial(bed_.cluster());
    trial.Displace(bed_.SlotOf(victim));
    std::vector<cluster::NodeRow> rows{bed_.cluster().nodes().Find(node)};
    std::vector<framework::RejectionId> refusals(bed_.cluster().nodes().row_count());
    framework::NodeSelection nodes(rows, refusals, rejections);
    const auto first = rejections.AddFixed(0, plugin.Reasons());
    nodes.BeginPlugin(0, first, plugin.Reasons().size());
    profile.filter().front().point->Filter(cycle, nodes);
    return !rows.empty();
  }

  VolumeBed bed_{"VolumeRestrictions"};
};

TEST_F(TrialTest, Case58RemovingTheHolderHelps) {
  const PodBuilder holder = MakePod("holder").Node("n1").VolumeClaim("c").VolumeClaim("d");
  const PodBuilder bystander = MakePod("bystander").Node("n2").VolumeClaim("x");
  bed_.Add(holder).Add(bystander);
  const PodBuilder pod = MakePod("p").VolumeClaim("c").VolumeClaim("d");
  EXPECT_TRUE(FitsWithout(holder, pod, "n1"));
  EXPECT_FALSE(FitsWithout(bystander, pod, "n2"));
}

TEST_F(TrialTest, Case59ClaimOfTheSameNameInAnotherNamespaceCounts) {
  const PodBuilder holder = MakePod("holder").Node("n1").VolumeClaim("c");
  const PodBuilder namesake = MakePod("namesake").Namespace("other").Node("n2").VolumeClaim("c");
  bed_.Add(holder).Add(namesake);
  EXPECT_TRUE(FitsWithout(namesake, MakePod("p").VolumeClaim("c"), "n2"));
}

TEST(VolumeRestrictionsTest, Case61Hints) {
  VolumeBed bed("VolumeRestrictions");
  const auto after = [&](const PodBuilder& waiting, const PodBuilder& gone) {
    const auto record = gone.Record();
    return bed.Hint(
        "VolumeRestrictions", waiting,
        {.resource = EventResource::kAssignedPod, .actions = framework::kDelete, .old_object = record.get()});
  };
  const PodBuilder disk = MakePod("p").Volume(GceDisk("d"));
  EXPECT_EQ(after(disk, MakePod("x").Node("n1").Volume(GceDisk("d"))), "Queue");
  EXPECT_EQ(after(disk, MakePod("x").Namespace("other").Node("n1").Volume(GceDisk("d"))), "Skip");
  EXPECT_EQ(after(disk, MakePod("x").Node("n1").Volume(GceDisk("e"))), "Skip");
  const PodBuilder claim = MakePod("q").VolumeClaim("c");
  EXPECT_EQ(after(claim, MakePod("x").Node("n1").VolumeClaim("c")), "Queue");
  EXPECT_EQ(after(claim, MakePod("x").Node("n1").VolumeClaim("d")), "Skip");
  const api::PersistentVolumeClaim mine = MakeClaim("c");
  const api::PersistentVolumeClaim theirs = MakeClaim("c").Namespace("other");
  const auto came = [&](framework::EventObject object) {
    return bed.Hint("VolumeRestrictions", claim,
                    {.resource = EventResource::kPersistentVolumeClaim, .new_object = object});
  };
  EXPECT_EQ(came(&mine), "Queue");
  EXPECT_EQ(came(&theirs), "Skip");
  const api::StorageClass wrong = MakeClass("c", "p");
  EXPECT_EQ(came(&wrong), "Error");  // case 54
}

// case 2 and 12 with the default order: who says it.
TEST(DefaultOrderTest, Case2And12FirstPluginSpeaks) {
  VolumeBed bed(PluginHarness::Options{
      .plugins = {
          {"VolumeRestrictions", 0}, {"NodeVolumeLimits", 0}, {"VolumeBinding", 1}, {"VolumeZone", 0}}});
  bed.Add(MakeNode("n1").Build()).Set(MakeClaim("c").BoundTo("pv"));
  framework::Explanation missing = bed.Explain(MakePod("p").VolumeClaim("pvc-a"));
  EXPECT_EQ(missing.pre_filter.plugin(), "VolumeRestrictions");
  EXPECT_EQ(missing.pre_filter.Message(), "persistentvolumeclaim \"pvc-a\" not found");
  framework::Explanation lost = bed.Explain(MakePod("q").VolumeClaim("c"));
  EXPECT_EQ(lost.pre_filter.plugin(), "VolumeZone");
  EXPECT_EQ(lost.pre_filter.Message(), "persistentvolume \"pv\" not found");
}

}  // namespace
}  // namespace berth::plugins::test
