#include <benchmark/benchmark.h>
#include <memory>
#include <string>
#include <variant>

#include "framework/decide.h"
#include "plugins/all_plugins.h"
#include "support/builders.h"

// What a decision costs with the default plugins, for plain pods of one template.
namespace berth::framework {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;

class Bench {
 public:
  Bench(std::int64_t node_count, const EngineOptions& options) {
    for (std::int64_t i = 0; i < node_count; ++i) {
      const std::string name = "node-" + std::to_string(i);
      cluster_.SetNode(
          MakeNode(name).Hostname().Zone("zone-" + std::to_string(i % 3)).Cpu("64").Memory("256Gi").Ref());
    }
    const Registry registry = plugins::AllPlugins();
    std::vector<EnabledPlugin> enabled = DefaultPlugins(features_);
    std::erase_if(enabled, [&](const EnabledPlugin& plugin) { return !registry.Contains(plugin.name); });
    const PluginSetup setup{features_, args_, cluster_};
    profile_ = *Profile::Make(*ExpandEverywhere(enabled, registry, setup), registry, setup, rejections_);
    engine_ = std::make_unique<Engine>(cluster_, *profile_, rejections_, options);
  }

  cluster::PodSlot NextPod() {
    const std::string name = "pod-" + std::to_string(pod_count_++);
    return *cluster_.SetPending(MakePod(name).Label("app", "web").Cpu("10m").Memory("16Mi").Record());
  }
  cluster::NodeRow Decide(cluster::PodSlot pod) {
    const Outcome outcome = engine_->SchedulePod({.pod = pod, .step = ++step_});
    return std::get<Decision>(outcome).row;
  }
  void Assume(cluster::PodSlot pod, cluster::NodeRow row) {
    const std::string node(cluster_.nodes().name(row));
    if (!cluster_.Assume(pod, node)) std::abort();
  }

 private:
  const Features features_;
  const PluginArgs args_;
  cluster::Cluster cluster_;
  RejectionTable rejections_;
  std::unique_ptr<const Profile> profile_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t step_ = 0;
  std::uint64_t pod_count_ = 0;
};

// Every decision is carried out, so that each one finds one node changed.
void WarmDecision(benchmark::State& state) {
  Bench bench(state.range(0), {});
  for (int i = 0; i < 64; ++i) {
    const cluster::PodSlot pod = bench.NextPod();
    bench.Assume(pod, bench.Decide(pod));
  }
  for (auto _ : state) {
    state.PauseTiming();
    const cluster::PodSlot pod = bench.NextPod();
    state.ResumeTiming();
    const cluster::NodeRow row = bench.Decide(pod);
    state.PauseTiming();
    bench.Assume(pod, row);
    state.ResumeTiming();
  }
}
BENCHMARK(WarmDecision)->Arg(1000)->Arg(5000)->Arg(50000)->Iterations(2000);

void ColdDecision(benchmark::State& state) {
  Bench bench(state.range(0), {.views = {.memory_bytes_max = 0}});
  const cluster::PodSlot pod = bench.NextPod();
  for (auto _ : state) benchmark::DoNotOptimize(bench.Decide(pod));
}
BENCHMARK(ColdDecision)->Arg(1000)->Arg(5000)->Arg(50000);

}  // namespace
}  // namespace berth::framework
