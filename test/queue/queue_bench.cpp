#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <malloc.h>
#include <new>

#include "queue/scheduling_queue.h"
#include "support/builders.h"

// What the operations cost with many waiting pods: 100,000 of 200 templates. test/peer/queue does the same
// with kube-scheduler's queue; tools/bench-queue puts the two side by side.
namespace {

std::atomic<std::int64_t> allocated_bytes{0};

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  allocated_bytes.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}
void operator delete(void* memory) noexcept {
  allocated_bytes.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace berth::queue::test {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using framework::ClusterEvent;
using framework::EventResource;
using framework::Hint;
using std::chrono::minutes;

constexpr ClusterEvent kNodeUpdate{EventResource::kNode, framework::kUpdateNodeAllocatable};
constexpr ClusterEvent kNodeLabel{EventResource::kNode, framework::kUpdateNodeLabel};
constexpr ClusterEvent kAssignedPodDelete{EventResource::kAssignedPod, framework::kDelete};
constexpr ClusterEvent kClaimUpdate{EventResource::kResourceClaim, framework::kUpdate};
constexpr ClusterEvent kVolumeAdd{EventResource::kPersistentVolume, framework::kAdd};
constexpr ClusterEvent kClassAdd{EventResource::kStorageClass, framework::kAdd};
constexpr int kPods = 100'000;
constexpr int kTemplates = 200;
constexpr int kFewTemplates = 2;  // 1 % of the pods

class PrioritySort final : public framework::QueueSortPoint {
 public:
  bool Less(const framework::QueueOrderKey& a, const framework::QueueOrderKey& b) const override {
    return a.priority != b.priority ? a.priority > b.priority : a.timestamp < b.timestamp;
  }
};

framework::EventRegistration Wish(const ClusterEvent& event, framework::HintFn hint, bool by_template) {
  framework::EventRegistration wish;
  wish.event = event;
  wish.hint = std::move(hint);
  wish.by_template = by_template;
  return wish;
}

// Plugins: fit compares requests with what a node has, for a template at a time as the real one does,
// affinity wakes whom it is asked about, claims names two pods before any is asked.
QueueProfile Plugins() {
  const auto fits = [](const framework::HintInput& input) -> base::Result<Hint> {
    const api::Node& node = *std::get<const api::Node*>(input.new_object);
    const auto& requests = input.record().spec->spec.containers.front().resources.requests;
    const api::Quantity* const room = node.status.allocatable->find("cpu");
    const api::Quantity* const wanted = requests.find("cpu");
    return wanted->MilliValue() <= room->MilliValue() ? Hint::kQueue : Hint::kQueueSkip;
  };
  const auto skip = [](const framework::HintInput&) -> base::Result<Hint> { return Hint::kQueueSkip; };
  const auto wake = [](const framework::HintInput&) -> base::Result<Hint> { return Hint::kQueue; };
  framework::EventRegistration claims = Wish(kClaimUpdate, skip, false);
  claims.pre_hint = [](const framework::PreHintInput&) -> base::Result<framework::PreHint> {
    return framework::PreHint{.all_pods = false, .pods = {{"default", "pod-17"}, {"default", "pod-4711"}}};
  };
  QueueProfile profile{.scheduler_name = "default-scheduler"};
  profile.events.push_back(
      {"fit",
       {Wish(kNodeUpdate, fits, true), Wish(kAssignedPodDelete, skip, true), Wish(kClassAdd, skip, false)}});
  profile.events.push_back({"affinity", {Wish(kNodeLabel, wake, false)}});
  profile.events.push_back({"claims", {std::move(claims)}});
  profile.events.push_back({"volumes", {Wish(kVolumeAdd, wake, false)}});
  return profile;
}

class Waiting {
 public:
  explicit Waiting(int pods) {
    queue = *SchedulingQueue::Make({}, {Plugins()},
                                   {.cluster = cluster, .clock = clock, .metrics = metrics, .sort = sort});
    for (int i = 0; i < pods; ++i) {
      const int number = i % kTemplates;
      api::Pod pod =
          MakePod("pod-" + std::to_string(i)).Priority(number).Cpu(std::to_string(1000 + number) + "m");
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
  // By the plugin that the function names for a pod; null: an error.
  using Rejector = const char* (*)(std::int32_t priority);
  void Reject(Rejector rejector) {
    for (const PoppedPod& pod : flying) {
      Rejection rejection;
      const char* const plugin = rejector(cluster.pods().priority(pod.pod.id));
      if (plugin != nullptr) rejection.unschedulable.Insert(*queue->plugins().Find(plugin));
      static_cast<void>(queue->Return(pod, rejection));
    }
    flying.clear();
  }
  void ParkAll(Rejector rejector) {
    AddAll();
    PopAll();
    Reject(rejector);
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

const char* ByFit(std::int32_t) { return "fit"; }
const char* ByClaims(std::int32_t) { return "claims"; }
const char* ByNobody(std::int32_t) { return nullptr; }
const char* FewByAffinity(std::int32_t priority) { return priority < kFewTemplates ? "affinity" : "fit"; }

void Notify(benchmark::State& state, const ClusterEvent& event, Waiting::Rejector rejector) {
  Waiting waiting(kPods);
  waiting.ParkAll(rejector);
  const std::shared_ptr<const api::Node> node = MakeNode("small").Cpu("500m").Ref();
  for (auto _ : state) waiting.queue->Notify(event, node, node);
}

// One hint per template: nobody fits.
void NodeUpdate(benchmark::State& state) { Notify(state, kNodeUpdate, ByFit); }
BENCHMARK(NodeUpdate)->Unit(benchmark::kMicrosecond);

void AssignedPodDelete(benchmark::State& state) { Notify(state, kAssignedPodDelete, ByFit); }
BENCHMARK(AssignedPodDelete)->Unit(benchmark::kMicrosecond);

// The worst case, of a plugin whose hint looks at more than the template: one hint per pod.
void EventForEveryPod(benchmark::State& state) { Notify(state, kClassAdd, ByFit); }
BENCHMARK(EventForEveryPod)->Unit(benchmark::kMicrosecond);

// Some plugin wants to hear of it, but it rejected nobody.
void UnrelatedEvent(benchmark::State& state) { Notify(state, kVolumeAdd, ByFit); }
BENCHMARK(UnrelatedEvent)->Unit(benchmark::kMicrosecond);

void NarrowedEvent(benchmark::State& state) { Notify(state, kClaimUpdate, ByClaims); }
BENCHMARK(NarrowedEvent)->Unit(benchmark::kMicrosecond);

// Asks about 1,000 pods and moves them all.
void NodeUpdateForOnePercent(benchmark::State& state) {
  Waiting waiting(kPods);
  waiting.ParkAll(FewByAffinity);
  const std::shared_ptr<const api::Node> node = MakeNode("small").Cpu("500m").Ref();
  for (auto _ : state) {
    waiting.queue->Notify(kNodeLabel, node, node);
    state.PauseTiming();
    waiting.PopAll();
    if (waiting.flying.size() != kPods / kTemplates * kFewTemplates)
      state.SkipWithError("not those that it concerns");
    waiting.Reject(FewByAffinity);
    state.ResumeTiming();
  }
}
BENCHMARK(NodeUpdateForOnePercent)->Unit(benchmark::kMicrosecond);

void BackoffFlushOf10000(benchmark::State& state) {
  Waiting waiting(10'000);
  waiting.AddAll();
  for (auto _ : state) {
    state.PauseTiming();
    waiting.PopAll();
    waiting.Reject(ByNobody);
    waiting.clock.Advance(minutes(1));
    state.ResumeTiming();
    waiting.queue->FlushBackoff();
  }
}
BENCHMARK(BackoffFlushOf10000)->Unit(benchmark::kMicrosecond);

void AddAndPop100000(benchmark::State& state) {
  Waiting waiting(kPods);
  waiting.flying.reserve(kPods);
  for (auto _ : state) {
    waiting.AddAll();
    waiting.PopAll();
    state.PauseTiming();
    for (const PoppedPod& pod : waiting.flying) waiting.queue->Done(pod.pod);
    waiting.flying.clear();
    state.ResumeTiming();
  }
}
BENCHMARK(AddAndPop100000)->Unit(benchmark::kMicrosecond);

// What a waiting pod takes beside the pod itself.
void BytesPerWaitingPod(benchmark::State& state) {
  double bytes = 0;
  for (auto _ : state) {
    Waiting waiting(kPods);
    const std::int64_t before = allocated_bytes;
    waiting.ParkAll(ByFit);
    waiting.flying.shrink_to_fit();
    bytes = static_cast<double>(allocated_bytes - before) / kPods;
  }
  state.counters["bytes"] = bytes;
}
BENCHMARK(BytesPerWaitingPod)->Iterations(1);

}  // namespace
}  // namespace berth::queue::test
