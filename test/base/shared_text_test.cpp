#include "base/shared_text.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace berth::base {
namespace {

TEST(SharedTextTest, ReadsLikeAString) {
  SharedText text;
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text, "");
  text = std::string("a node with a long name");
  EXPECT_EQ(text, "a node with a long name");
  EXPECT_EQ(text.size(), 23U);
  const std::string& as_string = text;
  EXPECT_EQ(as_string, text);
  text = "";
  EXPECT_TRUE(text.empty());
}

TEST(SharedTextTest, CopiesShareTheirText) {
  SharedText first("namespace");
  EXPECT_TRUE(first.IsUnshared());
  SharedText second = first;
  EXPECT_TRUE(second.IsSame(first));
  EXPECT_FALSE(first.IsUnshared());
  const SharedText moved = std::move(second);
  EXPECT_TRUE(moved.IsSame(first));
  first = "another";
  EXPECT_EQ(moved, "namespace");
  EXPECT_TRUE(moved.IsUnshared());
  EXPECT_FALSE(moved == first);
}

TEST(TextPoolTest, GivesEqualTextsOneAllocation) {
  TextPool pool;
  const SharedText first = pool.Intern("kube-system");
  EXPECT_TRUE(pool.Intern("kube-system").IsSame(first));
  EXPECT_FALSE(pool.Intern("default").IsSame(first));
  EXPECT_TRUE(pool.Intern("").empty());
}

TEST(TextPoolTest, ForgetsWhatNobodyUses) {
  TextPool pool;
  std::vector<SharedText> used;
  for (int i = 0; i < 10'000; ++i) {
    SharedText text = pool.Intern("node-" + std::to_string(i));
    if (i < 100) used.push_back(std::move(text));
  }
  EXPECT_LE(pool.size(), 300U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(pool.Intern("node-" + std::to_string(i)).IsSame(used[static_cast<std::size_t>(i)]));
  }
}

}  // namespace
}  // namespace berth::base
