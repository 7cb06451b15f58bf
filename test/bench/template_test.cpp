#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/object_template.h"
#include "bench/text_template.h"
#include "wire/schema.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

std::string Expand(std::string_view text, const json::object& data = {}) {
  const auto parsed = TextTemplate::Parse(text);
  if (!parsed) return parsed.error().message;
  const auto expanded = parsed->Execute(data);
  return expanded ? *expanded : expanded.error().message;
}

// case 31
TEST(TextTemplate, PrintsNumbersAsGo) {
  EXPECT_EQ(Expand("{{.p}}", {{"p", 100000.0}}), "100000");
  EXPECT_EQ(Expand("{{.p}}", {{"p", 1000000.0}}), "1e+06");
  EXPECT_EQ(Expand("{{.p}}", {{"p", 9999999.0}}), "9.999999e+06");
  EXPECT_EQ(Expand("{{AddInt 0 .p}}", {{"p", 9999999.0}}), "9999999");
  EXPECT_EQ(Expand("{{.Index}}", {{"Index", 9999999}}), "9999999");
  EXPECT_EQ(Expand("{{.p}}"), "<no value>");
}

// case 32
TEST(TextTemplate, Computes) {
  EXPECT_EQ(Expand("{{DivideInt 7 2}}"), "3");
  EXPECT_EQ(Expand("{{DivideInt -7 2}}"), "-3");
  EXPECT_EQ(Expand("{{DivideFloat 7 2}}"), "3.5");
  EXPECT_EQ(Expand("{{Mod 13 12}}"), "1");
  EXPECT_EQ(Expand("{{AddInt \"2\" 3}}"), "5");
  EXPECT_EQ(Expand("{{MultiplyInt 2 3 4}}"), "24");
  EXPECT_EQ(Expand("{{SubtractInt 2 3}}"), "-1");
  EXPECT_THAT(Expand("{{DivideInt 1 0}}"), testing::HasSubstr("division by zero"));
  EXPECT_THAT(Expand("{{Mod 1 0}}"), testing::HasSubstr("division by zero"));
  EXPECT_THAT(Expand("{{Int \"x\"}}"), testing::HasSubstr("cannot cast x to int"));
  EXPECT_THAT(Expand("{{AddInt .m 1}}", {{"m", json::array{}}}),
              testing::HasSubstr("cannot cast [] to float64"));
}

// case 33
TEST(TextTemplate, RangesOverNumbers) {
  EXPECT_EQ(Expand("{{range 3}}{{.}}{{end}}"), "012");
  EXPECT_EQ(Expand("{{range $i := (.n | Int)}}<{{$i}}>{{end}}", {{"n", 2.0}}), "<0><1>");
  EXPECT_EQ(Expand("{{range 0}}x{{end}}"), "");
  EXPECT_EQ(Expand("{{range 0}}x{{else}}none{{end}}"), "none");
  EXPECT_EQ(Expand("{{range $i, $e := .l}}{{$i}}={{$e}} {{end}}", {{"l", json::array{"a", "b"}}}),
            "0=a 1=b ");
  EXPECT_EQ(Expand("{{range 2}}{{range 2}}{{$.x}}{{end}}{{end}}", {{"x", "y"}}), "yyyy");
  EXPECT_THAT(Expand("{{range .n}}x{{end}}", {{"n", 2.0}}), testing::HasSubstr("range can't iterate over 2"));
}

// case 34
TEST(TextTemplate, TakesTheFirstThatIsNotEmpty) {
  EXPECT_EQ(Expand("{{or .x 10}}"), "10");
  EXPECT_EQ(Expand("{{or .x 10}}", {{"x", 0.0}}), "10");
  EXPECT_EQ(Expand("{{or .x 10}}", {{"x", ""}}), "10");
  EXPECT_EQ(Expand("{{or .x 10}}", {{"x", 5.0}}), "5");
  EXPECT_EQ(Expand("{{(or .s nil) | JSON}}"), "null");
  EXPECT_EQ(Expand("{{.s | JSON}}", {{"s", json::array{json::object{{"b", "x && y"}, {"a", 1.0}}}}}),
            R"([{"a":1,"b":"x && y"}])");
}

// case 35
TEST(TextTemplate, Compares) {
  const char* const text = "{{if eq .class \"a\"}}yes{{else}}no{{end}}";
  EXPECT_EQ(Expand(text), "no");
  EXPECT_EQ(Expand(text, {{"class", "a"}}), "yes");
  EXPECT_EQ(Expand(text, {{"class", "b"}}), "no");
  EXPECT_THAT(Expand(text, {{"class", 3.0}}), testing::HasSubstr("incompatible types for comparison"));
  EXPECT_EQ(Expand("{{if ge 3 3}}{{if lt 1 2}}x{{end}}{{end}}"), "x");
  EXPECT_EQ(Expand("{{if eq 1 2}}a{{else if eq 1 1}}b{{else}}c{{end}}"), "b");
}

TEST(TextTemplate, VariablesLiveInTheirBlock) {
  EXPECT_EQ(Expand("{{$n := or .n 2}}{{range 2}}{{$n := .}}{{end}}{{$n}}"), "2");
  EXPECT_EQ(Expand("{{$n := 7}}{{range 2}}{{$n = .}}{{end}}{{$n}}"), "1");
  EXPECT_THAT(Expand("{{$missing}}"), testing::HasSubstr("undefined variable \"$missing\""));
}

TEST(TextTemplate, TrimsAndSkipsComments) {
  EXPECT_EQ(Expand("a  {{- 1 -}}  b"), "a1b");
  EXPECT_EQ(Expand("a{{/* nothing */}}b"), "ab");
  EXPECT_EQ(Expand("{{\"}}\"}}"), "}}");
}

TEST(TextTemplate, RefusesWhatItCannotRead) {
  for (const char* text : {"{{", "{{if .x}}", "{{end}}", "{{else}}", "{{with .x}}{{end}}", "{{printf 1}}",
                           "{{\"a}}", "{{(1}}", "{{1 2}}", "{{}}", "{{.x | }}", "{{3x}}"}) {
    EXPECT_FALSE(TextTemplate::Parse(text).has_value()) << text;
  }
  EXPECT_EQ(TextTemplate::Parse("a\nb\n{{end}}").error().message, "template: line 3: unexpected end");
}

json::object MakePod(std::string_view text) {
  const auto made = ObjectTemplate::Parse(text, wire::Schema::Get().FindMessage("core.v1.Pod"));
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return *made->Make({{"Index", 4}});
}

// case 3
TEST(ObjectTemplate, KeysOfATypedObjectMatchInAnyCase) {
  const json::object pod = MakePod(
      "metadata: {name: \"pod-{{.Index}}\", labels: {a: 1, b: true}}\n"
      "spec: {topologySpreadConstraints: [{maxSkew: 1, NodeAffinityPolicy: Honor}]}");
  EXPECT_EQ(pod.at("metadata").at("name"), "pod-4");
  EXPECT_EQ(pod.at("metadata").at("labels"), (json::object{{"a", "1"}, {"b", "true"}}));
  EXPECT_EQ(pod.at("spec").at("topologySpreadConstraints").at(0),
            (json::object{{"nodeAffinityPolicy", "Honor"}, {"maxSkew", 1}}));
  const auto bad =
      ObjectTemplate::Parse("spec: {colour: red}", wire::Schema::Get().FindMessage("core.v1.Pod"));
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message, "spec: unknown field \"colour\"");
}

TEST(ObjectTemplate, AFreeObjectIsLeftAsItIs) {
  const auto made = ObjectTemplate::Parse("SPEC: {NodeAffinityPolicy: 1}", nullptr);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->Make({})->at("SPEC"), (json::object{{"NodeAffinityPolicy", 1}}));
}

}  // namespace
}  // namespace berth::bench
