#include "base/interner.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace berth::base {
namespace {

using NameId = Id<struct NameTag>;

TEST(Id, DefaultIsInvalidAndOrdersLast) {
  EXPECT_FALSE(NameId().IsValid());
  EXPECT_TRUE(NameId(0).IsValid());
  EXPECT_LT(NameId(4'000'000'000), NameId());
}

TEST(Id, WorksAsHashKey) {
  absl::flat_hash_map<NameId, int> numbers = {{NameId(1), 10}, {NameId(2), 20}};
  EXPECT_EQ(numbers.at(NameId(2)), 20);
  EXPECT_FALSE(numbers.contains(NameId(3)));
}

TEST(Interner, EqualTextsShareAnId) {
  Interner<NameId> names;
  const NameId a = names.Intern("a");
  const NameId b = names.Intern(std::string("b"));
  EXPECT_EQ(names.Intern(std::string_view("a")), a);
  EXPECT_NE(a, b);
  EXPECT_EQ(names.Get(a), "a");
  EXPECT_EQ(names.References(a), 2U);
  EXPECT_EQ(names.size(), 2U);
}

TEST(Interner, FindTakesNoReference) {
  Interner<NameId> names;
  const NameId a = names.Intern("a");
  EXPECT_EQ(names.Find("a"), a);
  EXPECT_EQ(names.References(a), 1U);
  EXPECT_FALSE(names.Find("b").IsValid());
}

TEST(Interner, LastReleaseFreesTheIdForAnotherText) {
  Interner<NameId> names;
  const NameId a = names.Intern("a");
  names.Acquire(a);
  const Versioned<NameId> before = names.Version(a);
  EXPECT_FALSE(names.Release(a));
  EXPECT_TRUE(names.IsCurrent(before));
  EXPECT_TRUE(names.Release(a));
  EXPECT_FALSE(names.IsCurrent(before));
  EXPECT_FALSE(names.Find("a").IsValid());

  EXPECT_EQ(names.Intern("b"), a);
  EXPECT_FALSE(names.IsCurrent(before));
  EXPECT_EQ(names.slot_count(), 1U);
}

// Callers keep views of names; growing the table must not move them.
TEST(Interner, TextsDoNotMoveWhenTheTableGrows) {
  Interner<NameId> names;
  const std::string* first = &names.Get(names.Intern("short"));
  for (int i = 0; i < 10'000; ++i) names.Intern(std::to_string(i));
  EXPECT_EQ(&names.Get(names.Find("short")), first);
  EXPECT_EQ(*first, "short");
}

using Labels = std::vector<std::pair<std::string, std::string>>;
struct LabelsHash {
  using is_transparent = void;
  template <class List>
  std::size_t operator()(const List& labels) const {
    std::size_t hash = labels.size();
    for (const auto& [key, value] : labels)
      hash = absl::HashOf(hash, std::string_view(key), std::string_view(value));
    return hash;
  }
};

TEST(InternTable, TakesSetsOfAnyShapeThatCompares) {
  using LabelSetId = Id<struct LabelSetTag>;
  InternTable<LabelSetId, Labels, LabelsHash> sets;
  const Labels labels = {{"zone", "a"}, {"arch", "amd64"}};
  const LabelSetId id = sets.Intern(labels);
  EXPECT_EQ(sets.Intern(Labels(labels)), id);
  EXPECT_NE(sets.Intern(Labels{}), id);
  EXPECT_EQ(sets.Get(id), labels);
}

struct CountedValue {
  explicit CountedValue(int from) : value(from) { ++made; }
  bool operator==(int other) const { return value == other; }
  int value;
  static inline int made = 0;
};

TEST(InternTable, BuildsAValueOnlyWhenItIsNew) {
  CountedValue::made = 0;
  InternTable<NameId, CountedValue, absl::Hash<int>> table;
  for (int i = 0; i < 6; ++i) table.Intern(i % 2);
  EXPECT_EQ(CountedValue::made, 2);
}

// The model: a map with counts that knows no ids. Which id a text has follows from the calls, so a second
// table with the same history agrees with the first.
RC_GTEST_PROP(Interner, EqualsAMapWithCountsAfterAnyHistory,
              (const std::vector<std::pair<bool, std::uint8_t>>& calls)) {
  Interner<NameId> names;
  Interner<NameId> twin;
  std::map<std::string, std::uint32_t> counts;
  std::size_t live_max = 0;
  for (const auto& [add, number] : calls) {
    const std::string text = std::to_string(number % 20);
    if (add) {
      RC_ASSERT(names.Intern(text) == twin.Intern(text));
      ++counts[text];
    } else if (counts.contains(text)) {
      const NameId id = names.Find(text);
      RC_ASSERT(names.Release(id) == (counts[text] == 1));
      twin.Release(id);
      if (--counts[text] == 0) counts.erase(text);
    }
    live_max = std::max(live_max, counts.size());
    RC_ASSERT(names.size() == counts.size());
    for (const auto& [known, count] : counts) {
      RC_ASSERT(names.Get(names.Find(known)) == known);
      RC_ASSERT(names.References(names.Find(known)) == count);
    }
  }
  RC_ASSERT(names.slot_count() == live_max);
}

}  // namespace
}  // namespace berth::base
