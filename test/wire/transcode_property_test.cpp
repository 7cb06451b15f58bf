#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <string>

#include "wire/any_document.h"
#include "wire/json_document.h"
#include "wire/json_path.h"
#include "wire/schema.h"
#include "wire/transcode.h"

namespace berth::wire {
namespace {

const Message& AnyKind() {
  const auto kinds = Schema::Get().kinds();
  return *kinds[*rc::gen::inRange<std::size_t>(0, kinds.size())].message;
}

base::Result<boost::json::object> ThereAndBack(const Message& message, const boost::json::object& document) {
  const base::Result<std::string> bytes = DocumentToProtobuf(message, document);
  if (!bytes) return std::unexpected(bytes.error());
  return ProtobufToDocument(message, *bytes);
}

// Every message in turn, so that no field is left out by chance.
TEST(TranscodeProperty, EveryMessageSurvivesTheWayToProtobufAndBack) {
  constexpr std::uint64_t kDocumentsPerMessage = 5;
  for (const Message& message : Schema::Get().messages()) {
    if (message.form != SpecialForm::kNone || message.name == "runtime.Unknown") continue;
    for (std::uint64_t seed = 0; seed < kDocumentsPerMessage; ++seed) {
      const boost::json::object document = test::AnyDocument(message)(rc::Random(seed), 10).value();
      const base::Result<boost::json::object> back = ThereAndBack(message, document);
      ASSERT_TRUE(back) << message.name << ": " << back.error().message;
      ASSERT_EQ(*back, document) << message.name;
    }
  }
}

TEST(TranscodeProperty, AnyKindSurvivesTheWayToProtobufAndBack) {
  EXPECT_TRUE(rc::check([] {
    const Message& message = AnyKind();
    const boost::json::object document = *test::AnyDocument(message);
    const base::Result<boost::json::object> back = ThereAndBack(message, document);
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == document);
  }));
}

TEST(TranscodeProperty, TextIsReadBackAndHasNoUnknownFields) {
  EXPECT_TRUE(rc::check([] {
    const Message& message = AnyKind();
    const boost::json::object document = *test::AnyDocument(message);
    StrictErrors strict;
    const auto back = ParseJson(WriteJson(document), {.message = &message, .strict = &strict});
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == boost::json::value(document));
    FindUnknownFields(message, *back, strict);
    RC_ASSERT(strict.empty());
  }));
}

TEST(TranscodeProperty, AnyCutIsAnErrorOrAnObject) {
  EXPECT_TRUE(rc::check([] {
    const Message& message = AnyKind();
    const std::string bytes = DocumentToProtobuf(message, *test::AnyDocument(message)).value();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      // A buffer of exactly that size, so that a sanitizer sees a read beyond it.
      const std::string cut(bytes.data(), size);
      static_cast<void>(ProtobufToDocument(message, cut));
    }
  }));
}

TEST(TranscodeProperty, WhatDamagedBytesStillMeanIsStable) {
  EXPECT_TRUE(rc::check([] {
    const Message& message = AnyKind();
    std::string bytes = DocumentToProtobuf(message, *test::AnyDocument(message)).value();
    for (int i = *rc::gen::inRange(1, 4); i > 0 && !bytes.empty(); --i) {
      bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] ^= static_cast<char>(*rc::gen::inRange(1, 256));
    }
    const base::Result<boost::json::object> document = ProtobufToDocument(message, bytes);
    if (!document) return;
    // Times beyond the year 9999 can be decoded and printed but not parsed again.
    const base::Result<std::string> again = DocumentToProtobuf(message, *document);
    if (!again) return;
    RC_ASSERT(*ProtobufToDocument(message, *again) == *document);
  }));
}

}  // namespace
}  // namespace berth::wire
