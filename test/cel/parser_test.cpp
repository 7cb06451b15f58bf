#include "cel/parser.h"

#include <gtest/gtest.h>
#include <string>

#include "cel/device_support.h"

namespace berth::cel {
namespace {

std::string Repeat(std::string_view text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

std::string FirstIssue(std::string_view expression) {
  const Source source(expression);
  std::vector<Issue> issues;
  Parse(source, issues);
  const std::string text = source.Describe(std::move(issues));
  return text.substr(0, text.find('\n'));
}

TEST(Nesting, Of249ParenthesesIsFineOf250IsNot) {
  EXPECT_EQ(FirstIssue(Repeat("(", 249) + "true" + Repeat(")", 249)), "");
  EXPECT_EQ(FirstIssue(Repeat("(", 250) + "true" + Repeat(")", 250)),
            "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
}

TEST(Nesting, Of250OperatorsIsFineOf251IsNot) {
  EXPECT_EQ(Outcome(Repeat("1 + ", 249) + "1 > 0"), "true");
  EXPECT_EQ(FirstIssue(Repeat("1 + ", 250) + "1 > 0"), "ERROR: <input>:-1:0: max recursion depth exceeded");
}

// A chain of && is one node: it may be as long as the text.
TEST(Nesting, DoesNotCountLogicalChains) { EXPECT_EQ(Outcome(Repeat("true && ", 3000) + "true"), "true"); }

TEST(Nesting, IsBoundedForTextOfAnyShape) {
  for (const char* unit : {"[", "{1:", "!", "-", "a.", "a[", "f(", "a?", "(", "a.b(", "true?true:"}) {
    EXPECT_NE(FirstIssue(Repeat(unit, 20000)), "") << unit;
  }
}

TEST(Text, BeyondTheLimitIsRefused) {
  EXPECT_EQ(FirstIssue(std::string(100001, ' ')),
            "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000");
}

// A mistake is shown where it is, by line and by column in code points.
TEST(Issues, PointAtTheMistake) {
  const Source source("true &&\n  \u65e5 + device.x");
  EXPECT_EQ(source.Describe({{.offset = 12, .message = "late"}, {.offset = 0, .message = "early"}}),
            "ERROR: <input>:1:1: early\n | true &&\n | ^\n"
            "ERROR: <input>:2:5: late\n |   \u65e5 + device.x\n | ....^");
}

struct PlaceCase {
  std::string_view expression;
  std::string_view want;  // line and column
};

class Place : public testing::TestWithParam<PlaceCase> {};

TEST_P(Place, IsTheFirstBadToken) {
  const std::string issue = FirstIssue(GetParam().expression);
  EXPECT_TRUE(issue.starts_with("ERROR: <input>:" + std::string(GetParam().want) + ": ")) << issue;
}

INSTANTIATE_TEST_SUITE_P(Syntax, Place,
                         testing::Values(PlaceCase{"", "1:0"}, PlaceCase{"true &&", "1:8"},
                                         PlaceCase{"a b", "1:3"}, PlaceCase{"'x", "1:1"},
                                         PlaceCase{"r'x", "1:2"}, PlaceCase{"1 = 2", "1:3"},
                                         PlaceCase{"[1,,2]", "1:4"}, PlaceCase{"-!x", "1:2"},
                                         PlaceCase{"!-x", "1:3"}, PlaceCase{"a.in", "1:3"},
                                         PlaceCase{"true\n)", "2:1"}, PlaceCase{"()", "1:2"},
                                         PlaceCase{"'''a", "1:3"}, PlaceCase{"\u00e9", "1:1"}));

}  // namespace
}  // namespace berth::cel
