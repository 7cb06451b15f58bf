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

struct TextCase {
  std::string_view text;
  std::string_view want;
};

class GoodTextTest : public testing::TestWithParam<TextCase> {};
TEST_P(GoodTextTest, IsReadAs) { EXPECT_EQ(Read(GetParam().text), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    LabelSelectorText, GoodTextTest,
    testing::Values(TextCase{"", ""}, TextCase{" \t\r\n", ""}, TextCase{"a", "a"}, TextCase{"! a", "!a"},
                    TextCase{" a  ==  b ", "a==b"}, TextCase{"z=1,a!=2,m", "a!=2,m,z=1"},
                    TextCase{"a=", "a="}, TextCase{"a!=,b", "a!=,b"}, TextCase{"n>5,n<10", "n>5,n<10"},
                    TextCase{"a in(c,b,c)", "a in (b,c)"}, TextCase{"a\tnotin\n(b)", "a notin (b)"},
                    // "in" and "notin" are operators only where one is due
                    TextCase{"in in (in,notin),notin=in,!in", "in in (in,notin),!in,notin=in"},
                    // a hole is the empty value
                    TextCase{"a in ()", "a in ()"}, TextCase{"a in (,)", "a in ()"},
                    TextCase{"a in (b,)", "a in (,b)"}, TextCase{"a in (,b)", "a in (,b)"},
                    TextCase{"a in (b,,c)", "a in (,b,c)"},
                    // a NUL behind a token goes with it, one elsewhere ends the text
                    TextCase{"a=\0b"sv, "a=b"}, TextCase{"a\0,b"sv, "a,b"}, TextCase{"a \0,b"sv, "a"},
                    TextCase{"\0a"sv, ""}));

class BadTextTest : public testing::TestWithParam<TextCase> {};
TEST_P(BadTextTest, SaysWhatWasExpected) { EXPECT_EQ(Read(GetParam().text), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    LabelSelectorText, BadTextTest,
    testing::Values(
        TextCase{",a", "<found ',', expected: !, identifier, or 'end of string'>"},
        TextCase{"(a)", "<found '(', expected: !, identifier, or 'end of string'>"},
        TextCase{"=b", "<found '=', expected: !, identifier, or 'end of string'>"},
        TextCase{"a,", "<found '', expected: identifier after ','>"},
        TextCase{"a,,b", "<found ',', expected: identifier after ','>"},
        TextCase{"!a=b", "<found '=', expected: ',' or 'end of string'>"},
        TextCase{"a=b c", "<found 'c', expected: ',' or 'end of string'>"},
        TextCase{"a in (b)(c)", "<found '(', expected: ',' or 'end of string'>"},
        TextCase{"!", "<unable to parse requirement: found '', expected: identifier>"},
        TextCase{"!!a", "<unable to parse requirement: found '!', expected: identifier>"},
        TextCase{"a===b", "<unable to parse requirement: found '=', expected: identifier>"},
        TextCase{"a b", "<unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt>"},
        TextCase{"a !", "<unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt>"},
        TextCase{"a\0b"sv,
                 "<unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt>"},
        TextCase{"a in b", "<unable to parse requirement: found 'b' expected: '('>"},
        TextCase{"a notin", "<unable to parse requirement: found '' expected: '('>"},
        TextCase{"a in (", "<unable to parse requirement: found '', expected: ',', ')' or identifier>"},
        TextCase{"a in (!b)", "<unable to parse requirement: found '!', expected: ',', ')' or identifier>"},
        TextCase{"a in (b", "<unable to parse requirement: found '', expected: ',' or ')'>"},
        TextCase{"a in (b c)", "<unable to parse requirement: found 'c', expected: ',' or ')'>"},
        TextCase{"a in (b,(c))", "<unable to parse requirement: found '(', expected: ',', or identifier>"},
        TextCase{
            "n>x",
            "<unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
            "value must be an integer>"},
        TextCase{
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
