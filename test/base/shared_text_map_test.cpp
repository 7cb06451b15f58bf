#include "base/shared_text_map.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace berth::base {
namespace {

using Map = FlatMap<std::string, std::string>;
using Entries = std::vector<SharedTextMap::Entry>;

TEST(SharedTextMapTest, ReadsLikeAMap) {
  const Map from = {{"", "nothing"}, {"app", "web"}, {"empty", ""}, {"tier", "a value that is rather long"}};
  const SharedTextMap map(from);
  EXPECT_EQ(map.size(), 4U);
  EXPECT_FALSE(map.empty());
  EXPECT_EQ(map.find("app"), "web");
  EXPECT_EQ(map.find("empty"), "");
  EXPECT_EQ(map.find(""), "nothing");
  EXPECT_EQ(map("tier"), "a value that is rather long");
  EXPECT_EQ(map.find("ap"), std::nullopt);
  Entries entries;
  for (const auto& [key, value] : map) entries.emplace_back(key, value);
  EXPECT_EQ(entries, Entries(from.begin(), from.end()));
  EXPECT_EQ(map.ToMap(), from);
}

TEST(SharedTextMapTest, ThatIsEmptyTakesNoMemory) {
  const SharedTextMap map{Map()};
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.size(), 0U);
  EXPECT_EQ(map.find("app"), std::nullopt);
  EXPECT_TRUE(map.begin() == map.end());
  EXPECT_TRUE(map.IsSame(SharedTextMap()));
}

TEST(SharedTextMapTest, EntriesWithoutTextAreEntries) {
  const Map from = {{"", ""}};
  EXPECT_EQ(SharedTextMap(from).ToMap(), from);
}

TEST(SharedTextMapTest, ComparesByWhatItHolds) {
  const SharedTextMap map(Map{{"a", "bc"}});
  EXPECT_EQ(map, SharedTextMap(Map{{"a", "bc"}}));
  EXPECT_NE(map, SharedTextMap(Map{{"ab", "c"}}));
  EXPECT_NE(map, SharedTextMap());
  EXPECT_EQ(SharedTextMap(), SharedTextMap());
}

TEST(SharedTextMapTest, CopiesShareTheirBlock) {
  SharedTextMap first(Map{{"app", "web"}});
  EXPECT_TRUE(first.IsUnshared());
  SharedTextMap second = first;
  EXPECT_TRUE(second.IsSame(first));
  EXPECT_FALSE(first.IsUnshared());
  first = SharedTextMap(Map{{"app", "db"}});
  EXPECT_TRUE(second.IsUnshared());
  const SharedTextMap moved = std::move(second);
  EXPECT_EQ(moved.find("app"), "web");
}

TEST(TextMapPoolTest, GivesEqualMapsOneBlock) {
  TextMapPool pool;
  const SharedTextMap first = pool.Intern(Map{{"app", "web"}, {"tier", "front"}});
  Entries same = {{"app", "web"}, {"tier", "front"}};
  EXPECT_TRUE(pool.Intern(same).IsSame(first));
  Entries other = {{"app", "web"}};
  EXPECT_FALSE(pool.Intern(other).IsSame(first));
  Entries none;
  EXPECT_TRUE(pool.Intern(none).empty());
}

TEST(TextMapPoolTest, TakesEntriesInAnyOrderAndTheLastOfAKey) {
  TextMapPool pool;
  Entries entries = {{"b", "1"}, {"a", "1"}, {"c", "1"}, {"b", "2"}, {"a", "2"}, {"a", "3"}};
  EXPECT_EQ(pool.Intern(entries).ToMap(), (Map{{"a", "3"}, {"b", "2"}, {"c", "1"}}));
}

TEST(TextMapPoolTest, ForgetsWhatNobodyUses) {
  TextMapPool pool;
  std::vector<SharedTextMap> used;
  for (int i = 0; i < 10'000; ++i) {
    SharedTextMap map = pool.Intern(Map{{"app", std::to_string(i)}});
    if (i < 100) used.push_back(std::move(map));
  }
  EXPECT_LE(pool.size(), 300U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(pool.Intern(Map{{"app", std::to_string(i)}}).IsSame(used[static_cast<std::size_t>(i)]));
  }
}

}  // namespace
}  // namespace berth::base
