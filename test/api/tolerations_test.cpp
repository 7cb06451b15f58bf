#include "api/tolerations.h"

#include <gtest/gtest.h>

namespace berth::api {
namespace {

Taint MakeTaint(std::string key, std::string value, std::string_view effect = kNoSchedule) {
  return {.key = std::move(key), .value = std::move(value), .effect = std::string(effect), .time_added = {}};
}

Toleration MakeToleration(std::string key, std::string op, std::string value, std::string_view effect = "") {
  return {.key = std::move(key),
          .operator_ = std::move(op),
          .value = std::move(value),
          .effect = std::string(effect),
          .toleration_seconds = {}};
}

TEST(Toleration, EqualComparesTheValueAndIsTheDefault) {
  const Taint taint = MakeTaint("dedicated", "gpu");
  EXPECT_TRUE(Tolerates(MakeToleration("dedicated", "Equal", "gpu"), taint, false));
  EXPECT_TRUE(Tolerates(MakeToleration("dedicated", "", "gpu"), taint, false));
  EXPECT_FALSE(Tolerates(MakeToleration("dedicated", "Equal", "cpu"), taint, false));
  EXPECT_FALSE(Tolerates(MakeToleration("other", "Equal", "gpu"), taint, false));
}

TEST(Toleration, ExistsIgnoresTheValue) {
  EXPECT_TRUE(Tolerates(MakeToleration("dedicated", "Exists", "x"), MakeTaint("dedicated", "gpu"), false));
  EXPECT_FALSE(Tolerates(MakeToleration("other", "Exists", ""), MakeTaint("dedicated", "gpu"), false));
}

TEST(Toleration, EmptyKeyAndEmptyEffectStandForAll) {
  const Taint taint = MakeTaint("dedicated", "gpu", kNoExecute);
  EXPECT_TRUE(Tolerates(MakeToleration("", "Exists", ""), taint, false));
  EXPECT_TRUE(Tolerates(MakeToleration("", "Equal", "gpu"), taint, false));
  EXPECT_TRUE(Tolerates(MakeToleration("", "Exists", "", kNoExecute), taint, false));
  EXPECT_FALSE(Tolerates(MakeToleration("", "Exists", "", kNoSchedule), taint, false));
}

TEST(Toleration, UnknownOperatorToleratesNothing) {
  for (const std::string_view op : {"Bogus", "In", "exists", "equal", "GT"}) {
    EXPECT_FALSE(Tolerates(MakeToleration("k", std::string(op), "1"), MakeTaint("k", "1"), true)) << op;
  }
}

TEST(Toleration, ComparisonNeedsItsGate) {
  const Taint taint = MakeTaint("level", "950");
  EXPECT_TRUE(Tolerates(MakeToleration("level", "Gt", "750"), taint, true));
  EXPECT_FALSE(Tolerates(MakeToleration("level", "Gt", "750"), taint, false));
  EXPECT_FALSE(Tolerates(MakeToleration("level", "Gt", "950"), taint, true));
  EXPECT_TRUE(Tolerates(MakeToleration("level", "Lt", "951"), taint, true));
  EXPECT_FALSE(Tolerates(MakeToleration("level", "Lt", "950"), taint, true));
  EXPECT_TRUE(
      Tolerates(MakeToleration("level", "Gt", "-9223372036854775808"), MakeTaint("level", "-5"), true));
}

TEST(Toleration, OnlyCanonicalIntegersAreCompared) {
  for (const std::string_view text : {"0950", "+950", "-0", "00", "high", "", "-", "5.0", " 5", "5 ", "1e3",
                                      "0x5", "9223372036854775808"}) {
    const std::string value(text);
    EXPECT_FALSE(Tolerates(MakeToleration("level", "Gt", "-1"), MakeTaint("level", value), true)) << text;
    EXPECT_FALSE(Tolerates(MakeToleration("level", "Lt", value), MakeTaint("level", "-1"), true)) << text;
  }
  EXPECT_TRUE(Tolerates(MakeToleration("level", "Gt", "-1"), MakeTaint("level", "0"), true));
}

TEST(Tolerations, FirstUntoleratedTaintOfTheEffectsIsFound) {
  const std::vector<Taint> taints = {MakeTaint("soft", "", kPreferNoSchedule), MakeTaint("a", "1"),
                                     MakeTaint("b", "1", kNoExecute), MakeTaint("c", "1")};
  const std::vector<Toleration> tolerations = {MakeToleration("a", "Exists", "")};
  EXPECT_EQ(FindUntolerated(tolerations, taints, kHardEffects, false), &taints[2]);
  EXPECT_EQ(FindUntolerated({}, taints, kHardEffects, false), &taints[1]);
  const std::vector<Toleration> all = {MakeToleration("", "Exists", "")};
  EXPECT_EQ(FindUntolerated(all, taints, kHardEffects, false), nullptr);
}

TEST(Tolerations, SoftTaintsAloneKeepNoPodAway) {
  const std::vector<Taint> taints = {MakeTaint("soft", "", kPreferNoSchedule)};
  EXPECT_EQ(FindUntolerated({}, taints, kHardEffects, false), nullptr);
}

TEST(Tolerations, OnlySoftTaintsCountForScoring) {
  const std::vector<Taint> taints = {MakeTaint("a", "", kPreferNoSchedule),
                                     MakeTaint("b", "", kPreferNoSchedule), MakeTaint("c", "")};
  EXPECT_EQ(CountIntolerablePreferNoSchedule({}, taints, false), 2u);
  const std::vector<Toleration> one = {MakeToleration("a", "Exists", "", kPreferNoSchedule)};
  EXPECT_EQ(CountIntolerablePreferNoSchedule(one, taints, false), 1u);
  const std::vector<Toleration> other_effect = {MakeToleration("a", "Exists", "", kNoSchedule)};
  EXPECT_EQ(CountIntolerablePreferNoSchedule(other_effect, taints, false), 2u);
}

}  // namespace
}  // namespace berth::api
