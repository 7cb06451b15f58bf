#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "plugins/volume_bed.h"

// Which nodes VolumeBinding lets a pod onto, and its words. The numbers are those of the cases in the
// specification of the volume plugins.
namespace berth::plugins::test {
namespace {

const std::string kAffinity = "UU node(s) didn't match PersistentVolume's node affinity";
const std::string kNothing = "UU node(s) didn't find available persistent volumes to bind";
const std::string kSpace = "UU node(s) did not have enough free storage";

class VolumeBindingTest : public testing::Test {
 protected:
  VolumeBindingTest() {
    bed_.Add(MakeNode("n1").Hostname().Zone("a").Build()).Add(MakeNode("n2").Hostname().Zone("b").Build());
    bed_.Set(MakeClass("local", kNoProvisioner)).Set(MakeClass("made", "csi.example.com"));
    bed_.Set(MakeClass("now", "csi.example.com", "Immediate"));
  }

  std::string On(const char* node, const PodBuilder& pod) { return bed_.Verdict(pod, node); }
  static VolumeBuilder Local(const char* name, const char* node, const char* capacity) {
    return MakeVolume(name).Class("local").Capacity(capacity).Affinity(kHost, {node});
  }

  VolumeBed bed_{"VolumeBinding"};
};

TEST_F(VolumeBindingTest, Case1PodWithoutClaimsIsSkippedAndScoresNothing) {
  const PodBuilder pod = MakePod("p");
  EXPECT_EQ(bed_.PreFilter(pod), "Skip");
  EXPECT_EQ(bed_.RawScores(pod), (PluginHarness::Scores{{"n1", 0}, {"n2", 0}}));
}

TEST_F(VolumeBindingTest, Case2And3MissingClaimIsNamed) {
  EXPECT_EQ(bed_.PreFilter(MakePod("p").VolumeClaim("pvc-a")),
            "UU persistentvolumeclaim \"pvc-a\" not found");
  bed_.Set(MakeVolume("pv")).Set(MakeClaim("pvc-a").BoundTo("pv"));
  EXPECT_EQ(bed_.PreFilter(MakePod("q").VolumeClaim("pvc-a").VolumeClaim("pvc-b")),
            "UU persistentvolumeclaim \"pvc-b\" not found");
}

TEST_F(VolumeBindingTest, Case4And5EphemeralClaimMustBeThePodsOwn) {
  const PodBuilder pod = MakePod("p").Uid("u1").Volume(EphemeralVolume("v"));
  EXPECT_EQ(bed_.PreFilter(pod),
            "UU waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\"");
  const std::string stranger = "UU PVC default/p-v was not created for pod default/p (pod is not owner)";
  bed_.Set(MakeClaim("p-v").BoundTo("pv")).Set(MakeVolume("pv"));
  EXPECT_EQ(bed_.PreFilter(pod), stranger);
  bed_.Set(MakeClaim("p-v").BoundTo("pv").Owner("u1", false));
  EXPECT_EQ(bed_.PreFilter(pod), stranger);
  bed_.Set(MakeClaim("p-v").BoundTo("pv").Owner("u2"));
  EXPECT_EQ(bed_.PreFilter(pod), stranger);
  bed_.Set(MakeClaim("p-v").BoundTo("pv").Owner("u1"));
  EXPECT_EQ(On("n1", pod), "");
}

TEST_F(VolumeBindingTest, Case6And7LostAndDeletedClaims) {
  ClaimBuilder lost = MakeClaim("pvc-a").BoundTo("pv-a");
  lost.claim().status.phase = "Lost";
  bed_.Set(lost);
  const PodBuilder pod = MakePod("p").VolumeClaim("pvc-a");
  EXPECT_EQ(bed_.PreFilter(pod),
            "UU persistentvolumeclaim \"pvc-a\" bound to non-existent persistentvolume \"pv-a\"");
  ClaimBuilder going = MakeClaim("pvc-a").BoundTo("pv-a");
  going.claim().metadata.deletion_timestamp.emplace();
  bed_.Set(going);
  EXPECT_EQ(bed_.PreFilter(pod), "UU persistentvolumeclaim \"pvc-a\" is being deleted");
}

TEST_F(VolumeBindingTest, Case8And10ClaimsThatSomebodyElseHasToBind) {
  const std::string unbound = "UU pod has unbound immediate PersistentVolumeClaims";
  bed_.Set(MakeClaim("now").Class("now")).Set(MakeClaim("none")).Set(MakeClaim("gone").Class("gone"));
  ClaimBuilder half = MakeClaim("half").Class("local");
  half.claim().spec.volume_name = "pv";
  bed_.Set(half);
  bed_.Set(MakeClaim("beta").Class("local").Annotation("volume.beta.kubernetes.io/storage-class", ""));
  for (const char* const claim : {"now", "none", "gone", "half", "beta"}) {
    EXPECT_EQ(bed_.PreFilter(MakePod(std::string("p-") + claim).VolumeClaim(claim)), unbound) << claim;
  }
}

TEST_F(VolumeBindingTest, Case9ClassThatDoesNotSayWhenItBindsIsAnError) {
  api::StorageClass vague = MakeClass("x", "csi.example.com");
  vague.volume_binding_mode.reset();
  bed_.Set(vague).Set(MakeClaim("c").Class("x"));
  EXPECT_EQ(bed_.Error(MakePod("p").VolumeClaim("c")),
            "running PreFilter plugin \"VolumeBinding\": VolumeBindingMode not set for StorageClass \"x\"");
}

TEST_F(VolumeBindingTest, Case11ReasonsComeInAFixedOrder) {
  bed_.Set(MakeVolume("pv").Affinity(kZone, {"elsewhere"})).Set(MakeClaim("bound").BoundTo("pv"));
  bed_.Set(MakeClaim("open").Class("local").Request("1G"));
  EXPECT_EQ(On("n1", MakePod("p").VolumeClaim("open").VolumeClaim("bound")),
            "UU node(s) didn't match PersistentVolume's node affinity, node(s) didn't find available "
            "persistent volumes to bind");
}

TEST_F(VolumeBindingTest, Case12BoundToAVolumeThatIsNotThere) {
  bed_.Set(MakeClaim("c").BoundTo("pv"));
  EXPECT_EQ(On("n1", MakePod("p").VolumeClaim("c")),
            "UU node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
}

TEST_F(VolumeBindingTest, Case13And14AffinityThatLooksAtLabelsOnly) {
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  bed_.Set(MakeClaim("c").BoundTo("pv"));
  VolumeBuilder by_field = MakeVolume("pv");
  by_field.volume().spec.node_affinity.emplace().required.emplace().node_selector_terms.push_back(
      {.match_expressions = {}, .match_fields = {{"metadata.name", "In", {"other"}}}});
  bed_.Set(by_field);
  EXPECT_EQ(On("n1", pod), "");
  VolumeBuilder nowhere = MakeVolume("pv");
  nowhere.volume().spec.node_affinity.emplace().required.emplace();
  bed_.Set(nowhere);
  EXPECT_EQ(On("n1", pod), kAffinity);
  bed_.Set(MakeVolume("pv").Affinity(kZone, {"a"}, "Foo").Affinity(kZone, {"a"}));
  EXPECT_EQ(On("n1", pod), "");
  EXPECT_EQ(On("n2", pod), kAffinity);
  bed_.Set(MakeVolume("pv").Affinity(kZone, {"a"}, "Foo"));
  EXPECT_EQ(On("n1", pod), kAffinity);
}

TEST_F(VolumeBindingTest, Case20And21VolumesThatDoNotSuitAreLeftOut) {
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  bed_.Set(MakeClaim("c").Class("local").Request("1G"));
  const auto with = [&](const VolumeBuilder& volume) { return bed_.Set(volume).Verdict(pod, "n1"); };
  EXPECT_EQ(with(Local("pv", "n1", "1G")), "");
  EXPECT_EQ(with(Local("pv", "n1", "1G").Phase("Released")), kNothing);
  VolumeBuilder going = Local("pv", "n1", "1G");
  going.volume().metadata.deletion_timestamp.emplace();
  EXPECT_EQ(with(going), kNothing);
  VolumeBuilder block = Local("pv", "n1", "1G");
  block.volume().spec.volume_mode = "Block";
  EXPECT_EQ(with(block), kNothing);
  VolumeBuilder gold = Local("pv", "n1", "1G");
  gold.volume().spec.volume_attributes_class_name = "gold";
  EXPECT_EQ(with(gold), kNothing);
  VolumeBuilder blank = Local("pv", "n1", "1G");
  blank.volume().spec.volume_attributes_class_name = "";
  EXPECT_EQ(with(blank), "");
  EXPECT_EQ(with(Local("pv", "n1", "1G").Class("other")), kNothing);
  EXPECT_EQ(with(Local("pv", "n1", "999M")), kNothing);
  EXPECT_EQ(with(Local("pv", "n1", "1G").Modes({"ReadWriteOnce", "ReadOnlyMany"})), "");
  bed_.Set(MakeClaim("c").Class("local").Request("1G").Modes({"ReadWriteMany"}));
  EXPECT_EQ(with(Local("pv", "n1", "1G").Modes({"ReadWriteOnce", "ReadOnlyMany"})), kNothing);
}

TEST_F(VolumeBindingTest, Case22WrongSelectorIsAnError) {
  ClaimBuilder claim = MakeClaim("c").Class("local");
  claim.claim().spec.selector.emplace().match_expressions.push_back({"k", "Foo", {}});
  bed_.Set(claim);
  const std::string error = bed_.Error(MakePod("p").VolumeClaim("c"));
  EXPECT_TRUE(
      error.starts_with("running \"VolumeBinding\" filter plugin: error creating internal label "
                        "selector for claim: default/c: "))
      << error;
}

TEST_F(VolumeBindingTest, Case23SelectedNodeDecides) {
  bed_.Set(MakeVolume("pv").Class("made").Capacity("1G"));
  bed_.Set(MakeClaim("c").Class("made").Request("1G").SelectedNode("n2"));
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  EXPECT_EQ(On("n1", pod), kNothing);
  EXPECT_EQ(On("n2", pod), "");
  bed_.Set(MakeClaim("c").Class("made").Request("1G").SelectedNode(""));
  EXPECT_EQ(On("n1", pod), kNothing);
  EXPECT_EQ(On("n2", pod), kNothing);
}

TEST_F(VolumeBindingTest, Case24ProvisionerAndTopologies) {
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  bed_.Set(MakeClaim("c").Class("x"));
  const auto with = [&](const api::StorageClass& made) { return bed_.Set(made).Verdict(pod, "n1"); };
  EXPECT_EQ(with(MakeClass("x", "")), kNothing);
  EXPECT_EQ(with(MakeClass("x", "csi.example.com")), "");
  api::StorageClass picky = MakeClass("x", "csi.example.com");
  picky.allowed_topologies.emplace_back();
  EXPECT_EQ(with(picky), kNothing);
  picky.allowed_topologies.back().match_label_expressions.push_back({kZone, {}});
  EXPECT_EQ(with(picky), kNothing);
  picky.allowed_topologies.emplace_back().match_label_expressions.push_back({kZone, {"z", "a"}});
  EXPECT_EQ(with(picky), "");
  EXPECT_EQ(On("n2", pod), kNothing);
}

TEST_F(VolumeBindingTest, Case25And28CapacityCountsOnlyIfTheDriverTellsIt) {
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  bed_.Set(MakeClaim("c").Class("made").Request("1Gi"));
  EXPECT_EQ(On("n1", pod), "");
  bed_.Set(MakeDriver("csi.example.com", false));
  EXPECT_EQ(On("n1", pod), "");
  bed_.Set(MakeDriver("csi.example.com", true));
  EXPECT_EQ(On("n1", pod), kSpace);
  bed_.Set(MakeClaim("c").Class("made"));
  EXPECT_EQ(On("n1", pod), "");
}

TEST_F(VolumeBindingTest, Case26WhichCapacityIsEnough) {
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  bed_.Set(MakeClaim("c").Class("made").Request("1Gi")).Set(MakeDriver("csi.example.com", true));
  const auto with = [&](const api::CSIStorageCapacity& capacity) {
    return bed_.Set(capacity).Verdict(pod, "n1");
  };
  EXPECT_EQ(with(MakeCapacity("x", "made", "1Gi")), "");
  EXPECT_EQ(with(MakeCapacity("x", "made", "1Mi")), kSpace);
  api::CSIStorageCapacity small = MakeCapacity("x", "made", "1Gi");
  small.maximum_volume_size = MakeCapacity("", "", "1Mi").capacity;
  EXPECT_EQ(with(small), kSpace);
  small.capacity.reset();
  small.maximum_volume_size = api::Quantity();
  EXPECT_EQ(with(small), kSpace);
  EXPECT_EQ(with(MakeCapacity("x", "made", "")), kSpace);
  EXPECT_EQ(with(MakeCapacity("x", "other", "1Gi")), kSpace);
  api::CSIStorageCapacity nowhere = MakeCapacity("x", "made", "1Gi");
  nowhere.node_topology.reset();
  EXPECT_EQ(with(nowhere), kSpace);
  api::CSIStorageCapacity zonal = MakeCapacity("x", "made", "1Gi");
  zonal.node_topology->match_labels.insert_or_assign(std::string(kZone), "b");
  EXPECT_EQ(with(zonal), kSpace);
  EXPECT_EQ(On("n2", pod), "");
  zonal.node_topology->match_labels.insert_or_assign(std::string(kZone), "a");
  EXPECT_EQ(with(zonal), "");
  // It is the driver's, wherever that lives: the namespace of the claim is nothing to it.
  bed_.Remove<api::CSIStorageCapacity>("x", "driver");
  EXPECT_EQ(On("n1", pod), kSpace);
  for (const char* const name : {"default", "elsewhere"}) {
    api::CSIStorageCapacity capacity = MakeCapacity("x", "made", "1Gi");
    capacity.metadata.namespace_ = name;
    EXPECT_EQ(with(capacity), "") << name;
    bed_.Remove<api::CSIStorageCapacity>("x", name);
    EXPECT_EQ(On("n1", pod), kSpace) << name;
  }
}

TEST_F(VolumeBindingTest, Case29TheFirstClaimThatCannotBeMadeDecides) {
  bed_.Set(MakeDriver("csi.example.com", true));
  bed_.Set(MakeClaim("a").Class("local").Request("1Gi")).Set(MakeClaim("b").Class("made").Request("2Gi"));
  EXPECT_EQ(On("n1", MakePod("p").VolumeClaim("a").VolumeClaim("b")), kNothing);
  bed_.Set(MakeClaim("b").Class("made").Request("1Mi"));
  EXPECT_EQ(On("n1", MakePod("q").VolumeClaim("a").VolumeClaim("b")), kSpace);
}

TEST_F(VolumeBindingTest, Case30And31MigratedVolumes) {
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  bed_.Add(MakeNode("n3").Label("topology.gke.io/zone", "us-east-2").Build());
  bed_.Set(MakeClaim("c").BoundTo("pv")).Set(MakeVolume("pv").Gce("disk").Label(kBetaZone, "us-east-1"));
  EXPECT_EQ(On("n3", pod), "");
  bed_.Set(MakeCsiNode("n3", {}));
  EXPECT_EQ(On("n3", pod), "");
  bed_.Set(MakeCsiNode("n3", {}, "kubernetes.io/gce-pd"));
  EXPECT_EQ(On("n3", pod), kAffinity);
  bed_.Set(MakeVolume("pv").Gce("disk").Label(kBetaZone, "us-east-2"));
  EXPECT_EQ(On("n3", pod), "");
  bed_.Set(MakeVolume("pv").Label(kBetaZone, "us-east-1"));
  EXPECT_EQ(On("n3", pod), "");
  bed_.Set(MakeVolume("pv").Gce("disk").Label(kBetaZone, "a-b-c__x"));
  EXPECT_EQ(bed_.Error(pod),
            "running \"VolumeBinding\" filter plugin: could not translate pv: failed to get region from "
            "zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: x");
}

// A volume with an affinity that no bucket holds, and one that can be used anywhere.
TEST_F(VolumeBindingTest, AnyAffinityIsLookedAt) {
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  bed_.Set(MakeClaim("c").Class("local").Request("1G"));
  bed_.Set(MakeVolume("pv").Class("local").Capacity("1G").Affinity(kZone, {"a"}, "NotIn"));
  EXPECT_EQ(On("n1", pod), kNothing);
  EXPECT_EQ(On("n2", pod), "");
  bed_.Set(MakeVolume("pv").Class("local").Capacity("1G"));
  EXPECT_EQ(On("n1", pod), "");
}

}  // namespace
}  // namespace berth::plugins::test
