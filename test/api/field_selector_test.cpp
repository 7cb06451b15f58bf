#include "api/field_selector.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace berth::api {
namespace {

using namespace std::string_view_literals;

// The printed form of what was read, or the error in angle brackets.
std::string ReadFields(std::string_view text) {
  const auto selector = FieldSelector::Parse(text);
  return selector ? selector->ToString() : "<" + selector.error().message + ">";
}

struct FieldTextCase {
  std::string_view text;
  std::string_view want;
};

class FieldTextTest : public testing::TestWithParam<FieldTextCase> {};
TEST_P(FieldTextTest, IsReadAs) { EXPECT_EQ(ReadFields(GetParam().text), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    Good, FieldTextTest,
    testing::Values(FieldTextCase{"", ""}, FieldTextCase{",", ""}, FieldTextCase{"a=b", "a=b"},
                    FieldTextCase{"a==b", "a=b"}, FieldTextCase{"b!=x,,a=", "a=,b!=x"},
                    FieldTextCase{"=b", "=b"}, FieldTextCase{"=,!=,a=1", "a=1"},
                    FieldTextCase{" a = b ", " a = b "}, FieldTextCase{"!a=b", "!a=b"},
                    // escapes: of values only, the field is taken as it is
                    FieldTextCase{R"(a=b\,c\=d\\)", R"(a=b\,c\=d\\)"},
                    FieldTextCase{R"(a\,b=c)", R"(a\,b=c)"}, FieldTextCase{R"(a=\\,b=c)", R"(a=\\,b=c)"},
                    // bytes that are no UTF-8 survive only where nothing is escaped
                    FieldTextCase{"a=\xff", "a=\xff"}, FieldTextCase{"a=\xff\\,", "a=\xef\xbf\xbd\\,"},
                    FieldTextCase{"a=\xc3\xa9\\=", "a=\xc3\xa9\\="}, FieldTextCase{"a=\0"sv, "a=\0"sv}));

INSTANTIATE_TEST_SUITE_P(
    Bad, FieldTextTest,
    testing::Values(
        FieldTextCase{" ", "<invalid selector: ' '; can't understand ' '>"},
        FieldTextCase{"b=1,a", "<invalid selector: 'b=1,a'; can't understand 'a'>"},
        FieldTextCase{"a=b=c", "<invalid field selector: unescaped character in value: 61>"},
        FieldTextCase{"a!==b", "<invalid field selector: unescaped character in value: 61>"},
        FieldTextCase{R"(a=b\c)", R"(<invalid field selector: invalid escape sequence: \c>)"},
        FieldTextCase{"a=\\\xc3\xa9", "<invalid field selector: invalid escape sequence: \\\xc3\xa9>"},
        FieldTextCase{"a=\\\xff", "<invalid field selector: invalid escape sequence: \\\xef\xbf\xbd>"},
        FieldTextCase{R"(a=b\)", R"(<invalid field selector: invalid escape sequence: \>)"}));

FieldSelector ParsedFields(std::string_view text) { return FieldSelector::Parse(text).value(); }

TEST(FieldSelector, AbsentFieldReadsEmpty) {
  const StringMap fields = {{"spec.nodeName", "n1"}};
  EXPECT_TRUE(ParsedFields("spec.nodeName=n1,status.phase!=Failed").Matches(fields));
  EXPECT_TRUE(ParsedFields("status.phase=").Matches(fields));
  EXPECT_FALSE(ParsedFields("spec.nodeName=").Matches(fields));
  EXPECT_FALSE(ParsedFields("spec.nodeName!=n1").Matches(fields));
  EXPECT_TRUE(ParsedFields("").Matches(fields));
}

TEST(FieldSelector, FieldsMayComeFromAFunction) {
  const auto fields = [](std::string_view field) { return field == "a" ? "1"sv : ""sv; };
  EXPECT_TRUE(ParsedFields("a=1,b=").Matches(fields));
  EXPECT_FALSE(ParsedFields("a=2").Matches(fields));
}

TEST(FieldSelector, RequiredValueIsOfAnEquality) {
  EXPECT_EQ(ParsedFields("a!=1,a=2").RequiredValue("a"), "2");
  EXPECT_EQ(ParsedFields("a!=1").RequiredValue("a"), std::nullopt);
  EXPECT_EQ(ParsedFields("a=2").RequiredValue("b"), std::nullopt);
}

RC_GTEST_PROP(FieldSelectorProperty, EscapedValueReadsBack, ()) {
  const auto value = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab\\,=! ")));
  const auto selector = FieldSelector::Parse("f=" + EscapeFieldValue(value));
  RC_ASSERT(selector.has_value());
  RC_ASSERT(selector->RequiredValue("f") == value);
}

// Printing normalises "==" to "=", which can change the order of the parts: it is no part of the meaning.
RC_GTEST_PROP(FieldSelectorProperty, PrintedFormReadsBackEqualUpToOrder, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab\\,=!\xff\xc3\xa9 ")));
  const auto selector = FieldSelector::Parse(text);
  if (!selector) return;
  const auto again = FieldSelector::Parse(selector->ToString());
  RC_ASSERT(again.has_value());
  const auto want = selector->requirements();
  const auto got = again->requirements();
  RC_ASSERT(std::is_permutation(got.begin(), got.end(), want.begin(), want.end()));
}

}  // namespace
}  // namespace berth::api
