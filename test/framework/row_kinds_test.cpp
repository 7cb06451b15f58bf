#include "framework/row_kinds.h"

#include <algorithm>
#include <rapidcheck.h>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/random.h"
#include "cluster/history.h"
#include "framework/engine_bed.h"
#include "plugins/all_plugins.h"
#include "support/builders.h"

// Which rows are of one kind, whatever happened to them; and that a view which is told by kind takes the room
// of the kinds and not of the rows.
namespace berth::framework {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::MakeTerm;
using cluster::NodeRow;
using cluster::test::Event;

// What of a row makes its kind, in words.
std::string KindText(const cluster::Cluster& cluster, NodeRow row) {
  const cluster::NodeTable& nodes = cluster.nodes();
  const std::size_t i = row.index();
  std::string text =
      std::to_string(nodes.taint_set()[i].value()) + "/" + std::to_string(nodes.feature_set()[i].value()) +
      "/" + std::to_string(nodes.unschedulable().Test(i)) + "/" + std::to_string(nodes.pod_count()[i]) + "/" +
      std::to_string(nodes.non_zero_milli_cpu()[i]) + "/" + std::to_string(nodes.non_zero_memory()[i]);
  for (std::uint32_t slot = 0; slot < cluster.resources().slot_count(); ++slot) {
    const cluster::ResourceId resource(slot);
    text += "/" + std::to_string(nodes.allocatable(resource)[i]) + "," +
            std::to_string(nodes.requested(resource)[i]);
  }
  for (const cluster::PortUse& use : nodes.ports(row)) text += "/:" + std::to_string(use.port.value());
  return text;
}

void ExpectSound(const cluster::Cluster& cluster, const RowKinds& kinds) {
  const std::size_t row_count = cluster.nodes().row_count();
  RC_ASSERT(kinds.kind_of().size() == row_count);
  std::vector<std::vector<NodeRow>> rows(kinds.sizes().size());
  std::vector<std::string> texts(kinds.sizes().size());
  for (std::uint32_t bit = 0; bit < row_count; ++bit) {
    const NodeRow row(bit);
    const KindId kind = kinds.kind_of()[bit];
    RC_ASSERT((kind == RowKinds::kNone) == !cluster.nodes().exists(row));
    if (kind == RowKinds::kNone) continue;
    if (rows[kind].empty()) texts[kind] = KindText(cluster, row);
    RC_ASSERT(KindText(cluster, row) == texts[kind]);
    rows[kind].push_back(row);
  }
  std::vector<KindId> used;
  std::vector<NodeRow> all;
  for (KindId kind = 0; kind < rows.size(); ++kind) {
    RC_ASSERT(kinds.sizes()[kind].rows == rows[kind].size());
    if (rows[kind].empty()) continue;
    RC_ASSERT(kinds.kind_of()[kinds.Sample(kind).index()] == kind);
    // No two kinds are the same.
    for (const KindId other : used) RC_ASSERT(texts[other] != texts[kind]);
    used.push_back(kind);
    all.insert(all.end(), rows[kind].begin(), rows[kind].end());
    for (std::size_t n = 0; n < rows[kind].size(); ++n)
      RC_ASSERT(kinds.Nth({&kind, 1}, n, {}) == rows[kind][n]);
  }
  std::ranges::sort(all);
  for (std::size_t n = 0; n < all.size(); ++n) RC_ASSERT(kinds.Nth(used, n, {}) == all[n]);
  // Without every second one.
  std::vector<NodeRow> without;
  std::vector<NodeRow> rest;
  for (std::size_t i = 0; i < all.size(); ++i) (i % 2 == 0 ? without : rest).push_back(all[i]);
  for (std::size_t n = 0; n < rest.size(); ++n) RC_ASSERT(kinds.Nth(used, n, without) == rest[n]);
}

TEST(RowKindsProperty, AreWhatTheRowsAgreeInAfterAnyHistory) {
  EXPECT_TRUE(rc::check("kinds", [] {
    cluster::Cluster cluster;
    cluster::test::NaiveModel model;
    RowKinds kinds;
    for (const Event& event : *cluster::test::AnyHistory()) {
      cluster::test::Apply(event, cluster, model);
      // Now and then several changes are taken in at once.
      if (event.where % 3 == 0) continue;
      RC_ASSERT(kinds.Refresh(cluster));
      ExpectSound(cluster, kinds);
    }
  }));
}

class RowKindsTest : public testing::Test {
 protected:
  void AddNodes(int count, int from = 0) {
    for (int i = from; i < from + count; ++i) cluster_.SetNode(MakeNode(Name(i)).Cpu("64").Ref());
  }
  static std::string Name(int i) { return "n" + std::to_string(i); }
  void Put(int pod, int node, const std::string& cpu) {
    pods_.push_back(MakePod("p" + std::to_string(pod)).Cpu(cpu).Node(Name(node)).Record());
    ASSERT_TRUE(cluster_.AddPod(pods_.back()));
  }
  void Remove(std::size_t pod) { ASSERT_TRUE(cluster_.RemovePod(*pods_[pod])); }
  std::size_t Used() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(kinds_.sizes(), [](const auto& size) { return size.rows > 0; }));
  }

  cluster::Cluster cluster_;
  std::vector<cluster::PodRecordRef> pods_;
  RowKinds kinds_;
};

TEST_F(RowKindsTest, FindsRowsFarIntoALargeTable) {
  AddNodes(40'000);
  ASSERT_TRUE(kinds_.Refresh(cluster_));
  ASSERT_EQ(Used(), 1u);
  const KindId empty = kinds_.kind_of()[0];
  for (int i = 0; i < 40'000; i += 1'000) Put(i, i, "1");
  ASSERT_TRUE(kinds_.Refresh(cluster_));
  ASSERT_EQ(Used(), 2u);
  const KindId loaded = kinds_.kind_of()[0];
  EXPECT_NE(loaded, empty);
  EXPECT_EQ(kinds_.sizes()[loaded].rows, 40u);
  EXPECT_EQ(kinds_.Nth({&loaded, 1}, 39, {}), NodeRow(39'000));
  EXPECT_EQ(kinds_.Nth({&empty, 1}, 39'959, {}), NodeRow(39'999));
  const std::vector<NodeRow> without = {NodeRow(0), NodeRow(20'000)};
  EXPECT_EQ(kinds_.Nth({&loaded, 1}, 37, without), NodeRow(39'000));
}

TEST_F(RowKindsTest, KindThatComesBackIsAnotherOne) {
  AddNodes(2);
  Put(0, 0, "1");
  ASSERT_TRUE(kinds_.Refresh(cluster_));
  const std::uint64_t before = kinds_.sizes()[kinds_.kind_of()[0]].born;
  Remove(0);
  ASSERT_TRUE(kinds_.Refresh(cluster_));
  EXPECT_EQ(Used(), 1u);
  Put(1, 0, "1");
  ASSERT_TRUE(kinds_.Refresh(cluster_));
  EXPECT_NE(kinds_.sizes()[kinds_.kind_of()[0]].born, before);
}

TEST_F(RowKindsTest, AreGivenUpWhenRowsHaveLittleInCommonAndComeBack) {
  AddNodes(400);
  for (int i = 0; i < 400; ++i) Put(i, i, std::to_string(i + 1) + "m");
  EXPECT_FALSE(kinds_.Refresh(cluster_));
  EXPECT_TRUE(kinds_.sizes().empty());
  for (std::size_t i = 0; i < 400; ++i) Remove(i);
  // Not at once: that would cost a look at all rows whenever one changed.
  EXPECT_FALSE(kinds_.Refresh(cluster_));
  AddNodes(1'200, 400);
  EXPECT_TRUE(kinds_.Refresh(cluster_));
  EXPECT_EQ(Used(), 1u);
}

// Kinds come, go and come back under the ids of others, rows are refused and taken again, and what tells
// kinds apart changes: each answer is compared with one that is made anew (EngineBed does that), and the row
// that was chosen has to be one of the best.
TEST(ViewByKindTest, FindsTheBestWhileKindsComeAndGo) {
  constexpr std::size_t kNodes = 800;
  constexpr std::size_t kTemplates = 8;
  const auto node = [](std::size_t i) {
    return MakeNode("n" + std::to_string(i)).Cpu("4").Memory("8Gi").Pods("20");
  };
  cluster::Cluster cluster;
  for (std::size_t i = 0; i < kNodes; ++i) cluster.SetNode(node(i).Ref());
  const Registry registry = plugins::AllPlugins();
  std::vector<EnabledPlugin> enabled = DefaultPlugins(Features::Upstream());
  std::erase_if(enabled, [&](const EnabledPlugin& plugin) { return !registry.Contains(plugin.name); });
  test::EngineBed bed(cluster, registry, enabled);
  base::Random random(7);
  std::vector<cluster::PodRecordRef> placed;
  std::size_t told_by_kind = 0;
  for (std::size_t step = 0; step < 1'500; ++step) {
    const std::string name = "p" + std::to_string(step);
    auto pod = MakePod(name);
    pod.Uid(name).Cpu(std::to_string(100 + 70 * (step % kTemplates)) + "m").Memory("64Mi");
    const auto slot = *cluster.SetPending(pod.Record());
    const Outcome outcome = bed.Schedule(slot);
    const auto* const decision = std::get_if<Decision>(&outcome);
    ASSERT_NE(decision, nullptr);
    const View& view = *bed.engine().view();
    told_by_kind += view.by_kind() ? 1 : 0;
    for (std::uint32_t i = 0; view.by_kind() && decision->feasible > 1 && i < kNodes; ++i) {
      if (!view.IsFeasible(NodeRow(i))) continue;
      ASSERT_LE(view.Total(NodeRow(i)), view.Total(decision->row));
    }
    ASSERT_TRUE(cluster.Assume(slot, cluster.nodes().name(decision->row)));
    placed.push_back(pod.Node(std::string(cluster.nodes().name(decision->row))).Record());
    ASSERT_TRUE(cluster.AddPod(placed.back()));
    // Nearly as many go as come.
    while (placed.size() > 600 || (placed.size() > 100 && random.Uniform(3) == 0)) {
      std::swap(placed[random.Uniform(placed.size())], placed.back());
      ASSERT_TRUE(cluster.RemovePod(*placed.back()));
      placed.pop_back();
    }
    const std::size_t changed = random.Uniform(kNodes);
    if (step % 7 == 0) cluster.SetNode(node(changed).Unschedulable().Ref());
    if (step % 7 == 3) cluster.SetNode(node(changed).Ref());
    // From here on a column is not the same for all.
    if (step > 1'000 && step % 50 == 0)
      cluster.SetNode(node(changed).Taint("a", "b", "PreferNoSchedule").Ref());
  }
  EXPECT_GT(told_by_kind, 1'000u);
}

class ViewMemoryTest : public testing::Test {
 protected:
  // Bytes of the views after some pods of one kind, on so many nodes.
  static std::size_t Measure(int node_count, bool by_zone) {
    cluster::Cluster cluster;
    for (int i = 0; i < node_count; ++i) {
      cluster.SetNode(MakeNode("n" + std::to_string(i)).Cpu("64").Zone("z" + std::to_string(i % 3)).Ref());
    }
    const Registry registry = plugins::AllPlugins();
    std::vector<EnabledPlugin> enabled = DefaultPlugins(Features::Upstream());
    std::erase_if(enabled, [&](const EnabledPlugin& plugin) { return !registry.Contains(plugin.name); });
    const Features features = Features::Upstream();
    const PluginArgs args;
    RejectionTable rejections;
    const PluginSetup setup{features, args, cluster};
    const auto profile =
        Profile::Make(*ExpandEverywhere(enabled, registry, setup), registry, setup, rejections);
    Engine engine(cluster, **profile, rejections, {});
    for (int i = 0; i < 20; ++i) {
      auto pod = MakePod("p" + std::to_string(i));
      pod.Label("app", "a").Cpu("1");
      if (by_zone) pod.PreferAffinity(10, MakeTerm(berth::test::kZone).Label("app", "a"));
      const auto slot = *cluster.SetPending(pod.Record());
      const Outcome outcome = engine.SchedulePod({.pod = slot, .step = static_cast<std::uint64_t>(i)});
      const std::string node(cluster.nodes().name(std::get<Decision>(outcome).row));
      EXPECT_TRUE(cluster.Assume(slot, node));
    }
    EXPECT_EQ(engine.views().size(), 1u);
    EXPECT_EQ(engine.view()->by_kind(), !by_zone);
    return engine.views().MemoryBytes();
  }
};

TEST_F(ViewMemoryTest, ViewOfPlainPodsDoesNotGrowWithTheNodes) {
  EXPECT_LT(Measure(20'000, false), 16u << 10);
}

TEST_F(ViewMemoryTest, ViewByRowTakesLessThanTwentyFourBytesPerNode) {
  EXPECT_LT(Measure(20'000, true), 20'000u * 24);
}

}  // namespace
}  // namespace berth::framework
