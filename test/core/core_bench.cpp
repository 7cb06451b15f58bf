#include <benchmark/benchmark.h>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "core/scheduler.h"
#include "support/builders.h"

// What the core costs per pod, without any I/O around it.
namespace berth::core {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Core {
 public:
  Core(std::int64_t node_count, std::string_view cpu) {
    SchedulerOptions options;
    options.attempts_per_step = 1'000'000;
    scheduler_ = *Scheduler::Make(options, clock_, metrics_);
    scheduler_->SetDeciding(false);
    for (std::int64_t i = 0; i < node_count; ++i) {
      inputs_.push_back(NodeSeen{MakeNode("node-" + std::to_string(i))
                                     .Hostname()
                                     .Zone("zone-" + std::to_string(i % 3))
                                     .Cpu(cpu)
                                     .Memory("256Gi")
                                     .Pods("110")
                                     .Ref()});
    }
    Apply();
  }

  void Add(const berth::test::PodBuilder& pod) { inputs_.push_back(PodSeen{pod.Record()}); }
  void Add(api::PodRecord pod) {
    inputs_.push_back(PodSeen{std::make_shared<const api::PodRecord>(std::move(pod))});
  }
  void Gone(const std::string& name) { inputs_.push_back(PodGone{"default", name, name}); }
  // Applies what was added and decides nothing.
  void Apply() {
    scheduler_->SetDeciding(false);
    outputs_.clear();
    Step(inputs_);
    inputs_.clear();
  }
  const Outputs& Decide() {
    scheduler_->SetDeciding(true);
    outputs_.clear();
    Step({});
    return outputs_;
  }
  // The same without a step, as the parts of a first list are.
  void Take() {
    const double before = ThreadSeconds();
    scheduler_->Take(inputs_, outputs_);
    seconds_ += ThreadSeconds() - before;
    inputs_.clear();
  }
  // Processor time of all steps so far.
  double seconds() const { return seconds_; }
  // All calls succeed; pods that were bound are seen so.
  void Answer() {
    for (const ApiCall& call : outputs_.calls) {
      inputs_.push_back(CallFinished{call.id, {}});
      if (call.type != dispatch::CallType::kPodBinding) continue;
      api::PodRecord record = *call.pod;
      record.node_name = call.node;
      record.resource_version += "1";
      inputs_.push_back(PodSeen{std::make_shared<const api::PodRecord>(std::move(record))});
    }
    Apply();
  }

 private:
  void Step(std::span<const Input> inputs) {
    const double before = ThreadSeconds();
    scheduler_->Step(inputs, outputs_);
    seconds_ += ThreadSeconds() - before;
  }

  double seconds_ = 0;
  base::VirtualClock clock_;
  base::MetricRegistry metrics_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<Input> inputs_;
  Outputs outputs_;
};

berth::test::PodBuilder PlainPod(const std::string& name) {
  return MakePod(name)
      .Uid(name)
      .SchedulerName("default-scheduler")
      .Label("app", "web")
      .Cpu("10m")
      .Memory("16Mi");
}

// From the queue to the request that binds it, a hundred pods at a time.
void PodToBinding(benchmark::State& state) {
  constexpr int kBatch = 100;
  Core core(state.range(0), "64");
  int made = 0;
  std::size_t bound = 0;
  const auto add_batch = [&] {
    for (int i = 0; i < kBatch; ++i) core.Add(PlainPod("pod-" + std::to_string(made++)));
    core.Apply();
  };
  add_batch();
  core.Decide();
  core.Answer();
  for (auto _ : state) {
    state.PauseTiming();
    add_batch();
    state.ResumeTiming();
    bound += core.Decide().calls.size();
    state.PauseTiming();
    core.Answer();
    state.ResumeTiming();
  }
  if (static_cast<std::int64_t>(bound) != state.iterations() * kBatch)
    state.SkipWithError("some pods were not bound");
  state.SetItemsProcessed(static_cast<std::int64_t>(bound));
}
BENCHMARK(PodToBinding)->Arg(1000)->Arg(5000)->Iterations(200)->Unit(benchmark::kMicrosecond);

// All that the core does for a pod: it is seen, decided about, its binding is answered and seen. So many
// nodes, pods and templates; seconds of one core for all pods, without those for the nodes.
void AllPods(benchmark::State& state) {
  constexpr std::int64_t kBatch = 1'000;
  const std::int64_t pod_count = state.range(1);
  std::vector<api::PodRecord> templates;
  for (std::int64_t i = 0; i < state.range(2); ++i) {
    templates.push_back(*MakePod("pod")
                             .SchedulerName("default-scheduler")
                             .Label("app", "app-" + std::to_string(i))
                             .Cpu(std::to_string(100 + i) + "m")
                             .Memory("500Mi")
                             .Record());
  }
  for (auto _ : state) {
    Core core(state.range(0), "32");
    const double before = core.seconds();
    std::int64_t bound = 0;
    for (std::int64_t made = 0; made < pod_count;) {
      for (std::int64_t i = 0; i < kBatch && made < pod_count; ++i, ++made) {
        api::PodRecord pod = templates[static_cast<std::size_t>(made) % templates.size()];
        pod.name = pod.uid = "pod-" + std::to_string(made);
        core.Add(std::move(pod));
      }
      core.Apply();
      bound += static_cast<std::int64_t>(core.Decide().calls.size());
      core.Answer();
    }
    if (bound != pod_count) state.SkipWithError("some pods were not bound");
    state.SetIterationTime(core.seconds() - before);
  }
  state.SetItemsProcessed(pod_count);
}
BENCHMARK(AllPods)
    ->Args({5'000, 50'000, 1})
    ->Args({50'000, 50'000, 100})
    ->Args({100'000, 100'000, 1'000})
    ->Args({1'000'000, 1'000'000, 1'000})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);

std::int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

// A start on a full cluster: a list of bound pods of 40 Deployments comes, in parts. The records are made
// outside of what is measured; bytes are those of record and core together, so many nodes and pods.
void TakeOver(benchmark::State& state) {
  constexpr std::int64_t kPart = 512;
  for (auto _ : state) {
    Core core(state.range(0), "32");
    api::SharedParts shared;
    std::shared_ptr<const std::vector<api::PodCondition>> conditions;
    const std::int64_t bytes = ResidentBytes();
    const double before = core.seconds();
    for (std::int64_t made = 0; made < state.range(1);) {
      for (std::int64_t i = 0; i < kPart && made < state.range(1); ++i, ++made) {
        api::PodCondition condition;
        condition.type = "PodScheduled";
        condition.status = "True";
        condition.last_transition_time.unix_seconds = made / 1'000;
        const std::string app = "deployment-" + std::to_string(made % 40);
        const std::string number = std::to_string(10'000'000 + made);
        api::Pod pod = MakePod(app + "-7c5ddbdf54-" + number)
                           .Uid("0f7ab6d8-94e3-4b5c-a1a7-0000" + number)
                           .Namespace("namespace-of-team-" + std::to_string(made % 8))
                           .SchedulerName("default-scheduler")
                           .Label("app", app)
                           .Label("pod-template-hash", "7c5ddbdf54")
                           .Cpu("100m")
                           .Memory("500Mi")
                           .Node("node-" + std::to_string(made % state.range(0)))
                           .Phase("Running")
                           .Condition(condition)
                           .Build();
        api::PodRecord record = api::MakeRecord(std::move(pod), shared);
        record.resource_version = number;
        // As the reader does it.
        if (made % 1'000 == 0) conditions = record.kept_conditions;
        record.kept_conditions = conditions;
        core.Add(std::move(record));
      }
      core.Take();
    }
    core.Apply();
    const auto pods = static_cast<double>(state.range(1));
    state.counters["bytes_per_pod"] = static_cast<double>(ResidentBytes() - bytes) / pods;
    state.counters["us_per_pod"] = (core.seconds() - before) / pods * 1e6;
    state.SetIterationTime(core.seconds() - before);
  }
}
BENCHMARK(TakeOver)
    ->Args({5'000, 50'000})
    ->Args({5'000, 150'000})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// One attempt of a pod that fits nowhere, with its search for victims: on every node all ten pods have to go.
void PreemptOne(benchmark::State& state) {
  Core core(state.range(0), std::to_string(state.range(1)));
  for (std::int64_t node = 0; node < state.range(0); ++node) {
    for (std::int64_t i = 0; i < state.range(1); ++i) {
      const std::string name = "low-" + std::to_string(node) + "-" + std::to_string(i);
      core.Add(MakePod(name)
                   .Uid(name)
                   .SchedulerName("default-scheduler")
                   .Label("app", "web")
                   .Cpu("1")
                   .Memory("64Mi")
                   .Priority(1)
                   .Node("node-" + std::to_string(node)));
    }
  }
  core.Apply();
  int made = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::string name = "high-" + std::to_string(made++);
    core.Add(MakePod(name)
                 .Uid(name)
                 .SchedulerName("default-scheduler")
                 .Label("app", "web")
                 .Cpu(std::to_string(state.range(1)))
                 .Memory("64Mi")
                 .Priority(100));
    core.Apply();
    state.ResumeTiming();
    const Outputs& outputs = core.Decide();
    state.PauseTiming();
    // All but the last of the victims at first; none of them goes, and the pod does not come back.
    if (outputs.calls.size() < static_cast<std::size_t>(state.range(1)) - 1) {
      state.SkipWithError("nobody was evicted");
    }
    core.Gone(name);
    core.Apply();
    state.ResumeTiming();
  }
}
BENCHMARK(PreemptOne)->Args({5000, 10})->Iterations(20)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::core
