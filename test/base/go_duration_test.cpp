#include "base/go_duration.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace berth::base {
namespace {

using namespace std::chrono_literals;

struct ParseCase {
  std::string_view text;
  Duration want;
};

constexpr ParseCase kValid[] = {
    {"0", 0s},
    {"-0", 0s},
    {"+0", 0s},
    {"0s", 0s},
    {"1h2m3.5s", 3723500ms},
    {"-1.5h", -90min},
    {"300ms", 300ms},
    {".5s", 500ms},
    {"1.s", 1s},
    {"1us", 1us},
    {"1\u00b5s", 1us},
    {"1\u03bcs", 1us},
    {"0.3333333333333333333h", 20min},
    {"0.9223372036854775807h", 3'320'413'933'267ns},
    {"9223372036854775807ns", Duration::max()},
    {"9223372036854775807.9ns", Duration::max()},
    {"-9223372036854775808ns", Duration::min()},
    {"2562047h47m16.854775807s", Duration::max()},
};

TEST(ParseGoDuration, AcceptsWhatGoAccepts) {
  for (const auto& [text, want] : kValid) {
    const Result<Duration> parsed = ParseGoDuration(text);
    ASSERT_TRUE(parsed.has_value()) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, want) << text;
  }
}

struct ErrorCase {
  std::string_view text;
  std::string_view want;
};

constexpr ErrorCase kInvalid[] = {
    {"", R"(time: invalid duration "")"},
    {"-", R"(time: invalid duration "-")"},
    {"-+3h", R"(time: invalid duration "-+3h")"},
    {".s", R"(time: invalid duration ".s")"},
    {"1", R"(time: missing unit in duration "1")"},
    {"1.2.3s", R"(time: missing unit in duration "1.2.3s")"},
    {"1x", R"(time: unknown unit "x" in duration "1x")"},
    {"1h ", R"(time: unknown unit "h " in duration "1h ")"},
    {"1e3s", R"(time: unknown unit "e" in duration "1e3s")"},
    {"\u00e9", R"(time: invalid duration "\xc3\xa9")"},
    {"1\u00e9", R"(time: unknown unit "\xc3\xa9" in duration "1\xc3\xa9")"},
    {"\"\\", R"(time: invalid duration "\"\\")"},
    {"3000000h", R"(time: invalid duration "3000000h")"},
    {"9223372036854775808ns", R"(time: invalid duration "9223372036854775808ns")"},
    {"92233720368547758070ns", R"(time: invalid duration "92233720368547758070ns")"},
    {"2562047h47m16.854775808s", R"(time: invalid duration "2562047h47m16.854775808s")"},
};

TEST(ParseGoDuration, RefusesWithTheWordsOfGo) {
  for (const auto& [text, want] : kInvalid) {
    const Result<Duration> parsed = ParseGoDuration(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().message, want);
  }
}

TEST(FormatGoDuration, UsesTheLargestFittingUnits) {
  EXPECT_EQ(FormatGoDuration(0s), "0s");
  EXPECT_EQ(FormatGoDuration(1ns), "1ns");
  EXPECT_EQ(FormatGoDuration(1100ns), "1.1\u00b5s");
  EXPECT_EQ(FormatGoDuration(2200us), "2.2ms");
  EXPECT_EQ(FormatGoDuration(3300ms), "3.3s");
  EXPECT_EQ(FormatGoDuration(60s), "1m0s");
  EXPECT_EQ(FormatGoDuration(4min + 5001ms), "4m5.001s");
  EXPECT_EQ(FormatGoDuration(1h), "1h0m0s");
  EXPECT_EQ(FormatGoDuration(-90min), "-1h30m0s");
  EXPECT_EQ(FormatGoDuration(Duration::max()), "2562047h47m16.854775807s");
  EXPECT_EQ(FormatGoDuration(Duration::min()), "-2562047h47m16.854775808s");
}

RC_GTEST_PROP(GoDuration, WhatIsWrittenReadsBack, ()) {
  // Of every magnitude: uniform numbers are nearly all centuries long.
  const auto bits = *rc::gen::inRange(0, 64);
  const auto count = *rc::gen::arbitrary<std::int64_t>() >> bits;
  const std::string text = FormatGoDuration(Duration(count));
  const Result<Duration> parsed = ParseGoDuration(text);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(parsed->count() == count);
}

}  // namespace
}  // namespace berth::base
