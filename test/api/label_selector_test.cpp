#include "api/label_selector.h"

#include <absl/hash/hash_testing.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace berth::api {
namespace {

using testing::StartsWith;

Selector Compiled(const LabelSelector& selector) {
  auto compiled = Selector::Compile(selector);
  EXPECT_TRUE(compiled.has_value()) << compiled.error().message;
  return compiled.value_or(Selector::Nothing());
}

Selector Parsed(std::string_view text) {
  auto parsed = Selector::Parse(text);
  EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
  return parsed.value_or(Selector::Nothing());
}

std::string CompileError(const LabelSelector& selector) {
  const auto compiled = Selector::Compile(selector);
  return compiled ? "" : compiled.error().message;
}

// An absent selector and an empty one are opposites; mixing them up selects a whole cluster.
TEST(LabelSelector, NullMatchesNothingAndEmptyMatchesEverything) {
  const auto null = Selector::Compile(std::optional<LabelSelector>());
  ASSERT_TRUE(null.has_value());
  EXPECT_TRUE(null->matches_nothing());
  EXPECT_FALSE(null->matches_everything());
  EXPECT_FALSE(null->Matches(StringMap{}));
  EXPECT_EQ(null->ToString(), "");

  const auto empty = Selector::Compile(std::optional<LabelSelector>(LabelSelector{}));
  ASSERT_TRUE(empty.has_value());
  EXPECT_TRUE(empty->matches_everything());
  EXPECT_TRUE(empty->Matches(StringMap{{"a", "b"}}));
  EXPECT_NE(*null, *empty);
}

struct MatchCase {
  std::string_view name;
  LabelSelectorRequirement expression;
  bool want_absent;
  bool want_web;
  bool want_empty;
};

class ExpressionTest : public testing::TestWithParam<MatchCase> {};

TEST_P(ExpressionTest, DecidesByPresenceAndValue) {
  const Selector selector = Compiled({.match_labels = {}, .match_expressions = {GetParam().expression}});
  EXPECT_EQ(selector.Matches(StringMap{{"other", "web"}}), GetParam().want_absent);
  EXPECT_EQ(selector.Matches(StringMap{{"app", "web"}}), GetParam().want_web);
  EXPECT_EQ(selector.Matches(StringMap{{"app", ""}}), GetParam().want_empty);
}

INSTANTIATE_TEST_SUITE_P(
    LabelSelector, ExpressionTest,
    testing::Values(MatchCase{.name = "In",
                              .expression = {.key = "app", .operator_ = "In", .values = {"web", "db"}},
                              .want_absent = false,
                              .want_web = true,
                              .want_empty = false},
                    MatchCase{.name = "InWithEmptyValue",
                              .expression = {.key = "app", .operator_ = "In", .values = {"x", ""}},
                              .want_absent = false,
                              .want_web = false,
                              .want_empty = true},
                    MatchCase{.name = "NotIn",
                              .expression = {.key = "app", .operator_ = "NotIn", .values = {"web"}},
                              .want_absent = true,
                              .want_web = false,
                              .want_empty = true},
                    MatchCase{.name = "Exists",
                              .expression = {.key = "app", .operator_ = "Exists", .values = {}},
                              .want_absent = false,
                              .want_web = true,
                              .want_empty = true},
                    MatchCase{.name = "DoesNotExist",
                              .expression = {.key = "app", .operator_ = "DoesNotExist", .values = {}},
                              .want_absent = true,
                              .want_web = false,
                              .want_empty = false}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(LabelSelector, AllRequirementsMustHold) {
  const Selector selector =
      Compiled({.match_labels = {{"app", "web"}},
                .match_expressions = {{.key = "tier", .operator_ = "In", .values = {"front", "edge"}}}});
  EXPECT_TRUE(selector.Matches(StringMap{{"app", "web"}, {"tier", "edge"}}));
  EXPECT_FALSE(selector.Matches(StringMap{{"app", "web"}}));
  EXPECT_FALSE(selector.Matches(StringMap{{"app", "db"}, {"tier", "edge"}}));
}

TEST(LabelSelector, PrintsInKeyOrderWithMatchLabelsFirst) {
  const Selector selector =
      Compiled({.match_labels = {{"n", "1"}, {"app", "web"}},
                .match_expressions = {{.key = "zone", .operator_ = "DoesNotExist", .values = {}},
                                      {.key = "app", .operator_ = "In", .values = {"web", "db", "db"}},
                                      {.key = "b", .operator_ = "NotIn", .values = {""}},
                                      {.key = "c", .operator_ = "Exists", .values = {}}}});
  EXPECT_EQ(selector.ToString(), "app=web,app in (db,db,web),b notin (),c,n=1,!zone");
}

TEST(LabelSelector, FirstBadRequirementIsTold) {
  EXPECT_EQ(CompileError(
                {.match_labels = {}, .match_expressions = {{.key = "a", .operator_ = "Gt", .values = {}}}}),
            "\"Gt\" is not a valid label selector operator");
  EXPECT_EQ(CompileError({.match_labels = {},
                          .match_expressions = {{.key = "a", .operator_ = "In", .values = {}},
                                                {.key = "b", .operator_ = "", .values = {}}}}),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
  EXPECT_EQ(CompileError({.match_labels = {},
                          .match_expressions = {{.key = "a", .operator_ = "Exists", .values = {"x", "y"}}}}),
            "values: Invalid value: [\"x\",\"y\"]: values set must be empty for exists and does not exist");
  EXPECT_THAT(CompileError({.match_labels = {{"app", "-"}}, .match_expressions = {}}),
              StartsWith("values[0][app]: Invalid value: \"-\": a valid label must be an empty string or"));
}

TEST(LabelSelector, OneRequirementTellsAllItsProblems) {
  EXPECT_THAT(
      CompileError(
          {.match_labels = {}, .match_expressions = {{.key = "/x", .operator_ = "In", .values = {}}}}),
      "[key: Invalid value: \"/x\": prefix part must be non-empty, values: Invalid value: null: for 'in', "
      "'notin' operators, values set can't be empty]");
}

// A pod's nodeSelector is never validated here: the API server did, and what it let through must match.
TEST(LabelSelector, PlainMapIsTakenAsItIs) {
  const Selector selector = Selector::FromMap({{"not a key", "not/a value"}});
  EXPECT_TRUE(selector.Matches(StringMap{{"not a key", "not/a value"}}));
  EXPECT_FALSE(selector.Matches(StringMap{}));
  EXPECT_TRUE(Selector::FromMap({}).matches_everything());
}

TEST(LabelSelector, LabelsMayComeFromAFunction) {
  const std::map<std::string, std::string, std::less<>> labels = {{"app", "web"}};
  const auto look_up = [&](std::string_view key) -> std::optional<std::string_view> {
    const auto it = labels.find(key);
    if (it == labels.end()) return std::nullopt;
    return it->second;
  };
  EXPECT_TRUE(Parsed("app=web,!tier").Matches(look_up));
  EXPECT_FALSE(Parsed("tier").Matches(look_up));
}

// Numbers are compared as int64, and only if the label is one.
TEST(LabelSelector, ComparesIntegers) {
  const auto matches = [](std::string_view selector, std::string value) {
    return Parsed(selector).Matches(StringMap{{"n", std::move(value)}});
  };
  EXPECT_TRUE(matches("n>5", "6"));
  EXPECT_FALSE(matches("n>5", "5"));
  EXPECT_TRUE(matches("n>05", "+6"));
  EXPECT_TRUE(matches("n<5", "-9223372036854775808"));
  EXPECT_FALSE(matches("n<5", "-9223372036854775809"));
  EXPECT_TRUE(matches("n>9", "10"));
  for (const std::string_view no_number :
       {"", "+", "-", "+-5", "--5", "5.0", "1e3", "0x5", " 5", "5 ", "1_000"}) {
    EXPECT_FALSE(matches("n<9223372036854775807", std::string(no_number))) << no_number;
  }
  EXPECT_FALSE(Parsed("n<5").Matches(StringMap{}));
}

TEST(LabelSelector, RequiredPairIsOneThatEveryMatchHas) {
  EXPECT_EQ(Parsed("z=1,b in (x),a!=1,c in (p,q)").RequiredPair(), (LabelPair{"b", "x"}));
  EXPECT_EQ(Parsed("a!=1,c in (p,q),d,!e,n>4").RequiredPair(), std::nullopt);
  EXPECT_EQ(Parsed("").RequiredPair(), std::nullopt);
  EXPECT_EQ(Selector::Nothing().RequiredPair(), std::nullopt);
}

TEST(LabelSelector, RequiredValueLooksAtAllRequirementsOfTheKey) {
  const Selector selector = Parsed("a in (x,y),a==x,b!=z");
  EXPECT_EQ(selector.RequiredValue("a"), "x");
  EXPECT_EQ(selector.RequiredValue("b"), std::nullopt);
  EXPECT_EQ(selector.RequiredValue("c"), std::nullopt);
}

// Selectors are interned: what is equal must hash alike, and what differs in any part must differ.
TEST(LabelSelector, EqualityAndHashAgree) {
  EXPECT_EQ(Parsed("b,a in (y,x)"), Parsed("a in (x,y),b"));
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Selector(), Selector::Nothing(), Parsed("a"), Parsed("!a"), Parsed("a=x"), Parsed("a==x"),
       Parsed("a!=x"), Parsed("a in (x)"), Parsed("a in (x,y)"), Parsed("a in (y,x)"),
       Parsed("a notin (x,y)"), Parsed("a>1"), Parsed("a<1"), Parsed("a=x,b=y"), Parsed("b=y,a=x")}));
}

}  // namespace
}  // namespace berth::api
