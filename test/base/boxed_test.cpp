#include "base/boxed.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace berth::base {
namespace {

struct Large {
  std::string name;
  char rest[500] = {};

  bool operator==(const Large& other) const { return name == other.name; }
};

TEST(BoxedTest, IsSmallWhereItIsAbsent) {
  EXPECT_EQ(sizeof(Boxed<Large>), sizeof(void*));
  const Boxed<Large> none;
  EXPECT_FALSE(none);
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(none, Boxed<Large>(std::nullopt));
}

TEST(BoxedTest, IsUsedLikeAnOptional) {
  Boxed<Large> box;
  box.emplace().name = "a";
  ASSERT_TRUE(box);
  EXPECT_EQ(box->name, "a");
  box = {.name = "b"};
  EXPECT_EQ((*box).name, "b");
  box.reset();
  EXPECT_FALSE(box);
}

TEST(BoxedTest, CopiesAreTheirOwn) {
  Boxed<Large> box = Large{.name = "a"};
  Boxed<Large> copy = box;
  EXPECT_EQ(copy, box);
  copy->name = "b";
  EXPECT_EQ(box->name, "a");
  EXPECT_NE(copy, box);
  box = copy;
  EXPECT_EQ(box->name, "b");
  box = Boxed<Large>();
  EXPECT_FALSE(box);
  EXPECT_NE(copy, box);
  const Boxed<Large> moved = std::move(copy);
  EXPECT_EQ(moved->name, "b");
}

TEST(BoxedTest, EqualsAValueOnlyWhereThereIsOne) {
  Boxed<std::string> box;
  EXPECT_NE(box, "");
  box = "a";
  EXPECT_EQ(box, "a");
  EXPECT_NE(box, "b");
}

}  // namespace
}  // namespace berth::base
