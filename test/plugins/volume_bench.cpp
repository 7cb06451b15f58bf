#include <benchmark/benchmark.h>
#include <cstdlib>
#include <memory>
#include <string>
#include <variant>

#include "cluster/object_store.h"
#include "framework/decide.h"
#include "plugins/all_plugins.h"
#include "plugins/volume_bed.h"

// What a decision costs for a pod with a claim, by the number of volumes in the cluster: it must not matter.
namespace berth::plugins::test {
namespace {

constexpr int kNodeCount = 5'000;
constexpr const char* kDriver = "csi.example.com";

// kAvoid: every decision looks at all nodes, as for a pod that asks for something new.
enum class Keep : bool { kAvoid, kUse };

class Bench {
 public:
  explicit Bench(Keep views = Keep::kUse) {
    const framework::Registry registry = AllPlugins();
    std::vector<framework::EnabledPlugin> enabled = framework::DefaultPlugins(features_);
    std::erase_if(enabled, [&](const auto& plugin) { return !registry.Contains(plugin.name); });
    const framework::PluginSetup setup{features_, args_, cluster_};
    profile_ = *framework::Profile::Make(*framework::ExpandEverywhere(enabled, registry, setup), registry,
                                         setup, rejections_);
    framework::EngineOptions options;
    if (views == Keep::kAvoid) options.views.memory_bytes_max = 0;
    engine_ = std::make_unique<framework::Engine>(cluster_, *profile_, rejections_, options);
    for (int i = 0; i < kNodeCount; ++i) {
      cluster_.SetNode(
          MakeNode(NodeName(i)).Hostname().Zone(ZoneOf(i)).Cpu("64").Memory("256Gi").Pods("500").Ref());
      Set(MakeCsiNode(NodeName(i), {{kDriver, 500}}));
    }
    Set(MakeClass("local", "kubernetes.io/no-provisioner"));
  }

  static std::string NodeName(int i) { return "node-" + std::to_string(i % kNodeCount); }
  static std::string ZoneOf(int i) { return "zone-" + std::to_string(i % 3); }

  template <class T>
  void Set(const T& object) {
    cluster_.objects().Of<T>().Set(std::make_shared<const T>(object));
  }
  // Bound, used by a pod that runs, in a zone.
  void AddUsed(int i) {
    const std::string name = "used-" + std::to_string(i);
    AddBound(name, i);
    if (!cluster_.AddPod(MakePod(name).VolumeClaim(name).Node(NodeName(i)).Record())) std::abort();
  }
  void AddBound(const std::string& name, int i) {
    Set<api::PersistentVolume>(
        MakeVolume(name).Csi(kDriver, name).Affinity(kZone, {ZoneOf(i)}).Phase("Bound"));
    Set<api::PersistentVolumeClaim>(MakeClaim(name).BoundTo(name));
  }
  // Free, on one node.
  void AddFree(int i) {
    Set<api::PersistentVolume>(MakeVolume("free-" + std::to_string(i))
                                   .Class("local")
                                   .Capacity(std::to_string(i % 7 + 1) + "Gi")
                                   .Affinity(kHost, {NodeName(i)}));
  }
  // Free, anywhere in a zone; one in a thousand has the label that picky claims ask for.
  void AddZonal(int i) {
    Set<api::PersistentVolume>(MakeVolume("zonal-" + std::to_string(i))
                                   .Class("local")
                                   .Capacity("3Gi")
                                   .Label("tier", i % 1000 == 999 ? "gold" : "silver")
                                   .Affinity(kZone, {ZoneOf(i)}));
  }
  void AddPicky(const std::string& name) {
    ClaimBuilder claim = MakeClaim(name).Class("local").Request("3Gi");
    claim.claim().spec.selector.emplace().match_labels.insert_or_assign(std::string("tier"), "gold");
    Set<api::PersistentVolumeClaim>(claim);
  }
  void AddLate(const std::string& name) {
    Set<api::PersistentVolumeClaim>(MakeClaim(name).Class("local").Request("3Gi"));
  }

  // A pod that waits with this claim.
  cluster::PodSlot Waiting(const std::string& claim) {
    return *cluster_.SetPending(MakePod(claim).VolumeClaim(claim).Record());
  }
  void Decide(cluster::PodSlot pod) {
    const framework::Outcome outcome = engine_->SchedulePod({.pod = pod, .step = ++step_});
    if (!std::holds_alternative<framework::Decision>(outcome)) std::abort();
  }

 private:
  const framework::Features features_;
  const framework::PluginArgs args_;
  cluster::Cluster cluster_;
  framework::RejectionTable rejections_;
  std::unique_ptr<const framework::Profile> profile_;
  std::unique_ptr<framework::Engine> engine_;
  std::uint64_t step_ = 0;
};

void BoundClaim(benchmark::State& state) {
  Bench bench;
  for (int i = 0; i < state.range(0); ++i) bench.AddUsed(i);
  bench.AddBound("new", 0);
  const cluster::PodSlot pod = bench.Waiting("new");
  for (auto _ : state) bench.Decide(pod);
}
BENCHMARK(BoundClaim)->Arg(5'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);

// Between two decisions a volume changes, as when a pod took one.
void LocalClaim(benchmark::State& state) {
  Bench bench;
  for (int i = 0; i < state.range(0); ++i) bench.AddFree(i);
  bench.AddLate("new");
  const cluster::PodSlot pod = bench.Waiting("new");
  int next = 0;
  for (auto _ : state) {
    bench.AddFree(next++ % kNodeCount);
    bench.Decide(pod);
  }
}
BENCHMARK(LocalClaim)->Arg(5'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);

void NewLocalClaim(benchmark::State& state) {
  Bench bench(Keep::kAvoid);
  for (int i = 0; i < state.range(0); ++i) bench.AddFree(i);
  bench.AddLate("new");
  const cluster::PodSlot pod = bench.Waiting("new");
  for (auto _ : state) bench.Decide(pod);
}
BENCHMARK(NewLocalClaim)->Arg(5'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);

// Free volumes that all nodes of a zone share, hardly any of which suits.
void PickyClaim(benchmark::State& state) {
  Bench bench;
  for (int i = 0; i < state.range(0); ++i) bench.AddZonal(i);
  bench.AddPicky("new");
  const cluster::PodSlot pod = bench.Waiting("new");
  int next = 0;
  for (auto _ : state) {
    bench.AddZonal(next++ % kNodeCount);
    bench.Decide(pod);
  }
}
BENCHMARK(PickyClaim)->Arg(5'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);

void NewPickyClaim(benchmark::State& state) {
  Bench bench(Keep::kAvoid);
  for (int i = 0; i < state.range(0); ++i) bench.AddZonal(i);
  bench.AddPicky("new");
  const cluster::PodSlot pod = bench.Waiting("new");
  for (auto _ : state) bench.Decide(pod);
}
BENCHMARK(NewPickyClaim)->Arg(5'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::plugins::test
