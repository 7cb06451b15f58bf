#include <cstdint>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"

#include "base/bitset.h"
#include "base/indexed_heap.h"
#include "base/interner.h"
#include "base/random.h"

namespace berth::base {
namespace {

struct QueuedPod {
  std::int32_t priority;
  std::int64_t timestamp;
  std::uint32_t pod;
};
struct ByPriority {
  bool operator()(const QueuedPod& a, const QueuedPod& b) const {
    return a.priority != b.priority ? a.priority > b.priority : a.timestamp < b.timestamp;
  }
};

QueuedPod AnyPod(Random& random) {
  return {static_cast<std::int32_t>(random.Uniform(10)), static_cast<std::int64_t>(random.Next() >> 1), 0};
}

// A queue that stays at its length: pop the next pod, another one arrives.
void HeapPopAndPush(benchmark::State& state) {
  Random random(1);
  IndexedHeap<QueuedPod, ByPriority> heap;
  for (std::int64_t i = 0; i < state.range(0); ++i) heap.Push(AnyPod(random));
  for (auto _ : state) {
    heap.Pop();
    heap.Push(AnyPod(random));
  }
}
BENCHMARK(HeapPopAndPush)->Arg(1'000)->Arg(100'000);

void HeapRemoveFromTheMiddle(benchmark::State& state) {
  Random random(1);
  IndexedHeap<QueuedPod, ByPriority> heap;
  std::vector<HeapHandle> handles;
  for (std::int64_t i = 0; i < state.range(0); ++i) handles.push_back(heap.Push(AnyPod(random)));
  for (auto _ : state) {
    HeapHandle& handle = handles[random.Uniform(handles.size())];
    heap.Remove(handle);
    handle = heap.Push(AnyPod(random));
  }
}
BENCHMARK(HeapRemoveFromTheMiddle)->Arg(100'000);

void InternKnownText(benchmark::State& state) {
  Interner<Id<struct NameTag>> names;
  std::vector<std::string> texts;
  for (int i = 0; i < 10'000; ++i) texts.push_back("some-deployment-name-" + std::to_string(i));
  for (const std::string& text : texts) names.Intern(text);
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(names.Find(texts[next]));
    next = (next + 1) % texts.size();
  }
}
BENCHMARK(InternKnownText);

void BitsetWalk(benchmark::State& state) {
  Random random(1);
  Bitset bits(5'000);
  for (std::size_t bit = 0; bit < bits.size(); ++bit) {
    if (random.Uniform(100) < static_cast<std::uint64_t>(state.range(0))) bits.Set(bit);
  }
  for (auto _ : state) {
    std::size_t sum = 0;
    bits.ForEach([&](std::size_t bit) { sum += bit; });
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(BitsetWalk)->Arg(1)->Arg(100);

}  // namespace
}  // namespace berth::base
