#include <benchmark/benchmark.h>
#include <cstdlib>
#include <memory>
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
  void Gone(const std::string& name) { inputs_.push_back(PodGone{"default", name, name}); }
  // Applies what was added and decides nothing.
  void Apply() {
    scheduler_->SetDeciding(false);
    outputs_.clear();
    scheduler_->Step(inputs_, outputs_);
    inputs_.clear();
  }
  const Outputs& Decide() {
    scheduler_->SetDeciding(true);
    outputs_.clear();
    scheduler_->Step({}, outputs_);
    return outputs_;
  }
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
