#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cel/value.h"

namespace berth::cel {

inline constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
inline constexpr std::int64_t kSecondsMin = -62135596800;  // 0001-01-01T00:00:00Z
inline constexpr std::int64_t kSecondsMax = 253402300799;  // 9999-12-31T23:59:59Z

// RFC 3339 as Go reads it.
std::optional<Instant> ParseTimestamp(std::string_view text);
// Go's duration syntax ("1h30m", "-.5s", "0"), in nanoseconds.
std::optional<std::int64_t> ParseDuration(std::string_view text);

std::string TimestampText(const Instant& instant);
std::string DurationText(std::int64_t nanos);

// A point in time on the clocks of a time zone.
struct CivilTime {
  std::int64_t year = 0;
  int month = 0;  // 1 to 12
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int nanos = 0;
  int day_of_week = 0;  // Sunday is 0
  int day_of_year = 0;  // from 1
};

CivilTime CivilTimeUtc(const Instant& instant);
// zone: empty for UTC, "[+-]h:m", or an IANA name.
base::Result<CivilTime> CivilTimeIn(const Instant& instant, const std::string& zone);

// Nothing where the result leaves the years 1 to 9999.
std::optional<Instant> AddDuration(const Instant& instant, std::int64_t nanos);
// Nothing where the difference does not fit.
std::optional<std::int64_t> Difference(const Instant& left, const Instant& right);

}  // namespace berth::cel
