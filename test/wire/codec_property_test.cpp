#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <string>
#include <string_view>
#include <vector>

#include "any_object.h"
#include "wire/bindings/devices.h"
#include "wire/bindings/events.h"
#include "wire/bindings/lease.h"
#include "wire/bindings/list.h"
#include "wire/bindings/node.h"
#include "wire/bindings/pod.h"
#include "wire/bindings/pod_group.h"
#include "wire/bindings/priority_class.h"
#include "wire/bindings/storage.h"
#include "wire/bindings/workloads.h"
#include "wire/bindings/writes.h"
#include "wire/codec.h"

// The laws that hold for every kind, checked on objects that a generator fills by the bindings.
namespace berth::wire {
namespace {

template <class T>
class CodecProperty : public testing::Test {};

using Kinds =
    testing::Types<api::Pod, api::Node, api::Namespace, api::Service, api::ReplicationController,
                   api::ReplicaSet, api::StatefulSet, api::PodDisruptionBudget, api::PersistentVolume,
                   api::PersistentVolumeClaim, api::StorageClass, api::CSINode, api::CSIDriver,
                   api::CSIStorageCapacity, api::VolumeAttachment, api::ResourceClaim, api::ResourceSlice,
                   api::DeviceClass, api::DeviceTaintRule, api::PodGroup, api::CompositePodGroup,
                   api::PriorityClass, api::Lease, api::Event, api::CoreEvent, api::Binding, api::Eviction,
                   api::Status, api::DeleteOptions, api::List<api::Pod>, api::List<api::Node>,
                   api::List<api::ResourceSlice>>;
TYPED_TEST_SUITE(CodecProperty, Kinds);

// Not templates: thirty kinds and six laws would otherwise cost minutes of compilation.
void ForAnySeed(const std::function<void(std::uint64_t)>& law) {
  EXPECT_TRUE(rc::check([&] { law(*rc::gen::arbitrary<std::uint64_t>()); }));
}
void Require(bool holds, const std::string& what) {
  if (!holds) RC_FAIL(what);
}
template <class T>
void RequireDecoded(const base::Result<T>& decoded, const T& want) {
  Require(decoded.has_value(), decoded ? "" : decoded.error().message);
  Require(*decoded == want, "decoded object differs");
}

TYPED_TEST(CodecProperty, ProtobufComesBackEqual) {
  ForAnySeed([](std::uint64_t seed) {
    const auto object = test::AnyObject(seed).Make<TypeParam>();
    const auto decoded = DecodeProtobuf<TypeParam>(EncodeProtobuf(object));
    RequireDecoded(decoded, object);
    // Equal quantities may still differ in their text, and the text is what other programs see.
    Require(EncodeProtobuf(*decoded) == EncodeProtobuf(object), "bytes differ");
  });
}

// Strict reading has to accept all that berth writes: every key it writes is in the schema.
TYPED_TEST(CodecProperty, JsonComesBackEqualLenientAndStrict) {
  ForAnySeed([](std::uint64_t seed) {
    const auto object = test::AnyObject(seed).Make<TypeParam>();
    const std::string text = EncodeJson(object);
    for (const Strictness strictness : {Strictness::kLenient, Strictness::kStrict}) {
      const auto decoded = DecodeJson<TypeParam>(text, strictness);
      RequireDecoded(decoded, object);
      Require(EncodeJson(*decoded) == text, "text differs");
    }
  });
}

// A peer may be newer than berth: fields it does not know, of any wire type, change nothing.
TYPED_TEST(CodecProperty, UnknownProtobufFieldsChangeNothing) {
  static constexpr std::string_view kUnknown[] = {
      std::string_view("\xf8\xf0\x04\x01", 4),                               // 9999: varint
      std::string_view("\xf9\xf0\x04\x01\x02\x03\x04\x05\x06\x07\x08", 11),  // 64 bits
      std::string_view("\xfa\xf0\x04\x02hi", 6),                             // bytes
      std::string_view("\xfb\xf0\x04\x08\x01\xfc\xf0\x04", 8),               // a group
      std::string_view("\xfd\xf0\x04\x01\x02\x03\x04", 7),                   // 32 bits
  };
  ForAnySeed([](std::uint64_t seed) {
    const auto object = test::AnyObject(seed).Make<TypeParam>();
    const std::string bytes = EncodeProtobuf(object);
    for (const std::string_view unknown : kUnknown) {
      RequireDecoded(DecodeProtobuf<TypeParam>(std::string(unknown) + bytes + std::string(unknown)), object);
    }
  });
}

TYPED_TEST(CodecProperty, CutProtobufIsAnErrorOrAnObject) {
  ForAnySeed([](std::uint64_t seed) {
    const std::string bytes = EncodeProtobuf(test::AnyObject(seed).Make<TypeParam>());
    // Every length for small objects, a sample for large ones; an exact copy lets a sanitizer see each
    // overrun.
    const std::size_t step = 1 + bytes.size() / 400;
    for (std::size_t size = 0; size < bytes.size(); size += step) {
      const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const auto decoded = DecodeProtobuf<TypeParam>({cut.data(), cut.size()});
      Require(decoded.has_value() || !decoded.error().message.empty(), "an error without words");
    }
  });
}

TYPED_TEST(CodecProperty, ChangedBytesGiveAnErrorOrAnObject) {
  ForAnySeed([](std::uint64_t seed) {
    test::AnyObject any(seed);
    const auto object = any.Make<TypeParam>();
    std::string bytes = EncodeProtobuf(object);
    std::string text = EncodeJson(object);
    for (int round = 0; round < 30; ++round) {
      if (!bytes.empty()) bytes[any.Below(bytes.size())] = static_cast<char>(any.Below(256));
      text[any.Below(text.size())] = static_cast<char>(any.Below(256));
      const auto from_bytes = DecodeProtobuf<TypeParam>(bytes);
      if (from_bytes) RequireDecoded(DecodeProtobuf<TypeParam>(EncodeProtobuf(*from_bytes)), *from_bytes);
      const auto from_text = DecodeJson<TypeParam>(text);
      if (from_text)
        Require(DecodeJson<TypeParam>(EncodeJson(*from_text)).has_value(), "own JSON is unreadable");
      (void)DecodeJson<TypeParam>(text, Strictness::kStrict);
    }
  });
}

TYPED_TEST(CodecProperty, CutJsonIsAnError) {
  ForAnySeed([](std::uint64_t seed) {
    const std::string text = EncodeJson(test::AnyObject(seed).Make<TypeParam>());
    const std::size_t step = 1 + text.size() / 60;
    for (std::size_t size = 0; size < text.size(); size += step) {
      Require(!DecodeJson<TypeParam>(std::string_view(text).substr(0, size)).has_value(),
              "half a text decodes");
    }
  });
}

}  // namespace
}  // namespace berth::wire
