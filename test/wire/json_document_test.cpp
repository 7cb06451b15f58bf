#include "wire/json_document.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "wire/json_path.h"
#include "wire/schema.h"

namespace berth::wire {
namespace {

using testing::HasSubstr;

const Message& Pod() { return *Schema::Get().FindMessage("core.v1.Pod"); }

std::string Strict(std::string_view text, const Message& message = Pod()) {
  StrictErrors strict;
  const base::Result<boost::json::value> value = ParseJson(text, {.message = &message, .strict = &strict});
  EXPECT_TRUE(value) << value.error().message;
  return strict.empty() ? "" : strict.ToString();
}

std::string Rewrite(std::string_view text) {
  const base::Result<boost::json::value> value = ParseJson(text);
  return value ? WriteJson(*value) : "error: " + value.error().message;
}

TEST(JsonDocument, UnknownFieldsAreNamedWithTheirPath) {
  EXPECT_EQ(Strict(R"({"kind":"Pod","apiVersion":"v1","spec":{"foo":1}})"),
            R"(strict decoding error: unknown field "spec.foo")");
  EXPECT_EQ(Strict(R"({"spec":{"containers":[{"name":"a"},{"Name":"b","x":{"y":1}}]},"Spec":{}})"),
            R"(strict decoding error: unknown field "spec.containers[1].Name", )"
            R"(unknown field "spec.containers[1].x", unknown field "Spec")");
}

TEST(JsonDocument, DuplicateFieldsAreNamedWithTheirPath) {
  EXPECT_EQ(Strict(R"({"metadata":{"name":"a","name":"b"}})"),
            R"(strict decoding error: duplicate field "metadata.name")");
  EXPECT_EQ(Strict(R"({"metadata":{"labels":{"a":"1","a":"2"}},"kind":"Pod","kind":"Pod"})"),
            R"(strict decoding error: duplicate field "metadata.labels.a", duplicate field "kind")");
  // An unknown field is unknown once, however often it is there.
  EXPECT_EQ(Strict(R"({"x":1,"x":2})"), R"(strict decoding error: unknown field "x")");
}

TEST(JsonDocument, InlinedFieldsAreKnownInTheParent) {
  EXPECT_EQ(Strict(R"({"spec":{"volumes":[{"name":"v","emptyDir":{},"volumeSource":{}}]}})"),
            R"(strict decoding error: unknown field "spec.volumes[0].volumeSource")");
}

TEST(JsonDocument, NothingIsReportedFromWithinWhatTheSchemaDoesNotLookInto) {
  const Message& opaque = *Schema::Get().FindMessage("resource.v1.OpaqueDeviceConfiguration");
  EXPECT_EQ(Strict(R"({"driver":"d","parameters":{"a":1,"a":2,"z":{}}})", opaque), "");
}

TEST(JsonDocument, UnknownFieldsOfADocumentAreFoundToo) {
  StrictErrors strict;
  FindUnknownFields(
      Pod(), *ParseJson(R"({"spec":{"containers":[{"nme":"a"}]},"metadata":{"labels":{"x":"y"}}})"), strict);
  EXPECT_EQ(strict.ToString(), R"(strict decoding error: unknown field "spec.containers[0].nme")");
}

TEST(JsonDocument, LastDuplicateWins) { EXPECT_EQ(Rewrite(R"({"a":1,"b":2,"a":3})"), R"({"a":3,"b":2})"); }

TEST(JsonDocument, NumbersAreWrittenAsGoDoes) {
  EXPECT_EQ(Rewrite("[0,-1,9223372036854775807,18446744073709551615,1.5,1.0,1e3,0.1]"),
            "[0,-1,9223372036854775807,18446744073709551615,1.5,1,1000,0.1]");
  EXPECT_EQ(Rewrite("[1e21,1e20,1e-6,1e-7,1.5e300,-1e-10]"),
            "[1e+21,100000000000000000000,0.000001,1e-7,1.5e+300,-1e-10]");
  EXPECT_EQ(Rewrite("[18446744073709551616,-123456789012345678901]"),
            "[18446744073709552000,-123456789012345680000]");
  EXPECT_EQ(Rewrite("1234567890123456.5"), "1234567890123456.5");
  EXPECT_THAT(Rewrite("[1e999]"), HasSubstr("error: invalid JSON"));
  EXPECT_EQ(Rewrite("12"), "12");
}

TEST(JsonDocument, StringsAreEscapedAsGoDoes) {
  EXPECT_EQ(Rewrite(R"(["<a>&\u2028\u0001\n\/\"é\ud83d\ude00"])"),
            R"(["\u003ca\u003e\u0026\u2028\u0001\n/\"é😀"])");
  EXPECT_EQ(WriteJson(*ParseJson(R"(["<a>"])"), JsonEscapes::kPlain), R"(["<a>"])");
}

TEST(JsonDocument, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(Rewrite("[\"a\xff\"]"), "[\"a\xef\xbf\xbd\"]");
}

TEST(JsonDocument, SyntaxErrorsNameTheOffset) {
  EXPECT_THAT(Rewrite(R"({"a":1,})"), HasSubstr("error: invalid JSON at offset 7"));
  EXPECT_THAT(Rewrite("{} x"), HasSubstr("error: invalid JSON"));
  EXPECT_THAT(Rewrite(""), HasSubstr("error: invalid JSON"));
  EXPECT_THAT(Rewrite(R"({"a":)"), HasSubstr("error: invalid JSON"));
}

TEST(JsonDocument, DepthAndSizeAreBounded) {
  EXPECT_THAT(Rewrite(std::string(100'000, '[')), HasSubstr("error: invalid JSON"));
  EXPECT_EQ(ParseJson("[1,2]", {.bytes_max = 4}).error().message, "the document has 5 bytes, more than 4");
}

}  // namespace
}  // namespace berth::wire
