// Parts of timestamps and durations.

#include <array>
#include <cstdint>
#include <string_view>

#include "fmt/format.h"

#include "cel/registry.h"
#include "cel/time.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;
using Part = std::int64_t (*)(const CivilTime& time);

std::int64_t FullYear(const CivilTime& time) { return time.year; }
std::int64_t Month(const CivilTime& time) { return time.month - 1; }
std::int64_t DayOfMonth(const CivilTime& time) { return time.day - 1; }
std::int64_t Date(const CivilTime& time) { return time.day; }
std::int64_t DayOfWeek(const CivilTime& time) { return time.day_of_week; }
std::int64_t DayOfYear(const CivilTime& time) { return time.day_of_year - 1; }
std::int64_t Hours(const CivilTime& time) { return time.hour; }
std::int64_t Minutes(const CivilTime& time) { return time.minute; }
std::int64_t Seconds(const CivilTime& time) { return time.second; }
std::int64_t Milliseconds(const CivilTime& time) { return time.nanos / 1'000'000; }

template <Part part>
Value InUtc(Arguments arguments) {
  return Value::Int(part(CivilTimeUtc(arguments[0].instant())));
}

template <Part part>
Value InZone(Arguments arguments) {
  const auto time = CivilTimeIn(arguments[0].instant(), arguments[1].text());
  if (!time) return Value::Error(time.error().message);
  return Value::Int(part(*time));
}

template <std::int64_t unit>
Value OfDuration(Arguments arguments) {
  return Value::Int(arguments[0].integer() / unit);
}

struct Accessor {
  std::string_view name;
  std::string_view id;
  std::string_view zone_id;
  Implementation utc;
  Implementation zone;
};

template <Part part>
constexpr Accessor Of(std::string_view name, std::string_view id, std::string_view zone_id) {
  return {name, id, zone_id, InUtc<part>, InZone<part>};
}

constexpr std::array kAccessors = {
    Of<FullYear>("getFullYear", "timestamp_to_year", "timestamp_to_year_with_tz"),
    Of<Month>("getMonth", "timestamp_to_month", "timestamp_to_month_with_tz"),
    Of<DayOfMonth>("getDayOfMonth", "timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz"),
    Of<Date>("getDate", "timestamp_to_day_of_month_1_based", "timestamp_to_day_of_month_1_based_with_tz"),
    Of<DayOfWeek>("getDayOfWeek", "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz"),
    Of<DayOfYear>("getDayOfYear", "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz"),
    Of<Hours>("getHours", "timestamp_to_hours", "timestamp_to_hours_with_tz"),
    Of<Minutes>("getMinutes", "timestamp_to_minutes", "timestamp_to_minutes_with_tz"),
    Of<Seconds>("getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz"),
    Of<Milliseconds>("getMilliseconds", "timestamp_to_milliseconds", "timestamp_to_milliseconds_with_tz"),
};

}  // namespace

void RegisterTime(Registry& r) {
  for (const Accessor& accessor : kAccessors) {
    r.Method(accessor.name, accessor.id, "(timestamp) -> int", accessor.utc);
    r.Method(accessor.name, accessor.zone_id, "(timestamp, string) -> int", accessor.zone);
  }
  r.Method("getHours", "duration_to_hours", "(duration) -> int", OfDuration<3'600'000'000'000>);
  r.Method("getMinutes", "duration_to_minutes", "(duration) -> int", OfDuration<60'000'000'000>);
  r.Method("getSeconds", "duration_to_seconds", "(duration) -> int", OfDuration<1'000'000'000>);
  r.Method("getMilliseconds", "duration_to_milliseconds", "(duration) -> int", OfDuration<1'000'000>);
}

}  // namespace berth::cel
