#include "cluster/paged_column.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>
#include <utility>
#include <vector>

#include "cluster/amount_column.h"
#include "cluster/ids.h"

namespace berth::cluster {
namespace {

using Amounts = PagedColumn<NodeRow, std::int64_t>;

TEST(PagedColumnTest, APageIsThereWhileAnAmountInItIsNotZero) {
  Amounts amounts;
  amounts.Set(NodeRow(1000), 4);
  amounts.Set(NodeRow(1001), 5);
  Amounts::Numbers room;
  EXPECT_EQ(amounts.Page(0, room), nullptr);
  ASSERT_NE(amounts.Page(1000 / Amounts::kPageSize, room), nullptr);
  amounts.Set(NodeRow(1000), 0);
  EXPECT_EQ(amounts.Get(NodeRow(1001)), 5);
  amounts.Set(NodeRow(1001), 0);
  EXPECT_EQ(amounts.Page(1000 / Amounts::kPageSize, room), nullptr);
  EXPECT_EQ(amounts.non_zero(), 0u);
}

TEST(PagedColumnTest, APageWithOneNumberReadsLikeAnyOther) {
  Amounts amounts;
  amounts.Add(NodeRow(70), 7);
  Amounts::Numbers room;
  ASSERT_EQ(amounts.Page(1, room), room.data());
  EXPECT_THAT(room, testing::Contains(0).Times(Amounts::kPageSize - 1));
  EXPECT_EQ(room[6], 7);
  // The one number may be another one.
  amounts.Add(NodeRow(70), -7);
  amounts.Add(NodeRow(71), 8);
  EXPECT_EQ(amounts.Get(NodeRow(70)), 0);
  ASSERT_EQ(amounts.Page(1, room), room.data());
  EXPECT_EQ(room[7], 8);
  // With a second one it is a list.
  amounts.Set(NodeRow(72), 9);
  EXPECT_NE(amounts.Page(1, room), room.data());
  EXPECT_EQ(amounts.Get(NodeRow(71)), 8);
  EXPECT_EQ(amounts.Get(NodeRow(72)), 9);
}

// Whatever comes first: pages are found by their place in a list.
RC_GTEST_PROP(PagedColumnProperty, EqualsAMap, ()) {
  const auto changes = *rc::gen::container<std::vector<std::pair<std::uint32_t, std::int64_t>>>(
      rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, 600), rc::gen::inRange<std::int64_t>(-2, 3)));
  Amounts amounts;
  std::map<std::uint32_t, std::int64_t> want;
  for (const auto& [row, amount] : changes) {
    if (*rc::gen::arbitrary<bool>()) {
      amounts.Set(NodeRow(row), amount);
      want[row] = amount;
    } else {
      want[row] += amount;
      RC_ASSERT(amounts.Add(NodeRow(row), amount) == want[row]);
    }
  }
  std::erase_if(want, [](const auto& entry) { return entry.second == 0; });
  std::map<std::uint32_t, std::int64_t> seen;
  amounts.ForEachNonZero([&](NodeRow row, std::int64_t amount) { seen.emplace(row.value(), amount); });
  RC_ASSERT(seen == want);
  RC_ASSERT(amounts.non_zero() == want.size());
  const AmountColumn column(amounts);
  for (std::uint32_t row = 0; row < 640; ++row) {
    const auto found = want.find(row);
    const std::int64_t amount = found == want.end() ? 0 : found->second;
    RC_ASSERT(column[row] == amount);
    AmountColumn::Room room;
    RC_ASSERT(*column.Run(row, 1, room) == amount);
  }
}

TEST(AmountColumnTest, ARunEndsWithItsPage) {
  Amounts amounts;
  amounts.Set(NodeRow(70), 7);
  const AmountColumn column(amounts);
  AmountColumn::Room room;
  ASSERT_NE(column.Run(64, 64, room), nullptr);
  EXPECT_EQ(column.Run(64, 64, room)[6], 7);
  EXPECT_EQ(column.Run(60, 16, room), nullptr);
  const std::vector<std::int64_t> rows(100, 3);
  EXPECT_EQ(AmountColumn(rows).Run(60, 16, room), rows.data() + 60);
}

}  // namespace
}  // namespace berth::cluster
