#include "api/time.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>
#include <string_view>
#include <utility>

namespace berth::api {
namespace {

TEST(ParseTime, ReadsWhatGoReads) {
  const std::pair<std::string_view, std::int64_t> cases[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"2006-01-02T15:04:05Z", 1136214245},
      {"2006-01-02T15:04:05+07:00", 1136214245 - 7 * 3600},
      {"2006-01-02T15:04:05-00:30", 1136214245 + 1800},
      {"2006-01-02T15:04:05.999999999Z", 1136214245},  // the fraction is dropped
      {"2006-01-02T15:04:05,5Z", 1136214245},
      {"2006-01-02T5:04:05Z", 1136214245 - 10 * 3600},
      {"2006-01-02T15:04:05+24:00", 1136214245 - 24 * 3600},
      {"2024-02-29T00:00:00Z", 1709164800},
      {"2000-02-29T00:00:00Z", 951782400},
      {"0001-01-01T00:00:00Z", Time::kZeroSeconds},
      {"0000-01-01T00:00:00Z", -62167219200},
      {"9999-12-31T23:59:59Z", 253402300799},
  };
  for (const auto& [text, want] : cases) {
    const auto time = ParseTime(text);
    ASSERT_TRUE(time.has_value()) << time.error().message;
    EXPECT_EQ(time->unix_seconds, want) << text;
  }
}

TEST(ParseTime, SaysWhatIsWrong) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", R"(parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006")"},
      {"yesterday",
       R"(parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006")"},
      {"2006/01-02T15:04:05Z",
       R"(parsing time "2006/01-02T15:04:05Z" as "2006-01-02T15:04:05Z07:00": cannot parse "/01-02T15:04:05Z" as "-")"},
      {"2006-01-02T15:04:05",
       R"(parsing time "2006-01-02T15:04:05" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00")"},
      {"2006-13-02T15:04:05Z", R"(parsing time "2006-13-02T15:04:05Z": month out of range)"},
      {"2006-01-02T24:04:05Z", R"(parsing time "2006-01-02T24:04:05Z": hour out of range)"},
      {"2006-01-02T15:60:05Z", R"(parsing time "2006-01-02T15:60:05Z": minute out of range)"},
      {"2006-01-02T15:04:60Z", R"(parsing time "2006-01-02T15:04:60Z": second out of range)"},
      {"2023-02-29T00:00:00Z", R"(parsing time "2023-02-29T00:00:00Z": day out of range)"},
      {"1900-02-29T00:00:00Z", R"(parsing time "1900-02-29T00:00:00Z": day out of range)"},
      {"2006-01-00T00:00:00Z", R"(parsing time "2006-01-00T00:00:00Z": day out of range)"},
      {"2006-01-02T15:04:05Zx", R"(parsing time "2006-01-02T15:04:05Zx": extra text: "x")"},
      {"2006-01-02T15:04:05+25:00",
       R"(parsing time "2006-01-02T15:04:05+25:00": time zone offset hour out of range)"},
      {"2006-01-02T15:04:05+01:61",
       R"(parsing time "2006-01-02T15:04:05+01:61": time zone offset minute out of range)"},
      {"2006-01-02T15:04:05.Z",
       R"(parsing time "2006-01-02T15:04:05.Z" as "2006-01-02T15:04:05Z07:00": cannot parse ".Z" as "Z07:00")"},
      {"2006-01-02T15:04:05 07:00",
       R"(parsing time "2006-01-02T15:04:05 07:00" as "2006-01-02T15:04:05Z07:00": cannot parse " 07:00" as "Z07:00")"},
  };
  for (const auto& [text, want] : cases) {
    const auto time = ParseTime(text);
    ASSERT_FALSE(time.has_value()) << text;
    EXPECT_EQ(time.error().message, want);
  }
}

TEST(ParseMicroTime, CutsTheFractionAtMicroseconds) {
  EXPECT_EQ(ParseMicroTime("1970-01-01T00:00:01.5Z")->unix_micros, 1'500'000);
  EXPECT_EQ(ParseMicroTime("1970-01-01T00:00:01.000001999Z")->unix_micros, 1'000'001);
  EXPECT_EQ(ParseMicroTime("1969-12-31T23:59:59.250000Z")->unix_micros, -750'000);
  EXPECT_FALSE(ParseMicroTime("1970-01-01").has_value());
}

TEST(FormatTime, WritesUtcAndAllDigits) {
  EXPECT_EQ(FormatTime({1136214245}), "2006-01-02T15:04:05Z");
  EXPECT_EQ(FormatTime({-1}), "1969-12-31T23:59:59Z");
  EXPECT_EQ(FormatTime({Time::kZeroSeconds}), "0001-01-01T00:00:00Z");
  EXPECT_EQ(FormatMicroTime({1'500'000}), "1970-01-01T00:00:01.500000Z");
  EXPECT_EQ(FormatMicroTime({-750'000}), "1969-12-31T23:59:59.250000Z");
}

// Seconds come from protobuf messages, so from anybody.
TEST(FormatTime, CopesWithAnyInteger) {
  EXPECT_EQ(FormatTime({253402300800}), "10000-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime({INT64_MAX}), "292277026596-12-04T15:30:07Z");
  EXPECT_EQ(FormatTime({INT64_MIN}), "-292277022657-01-27T08:29:52Z");
  EXPECT_EQ(FormatMicroTime({INT64_MIN}), "-290308-12-21T19:59:05.224192Z");
}

RC_GTEST_PROP(FormatTime, ReadsBackAsItWas, ()) {
  const Time time{*rc::gen::inRange<std::int64_t>(-62167219200, 253402300800)};
  const auto again = ParseTime(FormatTime(time));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == time);
  const MicroTime micros{time.unix_seconds * 1'000'000 + *rc::gen::inRange(0, 1'000'000)};
  const auto micros_again = ParseMicroTime(FormatMicroTime(micros));
  RC_ASSERT(micros_again.has_value());
  RC_ASSERT(*micros_again == micros);
}

TEST(Time, ZeroIsGosZero) {
  EXPECT_TRUE(Time().IsZero());
  EXPECT_TRUE(MicroTime().IsZero());
  EXPECT_EQ(ParseTime("0001-01-01T00:00:00Z"), Time());
  EXPECT_EQ(ParseMicroTime("0001-01-01T00:00:00.000000Z"), MicroTime());
}

}  // namespace
}  // namespace berth::api
