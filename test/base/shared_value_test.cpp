#include "base/shared_value.h"

#include <gtest/gtest.h>
#include <string>

namespace berth::base {
namespace {

TEST(SharedValueTest, NothingIsADefaultValueWithoutRoom) {
  const SharedValue<std::string> none;
  EXPECT_EQ(*none, "");
  EXPECT_TRUE(none->empty());
  EXPECT_TRUE(none.IsSame({}));
  EXPECT_EQ(none, SharedValue<std::string>(""));
}

TEST(SharedValueTest, CopiesShareUntilOneIsChanged) {
  SharedValue<std::string> a("text");
  EXPECT_TRUE(a.IsUnshared());
  SharedValue<std::string> b = a;
  EXPECT_TRUE(a.IsSame(b));
  EXPECT_FALSE(a.IsUnshared());
  b.Edit() += "s";
  EXPECT_EQ(*a, "text");
  EXPECT_EQ(*b, "texts");
  EXPECT_NE(a, b);
  EXPECT_TRUE(a.IsUnshared());
}

TEST(SharedValueTest, WhatNobodyElseHasIsChangedInPlace) {
  SharedValue<std::string> a;
  a.Edit() = "x";
  const std::string* const before = &*a;
  a.Edit() = "y";
  EXPECT_EQ(&*a, before);
  EXPECT_EQ(a, SharedValue<std::string>("y"));
  EXPECT_FALSE(a.IsSame(SharedValue<std::string>("y")));
}

}  // namespace
}  // namespace berth::base
