#include <chrono>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "plugins/volume_bed.h"
#include "plugins/volume_reserve_bed.h"

// Objects that the API server accepts and that make no sense: the pod is told, in the usual words, and
// nothing else happens.
namespace berth::plugins::test {
namespace {

const std::string kNothingToBind = "UU node(s) didn't find available persistent volumes to bind";
const std::string kNoSpaceLeft = "UU node(s) did not have enough free storage";
const std::string kOutOfReach = "UU node(s) didn't match PersistentVolume's node affinity";

// The four plugins in their default order, on one node.
class BadVolumeTest : public testing::Test {
 protected:
  BadVolumeTest() {
    bed_.Add(MakeNode("n1").Hostname().Zone("a").Label("disks", "3").Build());
    bed_.Set(MakeClass("local", kNoProvisioner)).Set(MakeClass("made", "csi.example.com"));
  }

  // What the pod with this claim is told: by a plugin about the pod, or about the node.
  std::string Says(const ClaimBuilder& claim) {
    bed_.Set(claim);
    const PodBuilder pod = MakePod("p").VolumeClaim("c");
    const framework::Explanation found = bed_.Explain(pod);
    if (!found.error.IsSuccess()) return "Error " + found.error.Message();
    if (!found.pre_filter.IsSuccess()) {
      return std::string(found.pre_filter.plugin()) + ": " + found.pre_filter.Message();
    }
    return bed_.Verdict(pod, "n1");
  }
  static ClaimBuilder Late(const char* class_name, const char* request) {
    return MakeClaim("c").Class(class_name).Request(request);
  }

  VolumeBed bed_{PluginHarness::Options{
      .plugins = {
          {"VolumeRestrictions", 0}, {"NodeVolumeLimits", 0}, {"VolumeBinding", 1}, {"VolumeZone", 0}}}};
};

TEST_F(BadVolumeTest, ClaimWithoutAClassWaitsForSomebodyToBindIt) {
  EXPECT_EQ(Says(MakeClaim("c").Request("1G")),
            "VolumeBinding: pod has unbound immediate PersistentVolumeClaims");
  EXPECT_EQ(Says(Late("gone", "1G")), "VolumeBinding: pod has unbound immediate PersistentVolumeClaims");
  // Bound by a controller meanwhile, it is as good as any.
  bed_.Set(MakeVolume("pv"));
  EXPECT_EQ(Says(MakeClaim("c").Request("1G").BoundTo("pv")), "");
}

TEST_F(BadVolumeTest, ClaimWithoutAVolumeOfTheName) {
  EXPECT_EQ(Says(MakeClaim("c").BoundTo("pv")), "VolumeZone: persistentvolume \"pv\" not found");
}

struct AffinityCase {
  const char* name;
  const char* key;
  const char* op;
  std::vector<std::string> values;
};
class ImpossibleAffinityTest : public BadVolumeTest, public testing::WithParamInterface<AffinityCase> {};

TEST_P(ImpossibleAffinityTest, MatchesNoNode) {
  const auto& [name, key, op, values] = GetParam();
  const auto with_affinity = [&](VolumeBuilder volume) { return volume.Affinity(key, values, op); };
  bed_.Set(with_affinity(MakeVolume("pv")));
  EXPECT_EQ(Says(MakeClaim("c").BoundTo("pv")), kOutOfReach);
  bed_.Set(with_affinity(MakeVolume("free").Class("local").Capacity("1G")));
  EXPECT_EQ(Says(Late("local", "1G")), kNothingToBind);
  // Another volume beside it is found all the same.
  bed_.Set(MakeVolume("good").Class("local").Capacity("2G"));
  EXPECT_EQ(Says(Late("local", "1G")), "");
}
INSTANTIATE_TEST_SUITE_P(Terms, ImpossibleAffinityTest,
                         testing::Values(AffinityCase{"NoValues", kZone, "In", {}},
                                         AffinityCase{"UnknownOperator", kZone, "Is", {"a"}},
                                         AffinityCase{"NoNumber", "disks", "Gt", {"many"}},
                                         AffinityCase{"TwoBounds", "disks", "Gt", {"1", "2"}},
                                         AffinityCase{"ExistsWithValue", kZone, "Exists", {"a"}},
                                         AffinityCase{"NoKey", "", "In", {"a"}},
                                         AffinityCase{"BadValue", kZone, "In", {"a b"}}),
                         [](const auto& test) { return std::string(test.param.name); });

// Objects for one place and class that contradict each other: any that is enough is enough.
TEST_F(BadVolumeTest, CapacityThatContradictsItself) {
  bed_.Set(MakeDriver("csi.example.com", true));
  bed_.Set(MakeCapacity("a", "made", "1Mi")).Set(MakeCapacity("b", "made", "0"));
  EXPECT_EQ(Says(Late("made", "1Gi")), kNoSpaceLeft);
  bed_.Set(MakeCapacity("c", "made", "1Gi"));
  EXPECT_EQ(Says(Late("made", "1Gi")), "");
  // More in one piece than there is: the piece counts.
  api::CSIStorageCapacity odd = MakeCapacity("c", "made", "1Mi");
  odd.maximum_volume_size = MakeCapacity("", "", "1Gi").capacity;
  bed_.Set(odd);
  EXPECT_EQ(Says(Late("made", "1Gi")), "");
  api::CSIStorageCapacity negative = MakeCapacity("c", "made", "-1Gi");
  bed_.Set(negative);
  EXPECT_EQ(Says(Late("made", "1Gi")), kNoSpaceLeft);
  // A place that is described wrongly is no place.
  api::CSIStorageCapacity nowhere = MakeCapacity("c", "made", "1Gi");
  nowhere.node_topology->match_expressions.push_back({kZone, "Is", {"a"}});
  bed_.Set(nowhere);
  EXPECT_EQ(Says(Late("made", "1Gi")), kNoSpaceLeft);
}

TEST_F(BadVolumeTest, QuantitiesAtTheEdge) {
  const auto fits = [&](const char* request, const char* capacity) {
    bed_.Set(MakeVolume("v").Class("local").Capacity(capacity));
    return Says(Late("local", request)) == "";
  };
  EXPECT_TRUE(fits("0", "0"));
  EXPECT_TRUE(fits("-1", "0"));
  EXPECT_TRUE(fits("1m", "1m"));
  EXPECT_FALSE(fits("2m", "1m"));  // both are one byte, rounded
  EXPECT_TRUE(fits("9223372036854775807", "9223372036854775807"));
  EXPECT_FALSE(fits("9223372036854775808", "9223372036854775807"));
  EXPECT_TRUE(fits("100E", "100E"));
  EXPECT_FALSE(fits("100001P", "100E"));
  EXPECT_TRUE(fits("1024Ki", "1Mi"));
  EXPECT_FALSE(fits("1G", "-1G"));
  bed_.Set(MakeVolume("v").Class("local"));  // no capacity at all is 0
  EXPECT_EQ(Says(Late("local", "1")), kNothingToBind);
  EXPECT_EQ(Says(Late("local", "0")), "");
}

// Nobody will ever make the volume: the pod says so when its time is over, and is tried again.
TEST_F(ReserveTest, ProvisionerThatNobodyKnows) {
  Set(MakeClass("odd", "nobody.example.com"));
  Set(MakeClaim("c").Class("odd").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  StartPreBind(assignment);
  Advance(std::chrono::minutes(9));
  EXPECT_TRUE(IsWaiting());
  Advance(std::chrono::minutes(2));
  EXPECT_EQ(status_.Message(), "binding volumes: context deadline exceeded");
  reserve().Unreserve(cluster_, assignment);
  EXPECT_EQ(caches().claims().assumed_count(), 0u);
}

}  // namespace
}  // namespace berth::plugins::test
