#include "base/go_text.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

#include "base/utf8.h"

namespace berth::base {
namespace {

using namespace std::string_view_literals;

struct QuoteCase {
  std::string_view text;
  std::string_view want;
};

constexpr QuoteCase kQuoted[] = {
    {"", R"("")"},
    {"plain 'text'", R"("plain 'text'")"},
    {"a\"b\\c", R"("a\"b\\c")"},
    {"\a\b\f\n\r\t\v", R"("\a\b\f\n\r\t\v")"},
    {"\0\x1b\x7f"sv, R"("\x00\x1b\x7f")"},
    {"\u00e9\u4e16\U0001f600", "\"\u00e9\u4e16\U0001f600\""},
    {"\u00a0\u00ad\u2028\ufeff", R"("\u00a0\u00ad\u2028\ufeff")"},
    {"\U000e0001\U0010ffff", R"("\U000e0001\U0010ffff")"},
    {"\xff\xc3(", R"("\xff\xc3(")"},
    {"\xed\xa0\x80", R"("\xed\xa0\x80")"},  // a surrogate
    {"\xc0\xaf", R"("\xc0\xaf")"},          // an overlong slash
    {"\xe4\xb8", R"("\xe4\xb8")"},          // cut off
    {"\ufffd", "\"\ufffd\""},
};

TEST(QuoteGo, EqualsStrconvQuote) {
  for (const auto& [text, want] : kQuoted) EXPECT_EQ(QuoteGo(text), want);
}

TEST(AppendQuotedJson, EscapesWhatJsonForbids) {
  std::string out;
  AppendQuotedJson(out, "a\b\x01\x7f<>&\u2028\xff\"\\\t/", /*escape_html=*/true);
  EXPECT_EQ(out, "\"a\\b\\u0001\x7f\\u003c\\u003e\\u0026\\u2028\\ufffd\\\"\\\\\\t/\"");
  out.clear();
  AppendQuotedJson(out, "<>&\n", /*escape_html=*/false);
  EXPECT_EQ(out, R"("<>&\n")");
}

struct FloatCase {
  double value;
  std::string_view want;
};

constexpr FloatCase kFloats[] = {
    {0, "0"},
    {-0.0, "-0"},
    {1, "1"},
    {0.1, "0.1"},
    {0.512, "0.512"},
    {16384.5, "16384.5"},
    {100000, "100000"},
    {999999, "999999"},
    {1e6, "1e+06"},
    {1234567, "1.234567e+06"},
    {123456789012345678.0, "1.2345678901234568e+17"},
    {1e21, "1e+21"},
    {1e100, "1e+100"},
    {0.0001, "0.0001"},
    {0.00001, "1e-05"},
    {5e-324, "5e-324"},
    {-1.5, "-1.5"},
    {std::numeric_limits<double>::infinity(), "+Inf"},
    {-std::numeric_limits<double>::infinity(), "-Inf"},
};

TEST(FormatGoFloat, EqualsFormatFloatG) {
  for (const auto& [value, want] : kFloats) EXPECT_EQ(FormatGoFloat(value), want);
  EXPECT_EQ(FormatGoFloat(std::nan("")), "NaN");
}

RC_GTEST_PROP(FormatGoFloat, ReadsBackTheSame, (double value)) {
  const std::string text = FormatGoFloat(value);
  double back = 0;
  std::from_chars(text.data(), text.data() + text.size(), back);
  RC_ASSERT(back == value);
}

RC_GTEST_PROP(Utf8, EncodedCharacterDecodesToItself, ()) {
  const auto rune = *rc::gen::suchThat(rc::gen::inRange<char32_t>(0, 0x110000),
                                       [](char32_t r) { return r < 0xd800 || r > 0xdfff; });
  std::string text;
  AppendRune(text, rune);
  const DecodedRune decoded = DecodeRune(text + "tail");
  RC_ASSERT(decoded.valid);
  RC_ASSERT(decoded.rune == rune);
  RC_ASSERT(decoded.width == text.size());
}

// Whatever the bytes are, decoding goes on to the end, and what it calls valid is what encoding would write.
RC_GTEST_PROP(Utf8, ValidSequencesAreCanonical, (const std::vector<std::uint8_t>& bytes)) {
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!rest.empty()) {
    const DecodedRune decoded = DecodeRune(rest);
    RC_ASSERT(decoded.width >= 1U);
    RC_ASSERT(decoded.width <= rest.size());
    if (decoded.valid) {
      std::string again;
      AppendRune(again, decoded.rune);
      RC_ASSERT(again == rest.substr(0, decoded.width));
    }
    rest.remove_prefix(decoded.width);
  }
}

}  // namespace
}  // namespace berth::base
