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
#include "api/writes.h"
#include "wire/codec.h"
#include "wire/wire_bytes.h"

namespace berth::wire {
namespace {

using namespace std::string_view_literals;

using test::FromHex;

std::string ToHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

api::Binding BindingOfPToN() {
  api::Binding binding;
  binding.metadata.name = "p";
  binding.metadata.namespace_ = "d";
  binding.metadata.uid = "u";
  binding.target.kind = "Node";
  binding.target.name = "n";
  return binding;
}

// Case 1.
TEST(ProtobufDecode, FullAndMinimalEncodingOfABindingAreTheSame) {
  EXPECT_EQ(DecodeProtobuf<api::Binding>(FromHex("0a090a01701a01642a017512090a044e6f64651a016e")),
            BindingOfPToN());
  EXPECT_EQ(DecodeProtobuf<api::Binding>(FromHex("0a130a017012001a016422002a0175320038004200"
                                                 "12130a044e6f646512001a016e22002a0032003a00")),
            BindingOfPToN());
}

// Values are written even when they are zero: Go's readers do not need it, but equal objects then have equal
// bytes.
TEST(ProtobufEncode, ValuesAreAlwaysWritten) {
  EXPECT_EQ(ToHex(EncodeProtobuf(BindingOfPToN().target)), "0a044e6f646512001a016e22002a003200");
  EXPECT_EQ(ToHex(EncodeProtobuf(api::PodCondition{})), "0a0012001a0022002a0032003800");
  EXPECT_EQ(EncodeProtobuf(api::Affinity{}), "");
}

TEST(ProtobufEncode, MapsAreInKeyOrder) {
  EXPECT_EQ(EncodeProtobuf(api::LabelSelector{{{"b", "2"}, {"a", "1"}}, {}}),
            "\x0a\x06\x0a\x01"
            "a\x12\x01"
            "1\x0a\x06\x0a\x01"
            "b\x12\x01"
            "2"sv);
}

// Case 4.
TEST(ProtobufDecode, NegativePriorityIsATenByteVarint) {
  const std::string bytes = FromHex("c801fbffffffffffffffff01");
  const auto spec = DecodeProtobuf<api::PodSpec>(bytes);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->priority, -5);
  EXPECT_NE(EncodeProtobuf(*spec).find(bytes), std::string::npos);
  EXPECT_EQ(DecodeProtobuf<api::PodSpec>("")->priority, std::nullopt);
}

// Case 5. An empty selector matches everything and an absent one nothing, so the two must not be confused.
TEST(ProtobufDecode, PresentAndEmptyIsNotAbsent) {
  const auto present = DecodeProtobuf<api::PodAffinityTerm>("\x0a\x00"sv);
  ASSERT_TRUE(present.has_value());
  EXPECT_TRUE(present->label_selector.has_value());
  EXPECT_FALSE(present->namespace_selector.has_value());
  EXPECT_FALSE(DecodeProtobuf<api::PodAffinityTerm>("")->label_selector.has_value());
}

// Case 6.
TEST(ProtobufDecode, LastDuplicateWinsForScalarsAndMapKeys) {
  EXPECT_EQ(DecodeProtobuf<api::Taint>("\x0a\x01"
                                       "a\x0a\x01"
                                       "b"sv)
                ->key,
            "b");
  const auto selector = DecodeProtobuf<api::LabelSelector>(
      "\x0a\x06\x0a\x01"
      "a\x12\x01"
      "1\x0a\x06\x0a\x01"
      "a\x12\x01"
      "2"sv);
  EXPECT_EQ(selector->match_labels, (api::StringMap{{"a", "2"}}));
}

TEST(ProtobufDecode, RepeatedOccurrencesOfOneMessageMerge) {
  const auto pod = DecodeProtobuf<api::Pod>(
      "\x0a\x03\x0a\x01"
      "p\x0a\x03\x1a\x01"
      "d"sv);
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->metadata.name, "p");
  EXPECT_EQ(pod->metadata.namespace_, "d");
  const auto affinity = DecodeProtobuf<api::Affinity>("\x12\x02\x0a\x00\x12\x02\x12\x00"sv);
  ASSERT_TRUE(affinity.has_value());
  EXPECT_EQ(affinity->pod_affinity->required_during_scheduling_ignored_during_execution.size(), 1u);
  EXPECT_EQ(affinity->pod_affinity->preferred_during_scheduling_ignored_during_execution.size(), 1u);
}

TEST(ProtobufDecode, MapEntriesMayLackAPartOrTurnItsOrder) {
  EXPECT_EQ(DecodeProtobuf<api::LabelSelector>("\x0a\x06\x12\x01"
                                               "1\x0a\x01"
                                               "a"sv)
                ->match_labels,
            (api::StringMap{{"a", "1"}}));
  EXPECT_EQ(DecodeProtobuf<api::LabelSelector>("\x0a\x03\x0a\x01"
                                               "a"sv)
                ->match_labels,
            (api::StringMap{{"a", ""}}));
  EXPECT_EQ(DecodeProtobuf<api::LabelSelector>("\x0a\x00"sv)->match_labels, (api::StringMap{{"", ""}}));
}

TEST(ProtobufDecode, PackedListsAreAccepted) {
  const auto attribute =
      DecodeProtobuf<api::DeviceAttribute>("\x32\x03\x01\x02\x03\x30\x04\x3a\x02\x01\x00"sv);
  ASSERT_TRUE(attribute.has_value());
  EXPECT_EQ(attribute->ints, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(attribute->bools, (std::vector<bool>{true, false}));
  EXPECT_EQ(EncodeProtobuf(*attribute), "\x30\x01\x30\x02\x30\x03\x30\x04\x38\x01\x38\x00"sv);
}

// Other languages may send texts that are no UTF-8; Go keeps them, so berth does.
TEST(ProtobufDecode, TextsNeedNotBeUtf8) {
  EXPECT_EQ(DecodeProtobuf<api::Taint>("\x0a\x02\xff\xfe"sv)->key, "\xff\xfe");
}

// Case 7.
TEST(ProtobufDecode, TimesDropWhatKubernetesDrops) {
  EXPECT_TRUE(DecodeProtobuf<api::ObjectMeta>("\x42\x00"sv)->creation_timestamp.IsZero());
  EXPECT_EQ(DecodeProtobuf<api::ObjectMeta>("\x42\x04\x08\x0a\x10\x07"sv)->creation_timestamp.unix_seconds,
            10);
  // Nanoseconds of a MicroTime are cut to microseconds: 1234567 becomes 1234000.
  const auto event = DecodeProtobuf<api::Event>("\x12\x06\x08\x01\x10\x87\xad\x4b"sv);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->event_time.unix_micros, 1'001'234);
}

TEST(ProtobufDecode, TimesBeyondTheRangeOfMicrosecondsSaturate) {
  const auto event = DecodeProtobuf<api::Event>("\x12\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"sv);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->event_time.unix_micros, INT64_MAX);
}

TEST(ProtobufDecode, DeepestUnknownGroupsAreSkippedWithoutRecursion) {
  std::string bytes(1'000'000, '\x7b');  // group 15 begins
  bytes += std::string(1'000'000, '\x7c');
  bytes += "\x0a\x01k"sv;
  EXPECT_EQ(DecodeProtobuf<api::Taint>(bytes)->key, "k");
}

struct MalformedCase {
  std::string_view name;
  std::string_view bytes;
  std::string_view want;
};

class MalformedProtobuf : public testing::TestWithParam<MalformedCase> {};

// Case 6, what is malformed.
TEST_P(MalformedProtobuf, IsAnErrorThatSaysWhere) {
  const auto pod = DecodeProtobuf<api::Pod>(GetParam().bytes);
  ASSERT_FALSE(pod.has_value());
  EXPECT_EQ(pod.error().message, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Pod, MalformedProtobuf,
    testing::Values(
        MalformedCase{"TruncatedVarint", "\x80"sv, "unexpected EOF at byte 1"},
        MalformedCase{"LengthBeyondInput", "\x0a\x05\x0a"sv, "unexpected EOF at byte 2"},
        MalformedCase{"LengthBeyondParent", "\x0a\x02\x0a\x05hello"sv, "metadata: unexpected EOF at byte 4"},
        MalformedCase{"LengthOfAllBits", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv,
                      "unexpected EOF at byte 11"},
        MalformedCase{"EndlessVarint", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv,
                      "integer overflow at byte 11"},
        MalformedCase{"NumberZero", "\x02\x00"sv, "illegal tag at byte 1"},
        MalformedCase{"EndOfNoGroup", "\x7c"sv, "wiretype end group for non-group at byte 1"},
        MalformedCase{"GroupWithoutEnd", "\x7b\x08\x01"sv, "unexpected EOF at byte 3"},
        MalformedCase{"UnknownWireType", "\x7e"sv, "illegal wireType at byte 1"},
        MalformedCase{"NumberForMessage", "\x08\x01"sv, "metadata: wrong wireType = 0 at byte 0"},
        MalformedCase{"BadQuantity",
                      "\x12\x11\x12\x0f\x42\x0d\x12\x0b\x0a\x03"
                      "cpu\x12\x04\x0a\x02"
                      "1K"sv,
                      "spec.containers[0].resources.requests[cpu]: unable to parse quantity's suffix"}),
    [](const auto& test) { return std::string(test.param.name); });

// Two bytes per element must not become hundreds of bytes of memory each.
TEST(ProtobufDecode, InputOfEmptyElementsIsRefused) {
  std::string bytes;
  for (int i = 0; i < 200'000; ++i) bytes += "\x12\x00"sv;
  const auto list = DecodeProtobuf<api::List<api::Pod>>(bytes);
  ASSERT_FALSE(list.has_value());
  EXPECT_TRUE(list.error().message.ends_with("too many elements for the size of the input"));
}

TEST(KindOf, NamesGroupVersionAndList) {
  EXPECT_EQ(KindOf<api::Pod>(), (ObjectKind{"v1", "Pod"}));
  EXPECT_EQ(KindOf<api::List<api::Pod>>(), (ObjectKind{"v1", "PodList"}));
  EXPECT_EQ(KindOf<api::Lease>(), (ObjectKind{"coordination.k8s.io/v1", "Lease"}));
  EXPECT_EQ(KindOf<api::CoreEvent>(), (ObjectKind{"v1", "Event"}));
  EXPECT_EQ(KindOf<api::Status>(), (ObjectKind{"v1", "Status"}));
  EXPECT_EQ(KindOf<api::DeleteOptions>(), (ObjectKind{"v1", "DeleteOptions"}));
}

}  // namespace
}  // namespace berth::wire
