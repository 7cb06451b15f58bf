#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::api {

// A point in time as API objects carry it: whole seconds. Go's zero time (year 1) means "not set" and is
// written as null in JSON and as an empty message in protobuf.
struct Time {
  static constexpr std::int64_t kZeroSeconds = -62135596800;  // 0001-01-01T00:00:00Z

  std::int64_t unix_seconds = kZeroSeconds;

  bool IsZero() const { return unix_seconds == kZeroSeconds; }
  auto operator<=>(const Time&) const = default;
};

// The same with microseconds: leases and events.
struct MicroTime {
  std::int64_t unix_micros = Time::kZeroSeconds * 1'000'000;

  bool IsZero() const { return unix_micros == Time::kZeroSeconds * 1'000'000; }
  auto operator<=>(const MicroTime&) const = default;
};

// RFC 3339 with any offset and fraction; Time drops the fraction, MicroTime cuts it to microseconds. Errors
// name the text.
base::Result<Time> ParseTime(std::string_view text);
base::Result<MicroTime> ParseMicroTime(std::string_view text);

// "2006-01-02T15:04:05Z" and "2006-01-02T15:04:05.000000Z". Not for zero times: those are null.
std::string FormatTime(Time time);
std::string FormatMicroTime(MicroTime time);

}  // namespace berth::api
