#include "wire/yaml.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <string>

#include "wire/any_json.h"
#include "wire/json_document.h"

namespace berth::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string ToJson(std::string_view yaml, const YamlOptions& options = {}) {
  base::Result<std::string> json = YamlToJson(yaml, options);
  return json ? *json : "error: " + json.error().message;
}

struct ScalarCase {
  std::string_view yaml;
  std::string_view json;
};

class YamlScalarTest : public testing::TestWithParam<ScalarCase> {};

TEST_P(YamlScalarTest, HasTheTypeThatKubernetesReads) {
  EXPECT_EQ(ToJson(std::string("v: ") + std::string(GetParam().yaml)),
            "{\"v\":" + std::string(GetParam().json) + "}");
}

INSTANTIATE_TEST_SUITE_P(
    Yaml, YamlScalarTest,
    testing::Values(
        // booleans and nulls of YAML 1.1
        ScalarCase{"yes", "true"}, ScalarCase{"On", "true"}, ScalarCase{"y", "true"},
        ScalarCase{"TRUE", "true"}, ScalarCase{"off", "false"}, ScalarCase{"n", "false"},
        ScalarCase{"No", "false"}, ScalarCase{"tRue", "\"tRue\""}, ScalarCase{"'yes'", "\"yes\""},
        ScalarCase{"~", "null"}, ScalarCase{"", "null"}, ScalarCase{"NULL", "null"},
        ScalarCase{"\"null\"", "\"null\""},
        // integers of every base
        ScalarCase{"42", "42"}, ScalarCase{"-7", "-7"}, ScalarCase{"+7", "7"}, ScalarCase{"010", "8"},
        ScalarCase{"0o17", "15"}, ScalarCase{"0x1F", "31"}, ScalarCase{"-0x1f", "-31"},
        ScalarCase{"0b101", "5"}, ScalarCase{"1_000", "1000"},
        ScalarCase{"9223372036854775807", "9223372036854775807"},
        ScalarCase{"-9223372036854775808", "-9223372036854775808"},
        ScalarCase{"18446744073709551615", "18446744073709551615"}, ScalarCase{"08", "8"},
        // floats, printed as Go prints them
        ScalarCase{"1.5", "1.5"}, ScalarCase{"1e3", "1000"}, ScalarCase{".5", "0.5"}, ScalarCase{"1.", "1"},
        ScalarCase{"1e21", "1e+21"}, ScalarCase{"1e-7", "1e-7"},
        ScalarCase{"18446744073709551616", "18446744073709552000"},
        // what only looks like a number
        ScalarCase{"1.2.3", "\"1.2.3\""}, ScalarCase{"12:30:45", "\"12:30:45\""},
        ScalarCase{"500m", "\"500m\""}, ScalarCase{"2026-08-20", "\"2026-08-20\""},
        ScalarCase{"2026-08-20T18:59:46Z", "\"2026-08-20T18:59:46Z\""}, ScalarCase{"+-5", "\"+-5\""},
        ScalarCase{"0x", "\"0x\""}, ScalarCase{"1e999", "\"1e999\""}, ScalarCase{".", "\".\""},
        ScalarCase{"infinity", "\"infinity\""},
        // explicit tags
        ScalarCase{"!!str 1", "\"1\""}, ScalarCase{"!!float 1", "1"}, ScalarCase{"!!int \"3\"", "3"},
        ScalarCase{"!!binary aGk=", "\"hi\""}, ScalarCase{"!custom 1", "\"1\""},
        // block scalars
        ScalarCase{"|\n  a\n  b\n", "\"a\\nb\\n\""}, ScalarCase{">-\n  a\n  b\n", "\"a b\""},
        // what HTML would misunderstand is escaped, as Go does
        ScalarCase{"<a>", "\"\\u003ca\\u003e\""}));

TEST(Yaml, KeysAreSortedAndBecomeStrings) {
  EXPECT_EQ(ToJson("b: 1\na: 2\n"), R"({"a":2,"b":1})");
  EXPECT_EQ(ToJson("1: a\ntrue: b\n1.5: c\n'x': d\n"), R"({"1":"a","1.5":"c","true":"b","x":"d"})");
  EXPECT_EQ(ToJson("yes: 1"), R"({"true":1})");
}

TEST(Yaml, KeysThatCannotBeStringsAreErrors) {
  EXPECT_THAT(ToJson("? [a]\n: 1"), HasSubstr("cannot be a key"));
  EXPECT_THAT(ToJson("~: 1"), HasSubstr("unsupported map key"));
}

TEST(Yaml, NothingIsNull) {
  EXPECT_EQ(ToJson(""), "null");
  EXPECT_EQ(ToJson("# only a comment\n"), "null");
  EXPECT_EQ(ToJson("---\n"), "null");
}

TEST(Yaml, OnlyTheFirstDocumentIsRead) { EXPECT_EQ(ToJson("a: 1\n---\nb: 2\n"), R"({"a":1})"); }

TEST(Yaml, JsonIsYaml) {
  EXPECT_EQ(ToJson(R"({"a":[1,"x",null,true],"b":{"c":"\u00e9\/"}})"),
            R"({"a":[1,"x",null,true],"b":{"c":"é/"}})");
}

TEST(Yaml, LastOfRepeatedKeysWinsUnlessTheyMustBeUnique) {
  EXPECT_EQ(ToJson("a: 1\nb: 2\na: 3\n"), R"({"a":3,"b":2})");
  EXPECT_EQ(ToJson("a: 1\nb: 2\na: 3\nb: 4\n", {.unique_keys = true}),
            "error: yaml: unmarshal errors:\n  line 3: key \"a\" already set in map\n"
            "  line 4: key \"b\" already set in map");
}

TEST(Yaml, AliasesAndMergeKeysAreFollowed) {
  EXPECT_EQ(ToJson("a: &x {p: 1, q: 2}\nb: *x\n"), R"({"a":{"p":1,"q":2},"b":{"p":1,"q":2}})");
  EXPECT_EQ(ToJson("a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n"), R"({"a":{"p":1,"q":2},"b":{"p":1,"q":3}})");
  // Of several maps the first has precedence.
  EXPECT_EQ(ToJson("x: &x {p: 1}\nz: &z {p: 2, q: 2}\nb:\n  <<: [*x, *z]\n"),
            R"({"b":{"p":1,"q":2},"x":{"p":1},"z":{"p":2,"q":2}})");
  EXPECT_EQ(ToJson("'<<': 1"), R"({"\u003c\u003c":1})");
  EXPECT_THAT(ToJson("<<: 1"), HasSubstr("map merge requires map"));
}

TEST(Yaml, AliasBombsAreRefused) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name <= 'j'; ++name) {
    bomb += fmt::format("{0}: &{0} [", name);
    for (int i = 0; i < 10; ++i)
      bomb += fmt::format("{}*{}", i == 0 ? "" : ", ", static_cast<char>(name - 1));
    bomb += "]\n";
  }
  EXPECT_THAT(ToJson(bomb), HasSubstr("document contains excessive aliasing"));

  // A few aliases of one long text are a bomb too.
  std::string long_text = "a: &a " + std::string(10'000, 'x') + "\nb: [";
  for (int i = 0; i < 1000; ++i) long_text += "*a, ";
  EXPECT_THAT(ToJson(long_text + "]", {.bytes_max = 1 << 20}), HasSubstr("excessive aliasing"));
}

TEST(Yaml, AnchorWithinItselfIsRefused) { EXPECT_THAT(ToJson("a: &a [*a]"), HasSubstr("contains itself")); }

TEST(Yaml, DepthAndSizeAreBounded) {
  EXPECT_THAT(ToJson(std::string(100'000, '[')), StartsWith("error: "));
  EXPECT_THAT(ToJson(std::string(100, '[') + std::string(100, ']')), StartsWith("[[["));
  EXPECT_THAT(ToJson("aaaaaaaaaa", {.bytes_max = 5}), HasSubstr("10 bytes, more than 5"));
}

TEST(Yaml, AliasesDoNotNestBeyondTheBound) {
  std::string text = "a0: &a0 [[[[x]]]]\n";
  for (int i = 1; i < 200; ++i) text += fmt::format("a{}: &a{} [[[[*a{}]]]]\n", i, i, i - 1);
  EXPECT_THAT(ToJson(text), HasSubstr("nested too deeply"));
}

TEST(Yaml, ErrorsNameLineAndColumn) {
  EXPECT_THAT(ToJson("a: 1\nb: [1, 2\nc: 3\n"), StartsWith("error: yaml: line "));
  EXPECT_THAT(ToJson("a: 1\nb: !!int x\n"),
              HasSubstr("line 2, column 4: cannot decode !!str `x` as a !!int"));
  EXPECT_THAT(ToJson("a: !!int x\n", {.first_line = 7}), HasSubstr("line 7, column 4"));
  EXPECT_THAT(ToJson("a: .inf"), HasSubstr("line 1, column 4: JSON has no number .inf"));
}

TEST(Yaml, ManifestsAreSplitAtSeparatorLines) {
  const auto documents = SplitYaml("# head\n---\na: 1\n--- # next\n\n---\nb: |\n  --- not a separator\n");
  ASSERT_TRUE(documents) << documents.error().message;
  ASSERT_EQ(documents->size(), 2u);
  EXPECT_EQ((*documents)[0].text, "a: 1\n");
  EXPECT_EQ((*documents)[0].first_line, 3u);
  EXPECT_EQ((*documents)[1].text, "b: |\n  --- not a separator\n");
  EXPECT_EQ((*documents)[1].first_line, 7u);
  EXPECT_TRUE(SplitYaml("")->empty());
  EXPECT_EQ(SplitYaml("a: 1")->size(), 1u);
}

TEST(Yaml, SeparatorWithContentIsAnError) {
  EXPECT_EQ(SplitYaml("a: 1\n---x\n").error().message, "line 2: invalid Yaml document separator: x");
}

TEST(WriteYaml, UsesBlockStyleWithSortedKeys) {
  const boost::json::value pod =
      ParseJson(R"({"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"name":"a",
      "args":["-x",["z"]],"env":[]}],"nodeSelector":{}}})")
          .value();
  EXPECT_EQ(WriteYaml(pod), R"(apiVersion: v1
kind: Pod
spec:
  containers:
  - args:
    - -x
    - - z
    env: []
    name: a
  nodeSelector: {}
)");
}

TEST(WriteYaml, QuotesWhatWouldBeReadAsSomethingElse) {
  const boost::json::value value =
      ParseJson(R"(["yes","1","","null","1.5","12:30:45","- a","a: b","a #b","it's","'q'","#c","a:",)"
                R"("{x","<<","---","a\tb"])")
          .value();
  EXPECT_EQ(WriteYaml(value), R"(- "yes"
- "1"
- ""
- "null"
- "1.5"
- "12:30:45"
- "- a"
- "a: b"
- "a #b"
- it's
- "'q'"
- "#c"
- "a:"
- "{x"
- "<<"
- "---"
- "a\tb"
)");
}

TEST(WriteYaml, TextOfSeveralLinesIsALiteralBlock) {
  const boost::json::value value =
      ParseJson(R"({"a":"x\n  y\n","b":"x\n\ny","c":"x\n\n","d":" x\ny"})").value();
  EXPECT_EQ(WriteYaml(value), "a: |\n  x\n    y\nb: |-\n  x\n\n  y\nc: |+\n  x\n\nd: \" x\\ny\"\n");
}

TEST(WriteYaml, ReadBackItIsTheSameValue) {
  EXPECT_TRUE(rc::check([] {
    const boost::json::value value = *test::AnyJson();
    const std::string yaml = WriteYaml(value);
    const base::Result<std::string> json = YamlToJson(yaml);
    RC_LOG() << yaml << "\n";
    RC_ASSERT(json.has_value());
    RC_ASSERT(*ParseJson(*json) == value);
  }));
}

TEST(Yaml, DamagedTextIsAnErrorOrAValueButNeverACrash) {
  EXPECT_TRUE(rc::check([] {
    std::string yaml = WriteYaml(*test::AnyJson());
    const auto flips = *rc::gen::inRange(1, 4);
    for (int i = 0; i < flips && !yaml.empty(); ++i) {
      yaml[*rc::gen::inRange<std::size_t>(0, yaml.size())] =
          *rc::gen::elementOf(std::string("\0\xff[]{}&*!|>?:-#\n \"", 19));
    }
    const base::Result<std::string> json = YamlToJson(yaml);
    if (json) RC_ASSERT(ParseJson(*json).has_value());
  }));
}

}  // namespace
}  // namespace berth::wire
