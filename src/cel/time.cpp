#include "cel/time.h"

#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "fmt/format.h"

#include "cel/double_text.h"

namespace berth::cel {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads the text from the front; a failed step leaves ok false.
struct Reader {
  std::string_view rest;
  bool ok = true;

  bool Take(char wanted) {
    if (rest.empty() || rest.front() != wanted) return false;
    rest.remove_prefix(1);
    return true;
  }
  void Expect(char wanted) { ok = Take(wanted) && ok; }
  int Digits(std::size_t count) {
    int number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (rest.empty() || !IsDigit(rest.front())) {
        ok = false;
        return 0;
      }
      number = number * 10 + (rest.front() - '0');
      rest.remove_prefix(1);
    }
    return number;
  }
};

bool IsLeapYear(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int DaysIn(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

// The digits after the point, beyond nanoseconds cut off.
std::int32_t Fraction(Reader& reader) {
  std::int32_t nanos = 0;
  int digits = 0;
  while (!reader.rest.empty() && IsDigit(reader.rest.front())) {
    if (digits < 9) nanos = nanos * 10 + (reader.rest.front() - '0');
    ++digits;
    reader.rest.remove_prefix(1);
  }
  if (digits == 0) reader.ok = false;
  for (; digits < 9; ++digits) nanos *= 10;
  return nanos;
}

// Minutes east of Greenwich. Go takes 24:60 for the largest offset.
std::int16_t ZoneOffset(Reader& reader) {
  if (reader.Take('Z')) return 0;
  const bool west = reader.Take('-');
  if (!west) reader.Expect('+');
  const int hours = reader.Digits(2);
  reader.Expect(':');
  const int minutes = reader.Digits(2);
  if (hours > 24 || minutes > 60) reader.ok = false;
  const int total = hours * 60 + minutes;
  return static_cast<std::int16_t>(west ? -total : total);
}

CivilTime FromCivil(absl::CivilSecond time, std::int32_t nanos) {
  CivilTime civil;
  civil.year = time.year();
  civil.month = time.month();
  civil.day = time.day();
  civil.hour = time.hour();
  civil.minute = time.minute();
  civil.second = time.second();
  civil.nanos = nanos;
  const absl::CivilDay day(time);
  // absl counts weekdays from Monday.
  civil.day_of_week = (static_cast<int>(absl::GetWeekday(day)) + 1) % 7;
  civil.day_of_year = absl::GetYearDay(day);
  return civil;
}

absl::CivilSecond UtcSecond(std::int64_t seconds) { return absl::CivilSecond(1970, 1, 1) + seconds; }

// strconv.Atoi's answer: a number, or its words for why not.
base::Result<std::int64_t> Atoi(std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && (digits.front() == '+' || digits.front() == '-')) digits.remove_prefix(1);
  bool valid = !digits.empty();
  std::int64_t number = 0;
  for (const char c : digits) {
    if (!IsDigit(c)) {
      valid = false;
      break;
    }
    if (number > 1'000'000'000) {
      return base::Fail(fmt::format("strconv.Atoi: parsing \"{}\": value out of range", text));
    }
    number = number * 10 + (c - '0');
  }
  if (!valid) return base::Fail(fmt::format("strconv.Atoi: parsing \"{}\": invalid syntax", text));
  return text.front() == '-' ? -number : number;
}

struct Unit {
  std::string_view name;
  std::int64_t nanos;
};

constexpr std::array kUnits = {
    Unit{"ns", 1},         Unit{"us", 1'000},        Unit{"\u00b5s", 1'000},    Unit{"\u03bcs", 1'000},
    Unit{"ms", 1'000'000}, Unit{"s", 1'000'000'000}, Unit{"m", 60'000'000'000}, Unit{"h", 3'600'000'000'000},
};

std::int64_t UnitNanos(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.nanos;
  }
  return 0;
}

// One "1.5h" off the front, in nanoseconds.
std::optional<std::uint64_t> TakeDurationPart(std::string_view& rest) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  std::uint64_t whole = 0;
  std::size_t digits = 0;
  while (!rest.empty() && IsDigit(rest.front())) {
    if (whole > kLimit / 10) return std::nullopt;
    whole = whole * 10 + static_cast<std::uint64_t>(rest.front() - '0');
    if (whole > kLimit) return std::nullopt;
    rest.remove_prefix(1);
    ++digits;
  }
  std::uint64_t fraction = 0;
  double scale = 1;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    bool full = false;
    while (!rest.empty() && IsDigit(rest.front())) {
      ++digits;
      const auto digit = static_cast<std::uint64_t>(rest.front() - '0');
      rest.remove_prefix(1);
      // Digits that an int64 cannot hold are too small to count.
      full = full || fraction > (kLimit - 1) / 10 || fraction * 10 + digit > kLimit;
      if (full) continue;
      fraction = fraction * 10 + digit;
      scale *= 10;
    }
  }
  if (digits == 0) return std::nullopt;
  std::size_t length = 0;
  while (length < rest.size() && rest[length] != '.' && !IsDigit(rest[length])) ++length;
  const std::int64_t unit = UnitNanos(rest.substr(0, length));
  if (unit == 0) return std::nullopt;
  rest.remove_prefix(length);
  if (whole > kLimit / static_cast<std::uint64_t>(unit)) return std::nullopt;
  std::uint64_t nanos = whole * static_cast<std::uint64_t>(unit);
  if (fraction > 0) {
    nanos += static_cast<std::uint64_t>(static_cast<double>(fraction) * (static_cast<double>(unit) / scale));
  }
  if (nanos > kLimit) return std::nullopt;
  return nanos;
}

base::Result<absl::TimeZone> LoadZone(const std::string& zone) {
  absl::TimeZone loaded;
  // absl also takes file names and offsets of its own; those are no IANA names.
  const bool iana = !zone.starts_with("/") && !zone.starts_with("file:") && !zone.starts_with("Fixed/") &&
                    !zone.contains("..") && !zone.contains('\\') && zone != "localtime";
  if (!iana || !absl::LoadTimeZone(zone, &loaded)) return base::Fail("unknown time zone " + zone);
  return loaded;
}

}  // namespace

std::optional<Instant> ParseTimestamp(std::string_view text) {
  Reader reader{text};
  const int year = reader.Digits(4);
  reader.Expect('-');
  const int month = reader.Digits(2);
  reader.Expect('-');
  const int day = reader.Digits(2);
  reader.Expect('T');
  // Go takes an hour of one digit.
  const bool short_hour = reader.rest.size() > 1 && reader.rest[1] == ':';
  const int hour = reader.Digits(short_hour ? 1 : 2);
  reader.Expect(':');
  const int minute = reader.Digits(2);
  reader.Expect(':');
  const int second = reader.Digits(2);
  std::int32_t nanos = 0;
  if (reader.ok && (reader.Take('.') || reader.Take(','))) nanos = Fraction(reader);
  const std::int16_t offset = ZoneOffset(reader);
  if (!reader.ok || !reader.rest.empty()) return std::nullopt;
  if (month < 1 || month > 12 || day < 1 || day > DaysIn(year, month)) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const absl::CivilSecond civil(year, month, day, hour, minute, second);
  Instant instant;
  instant.seconds = (civil - absl::CivilSecond(1970, 1, 1)) - std::int64_t{offset} * 60;
  instant.nanos = nanos;
  instant.offset_minutes = offset;
  if (instant.seconds < kSecondsMin || instant.seconds > kSecondsMax) return std::nullopt;
  return instant;
}

std::optional<std::int64_t> ParseDuration(std::string_view text) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::uint64_t total = 0;
  while (!text.empty()) {
    const auto part = TakeDurationPart(text);
    if (!part) return std::nullopt;
    total += *part;
    if (total > kLimit) return std::nullopt;
  }
  if (negative) return static_cast<std::int64_t>(0 - total);
  if (total > kLimit - 1) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

std::string TimestampText(const Instant& instant) {
  const absl::CivilSecond local = UtcSecond(instant.seconds + std::int64_t{instant.offset_minutes} * 60);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", local.year(), local.month(),
                                 local.day(), local.hour(), local.minute(), local.second());
  if (instant.nanos != 0) {
    std::string fraction = fmt::format("{:09}", instant.nanos);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += "." + fraction;
  }
  if (instant.offset_minutes == 0) return text + "Z";
  const int minutes = std::abs(instant.offset_minutes);
  return text +
         fmt::format("{}{:02}:{:02}", instant.offset_minutes < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

std::string DurationText(std::int64_t nanos) {
  const std::int64_t seconds = nanos / kNanosPerSecond;
  const std::int64_t rest = nanos % kNanosPerSecond;
  return PlainDoubleText(static_cast<double>(seconds) + static_cast<double>(rest) / 1e9) + "s";
}

CivilTime CivilTimeUtc(const Instant& instant) {
  return FromCivil(UtcSecond(instant.seconds), instant.nanos);
}

base::Result<CivilTime> CivilTimeIn(const Instant& instant, const std::string& zone) {
  if (zone.empty() || zone == "UTC") return CivilTimeUtc(instant);
  const std::size_t colon = zone.find(':');
  if (colon == std::string::npos) {
    const auto loaded = LoadZone(zone);
    if (!loaded) return std::unexpected(loaded.error());
    return FromCivil(absl::ToCivilSecond(absl::FromUnixSeconds(instant.seconds), *loaded), instant.nanos);
  }
  const auto hours = Atoi(std::string_view(zone).substr(0, colon));
  if (!hours) return std::unexpected(hours.error());
  const auto minutes = Atoi(std::string_view(zone).substr(colon + 1));
  if (!minutes) return std::unexpected(minutes.error());
  const std::int64_t offset = *hours * 60 + (zone.front() == '-' ? -*minutes : *minutes);
  return FromCivil(UtcSecond(instant.seconds + offset * 60), instant.nanos);
}

std::optional<Instant> AddDuration(const Instant& instant, std::int64_t nanos) {
  Instant sum = instant;
  std::int64_t rest = instant.nanos + nanos % kNanosPerSecond;
  sum.seconds += nanos / kNanosPerSecond;
  if (rest < 0) {
    rest += kNanosPerSecond;
    --sum.seconds;
  } else if (rest >= kNanosPerSecond) {
    rest -= kNanosPerSecond;
    ++sum.seconds;
  }
  sum.nanos = static_cast<std::int32_t>(rest);
  if (sum.seconds < kSecondsMin || sum.seconds > kSecondsMax) return std::nullopt;
  return sum;
}

std::optional<std::int64_t> Difference(const Instant& left, const Instant& right) {
  std::int64_t nanos = 0;
  if (__builtin_mul_overflow(left.seconds - right.seconds, kNanosPerSecond, &nanos)) return std::nullopt;
  if (__builtin_add_overflow(nanos, std::int64_t{left.nanos} - right.nanos, &nanos)) return std::nullopt;
  return nanos;
}

}  // namespace berth::cel
