#include "base/bitset.h"

#include <algorithm>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

#include "base/ids.h"
#include "base/selection.h"

namespace berth::base {
namespace {

using Row = Id<struct RowTag>;

std::vector<std::size_t> Bits(const Bitset& bits) {
  std::vector<std::size_t> list;
  bits.ForEach([&](std::size_t bit) { list.push_back(bit); });
  return list;
}

Bitset Make(std::size_t size, const std::set<std::size_t>& members) {
  Bitset bits(size);
  for (const std::size_t member : members) bits.Set(member);
  return bits;
}

std::set<std::size_t> AnySet(std::size_t size) {
  return *rc::gen::container<std::set<std::size_t>>(rc::gen::inRange<std::size_t>(0, size));
}

TEST(Bitset, ResizeFillsNewBitsOnly) {
  Bitset bits(3);
  bits.Set(1);
  bits.Resize(70, true);
  EXPECT_EQ(bits.Count(), 1 + 67U);
  EXPECT_FALSE(bits.Test(0));
  EXPECT_TRUE(bits.Test(3));
  EXPECT_TRUE(bits.Test(69));
}

// Counting and comparing go by words, so what is cut off must not come back.
TEST(Bitset, ShrinkingForgetsTheBitsBeyond) {
  Bitset bits(100, true);
  bits.Resize(65);
  bits.Resize(100);
  EXPECT_EQ(bits.Count(), 65U);
  EXPECT_EQ(bits.FindFirst(65), 100U);
}

TEST(Bitset, SetAllStopsAtTheSize) {
  Bitset bits(65);
  bits.SetAll();
  EXPECT_EQ(bits.Count(), 65U);
  EXPECT_EQ(bits, Bitset(65, true));
}

TEST(Bitset, EmptySetHasNoFirst) {
  EXPECT_EQ(Bitset().FindFirst(), 0U);
  EXPECT_EQ(Bitset(130).FindFirst(), 130U);
  EXPECT_TRUE(Bitset(130).None());
}

TEST(BitsetDeathTest, SetOperationsNeedOneSize) {
  Bitset bits(3);
  EXPECT_DEATH(bits.And(Bitset(4)), "check failed");
}

RC_GTEST_PROP(Bitset, SetOperationsEqualThoseOfSets, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 200);
  const std::set<std::size_t> a = AnySet(size);
  const std::set<std::size_t> b = AnySet(size);
  Bitset both = Make(size, a);
  both.And(Make(size, b));
  Bitset either = Make(size, a);
  either.Or(Make(size, b));
  Bitset difference = Make(size, a);
  difference.AndNot(Make(size, b));
  for (std::size_t bit = 0; bit < size; ++bit) {
    RC_ASSERT(both.Test(bit) == (a.contains(bit) && b.contains(bit)));
    RC_ASSERT(either.Test(bit) == (a.contains(bit) || b.contains(bit)));
    RC_ASSERT(difference.Test(bit) == (a.contains(bit) && !b.contains(bit)));
  }
}

RC_GTEST_PROP(Bitset, WalksFindsAndCountsAsASortedSet, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 200);
  const std::set<std::size_t> members = AnySet(size);
  const Bitset bits = Make(size, members);
  RC_ASSERT(Bits(bits) == std::vector<std::size_t>(members.begin(), members.end()));
  RC_ASSERT(bits.Count() == members.size());
  RC_ASSERT(bits.Any() == !members.empty());
  for (std::size_t from = 0; from <= size; ++from) {
    const auto next = members.lower_bound(from);
    RC_ASSERT(bits.FindFirst(from) == (next == members.end() ? size : *next));
  }
}

RC_GTEST_PROP(Bitset, RemoveIfKeepsTheRest, ()) {
  std::set<std::size_t> members = AnySet(150);
  Bitset bits = Make(150, members);
  const auto third = [](std::size_t bit) { return bit % 3 == 0; };
  RC_ASSERT(bits.RemoveIf(third) == std::erase_if(members, third));
  RC_ASSERT(bits == Make(150, members));
}

RC_GTEST_PROP(Bitset, ResizeEqualsResizeOfAVector,
              (const std::vector<std::pair<std::uint8_t, bool>>& steps)) {
  Bitset bits;
  std::vector<bool> model;
  for (const auto& [size, value] : steps) {
    bits.Resize(size, value);
    model.resize(size, value);
    for (std::size_t bit = 0; bit < size; ++bit) RC_ASSERT(bits.Test(bit) == model[bit]);
    RC_ASSERT(bits.Count() == static_cast<std::size_t>(std::ranges::count(model, true)));
  }
}

RC_GTEST_PROP(SelectionVector, HoldsWhatTheBitsetHolds, ()) {
  const Bitset bits = Make(150, AnySet(150));
  const auto selection = SelectionVector<Row>::FromBitset(bits);
  RC_ASSERT(selection.size() == bits.Count());
  RC_ASSERT(std::ranges::is_sorted(selection));
  RC_ASSERT(selection.ToBitset(150) == bits);
}

TEST(SelectionVector, RemoveIfKeepsTheOrder) {
  SelectionVector<Row> selection;
  for (const std::uint32_t row : {1U, 4U, 6U, 9U}) selection.Append(Row(row));
  EXPECT_EQ(selection.RemoveIf([](Row row) { return row.value() % 2 == 0; }), 2U);
  ASSERT_EQ(selection.size(), 2U);
  EXPECT_EQ(selection[0], Row(1));
  EXPECT_EQ(selection[1], Row(9));
}

}  // namespace
}  // namespace berth::base
