#include "api/quantity.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace berth::api {
namespace {

using Format = Quantity::Format;

constexpr std::int64_t kIntMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kIntMin = std::numeric_limits<std::int64_t>::min();

Quantity Q(std::string_view text) {
  auto parsed = Quantity::Parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(Quantity());
}

struct TextCase {
  std::string_view in;
  std::string_view string;
  std::string_view canonical;
  Format format = Format::kDecimalSi;
};

class QuantityTextTest : public testing::TestWithParam<TextCase> {};

// Case 9 of the chapter on the wire.
TEST_P(QuantityTextTest, IsKeptOrMadeCanonical) {
  const Quantity quantity = Q(GetParam().in);
  EXPECT_EQ(quantity.ToString(), GetParam().string);
  EXPECT_EQ(quantity.Canonical(), GetParam().canonical);
  EXPECT_EQ(quantity.format(), GetParam().format);
}

INSTANTIATE_TEST_SUITE_P(
    Quantity, QuantityTextTest,
    testing::Values(
        TextCase{"0", "0", "0"}, TextCase{"-0", "0", "0"}, TextCase{"1500m", "1500m", "1500m"},
        TextCase{"1.5", "1500m", "1500m"}, TextCase{"0.50", "500m", "500m"},
        TextCase{"100000", "100k", "100k"},
        // Upstream takes these for canonical, so they go back as they came.
        TextCase{"+5", "+5", "5"}, TextCase{"007", "007", "7"}, TextCase{"12.345", "12.345", "12345m"},
        TextCase{"1.", "1.", "1"}, TextCase{"1E3", "1E3", "1e3", Format::kDecimalExponent},
        TextCase{"1e+3", "1e+3", "1e3", Format::kDecimalExponent},
        TextCase{"1e0", "1e0", "1", Format::kDecimalExponent},
        TextCase{"1E300", "1E300", "1e300", Format::kDecimalExponent},
        TextCase{"007Ki", "007Ki", "7Ki", Format::kBinarySi},
        TextCase{"1024Mi", "1Gi", "1Gi", Format::kBinarySi},
        TextCase{"1.5Gi", "1536Mi", "1536Mi", Format::kBinarySi},
        TextCase{"1.1Ki", "1126400m", "1126400m", Format::kBinarySi},
        // Binary below 1 is decimal, and so is its text below 1024.
        TextCase{"0.0001Ki", "102400u", "102400u"}, TextCase{"0.5Ki", "512", "512", Format::kBinarySi},
        TextCase{"1e400", "10e399", "10e399", Format::kDecimalExponent}, TextCase{"0.1n", "1n", "1n"},
        TextCase{"-0.1n", "-1n", "-1n"}, TextCase{"1.0000000001", "1000000001n", "1000000001n"},
        TextCase{"9Ei", "9223372036854775807", "9223372036854775807", Format::kBinarySi},
        TextCase{"-9Ei", "-9223372036854775807", "-9223372036854775807", Format::kBinarySi},
        TextCase{"99999999999999999999999999", "99999999999999999999999999", "99999999999999999999999999"}));

// Upstream drops the suffix beyond E and writes 1 for ten to the thirtieth.
TEST(Quantity, WritesZerosWhereThereIsNoSuffix) {
  EXPECT_EQ(Q("1000000000000000000000000000000").ToString(), "1000000000000E");
  EXPECT_EQ(Q("1000E").ToString(), "1000E");
  Quantity sum = Q("1024Pi");
  for (int doublings = 0; doublings < 10; ++doublings) sum.Add(Quantity(sum));
  EXPECT_EQ(sum.ToString(), "1024Ei");
}

// Case 10 of the chapter on the wire.
TEST(Quantity, RefusesWithUpstreamsReason) {
  for (const std::string_view text : {"", " ", "1 ", "1.2.3", "1e2e3", "1e+-3", "0x10", "1,000"}) {
    EXPECT_EQ(Quantity::Parse(text).error(), Quantity::ParseError::kSyntax) << text;
  }
  for (const std::string_view text : {"1K", "1ki", "1i", "1e", "1em3", "--1", "+-1", "1e+", "1Mii"}) {
    EXPECT_EQ(Quantity::Parse(text).error(), Quantity::ParseError::kSuffix) << text;
  }
  for (const std::string_view text : {"Pi", "-Ei", ".Pi", "e-10"}) {
    EXPECT_EQ(Quantity::Parse(text).error(), Quantity::ParseError::kNumeric) << text;
  }
  EXPECT_EQ(Quantity::ParseErrorText(Quantity::ParseError::kSyntax),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

TEST(Quantity, AcceptsNumbersWithoutDigitsAsZero) {
  for (const std::string_view text : {"+", "-", ".", "m", "Ki", "e3"}) EXPECT_TRUE(Q(text).IsZero()) << text;
}

// Upstream cuts exponents to 32 bits and reads ten to the 4294967296th as 1.
TEST(Quantity, RefusesExponentsBeyondInt32) {
  EXPECT_EQ(Quantity::Parse("1e4294967296").error(), Quantity::ParseError::kSuffix);
  EXPECT_EQ(Quantity::Parse("1e-2147483649").error(), Quantity::ParseError::kSuffix);
  EXPECT_EQ(Q("1e2147483647").ToString(), "10e2147483646");
}

// Case 9 of the chapter on the wire.
TEST(Quantity, RoundsAwayFromZero) {
  const std::pair<std::string_view, std::int64_t> values[] = {
      {"1500m", 2}, {"-1500m", -2}, {"1n", 1}, {"-1n", -1}, {"0.1Ki", 103}, {"-0.1Ki", -103}, {"2000m", 2}};
  for (const auto& [text, value] : values) EXPECT_EQ(Q(text).Value(), value) << text;
  EXPECT_EQ(Q("1n").MilliValue(), 1);
  EXPECT_EQ(Q("-0.1Ki").MilliValue(), -102400);
  EXPECT_EQ(Q("-954Ti").Value(), -1048934092898304);
  EXPECT_EQ(Q("12345678901.123456789").MilliValue(), 12345678901124);
}

// Cases 1 to 6 of the chapter about node plugins.
TEST(Quantity, AmountsThatNodesAndPodsName) {
  EXPECT_EQ(Q("0.5m").MilliValue(), 1);
  EXPECT_EQ(Q("1n").MilliValue(), 1);
  EXPECT_EQ(Q("1n").Value(), 1);
  const std::pair<std::string_view, std::int64_t> values[] = {{"0.1Gi", 107374183},
                                                              {"1.5Gi", 1610612736},
                                                              {"8Ei", kIntMax},
                                                              {"16Ei", kIntMax},
                                                              {"1e30", kIntMax},
                                                              {"9E", 9000000000000000000},
                                                              {"1E", 1000000000000000000},
                                                              {"1E3", 1000},
                                                              {"1e3", 1000},
                                                              {"1e+3", 1000},
                                                              {"-0", 0}};
  for (const auto& [text, value] : values) EXPECT_EQ(Q(text).Value(), value) << text;
  EXPECT_EQ(Quantity::Parse("1 Gi").error(), Quantity::ParseError::kSyntax);
  EXPECT_EQ(Quantity::Parse(".Ei").error(), Quantity::ParseError::kNumeric);
  EXPECT_EQ(Q("9223372036854775807").MilliValue(), kIntMax);
}

TEST(Quantity, SaturatesWhatDoesNotFit) {
  EXPECT_EQ(Q("10E").Value(), kIntMax);
  EXPECT_EQ(Q("-10E").Value(), kIntMin);
  EXPECT_EQ(Q("8Ei").MilliValue(), kIntMax);
  EXPECT_EQ(Q("1e2000000000").Value(), kIntMax);
  EXPECT_FALSE(Q("1e19").ValueFits());
  EXPECT_TRUE(Q("9E").ValueFits());
  EXPECT_FALSE(Q("9E").MilliValueFits());
  EXPECT_TRUE(Q("-9223372036854775808").ValueFits());
  EXPECT_EQ(Q("-9223372036854775808").Value(), kIntMin);
}

TEST(Quantity, ComparesNumbersNotTexts) {
  EXPECT_EQ(Q("1"), Q("1000m"));
  EXPECT_EQ(Q("1Ki"), Q("1024"));
  EXPECT_EQ(Q("1e128"), Q("10e127"));
  EXPECT_LT(Q("1").Compare(Q("1000000001n")), 0);
  EXPECT_GT(Q("1e30").Compare(Q("999999999999999999999999999999")), 0);
  EXPECT_LT(Q("-1e30").Compare(Q("-999999999999999999999999999999")), 0);
  EXPECT_LT(Q("-1n").Compare(Q("0")), 0);
  EXPECT_GT(Q("1e2147483647").Compare(Q("9E")), 0);
}

TEST(Quantity, SumTakesTheFormatOfTheOtherWhenItWasZero) {
  Quantity sum;
  sum.Add(Q("1Ki"));
  EXPECT_EQ(sum.format(), Format::kBinarySi);
  sum.Add(Q("1000"));
  EXPECT_EQ(sum.format(), Format::kBinarySi);
  EXPECT_EQ(sum.ToString(), "2024");
  Quantity difference = Q("0Ki");
  difference.Sub(Q("1e3"));
  EXPECT_EQ(difference.ToString(), "-1e3");
}

// Rounding happens once, when the integer is taken.
TEST(Quantity, SumsAreExact) {
  Quantity sum = Q("500m");
  sum.Add(Q("500m"));
  EXPECT_EQ(sum.Value(), 1);
  Quantity large = Quantity::FromInt(kIntMax);
  large.Add(Quantity::FromInt(kIntMax));
  EXPECT_EQ(large.Canonical(), "18446744073709551614");
  Quantity least = Quantity::FromInt(kIntMin);
  least.Sub(Quantity::FromInt(kIntMin));
  EXPECT_TRUE(least.IsZero());
}

TEST(Quantity, ChangesDropTheText) {
  Quantity quantity = Q("+5");
  quantity.Add(Quantity());
  EXPECT_EQ(quantity.ToString(), "5");
  Quantity rounded = Q("+5");
  EXPECT_TRUE(rounded.RoundUp(-3));
  EXPECT_EQ(rounded.ToString(), "+5");  // nothing to round: not changed
}

// Nobody may make a scheduler compute two billion digits.
TEST(Quantity, AbsurdExponentsCostNothing) {
  Quantity sum = Q("1");
  sum.Add(Q("1e2147483647"));
  EXPECT_GT(sum.Compare(Q("1e2147483646")), 0);
  EXPECT_EQ(Q(sum.ToString()), sum);
  sum.Multiply(1000);
  EXPECT_FALSE(sum.ToString().empty());
  EXPECT_EQ(Q("1e-2147483648").ToString(), "1e-9");
  EXPECT_EQ(Q("1000e2147483647"), Q("10000e2147483646"));
  EXPECT_EQ(Q(Q("1000e2147483647").Canonical()), Q("1000e2147483647"));
}

TEST(Quantity, RoundUpReportsLoss) {
  Quantity quantity = Q("1500u");
  EXPECT_FALSE(quantity.RoundUp(-3));
  EXPECT_EQ(quantity.ToString(), "2m");
  EXPECT_TRUE(quantity.RoundUp(-3));
  Quantity big = Q("-0.1Ki");
  EXPECT_FALSE(big.RoundUp(0));
  EXPECT_EQ(big.Value(), -103);
}

TEST(Quantity, MultiplyIsExact) {
  Quantity quantity = Q("1.5Gi");
  quantity.Multiply(3);
  EXPECT_EQ(quantity.ToString(), "4608Mi");
  quantity = Quantity::FromInt(kIntMax);
  quantity.Multiply(10);
  EXPECT_EQ(quantity.ToString(), "92233720368547758070");
  quantity.Multiply(0);
  EXPECT_TRUE(quantity.IsZero());
}

TEST(Quantity, ApproximateFloatIsNearAndKnowsInfinity) {
  EXPECT_EQ(Q("1.5").AsApproximateFloat(), 1.5);
  EXPECT_EQ(Q("0e400").AsApproximateFloat(), 0);
  EXPECT_EQ(Q("1e400").AsApproximateFloat(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Q("-1e400").AsApproximateFloat(), -std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(Q("1000000000000000000000000000000").AsApproximateFloat(), 1e30);
}

TEST(Quantity, FromScaledRoundsAtNano) {
  EXPECT_EQ(Quantity::FromScaled(1, -12, Format::kDecimalSi).ToString(), "1n");
  EXPECT_EQ(Quantity::FromScaled(-5001, -12, Format::kDecimalSi).ToString(), "-6n");
  EXPECT_EQ(Quantity::FromMilli(1500).ToString(), "1500m");
  EXPECT_EQ(Quantity::FromScaled(kIntMin, 0, Format::kBinarySi).ToString(), "-8Ei");
}

TEST(Quantity, CopiesAreIndependent) {
  const Quantity original = Q("123456789012345678901234567890");
  Quantity copy = original;
  copy.Add(Q("1"));
  EXPECT_EQ(original.ToString(), "123456789012345678901234567890");
  EXPECT_EQ(copy.ToString(), "123456789012345678901234567891");
  copy = original;
  EXPECT_EQ(copy, original);
  const Quantity moved = std::move(copy);
  EXPECT_EQ(moved, original);
}

TEST(Quantity, IsSmall) { EXPECT_LE(sizeof(Quantity), 24U); }

}  // namespace
}  // namespace berth::api
