#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "plugins/volume_bed.h"

namespace berth::plugins::test {
namespace {

using framework::EventResource;

class BindingHintsTest : public testing::Test {
 protected:
  template <class T>
  std::string Changed(EventResource resource, const PodBuilder& pod, const std::optional<T>& before,
                      const T& after) {
    PluginHarness::Event event{.resource = resource, .new_object = &after};
    if (before) {
      event.actions = framework::kUpdate;
      event.old_object = &*before;
    }
    return bed_.Hint("VolumeBinding", pod, event);
  }
  static std::optional<api::CSIStorageCapacity> Capacity(const char* capacity, const char* largest = "") {
    api::CSIStorageCapacity made = MakeCapacity("x", "c", capacity);
    made.maximum_volume_size = MakeCapacity("x", "c", largest).capacity;
    return made;
  }

  VolumeBed bed_{"VolumeBinding"};
  const PodBuilder pod_ = MakePod("p").VolumeClaim("c").Volume(EphemeralVolume("v"));
};

TEST_F(BindingHintsTest, Case51ClassesAndClaims) {
  const auto changed = [&](const std::optional<api::StorageClass>& before, const api::StorageClass& after) {
    return Changed(EventResource::kStorageClass, pod_, before, after);
  };
  const api::StorageClass plain = MakeClass("x", "x");
  api::StorageClass picky = plain;
  picky.allowed_topologies.emplace_back().match_label_expressions.push_back({kZone, {"a"}});
  EXPECT_EQ(changed(std::nullopt, plain), "Queue");
  EXPECT_EQ(changed(plain, plain), "Skip");
  EXPECT_EQ(changed(picky, picky), "Skip");
  EXPECT_EQ(changed(picky, plain), "Queue");
  const auto claim = [&](const api::PersistentVolumeClaim& after) {
    return Changed<api::PersistentVolumeClaim>(EventResource::kPersistentVolumeClaim, pod_, {}, after);
  };
  EXPECT_EQ(claim(MakeClaim("c")), "Queue");
  EXPECT_EQ(claim(MakeClaim("p-v")), "Queue");
  EXPECT_EQ(claim(MakeClaim("c").Namespace("other")), "Skip");
  EXPECT_EQ(claim(MakeClaim("d")), "Skip");
}

TEST_F(BindingHintsTest, Case52Capacity) {
  const auto changed = [&](const auto& before, const auto& after) {
    return Changed(EventResource::kCSIStorageCapacity, pod_, before, *after);
  };
  EXPECT_EQ(changed(std::optional<api::CSIStorageCapacity>(), Capacity("1")), "Queue");
  EXPECT_EQ(changed(Capacity(""), Capacity("100")), "Queue");
  EXPECT_EQ(changed(Capacity("50"), Capacity("100")), "Queue");
  EXPECT_EQ(changed(Capacity("100", "50"), Capacity("100")), "Queue");
  EXPECT_EQ(changed(Capacity("100", "50"), Capacity("50")), "Skip");
  EXPECT_EQ(changed(Capacity("100"), Capacity("90")), "Skip");
  EXPECT_EQ(changed(Capacity("100"), Capacity("")), "Skip");
}

TEST_F(BindingHintsTest, Case53DriversAndNodes) {
  api::Volume csi;
  csi.name = "v";
  csi.volume_source.csi = {"driver"};
  const auto driver = [&](const PodBuilder& pod, bool before, bool after) {
    return Changed(EventResource::kCSIDriver, pod, std::optional(MakeDriver("driver", before)),
                   MakeDriver("driver", after));
  };
  EXPECT_EQ(driver(MakePod("q").Volume(csi), true, false), "Queue");
  EXPECT_EQ(driver(MakePod("q").Volume(csi), false, true), "Skip");
  EXPECT_EQ(driver(MakePod("q").Volume(csi), true, true), "Skip");
  EXPECT_EQ(driver(pod_, true, false), "Skip");
  const auto node = [&](const char* before, const char* after) {
    return Changed(EventResource::kCSINode, pod_, std::optional(MakeCsiNode("n", {}, before)),
                   MakeCsiNode("n", {}, after));
  };
  EXPECT_EQ(node("test1", "test1, test2"), "Queue");
  EXPECT_EQ(node("test1", "test1"), "Skip");
  EXPECT_EQ(node("", ""), "Skip");
}

TEST_F(BindingHintsTest, Case54WrongObjectIsAnError) {
  for (const EventResource resource : {EventResource::kStorageClass, EventResource::kPersistentVolumeClaim,
                                       EventResource::kCSINode, EventResource::kCSIStorageCapacity}) {
    EXPECT_EQ(Changed<api::PersistentVolume>(resource, pod_, {}, MakeVolume("x")), "Error");
  }
}

}  // namespace
}  // namespace berth::plugins::test
