#include <map>
#include <string>

#include "gtest/gtest.h"

#include "plugins/volume_bed.h"

namespace berth::plugins::test {
namespace {

using framework::EventResource;

TEST(VolumeZoneTest, Case62NothingToCompareIsSkipped) {
  VolumeBed bed("VolumeZone");
  bed.Add(MakeNode("n1").Build()).Set(MakeClass("late", "x"));
  bed.Set(MakeClaim("late").Class("late")).Set(MakeClaim("plain").BoundTo("pv")).Set(MakeVolume("pv"));
  EXPECT_EQ(bed.PreFilter(MakePod("a")), "Skip");
  EXPECT_EQ(bed.PreFilter(MakePod("b").VolumeClaim("late")), "Skip");
  EXPECT_EQ(bed.PreFilter(MakePod("c").VolumeClaim("plain")), "Skip");
}

TEST(VolumeZoneTest, Case63And64Places) {
  VolumeBed bed("VolumeZone");
  const std::string refused = "UU node(s) had no available volume zone";
  bed.Add(MakeNode("none").Build()).Add(MakeNode("b").Zone("b").Build()).Add(MakeNode("c").Zone("c").Build());
  bed.Add(MakeNode("beta").Label(kBetaZone, "b").Build());
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  bed.Set(MakeClaim("c").BoundTo("pv"));
  using Verdicts = std::map<std::string, std::string>;
  bed.Set(MakeVolume("pv").Label(kZone, "a__b"));
  EXPECT_EQ(bed.Verdicts(pod), (Verdicts{{"none", ""}, {"b", ""}, {"c", refused}, {"beta", refused}}));
  bed.Set(MakeVolume("pv").Label(kBetaZone, "b"));
  EXPECT_EQ(bed.Verdicts(pod), (Verdicts{{"none", ""}, {"b", ""}, {"c", refused}, {"beta", ""}}));
  bed.Set(MakeVolume("pv").Label(kZone, "b").Label("topology.kubernetes.io/region", "r"));
  EXPECT_EQ(bed.Verdict(pod, "b"), refused);
  for (const char* const text : {"a__", ""}) {
    bed.Set(MakeVolume("pv").Label(kZone, text));
    EXPECT_EQ(bed.PreFilter(pod), "Skip") << text;
  }
}

TEST(VolumeZoneTest, Case65ClaimsWithoutAVolume) {
  VolumeBed bed("VolumeZone");
  bed.Add(MakeNode("n1").Build()).Set(MakeClass("now", "x", "Immediate"));
  bed.Set(MakeClaim("none")).Set(MakeClaim("now").Class("now")).Set(MakeClaim("gone").Class("gone"));
  bed.Set(MakeClaim("lost").BoundTo("pv"));
  const auto says = [&](const char* claim) {
    return bed.PreFilter(MakePod(std::string("p-") + claim).VolumeClaim(claim));
  };
  EXPECT_EQ(says("none"), "UU PersistentVolumeClaim had no pv name and storageClass name");
  EXPECT_EQ(says("now"), "UU PersistentVolume had no name");
  EXPECT_EQ(says("gone"), "UU storageclass.storage.k8s.io \"gone\" not found");
  EXPECT_EQ(says("lost"), "UU persistentvolume \"pv\" not found");  // case 12
  EXPECT_EQ(says(""), "UU PersistentVolumeClaim had no name");
  api::StorageClass vague = MakeClass("now", "x");
  vague.volume_binding_mode.reset();
  bed.Set(vague);
  EXPECT_EQ(says("now"), "UU VolumeBindingMode not set for StorageClass \"now\"");  // case 9
}

TEST(VolumeZoneTest, Case66Hints) {
  VolumeBed bed("VolumeZone");
  const PodBuilder pod = MakePod("p").VolumeClaim("c");
  const auto class_came = [&](const char* mode) {
    const api::StorageClass made = MakeClass("x", "x", mode);
    return bed.Hint("VolumeZone", pod, {.resource = EventResource::kStorageClass, .new_object = &made});
  };
  EXPECT_EQ(class_came("Immediate"), "Skip");
  EXPECT_EQ(class_came(kLate), "Queue");
  const auto volume = [&](const api::PersistentVolume* before, const api::PersistentVolume& after) {
    PluginHarness::Event event{.resource = EventResource::kPersistentVolume, .new_object = &after};
    if (before != nullptr) {
      event.actions = framework::kUpdate;
      event.old_object = before;
    }
    return bed.Hint("VolumeZone", pod, event);
  };
  const api::PersistentVolume plain = MakeVolume("pv");
  const api::PersistentVolume here = MakeVolume("pv").Label(kZone, "a");
  const api::PersistentVolume there = MakeVolume("pv").Label(kZone, "b");
  const api::PersistentVolume same = MakeVolume("pv").Label(kZone, "a").Label("x", "y");
  EXPECT_EQ(volume(nullptr, plain), "Queue");
  EXPECT_EQ(volume(&here, same), "Skip");
  EXPECT_EQ(volume(&here, there), "Queue");
  EXPECT_EQ(volume(&plain, here), "Queue");
}

}  // namespace
}  // namespace berth::plugins::test
