#include <benchmark/benchmark.h>

#include "queue/scheduling_queue.h"
#include "support/builders.h"

// What the operations cost with many waiting pods: 100,000 of 200 templates.
namespace berth::queue::test {
namespace {

using berth::test::MakePod;
using framework::ClusterEvent;
using framework::EventResource;
using framework::Hint;
using std::chrono::minutes;

constexpr ClusterEvent kAssignedPodDelete{EventResource::kAssignedPod, framework::kDelete};
constexpr ClusterEvent kPvAdd{EventResource::kPersistentVolume, framework::kAdd};
constexpr ClusterEvent kClaimUpdate{EventResource::kResourceClaim, framework::kUpdate};
constexpr int kPods = 100'000;
constexpr int kTemplates = 200;

class PrioritySort final : public framework::QueueSortPoint {
 public:
  bool Less(const framework::QueueOrderKey& a, const framework::QueueOrderKey& b) const override {
    return a.priority != b.priority ? a.priority > b.priority : a.timestamp < b.timestamp;
  }
};

// Plugins without the records of calls that tests want.
class Waiting {
 public:
  explicit Waiting(int pods) {
    using framework::EventRegistration;
    const auto skip = [](const framework::HintInput& input) -> base::Result<Hint> {
      benchmark::DoNotOptimize(input.record().spec->spec.priority);
      return Hint::kQueueSkip;
    };
    std::vector<EventRegistration> fit(2);
    fit[0].event = {EventResource::kNode, framework::kAdd | framework::kUpdateNodeAllocatable};
    fit[0].hint = skip;
    fit[0].by_template = true;
    fit[1].event = kAssignedPodDelete;
    fit[1].hint = skip;
    std::vector<EventRegistration> claims(1);
    claims[0].event = kClaimUpdate;
    claims[0].hint = skip;
    claims[0].pre_hint = [](const framework::PreHintInput&) -> base::Result<framework::PreHint> {
      return framework::PreHint{.all_pods = false, .pods = {{"default", "pod-17"}, {"default", "pod-4711"}}};
    };
    QueueProfile profile{.scheduler_name = "default-scheduler"};
    profile.events.push_back({"fit", std::move(fit)});
    profile.events.push_back({"claims", std::move(claims)});
    queue = *SchedulingQueue::Make({}, {std::move(profile)},
                                   {.cluster = cluster, .clock = clock, .metrics = metrics, .sort = sort});
    for (int i = 0; i < pods; ++i) {
      api::Pod pod = MakePod("pod-" + std::to_string(i)).Priority(i % kTemplates);
      pod.spec.scheduler_name = "default-scheduler";
      slots.push_back(
          *cluster.SetPending(std::make_shared<api::PodRecord>(api::MakeRecord(std::move(pod), shared))));
    }
  }
  void AddAll() {
    for (const cluster::PodSlot slot : slots) queue->Add(slot);
  }
  void PopAll() {
    while (auto popped = queue->Pop()) flying.push_back(popped->pods.front());
  }
  void Reject(const std::vector<std::string>& plugins) {
    Rejection rejection;
    for (const std::string& plugin : plugins) rejection.unschedulable.Insert(*queue->plugins().Find(plugin));
    for (const PoppedPod& pod : flying) static_cast<void>(queue->Return(pod, rejection));
    flying.clear();
  }
  void ParkAll(const std::vector<std::string>& plugins) {
    AddAll();
    PopAll();
    Reject(plugins);
  }

  base::VirtualClock clock;
  base::MetricRegistry registry;
  QueueMetrics metrics{registry};
  cluster::Cluster cluster;
  PrioritySort sort;
  api::SharedParts shared;
  std::unique_ptr<SchedulingQueue> queue;
  std::vector<cluster::PodSlot> slots;
  std::vector<PoppedPod> flying;
};

void Notify(benchmark::State& state, const ClusterEvent& event, const std::vector<std::string>& rejectors) {
  Waiting waiting(kPods);
  waiting.ParkAll(rejectors);
  const auto node = std::make_shared<const api::Node>();
  for (auto _ : state) waiting.queue->Notify(event, node, node);
}

// One hint per template.
void NodeUpdate(benchmark::State& state) {
  Notify(state, {EventResource::kNode, framework::kUpdateNodeAllocatable}, {"fit"});
}
BENCHMARK(NodeUpdate);

// One hint per pod: the hint looks at more than the template.
void AssignedPodDelete(benchmark::State& state) { Notify(state, kAssignedPodDelete, {"fit"}); }
BENCHMARK(AssignedPodDelete)->Unit(benchmark::kMillisecond);

void EventOfNoInterest(benchmark::State& state) { Notify(state, kPvAdd, {"fit"}); }
BENCHMARK(EventOfNoInterest);

void EventOfOtherPlugins(benchmark::State& state) { Notify(state, kClaimUpdate, {"fit"}); }
BENCHMARK(EventOfOtherPlugins);

void NarrowedEvent(benchmark::State& state) { Notify(state, kClaimUpdate, {"claims"}); }
BENCHMARK(NarrowedEvent);

void BackoffFlushOf10000(benchmark::State& state) {
  Waiting waiting(10'000);
  waiting.AddAll();
  for (auto _ : state) {
    state.PauseTiming();
    waiting.PopAll();
    waiting.Reject({});
    waiting.clock.Advance(minutes(1));
    state.ResumeTiming();
    waiting.queue->FlushBackoff();
  }
}
BENCHMARK(BackoffFlushOf10000)->Unit(benchmark::kMillisecond);

void AddAndPop100000(benchmark::State& state) {
  Waiting waiting(kPods);
  for (auto _ : state) {
    waiting.AddAll();
    waiting.PopAll();
    state.PauseTiming();
    for (const PoppedPod& pod : waiting.flying) waiting.queue->Done(pod.pod);
    waiting.flying.clear();
    state.ResumeTiming();
  }
}
BENCHMARK(AddAndPop100000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::queue::test
