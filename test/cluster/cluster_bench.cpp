#include <benchmark/benchmark.h>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "support/builders.h"

namespace berth::cluster {
namespace {

using test::MakeNode;
using test::MakePod;

using berth::test::kZone;

void AddNodes(Cluster& cluster, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    cluster.SetNode(MakeNode("node-" + std::to_string(i))
                        .Cpu("32")
                        .Memory("64Gi")
                        .Hostname()
                        .Zone("zone-" + std::to_string(i % 3))
                        .Ref());
  }
}

PodRecordRef PodNumber(std::int64_t i, std::string node = "") {
  return MakePod("pod-" + std::to_string(i))
      .Label("app", "web")
      .Cpu("100m")
      .Memory("200Mi")
      .Node(node)
      .Record();
}

void AddPods(Cluster& cluster, std::int64_t count, std::int64_t nodes) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (!cluster.AddPod(PodNumber(i, "node-" + std::to_string(i % nodes)))) std::abort();
  }
}

PodCondition Web() {
  return {api::Selector::FromMap({{"app", "web"}}),
          {"default"},
          api::Selector::Nothing(),
          UnknownNamespace::kNeverSelected};
}

// What a decision adds to the state: one pod more on a node, and for a rollback one less.
void BM_AssumeAndForget(benchmark::State& state) {
  Cluster cluster;
  AddNodes(cluster, state.range(0));
  AddPods(cluster, 10 * state.range(0), state.range(0));
  for (std::int64_t i = 0; i < state.range(1); ++i) {
    PodCondition condition = Web();
    condition.namespaces.push_back("other-" + std::to_string(i));
    cluster.UseTally(cluster.UseCounter({&condition, 1}, {}, 1), kZone, {}, 1);
  }
  const PodSlot pod = *cluster.SetPending(MakePod("new").Label("app", "web").Cpu("1").Record());
  for (auto _ : state) {
    if (!cluster.Assume(pod, "node-1") || !cluster.Forget("uid-new", "node-1"))
      state.SkipWithError("refused");
  }
}
BENCHMARK(BM_AssumeAndForget)
    ->ArgNames({"nodes", "counters"})
    ->Args({5000, 0})
    ->Args({5000, 1})
    ->Args({5000, 10});

void BM_AddAndRemovePod(benchmark::State& state) {
  Cluster cluster;
  AddNodes(cluster, state.range(0));
  AddPods(cluster, 10 * state.range(0), state.range(0));
  const PodRecordRef pod = PodNumber(1'000'000'000, "node-7");
  for (auto _ : state) {
    if (!cluster.AddPod(pod) || !cluster.RemovePod(*pod)) state.SkipWithError("refused");
  }
}
BENCHMARK(BM_AddAndRemovePod)->ArgName("nodes")->Arg(5000);

void BM_SpeculativePlace(benchmark::State& state) {
  Cluster cluster;
  AddNodes(cluster, 5000);
  const PodSlot pod = *cluster.SetPending(MakePod("new").Label("app", "web").Cpu("1").Record());
  const NodeRow row = cluster.nodes().Find("node-1");
  for (auto _ : state) {
    Speculation trial(cluster);
    trial.Place(pod, row);
  }
}
BENCHMARK(BM_SpeculativePlace);

void BM_NodeHeartbeat(benchmark::State& state) {
  Cluster cluster;
  AddNodes(cluster, 5000);
  AddPods(cluster, 50000, 5000);
  const NodeRef node = cluster.nodes().object(cluster.nodes().Find("node-1"));
  for (auto _ : state) cluster.SetNode(node);
}
BENCHMARK(BM_NodeHeartbeat);

// The first pod of a Deployment that is spread: one scan of the pods that match.
void BM_BuildCounter(benchmark::State& state) {
  Cluster cluster;
  AddNodes(cluster, 5000);
  AddPods(cluster, state.range(0), 5000);
  const PodCondition condition = Web();
  std::uint64_t step = 0;
  for (auto _ : state) {
    ++step;
    cluster.UseTally(cluster.UseCounter({&condition, 1}, {}, step), kZone, {}, step);
    cluster.CollectUnused(step + 1);
  }
}
BENCHMARK(BM_BuildCounter)->ArgName("pods")->Arg(50000)->Unit(benchmark::kMicrosecond);

void BM_LoadNodes(benchmark::State& state) {
  std::vector<NodeRef> nodes;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    nodes.push_back(
        MakeNode("node-" + std::to_string(i)).Cpu("32").Hostname().Zone("z" + std::to_string(i % 3)).Ref());
  }
  for (auto _ : state) {
    Cluster cluster;
    for (const NodeRef& node : nodes) cluster.SetNode(node);
    benchmark::DoNotOptimize(cluster.NodeOrder().size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_LoadNodes)->ArgName("nodes")->Arg(5000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::cluster
