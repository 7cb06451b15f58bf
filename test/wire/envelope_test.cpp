#include "wire/envelope.h"

#include <gtest/gtest.h>
#include <string>

#include "wire/wire_bytes.h"

namespace berth::wire {
namespace {

using test::FromHex;

TEST(Envelope, HoldsKindVersionAndTheMessageWithoutCopying) {
  const base::Result<Envelope> envelope = ParseEnvelope(test::kGoBinding);
  ASSERT_TRUE(envelope) << envelope.error().message;
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "Binding");
  EXPECT_EQ(envelope->raw.size(), 0x2a);
  EXPECT_GE(envelope->raw.data(), test::kGoBinding.data());
  EXPECT_LT(envelope->raw.data(), test::kGoBinding.data() + test::kGoBinding.size());
}

TEST(Envelope, TrailingContentFieldsMayBeMissing) {
  const base::Result<Envelope> envelope = ParseEnvelope(test::kMinimalBinding);
  ASSERT_TRUE(envelope) << envelope.error().message;
  EXPECT_EQ(envelope->kind, "Binding");
  EXPECT_EQ(envelope->raw.size(), 0x16);
}

TEST(Envelope, IsWrittenByteForByteAsGoDoes) {
  EXPECT_EQ(WriteEnvelope(*ParseEnvelope(test::kGoBinding)), test::kGoBinding);
}

struct RefusedCase {
  std::string_view name;
  std::string body;
  std::string_view error;
};

class RefusedEnvelopeTest : public testing::TestWithParam<RefusedCase> {};

// Case 1, what is refused.
TEST_P(RefusedEnvelopeTest, SaysWhy) {
  const base::Result<Envelope> envelope = ParseEnvelope(GetParam().body);
  ASSERT_FALSE(envelope);
  EXPECT_EQ(envelope.error().message, GetParam().error);
}

constexpr std::string_view kNoMagic =
    "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";

INSTANTIATE_TEST_SUITE_P(Envelope, RefusedEnvelopeTest,
                         testing::Values(RefusedCase{"NoBytes", "", "empty data"},
                                         RefusedCase{"MagicAlone", FromHex("6b387300"), "empty body"},
                                         RefusedCase{"JsonText", "{}", kNoMagic},
                                         RefusedCase{"HalfTheMagic", "k8", kNoMagic},
                                         RefusedCase{"CutTypeMeta", FromHex("6b3873000a0d0a02"),
                                                     "malformed protobuf: unexpected EOF"},
                                         RefusedCase{"NumberAsRaw", FromHex("6b3873001001"),
                                                     "malformed protobuf: wrong wire type"}),
                         [](const auto& test) { return std::string(test.param.name); });

// Case 6.
TEST(Envelope, UnknownFieldsOfEveryWireTypeAreSkipped) {
  // Field 9999 as varint, 64 bits, bytes and 32 bits, before the raw message.
  const std::string body =
      FromHex("6b387300 f8f004 05 f9f004 0000000000000000 faf004 02 6162 fdf004 00000000 1203 616263");
  const base::Result<Envelope> envelope = ParseEnvelope(body);
  ASSERT_TRUE(envelope) << envelope.error().message;
  EXPECT_EQ(envelope->raw, "abc");
}

}  // namespace
}  // namespace berth::wire
