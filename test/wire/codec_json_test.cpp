#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "api/affinity.h"
#include "api/devices.h"
#include "api/events.h"
#include "api/lease.h"
#include "api/list.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/storage.h"
#include "api/writes.h"
#include "wire/codec.h"

namespace berth::wire {
namespace {

template <class T>
std::string ErrorOf(std::string_view text, Strictness strictness = Strictness::kLenient) {
  const auto decoded = DecodeJson<T>(text, strictness);
  return decoded ? "no error" : decoded.error().message;
}

// Case 12.
TEST(JsonDecode, ListItemsNeedNoKindAndMayBeNull) {
  const auto list = DecodeJson<api::List<api::Pod>>(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}},{}]})");
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->metadata.resource_version, "7");
  ASSERT_EQ(list->items.size(), 2u);
  EXPECT_EQ(list->items[0].metadata.name, "a");
  EXPECT_EQ(DecodeJson<api::List<api::Pod>>(R"({"items":null})"), api::List<api::Pod>{});
}

TEST(JsonDecode, NullIsAbsent) {
  const auto term =
      DecodeJson<api::PodAffinityTerm>(R"({"labelSelector":{},"namespaceSelector":null,"topologyKey":null})");
  ASSERT_TRUE(term.has_value());
  EXPECT_TRUE(term->label_selector.has_value());
  EXPECT_FALSE(term->namespace_selector.has_value());
  EXPECT_EQ(DecodeJson<api::Pod>("null"), api::Pod{});
}

TEST(JsonDecode, InlinedFieldsAreInTheParent) {
  const auto volume =
      DecodeJson<api::Volume>(R"({"name":"v","persistentVolumeClaim":{"claimName":"c"},"emptyDir":{}})");
  ASSERT_TRUE(volume.has_value());
  EXPECT_EQ(volume->volume_source.persistent_volume_claim->claim_name, "c");
  EXPECT_EQ(EncodeJson(*volume), R"({"name":"v","persistentVolumeClaim":{"claimName":"c"}})");
}

TEST(JsonDecode, LastDuplicateWinsAndObjectsMerge) {
  const auto pod = DecodeJson<api::Pod>(
      R"({"metadata":{"name":"a","labels":{"x":"1","x":"2"}},"metadata":{"uid":"u","labels":{"y":"3"}},)"
      R"("spec":{"priority":1,"priority":2,"tolerations":[{"key":"a"}],"tolerations":[{"key":"b"}]}})");
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->metadata.name, "a");
  EXPECT_EQ(pod->metadata.uid, "u");
  EXPECT_EQ(pod->metadata.labels, (api::StringMap{{"x", "2"}, {"y", "3"}}));
  EXPECT_EQ(pod->spec.priority, 2);
  ASSERT_EQ(pod->spec.tolerations->size(), 1u);
  EXPECT_EQ((*pod->spec.tolerations)[0].key, "b");
}

TEST(JsonDecode, KeysAreCaseSensitive) { EXPECT_EQ(DecodeJson<api::Taint>(R"({"Key":"a"})")->key, ""); }

TEST(JsonDecode, EscapesAndBadUtf8ReadAsInGo) {
  EXPECT_EQ(DecodeJson<api::Taint>(R"({"key":"\u00e4\ud83d\udea2\/\n"})")->key,
            "\xc3\xa4\xf0\x9f\x9a\xa2/\n");
  EXPECT_EQ(DecodeJson<api::Taint>(R"({"key":"\ud800x\udc00"})")->key, "\xef\xbf\xbdx\xef\xbf\xbd");
  EXPECT_EQ(DecodeJson<api::Taint>("{\"key\":\"a\xff\"}")->key, "a\xef\xbf\xbd");
  EXPECT_EQ(DecodeJson<api::Taint>(R"({"k\u0065y":"a"})")->key, "a");
}

// Case 8.
TEST(JsonDecode, TimesTakeAnyOffsetAndNull) {
  const auto meta = DecodeJson<api::ObjectMeta>(
      R"({"creationTimestamp":"2026-08-20T18:59:46.5+02:00","deletionTimestamp":null})");
  ASSERT_TRUE(meta.has_value());
  EXPECT_EQ(api::FormatTime(meta->creation_timestamp), "2026-08-20T16:59:46Z");
  EXPECT_FALSE(meta->deletion_timestamp.has_value());
  EXPECT_TRUE(DecodeJson<api::ObjectMeta>(R"({"creationTimestamp":null})")->creation_timestamp.IsZero());
  EXPECT_NE(ErrorOf<api::ObjectMeta>(R"({"creationTimestamp":"2026-13-20T18:59:46Z"})"), "no error");
}

// Case 10.
TEST(JsonDecode, QuantitiesMayBeTextOrNumber) {
  const auto list = DecodeJson<api::ResourceRequirements>(
      R"({"requests":{"a":"1.5","b":2,"c":" 2 ","d":1e3,"e":null,"f":"0.0000000001"}})");
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->requests.find("a")->Canonical(), "1500m");
  EXPECT_EQ(list->requests.find("b")->Value(), 2);
  EXPECT_EQ(list->requests.find("c")->Value(), 2);
  EXPECT_EQ(list->requests.find("d")->Value(), 1000);
  EXPECT_TRUE(list->requests.find("e")->IsZero());
  EXPECT_EQ(list->requests.find("f")->Canonical(), "1n");
  EXPECT_EQ(ErrorOf<api::ResourceRequirements>(R"({"requests":{"cpu":"1K"}})"),
            "requests[cpu]: unable to parse quantity's suffix");
  EXPECT_EQ(ErrorOf<api::ResourceRequirements>(R"({"requests":{"cpu":[]}})"),
            "requests[cpu]: expected a quantity, got an array");
}

struct WrongTypeCase {
  std::string_view name;
  std::string_view text;
  std::string_view want;
};

class WrongJson : public testing::TestWithParam<WrongTypeCase> {};

TEST_P(WrongJson, IsAnErrorWithThePath) { EXPECT_EQ(ErrorOf<api::Pod>(GetParam().text), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    Pod, WrongJson,
    testing::Values(WrongTypeCase{"NumberAsText", R"({"spec":{"priority":"1"}})",
                                  "spec.priority: expected an integer, got a string"},
                    WrongTypeCase{"Fraction", R"({"spec":{"priority":1.5}})",
                                  "spec.priority: 1.5 is no integer of 32 bits"},
                    WrongTypeCase{"Exponent", R"({"spec":{"priority":1e3}})",
                                  "spec.priority: 1e3 is no integer of 32 bits"},
                    WrongTypeCase{"TooLargeFor32Bits", R"({"spec":{"priority":2147483648}})",
                                  "spec.priority: 2147483648 does not fit an integer of 32 bits"},
                    WrongTypeCase{"TooLargeFor64Bits", R"({"metadata":{"generation":9223372036854775808}})",
                                  "metadata.generation: 9223372036854775808 is no integer of 64 bits"},
                    WrongTypeCase{"TextAsNumber", R"({"spec":{"nodeName":1}})",
                                  "spec.nodeName: expected a string, got a number"},
                    WrongTypeCase{"BoolAsText", R"({"spec":{"hostNetwork":"true"}})",
                                  "spec.hostNetwork: expected a boolean, got a string"},
                    WrongTypeCase{"ListAsObject", R"({"spec":{"containers":{}}})",
                                  "spec.containers: expected an array, got an object"},
                    WrongTypeCase{"ObjectAsList", R"({"spec":{"containers":[{"resources":[]}]}})",
                                  "spec.containers[0].resources: expected an object, got an array"},
                    WrongTypeCase{"RootIsList", "[]", "expected an object, got an array"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(JsonDecode, MalformedTextsAreErrors) {
  for (const std::string_view text :
       {"", " ", "{", "}", "{\"spec\"", "{\"spec\":", "{\"spec\":}", "{\"spec\":{}", "{} {}", "{},",
        "{\"spec\":nul}", "{\"spec\":{\"hostNetwork\":tru}}", "nul", "{\"metadata\":{\"name\":\"a}}",
        "{\"metadata\":{\"name\":\"\\x\"}}", "{\"metadata\":{\"name\":\"a\nb\"}}"}) {
    EXPECT_FALSE(DecodeJson<api::Pod>(text).has_value()) << text;
  }
}

// The whole schema decides what is unknown, not the part of it that berth reads.
TEST(StrictJson, NamesEveryUnknownAndDuplicateKey) {
  const auto strict = [](std::string_view text) { return ErrorOf<api::Pod>(text, Strictness::kStrict); };
  EXPECT_EQ(strict(R"({"spec":{"foo":1}})"), R"(strict decoding error: unknown field "spec.foo")");
  EXPECT_EQ(strict(R"({"metadata":{"name":"a","name":"b"}})"),
            R"(strict decoding error: duplicate field "metadata.name")");
  EXPECT_EQ(
      strict(
          R"({"metadata":{"labels":{"a":"1","a":"2"}},"foo":{"bar":[]},"spec":{"containers":[{"x":1},{"x":1}]}})"),
      R"(strict decoding error: duplicate field "metadata.labels.a", unknown field "foo", )"
      R"(unknown field "spec.containers[0].x", unknown field "spec.containers[1].x")");
  // Below fields that no struct has.
  EXPECT_EQ(strict(R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":1,"prot":2}}}]}})"),
            R"(strict decoding error: unknown field "spec.containers[0].livenessProbe.httpGet.prot")");
  EXPECT_EQ(strict(R"({"spec":{"terminationGracePeriodSeconds":1,"terminationGracePeriodSeconds":2}})"),
            R"(strict decoding error: duplicate field "spec.terminationGracePeriodSeconds")");
  EXPECT_EQ(strict(R"({"kind":"Pod","kind":"Pod","apiVersion":"v1"})"),
            R"(strict decoding error: duplicate field "kind")");
}

TEST(StrictJson, AcceptsTheWholeSchemaAndTypeMeta) {
  EXPECT_EQ(ErrorOf<api::Pod>(
                R"({"kind":"Pod","apiVersion":"v1","metadata":{"managedFields":[{"fieldsV1":{"f:a":{}}}]},
      "spec":{"terminationGracePeriodSeconds":30,"volumes":[{"name":"v","projected":{"sources":[]},"emptyDir":null}],
      "containers":[{"env":[{"name":"A","value":"b"}],"livenessProbe":{"httpGet":{"port":"http"},"periodSeconds":1}}]}})",
                Strictness::kStrict),
            "no error");
  EXPECT_EQ(ErrorOf<api::Toleration>(R"({"kind":"Toleration"})", Strictness::kStrict),
            R"(strict decoding error: unknown field "kind")");
}

TEST(StrictJson, WrongTypesOfFieldsNobodyReadsAreErrorsToo) {
  EXPECT_EQ(ErrorOf<api::Pod>(R"({"spec":{"terminationGracePeriodSeconds":"30"}})", Strictness::kStrict),
            "spec.terminationGracePeriodSeconds: expected an integer, got a string");
  EXPECT_EQ(ErrorOf<api::Pod>(R"({"spec":{"terminationGracePeriodSeconds":"30"}})"), "no error");
}

TEST(JsonEncode, EscapesAsGoDoes) {
  EXPECT_EQ(EncodeJson(api::PodSchedulingGate{.name = "<&>\"\\\b\f\n\r\t\x01\x7f\xe2\x80\xa8\xc3\xa4\xff"}),
            "{\"name\":\"\\u003c\\u0026\\u003e\\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7f\\u2028\xc3\xa4\\ufffd\"}");
}

TEST(JsonEncode, LeavesOutWhatGoLeavesOut) {
  EXPECT_EQ(EncodeJson(api::Pod{}), R"({"metadata":{},"spec":{"containers":null},"status":{}})");
  api::PodCondition condition;
  condition.type = "Ready";
  condition.status = "True";
  EXPECT_EQ(EncodeJson(condition),
            R"({"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":null})");
  EXPECT_EQ(EncodeJson(api::Affinity{api::NodeAffinity{}, {}, {}}), R"({"nodeAffinity":{}})");
}

// Case 7.
TEST(JsonEncode, MicroTimeHasSixDigits) {
  api::LeaseSpec spec;
  spec.renew_time = api::MicroTime{.unix_micros = 1'000'000};
  EXPECT_EQ(EncodeJson(spec), R"({"renewTime":"1970-01-01T00:00:01.000000Z"})");
}

TEST(JsonEncode, RawJsonIsCompactedAndNeverBreaksTheDocument) {
  api::OpaqueDeviceConfiguration config{.driver = "d", .parameters = {R"( { "a" : [ 1 , "<b c>" ] } )"}};
  EXPECT_EQ(EncodeJson(config), R"({"driver":"d","parameters":{"a":[1,"\u003cb c\u003e"]}})");
  config.parameters.text = "{\"a\":";
  EXPECT_EQ(EncodeJson(config), R"({"driver":"d","parameters":null})");
  const auto decoded =
      DecodeJson<api::OpaqueDeviceConfiguration>(R"({"parameters": {"a" : 1} ,"driver":"d"})");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->parameters.text, R"({"a" : 1})");
}

TEST(Yaml, GoesThroughTheSameReader) {
  const auto toleration = DecodeYaml<api::Toleration>("key: a\ntolerationSeconds: 30\n");
  ASSERT_TRUE(toleration.has_value());
  EXPECT_EQ(toleration->toleration_seconds, 30);
  const auto wrong = DecodeYaml<api::Toleration>("key: a\nkye: b\n", Strictness::kStrict);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, R"(strict decoding error: unknown field "kye")");
}

}  // namespace
}  // namespace berth::wire
