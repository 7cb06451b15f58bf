#include "cli/simulate_command.h"

#include <fmt/ostream.h>
#include <ostream>

#include "cli/silence.h"

#include "base/clock.h"
#include "sim/simulation.h"

namespace berth::cli {
namespace {

// What all runs together were.
struct Tally {
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  std::size_t bound = 0;
  std::size_t restarts = 0;
};

sim::SimulationResult RunSeed(const SimulateOptions& options, std::uint64_t seed,
                              std::ostream* story = nullptr) {
  return sim::Simulate(
      {.seed = seed, .actions = options.actions, .has_worlds = options.worlds, .story = story});
}

void RunOne(const SimulateOptions& options, std::uint64_t seed, Tally& tally, std::ostream& out) {
  const sim::SimulationResult result = RunSeed(options, seed);
  ++tally.runs;
  tally.bound += result.bound;
  tally.restarts += result.restarts;
  if (result.violations.empty()) return;
  ++tally.failures;
  fmt::print(out, "seed {} failed ({})\n", seed, result.setting);
  for (const std::string& violation : result.violations) fmt::print(out, "  {}\n", violation);
  fmt::print(out, "  again: berth simulate --seed {} --actions {}{}\n", seed, options.actions,
             options.worlds ? "" : " --no-worlds");
  out.flush();
}

}  // namespace

int RunSimulate(const SimulateOptions& options, std::ostream& out) {
  Tally tally;
  if (options.seed) {
    const sim::SimulationResult result = RunSeed(options, *options.seed, options.story ? &out : nullptr);
    fmt::print(out, "seed {}: {}\n", *options.seed, result.setting);
    fmt::print(out, "{} pods bound, {} restarts, state {:016x}\n", result.bound, result.restarts,
               result.trace);
    for (const std::string& object : result.objects) fmt::print(out, "{}\n", object);
    for (const std::string& violation : result.violations) fmt::print(out, "  {}\n", violation);
    return result.violations.empty() ? 0 : 1;
  }
  // Faults make the scheduler complain, run after run.
  const Silence silence;
  const base::RealClock clock;
  const base::TimePoint end = clock.Now() + std::chrono::minutes(options.minutes.value_or(0));
  for (std::uint64_t seed = 1; options.minutes ? clock.Now() < end : seed <= options.seeds; ++seed) {
    RunOne(options, seed, tally, out);
  }
  fmt::print(out, "{} runs, {} failed; {} pods bound, {} restarts of the scheduler\n", tally.runs,
             tally.failures, tally.bound, tally.restarts);
  return tally.failures == 0 ? 0 : 1;
}

}  // namespace berth::cli
