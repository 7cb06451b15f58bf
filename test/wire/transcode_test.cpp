#include "wire/transcode.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "wire/envelope.h"
#include "wire/json_document.h"
#include "wire/schema.h"
#include "wire/wire_bytes.h"

namespace berth::wire {
namespace {

using test::FromHex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const Message& MessageNamed(std::string_view name) { return *Schema::Get().FindMessage(name); }

// The JSON text of a message, or "error: ...".
std::string ToJson(std::string_view message, std::string_view bytes) {
  const base::Result<boost::json::object> document = ProtobufToDocument(MessageNamed(message), bytes);
  return document ? WriteJson(*document) : "error: " + document.error().message;
}

// The bytes of a JSON text; fails the test if there are none.
std::string ToProtobuf(std::string_view message, std::string_view text) {
  const base::Result<boost::json::value> document = ParseJson(text, {.message = &MessageNamed(message)});
  EXPECT_TRUE(document) << document.error().message;
  const base::Result<std::string> bytes = DocumentToProtobuf(MessageNamed(message), document->as_object());
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes.value_or("");
}

std::string RoundTrip(std::string_view message, std::string_view text) {
  return ToJson(message, ToProtobuf(message, text));
}

std::string Error(std::string_view message, std::string_view text) {
  const base::Result<boost::json::value> document = ParseJson(text, {.message = &MessageNamed(message)});
  if (!document) return document.error().message;
  const base::Result<std::string> bytes = DocumentToProtobuf(MessageNamed(message), document->as_object());
  return bytes ? "no error" : bytes.error().message;
}

constexpr std::string_view kBindingJson =
    R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"p","namespace":"d","uid":"u"},)"
    R"("target":{"kind":"Node","name":"n"}})";

TEST(Transcode, FullAndMinimalEncodingsAreTheSameDocument) {
  EXPECT_EQ(WriteJson(EnvelopeToDocument(test::kGoBinding).value()), kBindingJson);
  EXPECT_EQ(WriteJson(EnvelopeToDocument(test::kMinimalBinding).value()), kBindingJson);
}

TEST(Transcode, WritesByteForByteWhatGoWrites) {
  EXPECT_EQ(DocumentToEnvelope(ParseJson(kBindingJson)->as_object()).value(), test::kGoBinding);
}

TEST(Transcode, UnknownKindsAreNamed) {
  EXPECT_EQ(DocumentToEnvelope({{"kind", "Pot"}, {"apiVersion", "v1"}}).error().message,
            R"(no kind "Pot" is registered for version "v1")");
  EXPECT_EQ(EnvelopeToDocument(WriteEnvelope({"v2", "Pod", ""})).error().message,
            R"(no kind "Pod" is registered for version "v2")");
}

TEST(Transcode, PresentAndEmptyIsNotAbsent) {
  // labelSelector of a PodAffinityTerm: present with length 0, then absent.
  EXPECT_EQ(ToJson("core.v1.PodAffinityTerm", FromHex("0a00")), R"({"labelSelector":{},"topologyKey":""})");
  EXPECT_EQ(ToJson("core.v1.PodAffinityTerm", ""), R"({"topologyKey":""})");
  EXPECT_THAT(ToProtobuf("core.v1.PodAffinityTerm", R"({"labelSelector":{}})"), StartsWith(FromHex("0a00")));
  EXPECT_EQ(ToProtobuf("core.v1.PodAffinityTerm", R"({"labelSelector":null})"), FromHex("1a00"));
}

TEST(Transcode, NegativeNumbersTakeTenBytes) {
  EXPECT_THAT(ToJson("core.v1.PodSpec", FromHex("c801fbffffffffffffffff01")), HasSubstr(R"("priority":-5)"));
  EXPECT_THAT(ToProtobuf("core.v1.PodSpec", R"({"priority":-5})"),
              HasSubstr(FromHex("c801fbffffffffffffffff01")));
  EXPECT_EQ(ToJson("core.v1.PodSpec", ""), R"({"containers":null})");
}

TEST(Transcode, LastScalarWinsAndSplitMessagesAreOne) {
  EXPECT_EQ(ToJson("core.v1.ObjectReference", FromHex("1a0161 1a0162")), R"({"name":"b"})");
  // metadata twice: name in one, namespace in the other.
  EXPECT_EQ(ToJson("core.v1.Namespace", FromHex("0a030a0161 0a031a0162")),
            R"({"metadata":{"name":"a","namespace":"b"},"spec":{},"status":{}})");
}

TEST(Transcode, LastOfEqualMapKeysWinsAndKeysAreSorted) {
  // labels: b=1, a=2, b=3
  EXPECT_EQ(ToJson("meta.v1.ObjectMeta", FromHex("5a060a0162120131 5a060a0161120132 5a060a0162120133")),
            R"({"labels":{"a":"2","b":"3"}})");
  EXPECT_EQ(ToJson("meta.v1.ObjectMeta", FromHex("5a00")), R"({"labels":{"":""}})");
}

TEST(Transcode, UnknownFieldsOfEveryWireTypeAreDropped) {
  EXPECT_EQ(ToJson("core.v1.ObjectReference",
                   FromHex("f8f00405 f9f0040000000000000000 faf004026162 fdf00400000000 1a0161")),
            R"({"name":"a"})");
}

TEST(Transcode, PackedListsAreAccepted) {
  EXPECT_EQ(ToJson("resource.v1.DeviceAttribute", FromHex("3203010203")), R"({"ints":[1,2,3]})");
  EXPECT_EQ(ToJson("resource.v1.DeviceAttribute", FromHex("3001 3002")), R"({"ints":[1,2]})");
}

TEST(Transcode, MalformedBytesAreErrorsWithThePath) {
  EXPECT_EQ(ToJson("core.v1.Pod", FromHex("0a")), "error: malformed protobuf: unexpected EOF");
  EXPECT_EQ(ToJson("core.v1.Pod", FromHex("0a05 1a09 616263")),
            "error: metadata: malformed protobuf: unexpected EOF");
  EXPECT_EQ(ToJson("core.v1.Pod", FromHex("0a02 0805")),
            "error: metadata.name: malformed protobuf: wrong wire type");
  EXPECT_EQ(ToJson("core.v1.ResourceRequirements", FromHex("1207 0a0161 1203 0a01")),
            "error: requests: malformed protobuf: unexpected EOF");
  EXPECT_EQ(ToJson("core.v1.ResourceRequirements", FromHex("1208 0a0161 12030a0178")),
            "error: requests[a]: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

TEST(Transcode, TimesAreUtcSecondsAndZeroIsNull) {
  EXPECT_EQ(ToJson("meta.v1.ObjectMeta", FromHex("4200")), "{}");
  EXPECT_EQ(ToJson("meta.v1.ObjectMeta", FromHex("4204 0801 1007")),
            R"({"creationTimestamp":"1970-01-01T00:00:01Z"})");
  EXPECT_THAT(ToJson("core.v1.PodCondition", ""), HasSubstr(R"("lastProbeTime":null)"));
  EXPECT_EQ(RoundTrip("meta.v1.ObjectMeta", R"({"creationTimestamp":"2026-08-20T18:59:46.5+02:00"})"),
            R"({"creationTimestamp":"2026-08-20T16:59:46Z"})");
  EXPECT_EQ(RoundTrip("meta.v1.ObjectMeta", R"({"creationTimestamp":null})"), "{}");
  EXPECT_THAT(Error("meta.v1.ObjectMeta", R"({"creationTimestamp":"2026-13-01T00:00:00Z"})"),
              StartsWith("creationTimestamp: "));
}

TEST(Transcode, MicroTimesKeepSixDigits) {
  // renewTime of a lease: 1 s, 1234567 ns.
  EXPECT_EQ(ToJson("coordination.v1.LeaseSpec", FromHex("22060801 1087ad4b")),
            R"({"renewTime":"1970-01-01T00:00:01.001234Z"})");
  EXPECT_EQ(ToProtobuf("coordination.v1.LeaseSpec", R"({"renewTime":"1970-01-01T00:00:01.001234Z"})"),
            FromHex("22060801 10d0a84b"));
  EXPECT_EQ(RoundTrip("coordination.v1.LeaseSpec", R"({"renewTime":"1970-01-01T00:00:01.000000Z"})"),
            R"({"renewTime":"1970-01-01T00:00:01.000000Z"})");
}

TEST(Transcode, QuantitiesAreCanonicalAndMayBeNumbers) {
  const auto quantity = [](std::string_view value) {
    const std::string text = R"({"requests":{"cpu":)" + std::string(value) + "}}";
    const std::string back = RoundTrip("core.v1.ResourceRequirements", text);
    return back.substr(20, back.size() - 23);
  };
  EXPECT_EQ(quantity(R"("0.5")"), "500m");
  EXPECT_EQ(quantity(R"("1Gi")"), "1Gi");
  EXPECT_EQ(quantity(R"(" 2 ")"), "2");
  EXPECT_EQ(quantity("2"), "2");
  EXPECT_EQ(quantity("1e3"), "1e3");  // the digits as they were written, not a double
  EXPECT_EQ(quantity("null"), "0");
  EXPECT_THAT(Error("core.v1.ResourceRequirements", R"({"requests":{"cpu":true}})"),
              "requests[cpu]: expected a quantity, got a boolean");
  EXPECT_THAT(Error("core.v1.ResourceRequirements", R"({"requests":{"cpu":"1K"}})"),
              StartsWith("requests[cpu]: "));
}

// Case 10.
TEST(Transcode, IntOrStringIsEither) {
  EXPECT_EQ(RoundTrip("core.v1.HTTPGetAction", R"({"port":80})"), R"({"port":80})");
  EXPECT_EQ(RoundTrip("core.v1.HTTPGetAction", R"({"port":"50%"})"), R"({"port":"50%"})");
  EXPECT_EQ(Error("core.v1.HTTPGetAction", R"({"port":3.5})"), "port: 3.5 is no integer of 32 bits");
}

TEST(Transcode, JsonWithinJsonKeepsItsValue) {
  const std::string text = R"({"driver":"d","parameters":{"b":[1,2.5,"\u003c"],"a":null}})";
  EXPECT_EQ(RoundTrip("resource.v1.OpaqueDeviceConfiguration", text), text);
  EXPECT_THAT(ToProtobuf("resource.v1.OpaqueDeviceConfiguration", text),
              EndsWith(R"({"b":[1,2.5,"<"],"a":null})"));
  // Not set at all.
  EXPECT_EQ(ToJson("resource.v1.OpaqueDeviceConfiguration", ""), R"({"driver":"","parameters":null})");
  EXPECT_THAT(ToJson("resource.v1.OpaqueDeviceConfiguration", FromHex("1203 0a017b")),
              StartsWith("error: parameters: invalid JSON"));
}

TEST(Transcode, BytesAreBase64) {
  const std::string text = R"({"metadata":{},"data":{"a":"aGVsbG8=","b":""}})";
  EXPECT_EQ(RoundTrip("core.v1.Secret", text), text);
  EXPECT_EQ(Error("core.v1.Secret", R"({"data":{"a":"aGVsbG8"}})"), "data[a]: illegal base64 data");
  EXPECT_EQ(Error("core.v1.Secret", R"({"data":{"a":"a.=="}})"), "data[a]: illegal base64 data");
  EXPECT_EQ(RoundTrip("core.v1.Secret", R"({"data":{"a":"aGVs\nbG8="}})"),
            R"({"metadata":{},"data":{"a":"aGVsbG8="}})");
}

TEST(Transcode, ListsOfItemsHaveNoKinds) {
  EXPECT_EQ(
      RoundTrip(
          "core.v1.NamespaceList",
          R"({"metadata":{"resourceVersion":"5"},"items":[{"kind":"Namespace","metadata":{"name":"a"}}]})"),
      R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"},"spec":{},"status":{}}]})");
  EXPECT_EQ(RoundTrip("core.v1.NamespaceList", R"({"items":null})"), R"({"metadata":{},"items":null})");
}

TEST(Transcode, NamedListsAreArrays) {
  const std::string text = R"({"user":"u","extra":{"k":["a","b"],"n":null}})";
  EXPECT_EQ(RoundTrip("authorization.v1.SubjectAccessReviewSpec", text), text);
}

TEST(Transcode, NullElementsAreZeroValues) {
  EXPECT_EQ(RoundTrip("core.v1.PodSpec", R"({"containers":[null]})"),
            R"({"containers":[{"name":"","resources":{}}]})");
}

TEST(Transcode, WrongTypesAreErrorsWithThePath) {
  EXPECT_EQ(Error("core.v1.Pod", R"({"spec":{"containers":[{"name":"a"},{"name":1}]}})"),
            "spec.containers[1].name: expected a string, got a number");
  EXPECT_EQ(Error("core.v1.Pod", R"({"spec":{"priority":"1"}})"),
            "spec.priority: expected an integer, got a string");
  EXPECT_EQ(Error("core.v1.Pod", R"({"spec":{"priority":1.5}})"),
            "spec.priority: 1.5 is no integer of 32 bits");
  EXPECT_EQ(Error("core.v1.Pod", R"({"spec":{"priority":2147483648}})"),
            "spec.priority: 2147483648 does not fit an integer of 32 bits");
  EXPECT_EQ(Error("core.v1.Pod", R"({"spec":[]})"), "spec: expected an object, got an array");
  EXPECT_EQ(Error("core.v1.Pod", R"({"spec":{"containers":{}}})"),
            "spec.containers: expected an array, got an object");
  EXPECT_EQ(Error("core.v1.Pod", R"({"metadata":{"labels":[]}})"),
            "metadata.labels: expected an object, got an array");
  EXPECT_EQ(Error("core.v1.Pod", R"({"metadata":{"labels":{"a":1}}})"),
            "metadata.labels[a]: expected a string, got a number");
  EXPECT_EQ(Error("core.v1.Pod", R"({"spec":{"hostNetwork":"true"}})"),
            "spec.hostNetwork: expected a boolean, got a string");
  EXPECT_EQ(Error("core.v1.Pod", R"({"metadata":{"generation":9223372036854775808}})"),
            "metadata.generation: 9223372036854775808 does not fit an integer of 64 bits");
}

TEST(Transcode, ManyEmptyElementsDoNotFillTheMemory) {
  std::string bytes;
  for (int i = 0; i < 1'000'000; ++i) bytes += FromHex("1200");  // an empty container
  EXPECT_EQ(ToJson("core.v1.PodSpec", bytes).substr(0, 18), "error: containers[");
}

}  // namespace
}  // namespace berth::wire
