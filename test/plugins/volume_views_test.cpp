#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck.h"

#include "plugins/volume_bed.h"

// What nodes can have is kept from attempt to attempt, for all pods whose claims ask for the same. The
// harness compares every answer from a view with an evaluation of everything.
namespace berth::plugins::test {
namespace {

constexpr int kViewNodes = 24;

std::string ViewNode(int i) { return "n" + std::to_string(i); }
std::string ViewZone(int i) { return i % 2 == 0 ? "a" : "b"; }

PodBuilder PodWith(const std::vector<std::string>& claims) {
  PodBuilder pod = MakePod("pod-of-" + claims.front());
  for (const std::string& claim : claims) pod.VolumeClaim(claim);
  return pod;
}

class ViewBed : public VolumeBed {
 public:
  ViewBed() : VolumeBed("VolumeBinding") {
    for (int i = 0; i < kViewNodes; ++i) Add(MakeNode(ViewNode(i)).Hostname().Zone(ViewZone(i)));
    Set(MakeClass("local", kNoProvisioner));
  }
};

// So often that the answer comes from a view.
std::string ScheduleFromView(VolumeBed& bed, const PodBuilder& pod) {
  for (int i = 0; i < 3; ++i) bed.Schedule(pod);
  return bed.Schedule(pod);
}

VolumeBuilder LocalVolume(const std::string& name, const std::string& node) {
  return MakeVolume(name).Class("local").Capacity("3Gi").Affinity(kHost, {node});
}

TEST(VolumeViews, OnlyNodesWhoseVolumesChangedAreAskedAgain) {
  ViewBed bed;
  for (int i = 0; i < kViewNodes; ++i) bed.Set(LocalVolume("v" + std::to_string(i), ViewNode(i)));
  bed.Set(MakeClaim("one").Class("local").Request("2Gi"));
  bed.Set(MakeClaim("two").Class("local").Request("2Gi"));
  ASSERT_NE(ScheduleFromView(bed, PodWith({"one"})), "");
  EXPECT_EQ(bed.rows_judged(), 0u);

  // Another pod whose claim asks for the same, after a volume went to somebody.
  bed.Set(LocalVolume("v7", "n7").MeantFor("somebody").Version("2"));
  ASSERT_NE(bed.Schedule(PodWith({"two"})), "");
  EXPECT_EQ(bed.rows_judged(), 1u);
  EXPECT_EQ(bed.Verdict(PodWith({"two"}), "n7"),
            "UU node(s) didn't find available persistent volumes to bind");
}

TEST(VolumeViews, AZoneIsAskedAgainWhenItsSmallestFitIsAnother) {
  ViewBed bed;
  const auto zonal = [](const std::string& name, std::string_view size) {
    return MakeVolume(name).Class("local").Capacity(size).Affinity(kZone, {"a"});
  };
  for (int i = 0; i < 4; ++i) bed.Set(zonal("v" + std::to_string(i), "3Gi"));
  bed.Set(zonal("large", "5Gi"));
  bed.Set(LocalVolume("other", "n1"));
  bed.Set(MakeClaim("one").Class("local").Request("2Gi"));
  const PodBuilder pod = PodWith({"one"});
  ASSERT_NE(ScheduleFromView(bed, pod), "");
  std::vector<std::size_t> judged;
  for (int i = 0; i < 4; ++i) {
    bed.Remove<api::PersistentVolume>("v" + std::to_string(i));
    ASSERT_NE(bed.Schedule(pod), "");
    judged.push_back(bed.rows_judged());
  }
  // The first time it is not known yet what was the smallest; the last time it is another.
  const std::size_t zone = kViewNodes / 2;
  EXPECT_GE(judged[0], zone);
  EXPECT_EQ(judged[1], 0u);
  EXPECT_EQ(judged[2], 0u);
  EXPECT_GE(judged[3], zone);
}

TEST(VolumeViews, AVolumeThatIsMeantForAClaimIsNotKeptForOthers) {
  ViewBed bed;
  bed.Set(LocalVolume("v1", "n1"));
  bed.Set(LocalVolume("v2", "n2").MeantFor("chosen"));
  bed.Set(MakeClaim("one").Class("local").Request("2Gi"));
  bed.Set(MakeClaim("chosen").Class("local").Request("2Gi"));
  EXPECT_EQ(ScheduleFromView(bed, PodWith({"one"})), "n1");
  EXPECT_EQ(ScheduleFromView(bed, PodWith({"chosen"})), "n2");
  bed.Set(LocalVolume("v2", "n3").MeantFor("chosen").Version("2"));
  EXPECT_EQ(ScheduleFromView(bed, PodWith({"chosen"})), "n3");
}

TEST(VolumeViews, AVolumeOfOneNodeIsLookedForThereAlone) {
  ViewBed bed;
  bed.Set(LocalVolume("v5", "n5").MeantFor("one").Phase("Bound"));
  bed.Set(MakeClaim("one").Class("local").BoundTo("v5"));
  EXPECT_EQ(bed.Schedule(PodWith({"one"})), "n5");
  EXPECT_EQ(bed.rows_judged(), 1u);
}

// ---------------------------------------------------------------------------------------------------------

int DrawOf(int count) { return *rc::gen::inRange(0, count); }
std::string DrawFrom(const std::vector<std::string>& texts) {
  return texts[static_cast<std::size_t>(DrawOf(static_cast<int>(texts.size())))];
}
std::string DrawName(const char* prefix, int count) { return prefix + std::to_string(DrawOf(count)); }

class ViewHistory {
 public:
  ViewHistory() {
    bed_.Set(MakeDriver("csi.example.com", true));
    bed_.Set(MakeClass("made", "csi.example.com"));
    for (int i = 0; i < 6; ++i) ChangeVolume();
    for (int i = 0; i < kClaims; ++i) ChangeClaim("c" + std::to_string(i));
  }

  void Act() {
    switch (DrawOf(8)) {
      case 0:
        return ChangeClaim(DrawName("c", kClaims));
      case 1:
        return ChangeNode();
      case 2:
        return ChangeCapacity();
      case 3:
        return ChangeCsiNode();
      case 4:
        bed_.Remove<api::PersistentVolume>(DrawName("v", kVolumes));
        return;
      default:
        return ChangeVolume();
    }
  }

  // Each answer is compared with a full evaluation.
  void Check() {
    for (const PodBuilder& pod : {PodWith({"c0"}), PodWith({"c1"}), PodWith({"c2", "c3"}), PodWith({"c3"})}) {
      bed_.Schedule(pod);
    }
  }

 private:
  static constexpr int kClaims = 4;
  static constexpr int kVolumes = 10;

  void ChangeVolume() {
    VolumeBuilder volume = MakeVolume(DrawName("v", kVolumes)).Class(DrawFrom({"local", "local", "made"}));
    volume.Capacity(DrawFrom({"1Gi", "2Gi", "3Gi", "2500m"})).Version(std::to_string(++version_));
    switch (DrawOf(5)) {
      case 0:
        break;
      case 1:
        volume.Affinity(kZone, {ViewZone(DrawOf(2))});
        break;
      case 2:
        volume.Affinity(kZone, {"a"}).Affinity(kHost, {DrawName("n", kViewNodes)});
        break;
      default:
        volume.Affinity(kHost, {DrawName("n", kViewNodes), DrawName("n", kViewNodes)});
    }
    if (DrawOf(5) == 0) volume.MeantFor(DrawName("c", kClaims));
    if (DrawOf(6) == 0) volume.Ebs("vol-1").Label(kZone, "a");
    bed_.Set(volume);
  }

  void ChangeClaim(const std::string& name) {
    ClaimBuilder claim = MakeClaim(name).Class(DrawFrom({"local", "local", "made"}));
    claim.Request(DrawFrom({"1Gi", "2Gi", "2"})).Version(std::to_string(++version_));
    if (DrawOf(4) == 0) claim.BoundTo(DrawName("v", kVolumes));
    if (DrawOf(8) == 0) claim.SelectedNode(DrawName("n", kViewNodes));
    bed_.Set(claim);
  }

  void ChangeNode() {
    const std::string name = DrawName("n", kViewNodes);
    const cluster::NodeRow row = bed_.cluster().nodes().Find(name);
    if (row.IsValid() && bed_.cluster().nodes().exists(row) && DrawOf(3) == 0) {
      RC_ASSERT(bed_.cluster().RemoveNode(MakeNode(name)).has_value());
      return;
    }
    berth::test::NodeBuilder node = MakeNode(name).Zone(DrawFrom({"a", "b", "c"}));
    if (DrawOf(4) != 0) node.Hostname();
    bed_.Add(node);
  }

  void ChangeCapacity() {
    const std::string name = DrawName("s", 3);
    if (DrawOf(3) == 0) {
      bed_.Remove<api::CSIStorageCapacity>(name, "driver");
      return;
    }
    api::CSIStorageCapacity capacity = MakeCapacity(name, "made", DrawFrom({"1Gi", "5Gi"}));
    api::LabelSelector& topology = capacity.node_topology.emplace();
    if (DrawOf(3) != 0) topology.match_labels.insert_or_assign(std::string(kZone), DrawFrom({"a", "b"}));
    if (DrawOf(3) == 0) {
      topology.match_labels.insert_or_assign(std::string(kHost), DrawName("n", kViewNodes));
    }
    bed_.Set(capacity);
  }

  void ChangeCsiNode() {
    bed_.Set(
        MakeCsiNode(DrawName("n", kViewNodes), {{kEbs, -1}}, DrawOf(2) == 0 ? "kubernetes.io/aws-ebs" : ""));
  }

  ViewBed bed_;
  int version_ = 1;
};

TEST(VolumeViewsProperty, WhatIsKeptIsWhatAFullSearchFinds) {
  EXPECT_TRUE(rc::check("any history", [] {
    ViewHistory history;
    for (int i = 0; i < 40; ++i) {
      history.Act();
      history.Check();
    }
  }));
}

}  // namespace
}  // namespace berth::plugins::test
