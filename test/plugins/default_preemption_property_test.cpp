#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck.h"

#include "plugins/plugin_harness.h"

// What a search for victims comes to, against plain arithmetic on the same pods.
namespace berth::plugins {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::PluginHarness;

struct Placed {
  std::string name;
  int node = 0;
  std::int32_t priority = 0;
  std::int64_t milli_cpu = 0;
};

constexpr int kNodes = 4;
constexpr std::int64_t kCapacity = 1000;

std::string Milli(std::int64_t amount) { return std::to_string(amount) + "m"; }

std::vector<Placed> AnyPods() {
  std::vector<Placed> pods;
  std::int64_t free[kNodes];
  std::fill(std::begin(free), std::end(free), kCapacity);
  const int count = *rc::gen::inRange(0, 24);
  for (int i = 0; i < count; ++i) {
    Placed pod{.name = "p" + std::to_string(i),
               .node = *rc::gen::inRange(0, kNodes),
               .priority = *rc::gen::inRange(-2, 6),
               .milli_cpu = *rc::gen::inRange(1, 8) * 50};
    if (pod.milli_cpu > free[pod.node]) continue;
    free[pod.node] -= pod.milli_cpu;
    pods.push_back(pod);
  }
  return pods;
}

TEST(DefaultPreemptionProperty, TheVictimsAreEnoughAndEachOfThemIsNeeded) {
  EXPECT_TRUE(rc::check([] {
    PluginHarness harness({.plugins = {{"NodeResourcesFit", 1}, {"DefaultPreemption", 1}}});
    for (int node = 0; node < kNodes; ++node) {
      harness.Add(MakeNode("n" + std::to_string(node)).Cpu(Milli(kCapacity)));
    }
    const std::vector<Placed> pods = AnyPods();
    std::map<std::string, Placed> by_name;
    std::int64_t used[kNodes] = {};
    std::int64_t lower[kNodes] = {};
    const std::int32_t priority = *rc::gen::inRange(-2, 7);
    for (const Placed& pod : pods) {
      harness.Add(MakePod(pod.name)
                      .Node("n" + std::to_string(pod.node))
                      .Priority(pod.priority)
                      .Cpu(Milli(pod.milli_cpu)));
      by_name.emplace(pod.name, pod);
      used[pod.node] += pod.milli_cpu;
      if (pod.priority < priority) lower[pod.node] += pod.milli_cpu;
    }
    // More than is free anywhere, so that somebody has to go.
    const std::int64_t free = kCapacity - std::ranges::min(used);
    const std::int64_t asked = free + *rc::gen::inRange(1, 9) * 50;
    bool could_fit = false;
    for (int node = 0; node < kNodes; ++node) {
      could_fit = could_fit || used[node] - lower[node] + asked <= kCapacity;
    }
    // Twice: the second time with what the first one left in views.
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto room = harness.MakeRoom(MakePod("incoming").Priority(priority).Cpu(Milli(asked)));
      RC_ASSERT(room.status.empty() == could_fit);
      RC_ASSERT(room.victims.empty() != could_fit);
      if (!could_fit) continue;
      const int node = (*room.node)[1] - '0';
      std::int64_t freed = 0;
      for (const std::string& name : room.victims) freed += by_name.at(name).milli_cpu;
      RC_ASSERT(used[node] - freed + asked <= kCapacity);
      for (const std::string& name : room.victims) {
        const Placed& victim = by_name.at(name);
        RC_ASSERT(victim.node == node);
        RC_ASSERT(victim.priority < priority);
        RC_ASSERT(used[node] - freed + victim.milli_cpu + asked > kCapacity);
      }
    }
  }));
}

// A pod with a port of its own takes part in the same cluster as one without, but for NodePorts, which looks
// at the pods of a node: so the search has to make dry runs for the one, and may reckon with sums for the
// other.
TEST(DefaultPreemptionProperty, SumsSayWhatDryRunsSay) {
  EXPECT_TRUE(rc::check([] {
    const auto percent = *rc::gen::element(0, 30, 100);
    PluginHarness::Options options{.plugins = {{"NodeUnschedulable", 1},
                                               {"TaintToleration", 1},
                                               {"NodeAffinity", 1},
                                               {"NodePorts", 1},
                                               {"NodeResourcesFit", 1},
                                               {"DefaultPreemption", 1}}};
    options.args.default_preemption = {.min_candidate_nodes_percentage = percent,
                                       .min_candidate_nodes_absolute = 1};
    PluginHarness by_sums(options);
    PluginHarness by_dry_runs(options);
    const auto both = [&](const auto& object) {
      by_sums.Add(object);
      by_dry_runs.Add(object);
    };
    for (int node = 0; node < kNodes; ++node) {
      auto made = MakeNode("n" + std::to_string(node))
                      .Cpu(Milli(kCapacity))
                      .Memory("1000Mi")
                      .Pods(std::to_string(*rc::gen::inRange(1, 12)))
                      .Label("disk", *rc::gen::element<std::string>("a", "b"));
      if (*rc::gen::inRange(0, 8) == 0) made.Taint("t", "", "NoSchedule");
      both(api::Node(made));
    }
    for (const Placed& pod : AnyPods()) {
      auto made = MakePod(pod.name)
                      .Uid(pod.name)
                      .Node("n" + std::to_string(pod.node))
                      .Priority(pod.priority)
                      .Label("app", *rc::gen::element<std::string>("x", "y"))
                      .Cpu(Milli(pod.milli_cpu))
                      .Memory(std::to_string(*rc::gen::inRange(0, 300)) + "Mi");
      if (*rc::gen::inRange(0, 2) == 0) made.Started(*rc::gen::inRange(1, 4));
      both(made);
    }
    if (*rc::gen::inRange(0, 3) == 0) {
      both(MakePod("promised")
               .Uid("promised")
               .Priority(*rc::gen::inRange(-2, 7))
               .Cpu(Milli(*rc::gen::inRange(1, 10) * 100))
               .NominatedNode("n1"));
    }
    if (*rc::gen::inRange(0, 2) == 0) {
      api::PodDisruptionBudget budget;
      budget.metadata.name = "keep";
      budget.metadata.namespace_ = "default";
      budget.spec.selector = berth::test::MakeSelector().Label("app", "x");
      budget.status.disruptions_allowed = *rc::gen::inRange(0, 3);
      const auto shared = std::make_shared<const api::PodDisruptionBudget>(budget);
      by_sums.cluster().objects().Of<api::PodDisruptionBudget>().Set(shared);
      by_dry_runs.cluster().objects().Of<api::PodDisruptionBudget>().Set(shared);
    }
    auto incoming = MakePod("incoming")
                        .Uid("incoming")
                        .Priority(*rc::gen::inRange(-2, 7))
                        .Cpu(Milli(*rc::gen::inRange(1, 21) * 50))
                        .Memory(std::to_string(*rc::gen::inRange(0, 1100)) + "Mi");
    if (*rc::gen::inRange(0, 2) == 0) incoming.NodeSelector("disk", "a");
    auto with_port = incoming;
    with_port.HostPort(4711);
    // Only of interest if it fits nowhere.
    RC_PRE(by_sums.Explain(incoming).feasible.empty());
    const auto sums = by_sums.MakeRoom(incoming);
    const auto dry_runs = by_dry_runs.MakeRoom(with_port);
    RC_ASSERT(sums.status == dry_runs.status);
    RC_ASSERT(sums.node == dry_runs.node);
    RC_ASSERT(sums.victims == dry_runs.victims);
  }));
}

}  // namespace
}  // namespace berth::plugins
