#include "api/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::api {
namespace {

// Not inlined: g++ 12 misjudges the buffers of strings whose lengths it can compute.
[[gnu::noinline]] std::string Repeat(std::size_t count, char letter) { return std::string(count, letter); }

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

TEST(LabelKey, NameWithOrWithoutPrefixIsGood) {
  for (const std::string& key :
       {std::string("a"), std::string("Up_per.Case-1"), std::string("example.com/disk"),
        std::string("1234/5678"), Repeat(63, 'k'), Repeat(253, 'p') + "/" + Repeat(63, 'k')}) {
    EXPECT_THAT(LabelKeyProblems(key), IsEmpty()) << key;
  }
}

TEST(LabelKey, SecondSlashIsTheOnlyProblemTold) {
  EXPECT_THAT(
      LabelKeyProblems("a/-/c"),
      ElementsAre(
          "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start "
          "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
          "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
          "subdomain prefix and '/' (e.g. 'example.com/MyName')"));
}

TEST(LabelKey, EmptyNameBreaksTwoRules) {
  EXPECT_THAT(
      LabelKeyProblems("example.com/"),
      ElementsAre("name part must be non-empty", StartsWith("name part must consist of alphanumeric")));
}

TEST(LabelKey, PrefixAndNameAreJudgedApart) {
  EXPECT_THAT(LabelKeyProblems("/x"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(LabelKeyProblems(Repeat(254, 'P') + "/" + Repeat(64, 'k')),
              ElementsAre("prefix part must be no more than 253 bytes",
                          StartsWith("prefix part a lowercase RFC 1123 subdomain must consist"),
                          "name part must be no more than 63 bytes"));
}

TEST(LabelValue, EmptyIsGoodAndEndsMustBeAlphanumeric) {
  for (const std::string_view value : {"", "5", "a.b_c-d", "Z"}) {
    EXPECT_THAT(LabelValueProblems(value), IsEmpty()) << value;
  }
  for (const std::string_view value : {"-1", "+5", "x_", ".", "a b", "a/b", "\xc3\xa9"}) {
    EXPECT_THAT(LabelValueProblems(value),
                ElementsAre(StartsWith("a valid label must be an empty string or")))
        << value;
  }
}

TEST(LabelValue, LengthAndFormAreBothTold) {
  EXPECT_THAT(LabelValueProblems(Repeat(63, 'v') + "-"),
              ElementsAre("must be no more than 63 bytes", StartsWith("a valid label must be")));
}

TEST(Subdomain, EveryPartIsADnsLabel) {
  for (const std::string_view name : {"a", "example.com", "1.2.3.4", "a--b.c"}) {
    EXPECT_THAT(SubdomainProblems(name), IsEmpty()) << name;
  }
  for (const std::string_view name : {"", ".", "a..b", ".a", "a.", "A", "a_b", "-a.b", "a.b-"}) {
    EXPECT_THAT(SubdomainProblems(name), ElementsAre(StartsWith("a lowercase RFC 1123 subdomain"))) << name;
  }
}

TEST(FieldPath, ReadsLikeTheObject) {
  EXPECT_EQ(FieldPath().ToString(), "<nil>");
  EXPECT_EQ(FieldPath().Index(2).Child("key").ToString(), "[2].key");
  EXPECT_EQ(FieldPath("spec").Child("terms").Index(0).Key("a/b").ToString(), "spec.terms[0][a/b]");
}

TEST(FieldErrors, TextIsQuotedAndListsAreJson) {
  EXPECT_EQ(InvalidField(FieldPath("key"), "a\"\n\xff", "bad"), "key: Invalid value: \"a\\\"\\n\\xff\": bad");
  const std::vector<std::string> values = {"a<b", "\xff"};
  EXPECT_EQ(InvalidField(FieldPath("values"), values, "bad"),
            "values: Invalid value: [\"a\\u003cb\",\"\\ufffd\"]: bad");
  EXPECT_EQ(InvalidField(FieldPath("values"), std::span<const std::string>(), "bad"),
            "values: Invalid value: null: bad");
}

TEST(FieldErrors, UnsupportedNamesTheChoices) {
  constexpr std::string_view kChoices[] = {"In", "NotIn"};
  EXPECT_EQ(UnsupportedField(FieldPath("operator"), "<", kChoices),
            "operator: Unsupported value: \"\\u003c\": supported values: \"In\", \"NotIn\"");
}

TEST(FieldErrors, AggregateTellsEachMessageOnce) {
  const auto aggregate = [](std::vector<std::string> messages) { return AggregateErrors(messages); };
  EXPECT_EQ(aggregate({"a"}), "a");
  EXPECT_EQ(aggregate({"a", "a"}), "a");
  EXPECT_EQ(aggregate({"b", "a", "b"}), "[b, a]");
}

}  // namespace
}  // namespace berth::api
