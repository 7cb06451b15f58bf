#include "sim/worlds.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "sim/simulation.h"

// Volumes and devices in a world that misbehaves. Half of all seeds have the one, half the other.
namespace berth::sim {
namespace {

class WorldSeeds : public testing::TestWithParam<int> {};

TEST_P(WorldSeeds, VolumesAndDevicesAreGivenOutOnce) {
  std::size_t volumes = 0;
  std::size_t claims = 0;
  for (int i = 0; i < 20; ++i) {
    const auto seed = static_cast<std::uint64_t>(10'000 + GetParam() * 20 + i);
    const SimulationResult result = Simulate({.seed = seed});
    EXPECT_TRUE(result.violations.empty()) << "berth simulate --seed " << seed << ": "
                                           << fmt::format("{}", fmt::join(result.violations, "; ")) << "\n"
                                           << result.setting;
    volumes += result.volumes_bound;
    claims += result.claims_allocated;
  }
  EXPECT_GT(volumes, 50u);
  EXPECT_GT(claims, 50u);
}
INSTANTIATE_TEST_SUITE_P(Simulation, WorldSeeds, testing::Range(0, 5));

TEST(Worlds, TheSameSeedGivesTheSameRun) {
  std::size_t volumes = 0;
  std::size_t claims = 0;
  for (std::uint64_t seed = 10'000; seed < 10'008; ++seed) {
    const SimulationResult once = Simulate({.seed = seed});
    EXPECT_EQ(once.trace, Simulate({.seed = seed}).trace) << seed;
    volumes += once.volumes_bound;
    claims += once.claims_allocated;
  }
  EXPECT_GT(volumes, 0u);
  EXPECT_GT(claims, 0u);
}

}  // namespace
}  // namespace berth::sim
