#include <benchmark/benchmark.h>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "core/scheduler.h"
#include "support/builders.h"

// What one event about a claim costs while many pods wait for others: it must not depend on how many.
namespace berth::core {
namespace {

class Waiting {
 public:
  Waiting(std::int64_t pods, bool devices) {
    auto made = Scheduler::Make({}, clock_, metrics_);
    if (!made) std::abort();
    scheduler_ = *std::move(made);
    std::vector<Input> inputs;
    inputs.push_back(NodeSeen{berth::test::MakeNode("n1").Cpu("4").Memory("8Gi").Ref()});
    for (std::int64_t i = 0; i < pods; ++i) {
      const std::string number = std::to_string(i);
      auto pod = berth::test::MakePod("p" + number).SchedulerName("default-scheduler");
      if (devices) {
        pod.ResourceClaim("entry", "c" + number);
      } else {
        pod.VolumeClaim("c" + number);
      }
      inputs.push_back(PodSeen{pod.Record()});
    }
    Step(inputs);
    while (scheduler_->HasWork()) Step({});
  }

  void Step(const std::vector<Input>& inputs) {
    Outputs outputs;
    scheduler_->Step(inputs, outputs);
    benchmark::DoNotOptimize(outputs);
  }

 private:
  base::VirtualClock clock_;
  base::MetricRegistry metrics_;
  std::unique_ptr<Scheduler> scheduler_;
};

template <class Claim>
std::vector<Input> SeenAs(const char* version) {
  auto claim = std::make_shared<Claim>();
  claim->metadata.namespace_ = "default";
  claim->metadata.name = "unknown";  // to all pods, so that nobody is tried
  claim->metadata.uid = "uid";
  claim->metadata.resource_version = version;
  claim->metadata.finalizers.push_back(version);
  return {ObjectSeen{std::shared_ptr<const Claim>(std::move(claim))}};
}

void DeviceClaimEvent(benchmark::State& state) {
  Waiting waiting(state.range(0), true);
  const std::vector<Input> one = SeenAs<api::ResourceClaim>("1");
  const std::vector<Input> other = SeenAs<api::ResourceClaim>("2");
  bool flip = false;
  for (auto _ : state) waiting.Step((flip = !flip) ? one : other);
}
BENCHMARK(DeviceClaimEvent)->Arg(100)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void VolumeClaimEvent(benchmark::State& state) {
  Waiting waiting(state.range(0), false);
  const std::vector<Input> one = SeenAs<api::PersistentVolumeClaim>("1");
  const std::vector<Input> other = SeenAs<api::PersistentVolumeClaim>("2");
  bool flip = false;
  for (auto _ : state) waiting.Step((flip = !flip) ? one : other);
}
BENCHMARK(VolumeClaimEvent)->Arg(100)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::core
