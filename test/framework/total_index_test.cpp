#include "framework/total_index.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::framework {
namespace {

using cluster::NodeRow;
using Addends = std::vector<TotalIndex::Addend>;

const Addends kOneGroup = {{}};

// Every row that some draw chooses, with how often.
std::map<std::uint32_t, int> Chosen(TotalIndex& index, const Addends& addends, int draws) {
  base::Random random(1);
  std::map<std::uint32_t, int> chosen;
  for (int i = 0; i < draws; ++i) ++chosen[index.PickBest(addends, random).value()];
  return chosen;
}

TEST(TotalIndexTest, BestFollowsChangedAndRemovedRows) {
  TotalIndex index;
  index.Reset(10);
  index.Set(NodeRow(7), 0, 500);
  index.Set(NodeRow(2), 0, 500);
  index.Set(NodeRow(4), 0, 300);
  EXPECT_THAT(Chosen(index, kOneGroup, 50), testing::SizeIs(2));

  index.Set(NodeRow(2), 0, 100);
  index.Remove(NodeRow(7));
  EXPECT_THAT(Chosen(index, kOneGroup, 50), testing::ElementsAre(testing::Pair(4, 50)));
  EXPECT_FALSE(index.Contains(NodeRow(7)));
}

TEST(TotalIndexTest, EachOfTheBestIsChosenAboutEquallyOften) {
  TotalIndex index;
  index.Reset(10'000);
  for (const std::uint32_t row : {3u, 4'700u, 9'999u}) index.Set(NodeRow(row), 0, 9);
  index.Set(NodeRow(5), 0, 8);
  const auto chosen = Chosen(index, kOneGroup, 3'000);
  EXPECT_EQ(chosen.size(), 3u);
  for (const auto& [row, count] : chosen) EXPECT_NEAR(count, 1'000, 150) << row;
}

TEST(TotalIndexTest, AddendMovesAllRowsOfItsGroup) {
  TotalIndex index;
  index.Reset(300);
  for (std::uint32_t row = 0; row < 300; ++row) index.Set(NodeRow(row), row % 2 == 0 ? 0 : 1, 10);
  index.Set(NodeRow(8), 0, 11);
  EXPECT_THAT(Chosen(index, {{0, true}, {0, true}}, 20), testing::ElementsAre(testing::Pair(8, 20)));
  EXPECT_EQ(Chosen(index, {{0, true}, {1, true}}, 3'000).size(), 151u) << "row 8 and all of the other group";
  for (const auto& [row, count] : Chosen(index, {{0, true}, {2, true}}, 200)) EXPECT_EQ(row % 2, 1u);
  for (const auto& [row, count] : Chosen(index, {{0, true}, {2, false}}, 20)) EXPECT_EQ(row, 8u);
}

// Decisions must not depend on whether a view was warm: the way to the totals may differ, the choice may not.
TEST(TotalIndexTest, ChoiceDependsOnTotalsAndDrawAlone) {
  constexpr std::uint32_t kRows = 9'000;
  base::Random changes(7);
  base::Random draws(11);
  TotalIndex warm;
  warm.Reset(kRows);
  std::map<std::uint32_t, std::pair<RowGroup, std::int64_t>> rows;
  for (int step = 0; step < 2'000; ++step) {
    const auto row = static_cast<std::uint32_t>(changes.Uniform(kRows));
    if (changes.Chance(0.3)) {
      warm.Remove(NodeRow(row));
      rows.erase(row);
    } else {
      const auto group = static_cast<RowGroup>(changes.Uniform(3));
      const auto total = static_cast<std::int64_t>(changes.Uniform(4));
      warm.Set(NodeRow(row), group, total);
      rows[row] = {group, total};
    }
    const Addends addends = {{static_cast<std::int64_t>(changes.Uniform(3)), true},
                             {static_cast<std::int64_t>(changes.Uniform(3)), changes.Chance(0.5)},
                             {static_cast<std::int64_t>(changes.Uniform(3)), changes.Chance(0.5)}};
    std::vector<std::uint32_t> best;
    std::int64_t best_total = -1;
    for (const auto& [each, placed] : rows) {
      if (!addends[placed.first].open) continue;
      const std::int64_t total = placed.second + addends[placed.first].amount;
      if (total > best_total) best.clear();
      best_total = std::max(best_total, total);
      if (total == best_total) best.push_back(each);
    }
    if (best.empty()) continue;
    base::Random same_draws = draws;
    ASSERT_EQ(warm.PickBest(addends, draws).value(), best[same_draws.Uniform(best.size())])
        << "after step " << step;

    if (step % 50 != 0) continue;
    TotalIndex cold;
    cold.Reset(kRows);
    std::vector<RowGroup> groups(kRows, RowGroup{0xffff});
    for (const auto& [each, placed] : rows) {
      groups[each] = placed.first;
      cold.totals()[each] = placed.second;
    }
    cold.Summarize(groups);
    same_draws = draws;
    ASSERT_EQ(warm.PickBest(addends, draws), cold.PickBest(addends, same_draws)) << "after step " << step;
  }
}

}  // namespace
}  // namespace berth::framework
