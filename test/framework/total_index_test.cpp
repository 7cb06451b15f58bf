#include "framework/total_index.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::framework {
namespace {

using cluster::NodeRow;
using testing::ElementsAre;

TEST(TotalIndexTest, BestFollowsChangedAndRemovedRows) {
  TotalIndex index;
  index.Reset(10);
  index.Set(NodeRow(7), 500);
  index.Set(NodeRow(2), 500);
  index.Set(NodeRow(4), 300);
  EXPECT_THAT(index.Best(), ElementsAre(NodeRow(2), NodeRow(7)));

  index.Set(NodeRow(2), 100);
  index.Remove(NodeRow(7));
  EXPECT_EQ(index.BestTotal(), 300);
  EXPECT_THAT(index.Best(), ElementsAre(NodeRow(4)));
  EXPECT_FALSE(index.Contains(NodeRow(7)));
}

TEST(TotalIndexTest, EachOfTheBestIsChosenAboutEquallyOften) {
  TotalIndex index;
  index.Reset(2'000);
  for (const std::uint32_t row : {3u, 700u, 1'999u}) index.Set(NodeRow(row), 9);
  index.Set(NodeRow(5), 8);
  base::Random random(1);
  std::map<std::uint32_t, int> chosen;
  for (int i = 0; i < 3'000; ++i) ++chosen[index.PickBest(random).value()];
  EXPECT_EQ(chosen.size(), 3u);
  for (const auto& [row, count] : chosen) EXPECT_NEAR(count, 1'000, 150) << row;
}

// Decisions must not depend on whether a view was warm: the way to the totals may differ, the choice may not.
TEST(TotalIndexTest, ChoiceDependsOnTotalsAndDrawAlone) {
  constexpr std::uint32_t kRows = 1'300;
  base::Random changes(7);
  base::Random draws(11);
  TotalIndex warm;
  warm.Reset(kRows);
  std::map<std::uint32_t, std::int64_t> totals;
  for (int step = 0; step < 2'000; ++step) {
    const auto row = static_cast<std::uint32_t>(changes.Uniform(kRows));
    if (changes.Chance(0.3)) {
      warm.Remove(NodeRow(row));
      totals.erase(row);
    } else {
      const auto total = static_cast<std::int64_t>(changes.Uniform(4));
      warm.Set(NodeRow(row), total);
      totals[row] = total;
    }
    if (totals.empty()) continue;

    TotalIndex cold;
    cold.Reset(kRows);
    for (const auto& [each, total] : totals) cold.Set(NodeRow(each), total);
    base::Random same_draws = draws;
    const NodeRow choice = warm.PickBest(draws);
    ASSERT_EQ(cold.PickBest(same_draws), choice) << "after step " << step;
    ASSERT_EQ(warm.Best(), cold.Best());
    ASSERT_TRUE(std::ranges::binary_search(warm.Best(), choice));
    ASSERT_EQ(totals[choice.value()], warm.BestTotal());
  }
}

}  // namespace
}  // namespace berth::framework
