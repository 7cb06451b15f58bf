#include "plugins/go_arithmetic.h"

#include <gtest/gtest.h>
#include <limits>

namespace berth::plugins {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(GoArithmetic, WrapsAround) {
  EXPECT_EQ(WrappingAdd(kMost, 1), kLeast);
  EXPECT_EQ(WrappingSubtract(kLeast, 1), kMost);
  EXPECT_EQ(WrappingMultiply(kMost, 2), -2);
}

TEST(GoArithmetic, CutsTowardsZero) {
  EXPECT_EQ(Truncated(1.9), 1);
  EXPECT_EQ(Truncated(-1.9), -1);
  EXPECT_EQ(Truncated(-9223372036854775808.0), kLeast);
}

TEST(GoArithmetic, WhatDoesNotFitIsTheLeast) {
  EXPECT_EQ(Truncated(9223372036854775808.0), kLeast);
  EXPECT_EQ(Truncated(-1e19), kLeast);
  EXPECT_EQ(Truncated(std::numeric_limits<double>::infinity()), kLeast);
  EXPECT_EQ(Truncated(std::numeric_limits<double>::quiet_NaN()), kLeast);
}

}  // namespace
}  // namespace berth::plugins
