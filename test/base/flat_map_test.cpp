#include "base/flat_map.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

#include "base/check.h"

namespace berth::base {
namespace {

using TextMap = FlatMap<std::string, std::string>;

TEST(FlatMap, LastOfTwoEqualKeysWins) {
  const TextMap map = {{"b", "1"}, {"a", "2"}, {"b", "3"}};
  ASSERT_EQ(map.size(), 2U);
  EXPECT_EQ(map.begin()->first, "a");
  EXPECT_EQ(*map.find("b"), "3");
}

TEST(FlatMap, LooksUpWithoutMakingAKey) {
  const TextMap map = {{"key", "value"}};
  EXPECT_TRUE(map.contains(std::string_view("key")));
  EXPECT_EQ(map.find(std::string_view("ke")), nullptr);
}

TEST(FlatMap, SubscriptMakesAnEmptyValueOnce) {
  FlatMap<std::string, int> map;
  ++map["a"];
  ++map["a"];
  EXPECT_EQ(map["a"], 2);
  EXPECT_EQ(map["b"], 0);
  EXPECT_EQ(map.size(), 2U);
}

struct Change {
  bool add;
  std::uint8_t key;
  int value;
};

RC_GTEST_PROP(FlatMap, EqualsAMapAfterAnyHistory, ()) {
  const auto changes = *rc::gen::container<std::vector<Change>>(rc::gen::construct<Change>(
      rc::gen::arbitrary<bool>(), rc::gen::inRange<std::uint8_t>(0, 30), rc::gen::arbitrary<int>()));
  FlatMap<int, int> map;
  std::map<int, int> model;
  for (const auto& [add, key, value] : changes) {
    if (add) {
      map.insert_or_assign(int{key}, value);
      model.insert_or_assign(key, value);
    } else {
      RC_ASSERT(map.erase(int{key}) == (model.erase(key) == 1));
    }
    using Entries = std::vector<std::pair<int, int>>;
    RC_ASSERT(Entries(map.begin(), map.end()) == Entries(model.begin(), model.end()));
    for (int wanted = 0; wanted < 30; ++wanted) RC_ASSERT(map.contains(wanted) == model.contains(wanted));
  }
}

TEST(CheckDeathTest, NamesThePlaceAndTheCondition) {
  EXPECT_DEATH(BERTH_CHECK(1 + 1 == 3), "flat_map_test.cpp:[0-9]+: check failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace berth::base
