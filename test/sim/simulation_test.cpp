#include "sim/simulation.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "support/sanitized.h"

namespace berth::sim {
namespace {

class Seeds : public testing::TestWithParam<int> {};

// Ten seeds to a test, so that they run beside each other and a failure names few.
TEST_P(Seeds, EveryPromiseIsKept) {
  std::size_t bound = 0;
  std::size_t kept_places = 0;
  for (int i = 0; i < 10; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 10 + i + 1);
    const SimulationResult result = Simulate({.seed = seed});
    EXPECT_TRUE(result.violations.empty()) << "berth simulate --seed " << seed << ": "
                                           << fmt::format("{}", fmt::join(result.violations, "; ")) << "\n"
                                           << result.setting;
    bound += result.bound;
    kept_places += result.kept_places;
  }
  EXPECT_GT(bound, 100);
  EXPECT_GT(kept_places, 0);
}
INSTANTIATE_TEST_SUITE_P(Simulation, Seeds, testing::Range(0, test::kIsSanitized ? 1 : 10));

// Seeds that found something once: a pod slept that was to be the first of its kind, a call of a pod that
// went was kept, a nomination whose removal could not be written was forgotten.
TEST(Simulation, SeedsThatFoundSomethingFindNothing) {
  for (const std::uint64_t seed : {284U, 404U, 592U}) {
    const SimulationResult result = Simulate({.seed = seed});
    EXPECT_TRUE(result.violations.empty())
        << seed << ": " << fmt::format("{}", fmt::join(result.violations, "; "));
  }
}

TEST(Simulation, SomeSeedsHaveAnExtenderAndItIsAsked) {
  std::size_t with = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SimulationResult result = Simulate({.seed = seed});
    const bool has_extender = !result.setting.contains("no extender");
    EXPECT_EQ(has_extender, result.questions > 0) << seed;
    with += has_extender ? 1 : 0;
  }
  EXPECT_GT(with, 1);
}

TEST(Simulation, TheSameSeedGivesTheSameRun) {
  for (const std::uint64_t seed : {1U, 7U, 23U}) {
    const SimulationResult once = Simulate({.seed = seed});
    const SimulationResult again = Simulate({.seed = seed});
    EXPECT_EQ(once.trace, again.trace) << seed;
    EXPECT_EQ(once.bound, again.bound) << seed;
  }
  EXPECT_NE(Simulate({.seed = 1}).trace, Simulate({.seed = 2}).trace);
}

}  // namespace
}  // namespace berth::sim
