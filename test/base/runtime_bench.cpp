#include "benchmark/benchmark.h"

#include "base/clock.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/task.h"

namespace berth::base {
namespace {

Task<void> Sleeper(Executor& executor, Duration duration) { co_await executor.SleepFor(duration); }

// A task from birth to end with one wait in between, while others sleep.
void TaskWithOneSleep(benchmark::State& state) {
  VirtualClock clock;
  Executor executor(clock);
  for (std::int64_t i = 0; i < state.range(0); ++i) executor.Spawn(Sleeper(executor, Duration::max() / 2));
  executor.RunReady();
  for (auto _ : state) {
    executor.Spawn(Sleeper(executor, Duration(1)));
    executor.RunReady();
    clock.Advance(Duration(1));
    executor.RunReady();
  }
}
BENCHMARK(TaskWithOneSleep)->Arg(0)->Arg(100'000);

void DisabledLog(benchmark::State& state) {
  int number = 0;
  for (auto _ : state) {
    BERTH_LOG(10, "Never", {"n", number});
    benchmark::DoNotOptimize(++number);
  }
}
BENCHMARK(DisabledLog);

class Nowhere final : public LogSink {
 public:
  void Write(Severity, std::string_view line) override { benchmark::DoNotOptimize(line.data()); }
};

void EnabledLog(benchmark::State& state) {
  Nowhere sink;
  const LogOptions before =
      ConfigureLogging({.format = static_cast<LogFormat>(state.range(0)), .sink = &sink, .process_id = 1});
  for (auto _ : state) {
    BERTH_LOG(0, "Bound pod", {"pod", LogObject{"default", "web-1"}}, {"node", "node-1"}, {"attempts", 3});
  }
  ConfigureLogging(before);
}
BENCHMARK(EnabledLog)->Arg(0)->Arg(1);

void CounterIncrement(benchmark::State& state) {
  MetricRegistry registry;
  Counter& counter = registry.AddCounter({.name = "c_total", .help = "C"});
  for (auto _ : state) counter.Increment();
}
BENCHMARK(CounterIncrement);

void HistogramObserve(benchmark::State& state) {
  MetricRegistry registry;
  Histogram& histogram =
      registry.AddHistogram({.name = "h", .help = "H", .buckets = ExponentialBuckets(0.001, 2, 15)});
  double value = 0;
  for (auto _ : state) {
    histogram.Observe(value);
    value = value > 20 ? 0 : value + 0.01;
  }
}
BENCHMARK(HistogramObserve);

}  // namespace
}  // namespace berth::base
