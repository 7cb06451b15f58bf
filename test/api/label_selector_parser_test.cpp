#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/label_selector.h"

namespace berth::api {
namespace {

using namespace std::string_view_literals;

// The canonical form of what was read, or the error in angle brackets.
std::string Read(std::string_view text) {
  const auto selector = Selector::Parse(text);
  return selector ? selector->ToString() : "<" + selector.error().message + ">";
}

struct SelectorTextCase {
  std::string_view text;
  std::string_view want;
};

class GoodTextTest : public testing::TestWithParam<SelectorTextCase> {};
TEST_P(GoodTextTest, IsReadAs) { EXPECT_EQ(Read(GetParam().text), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    LabelSelectorText, GoodTextTest,
    testing::Values(SelectorTextCase{"", ""}, SelectorTextCase{" \t\r\n", ""}, SelectorTextCase{"a", "a"},
                    SelectorTextCase{"! a", "!a"}, SelectorTextCase{" a  ==  b ", "a==b"},
                    SelectorTextCase{"z=1,a!=2,m", "a!=2,m,z=1"}, SelectorTextCase{"a=", "a="},
                    SelectorTextCase{"a!=,b", "a!=,b"}, SelectorTextCase{"n>5,n<10", "n>5,n<10"},
                    SelectorTextCase{"a in(c,b,c)", "a in (b,c)"},
                    SelectorTextCase{"a\tnotin\n(b)", "a notin (b)"},
                    // "in" and "notin" are operators only where one is due
                    SelectorTextCase{"in in (in,notin),notin=in,!in", "in in (in,notin),!in,notin=in"},
                    // a hole is the empty value
                    SelectorTextCase{"a in ()", "a in ()"}, SelectorTextCase{"a in (,)", "a in ()"},
                    SelectorTextCase{"a in (b,)", "a in (,b)"}, SelectorTextCase{"a in (,b)", "a in (,b)"},
                    SelectorTextCase{"a in (b,,c)", "a in (,b,c)"},
                    // a NUL behind a token goes with it, one elsewhere ends the text
                    SelectorTextCase{"a=\0b"sv, "a=b"}, SelectorTextCase{"a\0,b"sv, "a,b"},
                    SelectorTextCase{"a \0,b"sv, "a"}, SelectorTextCase{"\0a"sv, ""}));

class BadTextTest : public testing::TestWithParam<SelectorTextCase> {};
TEST_P(BadTextTest, SaysWhatWasExpected) { EXPECT_EQ(Read(GetParam().text), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    LabelSelectorText, BadTextTest,
    testing::Values(
        SelectorTextCase{",a", "<found ',', expected: !, identifier, or 'end of string'>"},
        SelectorTextCase{"(a)", "<found '(', expected: !, identifier, or 'end of string'>"},
        SelectorTextCase{"=b", "<found '=', expected: !, identifier, or 'end of string'>"},
        SelectorTextCase{"a,", "<found '', expected: identifier after ','>"},
        SelectorTextCase{"a,,b", "<found ',', expected: identifier after ','>"},
        SelectorTextCase{"!a=b", "<found '=', expected: ',' or 'end of string'>"},
        SelectorTextCase{"a=b c", "<found 'c', expected: ',' or 'end of string'>"},
        SelectorTextCase{"a in (b)(c)", "<found '(', expected: ',' or 'end of string'>"},
        SelectorTextCase{"!", "<unable to parse requirement: found '', expected: identifier>"},
        SelectorTextCase{"!!a", "<unable to parse requirement: found '!', expected: identifier>"},
        SelectorTextCase{"a===b", "<unable to parse requirement: found '=', expected: identifier>"},
        SelectorTextCase{"a b",
                         "<unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt>"},
        SelectorTextCase{"a !",
                         "<unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt>"},
        SelectorTextCase{"a\0b"sv,
                         "<unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt>"},
        SelectorTextCase{"a in b", "<unable to parse requirement: found 'b' expected: '('>"},
        SelectorTextCase{"a notin", "<unable to parse requirement: found '' expected: '('>"},
        SelectorTextCase{"a in (",
                         "<unable to parse requirement: found '', expected: ',', ')' or identifier>"},
        SelectorTextCase{"a in (!b)",
                         "<unable to parse requirement: found '!', expected: ',', ')' or identifier>"},
        SelectorTextCase{"a in (b", "<unable to parse requirement: found '', expected: ',' or ')'>"},
        SelectorTextCase{"a in (b c)", "<unable to parse requirement: found 'c', expected: ',' or ')'>"},
        SelectorTextCase{"a in (b,(c))",
                         "<unable to parse requirement: found '(', expected: ',', or identifier>"},
        SelectorTextCase{
            "n>x",
            "<unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
            "value must be an integer>"},
        SelectorTextCase{
            "/a=b",
            "<unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be non-empty>"}));

// The key is read before the operator, so its error is the one to be told.
TEST(LabelSelectorText, BadKeyIsToldBeforeABadOperator) {
  EXPECT_THAT(Read("-a ?"),
              testing::StartsWith("<unable to parse requirement: <nil>: Invalid value: \"-a\": name part"));
}

TEST(LabelSelectorText, ValuesAreCountedInSortedOrder) {
  EXPECT_THAT(
      Read("a in (z,-)"),
      testing::StartsWith("<unable to parse requirement: values[0][a]: Invalid value: \"-\": a valid label"));
}

TEST(LabelSelectorText, SignedNumberIsAnIntegerButNoLabelValue) {
  EXPECT_THAT(Read("n>-5"),
              testing::StartsWith(
                  "<unable to parse requirement: values[0][n]: Invalid value: \"-5\": a valid label"));
}

}  // namespace
}  // namespace berth::api
