#include <benchmark/benchmark.h>

#include "cel/device_support.h"

namespace berth::cel {
namespace {

// What device classes and claims typically ask.
constexpr const char* kTypical =
    "device.driver == 'dra.example.com' && device.attributes['dra.example.com'].str in ['fish', 'bird'] && "
    "device.attributes['dra.example.com'].ver.isGreaterThan(semver('1.0.0')) && "
    "device.capacity['dra.example.com'].memory.compareTo(quantity('1Gi')) >= 0";

void CompileTypical(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(CompileExpression(kTypical, ExpressionKind::kSelector));
}
BENCHMARK(CompileTypical);

void EvaluateTypical(benchmark::State& state) {
  const auto program = CompileExpression(kTypical, ExpressionKind::kSelector).value();
  const DeviceView device("dra.example.com", MakeTestDevice());
  for (auto _ : state) benchmark::DoNotOptimize(program->Evaluate(device));
}
BENCHMARK(EvaluateTypical);

void EvaluateOtherDriver(benchmark::State& state) {
  const auto program = CompileExpression(kTypical, ExpressionKind::kSelector).value();
  const DeviceView device("other.example.com", MakeTestDevice());
  for (auto _ : state) benchmark::DoNotOptimize(program->Evaluate(device));
}
BENCHMARK(EvaluateOtherDriver);

// As dear as an expression may be.
void EvaluateUpToTheLimit(benchmark::State& state) {
  const auto program = CompileExpression("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))",
                                         ExpressionKind::kSelector)
                           .value();
  const DeviceView device("dra.example.com", MakeTestDevice());
  for (auto _ : state) benchmark::DoNotOptimize(program->Evaluate(device));
}
BENCHMARK(EvaluateUpToTheLimit);

void ConvertDevice(benchmark::State& state) {
  const api::Device device = MakeTestDevice();
  for (auto _ : state) benchmark::DoNotOptimize(DeviceView("dra.example.com", device));
}
BENCHMARK(ConvertDevice);

}  // namespace
}  // namespace berth::cel
