#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <variant>

#include "framework/decide.h"
#include "plugins/all_plugins.h"
#include "support/builders.h"

// What a decision costs with the default plugins, from PreFilter to the chosen node: processor time of one
// core, all nodes evaluated. test/peer/decide makes the same nodes and pods and asks kube-scheduler's own
// code; the two files have to agree about them.
namespace berth::framework {
namespace {

using berth::test::kHost;
using berth::test::kZone;
using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::MakeSelector;
using berth::test::MakeTerm;
using berth::test::PodBuilder;

constexpr std::size_t kTemplateCount = 20;
constexpr std::int64_t kRunningPodsMax = 10'000;

api::TopologySpreadConstraint Constraint(const char* key, const char* action) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = 1;
  constraint.topology_key = key;
  constraint.when_unsatisfiable = action;
  constraint.label_selector = api::LabelSelector(MakeSelector().Label("app", "load"));
  return constraint;
}

PodBuilder PlainPod(const std::string& name) {
  PodBuilder pod = MakePod(name);
  pod.Namespace("load").Label("app", "load").Container("pause:3.10").Cpu("100m").Memory("500Mi").Priority(0);
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    pod.Tolerate(
        {.key = key, .operator_ = "Exists", .value = {}, .effect = "NoExecute", .toleration_seconds = 300});
  }
  return pod;
}

// The kinds of pods, by name.
PodBuilder PodOfKind(std::string_view kind, const std::string& name, std::size_t number) {
  PodBuilder pod = PlainPod(name);
  const api::PodAffinityTerm by_zone = MakeTerm(kZone).Label("app", "load");
  if (kind == "anti") pod.Label("group", "one").AntiAffinity(MakeTerm(kHost).Label("group", "one"));
  if (kind == "affinity") pod.Affinity(by_zone);
  if (kind == "preferred") pod.PreferAffinity(10, by_zone);
  if (kind == "hard-zone") pod.Spread(Constraint(kZone, "DoNotSchedule"));
  if (kind == "hard-host") pod.Spread(Constraint(kHost, "DoNotSchedule"));
  if (kind == "soft-zone" || kind == "soft-both") pod.Spread(Constraint(kZone, "ScheduleAnyway"));
  if (kind == "soft-host" || kind == "soft-both") pod.Spread(Constraint(kHost, "ScheduleAnyway"));
  if (kind == "templates") pod.Cpu(std::to_string(100 + number % kTemplateCount) + "m");
  return pod;
}

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double ResidentMebibytes() {
  std::FILE* const statm = std::fopen("/proc/self/statm", "r");
  long total = 0;
  long resident = 0;
  if (statm == nullptr || std::fscanf(statm, "%ld %ld", &total, &resident) != 2) std::abort();
  std::fclose(statm);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class Bench {
 public:
  Bench(std::string kind, std::int64_t node_count, const EngineOptions& options) : kind_(std::move(kind)) {
    const Registry registry = plugins::AllPlugins();
    std::vector<EnabledPlugin> enabled = DefaultPlugins(features_);
    std::erase_if(enabled, [&](const EnabledPlugin& plugin) { return !registry.Contains(plugin.name); });
    const PluginSetup setup{features_, args_, cluster_};
    profile_ = *Profile::Make(*ExpandEverywhere(enabled, registry, setup), registry, setup, rejections_);
    engine_ = std::make_unique<Engine>(cluster_, *profile_, rejections_, options);
    for (std::int64_t i = 0; i < node_count; ++i) {
      const std::string name = "node-" + std::to_string(i);
      // Of plain pods on nodes that all differ a little, so that none is like another; not asked of the peer.
      const std::string memory = kind_ == "unlike" ? std::to_string(32'000'000 + i) + "Ki" : "32Gi";
      cluster_.SetNode(
          MakeNode(name).Hostname().Zone("zone-" + std::to_string(i % 3)).Cpu("4").Memory(memory).Ref());
    }
    for (std::int64_t i = 0; i < std::min(node_count, kRunningPodsMax); ++i) {
      PodBuilder pod = PlainPod("running-" + std::to_string(i));
      if (!cluster_.AddPod(pod.Node("node-" + std::to_string(i)).Record())) std::abort();
    }
  }

  cluster::PodSlot NextPod() {
    const std::size_t number = pod_count_++;
    return *cluster_.SetPending(PodOfKind(kind_, "pod-" + std::to_string(number), number).Record());
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
  const std::string kind_;
  const Features features_ = Features::Upstream();
  const PluginArgs args_;
  cluster::Cluster cluster_;
  RejectionTable rejections_;
  std::unique_ptr<const Profile> profile_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t step_ = 0;
  std::size_t pod_count_ = 0;
};

// Every decision is carried out, so that each one finds one node changed, or as many as there are templates.
void Run(benchmark::State& state, const std::string& kind, EngineOptions options, int warm_up) {
  Bench bench(kind, state.range(0), options);
  const double resident = ResidentMebibytes();
  for (int i = 0; i < warm_up; ++i) {
    const cluster::PodSlot pod = bench.NextPod();
    bench.Assume(pod, bench.Decide(pod));
  }
  for (auto _ : state) {
    const cluster::PodSlot pod = bench.NextPod();
    const double before = ThreadSeconds();
    const cluster::NodeRow row = bench.Decide(pod);
    state.SetIterationTime(ThreadSeconds() - before);
    bench.Assume(pod, row);
  }
  state.counters["cluster_mib"] = resident;
  state.counters["resident_mib"] = ResidentMebibytes();
}

void RegisterAll() {
  constexpr std::array kKinds = {"plain",     "anti",      "affinity",  "preferred", "hard-zone", "hard-host",
                                 "soft-zone", "soft-host", "soft-both", "templates", "unlike"};
  for (const std::string kind : kKinds) {
    for (const std::int64_t nodes : {1'000, 5'000, 50'000, 1'000'000}) {
      const auto add = [&](const char* name, EngineOptions options, int warm_up, std::int64_t iterations) {
        benchmark::RegisterBenchmark((std::string(name) + "/" + kind).c_str(),
                                     [=](benchmark::State& state) { Run(state, kind, options, warm_up); })
            ->Arg(nodes)
            ->Iterations(iterations)
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      };
      add("cold", {.views = {.memory_bytes_max = 0}}, 2, std::clamp<std::int64_t>(1'000'000 / nodes, 5, 200));
      // With views for all templates; a thousandth of the nodes at most is filled up.
      add("warm", {.views = {.memory_bytes_max = std::size_t{4} << 30}}, 100, nodes == 1'000 ? 800 : 2'000);
    }
  }
}

[[maybe_unused]] const bool is_registered = (RegisterAll(), true);

}  // namespace
}  // namespace berth::framework
