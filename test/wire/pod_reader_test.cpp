#include "wire/pod_reader.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <string>
#include <string_view>
#include <vector>

#include "any_object.h"
#include "api/list.h"
#include "api/pod_record.h"
#include "realistic_pods.h"
#include "wire/bindings/pod.h"
#include "wire/codec.h"
#include "wire/json_document.h"
#include "wire/schema.h"
#include "wire/transcode.h"

namespace berth::wire {
namespace {

using namespace std::string_view_literals;

// What the reader must give, by the long way.
class PodReaderTest : public testing::Test {
 protected:
  void ExpectSameAsPlain(std::string_view bytes) {
    const auto record = reader_.Read(bytes);
    auto pod = DecodeProtobuf<api::Pod>(bytes);
    ASSERT_EQ(record.has_value(), pod.has_value()) << (record ? pod.error() : record.error()).message;
    if (!pod) {
      EXPECT_EQ(record.error(), pod.error());
      return;
    }
    const api::PodRecord plain = api::MakeRecord(*std::move(pod), shared_);
    EXPECT_EQ(api::Expand(*record), api::Expand(plain));
    // Equal parts are the same allocation, whichever way they came.
    EXPECT_EQ(record->spec, plain.spec);
    EXPECT_TRUE(record->labels.IsSame(plain.labels));
    EXPECT_TRUE(record->annotations.IsSame(plain.annotations));
    EXPECT_EQ(record->owner_references, plain.owner_references);
    EXPECT_EQ(record->condition_types, plain.condition_types);
    EXPECT_EQ(record->resource_status, plain.resource_status);
  }

  static PodReader::Sink AppendTo(std::vector<api::PodRecord>& records) {
    return [&](api::PodRecord&& record) { records.push_back(std::move(record)); };
  }

  static std::string RealisticPod(std::size_t index) {
    const auto document = ParseJson(test::RealisticPods::Json(index));
    EXPECT_TRUE(document.has_value());
    return DocumentToProtobuf(*Schema::Get().FindMessage("core.v1.Pod"), document->as_object()).value();
  }

  api::SharedParts shared_;
  PodReader reader_{shared_};
};

TEST_F(PodReaderTest, AnyPodIsReadAsThePlainDecoderReadsIt) {
  EXPECT_TRUE(rc::check([&] {
    test::AnyObject any(*rc::gen::arbitrary<std::uint64_t>());
    const std::string bytes = EncodeProtobuf(any.Make<api::Pod>());
    ExpectSameAsPlain(bytes);
    ExpectSameAsPlain(bytes);  // from the cache
    RC_ASSERT(!HasFailure());
  }));
}

TEST_F(PodReaderTest, ChangedBytesAreReadAsThePlainDecoderReadsThem) {
  EXPECT_TRUE(rc::check([&] {
    test::AnyObject any(*rc::gen::arbitrary<std::uint64_t>());
    const std::string original =
        any.Below(2) == 0 ? EncodeProtobuf(any.Make<api::Pod>()) : RealisticPod(any.Below(80));
    ExpectSameAsPlain(original);
    for (int round = 0; round < 40; ++round) {
      std::string bytes = original;
      bytes[any.Below(bytes.size())] = static_cast<char>(any.Below(256));
      ExpectSameAsPlain(bytes);
      ExpectSameAsPlain(std::string_view(original).substr(0, any.Below(original.size())));
    }
    RC_ASSERT(!HasFailure());
  }));
}

TEST_F(PodReaderTest, RepeatedMessagesMergeAsInThePlainDecoder) {
  ExpectSameAsPlain(
      "\x0a\x03\x0a\x01"
      "p\x0a\x03\x1a\x01"
      "d\x12\x03\x52\x01n\x12\x00\x1a\x03\x0a\x01P"sv);
  // One volume whose claim comes in two pieces, and one whose source does.
  ExpectSameAsPlain(
      "\x12\x0f\x0a\x0d\x12\x0b\x52\x03\x0a\x01"
      "a\x52\x04\x0a\x02"
      "bc"sv);
  ExpectSameAsPlain("\x12\x0c\x0a\x0a\x12\x02\x32\x00\x12\x04\x52\x02\x10\x01"sv);
}

TEST_F(PodReaderTest, EmptyPodHasAnEmptyTemplate) {
  const auto record = reader_.Read("");
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->spec->spec, api::PodSpec{});
  ExpectSameAsPlain("");
}

// The reason for records: pods of one Deployment share all but what is their own.
TEST_F(PodReaderTest, PodsOfOneDeploymentShareTheirParts) {
  constexpr std::size_t kStep = test::RealisticPods::kDeployments;
  const auto first = reader_.Read(RealisticPod(0));
  const auto second = reader_.Read(RealisticPod(kStep));
  const auto other = reader_.Read(RealisticPod(1));
  ASSERT_TRUE(first && second && other);
  EXPECT_NE(first->name, second->name);
  EXPECT_NE(first->uid, second->uid);
  EXPECT_EQ(first->spec, second->spec);
  EXPECT_EQ(first->labels, second->labels);
  EXPECT_EQ(first->annotations, second->annotations);
  EXPECT_EQ(first->owner_references, second->owner_references);
  EXPECT_EQ(first->condition_types, second->condition_types);
  EXPECT_EQ(first->resource_status, second->resource_status);
  EXPECT_NE(first->spec, other->spec);
  EXPECT_EQ(first->condition_types->size(), 5u);
  EXPECT_EQ(first->conditions().size(), 1u);
}

TEST_F(PodReaderTest, SharedPartsGoWithTheirLastPod) {
  std::weak_ptr<const api::PodTemplate> spec;
  {
    const auto record = reader_.Read(RealisticPod(0));
    ASSERT_TRUE(record.has_value());
    spec = record->spec;
    EXPECT_FALSE(spec.expired());
  }
  EXPECT_TRUE(spec.expired());
  EXPECT_TRUE(reader_.Read(RealisticPod(0)).has_value());
}

TEST_F(PodReaderTest, JsonAndProtobufGiveTheSameRecord) {
  for (std::size_t i = 0; i < 50; ++i) {
    const auto from_json = reader_.ReadJson(test::RealisticPods::Json(i));
    const auto from_bytes = reader_.Read(RealisticPod(i));
    ASSERT_TRUE(from_json && from_bytes);
    EXPECT_EQ(api::Expand(*from_json), api::Expand(*from_bytes));
    EXPECT_EQ(from_json->spec, from_bytes->spec);
  }
}

TEST_F(PodReaderTest, ListsGiveTheirPodsInOrder) {
  api::List<api::Pod> list;
  list.metadata.resource_version = "42";
  list.metadata.continue_ = "more";
  for (const char* name : {"a", "b", "c"}) list.items.emplace_back().metadata.name = name;
  for (const bool json : {false, true}) {
    std::vector<api::PodRecord> records;
    const auto metadata = json ? reader_.ReadJsonList(EncodeJson(list), AppendTo(records))
                               : reader_.ReadList(EncodeProtobuf(list), AppendTo(records));
    ASSERT_TRUE(metadata.has_value()) << metadata.error().message;
    EXPECT_EQ(*metadata, list.metadata);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].name, "a");
    EXPECT_EQ(records[2].name, "c");
  }
}

TEST_F(PodReaderTest, BrokenItemOfAListIsNamed) {
  std::vector<api::PodRecord> records;
  EXPECT_EQ(reader_
                .ReadList("\x12\x05\x0a\x03\x0a\x01"
                          "a\x12\x02\x0a\x05"sv,
                          AppendTo(records))
                .error()
                .message,
            "items[1]: unexpected EOF at byte 2");
  EXPECT_EQ(records.size(), 1u);
  EXPECT_EQ(reader_.ReadJsonList(R"({"items":[{},{"spec":1}]})", AppendTo(records)).error().message,
            "items[1].spec: expected an object, got a number");
  EXPECT_EQ(reader_.ReadList("\x12\x05"sv, AppendTo(records)).error().message, "unexpected EOF");
}

}  // namespace
}  // namespace berth::wire
