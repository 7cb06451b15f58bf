#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "plugins/all_plugins.h"
#include "plugins/volume_bed.h"

// How VolumeBinding rates nodes by the storage that would be left, and the arguments for that.
namespace berth::plugins::test {
namespace {

using Scores = PluginHarness::Scores;
using Shape = std::vector<framework::ShapePoint>;

PluginHarness::Options WithShape(Shape shape) {
  PluginHarness::Options options{.plugins = {{"VolumeBinding", 1}}};
  if (!shape.empty()) options.args.volume_binding.shape = std::move(shape);
  return options;
}

class ScoreBed : public VolumeBed {
 public:
  explicit ScoreBed(Shape shape = {}) : VolumeBed(WithShape(std::move(shape))) {
    for (const char* const name : {"n1", "n2"}) Add(MakeNode(name).Hostname().Build());
    Set(MakeClass("a", "csi.example.com")).Set(MakeClass("b", "csi.example.com"));
  }
  ScoreBed& Volume(const char* name, const char* class_name, const char* node, const char* capacity) {
    Set(MakeVolume(name).Class(class_name).Capacity(capacity).Affinity(kHost, {node}));
    return *this;
  }
  ScoreBed& Claim(const char* name, const char* class_name, const char* request) {
    Set(MakeClaim(name).Class(class_name).Request(request));
    return *this;
  }
  // On one node, for volumes that are to be made.
  ScoreBed& Free(const char* class_name, const char* node, const char* capacity) {
    Set(MakeDriver("csi.example.com", true));
    api::CSIStorageCapacity made = MakeCapacity(std::string(class_name) + "-" + node, class_name, capacity);
    made.node_topology->match_labels.insert_or_assign(std::string(kHost), node);
    Set(made);
    return *this;
  }
};

TEST(VolumeScoreTest, Case33VolumesThatExist) {
  ScoreBed one;
  one.Volume("v1", "a", "n1", "200Gi").Volume("v2", "a", "n2", "100Gi").Claim("c", "a", "50Gi");
  EXPECT_EQ(one.RawScores(MakePod("p").VolumeClaim("c")), (Scores{{"n1", 75}, {"n2", 50}}));
  ScoreBed two;
  two.Volume("v1", "a", "n1", "200Gi").Volume("v2", "b", "n1", "200Gi");
  two.Volume("v3", "a", "n2", "100Gi").Volume("v4", "b", "n2", "100Gi");
  two.Claim("c", "a", "50Gi").Claim("d", "b", "100Gi");
  EXPECT_EQ(two.RawScores(MakePod("p").VolumeClaim("c").VolumeClaim("d")), (Scores{{"n1", 63}, {"n2", 25}}));
}

TEST(VolumeScoreTest, Case34OtherShapes) {
  ScoreBed rising(Shape{{0, 0}, {50, 3}, {100, 5}});
  rising.Volume("v1", "a", "n1", "200Gi").Volume("v2", "a", "n2", "100Gi").Claim("c", "a", "50Gi");
  EXPECT_EQ(rising.RawScores(MakePod("p").VolumeClaim("c")), (Scores{{"n1", 15}, {"n2", 30}}));
  ScoreBed late(Shape{{50, 0}, {80, 3}, {100, 5}});
  late.Volume("v1", "a", "n1", "100Gi").Volume("v2", "b", "n1", "100Gi");
  late.Claim("c", "a", "30Gi").Claim("d", "b", "60Gi").Free("a", "n2", "0").Free("b", "n2", "0");
  EXPECT_EQ(late.RawScores(MakePod("p").VolumeClaim("c").VolumeClaim("d")), (Scores{{"n1", 5}}));
}

TEST(VolumeScoreTest, Case35VolumesThatAreToBeMade) {
  ScoreBed falling;
  falling.Claim("c", "a", "10Gi").Free("a", "n1", "100Gi").Free("a", "n2", "50Gi");
  EXPECT_EQ(falling.RawScores(MakePod("p").VolumeClaim("c")), (Scores{{"n1", 90}, {"n2", 80}}));
  falling.Free("a", "n2", "10Gi");
  EXPECT_EQ(falling.RawScores(MakePod("p").VolumeClaim("c")), (Scores{{"n1", 90}, {"n2", 0}}));
  ScoreBed rising(Shape{{0, 0}, {100, 10}});
  rising.Claim("c", "a", "10Gi").Free("a", "n1", "100Gi").Free("a", "n2", "20Gi");
  EXPECT_EQ(rising.RawScores(MakePod("p").VolumeClaim("c")), (Scores{{"n1", 10}, {"n2", 50}}));
}

TEST(VolumeScoreTest, Case27And36WhatCountsTogether) {
  ScoreBed mixed;
  mixed.Volume("v1", "a", "n1", "100Gi").Claim("c", "a", "50Gi").Claim("d", "b", "1Gi");
  mixed.Free("b", "n1", "100Gi").Free("a", "n2", "0").Free("b", "n2", "0");
  EXPECT_EQ(mixed.RawScores(MakePod("p").VolumeClaim("c").VolumeClaim("d")), (Scores{{"n1", 50}}));
  // Each claim fits, so the node does; together they fill it.
  ScoreBed full;
  full.Claim("c", "a", "80Gi").Claim("d", "a", "80Gi").Free("a", "n1", "100Gi").Free("a", "n2", "160Gi");
  EXPECT_EQ(full.RawScores(MakePod("p").VolumeClaim("c").VolumeClaim("d")), (Scores{{"n1", 0}, {"n2", 0}}));
}

TEST(VolumeScoreTest, Case37StorageThatIsNotTold) {
  ScoreBed unknown;
  unknown.Claim("c", "a", "10Gi");
  EXPECT_EQ(unknown.RawScores(MakePod("p").VolumeClaim("c")), (Scores{{"n1", 0}, {"n2", 0}}));
  // Upstream stops the process here: a largest volume but no capacity.
  ScoreBed rising(Shape{{0, 0}, {100, 10}});
  rising.Claim("c", "a", "10Gi").Free("a", "n1", "100Gi").Free("a", "n2", "");
  api::CSIStorageCapacity limited = MakeCapacity("x", "a", "20Gi");
  std::swap(limited.capacity, limited.maximum_volume_size);
  limited.node_topology->match_labels.insert_or_assign(std::string(kHost), "n2");
  rising.Set(limited);
  EXPECT_EQ(rising.RawScores(MakePod("p").VolumeClaim("c")), (Scores{{"n1", 10}, {"n2", 100}}));
}

// A hundred times these is more than 64 bits hold.
TEST(VolumeScoreTest, HugeVolumesDoNotWrap) {
  ScoreBed huge;
  huge.Volume("v1", "a", "n1", "4Ei").Volume("v2", "a", "n2", "2Ei").Claim("c", "a", "1Ei");
  EXPECT_EQ(huge.RawScores(MakePod("p").VolumeClaim("c")), (Scores{{"n1", 75}, {"n2", 50}}));
}

TEST(VolumeScoreTest, Case38GateOff) {
  PluginHarness::Options options{.plugins = {{"VolumeBinding", 1}}};
  options.features.storage_capacity_scoring = false;
  VolumeBed bed(options);
  bed.Add(MakeNode("n1").Build());
  EXPECT_EQ(bed.RawScores(MakePod("p")), Scores{});
}

std::string MakeError(std::int64_t timeout, Shape shape, bool gate = true) {
  framework::Features features = framework::Features::Upstream();
  features.storage_capacity_scoring = gate;
  framework::PluginArgs args;
  args.volume_binding.bind_timeout_seconds = timeout;
  args.volume_binding.shape = std::move(shape);
  cluster::Cluster cluster;
  const auto made = AllPlugins().Make("VolumeBinding", {features, args, cluster});
  return made ? "" : made.error().message;
}

TEST(VolumeArgsTest, Case38And39) {
  const Shape good{{0, 10}, {100, 0}};
  EXPECT_EQ(MakeError(0, good), "");
  EXPECT_EQ(
      MakeError(-10, good),
      "bindTimeoutSeconds: Invalid value: -10: invalid BindTimeoutSeconds, should not be a negative value");
  EXPECT_EQ(MakeError(1, {}), "shape: Required value: at least one point must be specified");
  EXPECT_EQ(MakeError(1, {{3, 3}, {1, 1}}),
            "shape[1].utilization: Invalid value: 1: values must be sorted in increasing order");
  EXPECT_EQ(
      MakeError(1, {{-1, 1}, {10, -1}, {20, 11}, {101, 1}}),
      "[shape[0].utilization: Invalid value: -1: not in valid range [0, 100], shape[1].score: Invalid "
      "value: -1: not in valid range [0, 10], shape[2].score: Invalid value: 11: not in valid range [0, "
      "10], shape[3].utilization: Invalid value: 101: not in valid range [0, 100]]");
  EXPECT_EQ(MakeError(1, {{0, 0}, {100, 10}}, false),
            "shape: Forbidden: unexpected field `shape`, remove it or turn on the feature gate "
            "StorageCapacityScoring");
}

}  // namespace
}  // namespace berth::plugins::test
